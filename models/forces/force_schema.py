"""The base table of force elements, and keys that several kinds share.

Sign rules: a line force is positive if it pushes its two points apart; a coordinate force is
positive along the coordinate.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar

from pydantic import Field

from kinetree.models.forces.soil_schema import Soil
from kinetree.models.language.numbers_and_expressions import (
    Axis,
    GroundNumber,
    Law,
    Number,
    Vector,
)
from kinetree.models.language.parts.base_table import ORIGIN, Named, Point, at_station

UP = (0.0, 0.0, 1.0)
DOWN = (0.0, 0.0, -1.0)
TableName = Annotated[str, "a table of one variable"]


class ForceTable(Named):
    """A force element. `kind` is narrowed to one word by every kind."""

    kind: str
    leaves_with: tuple[str, ...] = Field(
        default=(),
        description="Further bodies with which the force leaves when a stage drops them, such as one "
        "whose motion its law reads",
    )
    positive: ClassVar[tuple[str, ...]] = ()  # keys whose numbers must be above 0
    not_negative: ClassVar[tuple[str, ...]] = ()  # keys whose numbers must not be below 0

    def bodies(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """Return the bodies that the force acts on, and those with which it leaves, with their
        keys.
        """
        if (body := self._given("body")) is not None:
            yield ("body",), body
        for k, point in enumerate(self._given("between") or ()):
            yield ("between", k, "body"), point.body
        for k, name in enumerate(self.leaves_with):
            yield ("leaves_with", k), name

    def coordinates(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """Return the coordinates that the force acts along, with their keys."""
        if (coordinate := self._given("coordinate")) is not None:
            yield ("coordinate",), coordinate

    def _given(self, key: str) -> Any:
        """Return the value of a key, None if the kind has no such key; faster than catching a
        missing attribute.
        """
        return self.__dict__.get(key)


class Elastic(ForceTable):
    """Force law shared by coordinate and line forces: a given value, or spring and damper."""

    value: Law | None = Field(
        default=None,
        description="The force itself [N or N.m]; replaces stiffness, damping and laws",
    )
    stiffness: Law = Field(default=0.0, description="Spring constant [N/m or N.m/rad]")
    damping: Law = Field(default=0.0, description="Damper constant [N.s/m or N.m.s/rad]")
    length: Law | None = Field(
        default=None,
        description="Length or coordinate at zero spring force (default for a coordinate: 0) [m or rad]",
    )
    law: TableName | None = Field(
        default=None,
        description="Table: restoring force over the elongation from `length`, added to the spring's",
    )
    damping_law: TableName | None = Field(
        default=None,
        description="Table: restoring force over the rate of elongation, added to the damper's",
    )


class Rubbing(ForceTable):
    """Normal law and regularised Coulomb friction shared by contacts."""

    stiffness: Law = Field(
        description="Normal force per penetration**exponent [N/m for exponent 1]"
    )
    damping: Law = Field(
        default=0.0, description="Normal damping [N.s/m]; the normal force never pulls"
    )
    exponent: Number = Field(default=1.0, description="Exponent of the penetration [1]")
    friction: Law = Field(default=0.0, description="Coefficient of friction [1]")
    friction_speed: Number = Field(
        default=1e-3, description="Sliding speed at which friction is fully developed [m/s]"
    )
    positive: ClassVar = ("exponent", "friction_speed")
    not_negative: ClassVar = ("radius", "clearance")


class Standing(Rubbing):
    """A contact with the ground surface."""

    body: str = Field(description="The touching body")
    point: Vector = Field(default=ORIGIN, description="Touching point, body frame [m]")
    station: Number | None = at_station()
    height: GroundNumber = Field(
        default=0.0,
        description="Height of the surface along the normal [m]; over ground.x, ground.y, ground.z a terrain",
    )
    normal: Axis = Field(default=UP, description="Normal of the surface, ground axes")
    soil: Soil | None = Field(default=None, description="Soil under the contact")


class Sided(Standing):
    """A standing contact with elastic side forces."""

    side_stiffness: Law = Field(
        default=0.0, description="Elastic side force per side travel of the standing contact [N/m]"
    )
    side_damping: Law = Field(default=0.0, description="Damping of the side travel [N.s/m]")
    soil: Soil | None = Field(default=None, description="Soil under the contact")


Between = tuple[Point, Point]
