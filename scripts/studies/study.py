"""Parameter studies: a mechanism run over a grid, over pairs or over random values of its parameters, a row of reported numbers per run.

mechanism = "lib:regulator"
combine = "grid"                               # every combination (default); "pairs": first with first; "random": `samples` draws with `seed`
[vary]
m2 = [1.0, 1.5, 2.0]
k = { from = 20, to = 60, count = 5 }
[run]
stop_time = 5.0
[report]
height = ["max", "end"]                        # start end min max mean std span
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, PrivateAttr, Tag, model_validator

from kinetree.models.description.errors import suggestion
from kinetree.models.description.schema import INTEGRATORS, METHODS
from kinetree.scripts.terminal.failure import BadInput
from kinetree.scripts.terminal.tables import FileTable, Positive, Real, checked, read_toml

MEASURES: dict[str, Callable[[Any], float]] = {
    "start": lambda column: column[0],
    "end": lambda column: column[-1],
    "min": lambda column: column.min(),
    "max": lambda column: column.max(),
    "mean": lambda column: column.mean(),
    "std": lambda column: column.std(),
    "span": lambda column: column.max() - column.min(),
}


def listed(wanted: Any) -> Any:
    """One measure may stand for a list of one."""
    return [wanted] if isinstance(wanted, str) else wanted


MOST_RUNS = 1_000_000
Count = Annotated[int, Field(strict=True, ge=1, le=MOST_RUNS)]


class Spread(FileTable):
    """`count` numbers from `from` to `to`."""

    begin: Real = Field(alias="from")
    end: Real = Field(alias="to")
    count: Annotated[int, Field(strict=True, ge=2)]

    def numbers(self) -> list[float]:
        step = (self.end - self.begin) / (self.count - 1)
        return [self.begin + step * index for index in range(self.count)]


def spread_or_list(values: Any) -> str:
    """Which of the two a table or a list is meant to be."""
    return "spread" if isinstance(values, (dict, Spread)) else "list"


Values = Annotated[
    Annotated[Spread, Tag("spread")] | Annotated[list[Real], Field(min_length=1), Tag("list")],
    Discriminator(spread_or_list),
]


class RunTable(FileTable):
    """How every case is run."""

    stop_time: Positive | None = None
    output_step: Positive | None = None
    method: Literal[METHODS] = "auto"  # type: ignore[valid-type]
    integrator: Literal[INTEGRATORS] = "auto"  # type: ignore[valid-type]
    tolerance: Positive | None = None
    inputs: dict[str, Real] | None = None


class Study(FileTable):
    """What is run and what is reported."""

    mechanism: Annotated[str, Field(strict=True, min_length=1)]
    vary: Annotated[dict[str, Values], Field(min_length=1)]
    report: Annotated[dict[str, Annotated[list[Literal[tuple(MEASURES)]], BeforeValidator(listed), Field(min_length=1)]], Field(min_length=1)]  # type: ignore[valid-type]
    combine: Literal["grid", "pairs", "random"] = "grid"
    samples: Count = 100
    seed: Annotated[int, Field(strict=True, ge=0, le=2**63)] = 0
    run: RunTable = RunTable()

    _path: Path = PrivateAttr(Path("study.toml"))

    @model_validator(mode="after")
    def feasible(self) -> Study:
        lengths = [each.count if isinstance(each, Spread) else len(each) for each in self.vary.values()]
        if self.combine == "pairs" and len(set(lengths)) > 1:
            raise ValueError(f"vary: 'pairs' needs lists of equal length, found {', '.join(map(str, lengths))}")
        if self.count() > MOST_RUNS:
            raise ValueError(f"{self.count():.6g} runs, expected 1 to {MOST_RUNS}")
        return self

    @property
    def values(self) -> dict[str, list[float]]:
        """Values of every parameter."""
        return {name: each.numbers() if isinstance(each, Spread) else each for name, each in self.vary.items()}

    def source(self) -> str:
        """The mechanism; a file is meant relative to the study's own folder."""
        return self.mechanism if self.mechanism.startswith("lib:") else str(self._path.parent / self.mechanism)

    def columns(self) -> list[str]:
        return [*self.vary, *(f"{measure}({name})" for name, measures in self.report.items() for measure in measures)]

    def count(self) -> int:
        lengths = [each.count if isinstance(each, Spread) else len(each) for each in self.vary.values()]
        return self.samples if self.combine == "random" else lengths[0] if self.combine == "pairs" else math.prod(lengths)

    def cases(self) -> Iterator[dict[str, float]]:
        """Parameter values of every run."""
        values = self.values
        if self.combine == "random":
            import numpy as np

            draw = np.random.default_rng(self.seed)
            for _ in range(self.samples):
                yield {name: float(draw.uniform(min(each), max(each))) for name, each in values.items()}
        else:
            combined = zip(*values.values()) if self.combine == "pairs" else itertools.product(*values.values())
            for case in combined:
                yield dict(zip(values, case))


def read_study(path: Path) -> Study:
    """Read and check a study file."""
    study = checked(Study, read_toml(path), str(path))
    study._path = path
    return study


def run_study(study: Study, told: Callable[[float], None] = lambda done: None) -> Iterator[list[float]]:
    """One row per run, in the order of `columns()`."""
    from kinetree.models import load

    mechanism, options = load(study.source()), study.run.model_dump(exclude_none=True)
    for number, case in enumerate(study.cases()):
        told(number)
        result = mechanism.compile(**case).simulate(**options)
        unknown = [name for name in study.report if name not in result]
        if unknown:
            known = suggestion(unknown[0], (*result.names, *result.derived))
            raise BadInput(f"{study._path}: report.{unknown[0]}: the result has no such column; {known}".rstrip("; "))
        yield [*case.values(), *(float(MEASURES[measure](result[name])) for name, wanted in study.report.items() for measure in wanted)]
