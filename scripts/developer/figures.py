"""Draws the pictures of the pages on hydraulics and OpenModelica; run by `python -m`, it renews
docs/pictures.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kinetree.models import load

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
BAR = 1e5
STEP, STOP = 0.005, 1.5  # of the coupled boom [s]
INK, PALE, ACCENT, SECOND, THIRD = "#222222", "#eef2f6", "#1f5fa8", "#c0532b", "#3a8a4d"


def plain(axes: Any, label: str) -> None:
    """Style axes with a label instead of a legend title."""
    axes.set_ylabel(label)
    axes.grid(True, alpha=0.25)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def hydraulics(path: Path) -> None:
    """Plot the boom with its drive: spool, pressures, accumulator, angle."""
    import matplotlib.pyplot as plt

    result = load("lib:boom-drive").compile().simulate()
    t = result.time
    figure, rows = plt.subplots(4, 1, figsize=(8.5, 7.6), sharex=True, constrained_layout=True)
    rows[0].plot(t, result["servo.spool"], color=INK)
    plain(rows[0], "spool")
    for name, color in (("rail", ACCENT), ("hose_a", SECOND), ("hose_b", THIRD)):
        rows[1].plot(t, result[f"{name}.pressure"] / BAR, color=color, label=name)
    plain(rows[1], "pressure [bar]")
    rows[1].legend(frameon=False, ncol=3, loc="upper left")
    rows[1].set_ylim(0, 260)
    rows[2].plot(
        t, 1e3 * result["accumulator.oil"], color=ACCENT, label="oil in the accumulator [l]"
    )
    rows[2].plot(t, 1e3 * result["pump.flow"], color=SECOND, label="flow of the pump [l/s]")
    plain(rows[2], "oil")
    rows[2].legend(frameon=False)
    rows[3].plot(t, result["luff"], color=INK)
    plain(rows[3], "luff angle [rad]")
    rows[3].set_xlabel("time [s]")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def box(
    axes: Any,
    x: float,
    y: float,
    width: float,
    height: float,
    title: str,
    text: str = "",
    face: str = PALE,
) -> None:
    """Draw a unit of a composition."""
    from matplotlib.patches import FancyBboxPatch

    axes.add_patch(
        FancyBboxPatch(
            (x, y),
            width,
            height,
            boxstyle="round,pad=0,rounding_size=0.12",
            facecolor=face,
            edgecolor=INK,
            linewidth=1.2,
        )
    )
    axes.text(
        x + width / 2,
        y + height - 0.32,
        title,
        ha="center",
        va="center",
        fontsize=11,
        weight="bold",
        color=INK,
    )
    if text:
        axes.text(
            x + width / 2,
            y + height - 0.7,
            text,
            ha="center",
            va="center",
            fontsize=8.5,
            color="#555555",
        )


def wire(
    axes: Any,
    start: tuple[float, float],
    end: tuple[float, float],
    names: tuple[str, str] = ("", ""),
    color: str = ACCENT,
) -> None:
    """Draw a signal between two ports with their names."""
    axes.annotate(
        "",
        end,
        start,
        arrowprops={
            "arrowstyle": "-|>",
            "color": color,
            "linewidth": 1.4,
            "shrinkA": 0,
            "shrinkB": 0,
        },
    )
    rightwards = end[0] > start[0]
    for (x, y), name, side in ((start, names[0], -1), (end, names[1], 1)):
        shift = side * (0.12 if rightwards else -0.12)
        axes.text(
            x + shift,
            y,
            name,
            ha="left" if shift > 0 else "right",
            va="center",
            fontsize=8.5,
            color=INK,
        )


def canvas(width: float, height: float) -> tuple[Any, Any]:
    """Return a figure without axes, in units of its boxes."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(width, height))
    axes.set_xlim(0, width)
    axes.set_ylim(0, height)
    axes.axis("off")
    figure.subplots_adjust(0, 0, 1, 1)
    return figure, axes


def composition(path: Path) -> None:
    """Draw the components and connections of a system structure archive."""
    from kinetree.scripts.ssp.archive import unpack
    from kinetree.scripts.ssp.read import read_ssd

    with TemporaryDirectory() as folder:
        structure = read_ssd(unpack(boom_archive(Path(folder)), Path(folder)), "boom")
    figure, axes = canvas(9.6, 4.4)
    box(axes, 0.4, 0.4, 3.3, 3.6, "mechanism.fmu", "boom, load, oil of the cylinder")
    box(axes, 5.9, 0.4, 3.3, 3.6, "drive.fmu", "valve, supply, tank, command")
    for k, link in enumerate(structure.links):
        y = 2.7 - 0.62 * k
        outwards = link.start == "mechanism"
        ends = ((3.7, y), (5.9, y)) if outwards else ((5.9, y), (3.7, y))
        wire(
            axes, *ends, (link.start_connector, link.end_connector), ACCENT if outwards else SECOND
        )
    figure.savefig(path, dpi=110)


def imported(path: Path) -> None:
    """Draw the Modelica model around the imported FMU."""
    figure, axes = canvas(11.6, 5.6)
    for y, title, text in (
        (3.1, "MechanismInterface", "lift"),
        (0.3, "TranslationalActuator", "in the written model"),
    ):
        box(axes, 0.3, y, 2.5, 2.1, "imported FMU", "model exchange")
        box(axes, 4.3, y, 3.0, 2.1, title, text, "#fbf3e6")
        names = ("length", "speed", "force") if y > 1 else ("speed", "force")
        for k, name in enumerate(names, start=3 - len(names)):
            signal = f"lift_{name}"
            height = y + 1.05 - 0.38 * k
            back = signal == "lift_force"
            ends = ((4.3, height), (2.8, height)) if back else ((2.8, height), (4.3, height))
            wire(
                axes, *ends, (name, signal) if back else (signal, name), SECOND if back else ACCENT
            )
    box(axes, 8.6, 3.1, 2.7, 2.1, "LinearDrive", "valve, oil lines, cylinder", "#e9f3ec")
    box(axes, 8.6, 0.3, 2.7, 2.1, "FlangeDrive", "the same drive", "#e9f3ec")
    for y, name in ((4.0, "port"), (1.2, "flange")):
        axes.plot((7.3, 8.6), (y, y), color=THIRD, linewidth=2.4)
        axes.text(7.95, y + 0.16, name, ha="center", fontsize=9, color=THIRD)
    figure.savefig(path, dpi=110)


def boom_archive(folder: Path) -> Path:
    """Return lib:boom as a system structure, communication step 5 ms."""
    from kinetree.scripts.cli import main as command

    path = folder / "boom.ssp"
    command(
        [
            "cosim",
            "lib:boom",
            "--ssp",
            str(path),
            "--step-size",
            str(STEP),
            "--stop-time",
            str(STOP),
            "-q",
        ]
    )
    return path


LIBCOSIM = """
import json, sys
from libcosimpy.CosimExecution import CosimExecution
from libcosimpy.CosimObserver import CosimObserver
execution = CosimExecution.from_ssp_file(sys.argv[1], step_size=int(float(sys.argv[2]) * 1e9))
observer = CosimObserver.create_last_value()
execution.add_observer(observer)
unit = next(info.index for info in execution.slave_infos() if info.name.decode() == "mechanism")
names = {v.name.decode(): v.reference for v in execution.slave_variables(unit)}
rows = []
for _ in range(int(sys.argv[3])):
    assert execution.step()
    rows.append(observer.last_real_values(unit, [names["luff"], names["lift.pressure_a"]]))
print("RESULT", json.dumps(rows), flush=True)
"""


def in_libcosim(archive: Path) -> Any:
    """Return luff angle and pressure at the ends of the communication steps, computed by libcosim,
    a C++ host, in a process of its own.
    """
    import numpy as np

    count = round(STOP / STEP)
    done = subprocess.run(
        [sys.executable, "-c", LIBCOSIM, str(archive), str(STEP), str(count)],
        capture_output=True,
        text=True,
        check=False,
    )
    line = next(line for line in done.stdout.splitlines() if line.startswith("RESULT "))
    return STEP * np.arange(1, count + 1), np.array(json.loads(line.removeprefix("RESULT ")))


def results(path: Path) -> None:
    """Plot the results of the boom in the available hosts beside the monolithic reference."""
    import matplotlib.pyplot as plt
    import numpy as np

    from kinetree.fmu.archive.build import build_fmu
    from kinetree.scripts.cosim.monolithic_reference import reference
    from kinetree.scripts.cosim.scenario import read_scenario
    from kinetree.scripts.cosim.scenario_units import actuated, settled
    from kinetree.scripts.fmi.model_exchange import exchange

    scenario = read_scenario("lib:boom")
    raw = actuated(scenario)
    drive, _ = settled(scenario, raw, False)
    exact = reference(raw, "lift", drive, None, STOP, 0.005)
    with TemporaryDirectory() as folder:
        times, hosted = in_libcosim(boom_archive(Path(folder)))
        points = np.linspace(0.0, STOP, 41)
        joined = exchange(
            build_fmu(load(raw), Path(folder) / "boom.fmu", backend="native"), drive, "lift", points
        )
    figure, rows = plt.subplots(2, 1, figsize=(8.5, 5.6), sharex=True, constrained_layout=True)
    for axes, label, name, column, unit in (
        (rows[0], "luff angle [rad]", "luff", 0, 1.0),
        (rows[1], "pressure a [bar]", "pressure_a", 1, BAR),
    ):
        axes.plot(exact.time, exact[name] / unit, color=INK, linewidth=1.2, label="one system")
        axes.plot(
            times,
            hosted[:, column] / unit,
            ".",
            color=SECOND,
            markersize=3.5,
            label="boom.ssp in libcosim, steps of 5 ms",
        )
        axes.plot(
            points,
            joined[:, (0, 2)[column]] / unit,
            "o",
            color=ACCENT,
            markersize=5,
            fillstyle="none",
            label="model exchange FMU beside the drive",
        )
        plain(axes, label)
    rows[0].legend(frameon=False)
    rows[1].set_xlabel("time [s]")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def identification(path: Path) -> None:
    """Plot the identification of three parameters of lib:boom-drive from a noisy run."""
    import numpy as np

    from kinetree.models.analysis.identification import identify

    run = load("lib:boom-drive").compile(bulk=1.1e9, load_mass=85.0).simulate(stop_time=2.0)
    noise = np.random.default_rng(0)
    data = {
        "luff": run["luff"] + 1e-3 * noise.normal(size=run.time.size),
        "hose_a.pressure": run["hose_a.pressure"] + 1e5 * noise.normal(size=run.time.size),
    }
    identify("lib:boom-drive", data, ["bulk", "load_mass"], time=run.time).plot(path)


PICTURES = {
    "identification.png": identification,
    "hydraulics.png": hydraulics,
    "openmodelica-ssp.png": composition,
    "openmodelica-import.png": imported,
    "openmodelica-results.png": results,
}


def main() -> None:
    import matplotlib

    matplotlib.use("Agg")
    for name, draw in PICTURES.items():
        draw(FOLDER / name)
        print(FOLDER / name)


if __name__ == "__main__":
    main()
