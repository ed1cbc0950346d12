"""Counting states, which small changes of state or parameters do not affect: numbers of samples,
random seeds, release times of delayed commands.

They change only at events, and only by other such states, constants and the start of the run. Their
derivatives are zero; finite differences through an event would move samples past one another, or
draw other random numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from kinetree.models.description.names import RUN_START
from kinetree.models.description.schema import Description
from kinetree.models.expressions.parse import ExpressionError, names, parse


def counted_states(description: Description, followed: Collection[str]) -> frozenset[str]:
    """Return the states whose values depend neither on the `followed` parameters nor on the
    solution.
    """
    settings: dict[str, list[float | str]] = {name: [] for name in description.states}
    for target, value in all_settings(description):
        if target in settings:
            settings[target].append(value)
    constant = {RUN_START} | {
        name
        for name, parameter in description.parameters.items()
        if name not in followed and not isinstance(parameter.value, str)
    }
    found = {
        name
        for name, state in description.states.items()
        if used_names(state.rate) == frozenset()
        and used_names(state.start) <= constant
        and is_zero(state.rate)
    }
    while True:
        left = {
            name
            for name in found
            if all(used_names(value) <= constant | found for value in settings[name])
        }
        if left == found:
            return frozenset(found)
        found = left


def all_settings(description: Description) -> Iterator[tuple[str, float | str]]:
    """Yield all names that events and stage changes set, with the expressions."""
    for part in (*description.events.values(), *description.stages):
        yield from part.set.items()


def used_names(value: float | str) -> frozenset[str]:
    """Return the names in an expression; an unreadable one counts as using an unknown name."""
    try:
        return frozenset(names(parse(value)))
    except ExpressionError:
        return frozenset(("?",))


def is_zero(value: float | str) -> bool:
    """Return whether a rate is the constant 0."""
    try:
        return float(value) == 0.0
    except ValueError:
        return False
