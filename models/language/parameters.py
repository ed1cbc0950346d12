"""Values of parameters, which may be expressions over each other in any order."""

from __future__ import annotations

from collections.abc import Mapping

from kinetree.models.expressions.parse import ExpressionError, evaluate_constant, names, parse
from kinetree.models.language.numbers_and_expressions import Expression, as_number

MOST_SHOWN = 12  # names of a circle that a message tells


def evaluate_parameters(
    given: Mapping[str, float | str],
) -> tuple[dict[str, float], dict[str, ExpressionError]]:
    """Return parameter values by name and the errors of the others; dependents of faulty ones add
    no errors.
    """
    values: dict[str, float] = {}
    errors: dict[str, ExpressionError] = {}
    needs: dict[str, frozenset[str]] = {}
    for name, value in given.items():
        try:
            needs[name] = names(parse(value))
        except ExpressionError as error:
            errors[name] = error
    spoiled = set(errors)
    open_names: dict[str, None] = {}  # on the way to a value, in order
    for first in needs:
        stack = [first]
        while stack:
            name = stack[-1]
            if name in values or name in spoiled:
                stack.pop()
                continue
            open_names[name] = None
            missing = [
                other
                for other in needs[name]
                if other in given and other not in values and other not in spoiled
            ]
            circular = [other for other in missing if other in open_names]
            if circular:
                path = list(open_names)
                loop = path[path.index(circular[0]) :]
                errors[loop[0]] = ExpressionError(
                    "depends on itself: " + shortened([*loop, loop[0]])
                )
                spoiled.update(loop)
                open_names.clear()
                stack.clear()
            elif missing:
                stack.append(missing[0])
            else:
                if needs[name] & spoiled:
                    spoiled.add(name)
                else:
                    try:
                        values[name] = evaluate_constant(given[name], values)
                    except ExpressionError as error:
                        errors[name] = unknown_or(error, needs[name], given)
                        spoiled.add(name)
                open_names.pop(name, None)
                stack.pop()
    return values, errors


def shortened(path: list[str]) -> str:
    """Return the names of a cycle of parameters as text, omitting the middle of a long one."""
    shown = (
        path
        if len(path) <= MOST_SHOWN
        else [*path[: MOST_SHOWN - 3], f"... {len(path) - MOST_SHOWN + 1} more ...", *path[-2:]]
    )
    return " -> ".join(shown)


def unknown_or(
    error: ExpressionError, needed: frozenset[str], given: Mapping[str, float | str]
) -> ExpressionError:
    """Return the error of a parameter's expression, replaced by a clearer one if it names something
    that parameters may not depend on.
    """
    if "t" in needed and "t" not in given:
        return ExpressionError("a parameter cannot depend on the time t", error.column)
    return error


def as_parameter_value(value: object) -> float | str:
    """Return a number or an expression, from a bare value or a parameter table; PydanticCustomError
    otherwise.
    """
    return as_number(
        value["value"] if isinstance(value, dict) and "value" in value else value, Expression
    )
