"""Force elements whose law is a register program: along a coordinate, along a line, wrenches, limit stops, friction, cylinders."""

from __future__ import annotations

from kinetree.models.compilation.algebra import E, choose, const, exp, larger, name, root, smaller, tanh
from kinetree.models.compilation.books import Book, one_way
from kinetree.models.compilation.builder import Builder
from kinetree.models.compilation.frames import Place, composed
from kinetree.models.compilation.hidden import hidden
from kinetree.models.compilation.space import Vector, vector_of
from kinetree.models.description.force_parts import (
    CoordinateForce,
    CylinderForce,
    Elastic,
    FrictionForce,
    LineForce,
    PairForce,
    StopForce,
    WrenchForce,
)
from kinetree.models.description.parts import Point
from kinetree.models.expressions.nodes import Lookup
from kinetree.models.expressions.text import parse
from kinetree.solvers import layout as L


def speed_of(builder: Builder, coordinate: str) -> tuple[int, E]:
    """Index of the speed that is a coordinate's derivative, and its value; -1 for a locked coordinate."""
    index = 0
    for joint in builder.topology.joint:
        form = builder.forms[joint]
        if coordinate in form.coordinates and not form.quaternion:
            return index + form.coordinates.index(coordinate), name(f"der({coordinate})")
        index += len(form.speeds)
    return -1, name(f"der({coordinate})")


def push(builder: Builder, index: int, value: int) -> None:
    """A force along a coordinate; a locked one does not feel it."""
    if index >= 0:
        builder.add_force(L.Force.COORDINATE, index, value)


def elastic(builder: Builder, key: str, force: Elastic, x: E, rate: E) -> tuple[E, E]:
    """Value and potential of the law -(stiffness (x - length) + damping rate), tables added."""
    if force.value is not None:
        return E(builder.node(force.value, f"{key}.value")), const(0.0)
    k = E(builder.node(force.stiffness, f"{key}.stiffness"))
    c = E(builder.node(force.damping, f"{key}.damping"))
    stretch = x - E(builder.node(0.0 if force.length is None else force.length, f"{key}.length"))
    value = -(k * stretch + c * rate)
    if force.law is not None:
        value = value - E(Lookup(L.Op.TABLE1, force.law, (stretch.node,)))
    if force.damping_law is not None:
        value = value - E(Lookup(L.Op.TABLE1, force.damping_law, (rate.node,)))
    return value, 0.5 * k * stretch * stretch


def define_force(builder: Builder, label: str, value: E, potential: E | None = None) -> int:
    """Name the value of a force element, keep its potential; returns the register of the value."""
    builder.define(f"force('{label}')", value.node)
    builder.potential_of[label] = const(0.0) if potential is None else potential
    if potential is not None and potential.node is not parse(0.0):
        builder.potentials.append(builder.register(potential.node))
    return builder.register(name(f"force('{label}')").node)


def along(builder: Builder, label: str, x: E, rate: E, potential: E) -> None:
    """What outputs can be told about a force along a coordinate."""
    builder.books[label] = Book(*one_way(name(f"force('{label}')"), x, rate, potential), potential)


def line_book(builder: Builder, label: str, between: tuple[Point, Point], potential: E) -> None:
    """What outputs can be told about a force between two points; positive values push its first body away from the second."""
    value, length, rate = name(f"force('{label}')"), name(hidden(label, "length")), name(hidden(label, "rate"))
    first, second = (Place(builder, point.body, vector_of(builder, point.point, f"forces.{label}.between")) for point in between)

    def force() -> Vector:
        return first.position().minus(second.position()).times(value / length)

    builder.books[label] = Book(*one_way(value, length, rate, potential), potential, first.body, force)


def add_coordinate(builder: Builder, label: str, force: CoordinateForce) -> None:
    """Spring, damper or given force along a coordinate."""
    index, rate = speed_of(builder, force.coordinate)
    value, potential = elastic(builder, f"forces.{label}", force, name(force.coordinate), rate)
    push(builder, index, define_force(builder, label, value, potential))
    along(builder, label, name(force.coordinate), rate, potential)


def line_sensors(builder: Builder, label: str, between: tuple[Point, Point]) -> tuple[tuple[int, int, int, int], E, E]:
    """Ends of a line, and its measured length and rate as LABEL.length and LABEL.rate."""
    a, b = between
    ends = (builder.body[a.body], builder.vector(a.point), builder.body[b.body], builder.vector(b.point))
    for key, kind in (("length", L.Sensor.DISTANCE), ("rate", L.Sensor.DISTANCE_RATE)):
        builder.add_sensor(hidden(label, key), kind, *ends)
        builder.offer(f"{label}.{key}", hidden(label, key))
    return ends, name(hidden(label, "length")), name(hidden(label, "rate"))


def add_line(builder: Builder, label: str, force: LineForce) -> None:
    """Spring, damper or given force between two points; a rope never pushes, a buffer never pulls."""
    ends, length, rate = line_sensors(builder, label, force.between)
    value, potential = elastic(builder, f"forces.{label}", force, length, rate)
    if force.tension_only or force.compression_only:
        stretch = length - E(builder.node(0.0 if force.length is None else force.length))
        slack = stretch < 0.0 if force.tension_only else stretch > 0.0
        value = choose(slack, 0.0, smaller(value, 0.0) if force.tension_only else larger(value, 0.0))
        potential = choose(slack, 0.0, potential)
    builder.add_force(L.Force.LINE, *ends, define_force(builder, label, value, potential))
    line_book(builder, label, force.between, potential)


def wrench_book(builder: Builder, label: str, law: WrenchForce | PairForce, at: Point, other: str | None) -> None:
    """What outputs can be told about a force and a moment on a body, and their opposites on another one at the same place."""
    key, place = f"forces.{label}", Place(builder, at.body, vector_of(builder, at.point, f"forces.{label}.point"))

    def turned(values: tuple) -> Vector:
        given = vector_of(builder, values, key)
        return composed(place.axes(), given) if law.frame == "body" else given

    def speeds() -> tuple[Vector, Vector]:
        if other is None:
            return place.velocity(), place.spin()
        carried = Place(builder, other)
        arm = place.position().minus(carried.position())
        return place.velocity().minus(carried.velocity()).minus(carried.spin().cross(arm)), place.spin().minus(carried.spin())

    def force() -> Vector:
        return turned(law.force)

    def moment() -> Vector:
        return turned(law.moment)

    def power() -> E:
        speed, spin = speeds()
        return force().dot(speed) + moment().dot(spin)

    builder.books[label] = Book(power, lambda: -power(), const(0.0), place.body, force, moment)


def norm(builder: Builder, vector: tuple) -> E:
    """Length of a vector of laws."""
    x, y, z = (E(builder.node(part)) for part in vector)
    return root(x * x + y * y + z * z)


def add_wrench(builder: Builder, label: str, force: WrenchForce) -> None:
    """Force and moment from outside."""
    define_force(builder, label, norm(builder, force.force))
    frame = int(force.frame == "body")
    arguments = (builder.body[force.body], builder.vector(force.point), builder.vector(force.force), builder.vector(force.moment), frame)
    builder.add_force(L.Force.WRENCH, *arguments)
    wrench_book(builder, label, force, Point(body=force.body, point=force.point), None)


def add_pair(builder: Builder, label: str, force: PairForce) -> None:
    """Force and moment on the first body, the opposite on the second."""
    define_force(builder, label, norm(builder, force.force))
    a, b = force.between
    frame = int(force.frame == "body")
    arguments = (
        builder.body[a.body],
        builder.vector(a.point),
        builder.body[b.body],
        builder.vector(force.force),
        builder.vector(force.moment),
        frame,
    )
    builder.add_force(L.Force.PAIR, *arguments)
    wrench_book(builder, label, force, a, b.body)


def add_stop(builder: Builder, label: str, force: StopForce) -> None:
    """Exponential limit stops (theory of unilateral joints): push back near a bound, never pull."""
    index, rate = speed_of(builder, force.coordinate)
    x = name(force.coordinate)
    k, mu, a = (E(builder.node(v, f"forces.{label}")) for v in (force.stiffness, force.damping, force.sharpness))
    value = const(0.0)
    potential = const(0.0)
    if force.lower is not None:
        near = exp(-(a * (x - E(builder.node(force.lower)))))
        value = value + larger((k - mu * rate) * near, 0.0)
        potential = potential + k / a * near
    if force.upper is not None:
        near = exp(a * (x - E(builder.node(force.upper))))
        value = value - larger((k + mu * rate) * near, 0.0)
        potential = potential + k / a * near
    push(builder, index, define_force(builder, label, value, potential))
    along(builder, label, x, rate, potential)


def rubbing(builder: Builder, coulomb: E, viscous: E, speed: E, rate: E, back: E | None = None) -> E:
    """-(coulomb tanh(v/speed) + viscous v), with another dry friction backwards if given."""
    dry = coulomb if back is None else choose(rate < 0.0, back, coulomb)
    return -(dry * tanh(rate / speed) + viscous * rate)


def add_friction(builder: Builder, label: str, force: FrictionForce) -> None:
    """Dry and viscous friction along a coordinate."""
    index, rate = speed_of(builder, force.coordinate)
    back = None if force.coulomb_negative is None else E(builder.node(force.coulomb_negative))
    coulomb, viscous, speed = (E(builder.node(v, f"forces.{label}")) for v in (force.coulomb, force.viscous, force.speed))
    push(builder, index, define_force(builder, label, rubbing(builder, coulomb, viscous, speed, rate, back)))
    along(builder, label, name(force.coordinate), rate, const(0.0))


def add_cylinder(builder: Builder, label: str, force: CylinderForce) -> None:
    """Double-acting cylinder of given pressures, with seal friction and end stops."""
    ends, length, rate = line_sensors(builder, label, force.between)
    part = {
        k: E(builder.node(getattr(force, k), f"forces.{label}.{k}")) for k in ("area_a", "area_b", "pressure_a", "pressure_b", "coulomb", "viscous")
    }
    value = part["pressure_a"] * part["area_a"] - part["pressure_b"] * part["area_b"]
    value = value + rubbing(builder, part["coulomb"], part["viscous"], E(builder.node(force.speed)), rate)
    value, potential = end_stops(builder, force, length, rate, value)
    builder.add_force(L.Force.LINE, *ends, define_force(builder, label, value, potential))
    line_book(builder, label, force.between, potential)


def end_stops(builder: Builder, force, length: E, rate: E, value: E) -> tuple[E, E]:
    """One-sided springs and dampers at the shortest and the longest length."""
    k = E(builder.node(force.end_stiffness))
    c = E(builder.node(force.end_damping))
    potential = const(0.0)
    if force.shortest is not None:
        depth = larger(E(builder.node(force.shortest)) - length, 0.0)
        value = value + choose(depth > 0.0, larger(k * depth - c * rate, 0.0), 0.0)
        potential = potential + 0.5 * k * depth * depth
    if force.longest is not None:
        depth = larger(length - E(builder.node(force.longest)), 0.0)
        value = value - choose(depth > 0.0, larger(k * depth + c * rate, 0.0), 0.0)
        potential = potential + 0.5 * k * depth * depth
    return value, potential


LOWER = {
    "coordinate": add_coordinate,
    "line": add_line,
    "wrench": add_wrench,
    "pair": add_pair,
    "stop": add_stop,
    "friction": add_friction,
    "cylinder": add_cylinder,
}
