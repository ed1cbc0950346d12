"""A wheel that drives, brakes and steers: longitudinal and lateral slip of its contact patch, by
the brush model or by soil shear.

With the load N, the speeds v of the tread in the patch along and across (t = axle x normal, s along
the axle), w = spin times loaded radius, and elastic deflections e of the patch, F = k e
(`bristle`):

    renewed_i = w g(f) F_i/C_i          f = |F|/limit          C the slip stiffness, limit = friction N

Tread that rolls out of the patch takes its deflection with it. In steady state v/w = g F/C: with g
= 3/(1 + y + y²), y = (1 - f)^(1/3), that is the brush model, F = limit (1 - (1 - θ s)³), θ = C/(3
limit), combined slip included. At standstill w = 0 and the patch is a spring, which holds on a
slope; a locked wheel slides with the limit force. `shear`: the limit is cohesion width length + N
tan(angle), and g makes it the law of Janosi and Hanamoto over the patch, F = limit (1 - K/(s l) (1
- exp(-s l/K))), with the same slip.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from kinetree.models.expressions.internal_names import hidden
from kinetree.models.expressions.node_arithmetic import (
    E,
    absolute,
    const,
    cos,
    exp,
    larger,
    name,
    root,
    sin,
    smaller,
    tanh,
)
from kinetree.models.expressions.vectors import (
    NOWHERE,
    Vector,
    direction,
    position,
    registers,
    spin,
    vector_of,
    velocity,
)
from kinetree.models.forces.bristle import Bristles
from kinetree.models.forces.contacts import normal_force, slope_by, warn_of_friction_speed
from kinetree.models.forces.force_energy import Book
from kinetree.models.forces.force_kind import ForceKind, OwnState
from kinetree.models.forces.force_schema import Standing
from kinetree.models.forces.ground import Ground
from kinetree.models.forces.soil import check_soil, soil_states
from kinetree.models.language.basic_checks import Path
from kinetree.models.language.numbers_and_expressions import Axis, Law, Number
from kinetree.models.language.numbers_and_expressions import Vector as Numbers
from kinetree.models.language.parts.base_table import ORIGIN, Part
from kinetree.solvers import layout as L

if TYPE_CHECKING:
    from kinetree.models.checks.consistency_check import Checker
    from kinetree.models.compilation.structure_builder import Builder

NEAR = (
    2.0,
    -0.61198788,
    -0.86384999,
    2.26968522,
    -3.5522129,
    1.75836555,
)  # powers of f in x (1 - f)/f; they add up to 1
LEAST_REMAINDER = 1e-6  # of the limit is left where the root of what is left would have no slope


class Shear(Part):
    """Shear of the soil under the patch, instead of friction."""

    cohesion: Number = Field(0.0, description="Cohesion of the soil [Pa]")
    angle: Number = Field(description="Angle of internal friction [rad]")
    modulus: Number = Field(description="Shear displacement K in which the shear develops [m]")
    width: Number = Field(description="Width of the patch [m]")
    length: Number = Field(description="Length of the patch [m]")
    positive: ClassVar = ("angle", "modulus", "width", "length")
    not_negative: ClassVar = ("cohesion",)


class WheelForce(Standing):
    """Wheel of a spinning body with drive, brake and steering: longitudinal and lateral slip; holds
    at standstill without creeping.
    """

    kind: Literal["wheel"] = "wheel"
    body: str = Field(description="The wheel itself: the body that spins")
    point: Numbers = Field(ORIGIN, description="Centre of the wheel, body frame [m]")
    axle: Axis = Field(
        (0.0, 1.0, 0.0),
        description="Axis about which it spins, body axes; it rolls towards axle x normal",
    )
    radius: Number = Field(description="Free radius of the tyre [m]")
    friction: Law = Field(0.0, description="Coefficient of friction of the patch [1]")
    slip_stiffness: tuple[Number, Number] | None = Field(
        None, description="Longitudinal and lateral force per slip, with friction [N]"
    )
    patch_stiffness: tuple[Number, Number] = Field(
        description="Longitudinal and lateral stiffness of the tyre at standstill [N/m]"
    )
    patch_damping: Number = Field(
        0.0, description="Damping of the tyre at standstill; it decreases with rolling [N.s/m]"
    )
    patch_reach: Number = Field(
        1e-3,
        description="Deflection at which even an unloaded patch slips: wheels with little load are softer [m]",
    )
    patch_length: Number = Field(
        0.0, description="Length of the patch, for the pneumatic trail of the side force [m]"
    )
    rolling: Number = Field(
        0.0, description="Coefficient of rolling resistance: moment over load times radius [1]"
    )
    standing_speed: Number = Field(
        0.2, description="Rolling speed up to which `patch_damping` acts, approximately [m/s]"
    )
    shear: Shear | None = Field(None, description="Shear of soil instead of friction")
    positive: ClassVar = ("exponent", "radius", "friction_speed", "standing_speed", "patch_reach")
    not_negative: ClassVar = ("patch_damping", "patch_length", "rolling")


STATES = ("along", "across")


def states(force: WheelForce) -> dict[str, OwnState]:
    """Return the states of a wheel: those of the soil, and the deflections of the contact patch."""
    return soil_states(force) | {each: OwnState("m") for each in STATES}


class Wheel:
    """One wheel during compilation, with the variables of its laws."""

    def __init__(self, builder: Builder, label: str, force: WheelForce):
        self.builder, self.label, self.force, self.key = builder, label, force, f"forces.{label}"
        self.body, self.point = (
            builder.body[force.body],
            vector_of(builder, force.point, f"{self.key}.point"),
        )
        radius = self.number("radius")
        place, self.speed = (
            make(builder, hidden(label, word), self.body, self.point)
            for make, word in ((position, "position"), (velocity, "velocity"))
        )
        self.turning = spin(builder, hidden(label, "spin"), self.body)
        self.ground = ground = Ground(builder, label, force, place, radius)
        rolling = (
            NOWHERE
            if ground.soil is None
            else ground.soil.roll(self.speed.across(ground.normal), place)
        )
        self.load = normal_force(
            builder, label, force, ground.depth + radius, ground.sinking(self.speed), ground.soil
        )
        self.drag = NOWHERE if ground.soil is None else rolling.times(self.load)
        axle = vector_of(builder, force.axle, f"{self.key}.axle")
        self.side = direction(builder, hidden(label, "axle"), self.body, axle).across(ground.normal)
        self.side = self.side.times(1.0 / root(self.side.dot(self.side)))
        self.ahead = self.side.cross(ground.normal)
        depth = larger(name(hidden(label, "penetration")), 0.0)
        self.reach = radius - depth
        self.rolled = (
            self.turning.dot(self.side) * self.reach
        )  # speed of the tread through the patch
        builder.define(hidden(label, "rolled"), self.rolled.node)
        self.rolled = name(hidden(label, "rolled"))
        self.bristles = Bristles(
            tuple(builder.made(f"{label}.{each}") for each in STATES),
            self.pair("patch_stiffness"),
            self.limit(),
            self.number("patch_reach"),
        )
        self.left = left(self.bristles.share())
        self.arm = ground.normal.times(depth - radius).plus(self.ahead.times(-self.trail()))
        slip = self.speed.plus(self.turning.cross(self.arm))
        for suffix, axis in (("slip_along", self.ahead), ("slip_across", self.side)):
            builder.define(hidden(label, suffix), slip.dot(axis).node)
        self.slips = [name(hidden(label, suffix)) for suffix in ("slip_along", "slip_across")]

    def number(self, key: str) -> E:
        return E(self.builder.node(getattr(self.force, key), f"{self.key}.{key}"))

    def pair(self, key: str) -> tuple[E, E]:
        first, second = (
            E(self.builder.node(each, f"{self.key}.{key}")) for each in getattr(self.force, key)
        )
        return first, second

    def sheared(self, key: str) -> E:
        return E(self.builder.node(getattr(self.force.shear, key), f"{self.key}.shear.{key}"))

    def limit(self) -> E:
        """Return the limit of the friction or shear force in the contact patch."""
        if self.force.shear is None:
            return self.number("friction") * self.load
        angle, cohesion = self.sheared("angle"), self.sheared("cohesion")
        ground = larger(smaller(self.load * 1e6, 1.0), 0.0)  # no cohesion in the air
        return cohesion * self.sheared("width") * self.sheared("length") * ground + self.load * (
            sin(angle) / cos(angle)
        )

    def trail(self) -> E:
        """Return the pneumatic trail [m]: a third of half the patch length at small slip, zero in
        full sliding.
        """
        if self.force.patch_length == 0.0:
            return const(0.0)
        way = tanh(self.rolled / self.number("standing_speed"))
        y = self.left
        return way * 0.5 * self.number("patch_length") * y * y * y / (1.0 + y + y * y)

    def renewed(self) -> list[E]:
        """Return the rates at which rolling removes deflection from the contact patch."""
        rolled = absolute(self.rolled)
        if self.force.shear is None:
            y = self.left
            factor = 3.0 / (1.0 + y + y * y)
            factor = factor * self.bristles.lever()
            return [
                rolled * factor * f / stiffness
                for f, stiffness in zip(
                    self.bristles.forces(), self.pair("slip_stiffness"), strict=True
                )
            ]
        way = (
            self.sheared("modulus")
            / self.sheared("length")
            * travel_over_share(self.bristles.share())
            / self.bristles.own_limit()
        )
        return [rolled * way * f for f in self.bristles.forces()]

    def moment(self) -> Vector:
        """Return the rolling resistance moment."""
        if self.force.rolling == 0.0:
            return NOWHERE
        drag = (
            self.number("rolling")
            * self.load
            * self.reach
            * tanh(self.rolled / (0.1 * self.number("standing_speed")))
        )
        return self.side.times(-drag)


def left(share: E) -> E:
    """Return the cube root of the unused share of the limit."""
    return larger(1.0 - share, LEAST_REMAINDER) ** (1.0 / 3.0)


def travel_over_share(share: E) -> E:
    """Return x/f, where f = 1 - (1 - exp(-x))/x, by a polynomial in f accurate to 7e-4 and one
    Newton step, accurate to 1e-6; 2 at f = 0.
    """
    f = smaller(share, 1.0 - LEAST_REMAINDER)
    rest = 1.0 - f
    shape = const(NEAR[-1])
    for each in reversed(NEAR[:-1]):
        shape = shape * f + each
    gone = shape * f  # 1 - exp(-x), nearly
    ratio = shape / rest
    x = ratio * f
    left_over = exp(-x)
    return ratio - ratio * ((gone - 1.0) + left_over) / (
        (rest - left_over + LEAST_REMAINDER) * (x + LEAST_REMAINDER)
    )


def add_wheel(builder: Builder, label: str, force: WheelForce) -> None:
    """Add load, patch forces and rolling resistance of a wheel; NAME.slip_along and
    NAME.slip_across are the speeds of the tread over the ground.
    """
    wheel = Wheel(builder, label, force)
    for suffix in ("slip_along", "slip_across", "rolled"):
        builder.offer(f"{label}.{suffix}", hidden(label, suffix))
    standing = wheel.number("standing_speed")
    damping = wheel.number("patch_damping") * exp(
        wheel.rolled * wheel.rolled * (-1.0 / (standing * standing))
    )
    wheel.bristles.follow(builder, wheel.slips, wheel.renewed())
    pull = wheel.bristles.pull(wheel.slips, damping)
    for suffix, value in (("drive", pull[0]), ("side", pull[1])):
        builder.define(hidden(label, suffix), value.node)
        builder.offer(f"{label}.{suffix}", hidden(label, suffix))
    pull = [name(hidden(label, suffix)) for suffix in ("drive", "side")]
    builder.store(wheel.bristles.stored().node)
    sides, moment = wheel.ahead.times(pull[0]).plus(wheel.side.times(pull[1])), wheel.moment()
    through = wheel.ground.away.times(wheel.load).plus(wheel.drag)
    total = registers(builder, wheel.arm.cross(sides).plus(moment))
    builder.add_force(
        L.Force.WRENCH,
        wheel.body,
        registers(builder, wheel.point),
        registers(builder, through.plus(sides)),
        total,
        0,
    )
    wheel_book(builder, wheel, sides, moment, pull)


def wheel_book(
    builder: Builder, wheel: Wheel, sides: Vector, moment: Vector, pull: list[E]
) -> None:
    """Define the energy account of a wheel."""
    label, ground = wheel.label, wheel.ground
    depth, potential = name(hidden(label, "penetration")), builder.potential_of[label]
    states = [] if ground.soil is None else ground.soil.rates()

    def power() -> E:
        along = pull[0] * wheel.slips[0] + pull[1] * wheel.slips[1]
        return (
            wheel.load * ground.away.dot(wheel.speed)
            + wheel.drag.dot(wheel.speed)
            + along
            + moment.dot(wheel.turning)
        )

    def dissipation() -> E:
        sinking = ground.sinking(wheel.speed)
        kept = slope_by(potential, depth) * (
            sinking - sum((rate for _, rate in states), const(0.0))
        )
        kept = sum((slope_by(potential, state) * rate for state, rate in states), kept)
        own = wheel.load * sinking - kept - wheel.drag.dot(wheel.speed) - moment.dot(wheel.turning)
        return own + wheel.bristles.lost(pull, wheel.slips)

    stored = potential + wheel.bristles.stored()

    def force() -> Vector:
        return ground.away.times(wheel.load).plus(sides).plus(wheel.drag)

    builder.books[label] = Book(
        power, dissipation, stored, wheel.body, force, lambda: moment, clearance=-depth
    )


def check_wheel(checker: Checker, path: Path, force: WheelForce) -> None:
    check_soil(checker, path, force, wheel=True)
    warn_of_friction_speed(checker, path, force, elastic=True)
    given = [key for key in ("friction", "shear") if key in force.model_fields_set]
    if len(given) != 1:
        checker.complain(
            (*path, "friction"), " and ".join(given) or "nothing", "friction, or shear of soil"
        )
    elif (force.slip_stiffness is None) == ("friction" in given):
        found, wanted = (
            ("nothing", "slip and cornering stiffness")
            if "friction" in given
            else ("a slip stiffness", "none: shear has its own")
        )
        checker.complain((*path, "slip_stiffness"), found, wanted)
    for key in ("slip_stiffness", "patch_stiffness"):
        for k, each in enumerate(getattr(force, key) or ()):
            number = checker.number(each)
            if number is not None and number <= 0.0:
                checker.complain((*path, key, k), f"{number:g}", "a number > 0")


def parts(force: WheelForce, numbers: Any, size: float) -> dict[str, list[Any]]:
    from kinetree.models.scene.force_graphics import wheel

    return {
        force.body: wheel(
            numbers.vector(force.point), numbers.vector(force.axle), numbers.number(force.radius)
        )
    }


def touch(force: WheelForce, numbers: Any) -> tuple[Any, float]:
    return numbers.vector(force.point), numbers.number(force.radius)


FORCE = ForceKind(
    WheelForce,
    add_wheel,
    says="N as `contact`; in the patch the brush model of combined slip, F = friction N (1 - (1 - θ s)³), or the shear of soil; at rest a spring",
    rank=7,
    measures={"penetration": "m", "rolled": "m/s", "slip_along": "m/s", "slip_across": "m/s", "drive": "N", "side": "N"},
    states=states,
    check=check_wheel,
    clearance=True,
    parts=parts,
    touch=touch,
    example={
        "radius": 0.3, "height": 0.2, "stiffness": 200.0, "damping": 2.0, "friction": 0.8, "slip_stiffness": [300.0, 200.0],
        "patch_stiffness": [400.0, 300.0], "patch_damping": 1.0, "patch_length": 0.1, "rolling": 0.02,
    },
)  # fmt: skip
