"""Contacts of a description as constraint rows: the gap, and with friction the slip along two
directions of the tangent plane; guards and outputs.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kinetree.models.compilation.couplings import (
    Arm,
    constraint_row,
    direction_of,
    place_of,
    slip,
    velocity_of,
)
from kinetree.models.compilation.structure_builder import NONE, Builder
from kinetree.models.expressions.internal_names import hidden
from kinetree.models.expressions.node_arithmetic import E, root
from kinetree.models.expressions.registers import STATE
from kinetree.models.expressions.vectors import Vector, vector_of
from kinetree.models.forces.outlines import plane_axes
from kinetree.models.language.parts.contact_parts import OFFERED, Contact, contact_bodies
from kinetree.solvers import layout as L
from kinetree.solvers.model_records import ARM
from kinetree.solvers.sensors.kinds.forces import CONTACT

LAWS = {
    "newton": L.Restitution.NEWTON,
    "poisson": L.Restitution.POISSON,
    "energetic": L.Restitution.ENERGETIC,
}


@dataclass
class Contacts:
    """All contacts of one structure, collected in lists that become integer arrays."""

    names: list[str] = field(default_factory=list)
    c_row: list[int] = field(default_factory=lambda: [0])
    c_law: list[int] = field(default_factory=list)
    c_number: list[int] = field(default_factory=list)
    c_guard: list[int] = field(default_factory=list)
    c_value: list[int] = field(default_factory=list)
    arms: list[tuple[Arm, ...]] = field(default_factory=list)  # per row

    def arrays(self, present: np.ndarray) -> dict[str, np.ndarray]:
        """Return the integer arrays of all contacts by field name; `present` are the arms of
        couplings, which precede them.
        """
        first = present.size // ARM.size
        ends = np.cumsum([0, *(len(arms) for arms in self.arms)], dtype=np.int64)
        found = {
            key: np.array(getattr(self, key), dtype=np.int64)
            for key in ("c_row", "c_law", "c_number", "c_guard", "c_value")
        }
        records = [(NONE, *arm) for arms in self.arms for arm in arms]
        return found | {
            "c_arm_at": first + ends,
            "l_arm": np.concatenate([present, np.array(records, dtype=np.int64).reshape(-1)]),
        }


def add_contacts(builder: Builder) -> None:
    """Add rows, registers and outputs of all contacts, after the couplings."""
    for label, contact in builder.description.contacts.items():
        if contact_bodies(contact) <= builder.body.keys():  # others are gone in a later structure
            add_contact(builder, label, contact)


def add_contact(builder: Builder, label: str, contact: Contact) -> None:
    key, found = f"contacts.{label}", builder.contacts
    number = len(found.names)
    found.names.append(label)
    gap, sides = touching(builder, contact, key)
    builder.define(hidden(label, "gap"), gap.node)
    builder.offer(f"{label}.gap", hidden(label, "gap"))
    for row in (gap, *sides):
        made = constraint_row(builder, key, row.node)
        assert made is not None and not made.slopes
        found.c_value.append(made.first)
        found.arms.append(made.arms)
    found.c_row.append(len(found.c_value))
    found.c_law.append(int(LAWS[contact.law]))
    found.c_number += [
        builder.register(getattr(contact, each), f"{key}.{each}")
        for each in ("restitution", "friction", "rest_speed")
    ]
    for axis, each in enumerate(OFFERED):
        builder.add_sensor(hidden(label, each), CONTACT, number, axis=axis)
        builder.offer(f"{label}.{each}", hidden(label, each))
    guards = [
        builder.registers.add(hidden(label, f"{each} guard"), -1.0, STATE)
        for each in ("normal", "slip")[: 1 + bool(sides)]
    ]
    found.c_guard += [*guards, NONE][:2]


def touching(builder: Builder, contact: Contact, key: str) -> tuple[E, list[E]]:
    """Return the gap of a contact and, with friction, the slip speeds along two tangential
    directions.
    """
    point, radius = (
        vector_of(builder, contact.point, f"{key}.point"),
        E(builder.node(contact.radius, f"{key}.radius")),
    )
    centre = place_of(builder, contact.body, point)
    if contact.against is None:
        normal = vector_of(builder, contact.normal, f"{key}.normal").unit()
        n, tangents = (
            direction_of(builder, contact.on, normal),
            [direction_of(builder, contact.on, each) for each in plane_axes(normal)],
        )
        gap = (
            n.dot(
                centre.minus(
                    place_of(builder, contact.on, vector_of(builder, contact.at, f"{key}.at"))
                )
            )
            - radius
        )
        speed = slip(builder, contact.body, point, n.times(-radius), contact.on)
    else:
        other, reach = (
            contact.against,
            E(builder.node(contact.against.radius, f"{key}.against.radius")),
        )
        own = vector_of(builder, other.point, f"{key}.against.point")
        away = centre.minus(place_of(builder, other.body, own))
        distance = root(away.dot(away))
        n = Vector(*(part / distance for part in away))
        tangents, gap = list(plane_axes(n)), distance - radius - reach
        speed = velocity_of(builder, contact.body, point, n.times(-radius)).minus(
            velocity_of(builder, other.body, own, n.times(reach))
        )
    return gap, [] if contact.friction == 0.0 else [speed.dot(each) for each in tangents]


def add_contact_guards(builder: Builder) -> None:
    """Add the guards of all contacts after those of events; their order is the same in all
    structures.
    """
    numbers = {
        label: len(builder.description.events) + 2 * k
        for k, label in enumerate(builder.description.contacts)
    }
    found = builder.contacts
    for k, label in enumerate(found.names):
        for which, text in enumerate((f"contact '{label}'", f"slip of contact '{label}'")):
            register = found.c_guard[2 * k + which]
            if register != NONE:
                builder.guard_names.append(text)
                builder.guards.append(
                    (register, int(L.Guard.CONTACT), k, which, numbers[label] + which)
                )
