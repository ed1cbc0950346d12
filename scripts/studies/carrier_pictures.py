"""Plots of the carrier: posture, motion and loads with reference, pressures and energy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.models import Result, load
from kinetree.models.compilation.compile import parameter_values
from kinetree.models.expressions.parse import evaluate_constant
from kinetree.models.library import carrier
from kinetree.models.library.carrier_drives import LIFT, SLEW
from kinetree.models.library.carrier_parts import JACKS, RING, WHEELS
from kinetree.models.result.atomic_file import whole_file
from kinetree.models.scene.shapes import matrix

if TYPE_CHECKING:
    from kinetree.scripts.studies.carrier_cosim import Coupled

COLOURS = {"base": "#8a949e", "platform": "#c79a3b", "cradle": "#5b7f9e", "module": "#b5523f"}
FACES = [(0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5)]
LAYERS = {"base": 2.0, "platform": 4.0, "cradle": 5.0, "module": 6.0}
ELEVATION, AZIMUTH = 16, -62  # of the eye [degrees]
VIEW = np.array(
    [np.cos(np.radians(AZIMUTH)), np.sin(np.radians(AZIMUTH)), np.tan(np.radians(ELEVATION))]
)  # towards the eye
LINES = ("#1f5f8b", "#c46a1b", "#3c8d40", "#8a3fa0")
Poses = dict[str, tuple[np.ndarray, np.ndarray]]


def posed(
    modules: int = 4, **settings: Any
) -> tuple[Result, dict[str, tuple[np.ndarray, np.ndarray]]]:
    """Return a run of the carrier with the poses of all bodies, and the size and centre of every
    body's box.
    """
    source = carrier.describe(modules=modules, order=settings.pop("order", 0))
    for name in source["bodies"]:
        for quantity in ("position", "orientation"):
            source["outputs"][f"{name}_{quantity}"] = {"quantity": quantity, "body": name}
    mechanism = load(source, **settings)
    values = parameter_values(mechanism.description)
    boxes = {}
    for name, body in mechanism.description.bodies.items():
        shape = body.shape
        if shape is not None and shape.box is not None:
            size, middle = (
                np.array([evaluate_constant(each, values) for each in row])
                for row in (shape.box, shape.at)
            )
            boxes[name] = size, middle
    return mechanism.compile().simulate(tolerance=1e-6), boxes


def poses(result: Result, names: list[str], t: float) -> Poses:
    """Return position and rotation matrix of the bodies that are present at a time."""
    row = int(np.searchsorted(result.time, t))
    ends = [
        *(event.time for event in result.events[1:]),
        np.inf,
    ]  # of the stages that the events begin
    gone = {
        f"module{e.stage.split()[1]}"
        for e, end in zip(result.events, ends, strict=True)
        if e.stage.startswith("swing") and end <= t
    }
    found = {}
    for name in names:
        if name not in gone:
            place = np.array([result[f"{name}_position[{k}]"][row] for k in (1, 2, 3)])
            found[name] = (
                place,
                matrix([result[f"{name}_orientation[{k}]"][row] for k in (1, 2, 3, 4)]),
            )
    return found


def draw_carrier(
    path: Path, modules: int = 4, times: tuple[float, ...] = (0.4, 0.95, 1.3), **settings: Any
) -> None:
    """Draw the carrier at some times of its run."""
    from matplotlib.figure import Figure

    result, boxes = posed(modules, **settings)
    figure = Figure(figsize=(4.6 * len(times), 3.7), layout="constrained")
    for k, t in enumerate(times, 1):
        axes = figure.add_subplot(1, len(times), k, projection="3d", computed_zorder=False)
        here = poses(result, list(boxes), t)
        stand(axes, here)
        for name, (place, turn) in here.items():
            size, middle = boxes[name]
            corners = (
                np.array([[a, b, c] for a in (-0.5, 0.5) for b in (-0.5, 0.5) for c in (-0.5, 0.5)])
                * size
                + middle
            )
            kind = "module" if name.startswith("module") else name
            box = [(place + corners @ turn.T)[list(face)] for face in FACES]
            faces(axes, box, COLOURS[kind], LAYERS[kind] + 0.01 * float(place @ VIEW))
        stage = [event.stage for event in result.events if event.time <= t]
        axes.set_title(f"{t:.2f} s: {stage[-1] if stage else 'at rest on the jacks'}", fontsize=15)
        axes.set(xlim=(-4, 8), ylim=(-4, 4), zlim=(0, 7))
        axes.set_box_aspect((12, 8, 7), zoom=1.45)  # pyright: ignore[reportArgumentType]  (matplotlib takes any number)
        axes.view_init(elev=ELEVATION, azim=AZIMUTH)
        axes.set_axis_off()
    with whole_file(path) as draft:
        figure.savefig(draft, dpi=110)


def faces(axes: Any, polygons: list[np.ndarray], colour: str, layer: float) -> None:
    """Draw polygons, those nearest to the viewer last."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    ordered = sorted(polygons, key=lambda polygon: float(polygon.mean(axis=0) @ VIEW))
    for k, polygon in enumerate(ordered):
        axes.add_collection3d(
            Poly3DCollection(
                [polygon],
                facecolor=colour,
                edgecolor="#333333",
                linewidth=0.4,
                zorder=layer + 1e-4 * k,
            )
        )


def stand(axes: Any, here: Poses) -> None:
    """Draw ground, wheels, jacks and cylinders, those farthest from the viewer first."""
    ground = np.array([[-4, -3.2, 0], [8, -3.2, 0], [8, 3.2, 0], [-4, 3.2, 0]])
    faces(axes, [ground], "#e9e6dd", 0.0)
    place, turn = here["base"]

    def line(a: np.ndarray, b: np.ndarray, width: float, colour: str, layer: float) -> None:
        axes.plot(*np.array([a, b]).T, linewidth=width, color=colour, zorder=layer)

    angle = np.linspace(0, 2 * np.pi, 25)
    for x, y in WHEELS.values():
        rim = np.array([x, y, -0.7]) + 0.6 * np.column_stack(
            [np.cos(angle), 0 * angle, np.sin(angle)]
        )
        faces(axes, [place + rim @ turn.T], "#2b2b2b", 1.0 if y > 0 else 3.0)
    for x, y in JACKS.values():
        layer, foot = (1.0 if y > 0 else 3.5), place + turn @ np.array([x, y, -0.4])
        line(place + turn @ np.array([x, np.sign(y) * 1.1, -0.3]), foot, 2.5, "#444444", layer)
        line(foot, np.array([foot[0], foot[1], 0.0]), 3.5, "#222222", layer)
    top, cradle = here["platform"], here["cradle"]
    line(
        top[0] + top[1] @ np.array(LIFT[0]),
        cradle[0] + cradle[1] @ np.array(LIFT[1]),
        4.0,
        "#d9b13b",
        4.5,
    )
    for sense in (1, -1):
        outer, inner = (np.array([x, sense * y, z]) for x, y, z in SLEW)
        line(
            place + turn @ (np.array(RING) + outer),
            top[0] + top[1] @ inner,
            3.0,
            "#d9b13b",
            2.5 if sense > 0 else 4.5,
        )


def marked(axes: Any, reference: Result) -> None:
    """Mark the departures of modules by vertical lines."""
    for event in reference.events:
        if event.stage.startswith("swing"):
            axes.axvline(event.time, color="#b03030", linewidth=0.7, linestyle="--")
    axes.grid(alpha=0.4)
    axes.margins(x=0.0)


def draw_motion(run: Coupled, path: Path) -> None:
    """Plot angles with the reference, and loads of jacks and wheels."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 7.5), layout="constrained")
    rows = figure.subplots(3, 1, sharex=True)
    time, reference = run.trace.time, run.reference
    for axes, name, colour in zip(rows, ("slew", "luff"), LINES):
        axes.plot(
            reference.time,
            1e3 * (reference[name] - reference[name][0]),
            color="black",
            linewidth=0.8,
            label="one system",
        )
        axes.plot(
            time,
            1e3 * (run[name] - run[name][0]),
            color=colour,
            linestyle="",
            marker=".",
            markersize=2.5,
            label="coupled FMUs",
        )
        axes.set_ylabel(f"{name}, deviation [mrad]")
        axes.legend(fontsize="small", loc="upper right")
    for name, colour in zip(JACKS, LINES, strict=True):
        rows[2].plot(
            time,
            run[f"jack_load_{name}"] / 1e3,
            color=colour,
            linewidth=1.0,
            label=f"jack {name.replace('_', ' ')}",
        )
    wheels = sum(run[f"wheel_load_{name}"] for name in WHEELS)
    rows[2].plot(
        time,
        wheels / 1e3,
        color="#777777",
        linestyle=":",
        label="all wheels (lifted)" if not np.any(wheels) else "all wheels",
    )
    rows[2].set_ylabel("load [kN]")
    rows[2].set_ylim(-5, None)
    rows[2].legend(fontsize="small", ncols=3, loc="center right")
    for axes in rows:
        marked(axes, reference)
    rows[0].set_title(
        f"{len(reference.events) // 2} departures (dashed), communication step {1e3 * run.step:g} ms",
        fontsize="medium",
    )
    rows[-1].set_xlabel("time [s]")
    with whole_file(path) as draft:
        figure.savefig(draft, dpi=120)


def draw_drives(run: Coupled, path: Path) -> None:
    """Plot pressures and spools of the drives, supplied energy and work."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 7.0), layout="constrained")
    rows = figure.subplots(3, 1, sharex=True)
    time = run.trace.time
    for label, colour in zip(("slew_left", "slew_right", "luff_drive"), LINES):
        for side, style in (("a", "-"), ("b", "--")):
            rows[0].plot(
                time,
                run[f"{label}.pressure_{side}"] / 1e5,
                style,
                color=colour,
                linewidth=1.0,
                label=f"{label} {side}",
            )
        rows[1].plot(time, 100 * run[f"{label}.spool"], color=colour, linewidth=1.0, label=label)
    rows[0].set_ylabel("pressure [bar]")
    rows[1].set_ylabel("spool [%]")
    rows[2].plot(time, run.energy, color=LINES[1], label="taken from the supply")
    rows[2].plot(
        run.reference.time,
        run.reference["drive_energy"],
        ":",
        color="black",
        label="the same in one system",
    )
    rows[2].plot(
        run.reference.time,
        run.reference["drive_work"],
        color=LINES[2],
        label="work of the drives in one system",
    )
    rows[2].set_ylabel("energy [J]")
    low, high = rows[0].get_ylim()
    rows[0].set_ylim(low, high + 0.25 * (high - low))
    low, high = rows[1].get_ylim()
    rows[1].set_ylim(low, high + 0.25 * (high - low))
    for axes in rows:
        axes.legend(fontsize="small", ncols=3)
        marked(axes, run.reference)
    rows[-1].set_xlabel("time [s]")
    with whole_file(path) as draft:
        figure.savefig(draft, dpi=120)
