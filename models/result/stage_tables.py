"""Tables over the stages of a run as a description requests them in `[report.tables]`.

A stage begins and ends at the instants of its events, with the values just after and just before
them. Means over time are integrals over straight lines between the recorded rows, divided by the
length of the stage; statistics over the rows weight all stages equally (divisor n).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetree.models.language.parts.report_parts import ReportPlot, ReportTable
from kinetree.models.result.number_format import DUST, as_read, written, written_column
from kinetree.models.result.shown_names import shown_name
from kinetree.models.result.stage_summary import lasting, phase_samples, phases_of, stage_samples

OverTime = Callable[[np.ndarray, np.ndarray], np.ndarray]
WORDS = {
    "mean": "mean",
    "std": "standard deviation",
    "rms": "root mean square",
    "smallest": "smallest",
    "largest": "largest",
    "range": "range",
    "initial": "deviation from the start",
    "whole_mean": "mean over time",
    "whole_std": "deviation over time",
    "whole_range": "range over time",
}
COLUMN_ROUNDING = 1e-9  # of the largest number of a column: what is smaller is rounding


def mean(time: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the time average of rows, or the single value of a stage without duration."""
    span = time[-1] - time[0]
    return np.trapezoid(rows, time, axis=0) / span if span > 0.0 else rows[-1]


def rms(time: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the root mean square over time, linear between rows; for a stage without duration the
    magnitude of its value.
    """
    span = time[-1] - time[0]
    a, b = rows[:-1], rows[1:]
    return (
        np.sqrt(np.diff(time) @ (a * a + a * b + b * b) / (3.0 * span))
        if span > 0.0
        else np.abs(rows[-1])
    )


def deviation(time: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the standard deviation over time."""
    return rms(time, rows - mean(time, rows))


OVER_TIME: dict[str, OverTime] = {
    "start": lambda time, rows: rows[0],
    "end": lambda time, rows: rows[-1],
    "mean": mean,
    "std": deviation,
    "rms": rms,
    "smallest": lambda time, rows: rows.min(axis=0),
    "largest": lambda time, rows: rows.max(axis=0),
    "range": lambda time, rows: np.ptp(rows, axis=0),
    "max_deviation": lambda time, rows: rows[np.abs(rows).argmax(axis=0), np.arange(rows.shape[1])],
}
SUMS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "mean": lambda values: values.mean(axis=0),
    "std": lambda values: values.std(axis=0),
    "rms": lambda values: np.sqrt((values**2).mean(axis=0)),
    "smallest": lambda values: values.min(axis=0),
    "largest": lambda values: values.max(axis=0),
    "range": lambda values: np.ptp(values, axis=0),
}


@dataclass(frozen=True)
class StageTable:
    """Values in SI by row and variable; `rows()` formats them for engineers."""

    title: str
    names: tuple[str, ...]
    units: tuple[str, ...]
    labels: tuple[str, ...]
    values: np.ndarray
    sums: dict[str, np.ndarray]
    result: Any
    deviations: bool

    def rows(self, digits: int = 5) -> list[list[str]]:
        """Return the header, one line per row and one per statistic; every column in the unit it
        asks for, or else in a suitable one.
        """
        every = np.vstack([self.values, *self.sums.values()])
        head, columns = [""], []
        for k, name in enumerate(self.names):
            dust = max(
                COLUMN_ROUNDING * float(np.nanmax(np.abs(every[:, k]), initial=0.0)),
                DUST.get(self.units[k], 0.0),
            )
            numbers, unit = as_read(
                self.result,
                name,
                np.where(np.abs(every[:, k]) < dust, 0.0, every[:, k]),
                difference=self.deviations,
            )
            title = shown_name(self.result, name)
            head.append(f"{title} [{unit}]" if unit not in ("", "1") else title)
            columns.append(written_column(numbers, digits))
        labels = (*self.labels, *(WORDS[name] for name in self.sums))
        return [
            head,
            *([label, *(column[k] for column in columns)] for k, label in enumerate(labels)),
        ]

    def plain_rows(self) -> list[list[str]]:
        """Return the rows in SI with all digits, for files that programs read."""
        head = [
            "",
            *(
                f"{name} [{unit}]" if unit else name
                for name, unit in zip(self.names, self.units, strict=True)
            ),
        ]
        lines = zip(
            (*self.labels, *self.sums), np.vstack([self.values, *self.sums.values()]), strict=True
        )
        return [
            head,
            *([label, *(repr(float(value)) for value in values)] for label, values in lines),
        ]


def matching(patterns: Sequence[str], known: Sequence[str], what: str) -> list[str]:
    """Return the known names that match any pattern, in their own order."""
    from kinetree.models.language.errors import suggestion
    from kinetree.models.result.result import shape_of

    found: set[str] = set()
    for pattern in patterns:
        shape = shape_of(pattern)
        matches = [name for name in known if name == pattern] or [
            name for name in known if shape.fullmatch(name)
        ]
        if not matches:
            raise KeyError(
                f"no {what} '{pattern}'; {suggestion(pattern, tuple(dict.fromkeys(known)))}"
            )
        found.update(matches)
    return [name for name in known if name in found]


def stage_table(
    result: Any, wanted: ReportTable, name: str = "", coordinates: Sequence[str] = ()
) -> StageTable:
    """Return a table over the stages of a run; raise KeyError for unknown columns and stages."""
    names = chosen_columns(result, wanted.columns, coordinates)
    parts: Any = stage_samples(result, names)
    every = [label(result, number) for number, _, _ in parts]
    by_phase = wanted.rows != "changes" and speaks_of_phases(result, wanted)
    if by_phase:
        parts = phase_samples(result, names)
        every = [phase for phase, _, _ in parts]
    chosen = set(matching(wanted.stages, every, "stage")) if wanted.stages else set(every)
    parts = [part for part, stage in zip(parts, every, strict=True) if stage in chosen]
    first = result.array(names)[0]
    reference = (
        wanted.reference
        if wanted.reference is not None or wanted.rows != "max_deviation"
        else "start"
    )
    labels: list[str] = []
    lines: list[np.ndarray] = []
    if wanted.rows == "changes":
        for change in result.stage_changes:
            if label(result, change.stage) in chosen:
                labels += [
                    f"{written(change.time, 6)} s, end of {label(result, change.stage)}",
                    f"{written(change.time, 6)} s, {label(result, change.stage + 1)}",
                ]
                lines += [result.picked(change.before, names), result.picked(change.after, names)]
        lines = [line - away(result, reference, names, first, line) for line in lines]
    else:
        for number, time, rows in parts:
            labels.append(number if by_phase else label(result, number))
            lines.append(
                OVER_TIME[wanted.rows](time, rows - away(result, reference, names, first, rows[0]))
            )
    values = np.array(lines).reshape(len(lines), len(names))
    sums = {key: SUMS[key](values) for key in wanted.sums if key in SUMS} if len(lines) > 1 else {}
    if "initial" in wanted.sums and len(lines) > 1:
        begin = np.zeros(len(names)) if reference is not None else first
        sums["initial"] = SUMS["rms"](values - begin)
    sums |= whole(parts, wanted.sums, reference, first)
    sums = {key: sums[key] for key in wanted.sums if key in sums}
    return StageTable(
        wanted.title or name,
        tuple(names),
        tuple(map(result.unit, names)),
        tuple(labels),
        values,
        sums,
        result,
        reference is not None,
    )


def speaks_of_phases(result: Any, wanted: ReportTable) -> bool:
    """Return whether the rows of a table are phases instead of stages."""
    if wanted.over == "phases":
        if not any(phases_of(result)):
            raise KeyError("over: no stage has a phase")
        return True
    from kinetree.models.result.result import shape_of

    fit = [shape_of(pattern) for pattern in wanted.stages]
    stages, phases = (
        any(shape.fullmatch(name) for shape in fit for name in each if name)
        for each in (result.stage_names, phases_of(result))
    )
    return phases and not stages


def whole(
    parts: Sequence[Any], wanted: Sequence[str], reference: Any, first: np.ndarray
) -> dict[str, np.ndarray]:
    """Return statistics over the whole time that the rows cover, without gaps between them."""
    found = {}
    spans = np.array([time[-1] - time[0] for _, time, _ in parts])
    shares = spans / spans.sum() if spans.sum() > 0.0 else np.full(len(parts), 1.0 / len(parts))
    middle = shares @ np.array([mean(time, rows) for _, time, rows in parts])
    if "whole_mean" in wanted:
        found["whole_mean"] = middle - (0.0 if reference is None else first)
    if "whole_std" in wanted:
        squares = [rms(time, rows - middle) ** 2 for _, time, rows in parts]
        found["whole_std"] = np.sqrt(shares @ np.array(squares))
    if "whole_range" in wanted:
        found["whole_range"] = np.ptp(np.vstack([rows for _, _, rows in parts]), axis=0)
    return found


def chosen_columns(result: Any, patterns: Sequence[str], coordinates: Sequence[str]) -> list[str]:
    """Return the recorded columns that match the patterns, in the order of the patterns, without
    coordinates that do not move until the end.
    """
    if not patterns:
        return lasting(
            result, coordinates or [name for name in result.names if name not in result.EXTRA]
        )
    derived = [name for name in patterns if name in getattr(result, "derived", ())]
    if derived:
        raise KeyError(
            f"'{derived[0]}' is not recorded, so it is not known at the ends of stages; an output with that value is"
        )
    return list(
        dict.fromkeys(
            name for pattern in patterns for name in matching([pattern], [*result.names], "column")
        )
    )


def not_there(
    result: Any, wanted: Mapping[str, ReportTable | ReportPlot], coordinates: Sequence[str] = ()
) -> dict[str, str]:
    """Return columns and stages that tables and plots name but the run lacks, by table or plot."""
    found = {}
    for name, each in wanted.items():
        try:
            if each.columns and isinstance(each, ReportTable):
                refuse_reference(each.reference, chosen_columns(result, each.columns, coordinates))
            elif each.columns:
                result.select(each.columns)
            if each.stages and any(result.stage_names):
                known = [*result.stage_names, *dict.fromkeys(filter(None, phases_of(result)))]
                matching(each.stages, known, "stage")
        except KeyError as error:
            found[name] = str(error.args[0])
    return found


def label(result: Any, number: int) -> str:
    """Return the name of a stage, or its number if it has none."""
    return (
        result.stage_names[number]
        if number < len(result.stage_names) and result.stage_names[number]
        else f"stage {number}"
    )


def refuse_reference(reference: Any, names: Sequence[str]) -> None:
    """Raise KeyError for reference columns that the table does not have."""
    unknown = (
        [name for name in reference if name not in names] if isinstance(reference, Mapping) else []
    )
    if unknown:
        raise KeyError(f"reference: '{unknown[0]}' is no column of the table")


def away(
    result: Any, reference: Any, names: Sequence[str], first: np.ndarray, begin: np.ndarray
) -> np.ndarray:
    """Return the reference values from which deviations are measured."""
    if reference is None:
        return np.zeros(len(names))
    if reference == "start":
        return first
    if reference == "stage":
        return begin
    if isinstance(reference, Mapping):
        refuse_reference(reference, names)
        return np.array([reference.get(name, 0.0) for name in names])
    if not result.time[0] <= reference <= result.time[-1]:
        raise KeyError(f"reference: {reference:g} s is outside of the run")
    return result.array(names)[int(np.abs(result.time - reference).argmin())]
