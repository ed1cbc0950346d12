"""Draws the pictures of the pages on laws: forces, soft ground, guides and ties, impacts; run by
`python -m`, it renews docs/pictures.
"""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.models import load
from kinetree.scripts.developer.figures import ACCENT, FOLDER, INK, SECOND, THIRD, plain
from kinetree.scripts.site.code_blocks import DOCS, blocks

HEAVY = 1e9  # kg, of a body whose motion no law changes: it shows the law
SOILS = Path(__file__).parents[2] / "tests" / "data" / "soils.json"


def along(force: dict[str, Any], start: float, speed: float, stop: float, wave: float = 0.0) -> Any:
    """Return the run of a body that moves along x past a force element, steadily or as an
    oscillation of circular frequency `wave`.
    """
    other = {"child": "other", "transforms": [{"shift": "y", "coordinate": "y"}]}
    described: dict[str, Any] = {
        "format": "kinetree/1", "name": "law", "gravity": [0, 0, 0], "forces": {"law": force}, "outputs": {"pull": "force('law')"},
        "bodies": {"body": {"mass": HEAVY}, "other": {"mass": HEAVY}},
        "joints": {"way": {"child": "body", "transforms": [{"shift": "x", "coordinate": "x", "start": start, "speed": speed}]}, "other": other},
        "run": {"stop_time": stop, "output_step": stop / 800, "tolerances": 1e-9},
    }  # fmt: skip
    if wave:
        described["forces"]["drive"] = {"coordinate": "x", "stiffness": HEAVY * wave**2}
    return load(described).compile().simulate()


def forces(path: Path) -> None:
    """Plot force laws as computed by the engine."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 3, figsize=(10.0, 5.4), constrained_layout=True)
    between = [{"body": "ground"}, {"body": "body"}]

    def draw(
        place: tuple[int, int],
        title: str,
        curves: list[tuple[Any, str, str]],
        beside: tuple[float, float] | None = None,
    ) -> None:
        ax = axes[place]
        for run, label, colour in curves:
            ax.plot(1e3 * run["x"], run["pull"], color=colour, label=label, linewidth=1.4)
        plain(ax, "force [N]")
        ax.set_title(title, fontsize=10)
        ax.set_xlabel("x [mm]")
        if any(label for _, label, _ in curves):
            ax.legend(
                frameon=False,
                fontsize=8,
                loc="best" if beside is None else "center",
                bbox_to_anchor=beside,
            )

    stop = {
        "kind": "stop",
        "coordinate": "x",
        "lower": 0.0,
        "stiffness": 100.0,
        "sharpness": 400.0,
        "damping": 400.0,
    }
    draw(
        (0, 0),
        "stop",
        [
            (along(stop, -0.005, 0.05, 0.3), "leaving", ACCENT),
            (along(stop, 0.01, -0.05, 0.3), "arriving", SECOND),
        ],
    )
    rub = {"kind": "friction", "coordinate": "x", "coulomb": 10.0, "speed": 0.01, "viscous": 20.0}
    hold = {"kind": "brake", "coordinate": "x", "largest": 10.0, "stiffness": 5e3}
    curves = [
        (along(each, 0.0, 0.05, 4.0, 5.0), name, c)
        for each, name, c in ((rub, "friction", ACCENT), (hold, "brake", SECOND))
    ]
    draw((0, 1), "friction and brake, to and fro", curves, beside=(0.36, 0.62))
    rope = {"kind": "rope", "between": between, "length": 0.1, "stiffness": 2e3, "damping": 10.0}
    draw((0, 2), "rope", [(along(rope, 0.09, 0.02, 1.0), "", ACCENT)])
    latch = {
        "kind": "latch",
        "between": between,
        "length": 0.1,
        "stiffness": 2e3,
        "strength": 15.0,
        "release": 0.01,
    }
    draw((1, 0), "latch", [(along(latch, 0.1, 0.02, 0.6), "", ACCENT)])
    gear = {
        "kind": "gear",
        "coordinate": "x",
        "other": "y",
        "ratio": 1.0,
        "stiffness": 3e3,
        "backlash": 0.006,
        "damping": 20.0,
    }
    draw(
        (1, 1), "teeth with backlash, to and fro", [(along(gear, 0.0, 0.05, 2.6, 5.0), "", ACCENT)]
    )
    for alpha, colour in ((0.0, INK), (0.2, ACCENT), (0.4, SECOND)):
        run = bounce(alpha)
        axes[1, 2].plot(
            1e3 * run["depth"],
            run["pull"],
            color=colour,
            label=f"dissipation {alpha:g} s/m",
            linewidth=1.4,
        )
    plain(axes[1, 2], "force [N]")
    axes[1, 2].set_title("contact, a ball lands at 1 m/s (Hertz)", fontsize=10)
    axes[1, 2].set_xlabel("depth [mm]")
    axes[1, 2].legend(frameon=False, fontsize=8)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def bounce(dissipation: float) -> Any:
    """Return the run of a ball of 1 kg that lands on the ground."""
    law = {"body": "ball", "shape": {"sphere": 0.05}, "modulus": 2e6, "dissipation": dissipation}
    return load({
        "format": "kinetree/1", "name": "ball", "gravity": [0, 0, 0], "bodies": {"ball": {"mass": 1.0}}, "forces": {"law": law},
        "joints": {"fall": {"child": "ball", "transforms": [{"shift": "z", "coordinate": "z", "start": 0.05, "speed": -1.0}]}},
        "outputs": {"pull": "force('law')", "depth": "max(0, law.penetration)"}, "run": {"stop_time": 0.03, "output_step": 5e-5, "tolerances": 1e-9},
    }).compile().simulate()  # fmt: skip


def ground(path: Path) -> None:
    """Plot plates on three soils with Bekker's curve, and the rut of a wheel."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10.0, 3.8), constrained_layout=True)
    area, width = 0.09, 0.3
    for (name, soil), colour in zip(
        json.loads(SOILS.read_text())["soils"].items(), (SECOND, ACCENT, THIRD), strict=True
    ):
        law = {key: soil[key] for key in ("exponent", "cohesion_modulus", "friction_modulus")} | {
            "area": area,
            "width": width,
            "viscosity": 1e4,
        }
        run = load({
            "format": "kinetree/1", "name": "plate", "gravity": [0, 0, 0], "bodies": {"plate": {"mass": 1.0}},
            "tables": {"way": {"x": [0, 4, 5, 6, 7, 10], "y": [0, 0.04, 0.037, 0.034, 0.039, 0.07]}},
            "joints": {"press": {"child": "plate", "transforms": [{"shift": "z", "by": "-table('way', t)"}]}},
            "forces": {"foot": {"body": "plate", "stiffness": 1e8, "damping": 1e5, "soil": {**law, "stiffness": 3e6, "damping": 1e4}}},
            "outputs": {"load": "force('foot')", "sinkage": "table('way', t)"}, "run": {"stop_time": 10, "output_step": 0.02, "integrator": "radau"},
        }).compile().simulate()  # fmt: skip
        left.plot(1e3 * run["sinkage"], run["load"] / area / 1e3, color=colour, label=name)
        z = np.linspace(0.004, 0.07, 12)
        left.plot(
            1e3 * z,
            (soil["cohesion_modulus"] / width + soil["friction_modulus"])
            * z ** soil["exponent"]
            / 1e3,
            ".",
            color=colour,
        )
    plain(left, "pressure [kPa]")
    left.set(xlabel="sinkage [mm]", title="a plate, unloaded once; dots: Bekker")
    left.legend(frameon=False)
    rig = next(
        block.text
        for block in blocks((DOCS / "ground.md").read_text(encoding="utf-8"))
        if block.told("file") == "wheel.toml"
    )
    file = path.parent / "wheel.toml"
    file.write_text(rig, encoding="utf-8")
    run = load(file).compile().simulate(output_step=0.1)
    file.unlink()
    cells = np.linspace(0.0, 3.0, 31)
    for at, colour in ((2.0, THIRD), (5.2, ACCENT), (10.4, SECOND)):
        k = int(np.abs(run.time - at).argmin())
        right.plot(
            cells,
            [-1e3 * run[f"tyre.rut_{c + 1}"][k] for c in range(31)],
            color=colour,
            label=f"after {at:g} s",
        )
    plain(right, "ground [mm]")
    right.set(xlabel="along the track [m]", title="the rut of a wheel")
    right.legend(frameon=False)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def impacts(path: Path) -> None:
    """Plot the woodpecker's limit cycle and a falling stack."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10.0, 3.8), constrained_layout=True)
    run = load("lib:woodpecker").compile().simulate(1.5, output_step=2e-4)
    late = run.time > 0.5
    left.plot(
        run["bird_angle"][late],
        (run["der(sleeve_angle)"] + run["der(bend)"])[late],
        color=ACCENT,
        linewidth=0.9,
    )
    plain(left, "its rate [rad/s]")
    left.set(
        xlabel="angle of the woodpecker [rad]",
        title="seven strokes a second: impacts, jamming, sliding",
    )
    run = load("lib:falling-stack").compile().simulate(0.5, output_step=1e-3)
    for k, colour in zip((1, 2, 3, 4), (INK, ACCENT, SECOND, THIRD), strict=True):
        right.plot(run.time, run[f"load{k}"], color=colour, label=f"under block {k}")
    plain(right, "load [N]")
    right.set(xlabel="time [s]", title="blocks land one on another, and rest")
    right.legend(frameon=False)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def electric_motor(path: Path) -> None:
    """Plot the start of the motor on the page of forces, with and without its limits."""
    import matplotlib.pyplot as plt

    text = (DOCS / "forces.md").read_text(encoding="utf-8")
    described = next(block.text for block in blocks(text) if "torque_constant" in block.text)
    free = "\n".join(line for line in described.splitlines() if "_limit" not in line)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.0, 3.4), constrained_layout=True)
    for text, label, colour in (
        (free, "without limits", SECOND),
        (described, "20 A, 24 V", ACCENT),
    ):
        run = load(tomllib.loads(text)).compile().simulate(1.0, output_step=1e-3)
        left.plot(1e3 * run.time, run["current"], color=colour, label=label)
        right.plot(1e3 * run.time, run["der(phi)"], color=colour, label=label)
    plain(left, "current [A]")
    plain(right, "speed of the drum [rad/s]")
    for axes in (left, right):
        axes.set_xlabel("time [ms]")
        axes.legend(frameon=False)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def scene(page: str, name: str, at: float, path: Path) -> None:
    """Draw the mechanism described on a page at a time."""
    text = next(
        block.text
        for block in blocks((DOCS / page).read_text(encoding="utf-8"))
        if block.told("file") == name
    )
    file = path.parent / name
    file.write_text(text, encoding="utf-8")
    load(file).compile().simulate(output_step=0.005).animate().save(path, at)
    file.unlink()


def main() -> int:
    forces(FOLDER / "force_laws.png")
    electric_motor(FOLDER / "electric_motor.png")
    ground(FOLDER / "soil.png")
    impacts(FOLDER / "impacts.png")
    scene("forces.md", "yard.toml", 0.25, FOLDER / "outlines.png")
    scene("guides.md", "hoist.toml", 3.0, FOLDER / "guides.png")
    scene("guides.md", "gears.toml", 0.6, FOLDER / "gears.png")
    scene("forces.md", "bench.toml", 0.12, FOLDER / "bench.png")
    scene("forces.md", "lift.toml", 2.0, FOLDER / "lift.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
