"""Laws along a coordinate or along the line between two points, shared by several kinds of forces."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from kinetree.models.expressions.internal_names import hidden
from kinetree.models.expressions.measurement_frames import Place
from kinetree.models.expressions.node_arithmetic import (
    E,
    choose,
    const,
    larger,
    name,
    smaller,
    tanh,
)
from kinetree.models.expressions.nodes import Lookup, Node
from kinetree.models.expressions.parse import parse
from kinetree.models.expressions.vectors import Vector, vector_of
from kinetree.models.forces.force_energy import Book, one_way
from kinetree.models.forces.force_schema import Elastic
from kinetree.models.language.basic_checks import Path
from kinetree.models.language.parts.base_table import Point
from kinetree.solvers import layout as L
from kinetree.solvers.sensors.kinds.points import DISTANCE, DISTANCE_RATE

if TYPE_CHECKING:
    from kinetree.models.checks.consistency_check import Checker
    from kinetree.models.compilation.structure_builder import Builder


def speed_of(builder: Builder, coordinate: str) -> tuple[int, E]:
    """Return index and value of a coordinate's speed; the index is -1 for a locked coordinate."""
    index = 0
    for joint in builder.topology.joint:
        form = builder.forms[joint]
        if coordinate in form.coordinates and not form.quaternion:
            return index + form.coordinates.index(coordinate), name(f"der({coordinate})")
        index += len(form.speeds)
    return -1, name(f"der({coordinate})")


def push(builder: Builder, index: int, value: int) -> None:
    """Apply a force along the speed with an index; a negative index stands for a locked coordinate,
    which takes none.
    """
    if index >= 0:
        builder.add_force(L.Force.COORDINATE, index, value)


def elastic(builder: Builder, key: str, force: Elastic, x: E, rate: E) -> tuple[E, E]:
    """Return value and potential of the law -(stiffness (x - length) + damping rate), with tables
    added.
    """
    if force.value is not None:
        return E(builder.node(force.value, f"{key}.value")), const(0.0)
    numbers = (
        (force.stiffness, "stiffness"),
        (force.damping, "damping"),
        (0.0 if force.length is None else force.length, "length"),
    )
    nodes = (builder.node(value, f"{key}.{name}") for value, name in numbers)
    return elastic_law(*nodes, x.node, rate.node, force.law, force.damping_law)


@lru_cache(maxsize=1024)
def elastic_law(
    stiffness: Node,
    damping: Node,
    length: Node,
    x: Node,
    rate: Node,
    law: str | None,
    damping_law: str | None,
) -> tuple[E, E]:
    """Return the law of `elastic` as nodes, cached so that the structures of a mechanism share it."""
    k, stretch = E(stiffness), E(x) - E(length)
    value = -(k * stretch + E(damping) * E(rate))
    if law is not None:
        value = value - E(Lookup(L.Op.TABLE1, law, (stretch.node,)))
    if damping_law is not None:
        value = value - E(Lookup(L.Op.TABLE1, damping_law, (rate,)))
    return value, 0.5 * k * stretch * stretch


def check_elastic(checker: Checker, path: Path, force: Elastic) -> None:
    """Report a force with both a value and a spring law, or neither."""
    extra = {"stiffness", "damping", "length", "law", "damping_law"} & force.model_fields_set
    if force.value is not None and extra:
        checker.complain(
            path, "value and " + ", ".join(sorted(extra)), "value alone, or the others"
        )
    if (
        force.value is None
        and not {"stiffness", "damping", "law", "damping_law"} & extra
        and path not in checker.incomplete
    ):
        checker.complain(path, "no law of the force", "value, stiffness, damping or law")


def define_force(builder: Builder, label: str, value: E, potential: E | None = None) -> int:
    """Name the value of a force element and store its potential; return the register of the value."""
    builder.define(f"force('{label}')", value.node)
    builder.potential_of[label] = const(0.0) if potential is None else potential
    if potential is not None and potential.node is not parse(0.0):
        builder.store(potential.node)
    return builder.register(name(f"force('{label}')").node)


def along(builder: Builder, label: str, x: E, rate: E, potential: E) -> None:
    """Define the energy account of a force along a coordinate."""
    builder.books[label] = Book(*one_way(name(f"force('{label}')"), x, rate, potential), potential)


def line_book(builder: Builder, label: str, between: tuple[Point, Point], potential: E) -> None:
    """Define the energy account of a force between two points, positive in repulsion."""
    value, length, rate = (
        name(f"force('{label}')"),
        name(hidden(label, "length")),
        name(hidden(label, "rate")),
    )
    first, second = (
        Place(builder, point.body, vector_of(builder, point.point, f"forces.{label}.between"))
        for point in between
    )

    def force() -> Vector:
        return first.position().minus(second.position()).times(value / length)

    builder.books[label] = Book(
        *one_way(value, length, rate, potential), potential, first.body, force
    )


def line_sensors(
    builder: Builder, label: str, between: tuple[Point, Point]
) -> tuple[tuple[int, int, int, int], E, E]:
    """Return the ends of a line, and its length and rate, measured as LABEL.length and LABEL.rate."""
    a, b = between
    ends = (
        builder.body[a.body],
        builder.vector(a.point),
        builder.body[b.body],
        builder.vector(b.point),
    )
    for key, kind in (("length", DISTANCE), ("rate", DISTANCE_RATE)):
        builder.add_sensor(hidden(label, key), kind, *ends)
        builder.offer(f"{label}.{key}", hidden(label, key))
    return ends, name(hidden(label, "length")), name(hidden(label, "rate"))


def rubbing(
    builder: Builder, coulomb: E, viscous: E, speed: E, rate: E, back: E | None = None
) -> E:
    """Return -(coulomb tanh(v/speed) + viscous v); `back` is the dry friction for negative speeds,
    if it differs.
    """
    dry = coulomb if back is None else choose(rate < 0.0, back, coulomb)
    return -(dry * tanh(rate / speed) + viscous * rate)


def one_sided(builder: Builder, what: str, depth: E, pressing: E) -> E:
    """Return the load of a damped one-sided law: `pressing` if both arguments are positive, else 0.

    The load jumps at touch, since a body that arrives with speed is damped at once. The jump is
    declared, with the register by which a host that has located the jump selects its side.
    """
    acting, side = smaller(depth, pressing), hidden("jump", f"side {len(builder.jumps) + 1}")
    builder.registers.add(side)
    builder.jumps.append((acting.node, what, side))
    return choose(acting > name(side), pressing, 0.0)


def end_stops(builder: Builder, force: Any, length: E, rate: E, value: E) -> tuple[E, E]:
    """Return force and potential energy of one-sided springs and dampers at the shortest and
    longest length.
    """
    k = E(builder.node(force.end_stiffness))
    c = E(builder.node(force.end_damping))
    potential = const(0.0)
    if force.shortest is not None:
        way = E(builder.node(force.shortest)) - length
        depth = larger(way, 0.0)
        value = value + stop_load(builder, force, way, depth, k * depth - c * rate)
        potential = potential + 0.5 * k * depth * depth
    if force.longest is not None:
        way = length - E(builder.node(force.longest))
        depth = larger(way, 0.0)
        value = value - stop_load(builder, force, way, depth, k * depth + c * rate)
        potential = potential + 0.5 * k * depth * depth
    return value, potential


def stop_load(builder: Builder, force: Any, way: E, depth: E, pressing: E) -> E:
    """Return the load of an end stop compressed by `depth`, the positive part of `way`."""
    if force.end_damping != 0.0:
        return one_sided(builder, "an end stop", way, pressing)
    return choose(depth > 0.0, larger(pressing, 0.0), 0.0)
