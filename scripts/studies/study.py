"""Parameter studies: a mechanism run over a grid, over pairs or over random values of its parameters, a row of reported numbers per run.

mechanism = "lib:regulator"
combine = "grid"                               # every combination (default); "pairs": first with first; drawn, `samples` with `seed`: "random",
                                               # "latin" (hypercube), "sobol" (sequence), "indices" (Sobol indices,
                                               # samples (parameters + 2) runs)
rest = ["growth", "damping"]                   # of the small motions about rest: growth, damping, frequency; of the controllers' loops:
                                               # gain_margin, phase_margin, delay_margin, modulus_margin
[vary]
m2 = [1.0, 1.5, 2.0]
k = { from = 20, to = 60, count = 5 }
d = { normal = [3.0, 0.2] }                    # where values are drawn; uniform = [low, high], lognormal = [median, factor]
[correlated]                                   # normal and lognormal ones that vary together (of lognormal ones: their logarithms)
of = ["d", "e"]
correlation = [[1.0, 0.6], [0.6, 1.0]]         # or covariance, whose diagonal is the squares of the deviations in [vary]
[run]
stop_time = 5.0
[report]
"height, swing*" = ["max"]                     # of a stage or phase; `each swing*`: of every one by itself
height = ["max", "end"]                        # rest (its value there) start end min max mean std span peak rms integral deviation settling
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    PlainValidator,
    PrivateAttr,
    Tag,
    model_validator,
)

from kinetree.models import load
from kinetree.models.description.schema import INTEGRATORS, METHODS
from kinetree.scripts.measures.run_measures import MEASURES, REST, VALUE
from kinetree.scripts.measures.run_parts import RunParts, speak_of_parts
from kinetree.scripts.studies.samplers import FORMS, SPREADS, Correlated, Distribution, drawn
from kinetree.scripts.studies.study_rows import rows_of
from kinetree.scripts.terminal.input_files import FileTable, Positive, Real, checked, read_toml

COMBINATIONS = ("grid", "pairs", *SPREADS)
MOST_RUNS = 1_000_000
Count = Annotated[int, Field(strict=True, ge=1, le=MOST_RUNS)]


def listed(wanted: Any) -> Any:
    """Return measures as a list; a single measure becomes a list of one."""
    return [wanted] if isinstance(wanted, str) else wanted


class Spread(FileTable):
    """`count` evenly spaced values from `from` to `to`."""

    begin: Real = Field(alias="from")
    end: Real = Field(alias="to")
    count: Annotated[int, Field(strict=True, ge=2)]

    def numbers(self) -> list[float]:
        step = (self.end - self.begin) / (self.count - 1)
        return [self.begin + step * index for index in range(self.count)]


def kind_of_values(values: Any) -> str:
    """Return the kind of a parameter's values: distribution, spread or list."""
    if isinstance(values, Distribution) or isinstance(values, dict) and set(values) & set(FORMS):
        return "distribution"
    return "spread" if isinstance(values, (dict, Spread)) else "list"


def as_distribution(values: Any) -> Distribution:
    return values if isinstance(values, Distribution) else Distribution.of(values, "a distribution")


Values = Annotated[
    Annotated[Spread, Tag("spread")]
    | Annotated[Any, PlainValidator(as_distribution), Tag("distribution")]
    | Annotated[list[Real], Field(min_length=1), Tag("list")],
    Discriminator(kind_of_values),
]


class RunTable(FileTable):
    """Settings of every run."""

    stop_time: Positive | None = None
    output_step: Positive | None = None
    method: Literal[METHODS] = "auto"  # type: ignore[valid-type]
    integrator: Literal[INTEGRATORS] = "auto"  # type: ignore[valid-type]
    step: Positive | None = None
    tolerance: Positive | None = None
    inputs: dict[str, Real] | None = None


Measures = Annotated[
    list[Literal[(*MEASURES, VALUE)]], BeforeValidator(listed), Field(min_length=1)
]  # type: ignore[valid-type]


class Study(FileTable):
    """Settings of a study."""

    mechanism: Annotated[str, Field(strict=True, min_length=1)]
    given: Annotated[dict[str, Values], Field(min_length=1, alias="vary")]
    report: dict[str, Measures] = {}
    combine: Literal[COMBINATIONS] = "grid"  # type: ignore[valid-type]
    samples: Count = 100
    seed: Annotated[int, Field(strict=True, ge=0, le=2**63)] = 0
    run_table: RunTable = Field(default=RunTable(), alias="run")
    rest: list[Literal[tuple(REST)]] = []  # type: ignore[valid-type]
    correlated: dict[str, Any] = {}

    _path: Path = PrivateAttr(Path("study.toml"))

    @model_validator(mode="after")
    def feasible(self) -> Study:
        if not self.report and not self.rest:
            raise ValueError("report is missing")
        only_drawn = [
            name for name, values in self.given.items() if isinstance(values, Distribution)
        ]
        if only_drawn and self.combine not in SPREADS:
            raise ValueError(
                f"vary.{only_drawn[0]} is a distribution: combine = 'random', 'latin' or 'sobol' draws from it"
            )
        if self.correlated and self.combine in ("indices", "grid", "pairs"):
            raise ValueError(
                f"correlated: combine = 'random', 'latin' or 'sobol' draws from it, found '{self.combine}'"
            )
        self.together()
        lengths = self.lengths()
        if self.combine == "indices" and self.samples & (self.samples - 1):
            raise ValueError(f"samples: Sobol indices need a power of two, found {self.samples}")
        if self.combine == "pairs" and len(set(lengths)) > 1:
            raise ValueError(
                f"vary: 'pairs' needs lists of equal length, found {', '.join(map(str, lengths))}"
            )
        if self.count() > MOST_RUNS:
            raise ValueError(f"{self.count():.6g} runs, expected 1 to {MOST_RUNS}")
        return self

    @property
    def path(self) -> Path:
        """Return the path of the file."""
        return self._path

    @property
    def run(self) -> dict[str, Any]:
        """Return the run options in the file."""
        return self.run_table.model_dump(exclude_unset=True)

    @property
    def vary(self) -> dict[str, list[float] | Distribution]:
        """Return the values or distribution of every varied parameter."""
        return {
            name: each.numbers() if isinstance(each, Spread) else each
            for name, each in self.given.items()
        }

    def together(self) -> Correlated | None:
        """Return the correlated parameters, if any."""
        return (
            Correlated.among(self.correlated, self.vary, "correlated") if self.correlated else None
        )

    def lengths(self) -> list[int]:
        return [
            each.count if isinstance(each, Spread) else len(each)
            for each in self.given.values()
            if not isinstance(each, Distribution)
        ]

    def source(self) -> str:
        """Return the mechanism; a file path is relative to the study's folder."""
        return (
            self.mechanism
            if self.mechanism.startswith("lib:")
            else str(self.path.parent / self.mechanism)
        )

    def columns(self) -> list[str]:
        return [*self.given, *self.texts()]

    def texts(self) -> list[str]:
        """Return the texts of all measures."""
        written = [
            *(
                f"{measure}({name})"
                for name, measures in self.report.items()
                for measure in measures
            ),
            *self.rest,
        ]
        return self.parts.expanded(written) if speak_of_parts(written) else written

    @cached_property
    def parts(self) -> RunParts:
        """Return the stages and phases of the mechanism."""
        return RunParts.of(load(self.source()).compile())

    def count(self) -> int:
        if self.combine in SPREADS:
            return self.samples * (len(self.given) + 2 if self.combine == "indices" else 1)
        return self.lengths()[0] if self.combine == "pairs" else math.prod(self.lengths())

    def cases(self) -> Iterator[dict[str, float]]:
        """Return the parameter values of every run."""
        values = self.vary
        if self.combine in SPREADS:
            spreads = {
                name: each
                if isinstance(each, Distribution)
                else Distribution("uniform", min(each), max(each))
                for name, each in values.items()
            }
            columns = drawn(self.combine, spreads, self.samples, self.seed, self.together())
            for k in range(self.count()):
                yield {name: float(column[k]) for name, column in columns.items()}
        else:
            lists = [each for each in values.values() if isinstance(each, list)]
            for case in zip(*lists) if self.combine == "pairs" else itertools.product(*lists):
                yield dict(zip(values, case))


def read_study(path: Path) -> Study:
    """Read and check a study file."""
    study = checked(Study, read_toml(path), str(path))
    study._path = path
    return study


def run_study(
    study: Study,
    told: Callable[[float], None] = lambda done: None,
    workers: int = 1,
    first: int = 0,
) -> Iterator[list[float]]:
    """Run a study and return one row per run; the first `first` cases are already computed."""
    cases = list(study.cases())[first:]
    for _, row in rows_of(
        study.source(), cases, study.run, study.texts(), workers, lambda done: told(first + done)
    ):
        yield row
