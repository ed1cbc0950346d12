"""One-sided contacts with the ground surface: points and spheres, tyres, outrigger jacks; soil that settles.

Normal law, penetration d: N = stiffness d**exponent + damping dd/dt, not below 0, and 0 without penetration. It is continuous in d at rest; what
arrives with speed meets the damper at once. Sliding friction is friction N along -v, developed as s (2 - s) up to s = v/friction_speed = 1:
continuously differentiable, never accelerating. Elastic side forces belong to a state, the travel since touching down, that follows the speed and
slips where stiffness times travel exceeds friction N; without `friction` nothing limits it. Without load the travel is forgotten within milliseconds.

Soil: viscosity dz/dt = max(0, N - strength - hardening z) lowers the surface by z; as the damper works against the settling surface, both are solved
together: dz/dt = (N0 - strength - hardening z)/(viscosity + damping), N = N0 - damping dz/dt, N0 the load on soil at rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kinetree.models.compilation.algebra import E, choose, const, larger, name, root, smaller
from kinetree.models.compilation.books import Book
from kinetree.models.compilation.hidden import hidden, rate_of_state
from kinetree.models.compilation.space import NOWHERE, Vector, registers
from kinetree.models.expressions.differentiate import differentiate
from kinetree.models.expressions.nodes import ONE, Lookup
from kinetree.models.forces.along import define_force
from kinetree.models.forces.ground import Ground
from kinetree.models.forces.table import Rubbing, Sided
from kinetree.solvers import layout as L

if TYPE_CHECKING:
    from kinetree.models.compilation.builder import Builder

FORGET = 5e-3  # time constant in which an unloaded contact forgets its side travel [s]
SMALLEST_REACH = 1e-9  # side travel below which nothing is told from zero [m]
SMALLEST_FORCE = 1e-12  # [N]


def normal_force(builder: Builder, label: str, force: Rubbing, depth: E, rate: E) -> E:
    """Load of a contact; names NAME.penetration (below 0: the gap) and, with soil, NAME.settling."""
    key = f"forces.{label}"
    builder.define(hidden(label, "penetration"), depth.node)
    builder.offer(f"{label}.penetration", hidden(label, "penetration"))
    damping = E(builder.node(force.damping, f"{key}.damping"))
    inside = larger(name(hidden(label, "penetration")), 0.0)
    spring, potential = spring_force(builder, key, force, inside)
    load = choose(inside > 0.0, larger(spring + damping * rate, 0.0), 0.0)
    soil = getattr(force, "soil", None)
    if soil is not None:
        strength, hardening, viscosity = (
            E(builder.node(v, f"{key}.soil.{k}"))
            for k, v in (("strength", soil.strength), ("hardening", soil.hardening), ("viscosity", soil.viscosity))
        )
        settled = builder.made(f"{label}.settlement")
        excess = load - strength - hardening * name(settled)
        builder.define(rate_of_state(settled), (larger(excess, 0.0) / (viscosity + damping)).node)
        load = load - damping * name(rate_of_state(settled))
    define_force(builder, label, load, potential)
    return name(f"force('{label}')")


def contact_book(builder: Builder, label: str, body: int, ground: Ground, sides: Vector, speed: Vector, slip: Vector, own: Vector = NOWHERE) -> None:
    """What outputs can be told about a contact: the load acts at `speed`, the sides at `slip`; both contain `own`, at which a leg extends."""
    load, depth = name(f"force('{label}')"), name(hidden(label, "penetration"))
    potential = builder.potential_of[label]

    def power() -> E:
        return load * ground.away.dot(speed.minus(own)) + sides.dot(slip.minus(own))

    def dissipation() -> E:
        slope = E(differentiate(potential.node, lambda leaf: ONE if leaf is depth.node else None))
        settling = name(rate_of_state(builder.made(f"{label}.settlement"))) if ground.soft else const(0.0)
        sinking = ground.sinking(speed)
        return load * sinking - slope * (sinking - settling) - sides.dot(slip)

    builder.books[label] = Book(power, dissipation, potential, body, lambda: ground.away.times(load).plus(sides), clearance=-depth)


def spring_force(builder: Builder, key: str, force: Rubbing, inside: E) -> tuple[E, E]:
    """Elastic part of the load and its potential; a table has none."""
    table = getattr(force, "law", None)
    if table is not None:
        return larger(E(Lookup(L.Op.TABLE1, table, (inside.node,))), 0.0), const(0.0)
    stiffness, exponent = E(builder.node(force.stiffness, f"{key}.stiffness")), E(builder.node(force.exponent, f"{key}.exponent"))
    return stiffness * inside**exponent, stiffness * inside ** (exponent + 1.0) / (exponent + 1.0)


def sliding(builder: Builder, label: str, force: Rubbing, load: E, speeds: Sequence[E]) -> list[E]:
    """Coulomb friction along -speeds."""
    friction, full = (E(builder.node(v, f"forces.{label}.{k}")) for k, v in (("friction", force.friction), ("friction_speed", force.friction_speed)))
    speed = root(sum((v * v for v in speeds), const(0.0)))
    share = (2.0 - smaller(speed / full, 1.0)) / larger(speed, full)
    return [-(friction * load * share * v) for v in speeds]


def side_forces(builder: Builder, label: str, force: Sided, travels: Sequence[str], load: E, speeds: Sequence[E]) -> list[E]:
    """Elastic side forces along given directions, with speeds and states LABEL.`travels`; friction where there is no side stiffness."""
    key = f"forces.{label}"
    stiffness, damping = (E(builder.node(getattr(force, k), f"{key}.{k}")) for k in ("side_stiffness", "side_damping"))
    if force.side_stiffness == 0.0:
        drag = [choose(load > 0.0, -(damping * v), 0.0) for v in speeds]
        return [a + b for a, b in zip(sliding(builder, label, force, load, speeds), drag, strict=True)]
    made = [builder.made(f"{label}.{each}") for each in travels]
    travel = [name(each) for each in made]
    moving = [choose(load > 0.0, v, 0.0) for v in speeds]
    if "friction" not in force.model_fields_set:
        for each, y, v in zip(made, travel, speeds, strict=True):
            builder.define(rate_of_state(each), choose(load > 0.0, v, -(y / FORGET)).node)
        return [choose(load > 0.0, -(stiffness * y + damping * v), 0.0) for y, v in zip(travel, speeds, strict=True)]
    limit = E(builder.node(force.friction, f"{key}.friction")) * load
    reach = larger(limit / stiffness, SMALLEST_REACH)
    share = sum((y * y for y in travel), const(0.0)) / (reach * reach)  # square of travel over reach
    outward = larger(sum((y * v for y, v in zip(travel, moving, strict=True)), const(0.0)), 0.0)
    slip = smaller(share, 1.0 / larger(share, 1.0)) / (reach * reach) * outward + (1.0 - 1.0 / larger(root(share), 1.0)) / FORGET
    for each, y, v in zip(made, travel, moving, strict=True):
        builder.define(rate_of_state(each), (v - slip * y).node)
    pull = [stiffness * y + damping * v for y, v in zip(travel, speeds, strict=True)]
    size = root(sum((f * f for f in pull), const(0.0)))
    return [-(smaller(1.0, limit / larger(size, SMALLEST_FORCE)) * f) for f in pull]


def add_load(builder: Builder, body: int, point: int, through: Vector, offset: Vector, arm: Vector) -> None:
    """A force through a point of a body and one that acts at `arm` from it, both in ground axes."""
    if body:
        moment = NOWHERE if arm is NOWHERE else arm.cross(offset)
        builder.add_force(L.Force.WRENCH, body, point, registers(builder, through.plus(offset)), registers(builder, moment), 0)
