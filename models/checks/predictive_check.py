"""Checks of predictive controllers: commands, weights, limits, and unsupported features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kinetree.models.language.errors import suggestion
from kinetree.models.language.parts.predictive_parts import PredictiveController

if TYPE_CHECKING:
    from kinetree.models.checks.consistency_check import Checker

Path = tuple[str | int, ...]
ELSEWHERE = {  # keys of other controllers, and what is written in their place
    "drives": "drives in commands.NAME",
    "offset": "target in commands.NAME",
    "low": "low in commands.NAME",
    "high": "high in commands.NAME",
    "rate": "rate in commands.NAME",
    "start": "start in commands.NAME",
    "unit": "unit in commands.NAME",
    "lag": "nothing: it samples",
    "resolution": "an observer or outputs that are disturbed: it reads the state",
    "noise": "an observer or outputs that are disturbed: it reads the state",
    "seed": "nothing: it draws no numbers",
}
LARGEST_PROGRAM = 400  # planned numbers: commands times horizon


def check_predictive(checker: Checker, path: Path, c: PredictiveController) -> None:
    """Check the tables and keys of a predictive controller."""
    for key in sorted(c.model_fields_set & ELSEWHERE.keys()):
        checker.complain((*path, key), f"{key} of a predictive controller", ELSEWHERE[key])
    if c.period is None:
        checker.complain((*path, "period"), "nothing", "the sampling period")
    if len(c.commands) * c.horizon > LARGEST_PROGRAM:
        checker.complain(
            (*path, "horizon"),
            f"{len(c.commands)} commands times {c.horizon} steps",
            f"at most {LARGEST_PROGRAM} planned numbers",
            "a longer step gives the same horizon with fewer",
        )
    checker.known((*path, "observer"), c.observer, checker.description.observers, "observer")
    check_times(checker, path, c)
    check_weights(checker, path, c)
    known = checker.description.parameters
    for name in c.parameters:
        if name not in known:
            checker.complain(
                (*path, "parameters", name),
                "no parameter of that name",
                hint=suggestion(name, known),
            )
        elif isinstance(known[name].value, str):
            checker.complain(
                (*path, "parameters", name),
                f"'{name}', which is computed as {known[name].value}",
                "a parameter with a number of its own",
            )
    if checker.description.contacts:
        checker.complain(
            path,
            "a predictive controller together with rigid [contacts]",
            "force elements of kind contact, which its model can follow",
        )
    if checker.description.chain is not None:
        checker.complain(path, "a predictive controller of a [chain]", "bodies and joints")


def check_times(checker: Checker, path: Path, c: PredictiveController) -> None:
    """Check the delay and the step length of the prediction."""
    period, delay, step = (checker.number(each) for each in (c.period, c.delay, c.step))
    if period and delay and delay > period * (1.0 + 1e-9):
        checker.complain(
            (*path, "delay"), f"{delay:g}", f"at most the period, {period:g}: so far it is foreseen"
        )
    if period and step is not None and step < period * (1.0 - 1e-9):
        checker.complain((*path, "step"), f"{step:g}", f"at least the period, {period:g}")


def check_weights(checker: Checker, path: Path, c: PredictiveController) -> None:
    """Check signs of weights, the order of limits, and the shape of the terminal matrix."""
    for name, command in c.commands.items():
        check_signs(checker, (*path, "commands", name), command, ("weight", "rate_weight"))
        check_order(checker, (*path, "commands", name), command)
        rate = checker.number(command.rate) if isinstance(command.rate, float) else None
        if rate is not None and rate <= 0.0:
            checker.complain((*path, "commands", name, "rate"), f"{rate:g}", "a number > 0")
    for k, value in enumerate(c.track):
        check_signs(checker, (*path, "track", k), value, ("weight", "final"))
    for k, limit in enumerate(c.limits):
        check_signs(checker, (*path, "limits", k), limit, ("soft",))
        check_order(checker, (*path, "limits", k), limit)
        if limit.low is None and limit.high is None:
            checker.complain((*path, "limits", k), "no limit", "low, high or both")
    if c.terminal is not None:
        n, rows = len(c.track), c.terminal
        if len(rows) != n or any(len(row) != n for row in rows):
            checker.complain(
                (*path, "terminal"),
                f"{len(rows)} by {len(rows[0]) if rows else 0}",
                f"{n} by {n}, as many as tracked values",
            )
        elif any(abs(rows[i][j] - rows[j][i]) > 1e-9 * abs(rows[i][j]) for i in range(n) for j in range(i)):  # fmt: skip
            checker.complain(
                (*path, "terminal"), "a matrix that is not symmetric", "a symmetric one"
            )


def check_signs(checker: Checker, path: Path, table: object, keys: tuple[str, ...]) -> None:
    """Report negative weights."""
    for key in keys:
        number = checker.number(getattr(table, key))
        if number is not None and number < 0.0:
            checker.complain((*path, key), f"{number:g}", "0 or more")


def check_order(checker: Checker, path: Path, table: Any) -> None:
    """Report lower limits that are not below the upper ones, if both are numbers."""
    low, high = table.low, table.high
    if isinstance(low, float) and isinstance(high, float) and high <= low:
        checker.complain((*path, "high"), f"{high:g}", f"a number above low, {low:g}")
