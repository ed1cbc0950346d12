"""Checks of observers: measurements, estimated quantities, and mechanisms that observers do not
support.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinetree.models.checks.conditions_check import stages_of
from kinetree.models.controllers.observers import values_given
from kinetree.models.language.errors import suggestion
from kinetree.models.language.parts.observer_parts import Observer

if TYPE_CHECKING:
    from kinetree.models.checks.consistency_check import Checker

Path = tuple[str | int, ...]
PARTS = "letters, digits and underscores, a letter at the beginning"


def check_observers(checker: Checker) -> None:
    """Check every observer of a description."""
    for name, observer in checker.description.observers.items():
        path: Path = ("observers", name)
        if path in checker.incomplete:
            continue
        if name in checker.description.controllers:
            checker.complain(path, f"the name '{name}'", hint="it is already one of [controllers]")
        if not name.isidentifier():
            checker.complain(path, f"the name '{name}'", PARTS)
        check_numbers(checker, path, observer)
        check_estimated(checker, path, observer)
        check_mechanism(checker, path)


def check_numbers(checker: Checker, path: Path, observer: Observer) -> None:
    """Check the period and all standard deviations."""
    positive(checker, (*path, "period"), observer.period)
    for k, reading in enumerate(observer.readings):
        positive(checker, (*path, "readings", k, "noise"), reading.noise)
        for key in ("bias", "bias_walk"):
            not_negative(checker, (*path, "readings", k, key), getattr(reading, key))
    for section in ("parameters", "unknowns"):
        for key, each in getattr(observer, section).items():
            positive(checker, (*path, section, key, "std"), each.std)
            not_negative(checker, (*path, section, key, "walk"), each.walk)
            low, high = checker.number(each.min), checker.number(each.max)
            if low is not None and high is not None and high <= low:
                checker.complain(
                    (*path, section, key, "max"), f"{high:g}", f"more than min, {low:g}"
                )
    for section in ("initial", "process"):
        for key, value in getattr(observer, section).items():
            not_negative(checker, (*path, section, key), value)


def check_estimated(checker: Checker, path: Path, observer: Observer) -> None:
    """Check that the estimated quantities exist and have unique names."""
    d = checker.description
    if not values_given(observer):
        checker.complain(path, "nothing that is estimated", "estimates, parameters or unknowns")
    for key in observer.estimates:
        if not key.isidentifier():
            checker.complain((*path, "estimates", key), f"the name '{key}'", PARTS)
        if key in observer.parameters or key in observer.unknowns or key in ("nis", "samples"):
            checker.complain((*path, "estimates", key), f"the name '{key}'", "another one: the observer gives it already")  # fmt: skip
    for key in observer.parameters:
        if key not in d.parameters:
            checker.complain((*path, "parameters", key), "no parameter of that name", hint=suggestion(key, d.parameters))  # fmt: skip
        elif isinstance(d.parameters[key].value, str):
            checker.complain(
                (*path, "parameters", key),
                f"'{key}', which is computed as {d.parameters[key].value}",
                "a parameter with a number of its own",
            )
        elif key in checker.deciding:
            found = f"'{key}', which decides {checker.deciding[key]}"
            checker.complain((*path, "parameters", key), found, "one that may change in a run")
    for key, force in observer.unknowns.items():
        if force.coordinate is None and key not in d.inputs:
            wanted = "one along which the force acts, or the name of an input"
            checker.complain(
                (*path, "unknowns", key), "no coordinate", wanted, suggestion(key, d.inputs)
            )
        if force.coordinate is not None:
            checker.known((*path, "unknowns", key, "coordinate"), force.coordinate, checker.coordinates, "coordinate")  # fmt: skip
            if key in d.inputs or key in d.parameters or key in d.outputs or key in d.states:
                checker.complain((*path, "unknowns", key), f"the name '{key}'", "another one: the mechanism has it already")  # fmt: skip


def check_mechanism(checker: Checker, path: Path) -> None:
    """Refuse mechanisms with features that the observer's inner model does not support."""
    d = checker.description
    for found, what in (
        (d.contacts, "rigid [contacts]"),
        (d.chain, "a [chain]"),
    ):
        if found:
            checker.complain(path, f"an observer beside {what}", "kinetree observe on a record")
    for _, stage in stages_of(d.stages, ("stages",)):
        for target in stage.set.keys() - d.parameters.keys():
            found = f"an observer together with a stage whose end sets '{target}'"
            wanted = "stages that set parameters alone, or kinetree observe on a record"
            checker.complain(path, found, wanted)


def positive(checker: Checker, path: Path, value: float | str) -> None:
    """Report a value that is not positive."""
    number = checker.number(value)
    if number is not None and not number > 0.0:
        checker.complain(path, f"{number:g}", "a number > 0")


def not_negative(checker: Checker, path: Path, value: float | str) -> None:
    """Report a negative value."""
    number = checker.number(value)
    if number is not None and number < 0.0:
        checker.complain(path, f"{number:g}", "0 or more")
