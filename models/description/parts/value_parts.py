"""Tables of named values: parameters, inputs, outputs, states. Their numbers are brought to SI where they are read."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from kinetree.models.description.numbers_and_expressions import NUMBER_SCHEMA, Law, Number, Vector
from kinetree.models.description.parts.base_table import ORIGIN, Named, Part, Point, at_station
from kinetree.models.description.units.si_conversion import in_si
from kinetree.models.quantities.kinds import QUANTITIES


class OrBare:
    """JSON Schema annotation: a bare number or expression is allowed in place of the table or list."""

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        return {"anyOf": [*NUMBER_SCHEMA["anyOf"], handler(schema)]}


def table_or(key: str) -> BeforeValidator:
    """Return a validator that accepts a bare value in place of a table with one key."""
    return BeforeValidator(lambda value: value if isinstance(value, (dict, Part)) else {key: value})


def read_in_si(*keys: str) -> BeforeValidator:
    """Return the brings the numbers of a table with a unit to SI."""
    return BeforeValidator(lambda value: in_si(value, keys))


class Parameter(Named):
    """A named number that others are computed from."""

    value: Number = Field(description="A number, or an expression over other parameters")
    unit: str = Field(
        default="",
        description="Unit of the value and its bounds, for example N.m.s/rad or mm; they are converted to SI on reading",
    )
    display_unit: str = Field(
        default="", description="Unit in which it is shown; left out: `unit` as it was written"
    )
    min: Number | None = Field(default=None, description="Smallest value allowed")
    max: Number | None = Field(default=None, description="Largest value allowed")
    tunable: bool = Field(default=False, description="May change while the FMU runs")


class Input(Named):
    """A number given from outside."""

    start: Number = Field(default=0.0, description="Value until one is given")
    unit: str = Field(
        default="",
        description="Unit of the start value and the bounds, which are converted to SI on reading; values come and go in SI",
    )
    display_unit: str = Field(
        default="", description="Unit in which it is shown; left out: `unit` as it was written"
    )
    min: Number | None = Field(default=None, description="Smallest value expected")
    max: Number | None = Field(default=None, description="Largest value expected")


Quantity = Literal[tuple(QUANTITIES)]  # type: ignore[valid-type]


class Output(Named):
    """A number reported: an expression (`value`) or a measured `quantity`."""

    value: Law | None = Field(default=None, description="Expression")
    quantity: Quantity | None = Field(default=None, description="Measured quantity")  # type: ignore[valid-type]
    body: str | None = Field(default=None, description="Measured body")
    point: Vector = Field(
        default=ORIGIN,
        description="Measured point, body frame [m]; for an angular momentum the point it is about, ground axes",
    )
    station: Number | None = at_station()
    beam: str | None = Field(
        default=None, description="Beam, for deflection, section_load and stress"
    )
    bodies: tuple[str, ...] | None = Field(
        default=None, description="Bodies that are taken together; left out: all"
    )
    about: Literal["point", "centre"] = Field(
        default="point",
        description="What an angular momentum is about: a fixed point, or the centre of mass",
    )
    between: tuple[Point, Point] | None = Field(
        default=None, description="Two points, for distance and distance_rate"
    )
    joint: str | None = Field(default=None, description="Joint, for reaction and power")
    part: Literal["force", "moment"] = Field(
        default="force", description="What of a reaction or of a force element"
    )
    force: str | None = Field(default=None, description="Force element")
    actuator: str | None = Field(default=None, description="Actuator, for power")
    axis: Literal["x", "y", "z", "w", "norm", "n", "vy", "vz", "mx", "my", "mz"] | None = Field(
        default=None,
        description="Component; left out: every component as NAME[1], NAME[2], ...; of a section load n, vy, vz, mx, my or mz",
    )
    frame: str = Field(
        default="ground",
        description="Axes in which a vector is taken: ground, body (the measured one), or the name of a body",
    )
    reference: Point | None = Field(
        default=None,
        description="Measured against this point, as it is seen from its body; left out: from the ground",
    )
    unit: str = Field(
        default="",
        description="Unit in which it is shown; the value itself is in SI; left out: known for measured quantities",
    )
    display_unit: str = Field(
        default="", description="The same; left out: `unit` as it was written"
    )


class State(Named):
    """A first-order state: d(state)/dt = rate."""

    rate: Law = Field(description="Time derivative")
    start: Number = Field(default=0.0, description="Value at the start")
    unit: str = Field(
        default="",
        description="Unit of the start value, which is converted to SI on reading; the rate is in SI",
    )
    display_unit: str = Field(
        default="", description="Unit in which it is shown; left out: `unit` as it was written"
    )


PARAMETER_NUMBERS = ("value", "min", "max")
ParameterTable = Annotated[Parameter, read_in_si(*PARAMETER_NUMBERS), table_or("value"), OrBare()]
InputTable = Annotated[Input, read_in_si("start", "min", "max"), table_or("start"), OrBare()]
OutputTable = Annotated[Output, read_in_si(), table_or("value"), OrBare()]
StateTable = Annotated[State, read_in_si("start")]
