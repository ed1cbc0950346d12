"""Couplings of a description as constraint rows: expressions, distances, blades, rolling bodies;
`coupling_rates` derives their rates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kinetree.models.compilation.coupling_rates import ALLOWED, Leaves, problem
from kinetree.models.compilation.joint_locking import can_lock
from kinetree.models.compilation.outputs import add_magnitudes, add_rates
from kinetree.models.compilation.structure_builder import Builder
from kinetree.models.description.joints import joint_elements
from kinetree.models.expressions.differentiate import differentiate
from kinetree.models.expressions.node_arithmetic import E, root
from kinetree.models.expressions.nodes import ONE, ZERO, Node, leaves
from kinetree.models.expressions.parse import ExpressionError
from kinetree.models.expressions.registers import STATE
from kinetree.models.expressions.simplify import substitute
from kinetree.models.expressions.vectors import NOWHERE, Vector, vector_of
from kinetree.models.graph.tree import path_set
from kinetree.models.joints.elements import perpendiculars
from kinetree.models.language.parts.coupling_parts import Blade, Coupling, Rolling, rows_of
from kinetree.models.language.parts.input_motion_parts import amount_of
from kinetree.solvers import layout as L

Arm = tuple[
    int, int, int, int
]  # body, register of the point, of the derivatives by its velocity, of those by the body's spin


@dataclass
class Row:
    """One constraint equation of a coupling."""

    name: str
    number: int
    level: int
    first: int  # of the registers value, rate, rest of the second derivative
    slopes: tuple[tuple[int, int], ...]  # speed and register of the partial derivative
    arms: tuple[Arm, ...]


def add_places(builder: Builder) -> None:
    """Define NAME[1..3] of couplings that follow a point, and the names of the forces of all rows."""
    builder.leaves = Leaves(builder)
    for label, coupling in builder.description.couplings.items():
        for row in rows_of(label, coupling):
            builder.coupling_rows[row] = len(builder.coupling_rows)
        if coupling.point is not None:
            key = f"couplings.{label}.point"
            place = place_of(
                builder,
                coupling.point.body,
                vector_of(builder, coupling.point.point, f"{key}.point"),
            )
            on = builder.body[coupling.on]
            away = place.minus(place_of(builder, coupling.on, NOWHERE))
            for k in range(3):
                builder.define(
                    f"{label}[{k + 1}]",
                    (away.dot(builder.leaves.axis(on, k)) if on else place[k]).node,
                )


def coupling_rows(builder: Builder) -> list[Row]:
    """Return all constraint rows; in later structures, couplings of removed or locked coordinates
    are dropped.
    """
    found = []
    for label, coupling in builder.description.couplings.items():
        if held_together(builder, label, coupling):
            continue
        for row, value in relations(builder, label, coupling):
            try:
                found += coupling_row(
                    builder,
                    f"couplings.{label}",
                    row,
                    followed(builder, f"couplings.{label}", coupling, value),
                )
            except ExpressionError:
                if not builder.later:
                    raise
    return found


def held_together(builder: Builder, label: str, coupling: Coupling) -> bool:
    """Return whether rigid or locked joints already fix the two bodies of a coupling to each other
    in a later structure (in the first one this is an error); its rows would be nothing but
    rounding.
    """
    ends = bodies_of(coupling)
    if ends is None:
        return False
    first, second = (set(path_set(builder.topology.parent, builder.body[end])) for end in ends)
    if any(moves(builder, k - 1) for k in first ^ second):
        return False
    if not builder.later:
        text = f"'{ends[0]}' and '{ends[1]}', which joints hold together"
        raise problem(builder, f"couplings.{label}")(text, "two bodies that move otherwise")
    return True


def bodies_of(coupling: Coupling) -> tuple[str, str] | None:
    """Return the two bodies whose relative motion a coupling constrains; None for expressions."""
    if coupling.between is not None:
        return coupling.between[0].body, coupling.between[1].body
    part = coupling.blade or coupling.rolling
    return None if part is None else (part.body, part.on)


def moves(builder: Builder, k: int) -> bool:
    """Return whether the tree joint of body k + 1 moves, prescribed motions included."""
    joint = builder.topology.joint[k]
    elements = joint_elements(builder.description.joints[joint], joint).elements
    return any(
        not element.kind.constant and not (joint in builder.locked and can_lock(element))
        for element in elements
    )


def relations(builder: Builder, label: str, coupling: Coupling) -> Iterator[tuple[str, Node]]:
    """Yield names and left-hand sides of the equations of a coupling."""
    key = f"couplings.{label}"
    if coupling.blade is not None:
        yield label, blade(builder, coupling.blade, f"{key}.blade").node
    elif coupling.rolling is not None:
        yield from zip(
            rows_of(label, coupling),
            (each.node for each in rolling(builder, coupling.rolling, f"{key}.rolling")),
            strict=True,
        )
    elif coupling.between is not None:
        a, b = (
            place_of(builder, end.body, vector_of(builder, end.point, f"{key}.between"))
            for end in coupling.between
        )
        away = b.minus(a)
        yield (
            label,
            (root(away.dot(away)) - E(builder.node(coupling.length or 0.0, f"{key}.length"))).node,
        )
    else:
        yield label, builder.node(coupling.value or 0.0, f"{key}.value")


def followed(builder: Builder, key: str, coupling: Coupling, value: Node) -> Node:
    """Return a relation with the inputs that it follows replaced by inputs with derivatives, or by
    reference filters.
    """
    if not coupling.follow:
        return value
    amounts = {each.input: builder.registers.expand(amount_of(each)) for each in coupling.follow}
    value, complain = builder.leaves.reduce(value), problem(builder, f"{key}.follow")
    absent = next(
        (name for name in amounts if not any(leaf.key == name for leaf in leaves(value))), None
    )
    if absent is not None:
        raise complain(f"'{absent}'", "an input that the relation contains")
    if not builder.leaves.moves(value) and any(
        each.bandwidth is None and each.acceleration is None for each in coupling.follow
    ):
        raise complain(
            "without acceleration",
            "rate and acceleration, or bandwidth, in a relation of positions",
        )
    return substitute(value, lambda leaf: amounts.get(leaf.key))


# -- geometry -----------------------------------------------------------------------------------------------------------------------------
def point_register(builder: Builder, point: Vector) -> int:
    return builder.vector(part.node for part in point)


def place_of(builder: Builder, body: str, point: Vector) -> Vector:
    """Return the position of a point of a body in ground axes."""
    return (
        builder.leaves.place(builder.body[body], point_register(builder, point))
        if builder.body[body]
        else point
    )


def direction_of(builder: Builder, body: str, axis: Vector) -> Vector:
    """Return a unit vector of a body in ground axes."""
    axis = axis.unit()
    return (
        place_of(builder, body, axis).minus(place_of(builder, body, NOWHERE))
        if builder.body[body]
        else axis
    )


def velocity_of(builder: Builder, body: str, point: Vector, away: Vector) -> Vector:
    """Return the velocity of the body's material at a position `away` (ground axes) from one of its
    points.
    """
    i = builder.body[body]
    return (
        builder.leaves.velocity(i, point_register(builder, point)).plus(
            builder.leaves.spin(i).cross(away)
        )
        if i
        else NOWHERE
    )


def slip(builder: Builder, body: str, point: Vector, away: Vector, on: str) -> Vector:
    """Return the velocity of a body, at an offset from its point, relative to the body that it
    moves on.
    """
    here = place_of(builder, body, point).plus(away)
    under = velocity_of(builder, on, NOWHERE, here.minus(place_of(builder, on, NOWHERE)))
    return velocity_of(builder, body, point, away).minus(under)


def blade(builder: Builder, given: Blade, key: str) -> E:
    """Return the velocity across a blade (its nonholonomic constraint)."""
    point, normal = (
        vector_of(builder, given.point, f"{key}.point"),
        vector_of(builder, given.normal, f"{key}.normal"),
    )
    return slip(builder, given.body, point, NOWHERE, given.on).dot(
        direction_of(builder, given.body, normal)
    )


def rolling(builder: Builder, given: Rolling, key: str) -> tuple[E, E, E]:
    """Return, for a rolling body, the height of its lowest point above the plane, and the slip of
    that point along two directions of the plane.

    The lowest point of a convex body is r = -∂h/∂n of its support function h(n): radius of a
    sphere, radius |n - (n·a) a| of a disc with axis a, (Σ s_k² (n·b_k)²)^½ of an ellipsoid with
    semi-axes s_k along b_k.
    """
    centre, on = vector_of(builder, given.centre, f"{key}.centre"), given.on
    normal = vector_of(builder, given.normal, f"{key}.normal").unit()
    n = direction_of(builder, on, normal)
    if given.semiaxes is not None:
        squares = [axis * axis for axis in vector_of(builder, given.semiaxes, f"{key}.semiaxes")]
        axes = [builder.leaves.axis(builder.body[given.body], k) for k in range(3)]
        along = [n.dot(axis) for axis in axes]
        height = root(
            squares[0] * along[0] * along[0]
            + squares[1] * along[1] * along[1]
            + squares[2] * along[2] * along[2]
        )
        parts = [axes[k].times(squares[k] * along[k] / height) for k in range(3)]
        lowest = parts[0].plus(parts[1]).plus(parts[2]).times(-1.0)
    else:
        radius = E(builder.node(given.radius or 0.0, f"{key}.radius"))
        across = n
        if given.axis is not None:
            a = direction_of(builder, given.body, vector_of(builder, given.axis, f"{key}.axis"))
            across = n.across(a).unit()
        height, lowest = radius * n.dot(across), across.times(-radius)
    away = place_of(builder, given.body, centre).minus(
        place_of(builder, on, vector_of(builder, given.at, f"{key}.at"))
    )
    velocity = slip(builder, given.body, centre, lowest, on)
    numbers = tuple(float(part) for part in given.normal)
    tangents = (
        direction_of(builder, on, Vector(*map(E, map(float, each))))
        for each in perpendiculars((numbers[0], numbers[1], numbers[2]))
    )
    along_plane, across_plane = (velocity.dot(tangent) for tangent in tangents)
    return n.dot(away) - height, along_plane, across_plane


# -- rows ---------------------------------------------------------------------------------------------------------------------------------
@dataclass
class Derived:
    """A compiled relation: its level (position or velocity), its first register (value, rate,
    bias), and the variables of its rate.
    """

    level: int
    first: int
    slopes: tuple[tuple[int, int], ...]
    arms: tuple[Arm, ...]


def coupling_row(builder: Builder, key: str, row: str, value: Node) -> list[Row]:
    """Return the constraint row of a relation as a list, empty if it is constant in this structure."""
    made = constraint_row(builder, key, value)
    return (
        []
        if made is None
        else [Row(row, builder.coupling_rows[row], made.level, made.first, made.slopes, made.arms)]
    )


def constraint_row(builder: Builder, key: str, value: Node) -> Derived | None:
    """Return a compiled relation with its rate and acceleration bias, or None if it is constant in
    this structure.
    """
    place, complain = builder.leaves, problem(builder, key)
    add_magnitudes(builder)
    add_rates(builder)
    builder.registers.phase_of(value)  # finds unknown names and cycles
    value = place.reduce(value)
    level = L.SPEEDS if place.moves(value) else L.POSITIONS
    if level == L.POSITIONS:
        place.followed |= {leaf.key for leaf in leaves(value)} & builder.inputs.keys()
        for leaf in leaves(value):
            if leaf.key in builder.states and place.moves(place.state_rate(leaf.key, complain)):
                hint = "a relation of speeds, or a state whose rate does not contain speeds"
                raise complain(f"the state '{leaf.key}', whose rate depends on speeds", hint)
    rate = value if level == L.SPEEDS else place.differentiate(value, complain)
    rest = place.differentiate(rate, complain)
    if builder.registers.phase_of(rate) > STATE or builder.registers.phase_of(rest) > STATE:
        raise complain("what is known only after the accelerations", ALLOWED)
    slopes, arms = slopes_of(builder, rate, complain)
    if not slopes and not arms:
        if builder.later:
            return None
        raise complain("no coordinate", "an expression over coordinates")
    builder.registers.motions += (value, rate)
    first = builder.vector((value if level == L.POSITIONS else rate, rate, rest))
    return Derived(level, first, slopes, arms)


def slopes_of(
    builder: Builder, rate: Node, complain
) -> tuple[tuple[tuple[int, int], ...], tuple[Arm, ...]]:
    """Return the derivatives of a rate with respect to speeds, velocities of points and angular
    velocities of bodies.
    """
    place = builder.leaves

    def by(key: str) -> Node:
        slope = differentiate(rate, lambda leaf: ONE if leaf.key == key else None)
        if place.moves(slope):
            raise complain(
                f"a relation that is not linear in '{shown(place, key)}'",
                "one that is linear in the speeds",
            )
        return slope

    slopes, forces, moments = [], {}, {}
    for leaf in leaves(rate):
        key = leaf.key
        if key in place.speeds:
            slopes.append((place.speeds[key], builder.register(by(key))))
        elif key in place.velocities:
            point, axis = place.velocities[key]
            forces.setdefault(point, [ZERO] * 3)[axis] = by(key)
        elif key in place.spins:
            body, axis = place.spins[key]
            moments.setdefault(body, [ZERO] * 3)[axis] = by(key)
    nothing = builder.vector((ZERO,) * 3)
    arms = [
        (body, point, builder.vector(force), nothing) for (body, point), force in forces.items()
    ]
    arms += [(body, nothing, nothing, builder.vector(moment)) for body, moment in moments.items()]
    return tuple(sorted(slopes)), tuple(arms)


def shown(place: Leaves, key: str) -> str:
    """Return the name of a variable for messages."""
    return key if key in place.speeds else "velocities of points"


def bodies_on_paths(builder: Builder, row: Row, u_body: list[int]) -> tuple[int, ...]:
    """Return the bodies on the paths from the ground to everything that a row depends on."""
    ends = {u_body[speed] for speed, _ in row.slopes} | {arm[0] for arm in row.arms}
    return tuple(sorted({i for end in ends for i in path_set(builder.topology.parent, end)}))
