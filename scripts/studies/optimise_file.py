"""The file of an optimisation: parameters, measures of runs that are made small, bounds and constraints.

mechanism = "regulator.toml"                  # or lib:NAME
[optimize]
method = "slsqp"                              # or trust-constr, differential-evolution, ipopt (extra `optimize`); minimax: largest values of
                                              # runs, deviation(...) and peak(...), by linear programs over their whole histories
gradient = "differences"                      # or "adjoint": for measures end(OUTPUT) of runs by rk4 without events
multistart = 4                                # further starts, spread by a Sobol sequence with `seed`
over = "worst"                                # of the scenarios: the worst, or their mean
pareto = 9                                    # points of the front of two measures; left out: their weighted sum
[optimize.variables]
k = { from = 1, to = 100, start = 20 }
"pulse_[1-9]" = { from = -1, to = 1 }         # nine variables
[optimize.measures]                           # their weighted sum is made small
"rms(height)" = 1.0
[optimize.constraints]
"peak(force)" = { max = 100 }                 # min, max or both
[run]
stop_time = 5.0
[set]                                         # parameters and settings of the mechanism
pace = 1.5
[[scenarios]]                                 # runs that all count; left out: one, as described
set = { load = 2.0 }
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from kinetree.scripts.studies.measures import parsed
from kinetree.scripts.terminal.failure import BadInput
from kinetree.scripts.terminal.tables import number, only, read_toml

METHODS = ("slsqp", "trust-constr", "differential-evolution", "ipopt", "minimax")
GRADIENTS = ("differences", "adjoint")
KEYS = {"mechanism", "optimize", "run", "scenarios", "set"}
OPTIMIZE = {"method", "gradient", "multistart", "seed", "over", "iterations", "pareto", "variables", "measures", "constraints"}
RUN = {"stop_time", "output_step", "integrator", "step", "tolerance", "inputs"}


@dataclass
class Variable:
    """Bounds and where the search begins."""

    low: float
    high: float
    start: float


@dataclass
class Task:
    """A checked file."""

    source: str
    variables: dict[str, Variable]
    measures: dict[str, float]
    constraints: dict[str, tuple[float, float]]
    method: str = "slsqp"
    multistart: int = 0
    seed: int = 0
    over: str = "worst"
    iterations: int = 200
    run: dict[str, Any] = field(default_factory=dict)
    scenarios: list[dict[str, float]] = field(default_factory=lambda: [{}])
    settings: dict[str, Any] = field(default_factory=dict)
    gradient: str = "differences"
    pareto: int = 0
    watched: tuple[str, ...] = ()  # measures that are told only
    mark: str = ""  # of the file, for the state of a search

    @property
    def texts(self) -> list[str]:
        return [*self.measures, *self.constraints, *self.watched]


def read_task(path: Path) -> Task:
    """Read and check a file; errors name the key."""
    content = read_toml(path)
    only(content, KEYS, str(path))
    wanted = content.get("optimize", {})
    only(wanted, OPTIMIZE, f"{path}: optimize")
    for key, table in (("mechanism", content), ("variables", wanted), ("measures", wanted)):
        if not table.get(key):
            raise BadInput(f"{path}: {key} is missing")
    only(content.get("run", {}), RUN, f"{path}: run")
    method, over = wanted.get("method", "slsqp"), wanted.get("over", "worst")
    if method not in METHODS:
        raise BadInput(f"{path}: optimize.method: found '{method}', expected one of {', '.join(METHODS)}")
    if over not in ("worst", "mean"):
        raise BadInput(f"{path}: optimize.over: found '{over}', expected worst or mean")
    variables = {
        name: variable(table, f"{path}: optimize.variables.{text}") for text, table in wanted["variables"].items() for name in numbered(text)
    }
    limits = {text: bounds(table, f"{path}: optimize.constraints.{text}") for text, table in wanted.get("constraints", {}).items()}
    weights = {text: number(weight, f"{path}: optimize.measures.{text}") for text, weight in wanted["measures"].items()}
    try:
        [parsed(text) for text in (*weights, *limits)]
    except ValueError as error:
        raise BadInput(f"{path}: {error}") from None
    scenarios = [dict(each.get("set", {})) for each in content.get("scenarios", [{}])]
    counts = {key: wanted.get(key, start) for key, start in (("multistart", 0), ("seed", 0), ("iterations", 200))}
    counts["pareto"] = wanted.get("pareto", 0)
    for key, value in counts.items():
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= 1_000_000:
            raise BadInput(f"{path}: optimize.{key}: found {value}, expected a whole number")
    source = content["mechanism"] if str(content["mechanism"]).startswith("lib:") else str(path.parent / content["mechanism"])
    gradient = wanted.get("gradient", "differences")
    if gradient not in GRADIENTS:
        raise BadInput(f"{path}: optimize.gradient: found '{gradient}', expected one of {', '.join(GRADIENTS)}")
    if method == "minimax" and not any(parsed(text)[0] in ("deviation", "peak") for text in weights):
        raise BadInput(f"{path}: optimize.method: minimax takes measures deviation(OUTPUT) or peak(OUTPUT)")
    if gradient == "adjoint" and (content.get("run", {}).get("integrator") != "rk4" or any(parsed(text)[0] != "end" for text in (*weights, *limits))):
        raise BadInput(f'{path}: optimize.gradient: the adjoint takes measures end(OUTPUT) of runs with integrator = "rk4"')
    if counts["pareto"] and (len(weights) != 2 or counts["pareto"] < 3):
        raise BadInput(f"{path}: optimize.pareto: expected two measures and at least 3 points")
    mark = sha256(repr(content).encode()).hexdigest()[:16]
    more = {"run": content.get("run", {}), "scenarios": scenarios, "settings": content.get("set", {}), "gradient": gradient, "mark": mark}
    return Task(source, variables, weights, limits, method, over=over, **counts, **more)


def numbered(text: str) -> list[str]:
    """Names of `pulse_[1-9]`; any other name stands for itself."""
    match = re.fullmatch(r"(.*)\[(\d{1,4})-(\d{1,4})\](.*)", text)
    if match is None:
        return [text]
    return [f"{match[1]}{k}{match[4]}" for k in range(int(match[2]), int(match[3]) + 1)] or [text]


def variable(table: Any, place: str) -> Variable:
    """{ from, to, start }; the start is the middle where it is left out."""
    if not isinstance(table, dict) or not {"from", "to"} <= set(table) <= {"from", "to", "start"}:
        raise BadInput(f"{place}: expected {{ from = a, to = b, start = c }}")
    low, high = (number(table[key], f"{place}.{key}") for key in ("from", "to"))
    start = number(table.get("start", 0.5 * (low + high)), f"{place}.start")
    if not low < high or not low <= start <= high:
        raise BadInput(f"{place}: expected from < to and a start between them, found {low:g}, {high:g}, {start:g}")
    return Variable(low, high, start)


def bounds(table: Any, place: str) -> tuple[float, float]:
    if not isinstance(table, dict) or not table or not set(table) <= {"min", "max"}:
        raise BadInput(f"{place}: expected {{ min = a, max = b }}, one of them or both")
    return number(table.get("min", -1e300), place), number(table.get("max", 1e300), place)
