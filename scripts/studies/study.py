"""Parameter studies: a mechanism run over a grid, over pairs or over random values of its parameters, a row of reported numbers per run.

mechanism = "lib:regulator"
combine = "grid"                               # every combination (default); "pairs": first with first; drawn, `samples` with `seed`: "random",
                                               # "latin" (hypercube), "sobol" (sequence)
rest = ["growth", "damping"]                   # of the small motions about rest: growth, damping, frequency
[vary]
m2 = [1.0, 1.5, 2.0]
k = { from = 20, to = 60, count = 5 }
d = { normal = [3.0, 0.2] }                    # where values are drawn; uniform = [low, high], lognormal = [median, factor]
[run]
stop_time = 5.0
[report]
height = ["max", "end"]                        # start end min max mean std span peak rms integral deviation settling
"""

import itertools
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kinetree.scripts.studies.measures import MEASURES, REST
from kinetree.scripts.studies.rows import rows_of
from kinetree.scripts.studies.samplers import FORMS, SPREADS, Distribution, drawn
from kinetree.scripts.terminal.failure import BadInput

COMBINATIONS = ("grid", "pairs", *SPREADS)
KEYS = {"mechanism", "combine", "samples", "seed", "vary", "run", "report", "rest"}
RUN_KEYS = {"stop_time", "output_step", "method", "integrator", "tolerance", "inputs"}
MOST_RUNS = 1_000_000


@dataclass
class Study:
    """What is run and what is reported."""

    mechanism: str
    vary: dict[str, list[float] | Distribution]
    report: dict[str, list[str]]
    combine: str = "grid"
    samples: int = 100
    seed: int = 0
    run: dict[str, Any] = field(default_factory=dict)
    path: Path = Path("study.toml")
    rest: list[str] = field(default_factory=list)

    def source(self) -> str:
        """The mechanism; a file is meant relative to the study's own folder."""
        return self.mechanism if self.mechanism.startswith("lib:") else str(self.path.parent / self.mechanism)

    def columns(self) -> list[str]:
        return [*self.vary, *self.texts()]

    def texts(self) -> list[str]:
        """The measures."""
        return [*(f"{measure}({name})" for name, measures in self.report.items() for measure in measures), *self.rest]

    def count(self) -> int:
        if self.combine in SPREADS:
            return self.samples
        lengths = [len(values) for values in self.vary.values() if isinstance(values, list)]
        return lengths[0] if self.combine == "pairs" else product(lengths)

    def cases(self) -> Iterator[dict[str, float]]:
        """Parameter values of every run."""
        if self.combine in SPREADS:
            spreads = {
                name: values if isinstance(values, Distribution) else Distribution("uniform", min(values), max(values))
                for name, values in self.vary.items()
            }
            columns = drawn(self.combine, spreads, self.samples, self.seed)
            for k in range(self.samples):
                yield {name: float(column[k]) for name, column in columns.items()}
        else:
            lists = [values for values in self.vary.values() if isinstance(values, list)]
            for values in zip(*lists) if self.combine == "pairs" else itertools.product(*lists):
                yield dict(zip(self.vary, values))


def product(numbers: list[int]) -> int:
    result = 1
    for number in numbers:
        result *= number
    return result


def read_study(path: Path) -> Study:
    """Read and check a study file."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: {error}") from None
    refuse_unknown(content, KEYS, str(path))
    for key in ("mechanism", "vary", *(() if content.get("rest") else ("report",))):
        if not content.get(key):
            raise BadInput(f"{path}: {key} is missing")
    rest = content.get("rest", [])
    if not isinstance(rest, list) or not set(rest) <= set(REST):
        raise BadInput(f"{path}: rest: found {rest}, expected some of {', '.join(REST)}")
    run = content.get("run", {})
    refuse_unknown(run, RUN_KEYS, f"{path}: run")
    vary = {name: spread(values, f"{path}: vary.{name}") for name, values in content["vary"].items()}
    report = {name: measures(wanted, f"{path}: report.{name}") for name, wanted in content.get("report", {}).items()}
    study = Study(
        content["mechanism"], vary, report, content.get("combine", "grid"), content.get("samples", 100), content.get("seed", 0), run, path, rest
    )
    if study.combine not in COMBINATIONS:
        raise BadInput(f"{path}: combine: found '{study.combine}', expected one of {', '.join(COMBINATIONS)}")
    drawn_only = [name for name, values in vary.items() if isinstance(values, Distribution)]
    if drawn_only and study.combine not in SPREADS:
        raise BadInput(f"{path}: vary.{drawn_only[0]} is a distribution: combine = 'random', 'latin' or 'sobol' draws from it")
    lengths = [len(values) for values in vary.values() if isinstance(values, list)]
    if study.combine == "pairs" and len(set(lengths)) > 1:
        raise BadInput(f"{path}: vary: 'pairs' needs lists of equal length, found {', '.join(map(str, lengths))}")
    if not 0 < study.count() <= MOST_RUNS:
        raise BadInput(f"{path}: {study.count()} runs, expected 1 to {MOST_RUNS}")
    return study


def refuse_unknown(found: dict[str, Any], known: set[str], place: str) -> None:
    for key in found:
        if key not in known:
            raise BadInput(f"{place}: unknown key '{key}', expected one of {', '.join(sorted(known))}")


def spread(values: Any, place: str) -> list[float] | Distribution:
    """A list of numbers, `count` numbers from `from` to `to`, or a distribution."""
    if isinstance(values, dict) and set(values) & set(FORMS):
        try:
            return Distribution.of(values, place)
        except ValueError as error:
            raise BadInput(str(error)) from None
    if isinstance(values, dict) and set(values) == {"from", "to", "count"} and isinstance(values["count"], int) and values["count"] > 1:
        step = (values["to"] - values["from"]) / (values["count"] - 1)
        return [values["from"] + step * index for index in range(values["count"])]
    if isinstance(values, list) and values and all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        return values
    raise BadInput(f"{place}: expected a list of numbers or {{ from = a, to = b, count = n }} with n > 1")


def measures(wanted: Any, place: str) -> list[str]:
    wanted = [wanted] if isinstance(wanted, str) else wanted
    if not isinstance(wanted, list) or not wanted or not set(wanted) <= set(MEASURES):
        raise BadInput(f"{place}: found {wanted}, expected some of {', '.join(MEASURES)}")
    return wanted


def run_study(study: Study, told: Callable[[float], None] = lambda done: None, workers: int = 1, first: int = 0) -> Iterator[list[float]]:
    """One row per run, in the order of `columns()`; on several workers as they are done; `first`: cases before it are there already."""
    cases = list(study.cases())[first:]
    for _, row in rows_of(study.source(), cases, study.run, study.texts(), workers, lambda done: told(first + done)):
        yield row
