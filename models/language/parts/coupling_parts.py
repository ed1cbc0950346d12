"""The table [couplings.NAME]: permanent constraints between coordinates and speeds, between points,
and of rolling bodies or blades.
"""

from __future__ import annotations

from pydantic import Field

from kinetree.models.language.numbers_and_expressions import AXES, Axis, Law, Number, Vector
from kinetree.models.language.parts.base_table import ORIGIN, Named, Part, Point
from kinetree.models.language.parts.input_motion_parts import Following


class Blade(Part):
    """A blade, a runner, a narrow wheel: a point of a body has no velocity along one of the body's directions."""

    body: str = Field(description="The body that carries it")
    point: Vector = Field(default=ORIGIN, description="Where it touches, in the body frame [m]")
    normal: Axis = Field(description="Direction across it, in the body frame")
    on: str = Field(default="ground", description="The body on which it glides, or ground")


class Rolling(Part):
    """A body that rolls without slip on a plane: a sphere (`radius`), a sharp-edged disc (`radius` and `axis`) or an ellipsoid (`semiaxes`)."""

    body: str = Field(description="The body that rolls")
    centre: Vector = Field(
        default=ORIGIN, description="Centre of its surface in the body frame [m]"
    )
    radius: Number | None = Field(default=None, description="Radius of the sphere or disc [m]")
    axis: Axis | None = Field(
        default=None, description="Axis of the disc in the body frame; without it a sphere rolls"
    )
    semiaxes: Vector | None = Field(
        default=None, description="Semi-axes of an ellipsoid along the axes of the body frame [m]"
    )
    on: str = Field(default="ground", description="The body on whose plane it rolls, or ground")
    at: Vector = Field(default=ORIGIN, description="A point of the plane, in the frame of `on` [m]")
    normal: Axis = Field(
        default=AXES["z"],
        description="Normal of the plane, out of the ground, in the frame of `on`",
    )


class Coupling(Named):
    """A constraint: `value` = 0 (with `der(NAME)` a velocity constraint), a distance, a blade or a
    rolling body.
    """

    value: Law | None = Field(
        default=None,
        description="Expression over t, coordinates, speeds, states, inputs and point positions that is kept zero",
    )
    point: Point | None = Field(
        default=None,
        description="Point whose position in the frame of `on` is available as NAME[1], NAME[2], NAME[3]",
    )
    on: str = Field(
        default="ground",
        description="Body in whose frame the position of `point` is measured, or ground",
    )
    between: tuple[Point, Point] | None = Field(
        default=None, description="Two points that keep the distance `length`"
    )
    length: Law | None = Field(
        default=None,
        description="Their distance: a number or an expression over t, states and inputs, not zero [m]",
    )
    blade: Blade | None = Field(
        default=None, description="Blade: no velocity of a point along a direction of its body"
    )
    rolling: Rolling | None = Field(default=None, description="Rolling without slip on a plane")
    follow: tuple[Following, ...] = Field(
        default=(),
        description="Inputs of the expression whose time derivatives are given by other inputs or by a filter",
    )


def rows_of(name: str, coupling: Coupling) -> tuple[str, ...]:
    """Return the names of the constraint rows of a coupling; `force('ROW')` is the constraint force
    of one.
    """
    return (
        (f"{name}.normal", f"{name}.along", f"{name}.across")
        if coupling.rolling is not None
        else (name,)
    )


def bodies_of(coupling: Coupling) -> set[str]:
    """Return the bodies that a coupling names."""
    ends = (coupling.point, *(coupling.between or ()), coupling.blade, coupling.rolling)
    surfaces = (
        coupling.on,
        coupling.blade and coupling.blade.on,
        coupling.rolling and coupling.rolling.on,
    )
    return {end.body for end in ends if end is not None} | {name for name in surfaces if name}
