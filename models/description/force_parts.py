"""The force elements of the format. A missing `kind` is inferred from the keys that are there.

Sign rules: a line force is positive when it pushes its two points apart; a coordinate force is positive along the coordinate.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from kinetree.models.description.parts import ORIGIN, Named, Part, Point
from kinetree.models.description.quantities import Axis, GroundNumber, Law, LawVector, Number, Vector

UP = (0.0, 0.0, 1.0)
DOWN = (0.0, 0.0, -1.0)


class Elastic(Named):
    """Force law shared by coordinate and line forces: a given value, or spring and damper."""

    value: Law | None = Field(None, description="The force itself [N or N.m]; replaces stiffness, damping and laws")
    stiffness: Law = Field(0.0, description="Spring constant [N/m or N.m/rad]")
    damping: Law = Field(0.0, description="Damper constant [N.s/m or N.m.s/rad]")
    length: Law | None = Field(None, description="Length or coordinate without spring force [m or rad]; left out: 0 for a coordinate")
    law: str | None = Field(None, description="Table: restoring force over the elongation from `length`, added to the spring's")
    damping_law: str | None = Field(None, description="Table: restoring force over the rate of elongation, added to the damper's")


class CoordinateForce(Elastic):
    """Force or moment along one coordinate: value, or -(stiffness (q - length) + damping dq/dt)."""

    kind: Literal["coordinate"] = "coordinate"
    coordinate: str = Field(description="Name of a coordinate")


class LineForce(Elastic):
    """Force along the line between two points: value, or -(stiffness (l - length) + damping dl/dt); positive pushes them apart."""

    kind: Literal["line"] = "line"
    between: tuple[Point, Point] = Field(description="The two points")
    tension_only: bool = Field(False, description="Never pushes: a rope")
    compression_only: bool = Field(False, description="Never pulls: a buffer")


class WrenchForce(Named):
    """Force and moment on a body from outside."""

    kind: Literal["wrench"] = "wrench"
    body: str = Field(description="The loaded body")
    point: Vector = Field(ORIGIN, description="Where the force acts, body frame [m]")
    force: LawVector = Field(ORIGIN, description="Force [N]")
    moment: LawVector = Field(ORIGIN, description="Moment [N.m]")
    frame: Literal["ground", "body"] = Field("ground", description="Axes of force and moment")


class PairForce(Named):
    """Force and moment on the first body; the opposite acts on the second body at the same place."""

    kind: Literal["pair"] = "pair"
    between: tuple[Point, Point] = Field(description="First body with the point of action, second body (its point is not used)")
    force: LawVector = Field(ORIGIN, description="Force on the first body [N]")
    moment: LawVector = Field(ORIGIN, description="Moment on the first body [N.m]")
    frame: Literal["ground", "body"] = Field("ground", description="Axes of force and moment: ground, or those of the first body")


class StopForce(Named):
    """Exponential limit stop: (stiffness - damping dx/dt) exp(-sharpness (x - lower)) at the lower bound, mirrored at the upper; never pulls."""

    kind: Literal["stop"] = "stop"
    coordinate: str = Field(description="Name of a coordinate")
    lower: Number | None = Field(None, description="Lower bound [m or rad]; left out: no lower stop")
    upper: Number | None = Field(None, description="Upper bound [m or rad]; left out: no upper stop")
    stiffness: Number = Field(description="Force at the bound [N or N.m]")
    damping: Number = Field(0.0, description="Change of that force with speed [N.s/m or N.m.s/rad]")
    sharpness: Number = Field(description="Exponent: growth of the force per unit of travel [1/m or 1/rad]")


class Rubbing(Named):
    """Normal law and regularised Coulomb friction shared by contacts."""

    stiffness: Law = Field(description="Normal force per penetration**exponent [N/m for exponent 1]")
    damping: Law = Field(0.0, description="Normal damping [N.s/m]; the normal force never pulls")
    exponent: Number = Field(1.0, description="Exponent of the penetration [1]")
    friction: Law = Field(0.0, description="Coefficient of friction [1]")
    friction_speed: Number = Field(1e-3, description="Sliding speed at which friction is fully developed [m/s]")


class Soil(Part):
    """Soil that settles under a load above its strength: viscosity d(settlement)/dt = max(0, force - strength - hardening settlement)."""

    strength: Number = Field(description="Load at which fresh soil begins to settle [N]")
    hardening: Number = Field(0.0, description="Growth of the strength with the settlement [N/m]")
    viscosity: Number = Field(description="Load above the strength per settling speed [N.s/m]")


class ContactForce(Rubbing):
    """One-sided contact of a point (or sphere) of a body with the ground surface."""

    kind: Literal["contact"] = "contact"
    body: str = Field(description="The touching body")
    point: Vector = Field(ORIGIN, description="Touching point, or centre of the sphere, body frame [m]")
    radius: Number = Field(0.0, description="Radius of the sphere [m]")
    height: GroundNumber = Field(0.0, description="Height of the surface along the normal [m]; over ground.x, ground.y, ground.z a terrain")
    normal: Vector = Field(UP, description="Normal of the surface, ground axes")
    soil: Soil | None = Field(None, description="Soil under the contact")


class FrictionForce(Named):
    """Friction along one coordinate: -(coulomb tanh(v/speed) + viscous v)."""

    kind: Literal["friction"] = "friction"
    coordinate: str = Field(description="Name of a coordinate")
    coulomb: Law = Field(0.0, description="Dry friction [N or N.m]")
    coulomb_negative: Law | None = Field(None, description="Dry friction at negative speed, a magnitude [N or N.m]; left out: the same")
    viscous: Law = Field(0.0, description="Viscous friction [N.s/m or N.m.s/rad]")
    speed: Number = Field(1e-3, description="Speed over which dry friction changes its sign [m/s or rad/s]")


class RailForce(Rubbing):
    """Guide rail with clearance: a pin of the second body in a tube or groove of the first body."""

    kind: Literal["rail"] = "rail"
    between: tuple[Point, Point] = Field(description="Beginning of the rail on its body; centre of the pin on the guided body")
    axis: Axis = Field((1.0, 0.0, 0.0), description="Direction of the rail, axes of the first body")
    across: Axis | None = Field(None, description="A groove: the only direction, across the rail, in which it holds the pin; left out: a tube")
    clearance: Number = Field(0.0, description="Free play to each side [m]")
    begin: Number = Field(0.0, description="Where the rail begins, along the axis [m]")
    end: Number | None = Field(None, description="Where the rail ends, along the axis [m]; left out: it never ends")


class TyreForce(Rubbing):
    """Tyre that stands on the ground surface: vertical spring and damper that lift off, and an elastic side force."""

    kind: Literal["tyre"] = "tyre"
    body: str = Field(description="The body that carries the wheel")
    point: Vector = Field(ORIGIN, description="Centre of the wheel, body frame [m]")
    radius: Number = Field(0.0, description="Free radius of the tyre [m]")
    height: GroundNumber = Field(0.0, description="Height of the surface along the normal [m]; over ground.x, ground.y, ground.z a terrain")
    normal: Vector = Field(UP, description="Normal of the surface, ground axes")
    side: Axis = Field((0.0, 1.0, 0.0), description="Direction of the wheel's axle, body axes")
    side_stiffness: Law = Field(0.0, description="Elastic side force per side travel of the contact [N/m]")
    side_damping: Law = Field(0.0, description="Damping of the side travel [N.s/m]")
    soil: Soil | None = Field(None, description="Soil under the tyre")


class JackForce(Rubbing):
    """Outrigger jack: a leg of given extension whose foot stands on the ground surface and lifts off."""

    kind: Literal["jack"] = "jack"
    stiffness: Law = Field(0.0, description="Stiffness of the leg per compression**exponent [N/m for exponent 1]")
    body: str = Field(description="The body that carries the jack")
    point: Vector = Field(ORIGIN, description="Foot at extension 0, body frame [m]")
    axis: Axis = Field(DOWN, description="Direction in which the jack extends, body axes")
    extension: Law = Field(0.0, description="Extension of the unloaded leg [m]")
    height: GroundNumber = Field(0.0, description="Height of the surface along the normal [m]; over ground.x, ground.y, ground.z a terrain")
    normal: Vector = Field(UP, description="Normal of the surface, ground axes")
    law: str | None = Field(None, description="Table: force of the leg over its compression, instead of the stiffness")
    side_stiffness: Law = Field(0.0, description="Elastic side force per side travel of the standing foot [N/m]")
    side_damping: Law = Field(0.0, description="Damping of the side travel [N.s/m]")
    soil: Soil | None = Field(None, description="Soil under the foot")


class CylinderForce(Named):
    """Double-acting hydraulic cylinder of given pressures: pressure_a area_a - pressure_b area_b, less friction; positive extends it."""

    kind: Literal["cylinder"] = "cylinder"
    between: tuple[Point, Point] = Field(description="The two eyes")
    area_a: Number = Field(description="Piston area of the extending side [m2]")
    area_b: Number = Field(0.0, description="Piston area of the retracting side [m2]")
    pressure_a: Law = Field(0.0, description="Pressure of the extending side [Pa]")
    pressure_b: Law = Field(0.0, description="Pressure of the retracting side [Pa]")
    coulomb: Law = Field(0.0, description="Dry friction of the seals [N]")
    viscous: Law = Field(0.0, description="Viscous friction [N.s/m]")
    speed: Number = Field(1e-3, description="Speed over which dry friction changes its sign [m/s]")
    shortest: Number | None = Field(None, description="Length at the retracted end stop [m]")
    longest: Number | None = Field(None, description="Length at the extended end stop [m]")
    end_stiffness: Number = Field(1e8, description="Stiffness of the end stops [N/m]")
    end_damping: Number = Field(0.0, description="Damping of the end stops [N.s/m]")


KINDS: dict[str, type[Named]] = {
    "coordinate": CoordinateForce,
    "line": LineForce,
    "wrench": WrenchForce,
    "pair": PairForce,
    "stop": StopForce,
    "contact": ContactForce,
    "friction": FrictionForce,
    "rail": RailForce,
    "tyre": TyreForce,
    "jack": JackForce,
    "cylinder": CylinderForce,
}


def force_kind(value: Any) -> str | None:
    """The kind of a force table: written, or told by its keys."""
    if not isinstance(value, dict):
        return getattr(value, "kind", None)
    if "kind" in value:
        return value["kind"] if isinstance(value["kind"], str) else None
    keys = set(value)
    if "coordinate" in keys:
        if keys & {"lower", "upper", "sharpness"}:
            return "stop"
        return "friction" if keys & {"coulomb", "coulomb_negative", "viscous"} else "coordinate"
    if "between" in keys:
        if keys & {"area_a", "area_b", "pressure_a", "pressure_b"}:
            return "cylinder"
        if keys & {"clearance", "across", "begin", "end"}:
            return "rail"
        return "pair" if keys & {"force", "moment"} else "line"
    if "body" in keys:
        if keys & {"height", "radius", "normal", "friction", "soil", "stiffness"}:
            return "contact"
        return "wrench" if keys & {"force", "moment"} else None
    return None


def travels(label: str, force: Named) -> list[str]:
    """Names of the side travels of a force, which are states."""
    if getattr(force, "side_stiffness", 0.0) == 0.0:
        return []
    return [f"{label}.travel"] if isinstance(force, TyreForce) else [f"{label}.travel_1", f"{label}.travel_2"]


Force = Annotated[
    Annotated[CoordinateForce, Tag("coordinate")]
    | Annotated[LineForce, Tag("line")]
    | Annotated[WrenchForce, Tag("wrench")]
    | Annotated[PairForce, Tag("pair")]
    | Annotated[StopForce, Tag("stop")]
    | Annotated[ContactForce, Tag("contact")]
    | Annotated[FrictionForce, Tag("friction")]
    | Annotated[RailForce, Tag("rail")]
    | Annotated[TyreForce, Tag("tyre")]
    | Annotated[JackForce, Tag("jack")]
    | Annotated[CylinderForce, Tag("cylinder")],
    Discriminator(force_kind),
]
