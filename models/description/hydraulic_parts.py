"""The hydraulic elements of the format: a circuit of places with a pressure and of elements with a flow between them.

Places are sources and volumes; a `path` leads from one place to another, and flow along it is positive. Pressures are absolute. A missing `kind` is
inferred from the keys that are there.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from kinetree.models.description.parts import Named, Point
from kinetree.models.description.quantities import Law, Number


class SourcePlace(Named):
    """A place of given pressure: a tank, or a supply whose pump and accumulator hold it."""

    kind: Literal["source"] = "source"
    pressure: Law = Field(description="Pressure [Pa]")


class VolumePlace(Named):
    """Oil in a hose, a block or a pipe: compliance dp/dt = flows in; cylinders and motors on it add their own oil and displacement."""

    kind: Literal["volume"] = "volume"
    volume: Number = Field(description="Volume without the stroke of cylinders [m3]")
    bulk_modulus: Number = Field(default=1.4e9, description="Bulk modulus of the oil without air [Pa]")
    air: Number = Field(default=0.0, description="Volume fraction of free air at atmospheric pressure [1]")
    wall: Number | None = Field(default=None, description="Modulus of the walls, volume dp/dV, as of a hose [Pa]; left out: rigid")
    start: Number = Field(default=1e5, description="Pressure at the start [Pa]")


class AccumulatorElement(Named):
    """Gas behind a bladder on a volume: gas p**exponent constant above the precharge."""

    kind: Literal["accumulator"] = "accumulator"
    at: str = Field(description="The volume it stands on")
    gas: Number = Field(description="Volume of the gas at the precharge [m3]")
    precharge: Number = Field(description="Pressure of the gas without oil [Pa]")
    exponent: Number = Field(default=1.2, description="Polytropic exponent: 1 slow, 1.4 fast [1]")


class Edge(Named):
    """The flow through an open edge: rated_flow sqrt(drop/rated_drop), proportional to the drop below `laminar`."""

    rated_flow: Number | None = Field(default=None, description="Flow fully open [m3/s] ...")
    rated_drop: Number = Field(default=35e5, description="... at this pressure drop over one edge [Pa]")
    laminar: Number = Field(default=1e5, description="Pressure drop below which the flow is laminar [Pa]")


class OrificeElement(Edge):
    """A throttle between two places, given by a rated flow or by its area."""

    kind: Literal["orifice"] = "orifice"
    path: tuple[str, str] = Field(description="From this place to that one")
    area: Number | None = Field(default=None, description="Area, instead of rated_flow [m2]")
    discharge: Number = Field(default=0.6, description="Coefficient of discharge of the area [1]")
    density: Number = Field(default=870.0, description="Density of the oil, for the area [kg/m3]")
    opening: Law = Field(default=1.0, description="Part that is open, 0 to 1 [1]")


class CheckElement(Edge):
    """A check or relief valve: gain (drop - opens) above the drop at which it opens, limited by `rated_flow` where given; never backwards."""

    kind: Literal["check"] = "check"
    path: tuple[str, str] = Field(description="From this place to that one")
    opens: Number = Field(default=0.0, description="Pressure drop at which it opens [Pa]")
    gain: Number = Field(default=1e-9, description="Flow per pressure drop above [m3/(s.Pa)]")


class PumpElement(Named):
    """A pump: a given flow, less its leakage, cut back where the outlet's pressure comes near the limit."""

    kind: Literal["pump"] = "pump"
    path: tuple[str, str] = Field(description="From this place, the tank, to that one")
    flow: Law = Field(description="Flow without back pressure [m3/s]")
    leakage: Number = Field(default=0.0, description="Flow lost per pressure difference [m3/(s.Pa)]")
    limit: Number | None = Field(default=None, description="Pressure of the outlet at which the flow is 0 [Pa]; left out: none")
    range: Number = Field(default=5e5, description="Pressure below the limit over which the flow is cut back [Pa]")


class ValveElement(Edge):
    """A four-way proportional valve; a positive spool lets supply oil to side a and drains side b."""

    kind: Literal["valve"] = "valve"
    supply: str = Field(description="Place of the supply")
    tank: str = Field(description="Place of the return")
    a: str = Field(description="Place on side a")
    b: str = Field(description="Place on side b")
    command: Law = Field(description="Wanted position of the spool, -1 to 1 [1]")
    overlap: Number = Field(default=0.0, description="Stroke before an edge opens, part of the whole; negative: underlap [1]")
    open_edges: Number = Field(default=0.0, description="Part of every edge that never closes [1]")
    time_constant: Number | None = Field(
        default=None, description="Of a spool of first order [s]; neither this nor frequency: the spool is the command"
    )
    rate: Number | None = Field(default=None, description="Largest speed of a spool of first order [1/s]")
    frequency: Number | None = Field(default=None, description="Of a spool of second order [Hz]")
    damping: Number = Field(default=0.7, description="Damping ratio of a spool of second order [1]")
    start: Number = Field(default=0.0, description="Spool at the start [1]")


class Displacing(Named):
    """What cylinders and motors share: two places, leakage between them, friction."""

    a: str = Field(description="Place whose pressure drives it forwards")
    b: str = Field(description="Place whose pressure drives it backwards")
    leakage: Number = Field(default=0.0, description="Flow from a to b per pressure difference [m3/(s.Pa)]")
    coulomb: Law = Field(default=0.0, description="Dry friction [N or N.m]")
    viscous: Law = Field(default=0.0, description="Viscous friction [N.s/m or N.m.s/rad]")
    speed: Number = Field(default=1e-3, description="Speed over which dry friction changes its sign [m/s or rad/s]")


class DoubleCylinder(Displacing):
    """A double-acting cylinder: its force is area_a p_a - area_b p_b, its stroke takes oil from both places.

    Between two bodies, or of a motion that is given: `length` and `rate`, such as inputs, where the mechanism is elsewhere.
    """

    kind: Literal["cylinder"] = "cylinder"
    between: tuple[Point, Point] | None = Field(default=None, description="The two eyes")
    length: Law | None = Field(default=None, description="Length, instead of between [m]")
    rate: Law | None = Field(default=None, description="Rate of that length [m/s]")
    area_a: Number = Field(description="Piston area of the extending side [m2]")
    area_b: Number = Field(description="Piston area of the retracting side [m2]")
    shortest: Number = Field(description="Length between the eyes when fully retracted [m]")
    longest: Number = Field(description="Length between the eyes when fully extended [m]")
    end_stiffness: Number = Field(default=1e8, description="Stiffness of the end stops [N/m]")
    end_damping: Number = Field(default=0.0, description="Damping of the end stops [N.s/m]")


class MotorElement(Displacing):
    """A hydraulic motor, with its gear, along a coordinate or of a given `rate`: its force is displacement (p_a - p_b)."""

    kind: Literal["motor"] = "motor"
    coordinate: str | None = Field(default=None, description="Coordinate driven")
    rate: Law | None = Field(default=None, description="Speed, instead of a coordinate [rad/s or m/s]")
    displacement: Number = Field(description="Oil per unit of the coordinate [m3/rad or m2]")


HYDRAULICS: dict[str, type[Named]] = {
    "source": SourcePlace,
    "volume": VolumePlace,
    "accumulator": AccumulatorElement,
    "orifice": OrificeElement,
    "check": CheckElement,
    "pump": PumpElement,
    "valve": ValveElement,
    "cylinder": DoubleCylinder,
    "motor": MotorElement,
}
TELLING = {
    "displacement": "motor",
    "between": "cylinder",
    "area_a": "cylinder",
    "command": "valve",
    "flow": "pump",
    "opens": "check",
    "gain": "check",
    "area": "orifice",
    "opening": "orifice",
    "precharge": "accumulator",
    "gas": "accumulator",
    "volume": "volume",
    "pressure": "source",
    "path": "orifice",
}  # a key that only one kind has, the clearest first


def hydraulic_kind(value: Any) -> str | None:
    """The kind of an element's table: written, or told by its keys."""
    if not isinstance(value, dict):
        return getattr(value, "kind", None)
    if "kind" in value:
        return value["kind"] if isinstance(value["kind"], str) else None
    return next((kind for key, kind in TELLING.items() if key in value), None)


Hydraulic = Annotated[
    Annotated[SourcePlace, Tag("source")]
    | Annotated[VolumePlace, Tag("volume")]
    | Annotated[AccumulatorElement, Tag("accumulator")]
    | Annotated[OrificeElement, Tag("orifice")]
    | Annotated[CheckElement, Tag("check")]
    | Annotated[PumpElement, Tag("pump")]
    | Annotated[ValveElement, Tag("valve")]
    | Annotated[DoubleCylinder, Tag("cylinder")]
    | Annotated[MotorElement, Tag("motor")],
    Discriminator(hydraulic_kind),
]
