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

import itertools
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kinetree.scripts.terminal.failure import BadInput

MEASURES: dict[str, Callable[[Any], float]] = {
    "start": lambda column: column[0],
    "end": lambda column: column[-1],
    "min": lambda column: column.min(),
    "max": lambda column: column.max(),
    "mean": lambda column: column.mean(),
    "std": lambda column: column.std(),
    "span": lambda column: column.max() - column.min(),
}
COMBINATIONS = ("grid", "pairs", "random")
KEYS = {"mechanism", "combine", "samples", "seed", "vary", "run", "report"}
RUN_KEYS = {"stop_time", "output_step", "method", "integrator", "tolerance", "inputs"}
MOST_RUNS = 1_000_000


@dataclass
class Study:
    """What is run and what is reported."""

    mechanism: str
    vary: dict[str, list[float]]
    report: dict[str, list[str]]
    combine: str = "grid"
    samples: int = 100
    seed: int = 0
    run: dict[str, Any] = field(default_factory=dict)
    path: Path = Path("study.toml")

    def source(self) -> str:
        """The mechanism; a file is meant relative to the study's own folder."""
        return self.mechanism if self.mechanism.startswith("lib:") else str(self.path.parent / self.mechanism)

    def columns(self) -> list[str]:
        return [*self.vary, *(f"{measure}({name})" for name, measures in self.report.items() for measure in measures)]

    def count(self) -> int:
        lengths = [len(values) for values in self.vary.values()]
        return self.samples if self.combine == "random" else lengths[0] if self.combine == "pairs" else product(lengths)

    def cases(self) -> Iterator[dict[str, float]]:
        """Parameter values of every run."""
        if self.combine == "random":
            import numpy as np

            draw = np.random.default_rng(self.seed)
            for _ in range(self.samples):
                yield {name: float(draw.uniform(min(values), max(values))) for name, values in self.vary.items()}
        else:
            combined = zip(*self.vary.values()) if self.combine == "pairs" else itertools.product(*self.vary.values())
            for values in combined:
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
    for key in ("mechanism", "vary", "report"):
        if not content.get(key):
            raise BadInput(f"{path}: {key} is missing")
    run = content.get("run", {})
    refuse_unknown(run, RUN_KEYS, f"{path}: run")
    vary = {name: spread(values, f"{path}: vary.{name}") for name, values in content["vary"].items()}
    report = {name: measures(wanted, f"{path}: report.{name}") for name, wanted in content["report"].items()}
    study = Study(content["mechanism"], vary, report, content.get("combine", "grid"), content.get("samples", 100), content.get("seed", 0), run, path)
    if study.combine not in COMBINATIONS:
        raise BadInput(f"{path}: combine: found '{study.combine}', expected one of {', '.join(COMBINATIONS)}")
    if study.combine == "pairs" and len({len(values) for values in vary.values()}) > 1:
        raise BadInput(f"{path}: vary: 'pairs' needs lists of equal length, found {', '.join(str(len(values)) for values in vary.values())}")
    if not 0 < study.count() <= MOST_RUNS:
        raise BadInput(f"{path}: {study.count()} runs, expected 1 to {MOST_RUNS}")
    return study


def refuse_unknown(found: dict[str, Any], known: set[str], place: str) -> None:
    for key in found:
        if key not in known:
            raise BadInput(f"{place}: unknown key '{key}', expected one of {', '.join(sorted(known))}")


def spread(values: Any, place: str) -> list[float]:
    """A list of numbers, or `count` numbers from `from` to `to`."""
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


def run_study(study: Study, told: Callable[[float], None] = lambda done: None) -> Iterator[list[float]]:
    """One row per run, in the order of `columns()`."""
    from kinetree.models import load

    mechanism = load(study.source())
    for number, case in enumerate(study.cases()):
        told(number)
        result = mechanism.compile(**case).simulate(**study.run)
        yield [*case.values(), *(float(MEASURES[measure](result[name])) for name, wanted in study.report.items() for measure in wanted)]
