"""The file of an optimisation: parameters, measures of runs that are made small, bounds and constraints.

mechanism = "regulator.toml"                  # or lib:NAME
[optimize]
method = "slsqp"                              # or trust-constr, differential-evolution, ipopt (extra `optimize`); minimax: largest values of
                                              # runs, deviation(...) and peak(...), by linear programs over their whole histories
gradient = "auto"                             # "adjoint", for measures end(OUTPUT) of runs by rk4 or semi-implicit; "differences"
multistart = 4                                # further starts, spread by a Sobol sequence with `seed`
over = "worst"                                # of the scenarios: the worst, or their mean
pareto = 9                                    # points of the front of two measures; left out: their weighted sum
[optimize.variables]
k = { from = 1, to = 100, start = 20 }
"pulse_[1-9]" = { from = -1, to = 1 }         # nine variables
teeth = { from = 12, to = 40, whole = true }  # whole numbers, and a setting that is an order of 1 to N (or begins with a given one), need the method
order = { order = 4 }                         # differential-evolution
[optimize.measures]                           # their weighted sum is made small
"rms(height)" = 1.0
"deviation(luff, departure 2)" = 1.0          # of a stage or phase; `departure*`: of all that match together; `each departure*`: of every one
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

from kinetree.scripts.measures.run_measures import bounds, parsed, part_in
from kinetree.scripts.terminal.error_messages import BadInput
from kinetree.scripts.terminal.input_files import number, only, read_toml

METHODS = ("slsqp", "trust-constr", "differential-evolution", "ipopt", "minimax")
GRADIENTS = ("auto", "adjoint", "differences")
ADJOINTS = ("rk4", "semi-implicit")  # integrators
MOST_PLACES = 50  # of an order
KEYS = {"mechanism", "optimize", "run", "scenarios", "set"}
OPTIMIZE = {
    "method",
    "gradient",
    "multistart",
    "seed",
    "over",
    "iterations",
    "pareto",
    "variables",
    "measures",
    "constraints",
}
RUN = {"stop_time", "output_step", "integrator", "step", "tolerance", "inputs"}


@dataclass
class Variable:
    """Bounds and start of a variable."""

    low: float
    high: float
    start: float
    whole: bool = False


@dataclass
class Task:
    """A checked optimisation file."""

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
    gradient: str = "auto"
    pareto: int = 0
    watched: tuple[str, ...] = ()  # measures that are told only
    orders: tuple[
        str, ...
    ] = ()  # settings that are orders; their places are variables NAME[1], NAME[2], ...
    mark: str = ""  # of the file, for the state of a search

    @property
    def texts(self) -> list[str]:
        return [*self.measures, *self.constraints, *self.watched]


def orders_of(task: Task) -> dict[str, list[str]]:
    """Return the settings that are permutations, with the variables of their positions."""
    return {
        name: [place for place in task.variables if place.startswith(f"{name}[")]
        for name in task.orders
    }


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
        raise BadInput(
            f"{path}: optimize.method: found '{method}', expected one of {', '.join(METHODS)}"
        )
    if over not in ("worst", "mean"):
        raise BadInput(f"{path}: optimize.over: found '{over}', expected worst or mean")
    variables: dict[str, Variable] = {}
    orders = tuple(
        text
        for text, table in wanted["variables"].items()
        if isinstance(table, dict) and "order" in table
    )
    for text, table in wanted["variables"].items():
        place = f"{path}: optimize.variables.{text}"
        variables |= (
            places(text, table, place)
            if text in orders
            else {name: variable(table, place) for name in numbered(text)}
        )
    if method != "differential-evolution" and (
        orders or any(each.whole for each in variables.values())
    ):
        raise BadInput(
            f"{path}: optimize.method: whole numbers and orders need differential-evolution, found {method}"
        )
    limits = {
        text: bounds(table, f"{path}: optimize.constraints.{text}")
        for text, table in wanted.get("constraints", {}).items()
    }
    weights = {
        text: number(weight, f"{path}: optimize.measures.{text}")
        for text, weight in wanted["measures"].items()
    }
    try:
        [parsed(text) for text in (*weights, *limits)]
    except ValueError as error:
        raise BadInput(f"{path}: {error}") from None
    scenarios = [dict(each.get("set", {})) for each in content.get("scenarios", [{}])]
    counts = {
        key: wanted.get(key, start)
        for key, start in (("multistart", 0), ("seed", 0), ("iterations", 200))
    }
    counts["pareto"] = wanted.get("pareto", 0)
    for key, value in counts.items():
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= 1_000_000:
            raise BadInput(f"{path}: optimize.{key}: found {value}, expected a whole number")
    source = (
        content["mechanism"]
        if str(content["mechanism"]).startswith("lib:")
        else str(path.parent / content["mechanism"])
    )
    gradient = wanted.get("gradient", "auto")
    if gradient not in GRADIENTS:
        raise BadInput(
            f"{path}: optimize.gradient: found '{gradient}', expected one of {', '.join(GRADIENTS)}"
        )
    if method == "minimax" and not any(
        parsed(text)[0] in ("deviation", "peak") for text in weights
    ):
        raise BadInput(
            f"{path}: optimize.method: minimax takes measures deviation(OUTPUT) or peak(OUTPUT)"
        )
    able = content.get("run", {}).get("integrator") in ADJOINTS and all(
        parsed(text)[0] == "end" and not part_in(text) for text in (*weights, *limits)
    )
    if gradient == "adjoint" and not able:
        raise BadInput(
            f"{path}: optimize.gradient: the adjoint takes measures end(OUTPUT) of runs with integrator {' or '.join(ADJOINTS)}"
        )
    if gradient == "auto" and not able:
        gradient = "differences"
    if counts["pareto"] and (len(weights) != 2 or counts["pareto"] < 3):
        raise BadInput(f"{path}: optimize.pareto: expected two measures and at least 3 points")
    if counts["pareto"] and any(part_in(text).startswith("each ") for text in weights):
        raise BadInput(f"{path}: optimize.pareto: expected two measures without `each`")
    mark = sha256(repr(content).encode()).hexdigest()[:16]
    more = {
        "run": content.get("run", {}),
        "scenarios": scenarios,
        "settings": content.get("set", {}),
        "gradient": gradient,
        "mark": mark,
    }
    more["orders"] = orders
    return Task(source, variables, weights, limits, method, over=over, **counts, **more)


def numbered(text: str) -> list[str]:
    """Return the names that `pulse_[1-9]` stands for, or the name itself."""
    match = re.fullmatch(r"(.*)\[(\d{1,4})-(\d{1,4})\](.*)", text)
    if match is None:
        return [text]
    return [f"{match[1]}{k}{match[4]}" for k in range(int(match[2]), int(match[3]) + 1)] or [text]


def places(name: str, table: dict[str, Any], place: str) -> dict[str, Variable]:
    """Return the variables of a permutation { order = N }, or of one with the list to begin with."""
    begin = (
        list(range(1, table["order"] + 1)) if isinstance(table["order"], int) else table["order"]
    )
    if (
        set(table) != {"order"}
        or not isinstance(begin, list)
        or not 2 <= len(begin) <= MOST_PLACES
        or sorted(begin) != list(range(1, len(begin) + 1))
    ):
        raise BadInput(
            f"{place}: expected {{ order = N }} with N from 2 to {MOST_PLACES}, or a list of the numbers from 1 to N to begin with"
        )
    return {
        f"{name}[{k}]": Variable(1.0, float(len(begin)), float(first), True)
        for k, first in enumerate(begin, 1)
    }


def variable(table: Any, place: str) -> Variable:
    """Return the variable of a table { from, to, start }; the start defaults to the middle."""
    if not isinstance(table, dict) or not {"from", "to"} <= set(table) <= {
        "from",
        "to",
        "start",
        "whole",
    }:
        raise BadInput(f"{place}: expected {{ from = a, to = b, start = c }}")
    whole = table.get("whole", False)
    if not isinstance(whole, bool):
        raise BadInput(f"{place}.whole: expected true or false, found {whole}")
    low, high = (number(table[key], f"{place}.{key}") for key in ("from", "to"))
    start = number(table.get("start", 0.5 * (low + high)), f"{place}.start")
    if not low < high or not low <= start <= high:
        raise BadInput(
            f"{place}: expected from < to and a start between them, found {low:g}, {high:g}, {start:g}"
        )
    if whole and not all(each == round(each) for each in (low, high)):
        raise BadInput(f"{place}: expected whole numbers as bounds, found {low:g}, {high:g}")
    return Variable(low, high, float(round(start)) if whole else start, whole)
