"""Measured quantities of force elements and actuators: value, power, energy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinetree.models.expressions.internal_names import hidden
from kinetree.models.expressions.measurement_frames import Place
from kinetree.models.expressions.node_arithmetic import E, const, name
from kinetree.models.expressions.vectors import Vector
from kinetree.models.quantities.measurement_frame import in_axes
from kinetree.models.quantities.quantity_kind import QuantityKind

if TYPE_CHECKING:
    from kinetree.models.compilation.structure_builder import Builder
    from kinetree.models.description.output_parts import Output
    from kinetree.models.forces.force_energy import Book


def value(builder: Builder, label: str, output: Output) -> Vector | E:
    """Return the scalar value of a force law, or the force component on the first body."""
    book = book_of(builder, output)
    if output.axis is None:
        return name(f"force('{output.force}')")
    assert book.force is not None  # the checks leave components to those that have some
    return in_axes(
        builder,
        output,
        place_of(builder, book.body),
        book.moment() if output.part == "moment" else book.force(),
    )


def book_of(builder: Builder, output: Output) -> Book:
    return builder.books[output.force or ""]


def place_of(builder: Builder, body: int) -> Place:
    """Return the origin of a body, given its number, as a measured point."""
    return Place(builder, next(label for label, number in builder.body.items() if number == body))


def power(builder: Builder, label: str, output: Output) -> E:
    """Return the power [W] of a force element, an actuator, or all forces along a joint's
    coordinates.
    """
    from kinetree.models.compilation.element_states import stands

    if output.actuator is not None:
        there = stands(builder.description.actuators[output.actuator], builder.description)
        return (
            name(hidden(output.actuator, "value")) * name(f"{output.actuator}.speed")
            if there
            else const(0.0)
        )
    return (
        power_along(builder, builder.forms[output.joint].coordinates)
        if output.joint is not None
        else book_of(builder, output).power()
    )


def power_along(builder: Builder, coordinates: tuple[str, ...]) -> E:
    """Return the power of all forces and actuators along given coordinates."""
    d = builder.description
    total = const(0.0)
    for label, force in d.forces.items():
        if getattr(force, "coordinate", None) in coordinates:
            total = total + builder.books[label].power()
    for label, actuator in d.actuators.items():
        if actuator.coordinate in coordinates:
            total = total + name(hidden(label, "value")) * name(f"{label}.speed")
    return total


def stored_energy(builder: Builder, label: str, output: Output) -> E:
    return book_of(builder, output).stored


def dissipation(builder: Builder, label: str, output: Output) -> E:
    return book_of(builder, output).dissipation()


def clearance(builder: Builder, label: str, output: Output) -> E:
    gap = book_of(builder, output).clearance
    assert gap is not None
    return gap


FORCE = ("force",)
VALUE = "value of a law; with `axis` a component of what acts on the (first) body"
POWER = "brought in by a force element, an actuator, or the forces along a joint"
GAP = "gap of a contact, tyre, jack or rail, below 0 where it is pressed in"
QUANTITIES = (
    QuantityKind(
        "force", "N", VALUE, 1, FORCE, ("part", "frame"), value, vector=True, moment=True, rank=11
    ),
    QuantityKind("power", "W", POWER, 1, ("force", "actuator", "joint"), computed=power, rank=12),
    QuantityKind(
        "stored_energy", "J", "of a force element", 1, FORCE, computed=stored_energy, rank=13
    ),
    QuantityKind(
        "dissipation",
        "W",
        "power that a force element takes and does not store",
        1,
        FORCE,
        computed=dissipation,
        rank=14,
    ),
    QuantityKind(
        "dissipated_energy",
        "J",
        "integral of the dissipation over the run",
        1,
        FORCE,
        computed=dissipation,
        state=True,
        rank=15,
    ),
    QuantityKind("clearance", "m", GAP, 1, FORCE, computed=clearance, rank=16),
)
