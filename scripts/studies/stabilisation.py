"""How well the carrier's drives hold the commanded angles while modules leave: valves shut, proportional, with advance compensation of the loads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kinetree.models import Result, load
from kinetree.models.result.whole_file import whole_file

WAYS = {
    "valves shut": {"slew_gain": 0.0, "luff_gain": 0.0},
    "proportional": {},
    "proportional and advance": {"advance": 1.0},
}
AXES = ("slew", "luff")
BAND = 2e-4  # deviation within which an angle counts as settled [rad]


@dataclass(frozen=True)
class Row:
    """One way to hold the angles, by axis: largest and mean deviation, what is left at the end [rad], longest time to settle [s]; energy used [J]."""

    way: str
    largest: dict[str, float]
    mean: dict[str, float]
    left: dict[str, float]
    settling: dict[str, float]
    energy: float


def compare(progress: Callable[[float], None] = lambda done: None, modules: int = 4, pace: float = 1.5, **settings: float) -> dict[str, Result]:
    """The same departures with each way; `cylinders`, `order` and all parameters of lib:carrier may be given."""
    runs = {}
    for k, (way, gains) in enumerate(WAYS.items()):
        system = load("lib:carrier", drives=1, **{"cylinders": 1, "modules": modules, "pace": pace, **settings, **gains}).compile()
        runs[way] = system.simulate(output_step=0.005, tolerance=1e-8)
        progress(k + 1.0)
    return runs


def row(way: str, result: Result) -> Row:
    """What the table says about a run."""
    deviations = {axis: result[axis] - result[axis][0] for axis in AXES}
    departures = [event.time for event in result.events if event.stage.startswith("swing")]
    return Row(
        way,
        {axis: float(np.abs(d).max()) for axis, d in deviations.items()},
        {axis: float(np.sqrt(np.mean(d**2))) for axis, d in deviations.items()},
        {axis: float(d[-1]) for axis, d in deviations.items()},
        {axis: max(settling(result.time, d, begin, end) for begin, end in spans(result, departures)) for axis, d in deviations.items()},
        float(result["drive_energy"][-1]),
    )


def spans(result: Result, departures: list[float]) -> list[tuple[float, float]]:
    """From each departure to the next push, or to the end."""
    pushes = [event.time for event in result.events if event.stage.startswith("travel")]
    return [(t, min([push for push in pushes if push > t], default=float(result.time[-1]))) for t in departures]


def settling(time: np.ndarray, deviation: np.ndarray, begin: float, end: float) -> float:
    """Time from `begin` until the deviation stays within the band up to `end`; the whole span where it does not."""
    inside = (time >= begin) & (time <= end)
    late = np.flatnonzero(np.abs(deviation[inside]) > BAND)
    return float(min(time[inside][late[-1]] - begin + (time[1] - time[0]), end - begin)) if late.size else 0.0


def table(runs: dict[str, Result]) -> list[list[str]]:
    """Head and rows as texts, angles in mrad."""
    heads = ["drives", *(f"{axis}: {text}" for axis in AXES for text in ("largest", "rms", "at the end", "settled after")), "energy [J]"]
    rows = [heads]
    for way, result in runs.items():
        found, cells = row(way, result), [way]
        for axis in AXES:
            span = max(end - begin for begin, end in spans(result, [e.time for e in result.events if e.stage.startswith("swing")]))
            settled = f"{found.settling[axis]:.2f} s" if found.settling[axis] < 0.98 * span else "not"
            cells += [*(f"{1e3 * value:.3f}" for value in (found.largest[axis], found.mean[axis], found.left[axis])), settled]
        rows.append([*cells, f"{found.energy:.0f}"])
    return rows


def draw(runs: dict[str, Result], path: Path) -> None:
    """Deviations of both angles over time, departures marked."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 5.5), layout="constrained")
    for axes, axis in zip(figure.subplots(2, 1, sharex=True), AXES, strict=True):
        axes.axhspan(-1e3 * BAND, 1e3 * BAND, color="0.9")
        for (way, result), colour in zip(runs.items(), ("#888888", "#c46a1b", "#1f5f8b")):
            axes.plot(result.time, 1e3 * (result[axis] - result[axis][0]), color=colour, linewidth=1.1, label=way)
        for event in next(iter(runs.values())).events:
            if event.stage.startswith("swing"):
                axes.axvline(event.time, color="#b03030", linewidth=0.7, linestyle="--")
        axes.set_ylabel(f"{axis}, deviation [mrad]")
        axes.grid(alpha=0.4)
        axes.margins(x=0.0)
    figure.axes[0].legend(fontsize="small", ncols=3)
    figure.axes[0].set_title("Angles while modules leave (dashed: departures; grey: settled)", fontsize="medium")
    figure.axes[-1].set_xlabel("time [s]")
    with whole_file(path) as draft:
        figure.savefig(draft, dpi=120)
