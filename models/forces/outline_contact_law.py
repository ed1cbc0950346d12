"""Law of a contact between shapes: load and friction at every contact point, summed to a force and
a moment on one body, with the reaction on the other.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import TYPE_CHECKING, Any

from kinetree.models.expressions.internal_names import hidden
from kinetree.models.expressions.node_arithmetic import E, const, larger, name
from kinetree.models.expressions.vectors import NOWHERE, Vector, registers
from kinetree.models.forces.contact_geometry import ON_PLANES, PAIRS, Spot, on_ground, pair
from kinetree.models.forces.contacts import raised, sliding
from kinetree.models.forces.force_energy import Book
from kinetree.models.forces.line_laws import define_force, one_sided
from kinetree.models.forces.outlines import Placed
from kinetree.models.forces.plane_contact_patch import Patch, patch_on_ground, patch_on_plane
from kinetree.solvers import layout as L

if TYPE_CHECKING:
    from kinetree.models.compilation.structure_builder import Builder

FLAT = {"ground", "plane", "box"}  # whose curvature Hertz's law does not ask for


def add_shapes(builder: Builder, label: str, force: Any) -> None:
    """Add the contact of a shape with the ground or with another shape."""
    first, second, swapped = (
        Placed(builder, label, "shape", force.shape, force.body, force.point),
        None,
        False,
    )
    flat = None
    if force.against is not None:
        second = Placed(
            builder, label, "against", force.against, force.against.body, force.against.point
        )
        swapped = pair(first.shape, second.shape)[1]
        first, second = (second, first) if swapped else (first, second)
        if second.shape == "plane" and first.shape in ON_PLANES:
            flat = patch_on_plane(first, second)
    else:
        flat = patch_on_ground(builder, label, force, first)
    ends = (first, second, swapped)
    if flat is not None:
        on_patch(builder, label, force, flat, ends)
    else:
        at_spots(
            builder,
            label,
            force,
            PAIRS[first.shape, second.shape](first, second)
            if second
            else on_ground(builder, label, force, first),
            ends,
        )


Ends = tuple[
    Placed, Placed | None, bool
]  # the one whose force is computed, the other, whether the description names them the other way round


def at_spots(builder: Builder, label: str, force: Any, spots: list[Spot], ends: Ends) -> None:
    """Add load and friction separately at every contact point."""
    depths, sinkings = [spot.depth for spot in spots], [spot.sinking for spot in spots]
    elastic, loads, total = laws(builder, label, force, depths, sinkings, hertz_radius(*ends[:2]))
    sides = [NOWHERE] * len(spots)
    if force.friction != 0.0:
        slips = (
            sliding(builder, label, force, load, spot.speed.across(spot.normal))
            for spot, load in zip(spots, loads, strict=True)
        )
        sides = [Vector(*each) for each in slips]
    pushed, moment = NOWHERE, NOWHERE
    for spot, load, side in zip(spots, loads, sides, strict=True):
        each = spot.away.times(load).plus(side)
        pushed, moment = pushed.plus(each), moment.plus(spot.arm.cross(each))

    def power() -> E:
        terms = (
            load * spot.away.dot(spot.speed) + side.dot(spot.speed)
            for spot, load, side in zip(spots, loads, sides, strict=True)
        )
        return sum(terms, const(0.0))

    def dissipation() -> E:
        terms = (
            (a - b) * spot.sinking - side.dot(spot.speed)
            for spot, a, b, side in zip(spots, loads, elastic, sides, strict=True)
        )
        return sum(terms, const(0.0))

    apply(builder, *ends[:2], pushed, moment)
    book(builder, label, ends, pushed, moment, power, dissipation)


def on_patch(builder: Builder, label: str, force: Any, flat: Patch, ends: Ends) -> None:
    """Add loads at the points of a flat contact patch, with friction at their centre of pressure."""
    elastic, loads, total = laws(builder, label, force, flat.depths(), flat.sinkings(), flat=flat)
    weighted = flat.centre(loads)
    pushed, moment, slip = flat.normal.times(total), weighted.cross(flat.normal), None
    if force.friction != 0.0:
        friction, full = (
            E(builder.node(getattr(force, k), f"forces.{label}.{k}"))
            for k in ("friction", "friction_speed")
        )
        slip = flat.friction(friction, full, loads, total, weighted)
        pushed = pushed.plus(slip.force)
        moment = moment.plus(slip.arm.cross(slip.force)).plus(flat.normal.times(slip.moment))
    rubbed = const(0.0) if slip is None else slip.force.dot(slip.speed) + slip.moment * slip.turning
    rising = flat.sinking + flat.velocity.dot(flat.normal)  # of a ground surface that moves

    def power() -> E:
        return sum(
            (load * (rising - each) for load, each in zip(loads, flat.sinkings(), strict=True)),
            rubbed,
        )

    def dissipation() -> E:
        return sum(
            ((a - b) * each for a, b, each in zip(loads, elastic, flat.sinkings(), strict=True)),
            -rubbed,
        )

    apply(builder, *ends[:2], pushed, moment)
    book(builder, label, ends, pushed, moment, power, dissipation)


def hertz_radius(first: Placed, second: Placed | None) -> E:
    """Return the radius of relative curvature of a sphere and its counterpart, for Hertz's law."""
    if first.shape in ("polygon", "hull"):
        return const(0.0)  # Hertz's law is refused for them
    radius = first.sizes()[0]
    if second is None or second.shape != "sphere":
        return radius
    other = second.sizes()[0]
    return radius * other / (radius + other)


def laws(
    builder: Builder,
    label: str,
    force: Any,
    depths: list[E],
    sinkings: list[E],
    hertz: E | None = None,
    flat: Patch | None = None,
) -> tuple[list[E], list[E], E]:
    """Return elastic force and load of every contact point, and the total load force('NAME');
    NAME.penetration is the largest depth.
    """
    key = f"forces.{label}"
    stiffness, damping, dissipation = (
        E(builder.node(getattr(force, k), f"{key}.{k}"))
        for k in ("stiffness", "damping", "dissipation")
    )
    inside = [larger(depth, 0.0) for depth in depths]
    raising = [raised(builder, key, force, each, hertz) for each in inside]
    elastic, share = [spring for spring, _ in raising], raising[0][1]
    loads = elastic
    if force.dissipation != 0.0:
        loads = [
            spring * (1.0 + 1.5 * dissipation * sinking)
            for spring, sinking in zip(elastic, sinkings, strict=True)
        ]
        loads = [larger(load, 0.0) for load in loads] if force.damping == 0.0 else loads
    if force.damping != 0.0:
        plain = (
            flat is not None
            and force.exponent == 1.0
            and force.modulus is None
            and force.dissipation == 0.0
        )
        pressed = (
            flat.pressed(stiffness, damping)
            if flat and plain
            else [load + damping * s for load, s in zip(loads, sinkings, strict=True)]
        )
        loads = [
            one_sided(builder, f"force '{label}'", depth, load)
            for depth, load in zip(depths, pressed, strict=True)
        ]
    builder.define(hidden(label, "penetration"), reduce(larger, depths).node)
    builder.offer(f"{label}.penetration", hidden(label, "penetration"))
    stored = sum((spring * each for spring, each in zip(elastic, inside, strict=True)), const(0.0))
    define_force(
        builder,
        label,
        sum(loads, const(0.0)) if flat is None else flat.total(loads),
        share * stored,
    )
    return elastic, loads, name(f"force('{label}')")


def apply(
    builder: Builder, first: Placed, second: Placed | None, total: Vector, moment: Vector
) -> None:
    """Apply force and moment about the first body's centre to the first body, and the reaction to
    the second.
    """
    nothing = second is None or second.body == 0
    if first.body:
        point, acting = (
            registers(builder, first.point),
            (registers(builder, total), registers(builder, moment)),
        )
        if nothing:
            builder.add_force(L.Force.WRENCH, first.body, point, *acting, 0)
        else:
            assert second is not None
            builder.add_force(L.Force.PAIR, first.body, point, second.body, *acting, 0)
    elif second is not None and second.body:
        back, turned = total.times(-1.0), opposite(first, second, total, moment)
        builder.add_force(
            L.Force.WRENCH,
            second.body,
            registers(builder, second.point),
            registers(builder, back),
            registers(builder, turned),
            0,
        )


def opposite(first: Placed, second: Placed, total: Vector, moment: Vector) -> Vector:
    """Return the reaction moment about the second body's centre."""
    return moment.plus(first.centre.minus(second.centre).cross(total)).times(-1.0)


def book(
    builder: Builder,
    label: str,
    ends: Ends,
    pushed: Vector,
    moment: Vector,
    power: Callable[[], E],
    dissipation: Callable[[], E],
) -> None:
    """Define the energy account of a contact; force and moment act on the body named first."""
    first, second, swapped = ends
    potential, gap = builder.potential_of[label], -name(hidden(label, "penetration"))
    if swapped and second is not None:
        other = second
        turned = lambda: opposite(first, other, pushed, moment)  # noqa: E731
        builder.books[label] = Book(
            power, dissipation, potential, other.body, lambda: pushed.times(-1.0), turned, gap
        )
    else:
        builder.books[label] = Book(
            power, dissipation, potential, first.body, lambda: pushed, lambda: moment, gap
        )
