"""The table [contacts.NAME]: rigid contacts with restitution and Coulomb friction, of points and spheres of bodies with planes and spheres."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kinetree.models.language.numbers_and_expressions import AXES, Axis, Number, Vector
from kinetree.models.language.parts.base_table import ORIGIN, Named, Part, at_station

OFFERED = (
    "force",
    "friction",
    "impulse",
    "state",
)  # NAME.gap is known before the accelerations, these after them


class Sphere(Part):
    """A sphere of a body, or a point."""

    body: str = Field(default="ground", description="The body, or ground")
    point: Vector = Field(default=ORIGIN, description="Its centre in the body frame [m]")
    station: Number | None = at_station()
    radius: Number = Field(default=0.0, description="Its radius; 0: a point [m]")


class Contact(Named):
    """A point or a sphere of a body touches a plane (`on`, `at`, `normal`) or a sphere (`against`): rigid, one-sided, with impacts."""

    body: str = Field(description="The touching body")
    point: Vector = Field(
        default=ORIGIN,
        description="The touching point, or the centre of the sphere, body frame [m]",
    )
    station: Number | None = at_station()
    radius: Number = Field(default=0.0, description="Radius of the sphere; 0: a point [m]")
    on: str = Field(default="ground", description="The body that has the plane, or ground")
    at: Vector = Field(default=ORIGIN, description="A point of the plane, in the frame of `on` [m]")
    normal: Axis = Field(
        default=AXES["z"],
        description="Normal of the plane, towards the touching body, in the frame of `on`",
    )
    against: Sphere | None = Field(
        default=None, description="The sphere that is touched instead of a plane"
    )
    restitution: Number = Field(default=0.0, description="Coefficient of restitution, 0 to 1 [1]")
    law: Literal["newton", "poisson", "energetic"] = Field(
        default="newton",
        description="Definition of restitution: ratio of speeds (newton), of impulses (poisson), or root of the ratio of energies (energetic)",
    )
    friction: Number = Field(
        default=0.0, description="Coefficient of friction, equal for sticking and sliding [1]"
    )
    rest_speed: Number = Field(
        default=1e-3,
        description="Approach speed below which the contact does not rebound and stays closed [m/s]",
    )


def contact_bodies(contact: Contact) -> set[str]:
    """Return the bodies that a contact names."""
    return {contact.body, contact.on if contact.against is None else contact.against.body}
