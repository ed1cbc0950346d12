"""Comparison of drive variants that hold values under disturbances: runs, equilibrium, spread
parameters.

mechanism = "lib:carrier"
hold = ["slew", "luff"]            # outputs or coordinates that are to stay what they are at the start of the run
band = 2e-4                        # deviation within which they count as settled
disturbed = "swing"                # stages whose beginnings disturb, by the beginning of their names; left out: the start of the run
until = "travel"                   # stages before which it is to be settled
energy = "drive_energy"            # a column whose last value is what holding costs; left out: not told
samples = 32                       # runs of every way with [vary] (and [correlated], as in study.py), by a Latin hypercube with `seed`
show = ["*_valve.spool"]           # columns or patterns that the report draws besides: pressures, flows, openings
[set]                              # parameters and settings of all ways
[run]
stop_time = 5.0
[vary]
module_mass = { normal = [120.0, 6.0] }
[ways.proportional]                # parameters, or arguments of the mechanism, that make a way, as many ways as wanted
gain = 2.0
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field, PlainValidator, PrivateAttr, model_validator

from kinetree.models import Result, load
from kinetree.models.checks.loader import arguments_of
from kinetree.models.language.errors import suggestion
from kinetree.models.run.keyboard_interrupt import raise_if_interrupted
from kinetree.scripts.studies.samplers import Correlated, Distribution, drawn
from kinetree.scripts.studies.study import RunTable, as_distribution
from kinetree.scripts.terminal.error_messages import BadInput
from kinetree.scripts.terminal.input_files import FileTable, Positive, Real, checked, read_toml

SHIPPED = Path(__file__).parent.parent / "templates" / "stabilisation.toml"
ROUNDING = 1e-9  # below which a shown deviation is zero
NOT_SETTLED = 0.98  # of a span: what settles later than that has not


class Comparison(FileTable):
    """Settings of a comparison."""

    mechanism: Annotated[str, Field(strict=True, min_length=1)]
    hold: Annotated[list[str], Field(min_length=1)]
    ways: Annotated[dict[str, dict[str, Real]], Field(min_length=1)]
    band: Positive
    disturbed: str = ""
    until: str = ""
    energy: str = ""
    show: list[str] = []
    settings: dict[str, Any] = Field({}, alias="set")
    run_table: RunTable = Field(RunTable(), alias="run")
    vary: dict[str, Annotated[Any, PlainValidator(as_distribution)]] = {}
    correlated: dict[str, Any] = {}
    samples: Annotated[int, Field(strict=True, ge=2, le=100_000)] = 32
    seed: Annotated[int, Field(strict=True, ge=0)] = 0

    _path: Path = PrivateAttr(SHIPPED)

    @model_validator(mode="after")
    def sensible(self) -> Comparison:
        if self.until and not self.disturbed:
            raise ValueError("until: it belongs to `disturbed`, which is missing")
        self.together()
        return self

    @property
    def path(self) -> Path:
        """Return the path of the file."""
        return self._path

    def source(self) -> str:
        """Return the mechanism; file paths are relative to the comparison's folder."""
        return (
            self.mechanism
            if self.mechanism.startswith("lib:")
            else str(self.path.parent / self.mechanism)
        )

    def options(self) -> dict[str, Any]:
        return self.run_table.model_dump(exclude_unset=True)

    def with_settings(self, settings: dict[str, Any]) -> Comparison:
        """Return the comparison with further settings for all variants."""
        made = self.model_copy(update={"settings": {**self.settings, **settings}})
        made._path = self._path
        return made

    def together(self) -> Correlated | None:
        return (
            Correlated.among(self.correlated, self.vary, "correlated") if self.correlated else None
        )

    def spreads(self) -> dict[str, Distribution]:
        return self.vary


def read_comparison(path: Path = SHIPPED) -> Comparison:
    """Read and check a file."""
    found = checked(Comparison, read_toml(path), str(path))
    found._path = path
    return found


@dataclass(frozen=True)
class Row:
    """Results of one variant: deviations, settling time [s], energy."""

    way: str
    largest: dict[str, float]
    mean: dict[str, float]
    left: dict[str, float]
    settling: dict[str, float]
    span: float
    energy: float

    def settled(self, name: str) -> bool:
        return self.settling[name] < NOT_SETTLED * self.span


def system_of(wanted: Comparison, way: str) -> Any:
    """Return the compiled mechanism of one variant, whose values are parameters or arguments of a
    library mechanism.
    """
    arguments = arguments_of(wanted.source())
    built = {name: value for name, value in wanted.ways[way].items() if name in arguments}
    mechanism = load(wanted.source(), **(wanted.settings | built))
    known = (*mechanism.description.parameters, *arguments)
    for name in (*wanted.ways[way], *wanted.vary):
        if name not in known:
            raise BadInput(f"{wanted.path}: no parameter '{name}'; {suggestion(name, known)}")
    system = mechanism.compile(**wanted.ways[way])
    c = system.compiled
    columns = (*(column.name for column in c.outputs), *c.coordinates, *c.speeds, *c.states)
    for name in (*wanted.hold, *([wanted.energy] if wanted.energy else [])):
        if name not in columns:
            raise BadInput(f"{wanted.path}: no column '{name}'; {suggestion(name, columns)}")
    stages = [stage.name for stage in system.stages]
    for begin in filter(None, (wanted.disturbed, wanted.until)):
        if not any(name.startswith(begin) for name in stages):
            raise BadInput(
                f"{wanted.path}: no stage begins with '{begin}'; stages: {', '.join(filter(None, stages)) or 'none'}"
            )
    return system


def compare(
    wanted: Comparison, progress: Callable[[float], None] = lambda done: None
) -> dict[str, Result]:
    """Run every variant; return the results by variant."""
    runs = {}
    for k, way in enumerate(wanted.ways):
        runs[way] = raise_if_interrupted(system_of(wanted, way).simulate(**wanted.options()))
        progress(k + 1.0)
    return runs


def row(wanted: Comparison, way: str, result: Result) -> Row:
    """Return the results of one variant from its run."""
    deviations = {name: result[name] - result[name][0] for name in wanted.hold}
    stretches = spans(wanted, result)
    return Row(
        way,
        {name: float(np.abs(d).max()) for name, d in deviations.items()},
        {name: float(np.sqrt(np.mean(d**2))) for name, d in deviations.items()},
        {name: float(d[-1]) for name, d in deviations.items()},
        {
            name: max(settling(result.time, d, begin, end, wanted.band) for begin, end in stretches)
            for name, d in deviations.items()
        },
        max(end - begin for begin, end in stretches),
        float(result[wanted.energy][-1]) if wanted.energy else float("nan"),
    )


def spans(wanted: Comparison, result: Result) -> list[tuple[float, float]]:
    """Return the intervals from each disturbance to its settling deadline."""
    last = float(result.time[-1])
    if not wanted.disturbed:
        return [(float(result.time[0]), last)]
    begins, ends = (
        [e.time for e in result.events if text and e.stage.startswith(text)]
        for text in (wanted.disturbed, wanted.until)
    )
    return [(t, min([end for end in ends if end > t], default=last)) for t in begins] or [
        (float(result.time[0]), last)
    ]


def settling(
    time: np.ndarray, deviation: np.ndarray, begin: float, end: float, band: float
) -> float:
    """Return the time from `begin` until the deviation stays within the band up to `end`; the whole
    interval if it does not.
    """
    inside = (time >= begin) & (time <= end)
    late = np.flatnonzero(np.abs(deviation[inside]) > band)
    return (
        float(min(time[inside][late[-1]] - begin + (time[1] - time[0]), end - begin))
        if late.size
        else 0.0
    )


def shown_unit(result: Result, name: str) -> tuple[float, str]:
    """Return the factor and unit in which deviations are shown: thousandths for angles and lengths."""
    unit = result.unit(name)
    return (1e3, f"m{unit}") if unit in ("rad", "m") else (1.0, unit)


def table(wanted: Comparison, runs: dict[str, Result]) -> list[list[str]]:
    """Return the table of all variants as texts, the head first."""
    units = {name: shown_unit(next(iter(runs.values())), name) for name in wanted.hold}
    labels = {name: f"{name} [{unit}]" if unit else name for name, (_, unit) in units.items()}
    words = ("largest", "rms", "at the end", "settled after")
    heads = [
        "way",
        *(
            f"{name if text == words[-1] else labels[name]}: {text}"
            for name in wanted.hold
            for text in words
        ),
    ]
    rows = [heads + (["energy [J]"] if wanted.energy else [])]
    for way, result in runs.items():
        found, cells = row(wanted, way, result), [way]
        for name in wanted.hold:
            values = (
                units[name][0] * value
                for value in (found.largest[name], found.mean[name], found.left[name])
            )
            cells += [
                *(f"{0.0 if abs(value) < ROUNDING else value:.4g}" for value in values),
                f"{found.settling[name]:.2f} s" if found.settled(name) else "not",
            ]
        rows.append(cells + ([f"{found.energy:.0f}"] if wanted.energy else []))
    return rows


def spread(
    wanted: Comparison, progress: Callable[[float], None] = lambda done: None
) -> dict[str, dict[str, np.ndarray]]:
    """Run every variant with sampled parameters; return the largest deviations by variant and
    column.
    """
    columns, found = (
        drawn("latin", wanted.spreads(), wanted.samples, wanted.seed, wanted.together()),
        {},
    )
    for k, way in enumerate(wanted.ways):
        options = {key: value for key, value in wanted.options().items() if key != "method"}
        runs = system_of(wanted, way).simulate_many(columns, outputs=wanted.hold, **options)
        found[way] = {
            name: np.abs(runs[name] - runs[name][:, :1]).max(axis=1) for name in wanted.hold
        }
        progress(k + 1.0)
    return found
