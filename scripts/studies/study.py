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
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kinetree.scripts.studies.rows import rows_of
from kinetree.scripts.studies.samplers import SPREADS, Distribution, drawn
from kinetree.scripts.studies.study_file import StudyFile
from kinetree.scripts.terminal.tables import checked, read_toml


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
    return study_of(read_toml(path), path)


def study_of(raw: dict[str, Any], path: Path) -> Study:
    """A study from the content of a file."""
    table = checked(StudyFile, raw, str(path))
    run = table.run.model_dump(exclude_unset=True, exclude_none=True)
    return Study(table.mechanism, table.values(), dict(table.report), table.combine, table.samples, table.seed, run, path, list(table.rest))


def run_study(study: Study, told: Callable[[float], None] = lambda done: None, workers: int = 1, first: int = 0) -> Iterator[list[float]]:
    """One row per run, in the order of `columns()`; on several workers as they are done; `first`: cases before it are there already."""
    cases = list(study.cases())[first:]
    for _, row in rows_of(study.source(), cases, study.run, study.texts(), workers, lambda done: told(first + done)):
        yield row
