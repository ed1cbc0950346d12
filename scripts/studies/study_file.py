"""The file of a study as a pydantic model: keys, types and sizes, before a single number is computed."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from kinetree.models.description.schema import INTEGRATORS, METHODS
from kinetree.scripts.studies.measures import MEASURES, REST
from kinetree.scripts.studies.samplers import FORMS, SPREADS, Distribution
from kinetree.scripts.terminal.tables import FileTable, Positive, Real

MOST_RUNS = 1_000_000
COMBINATIONS = ("grid", "pairs", *SPREADS)


class Spread(FileTable):
    """`count` numbers from `from` to `to`."""

    begin: Real = Field(alias="from")
    end: Real = Field(alias="to")
    count: Annotated[int, Field(strict=True, ge=2)]

    def numbers(self) -> list[float]:
        step = (self.end - self.begin) / (self.count - 1)
        return [self.begin + step * index for index in range(self.count)]


def distribution(table: Any) -> Any:
    """What is drawn from."""
    return table if isinstance(table, Distribution) else Distribution.of(table, "the distribution")


def form_of(values: Any) -> str:
    """What a table or a list is meant to be."""
    if isinstance(values, dict) and set(values) & set(FORMS):
        return "drawn"
    return "spread" if isinstance(values, (dict, Spread)) else "drawn" if isinstance(values, Distribution) else "list"


Values = Annotated[
    Annotated[Spread, Tag("spread")]
    | Annotated[Any, BeforeValidator(distribution), Tag("drawn")]
    | Annotated[list[Real], Field(min_length=1), Tag("list")],
    Discriminator(form_of),
]


def listed(wanted: Any) -> Any:
    """One measure may stand for a list of one."""
    return [wanted] if isinstance(wanted, str) else wanted


Measures = Annotated[list[Literal[tuple(MEASURES)]], BeforeValidator(listed), Field(min_length=1)]  # type: ignore[valid-type]


class RunTable(FileTable):
    """How every case is run."""

    stop_time: Positive | None = None
    output_step: Positive | None = None
    method: Literal[METHODS] = "auto"  # type: ignore[valid-type]
    integrator: Literal[INTEGRATORS] = "auto"  # type: ignore[valid-type]
    tolerance: Positive | None = None
    inputs: dict[str, Real] | None = None


class StudyFile(FileTable):
    """A whole study."""

    mechanism: Annotated[str, Field(strict=True, min_length=1)]
    vary: Annotated[dict[str, Values], Field(min_length=1)]
    report: dict[str, Measures] = Field(default_factory=dict)
    rest: list[Literal[tuple(REST)]] = Field(default_factory=list)  # type: ignore[valid-type]
    combine: Literal[COMBINATIONS] = "grid"  # type: ignore[valid-type]
    samples: Annotated[int, Field(strict=True, ge=1, le=MOST_RUNS)] = 100
    seed: Annotated[int, Field(strict=True, ge=0, le=2**63)] = 0
    run: RunTable = Field(default_factory=RunTable)

    @model_validator(mode="after")
    def feasible(self) -> StudyFile:
        if not self.report and not self.rest:
            raise ValueError("report is missing")
        lengths = {n: v.count if isinstance(v, Spread) else len(v) for n, v in self.vary.items() if not isinstance(v, Distribution)}
        if self.combine in SPREADS:
            return self
        drawn_only = [name for name in self.vary if name not in lengths]
        if drawn_only:
            raise ValueError(f"vary.{drawn_only[0]} is a distribution: combine = 'random', 'latin' or 'sobol' draws from it")
        if self.combine == "pairs" and len(set(lengths.values())) > 1:
            raise ValueError(f"vary: 'pairs' needs lists of equal length, found {', '.join(map(str, lengths.values()))}")
        runs = next(iter(lengths.values())) if self.combine == "pairs" else math.prod(lengths.values())
        if runs > MOST_RUNS:
            raise ValueError(f"vary: {runs if runs < 10**15 else 'endless'} runs, expected 1 to {MOST_RUNS}")
        return self

    def values(self) -> dict[str, list[float] | Distribution]:
        """Values of every parameter, or what they are drawn from."""
        most = self.samples if self.combine in SPREADS else MOST_RUNS
        return {name: ends(each, most) if isinstance(each, Spread) else each for name, each in self.vary.items()}


def ends(spread: Spread, most: int) -> list[float]:
    """The numbers of a spread; where values are drawn from it, its ends."""
    return spread.numbers() if spread.count <= most else [spread.begin, spread.end]
