"""The quantities an output can measure, one declaration each: unit, number of components, what must be named, and what else may be."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class QuantityKind:
    """`needs`: one of these keys must be given (none: nothing); `takes`: further keys that mean something; `text` for the documentation."""

    unit: str
    text: str
    components: int = 1
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()


PLACED = ("point", "frame", "reference")
GROUP = ("bodies", "frame")
ABOUT = (*GROUP, "point", "about")

QUANTITIES: dict[str, QuantityKind] = {
    "position": QuantityKind("m", "of a point of a body", 3, ("body",), PLACED),
    "velocity": QuantityKind("m/s", "of a point of a body", 3, ("body",), PLACED),
    "acceleration": QuantityKind("m/s2", "of a point of a body", 3, ("body",), PLACED),
    "orientation": QuantityKind("1", "of a body, as unit quaternion w, x, y, z", 4, ("body",), ("reference",)),
    "angles": QuantityKind("rad", "of a body: successive turns about its x, y and z axis that lead to its axes", 3, ("body",), ("reference",)),
    "angular_velocity": QuantityKind("rad/s", "of a body", 3, ("body",), ("frame", "reference")),
    "angular_acceleration": QuantityKind("rad/s2", "of a body", 3, ("body",), ("frame", "reference")),
    "distance": QuantityKind("m", "of two points", 1, ("between",)),
    "distance_rate": QuantityKind("m/s", "of two points", 1, ("between",)),
    "reaction": QuantityKind("N", "force or moment that a joint transmits to its child, about the child's origin", 3, ("joint",), ("part", "frame")),
    "force": QuantityKind("N", "value of a law; with `axis` a component of what acts on the (first) body", 1, ("force",), ("part", "frame")),
    "power": QuantityKind("W", "brought in by a force element, an actuator, or the forces along a joint", 1, ("force", "actuator", "joint")),
    "stored_energy": QuantityKind("J", "of a force element", 1, ("force",)),
    "dissipation": QuantityKind("W", "power that a force element takes and does not store", 1, ("force",)),
    "dissipated_energy": QuantityKind("J", "integral of the dissipation over the run", 1, ("force",)),
    "clearance": QuantityKind("m", "gap of a contact, tyre, jack or rail, below 0 where it is pressed in", 1, ("force",)),
    "mass": QuantityKind("kg", "of all bodies, or of those in `bodies` that are there", 1, (), ("bodies",)),
    "centre_of_mass": QuantityKind("m", "position, of all bodies or of some", 3, (), (*GROUP, "reference")),
    "centre_velocity": QuantityKind("m/s", "velocity of the centre of mass, of all bodies or of some", 3, (), (*GROUP, "reference")),
    "momentum": QuantityKind("kg.m/s", "of all bodies or of some", 3, (), GROUP),
    "angular_momentum": QuantityKind("kg.m2/s", "of all bodies or of some, about a fixed `point` or their centre of mass", 3, (), ABOUT),
    "energy": QuantityKind("J", "kinetic and potential, of the whole"),
    "kinetic_energy": QuantityKind("J", "of the whole"),
    "potential_energy": QuantityKind("J", "of weight, springs and contacts, of the whole"),
}  # fmt: skip
CHOICES = ("body", "between", "joint", "force", "actuator", "bodies", "reference")  # keys that name something
AXES_OF = {1: (), 3: ("x", "y", "z", "norm"), 4: ("w", "x", "y", "z")}
