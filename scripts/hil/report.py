"""Report of a loop run: time percentiles, losses, delays, margins, plots."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.scripts.hil.loop_run import Record
from kinetree.scripts.measures.run_measures import measured
from kinetree.scripts.reports.study_page import Section, write_page

SHARES = (50.0, 99.0, 99.9)
BAND = 0.05  # of the largest deviation
HELD = (
    "measure",
    "setpoint",
    "largest deviation",
    "deviation at the end",
    "settled at [s]",
    "command at a limit [% of the steps]",
)
LIMITS = ("measure", "value (SI)", "at least", "at most", "")


def percentiles(values: Sequence[float]) -> list[float]:
    """Return the percentiles 50, 99, 99.9 and the largest of times, in microseconds."""
    found = np.asarray(values) * 1e6
    return [*map(float, np.percentile(found, SHARES)), float(found.max())] if found.size else []


def times(record: Record) -> list[tuple[Any, ...]]:
    """Return the rows of the table of times."""
    rows = (
        ("computing of a step", record.computing),
        ("lateness of a step", record.lateness),
        ("lateness of a loop that only waits", record.bare),
        ("taken from the loop while it waits", record.gaps),
        ("round trip as seen at the next step", record.trips),
    )
    return [(name, *percentiles(values)) for name, values in rows if values]


def sentences(record: Record) -> list[str]:
    """Return sentences about losses, delays and lateness."""
    s, steps = record.scenario, len(record.rows)
    kind = "simulated, bit for bit repeatable" if record.simulated else "against the wall clock"
    lines = [
        f"{steps} steps of {1e3 * s.step:g} ms, {kind}; {record.sent} frames sent, {record.received} commands applied"
    ]
    lines[0] += (
        f", {record.lost} frames lost by injection, {record.stale} steps without a new command ({s.late})"
    )
    if record.refused:
        lines.append(
            f"{record.refused} answers contained values that are not finite and were treated as lost"
        )
    if record.ages:
        ages = np.array(record.ages)
        lines.append(f"loop delay: {ages.mean():.3g} steps on average, {ages.max()} at most")
    if not record.simulated:
        late = np.asarray(record.lateness)
        lines.append(f"{record.misses} of {steps} steps ended after their deadline")
        own = int((np.asarray(record.computing) > s.step).sum())
        waits = int((np.asarray(record.bare) > s.step).sum())
        if record.misses:
            begun = int((late > s.step).sum())
            told = f"of these {own} computed for longer than a step; {begun} steps began a whole step late"
            lines.append(
                f"{told}, as {waits} of {len(record.bare)} did in the loop that only waits"
            )
    return [*lines, *record.notes]


def with_unit(record: Record, name: str) -> str:
    """Return a name with its unit, for axes and tables."""
    unit = record.units.get(name, "")
    return f"{name} [{unit}]" if unit not in ("", "1") else name


def held_rows(record: Record) -> list[tuple[Any, ...]]:
    """Return for every loop its deviation from the setpoint, its settling time, and the share of
    time in which its command was at a limit.
    """
    if not record.rows:
        return []
    data, time = np.array(record.rows), np.array(record.time)
    found = []
    for table in record.scenario.loops:
        goal = float(table.get("setpoint", 0.0))
        away = np.abs(data[:, record.columns.index(table["measure"])] - goal)
        command = data[:, record.columns.index(table["command"])]
        outside = np.flatnonzero(away > BAND * away.max(initial=0.0))
        settled = 0.0
        if outside.size:
            last = int(outside[-1])
            settled = float(time[last + 1]) if last + 1 < time.size else np.nan
        limits = [
            (command <= float(table["low"])) if "low" in table else np.zeros(time.size, bool),
            (command >= float(table["high"])) if "high" in table else np.zeros(time.size, bool),
        ]
        found.append(
            (
                with_unit(record, table["measure"]),
                goal,
                float(away.max()),
                float(away[-1]),
                "no" if np.isnan(settled) else f"{settled:.4g}",
                100.0 * float((limits[0] | limits[1]).mean()),
            )
        )
    return found


def numbers(record: Record, texts: Sequence[str]) -> dict[str, float]:
    """Return the values of measures of a run; NaN for a stage or phase that was not reached."""
    if not record.rows:
        return {}
    data, time = np.array(record.rows), np.array(record.time)
    columns = {name: data[:, k] for k, name in enumerate(record.columns)}
    inside = None
    if record.parts is not None:
        inside = record.parts.inside(np.array(record.stages[: len(time)]))
        texts = record.parts.expanded(texts)

    def no_rest() -> Any:
        raise ValueError("a real-time run has no equilibrium")

    return {text: measured(text, time, columns, no_rest, inside) for text in texts}


def measure_rows(record: Record) -> list[tuple[Any, ...]]:
    """Return the measures that the scenario asks for, with their values in SI."""
    return list(numbers(record, record.scenario.report).items())


def limit_rows(record: Record) -> list[tuple[Any, ...]]:
    """Return a row per limit of the scenario: measure, value, bounds, and whether it was kept."""
    limits = record.scenario.limits
    if record.parts is not None:
        limits = record.parts.spread(limits)
    found = numbers(record, list(limits))
    return [
        (
            text,
            value,
            *limits[text],
            "kept" if limits[text][0] <= value <= limits[text][1] else "broken",
        )
        for text, value in found.items()
    ]


def margin_rows(record: Record) -> list[tuple[Any, ...]]:
    """Return the margins of a loop as designed, as sampled, and with the measured delay."""
    s = record.scenario
    if s.mechanism is None or len(s.loops) != 1 or s.drives:
        return []
    from kinetree.models import load
    from kinetree.models.analysis.frequency_response import margins
    from kinetree.models.analysis.operating_point import linear_at_rest
    from kinetree.models.engine.status import EvaluationError
    from kinetree.scripts.hil.open_loop import loop_of

    loop = s.loops[0]
    try:
        mechanism = load(s.described())
        system = mechanism.compile(
            **{k: v for k, v in s.values.items() if k in mechanism.description.parameters}
        )
        plant = linear_at_rest(system, None, [loop["measure"]]).part(
            [loop["command"]], [loop["measure"]]
        )
    except (EvaluationError, KeyError, ValueError):
        return []
    open_loop = loop_of(plant, loop)
    age = float(np.mean(record.ages)) * s.step if record.ages else 0.0
    cases = (
        ("continuous", 0.0),
        ("sampled and held", 0.5 * s.step),
        ("as it ran", 0.5 * s.step + age),
    )
    rows = []
    for name, delay in cases:
        found = margins(open_loop, delay=delay)
        rows.append(
            (
                name,
                1e3 * delay,
                "stable" if found.stable else "unstable",
                found.gain,
                found.phase,
                1e3 * found.delay,
                found.modulus,
            )
        )
    return rows


def write_report(record: Record, path: Path) -> Path:
    """Write the report page of a run."""
    from kinetree.scripts.reports.linear_pictures import figure_of

    s = record.scenario
    figure, axes = figure_of(len(record.columns), 1, 8.0, 1.0 + 1.8 * len(record.columns))
    data = np.array(record.rows).reshape(len(record.rows), len(record.columns))
    goals = {table["measure"]: float(table["setpoint"]) for table in s.loops if "setpoint" in table}
    bounds = {
        table["command"]: [float(table[key]) for key in ("low", "high") if key in table]
        for table in s.loops
    }
    for k, name in enumerate(record.columns):
        axes[k, 0].plot(record.time, data[:, k], linewidth=0.9)
        for level in [goals[name]] if name in goals else bounds.get(name, ()):
            axes[k, 0].axhline(level, color="#888888", linewidth=0.7, linestyle="--")
        axes[k, 0].set_ylabel(with_unit(record, name))
        axes[k, 0].grid(alpha=0.3)
    axes[-1, 0].set_xlabel("time [s]")
    sections = [
        Section("What happened").say(*sentences(record)).picture(figure, "Measures and commands")
    ]
    if held := held_rows(record):
        sections.append(
            Section("How well it held")
            .say(f"Settled: within {100 * BAND:g} % of its largest deviation from then on.")
            .table(HELD, held)
        )
    if wanted := measure_rows(record):
        sections.append(Section("Measures").table(("measure", "value (SI)"), wanted))
    if kept := limit_rows(record):
        sections.append(Section("Limits").table(LIMITS, kept))
    if record.computing:
        sections.append(timing(record, figure_of))
    rows = margin_rows(record)
    if rows:
        head = (
            "loop",
            "delay [ms]",
            "",
            "gain margin",
            "phase margin [°]",
            "delay margin [ms]",
            "modulus margin",
        )
        sections.append(
            Section("Margins")
            .say(
                "Margins of the loop linearised about its equilibrium, including the delay of the communication."
            )
            .table(head, rows)
        )
    more = {
        "scenario": s.path,
        "plant": s.mechanism or s.fmu,
        "channel": s.channel,
        "loops": s.loops,
    }
    return write_page(path, f"Hardware in the loop: {s.path.stem}", sections, more=more)


def timing(record: Record, figure_of: Any) -> Section:
    """Return the report section with histograms and percentiles of the times of a run."""
    figure, axes = figure_of(1, 2, 9.0, 3.2)
    pairs = (
        ("computing of a step", record.computing, None),
        ("lateness", record.lateness, record.bare),
    )
    for place, (name, values, beside) in zip(axes[0], pairs, strict=True):
        top = max(np.percentile(np.asarray(values) * 1e6, 99.9), 1.0)
        place.hist(np.asarray(values) * 1e6, bins=60, range=(0, top), label="plant")
        if beside:
            place.hist(
                np.asarray(beside) * 1e6,
                bins=60,
                range=(0, top),
                histtype="step",
                label="only waiting",
            )
            place.legend(fontsize=8)
        place.set(xlabel=f"{name} [µs]", ylabel="steps", yscale="log")
    return (
        Section("Times")
        .picture(figure, "Up to the 99.9th percentile")
        .table(("", "50 %", "99 %", "99.9 %", "largest"), times(record), "µs")
    )
