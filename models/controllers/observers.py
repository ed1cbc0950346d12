"""Observers as states, events and outputs of their mechanism; the engine writes them at every
sample (solvers/sampled/observer.py).

An observer NAME gives NAME.KEY and NAME.KEY.std for every estimated parameter, unknown force and
estimate, and NAME.nis. In the variant "rest" the estimates are the true values: outputs of the
mechanism itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kinetree.models.description.names import RUN_START, expressions
from kinetree.models.expressions.parse import ExpressionError, names, parse
from kinetree.models.language.parts.observer_parts import Observer
from kinetree.models.language.parts.value_parts import Input

if TYPE_CHECKING:
    from kinetree.models.controllers.expansion import Made
    from kinetree.models.description.schema import Description

FIRST = 1e-6  # of a period: the first sample is so late, as those of sampled controllers are


def sensors_of(observers: Mapping[str, Observer], controllers: Mapping[str, Any]) -> set[str]:
    """Return the controllers (sensors) whose values observers read, and those that these read in
    turn.
    """
    waiting = [
        str(reading.value if reading.reads is None else reading.reads)
        for observer in observers.values()
        for reading in observer.readings
    ]
    found: set[str] = set()
    while waiting:
        try:
            read = {name.partition(".")[0] for name in names(parse(waiting.pop()))}
        except ExpressionError:  # told by the checks
            continue
        for name in (read & controllers.keys()) - found:
            found.add(name)
            waiting += [str(text) for _, text in expressions(controllers[name])]
    return found


def values_given(observer: Observer) -> dict[str, str]:
    """Return the expressions of everything an observer estimates, by name: parameters, unknown
    forces, estimates.
    """
    own = {name: name for name in (*observer.parameters, *observer.unknowns)}
    return own | {name: str(text) for name, text in observer.estimates.items()}


def unknown_forces(observer: Observer) -> list[str]:
    """Return the unknown forces that are not inputs of the mechanism."""
    return [name for name, force in observer.unknowns.items() if force.coordinate is not None]


def known_text(text: str, observer: Observer) -> str:
    """Return an expression with zero for unknown forces that the mechanism does not have."""
    for name in unknown_forces(observer):
        text = re.sub(rf"(?<![\w.]){re.escape(name)}(?![\w.])", "0", text)
    return text


def first_guess(key: str, observer: Observer) -> tuple[float | str, float | str]:
    """Return the initial value and standard deviation of an estimate."""
    if key in observer.parameters:
        parameter = observer.parameters[key]
        return key if parameter.start is None else parameter.start, parameter.std
    if key in observer.unknowns:
        force = observer.unknowns[key]
        return 0.0 if force.start is None else force.start, force.std
    return 0.0, 0.0


def add_observer(
    made: Made, name: str, observer: Observer, description: Description, rest: bool, held: bool
) -> None:
    """Add the tables of one observer; with `held` its values are inputs that keep the last sample."""
    units = {key: description.parameters[key].unit for key in observer.parameters if key in description.parameters}  # fmt: skip
    for key, text in values_given(observer).items():
        unit = units.get(key, "")
        if held:
            made.add("inputs", f"{name}.{key}", Input(unit=unit))
            made.add("inputs", f"{name}.{key}.std", Input(unit=unit))
        elif rest:
            made.output(f"{name}.{key}", known_text(text, observer), unit)
            made.output(f"{name}.{key}.std", "0", unit)
        else:
            first, deviation = first_guess(key, observer)
            made.state(f"{name}.{key}", first, unit=unit)
            made.state(f"{name}.{key}.std", deviation, unit=unit)
    if held:
        made.add("inputs", f"{name}.nis", Input())
    elif rest:
        made.output(f"{name}.nis", "1")
    if held or rest:
        return
    made.state(f"{name}.nis")
    made.state(f"{name}.samples")
    for k, reading in enumerate(observer.readings, 1):
        made.output(
            f"{name}.reading{k}", str(reading.value if reading.reads is None else reading.reads)
        )
    instant = f"'{RUN_START}' + ({name}.samples + {FIRST})*({observer.period})"
    made.event(f"{name}.update", f"t >= {instant}", {f"{name}.samples": f"{name}.samples + 1"})
