"""Reports of a co-simulation: a summary, a table of values, and plots beside the reference."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from kinetree.models.result.atomic_file import opened, whole_file
from kinetree.scripts.cosim.scenario_verdict import BAR, SIDES, Outcome
from kinetree.scripts.cosim.schemes import SCHEMES

MAX_PICTURE_ROWS = 12  # of a picture without a reference
VERDICTS = {
    "not stable": "[red]not stable[/]",
    "wrong": "[red]stable but inaccurate: use a smaller step or another scheme[/]",
    "rough": "[yellow]stable, low accuracy[/]",
    "accurate": "[green]stable and accurate[/]",
    "stable": "[green]stable[/]",
}


def show(outcome: Outcome, written: list[Path]) -> None:
    """Print the verdict, pressure error, coupling energy and notes of a co-simulation."""
    from rich.console import Console
    from rich.markup import escape

    facts = outcome.report()
    console = Console(highlight=False, soft_wrap=True)
    state = VERDICTS[facts["verdict"]]
    console.print(
        f"[bold]{escape(outcome.scenario)}[/]: {steps_of(outcome)}, stop time {outcome.stop_time:g} s: {state}"
    )
    says = f": {SCHEMES[outcome.scheme].says}" if outcome.reference else ""
    console.print(f"coupling scheme {outcome.scheme}{says}")
    if outcome.trace.message:
        console.print(escape(outcome.trace.message))
    if facts["peak_pressure_error_bar"] is not None:
        console.print(
            f"largest pressure error {facts['peak_pressure_error_bar']:.3g} bar against the monolithic simulation, "
            f"largest pressure {facts['peak_pressure_bar']:.3g} bar"
        )
    for name, made in facts["energy_residuals_J"].items():
        if made is not None:
            console.print(
                f"energy created by the coupling at {name}: {made:.3g} J (0 in an exact coupling)"
            )
    for note in outcome.notes:
        console.print(f"[yellow]{escape(note)}[/]")
    for path in written:
        console.print(f"wrote {escape(str(path))}")


def steps_of(outcome: Outcome) -> str:
    """Return the communication step [s] as text, or its range under step-size control."""
    if not outcome.controlled:
        return f"communication step {outcome.step_size:g} s"
    smallest, largest = outcome.step(np.min) or 0.0, outcome.step(np.max) or 0.0
    return f"{outcome.trace.time.size - 1} communication steps of {smallest:.3g} to {largest:.3g} s"


def write_csv(outcome: Outcome, path: Path) -> None:
    """Write all recorded values at the communication points as CSV."""
    names = list(outcome.trace.columns)
    with opened(path) as file:
        writer = csv.writer(file)
        writer.writerow(["time", *names])
        writer.writerows(zip(outcome.trace.time, *(outcome.trace[name] for name in names)))


def write_plot(outcome: Outcome, path: Path) -> None:
    """Plot pressures and actuator length with the monolithic reference."""
    from matplotlib.figure import Figure

    if not outcome.reference:
        plot_columns(outcome, path)
        return
    figure = Figure(figsize=(8.0, 5.5), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    exact = outcome.reference
    for side, colour in zip(SIDES, ("tab:blue", "tab:red")):
        above.plot(
            exact["time"],
            exact[side] / BAR,
            color=colour,
            linewidth=0.8,
            label=f"{side[-1]}: one system",
        )
        above.plot(
            outcome.trace.time,
            outcome.trace[side] / BAR,
            color=colour,
            linestyle="",
            marker=".",
            markersize=4,
            label=f"{side[-1]}: coupled",
        )
    peak = max(float(exact[side].max()) for side in SIDES) / BAR
    above.set_ylim(-0.1 * peak, 1.4 * peak)
    above.set_ylabel("pressure [bar]")
    above.legend(fontsize="small", ncols=2)
    below.plot(exact["time"], exact["length"], color="black", linewidth=0.8, label="one system")
    below.plot(
        outcome.trace.time,
        outcome.trace["length"],
        color="tab:green",
        linestyle="",
        marker=".",
        markersize=4,
        label="coupled",
    )
    below.legend(fontsize="small")
    margin = 0.1 * float(np.ptp(exact["length"])) or 0.01
    below.set_ylim(exact["length"].min() - margin, exact["length"].max() + margin)
    below.set_ylabel(outcome.place)
    below.set_xlabel("time [s]")
    above.set_title(f"{outcome.scenario}: {outcome.scheme}, {steps_of(outcome)}", fontsize="medium")
    with whole_file(path) as draft:
        figure.savefig(draft, dpi=120)


def plot_columns(outcome: Outcome, path: Path) -> None:
    """Plot one row per value, and one with the coupling's energy error."""
    from matplotlib.figure import Figure

    rows = list(outcome.trace.columns.items())[:MAX_PICTURE_ROWS]
    count = max(1, len(rows) + bool(outcome.trace.energies))
    figure = Figure(figsize=(8.0, 1.0 + 1.5 * count), layout="constrained")
    places = figure.subplots(count, 1, sharex=True, squeeze=False)[:, 0]
    for axes, (name, values) in zip(places, rows):
        unit = outcome.trace.units.get(name, "")
        axes.plot(outcome.trace.time, values / (BAR if unit == "Pa" else 1.0), linewidth=1.0)
        shown = "bar" if unit == "Pa" else unit
        axes.set_title(
            f"{name} [{shown}]" if shown and shown != "1" else name, fontsize="small", loc="left"
        )
        axes.grid(alpha=0.3)
    for name, made in outcome.trace.energies.items():
        places[-1].plot(outcome.trace.time, made, linewidth=1.0, label=name)
        places[-1].set_title("energy made by the coupling [J]", fontsize="small", loc="left")
        places[-1].legend(fontsize="small")
    places[-1].set_xlabel("time [s]")
    figure.suptitle(f"{outcome.scenario}: {outcome.scheme}, {steps_of(outcome)}", fontsize="medium")
    with whole_file(path) as draft:
        figure.savefig(draft, dpi=120)
