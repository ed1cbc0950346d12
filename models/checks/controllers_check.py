"""Checks of controllers: references, ranges of numbers, and keys that need a sample period."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinetree.models.checks.predictive_check import check_predictive
from kinetree.models.controllers.expansion import actuators_of, delay_parts, doubles
from kinetree.models.controllers.laws import misshapen
from kinetree.models.description.names import MAX_NAME_LENGTH, name_fault
from kinetree.models.expressions.differentiate import time_derivatives
from kinetree.models.expressions.parse import ExpressionError, names, parse
from kinetree.models.expressions.to_text import written
from kinetree.models.language.errors import shown
from kinetree.models.language.parts.controller_parts import (
    Controlled,
    LeadLagController,
    NotchController,
    ObserverController,
    PidController,
    PredictiveController,
    RateLimit,
    Saturation,
    Sensor,
    Tracking,
)

if TYPE_CHECKING:
    from kinetree.models.checks.consistency_check import Checker

Path = tuple[str | int, ...]
NOT_NEGATIVE = ("delay", "jitter", "resolution", "noise", "filter", "depth")
POSITIVE = ("period", "rate", "lag", "lag_time", "frequency", "width", "tracking")
OF_SAMPLED = ("delay", "jitter", "resolution", "noise")
PARTS = "letters, digits, underscores and dots, a letter at the beginning and after every dot"
STRUCTURAL = ("period", "delay", "jitter")  # they decide what states there are


def check_controllers(checker: Checker) -> None:
    """Check every controller and report names that are in use already."""
    for name, controller in checker.description.controllers.items():
        path: Path = ("controllers", name)
        if path not in checker.incomplete:
            check_numbers(checker, path, controller)
            check_drives(checker, path, controller)
            check_kind(checker, path, controller)
            check_structural(checker, path, controller)
    for section, name, owner in doubles(checker.description.written):
        checker.complain(
            ("controllers", owner), f"the name '{name}'", hint=f"it is already one of [{section}]"
        )


def check_names(checker: Checker) -> None:
    """Report controller names that collide with generated names."""
    made = checker.description.made
    for name in checker.description.controllers:
        parts = [
            each for (section, each), owner in made.items() if owner == name and section != "forces"
        ]  # whose names have that of an actuator
        longest = MAX_NAME_LENGTH - max((len(each) - len(name) for each in parts), default=0)
        reason = (
            name_fault(name, value=False)
            if all(part.isidentifier() for part in name.split("."))
            else PARTS
        )
        if len(name) > longest:
            reason = f"at most {longest} characters"
        if reason:
            checker.complain(("controllers", name), f"the name {shown(name)}", reason)


def check_numbers(checker: Checker, path: Path, controller: Controlled) -> None:
    """Check signs, the order of limits and keys that need a sample period."""
    for key in (*NOT_NEGATIVE, *POSITIVE):
        number = checker.number(getattr(controller, key, None))
        if number is not None and (number < 0.0 or (number == 0.0 and key in POSITIVE)):
            checker.complain(
                (*path, key), f"{number:g}", "a number > 0" if key in POSITIVE else "0 or more"
            )
    low, high = checker.number(controller.low), checker.number(controller.high)
    if low is not None and high is not None and high <= low:
        checker.complain((*path, "high"), f"{high:g}", f"a number above low, {low:g}")
    if controller.period is None:
        for key in OF_SAMPLED:
            if getattr(controller, key) != 0.0:
                checker.complain((*path, key), f"{key} of a continuous controller", "a period, too")
        return
    period, delay, jitter = (checker.number(getattr(controller, key)) for key in STRUCTURAL)
    if not period or delay is None or not jitter:
        return
    left = period - delay_parts(delay, period)[1]
    if jitter >= left:
        checker.complain(
            (*path, "jitter"),
            f"{jitter:g}",
            f"less than {left:g}, so that a command comes before the next one",
        )


def check_drives(checker: Checker, path: Path, controller: Controlled) -> None:
    """Report missing actuators and commands with no actuator."""
    commands = (
        () if isinstance(controller, PredictiveController) else getattr(controller, "commands", ())
    )
    if commands and controller.drives is not None:
        checker.complain((*path, "drives"), "drives and commands", "one of them")
    if isinstance(controller, ObserverController):
        count = len(controller.K)
        if commands and len(commands) != count:
            checker.complain(
                (*path, "commands"),
                f"{len(commands)} actuators",
                f"{count}, one for every row of K",
            )
        if controller.drives is not None and count != 1:
            checker.complain(
                (*path, "drives"), "one actuator", f"commands with {count}, one for every row of K"
            )
    key = "commands" if commands or isinstance(controller, PredictiveController) else "drives"
    for label in actuators_of(controller):
        if (
            not checker.known((*path, key), label, checker.description.actuators, "actuator")
            or label is None
        ):
            continue
        if checker.description.actuators[label].chambers is not None:
            checker.complain(
                (*path, key),
                f"actuator '{label}' with chambers",
                "one that takes a force",
                "its inputs are flows",
            )


def check_kind(checker: Checker, path: Path, controller: Controlled) -> None:
    """Check the keys that the kind of controller needs."""
    if isinstance(controller, Tracking):
        check_forward(checker, path, controller)
    if isinstance(controller, PidController):
        if controller.kp == controller.ki == controller.kd == 0.0:
            checker.complain(path, "no gain", "kp, ki or kd")
        if (
            controller.kd != 0.0
            and controller.period is None
            and checker.number(controller.filter) == 0.0
        ):
            checker.complain(
                (*path, "filter"),
                "0",
                "a time constant",
                "a continuous derivative without one would follow every jump",
            )
    elif isinstance(controller, LeadLagController | NotchController) and controller.gain == 0.0:
        checker.complain(path, "no gain", "a gain")
    elif isinstance(controller, NotchController) and controller.period is not None:
        frequency, period = checker.number(controller.frequency), checker.number(controller.period)
        if frequency and period and frequency * period >= 0.5:
            checker.complain(
                (*path, "frequency"),
                f"{frequency:g}",
                f"less than half the sampling rate, {0.5 / period:g} Hz",
            )
    elif isinstance(controller, Saturation) and controller.low is None and controller.high is None:
        checker.complain(path, "no limit", "low, high or both")
    elif isinstance(controller, RateLimit) and controller.rate is None:
        checker.complain((*path, "rate"), "nothing", "the largest change per second")
    elif isinstance(controller, Sensor) and controller.period is None:
        checker.complain((*path, "period"), "nothing", "the sampling period")
    elif isinstance(controller, PredictiveController):
        check_predictive(checker, path, controller)
    elif isinstance(controller, ObserverController):
        check_observer(checker, path, controller)


def check_forward(checker: Checker, path: Path, c: Tracking) -> None:
    """Check that a setpoint used for feed-forward is a differentiable function of time."""
    for key in ("speed_forward", "acceleration_forward"):
        if getattr(c, key) == 0.0 or not isinstance(c.setpoint, str):
            continue
        try:
            node = parse(c.setpoint)
        except ExpressionError:  # told where the setpoint stands
            continue
        try:
            moving = sorted(names(node) - checker.description.parameters.keys() - {"t"})
            [written(rate) for rate in time_derivatives(node)]
        except ExpressionError as error:
            checker.complain(
                (*path, key),
                f"the setpoint '{c.setpoint}'",
                "a law whose derivatives can be written",
                str(error),
            )
            continue
        if moving:
            hint = "offset takes a feed-forward of any other kind"
            checker.complain(
                (*path, key), f"a setpoint that depends on '{moving[0]}'", "a law of time", hint
            )


def check_observer(checker: Checker, path: Path, c: ObserverController) -> None:
    """Check the shapes of the observer matrices."""
    for key, wanted in misshapen(c).items():
        given = getattr(c, key)
        checker.complain((*path, key), f"{len(given)} by {len(given[0]) if given else 0}", wanted)


def check_structural(checker: Checker, path: Path, controller: Controlled) -> None:
    """Report values that determine which states exist but may change during a run."""
    d = checker.description
    changed = {name for name, parameter in d.parameters.items() if parameter.tunable}
    changed |= {
        name
        for place in (*d.stages, *d.events.values())
        for name in place.set
        if name in d.parameters
    }
    for key in STRUCTURAL:
        value = getattr(controller, key)
        try:
            found = sorted(names(parse(value)) & changed) if isinstance(value, str) else []
        except ExpressionError:
            continue
        if found:
            checker.complain(
                (*path, key),
                f"'{found[0]}', which may change in a run",
                "a parameter that does not",
            )
