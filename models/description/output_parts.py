"""The table [outputs.NAME]: an expression, or a measured quantity of one of the registered kinds."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from kinetree.models.language.numbers_and_expressions import Law, Number, Vector
from kinetree.models.language.parts.base_table import ORIGIN, Named, Point, at_station
from kinetree.models.language.parts.value_parts import OrBare, read_in_si, table_or
from kinetree.models.quantities.kinds import QUANTITIES

Quantity = Literal[tuple(QUANTITIES)]  # type: ignore[valid-type]


class Output(Named):
    """A reported value: an expression (`value`) or a measured `quantity`."""

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
        default=None, description="Bodies in a total (default: all)"
    )
    about: Literal["point", "centre"] = Field(
        default="point",
        description="Reference of an angular momentum: a fixed point, or the centre of mass",
    )
    between: tuple[Point, Point] | None = Field(
        default=None, description="Two points, for distance and distance_rate"
    )
    joint: str | None = Field(default=None, description="Joint, for reaction and power")
    part: Literal["force", "moment"] = Field(
        default="force", description="Part of a reaction or of a force element"
    )
    force: str | None = Field(default=None, description="Force element")
    actuator: str | None = Field(default=None, description="Actuator, for power")
    axis: Literal["x", "y", "z", "w", "norm", "n", "vy", "vz", "mx", "my", "mz"] | None = Field(
        default=None,
        description="Component; left out: every component as NAME[1], NAME[2], ...; of a section load n, vy, vz, mx, my or mz",
    )
    frame: str = Field(
        default="ground",
        description="Axes of the components of a vector: ground, body (the measured one), or the name of a body",
    )
    reference: Point | None = Field(
        default=None,
        description="Point relative to which, and body relative to which, is measured (default: the ground)",
    )
    unit: str = Field(
        default="",
        description="Unit in which the value is displayed; the value itself is in SI (default: known for measured quantities)",
    )
    display_unit: str = Field(
        default="", description="Unit in which the value is displayed (default: `unit`)"
    )


OutputTable = Annotated[Output, read_in_si(), table_or("value"), OrBare()]
