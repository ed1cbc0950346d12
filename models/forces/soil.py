"""Soil under contacts: an elastic part that rebounds, a plastic part that stays, and ruts that
wheels leave and return to.

The surface under a contact is lower by w = z + e: settlement z, elastic deflection e. With the load
N, k = stiffness + stiffening z:

    N = k e + damping (de/dt + g)                                  the soil carries
    g = max(0, min(k e - F, k e - stiffening e²/2))/viscosity      the settling, above the load-sinkage curve F
    F = strength + hardening z + B(w)                              B: Bekker's law of a plate or of a rigid wheel
    plate  B = area (k_c/width + k_phi) w^n          wheel  B = width (k_c/width + k_phi) (3 - n)/3 sqrt(2 radius) w^(n + 1/2)

The leg or tyre above it, with force f over its compression and damping c, is in series with it: N =
max(0, (damping (f + c dd/dt) + c k e)/(damping + c)). k e - stiffening e²/2 is the force conjugate
to z of the energy k e²/2: with g along it the soil never generates energy. Unloading follows k,
which is steeper than F; reloading is elastic up to the former load. Without a stiffness e = 0 and g
= max(0, N - F)/viscosity.

A wheel that rolls with the speed v leaves its rut: dz/dt = g - |v| (z - z_m)/l towards the depth
z_m that the track stores there (0: fresh). Rolling must do the work of lifting the wheel out of its
rut: a force N (z - z_m)/l against v. l = (n + 1)(3 - n)/3 sqrt(2 radius w) makes it Bekker's
compaction resistance, width (k_c/width + k_phi) z^(n + 1)/(n + 1), when z_m = 0; without Bekker's
law n = 1. The energy of rolling down into a deeper rut is dissipated.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

from kinetree.models.expressions.internal_names import rate_of_state
from kinetree.models.expressions.node_arithmetic import (
    E,
    absolute,
    choose,
    const,
    larger,
    name,
    root,
    smaller,
)
from kinetree.models.expressions.vectors import Vector, vector_of
from kinetree.models.forces.force_kind import OwnState
from kinetree.models.forces.force_schema import Standing
from kinetree.models.forces.soil_schema import Soil, Track
from kinetree.models.language.basic_checks import Path

if TYPE_CHECKING:
    from kinetree.models.checks.consistency_check import Checker
    from kinetree.models.compilation.structure_builder import Builder

SMALLEST_SINKAGE = (
    1e-6  # below it Bekker's power is a straight line, so that slopes stay finite [m]
)
ROLLING = 1e-3  # speed from which a wheel counts as rolling [m/s]
WRITTEN = 16.0  # a wheel that passes a cell leaves its depth there but for exp(-16/2)


def soil_states(force: Standing) -> dict[str, OwnState]:
    """Return the states of a soil: plastic settlement, elastic deflection, depths of a track."""
    soil = force.soil
    if soil is None:
        return {}
    found = {"settlement": OwnState("m", settles=True)}
    if soil.stiffness is not None:
        found["deflection"] = OwnState("m")
    return found | {
        f"rut_{k}": OwnState("m") for k in range(1, soil.track.cells + 1 if soil.track else 1)
    }


class Footprint:
    """The soil under one contact; `radius` is that of a wheel."""

    def __init__(self, builder: Builder, label: str, soil: Soil, radius: E | None = None):
        self.builder, self.label, self.soil, self.radius = builder, label, soil, radius
        self.settled = builder.made(f"{label}.settlement")
        self.z, self.e = name(self.settled), const(0.0)
        self.given = const(0.0)  # what rolling lifts
        if soil.stiffness is not None:
            self.deflection = builder.made(f"{label}.deflection")
            self.e = name(self.deflection)

    def number(self, key: str) -> E:
        return E(self.builder.node(getattr(self.soil, key), f"forces.{self.label}.soil.{key}"))

    @property
    def sunk(self) -> E:
        """Return the depth [m] by which the soil surface is lowered."""
        return self.z + self.e

    def rates(self) -> list[tuple[E, E]]:
        """Return the rates of those states of the soil that store energy or lower the surface."""
        states = [self.settled] + ([self.deflection] if self.soil.stiffness is not None else [])
        return [(name(each), name(rate_of_state(each))) for each in states]

    def curve(self) -> E:
        """Return the load that undisturbed soil carries at its current sinkage."""
        found = self.number("strength") + self.number("hardening") * self.z
        if not bekker(self.soil):
            return found
        w, n = self.sunk, self.number("exponent")
        pressed = self.number("cohesion_modulus") / self.number("width") + self.number(
            "friction_modulus"
        )
        if self.radius is None:
            return found + self.number("area") * pressed * power(w, n)
        shape = self.number("width") * (3.0 - n) / 3.0 * root(2.0 * self.radius)
        return found + pressed * shape * power(w, n + 0.5)

    def load(self, inside: E, spring: E, damping: E, rate: E) -> tuple[E, E]:
        """Return the contact load above the soil and its stored energy, and define the rates of the
        states.
        """
        rate, viscosity = rate + self.given, self.number("viscosity")
        if self.soil.stiffness is None:
            load = choose(inside > 0.0, larger(spring + damping * rate, 0.0), 0.0)
            growth = larger(load - self.curve(), 0.0) / (viscosity + damping)
            self.builder.define(rate_of_state(self.settled), (growth - self.given).node)
            return load - damping * growth, const(0.0)
        own, stiffening = self.number("damping"), self.number("stiffening")
        k = self.number("stiffness") + stiffening * self.z
        elastic = k * self.e
        above = own / (own + damping)
        load = choose(
            inside > 0.0,
            larger(above * (spring + damping * rate) + (1.0 - above) * elastic, 0.0),
            0.0,
        )
        growth = larger(
            smaller(elastic - self.curve(), elastic - 0.5 * stiffening * self.e * self.e), 0.0
        ) * (1.0 / viscosity)
        self.builder.define(rate_of_state(self.settled), (growth - self.given).node)
        self.builder.define(
            rate_of_state(self.deflection), ((load - elastic) * (1.0 / own) - growth).node
        )
        return load, 0.5 * elastic * self.e

    def roll(self, speed: Vector, place: Vector) -> Vector:
        """Define the change of the rut under a rolling wheel and return the resistance force per
        load.
        """
        assert self.radius is not None
        square = speed.dot(speed)
        size = larger(root(square), ROLLING)
        n = self.number("exponent") if bekker(self.soil) else const(1.0)
        reach = (
            (n + 1.0)
            * (3.0 - n)
            / 3.0
            * root(2.0 * self.radius)
            * root(larger(self.sunk, SMALLEST_SINKAGE))
        )
        above = self.z - (
            const(0.0)
            if self.soil.track is None
            else self.remembered(self.soil.track, place, speed, square / size)
        )
        shared = 1.0 / (reach * size)
        self.given = square * above * shared
        return speed.times(-(larger(above, 0.0) * shared))

    def remembered(self, track: Track, place: Vector, speed: Vector, travel: E) -> E:
        """Return the stored rut depth one cell ahead, and store this wheel's rut in the cells
        behind.
        """
        forwards = choose(speed.dot(self.axes(self.label, track)[1]) < 0.0, 0.0, 1.0)
        at, each_length = self.cell_at(self.label, track, place)
        for k, each in self.cells(self.label, track):
            behind = choose(forwards, at - k, k - at)
            weight = choose(behind < 0.0, 0.0, larger(1.0 - behind, 0.0))
            self.builder.define(
                rate_of_state(each),
                (WRITTEN / each_length * weight * travel * larger(self.z - name(each), 0.0)).node,
            )
        found = [self.depth_ahead(self.label, track, place, speed)]
        for other in track.follows:
            theirs: Any = self.builder.description.forces.get(other)
            if theirs is not None:  # it may have left with its body
                found.append(self.depth_ahead(other, theirs.soil.track, place, speed))
        return reduce(larger, found)

    def depth_ahead(self, label: str, track: Track, place: Vector, speed: Vector) -> E:
        """Return the stored depth of a track one cell ahead of the wheel."""
        ahead = self.cell_at(label, track, place)[0] + choose(
            speed.dot(self.axes(label, track)[1]) < 0.0, -1.0, 1.0
        )
        return sum(
            (
                larger(1.0 - absolute(ahead - k), 0.0) * name(each)
                for k, each in self.cells(label, track)
            ),
            const(0.0),
        )

    def number_of(self, label: str, track: Track, key: str) -> E:
        return E(self.builder.node(getattr(track, key), f"forces.{label}.soil.track.{key}"))

    def axes(self, label: str, track: Track) -> tuple[Vector, Vector]:
        """Return the start point and the direction of a track."""
        key = f"forces.{label}.soil.track"
        return vector_of(self.builder, track.at, f"{key}.at"), vector_of(
            self.builder, track.along, f"{key}.along"
        ).unit()

    def cell_at(self, label: str, track: Track, place: Vector) -> tuple[E, E]:
        """Return the position along a track in cells, and the length of a cell."""
        begin, along = self.axes(label, track)
        each = self.number_of(label, track, "length") / float(track.cells - 1)
        return place.minus(begin).dot(along) / each, each

    def cells(self, label: str, track: Track) -> list[tuple[float, str]]:
        """Return the positions (in cells) and the states of a track's cells."""
        return [(float(k), self.builder.made(f"{label}.rut_{k + 1}")) for k in range(track.cells)]


def bekker(soil: Soil) -> bool:
    return soil.friction_modulus != 0.0 or soil.cohesion_modulus != 0.0


def power(x: E, exponent: E) -> E:
    """Return x**exponent, linear below SMALLEST_SINKAGE and 0 below 0."""
    return larger(x, SMALLEST_SINKAGE) ** exponent * larger(
        smaller(x * (1.0 / SMALLEST_SINKAGE), 1.0), 0.0
    )


def check_soil(checker: Checker, path: Path, force: Standing, wheel: bool = False) -> None:
    """Report contradictory keys of a soil, and soil without strength."""
    soil, path = force.soil, (*path, "soil")
    if soil is None or path[:2] in checker.incomplete:
        return
    if (
        not {"strength", "hardening", "friction_modulus", "cohesion_modulus"}
        & soil.model_fields_set
    ):
        checker.complain(
            path,
            "nothing that carries",
            "strength, hardening, friction_modulus or cohesion_modulus",
        )
    if bekker(soil):
        for key in ("width",) if wheel else ("width", "area"):
            if getattr(soil, key) is None:
                checker.complain((*path, key), "nothing", "a number above 0, for Bekker's law")
    if wheel and "area" in soil.model_fields_set:
        checker.complain(
            (*path, "area"), "area", "no area: that of a wheel follows from its sinkage"
        )
    alone = sorted({"width", "area", "exponent"} & soil.model_fields_set)
    if alone and not bekker(soil):
        checker.complain(
            (*path, alone[0]),
            alone[0],
            "friction_modulus or cohesion_modulus, of whose law it is a part",
        )
    if soil.stiffness is not None and checker.number(soil.damping) == 0.0:
        checker.complain(
            (*path, "damping"),
            "0",
            "a number > 0: an elastic part without damping has no time of its own",
        )
    if soil.stiffness is None and {"stiffening", "damping"} & soil.model_fields_set:
        checker.complain(
            (*path, "stiffness"), "nothing", "the stiffness that stiffening and damping belong to"
        )
    if soil.track is not None and not wheel:
        checker.complain((*path, "track"), "a track", "no track: only tyres roll")
    for other in soil.track.follows if soil.track else ():
        known = checker.description.forces.get(other)
        if (
            checker.known((*path, "track", "follows"), other, checker.description.forces, "force")
            and known is not None
        ):
            theirs = getattr(known, "soil", None)
            if theirs is None or theirs.track is None:
                checker.complain((*path, "track", "follows"), f"'{other}'", "a tyre with a track")
