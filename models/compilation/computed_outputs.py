"""Quantities that are expressions over sensors: relative motion in any axes, totals of bodies, what force elements do."""

from __future__ import annotations

from kinetree.models.compilation.additions import stands
from kinetree.models.compilation.algebra import E, const, name
from kinetree.models.compilation.books import Book
from kinetree.models.compilation.builder import Builder
from kinetree.models.compilation.frames import GROUND_AXES, Place, Quaternion, cardan, relative, relative_quaternion, resolved, seen
from kinetree.models.compilation.group_outputs import Group
from kinetree.models.compilation.hidden import hidden, rate_of_state
from kinetree.models.compilation.space import NOWHERE, Vector, vector_of
from kinetree.models.description.value_parts import Output
from kinetree.solvers.sensors.kinds.forces import REACTION_FORCE, REACTION_MOMENT


def computed(builder: Builder, label: str, output: Output) -> Vector | Quaternion | E:
    """The value or the components of an output; vectors in the axes it asks for."""
    quantity = output.quantity or ""
    if quantity in ("orientation", "angles"):
        turn = relative_quaternion(reference(builder, label, output).quaternion(), Place(builder, output.body or "ground").quaternion())
        return cardan(turn) if quantity == "angles" else turn
    if output.force is not None or output.actuator is not None or quantity == "power":
        return of_force(builder, output)
    if output.body is not None:
        place = Place(builder, output.body, vector_of(builder, output.point, f"outputs.{label}.point"))
        return in_axes(builder, output, place, relative(quantity, place, reference(builder, label, output)))
    if output.joint is not None:
        return in_axes(builder, output, Place(builder, builder.description.joints[output.joint].child), reaction(builder, label, output))
    return of_group(builder, label, output)


def reference(builder: Builder, label: str, output: Output) -> Place:
    """The point from whose body a quantity is seen."""
    if output.reference is None:
        return Place(builder, "ground")
    return Place(builder, output.reference.body, vector_of(builder, output.reference.point, f"outputs.{label}.reference"))


def in_axes(builder: Builder, output: Output, measured: Place | None, vector: Vector) -> Vector:
    """A vector in ground axes brought to those the output asks for."""
    if output.frame == "body":
        return resolved(vector, measured.axes() if measured else GROUND_AXES)
    return resolved(vector, Place(builder, output.frame).axes())


def reaction(builder: Builder, label: str, output: Output) -> Vector:
    """Force or moment on the child of a joint in ground axes."""
    kind = REACTION_FORCE if output.part == "force" else REACTION_MOMENT
    i = builder.joint_body[output.joint or ""]
    turned = builder.topology.reversed[i - 1]
    child = builder.body[builder.description.joints[output.joint or ""].child] if turned else 0
    names = [f"{hidden(f'outputs.{label}', 'reaction')}[{k}]" for k in (1, 2, 3)]
    for axis, each in enumerate(names):
        builder.add_sensor(each, kind, i, b=child, point_b=int(turned), axis=axis)
    return Vector(*map(name, names))


def of_group(builder: Builder, label: str, output: Output) -> Vector | E:
    """Totals over bodies."""
    group, quantity = Group(builder, output.bodies), output.quantity
    if quantity == "mass":
        return group.mass()
    if quantity in ("centre_of_mass", "centre_velocity"):
        kind = "position" if quantity == "centre_of_mass" else "velocity"
        found = seen(kind, (group.centre, group.centre_velocity, lambda: NOWHERE), reference(builder, label, output))
    elif quantity == "momentum":
        found = group.momentum()
    elif output.about == "centre":
        found = group.angular_momentum_about_centre()
    else:
        found = group.angular_momentum(vector_of(builder, output.point, f"outputs.{label}.point"))
    return in_axes(builder, output, None, found)


def of_force(builder: Builder, output: Output) -> Vector | E:
    """What a force element, an actuator or the forces along the coordinates of a joint do."""
    if output.actuator is not None:
        there = stands(builder.description.actuators[output.actuator], builder.description)
        return name(hidden(output.actuator, "value")) * name(f"{output.actuator}.speed") if there else const(0.0)
    if output.joint is not None:
        return power_along(builder, builder.forms[output.joint].coordinates)
    label, quantity = output.force or "", output.quantity
    book: Book = builder.books[label]
    if quantity == "force" and output.axis is None:
        return name(f"force('{label}')")
    if quantity == "force" and book.force is not None:
        vector = book.moment() if output.part == "moment" else book.force()
        return in_axes(builder, output, place_of(builder, book.body), vector)
    if quantity == "power":
        return book.power()
    if quantity == "stored_energy":
        return book.stored
    if quantity == "clearance" and book.clearance is not None:
        return book.clearance
    return book.dissipation()


def place_of(builder: Builder, body: int) -> Place:
    """A body by its number."""
    return Place(builder, next(label for label, number in builder.body.items() if number == body))


def power_along(builder: Builder, coordinates: tuple[str, ...]) -> E:
    """Of all forces and actuators along given coordinates."""
    d = builder.description
    total = const(0.0)
    for label, force in d.forces.items():
        if getattr(force, "coordinate", None) in coordinates:
            total = total + builder.books[label].power()
    for label, actuator in d.actuators.items():
        if actuator.coordinate in coordinates:
            total = total + name(hidden(label, "value")) * name(f"{label}.speed")
    return total


def add_losses(builder: Builder) -> None:
    """Rates of the states that sum up what force elements dissipate."""
    for label, output in builder.description.outputs.items():
        if output.quantity == "dissipated_energy" and output.force in builder.books:
            builder.define(rate_of_state(label), builder.books[output.force or ""].dissipation().node)
