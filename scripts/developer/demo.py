"""Demonstration of the main use: the carrier and its hydraulic drives become FMUs, modules depart
while the drives hold the angles, and a report is written.
"""

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kinetree.scripts.studies.carrier_cosim import Coupled

FOLDER = Path("out") / "demo"
MODULES, PACE = 4, 0.8  # time from a departure to the next push [s]
STEP = 5e-3  # communication step [s]
COLUMNS = {"slew": "rad", "luff": "rad", "der(slew)": "rad/s", "der(luff)": "rad/s", "heave": "m"}
Rows = list[list[str]]


def main(folder: Path = FOLDER) -> int:
    """Run the demonstration: equilibrium, FMUs, co-simulation with reference, tables, plots,
    report.
    """
    from kinetree.fmu.archive.build import FmuError
    from kinetree.scripts.reports.stage_tables import show
    from kinetree.scripts.studies.carrier_cosim import run_carrier
    from kinetree.scripts.studies.carrier_pictures import draw_carrier, draw_drives, draw_motion
    from kinetree.scripts.studies.stabilisation import compare, read_comparison, table
    from kinetree.scripts.studies.stabilisation_report import draw, write_report
    from kinetree.scripts.terminal.progress import progress

    folder.mkdir(parents=True, exist_ok=True)
    clock = time.perf_counter()
    tables = {"States of rest before the start: loads in kN, heights and angles": rests()}
    show(tables)
    end = 0.5 + MODULES * (PACE + 0.7)
    backend = "native"
    with progress("co-simulation", end) as told:
        try:
            run = run_carrier(folder, backend, STEP, told, modules=MODULES, pace=PACE)
        except FmuError as error:
            print(f"no native FMU on this machine: {error}; the Python back end takes its place")
            backend = "python"
            run = run_carrier(folder, backend, STEP, told, modules=MODULES, pace=PACE)
    found = stages(run) | {"Coupled FMUs beside one system: largest differences": differences(run)}
    print(judged(run, backend))
    show(found)
    wanted = read_comparison().with_settings({"modules": MODULES})
    with progress("stabilisation", len(wanted.ways), unit="runs") as told:
        ways = compare(wanted, told)
    held = {"Ways to hold the angles while modules leave": table(wanted, ways)}
    show(held)
    pictures = {
        name: folder / f"carrier_{name}.png"
        for name in ("view", "motion", "drives", "stabilisation")
    }
    draw_carrier(pictures["view"], MODULES)
    draw_motion(run, pictures["motion"])
    draw_drives(run, pictures["drives"])
    draw(wanted, ways, pictures["stabilisation"])
    page = report(folder / "report.html", run, backend, tables, found, held, pictures)
    study = write_report(wanted, ways, {}, folder / "stabilisation.html")
    for path in (*run.files, *pictures.values(), study, page):
        print(f"written: {path} ({path.stat().st_size / 1e6:.2f} MB)")
    print(f"done in {time.perf_counter() - clock:.0f} s; open {page.resolve()}")
    return 0


def rests() -> Rows:
    """Return the table of equilibria of the carrier: on its wheels, on its jacks, and at the
    commanded angles.
    """
    from kinetree.models import load

    system = load("lib:carrier", modules=MODULES).compile()
    down = {"slew_command": 0.0, "luff_command": 0.0}
    steps = {
        "on the wheels": {"jack_extension": 0.5, **down},
        "on the jacks": {"jack_extension": 0.95},
        "slewed and luffed": {},
    }
    steps["slewed and luffed"] = {"slew_command": 0.3, "luff_command": 0.5}
    rows = [
        [
            "",
            "all wheels",
            "all jacks",
            "least jack",
            "largest jack",
            "heave [m]",
            "pitch [mrad]",
            "roll [mrad]",
            "slowest mode [Hz]",
        ]
    ]
    for name, rest in zip(steps, system.equilibria(list(steps.values())), strict=True):
        loads = {
            kind: [
                value / 1e3 for key, value in rest.outputs.items() if key.startswith(f"{kind}_load")
            ]
            for kind in ("wheel", "jack")
        }
        place, jacks = rest.coordinates, loads["jack"]
        rows.append([
            name, *(f"{value:z.3f}" for value in (sum(loads["wheel"]), sum(jacks), min(jacks), max(jacks), place["heave"])),
            f"{1e3 * place['pitch']:z.3f}", f"{1e3 * place['roll']:z.3f}", f"{rest.modes[0].frequency:.2f}",
        ])  # fmt: skip
    return rows


def stages(run: "Coupled") -> dict[str, Rows]:
    """Return the three summary tables of the co-simulation over its stages."""
    from kinetree.scripts.reports.stage_tables import TITLES, stage_table

    columns = {name: run[name] for name in COLUMNS}
    return {
        title: stage_table(run["stage"], run.stage_names, columns, kind, list(COLUMNS.values()))
        for kind, title in TITLES.items()
    }


def differences(run: "Coupled") -> Rows:
    """Return the differences of angles and pressures from the monolithic reference."""
    from kinetree.scripts.studies.carrier_cosim import LABELS

    rows = [["", "largest difference", "range of the reference"]]
    for name in ("slew", "luff"):
        rows.append([f"{name} [mrad]", *(f"{1e3 * value:.4f}" for value in run.deviation(name))])
    for label in LABELS:
        for side in "ab":
            values = run.deviation(f"{label}.pressure_{side}", f"{label}_{side}.pressure")
            rows.append(
                [f"{label}, pressure {side} [bar]", *(f"{value / 1e5:.3f}" for value in values)]
            )
    return rows


def judged(run: "Coupled", backend: str) -> str:
    """Return one line about the stability and computing time of the co-simulation."""
    state = "stable" if run.trace.stable else run.trace.message
    what = f"{len(run.files)} FMUs by the {backend} back end"
    return f"{what}, {run.trace.time[-1]:.2f} s in steps of {1e3 * run.step:g} ms by told stiffness: {state}, {run.seconds:.1f} s of computing"


def report(
    path: Path,
    run: "Coupled",
    backend: str,
    rest: dict[str, Rows],
    found: dict[str, Rows],
    held: dict[str, Rows],
    pictures: dict[str, Path],
) -> Path:
    """Write the report page of the demonstration."""
    from kinetree.scripts.reports.html_report import (
        heading,
        paragraph,
        picture,
        scene,
        table,
        write_report,
    )

    coupled = [title for title in found if title.startswith("Coupled")]
    parts = [
        paragraph(
            "A mobile carrier of 20.5 t stands on four outrigger jacks. Its platform slews, its cradle luffs, and the modules on the cradle are "
            "pushed along their rails and leave one after another, while hydraulic servo drives hold the commanded angles. Angles are coordinates: "
            "slew about the platform's axis, luff upwards about the cradle's hinge."
        ),
        scene(
            run.reference,
            "The run below in three dimensions: drag to turn, space plays; marks above the time are stages.",
        ),
        picture(
            pictures["view"],
            "At rest, a module travelling along its rail, the same module in free flight; yellow: the hydraulic cylinders.",
        ),
        heading("Before the start"),
        paragraph(
            "Each state of rest is an equilibrium of the full model and starts from the last; the run begins in the last one."
        ),
        *(table(rows, title) for title, rows in rest.items()),
        heading("Four departures, co-simulated"),
        paragraph(
            f"{judged(run, backend)}. The carrier hears from every drive its force and its stiffness, and the drive hears the mean speed that "
            "the carrier has made: so the coupling is stable although the oil is stiff. Three position controllers sample the angles once per step."
        ),
        picture(
            pictures["motion"],
            "Angles of the coupled FMUs on the motion of one system with the same drives inside; loads of the jacks.",
        ),
        *(table(found[title], title) for title in coupled),
        picture(
            pictures["drives"],
            "Pressures on both sides of the cylinders, openings of the valves, energy.",
        ),
        heading("Summary tables"),
        paragraph(
            "Stages: rest; travel, a module being pushed until it leaves its rail; swing, until the next push. Deviations: from the start."
        ),
        *(table(rows, title) for title, rows in found.items() if title not in coupled),
        heading("How the angles are held"),
        paragraph(
            "The same departures, further apart: valves shut; proportional control of the angles; the same with the known loads of the departures "
            "(push, weight that leaves, load after a departure) compensated in advance. Settled: within 0.2 mrad until the next push; an angle "
            "that stays outside is marked not. Rms: root of the mean square."
        ),
        *(table(rows, title) for title, rows in held.items()),
        picture(pictures["stabilisation"], "Deviations of slew and luff."),
    ]
    return write_report(path, "Carrier with hydraulic drives: four departures", parts)


if __name__ == "__main__":
    os.environ.setdefault("KINETREE_LEVELS", "machine")  # its FMUs stay on this machine
    sys.exit(main())
