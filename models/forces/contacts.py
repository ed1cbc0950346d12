"""Laws shared by one-sided contacts: normal force, friction, elastic side forces, energy accounts.

Normal law, penetration d: N = stiffness d**exponent + damping dd/dt, not below 0, and 0 without
penetration. N is continuous in d at zero speed; a body that arrives with speed is damped from the
first touch. Sliding friction is friction N along -v, with the factor s (2 - s) up to s =
v/friction_speed = 1: continuously differentiable, never accelerating. Elastic side forces have a
state, the travel since touchdown, that follows the speed and slips where stiffness times travel
exceeds friction N; without `friction` it is not limited. Without load the travel decays within
milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kinetree.models.expressions.differentiate import differentiate
from kinetree.models.expressions.internal_names import hidden, rate_of_state
from kinetree.models.expressions.node_arithmetic import (
    E,
    choose,
    const,
    larger,
    name,
    root,
    smaller,
)
from kinetree.models.expressions.nodes import ONE, Lookup
from kinetree.models.expressions.vectors import NOWHERE, Vector, registers
from kinetree.models.forces.force_energy import Book
from kinetree.models.forces.force_schema import Rubbing, Sided
from kinetree.models.forces.ground import Ground
from kinetree.models.forces.line_laws import define_force, one_sided
from kinetree.models.forces.soil import Footprint
from kinetree.solvers import layout as L

if TYPE_CHECKING:
    from kinetree.models.checks.consistency_check import Checker
    from kinetree.models.compilation.structure_builder import Builder
    from kinetree.models.language.basic_checks import Path

FORGET = 5e-3  # time constant in which an unloaded contact forgets its side travel [s]
SMALLEST_REACH = 1e-9  # side travel below which nothing is told from zero [m]
SMALLEST_FORCE = 1e-12  # [N]
SMALLEST_DEPTH = 1e-30  # whose root keeps slopes finite [m]


Spring = Callable[[E], tuple[E, E]]  # elastic load and its potential, of how far it is pressed in


def normal_force(
    builder: Builder,
    label: str,
    force: Rubbing,
    depth: E,
    rate: E,
    soil: Footprint | None = None,
    spring_of: Spring | None = None,
    hertz: E | None = None,
) -> E:
    """Return the normal load of a contact and define NAME.penetration (negative: the gap)."""
    key = f"forces.{label}"
    builder.define(hidden(label, "penetration"), depth.node)
    builder.offer(f"{label}.penetration", hidden(label, "penetration"))
    damping = E(builder.node(force.damping, f"{key}.damping"))
    inside = larger(name(hidden(label, "penetration")), 0.0)
    spring, potential = (
        spring_of(inside) if spring_of else spring_force(builder, key, force, inside, hertz)
    )
    crossley = getattr(force, "dissipation", 0.0)
    if soil is None:
        spring = (
            spring * (1.0 + 1.5 * E(builder.node(crossley, f"{key}.dissipation")) * rate)
            if crossley != 0.0
            else spring
        )
        pressing = spring + damping * rate
        load = (
            choose(inside > 0.0, larger(pressing, 0.0), 0.0)
            if force.damping == 0.0
            else one_sided(
                builder, f"force '{label}'", name(hidden(label, "penetration")), pressing
            )
        )
    else:
        load, kept = soil.load(inside, spring, damping, rate)
        potential = potential + kept
    define_force(builder, label, load, potential)
    return name(f"force('{label}')")


@dataclass
class Acting:
    """Forces on the body of a contact: normal load, `drag` against `speed`, `sides` against `slip`;
    `own` is the extension speed of a leg.
    """

    sides: Vector
    speed: Vector
    slip: Vector
    own: Vector = NOWHERE
    drag: Vector = NOWHERE


def contact_book(builder: Builder, label: str, body: int, ground: Ground, acting: Acting) -> None:
    """Define the energy account of a contact."""
    load, depth = name(f"force('{label}')"), name(hidden(label, "penetration"))
    potential, sides, speed, slip, own, drag = (
        builder.potential_of[label],
        acting.sides,
        acting.speed,
        acting.slip,
        acting.own,
        acting.drag,
    )
    states = [] if ground.soil is None else ground.soil.rates()

    def power() -> E:
        return (
            load * ground.away.dot(speed.minus(own)) + sides.dot(slip.minus(own)) + drag.dot(speed)
        )

    def dissipation() -> E:
        sinking = ground.sinking(speed)
        kept = slope_by(potential, depth) * (
            sinking - sum((rate for _, rate in states), const(0.0))
        )
        kept = sum((slope_by(potential, state) * rate for state, rate in states), kept)
        return load * sinking - kept - sides.dot(slip) - drag.dot(speed)

    builder.books[label] = Book(
        power,
        dissipation,
        potential,
        body,
        lambda: ground.away.times(load).plus(sides).plus(drag),
        clearance=-depth,
    )


def slope_by(value: E, x: E) -> E:
    """Return the partial derivative of an expression by a name."""
    return E(differentiate(value.node, lambda leaf: ONE if leaf is x.node else None))


def spring_force(
    builder: Builder, key: str, force: Rubbing, inside: E, hertz: E | None = None
) -> tuple[E, E]:
    """Return the elastic part of the load, and its potential energy; a law given by a table has
    none.
    """
    table = getattr(force, "law", None)
    if table is not None:
        return larger(E(Lookup(L.Op.TABLE1, table, (inside.node,))), 0.0), const(0.0)
    spring, share = raised(builder, key, force, inside, hertz)
    return spring, share * spring * inside


def raised(
    builder: Builder, key: str, force: Rubbing, inside: E, hertz: E | None = None
) -> tuple[E, E]:
    """Return stiffness d**exponent, or Hertz's 4/3 E* sqrt(R) d**1.5 with the radius R = `hertz`;
    and the ratio 1/(exponent + 1) of its potential to it times d.
    """
    modulus = getattr(force, "modulus", None)
    if modulus is not None and hertz is not None:
        stiffness = 4.0 / 3.0 * E(builder.node(modulus, f"{key}.modulus")) * root(hertz)
        return stiffness * (inside * root(larger(inside, SMALLEST_DEPTH))), const(0.4)
    stiffness, exponent = (
        E(builder.node(force.stiffness, f"{key}.stiffness")),
        E(builder.node(force.exponent, f"{key}.exponent")),
    )
    if force.exponent == 1.0:
        return stiffness * inside, const(0.5)
    raising = (
        inside * root(larger(inside, SMALLEST_DEPTH)) if force.exponent == 1.5 else inside**exponent
    )
    return stiffness * raising, 1.0 / (exponent + 1.0)


def sliding(builder: Builder, label: str, force: Rubbing, load: E, speeds: Sequence[E]) -> list[E]:
    """Return regularised Coulomb friction along -speeds."""
    friction, full = (
        E(builder.node(v, f"forces.{label}.{k}"))
        for k, v in (("friction", force.friction), ("friction_speed", force.friction_speed))
    )
    speed = root(sum((v * v for v in speeds), const(0.0)))
    share = share_of(speed, full)
    return [-(friction * load * share * v) for v in speeds]


def warn_of_friction_speed(
    checker: Checker, path: Path, force: Rubbing, elastic: bool = False
) -> None:
    """Warn about a `friction_speed` that has no effect."""
    if "friction_speed" not in force.model_fields_set:
        return
    if elastic or getattr(force, "side_stiffness", 0.0) != 0.0:
        checker.warn(
            (*path, "friction_speed"),
            "a speed that nothing reads",
            "none",
            "the elastic side force holds at rest and develops friction",
        )
    elif "friction" not in force.model_fields_set:
        checker.warn(
            (*path, "friction_speed"), "a speed that nothing reads", "friction, which it develops"
        )


def share_of(speed: E, full: E) -> E:
    """Return the factor s (2 - s)/speed of regularised friction, with s = speed/full, at most 1."""
    return (2.0 - smaller(speed / full, 1.0)) / larger(speed, full)


def side_forces(
    builder: Builder, label: str, force: Sided, travels: Sequence[str], load: E, speeds: Sequence[E]
) -> list[E]:
    """Return elastic side forces along given directions with the states LABEL.`travels`;
    regularised friction if there is no side stiffness.
    """
    key = f"forces.{label}"
    stiffness, damping = (
        E(builder.node(getattr(force, k), f"{key}.{k}")) for k in ("side_stiffness", "side_damping")
    )
    if force.side_stiffness == 0.0:
        drag = [choose(load > 0.0, -(damping * v), 0.0) for v in speeds]
        return [
            a + b for a, b in zip(sliding(builder, label, force, load, speeds), drag, strict=True)
        ]
    made = [builder.made(f"{label}.{each}") for each in travels]
    travel = [name(each) for each in made]
    moving = [choose(load > 0.0, v, 0.0) for v in speeds]
    if "friction" not in force.model_fields_set:
        for each, y, v in zip(made, travel, speeds, strict=True):
            builder.define(rate_of_state(each), choose(load > 0.0, v, -(y / FORGET)).node)
        return [
            choose(load > 0.0, -(stiffness * y + damping * v), 0.0)
            for y, v in zip(travel, speeds, strict=True)
        ]
    limit = E(builder.node(force.friction, f"{key}.friction")) * load
    reach = larger(limit / stiffness, SMALLEST_REACH)
    share = sum((y * y for y in travel), const(0.0)) / (
        reach * reach
    )  # square of travel over reach
    outward = larger(sum((y * v for y, v in zip(travel, moving, strict=True)), const(0.0)), 0.0)
    slip = (
        smaller(share, 1.0 / larger(share, 1.0)) / (reach * reach) * outward
        + (1.0 - 1.0 / larger(root(share), 1.0)) / FORGET
    )
    for each, y, v in zip(made, travel, moving, strict=True):
        builder.define(rate_of_state(each), (v - slip * y).node)
    pull = [stiffness * y + damping * v for y, v in zip(travel, speeds, strict=True)]
    size = root(sum((f * f for f in pull), const(0.0)))
    return [-(smaller(1.0, limit / larger(size, SMALLEST_FORCE)) * f) for f in pull]


def add_load(
    builder: Builder, body: int, point: int, through: Vector, offset: Vector, arm: Vector
) -> None:
    """Apply a force through a point of a body; `arm` and `offset` give further distances, in ground
    axes.
    """
    if body:
        moment = NOWHERE if arm is NOWHERE else arm.cross(offset)
        builder.add_force(
            L.Force.WRENCH,
            body,
            point,
            registers(builder, through.plus(offset)),
            registers(builder, moment),
            0,
        )
