"""Tables of named values: parameters, inputs, states. Their numbers are converted to SI when they
are read.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from kinetree.models.language.numbers_and_expressions import NUMBER_SCHEMA, Law, Number
from kinetree.models.language.parts.base_table import Named, Part
from kinetree.models.language.units.si_conversion import in_si


class OrBare:
    """JSON Schema annotation: a bare number or expression is allowed in place of the table or list."""

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        return {"anyOf": [*NUMBER_SCHEMA["anyOf"], handler(schema)]}


def table_or(key: str) -> BeforeValidator:
    """Return a validator that accepts a bare value in place of a table with one key."""
    return BeforeValidator(lambda value: value if isinstance(value, (dict, Part)) else {key: value})


def read_in_si(*keys: str) -> BeforeValidator:
    """Return a validator that converts the numbers of a table with a unit to SI."""
    return BeforeValidator(lambda value: in_si(value, keys))


class Parameter(Named):
    """A named value from which others are computed."""

    value: Number = Field(description="A number, or an expression over other parameters")
    unit: str = Field(
        default="",
        description="Unit of the value and its bounds, for example N.m.s/rad or mm; they are converted to SI on reading",
    )
    display_unit: str = Field(
        default="", description="Unit in which the value is displayed (default: `unit`)"
    )
    min: Number | None = Field(default=None, description="Smallest value allowed")
    max: Number | None = Field(default=None, description="Largest value allowed")
    tunable: bool = Field(default=False, description="May change while the FMU runs")


class Input(Named):
    """A value given from outside."""

    start: Number = Field(default=0.0, description="Value until the host or a run gives one")
    unit: str = Field(
        default="",
        description="Unit of the start value and the bounds, which are converted to SI on reading; later values are in SI",
    )
    display_unit: str = Field(
        default="", description="Unit in which the value is displayed (default: `unit`)"
    )
    min: Number | None = Field(default=None, description="Smallest value expected")
    max: Number | None = Field(default=None, description="Largest value expected")


class State(Named):
    """A first-order state: d(state)/dt = rate."""

    rate: Law = Field(description="Time derivative")
    start: Number = Field(default=0.0, description="Value at the start")
    unit: str = Field(
        default="",
        description="Unit of the start value, which is converted to SI on reading; the rate is in SI",
    )
    display_unit: str = Field(
        default="", description="Unit in which the value is displayed (default: `unit`)"
    )


PARAMETER_NUMBERS = ("value", "min", "max")
ParameterTable = Annotated[Parameter, read_in_si(*PARAMETER_NUMBERS), table_or("value"), OrBare()]
InputTable = Annotated[Input, read_in_si("start", "min", "max"), table_or("start"), OrBare()]
StateTable = Annotated[State, read_in_si("start")]
