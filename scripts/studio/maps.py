"""Parameter maps: a scalar measure of runs or equilibria over one or two parameters."""

from __future__ import annotations

import csv
import io
import time
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from kinetree.models import ModelError
from kinetree.scripts.measures.run_measures import REST, TEXTS, columns_of
from kinetree.scripts.studies.study_rows import row_of
from kinetree.scripts.studio.session import Session

MOST = 2500  # points of a map
COLUMNWISE = {"settling": "s", "integral": ""}  # measures whose unit is not that of their column


@dataclass(frozen=True)
class Axis:
    """A varied parameter with its values in SI units."""

    name: str
    values: tuple[float, ...]
    unit: str = ""


@dataclass
class Map:
    """Values of a measure over one or two parameters; NaN for failed runs."""

    axes: tuple[Axis, ...]
    measure: str
    unit: str
    numbers: np.ndarray
    seconds: float = 0.0
    failed: list[str] = field(default_factory=list)
    stopped: bool = False

    def csv(self) -> str:
        """Return the map as CSV text with one row per point."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(
            [
                *(f"{axis.name} [{axis.unit}]" if axis.unit else axis.name for axis in self.axes),
                self.measure,
            ]
        )
        for case, number in zip(
            product(*(axis.values for axis in self.axes)), self.numbers.ravel(), strict=True
        ):
            writer.writerow([*map(repr, case), repr(float(number))])
        return stream.getvalue()

    def place(self, largest: bool) -> tuple[dict[str, float], float]:
        """Return parameter values and measure at the maximum or minimum."""
        k = int(np.nanargmax(self.numbers) if largest else np.nanargmin(self.numbers))
        index = np.unravel_index(k, self.numbers.shape)
        return {axis.name: axis.values[i] for axis, i in zip(self.axes, index, strict=True)}, float(
            self.numbers[index]
        )


def spread(name: str, low: float, high: float, count: int, unit: str = "") -> Axis:
    """Return an axis with evenly spaced values."""
    return Axis(
        name, tuple(float(f"{value:.12g}") for value in np.linspace(low, high, count)), unit
    )


def suggested(session: Session, name: str) -> tuple[float, float]:
    """Return a range from half to one and a half times the present value, within bounds, in SI
    units.
    """
    parameter, value = session.parameters()[name]
    low, high = (0.5 * value, 1.5 * value) if value else (-1.0, 1.0)
    low, high = min(low, high), max(low, high)
    least, most = (
        each if isinstance(each, (int, float)) else None for each in (parameter.min, parameter.max)
    )
    return max(low, least) if least is not None else low, min(
        high, most
    ) if most is not None else high


def run_map(session: Session, axes: tuple[Axis, ...], measure: str, stop_time: float | None) -> Map:
    """Compute all points of a map; failed ones are reported, `session.stop()` ends the computation."""
    count = int(np.prod([len(axis.values) for axis in axes]))
    if count > MOST:
        raise ValueError(f"{count} points, at most {MOST}")
    mechanism = session.ready()
    if mechanism.description.chain is not None:
        raise ValueError("maps are for mechanisms; a linear chain has its own studies")
    options = {
        key: value
        for key, value in (("stop_time", stop_time), ("inputs", dict(session.inputs) or None))
        if value is not None
    }
    numbers = np.full([len(axis.values) for axis in axes], np.nan)
    found = Map(axes, measure, unit_of(session, measure), numbers)
    session.part, session.running, session.stopping = 0.0, True, False
    begin = time.perf_counter()
    try:
        for k, values in enumerate(product(*(axis.values for axis in axes))):
            if session.stopping:
                found.stopped = True
                break
            case = dict(zip((axis.name for axis in axes), values, strict=True))
            try:
                numbers.flat[k] = row_of(mechanism.compile(**case), case, options, [measure])[-1]
            except (ModelError, ValueError, ArithmeticError, KeyError) as error:
                found.failed.append(
                    ", ".join(f"{name} = {value:g}" for name, value in case.items())
                    + f": {str(error).splitlines()[0]}"
                )
            session.part = (k + 1) / count
    finally:
        session.running = False
    found.seconds = time.perf_counter() - begin
    if not np.isfinite(numbers).any():
        raise ValueError(
            f"no point could be run: {found.failed[0]}"
            if found.failed
            else "stopped before the first point"
        )
    return found


def unit_of(session: Session, measure: str) -> str:
    """Return the unit of a measure if it is the unit of its column."""
    if measure in REST:
        text = TEXTS[measure]
        return text.partition("[")[2].rstrip("]")
    if measure.partition("(")[0] in COLUMNWISE:
        return COLUMNWISE[measure.partition("(")[0]]
    from kinetree.models.run.simulation_unit import make_unit

    name = columns_of([measure])
    wanted = name[0] if name else measure.partition("(")[2].rstrip(")")
    return next(
        (
            column.unit
            for column in make_unit(session.ready().compile()).columns
            if column.name == wanted
        ),
        "",
    )
