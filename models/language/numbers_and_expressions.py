"""Numbers of a description: a finite float, or the text of an expression, which remembers what it may depend on.

Expressions are kept as text here (a `str` that carries its scope) and become instructions when a mechanism is compiled.
"""

from __future__ import annotations

import math
from typing import Annotated, Any

from pydantic import PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from kinetree.models.expressions.parse import ExpressionError, evaluate_constant
from kinetree.models.language.errors import shown
from kinetree.models.language.units.si_conversion import Measured
from kinetree.models.language.units.unit_of_measure import UnitError, parse_unit

LONGEST_EXPRESSION = 20_000  # characters
PLACE = {
    f"ground.{axis}": "the place of a contact" for axis in "xyz"
}  # in ground axes; only the height of a surface knows it


class Expression(str):
    """Text of an expression over parameters."""

    scope = "parameter"


class DerivedExpression(Expression):
    """Text of an expression that other numbers of the description were combined to."""


class TimeExpression(Expression):
    """Text of an expression over parameters and the time t."""

    scope = "time"


class InputExpression(Expression):
    """Text of an expression over parameters, the time t and inputs."""

    scope = "input"


class GroundExpression(Expression):
    """Text of an expression over parameters, t, inputs, states and the place on the ground."""

    scope = "ground"


class LawExpression(Expression):
    """Text of an expression over parameters, t, coordinates, speeds, states, inputs and outputs."""

    scope = "state"


def problem(found: object, expected: str) -> PydanticCustomError:
    """Return the error of a value, in the form that `loader` turns into a Problem."""
    return fault(shown(found), expected)


def fault(found: str, expected: str) -> PydanticCustomError:
    """Return a validation error with a description of the value found."""
    return PydanticCustomError("kinetree", "{expected}", {"expected": expected, "found": found})


def as_number(value: Any, kind: type[Expression]) -> float | Expression:
    """Return a finite float, or an expression of the given kind; a table of value and unit is a
    float in SI that remembers its unit.
    """
    if isinstance(value, dict):
        return measured(value, kind)
    if isinstance(value, str):
        if not value.strip():
            raise problem(value, "a number or an expression")
        if len(value) > LONGEST_EXPRESSION:
            raise problem(value, f"an expression of at most {LONGEST_EXPRESSION} characters")
        return kind(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise problem(value, "a number or an expression")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise problem(value, "a finite number")
    return number


def measured(table: dict[str, Any], kind: type[Expression]) -> Measured:
    """Return a number with a unit, in SI."""
    text, value = table.get("unit"), table.get("value")
    if set(table) != {"value", "unit"} or not isinstance(text, str):
        raise problem(table, "a number, an expression, or a table of value and unit")
    number = as_number(value, kind)
    try:
        unit = parse_unit(text)
        number = evaluate_constant(number, {}) if isinstance(number, str) else float(number)
    except UnitError as error:
        raise problem(text, f"a unit: {error}") from None
    except ExpressionError:
        raise problem(
            value, "a number: an expression over names is in SI and takes no unit"
        ) from None
    return Measured(float(as_number(unit.to_si(number), kind)), text)


def as_vector(
    value: Any, kind: type[Expression], length: int, parts: str = ""
) -> tuple[float | Expression, ...]:
    if (
        isinstance(value, dict)
        and isinstance(value.get("value"), (list, tuple))
        and set(value) == {"value", "unit"}
    ):
        value = [{"value": each, "unit": value["unit"]} for each in value["value"]]
    if not isinstance(value, (list, tuple)) or len(value) != length:
        raise problem(value, f"a list of {length} numbers" + parts)
    return tuple(as_number(item, kind) for item in value)


AXES = {letter: tuple(float(letter == other) for other in "xyz") for letter in "xyz"}
AXES |= {
    f"-{letter}": tuple(-number if number else 0.0 for number in axis)
    for letter, axis in AXES.items()
}
AXES |= {f"+{letter}": AXES[letter] for letter in "xyz"}


def as_axis(value: Any) -> tuple[float | Expression, ...]:
    """Return a direction: a letter with an optional sign, or three numbers."""
    if isinstance(value, str):
        if value not in AXES:
            raise problem(value, 'an axis: "x", "y", "z", "-x", "-y", "-z" or a list of 3 numbers')
        return AXES[value]
    if not isinstance(value, (list, tuple)) or len(value) != 3:
        raise problem(value, 'an axis: "x", "y", "z", "-x", "-y", "-z" or a list of 3 numbers')
    return tuple(as_number(item, Expression) for item in value)


def as_axes(value: Any) -> tuple[tuple[float | Expression, ...], ...]:
    """Return one axis or a list of axes (two axes, or lists of numbers)."""
    if (
        isinstance(value, (list, tuple))
        and value
        and (len(value) == 2 or all(isinstance(item, (list, tuple)) for item in value))
    ):
        return tuple(as_axis(item) for item in value)
    return (as_axis(value),)


WITH_UNIT = {
    "type": "object",
    "properties": {"value": {"type": ["number", "string"]}, "unit": {"type": "string"}},
    "required": ["value", "unit"],
    "additionalProperties": False,
}
NUMBER_SCHEMA = {"anyOf": [{"type": "number"}, {"type": "string"}, WITH_UNIT]}
AXIS_SCHEMA = {
    "anyOf": [
        {"enum": list(AXES)},
        {"type": "array", "items": NUMBER_SCHEMA, "minItems": 3, "maxItems": 3},
    ]
}


def vector_schema(length: int) -> dict[str, Any]:
    return {"type": "array", "items": NUMBER_SCHEMA, "minItems": length, "maxItems": length}


Number = Annotated[
    float | str,
    PlainValidator(lambda value: as_number(value, Expression)),
    WithJsonSchema(NUMBER_SCHEMA),
]
STEADY = "steady"
ATMOSPHERE = 1e5  # Pa: where the search for a steady pressure begins
StartPressure = Annotated[
    float | str,
    PlainValidator(lambda value: STEADY if value == STEADY else as_number(value, Expression)),
    WithJsonSchema(NUMBER_SCHEMA),
]


def guessed(pressure: float | str) -> float | str:
    """Return a pressure at the start, or where the search for it begins."""
    return ATMOSPHERE if pressure == STEADY else pressure


TimeNumber = Annotated[
    float | str,
    PlainValidator(lambda value: as_number(value, TimeExpression)),
    WithJsonSchema(NUMBER_SCHEMA),
]
InputNumber = Annotated[
    float | str,
    PlainValidator(lambda value: as_number(value, InputExpression)),
    WithJsonSchema(NUMBER_SCHEMA),
]
Law = Annotated[
    float | str,
    PlainValidator(lambda value: as_number(value, LawExpression)),
    WithJsonSchema(NUMBER_SCHEMA),
]
GroundNumber = Annotated[
    float | str,
    PlainValidator(lambda value: as_number(value, GroundExpression)),
    WithJsonSchema(NUMBER_SCHEMA),
]
Vector = Annotated[
    tuple[float | str, float | str, float | str],
    PlainValidator(lambda value: as_vector(value, Expression, 3)),
    WithJsonSchema(vector_schema(3)),
]
LawVector = Annotated[
    tuple[float | str, float | str, float | str],
    PlainValidator(lambda value: as_vector(value, LawExpression, 3)),
    WithJsonSchema(vector_schema(3)),
]
Tensor = Annotated[
    tuple[float | str, ...],
    PlainValidator(lambda value: as_vector(value, Expression, 6, ": xx yy zz xy xz yz")),
    WithJsonSchema(vector_schema(6)),
]
Axis = Annotated[tuple[float | str, ...], PlainValidator(as_axis), WithJsonSchema(AXIS_SCHEMA)]
Axes = Annotated[
    tuple[tuple[float | str, ...], ...],
    PlainValidator(as_axes),
    WithJsonSchema(
        {
            "anyOf": [
                *AXIS_SCHEMA["anyOf"],
                {"type": "array", "items": AXIS_SCHEMA, "minItems": 1, "maxItems": 2},
            ]
        }
    ),
]
