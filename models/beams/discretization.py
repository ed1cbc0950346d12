"""Discretisation of a beam as a chain of rigid pieces: elements with hinges at their two Gauss
points, masses and stiffnesses.

An element of length l has hinges at l/2 ± l/(2√3) with bending stiffness 2 E I/l, twist 2 G J/l,
shear 2 G A_s/l and extension 2 E A/l; the pieces between the hinges have the mass, centre and
inertia of their part of the beam. Elements end at the stations of supports and loads and where
sections change, so that deflection and slope under end loads are exact there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from kinetree.models.expressions.node_arithmetic import E
from kinetree.models.expressions.nodes import Const
from kinetree.models.expressions.parse import evaluate_constant
from kinetree.models.expressions.to_text import written
from kinetree.models.language.numbers_and_expressions import Expression
from kinetree.models.language.parts.beam_parts import Beam
from kinetree.models.language.parts.material_parts import SHEAR_RATIO, Material
from kinetree.models.quantities.cross_sections import (
    Moments,
    Sizes,
    Value,
    blend,
    moments,
    shear_areas,
    sizes_of,
)

ELEMENTS, FREE_ELEMENTS = 5, 6  # of a beam that is held somewhere, and of a free one
SHARED_END = 0.1  # of a mean element: nearer places share one end of an element
SAME = 1e-9  # of the length: stations that are one
FIRST = 1.875104068711961  # first root of cos x cosh x = -1
GAUSS = 8  # points of integrals along a tapered beam

Numbers = Mapping[str, float]


class BeamProblem(ValueError):
    """Raised for a beam that cannot be discretised: key, value found, what was expected."""

    def __init__(self, key: str, found: str, expected: str):
        super().__init__(f"{key}: {found}; expected {expected}")
        self.key, self.found, self.expected = key, found, expected


def plain_number(value: Any, values: Numbers) -> float:
    """Return the value of a number or of an expression in parameters."""
    return float(value) if isinstance(value, (float, int)) else evaluate_constant(value, values)


def text_of(value: Value) -> float | Expression:
    """Return a computed value as a number or expression of the description."""
    if isinstance(value, (float, int)):
        return float(value)
    return value.node.value if isinstance(value.node, Const) else Expression(written(value.node))


class Profile:
    """Cross sections along a beam."""

    def __init__(self, beam: Beam, values: Numbers):
        self.places = [plain_number(at, values) for at, _ in beam.section]
        self.sizes = [sizes_of(section) for _, section in beam.section]
        forms = {each.form for each in self.sizes}
        if len(forms) > 1:
            raise BeamProblem("section", " and ".join(sorted(forms)), "sections of one form")
        if any(b < a for a, b in zip(self.places, self.places[1:], strict=False)):
            raise BeamProblem("section", "stations that descend", "ascending stations")

    @property
    def uniform(self) -> bool:
        return len(self.places) == 1

    def at(self, x: float) -> Sizes:
        """Return section sizes at a station; at a jump those on the side of the tip."""
        k = sum(place <= x for place in self.places)
        if k == 0 or k == len(self.places):
            return self.sizes[max(k - 1, 0)]
        a, b = self.places[k - 1], self.places[k]
        return blend(self.sizes[k - 1], self.sizes[k], (x - a) / (b - a))


@lru_cache
def gauss_points(count: int) -> tuple[tuple[float, float], ...]:
    """Return points in 0..1 and weights of Gauss quadrature."""
    points, weights = np.polynomial.legendre.leggauss(count)
    return tuple(
        (0.5 + 0.5 * float(p), 0.5 * float(w)) for p, w in zip(points, weights, strict=True)
    )


class Stiffness(NamedTuple):
    """Stiffness (or damping) of one hinge: about x, y, z and along x, y, z; 0 means that the hinge
    is rigid in that direction.
    """

    twist: Value = 0.0
    about_y: Value = 0.0
    about_z: Value = 0.0
    along_x: Value = 0.0
    along_y: Value = 0.0
    along_z: Value = 0.0


class Hinge(NamedTuple):
    """One hinge: its station, stiffness and damping."""

    station: float
    stiffness: Stiffness
    damping: Stiffness


class Piece(NamedTuple):
    """A rigid piece between two stations: mass, centre of mass from its beginning, and inertia
    about it.
    """

    begin: float
    end: float
    mass: Value
    centre: Value
    inertia: tuple[Value, Value, Value]


@dataclass(frozen=True)
class Chain:
    """A discretised beam: hinges, the pieces between them, and the ends of its elements."""

    length: float
    ends: tuple[float, ...]
    hinges: tuple[Hinge, ...]
    profile: Profile

    def moments_at(self, x: float) -> Moments:
        """Return area and second moments at a station."""
        return moments(self.profile.at(x))


def element_ends(length: float, count: int, wanted: Iterable[float]) -> tuple[float, ...]:
    """Return the ends of at least `count` elements, including the requested stations."""
    near = SHARED_END * length / count
    fixed = [0.0]
    for place in sorted(wanted):
        if fixed[-1] + near < place < length - near:
            fixed.append(place)
    fixed.append(length)
    spans = [b - a for a, b in zip(fixed, fixed[1:], strict=False)]
    shares = [1] * len(spans)
    while sum(shares) < count:  # the longest elements are divided first
        k = max(range(len(spans)), key=lambda k: spans[k] / shares[k])
        shares[k] += 1
    ends = [0.0]
    for begin, span, share in zip(fixed, spans, shares, strict=False):
        ends += [begin + span * j / share for j in range(1, share + 1)]
    return tuple(ends)


def moduli(material: Material) -> tuple[Value, Value, Value]:
    """Return density, Young's modulus and shear modulus of a material."""

    def value(number: Any) -> Value:
        return number if isinstance(number, (float, int)) else E(number)

    if material.youngs_modulus is None:
        raise BeamProblem("material", "no youngs_modulus", "a material with youngs_modulus")
    young = value(material.youngs_modulus)
    shear = young / SHEAR_RATIO if material.shear_modulus is None else value(material.shear_modulus)
    return value(material.density), young, shear


def chain_of(
    beam: Beam, material: Material, values: Numbers, wanted: Iterable[float], free: bool
) -> Chain:
    """Return the discretisation of a beam; `wanted` are stations where something is attached."""
    length = plain_number(beam.length, values)
    if not length > 0.0:
        raise BeamProblem("length", f"{length:g}", "a number > 0")
    profile = Profile(beam, values)
    density, young, shear = moduli(material)
    count = beam.segments or (FREE_ELEMENTS if free else ELEMENTS)
    ends = element_ends(length, count, [*wanted, *profile.places])
    beta = retardations(beam, profile, length, density, young, shear)
    poisson = young / (2.0 * shear) - 1.0
    hinges = []
    for a, b in zip(ends, ends[1:], strict=False):
        share = 2.0 / (b - a)
        for point, _ in gauss_points(2):
            x = a + (b - a) * point
            stiffness = hinge_stiffness(beam, profile.at(x), young, shear, poisson, share)
            damping = Stiffness(*(k * t for k, t in zip(stiffness, beta, strict=True)))
            hinges.append(Hinge(x, stiffness, damping))
    return Chain(length, ends, tuple(hinges), profile)


def hinge_stiffness(
    beam: Beam, sizes: Sizes, young: Value, shear: Value, poisson: Value, share: Value
) -> Stiffness:
    """Return the stiffness of one hinge, `share` = 2/l of its element."""
    a, iy, iz, j = moments(sizes)
    about_y, about_z = beam.bending in ("all", "y"), beam.bending in ("all", "z")
    areas = shear_areas(sizes, poisson) if beam.shear else None
    if beam.shear and areas is None:
        raise BeamProblem("section", "numbers without shear_area", "shear_area, as shear = true")
    return Stiffness(
        share * shear * j if beam.bending == "all" else 0.0,
        share * young * iy if about_y else 0.0,
        share * young * iz if about_z else 0.0,
        share * young * a if beam.extension else 0.0,
        share * shear * areas[0] if areas and about_z else 0.0,
        share * shear * areas[1] if areas and about_y else 0.0,
    )


def retardations(
    beam: Beam, profile: Profile, length: float, density: Value, young: Value, shear: Value
) -> tuple[Value, ...]:
    """Return the retardation times [s] (damping over stiffness) of twist, bending, extension and
    shear.
    """
    if beam.damping == 0.0:
        return (0.0,) * 6
    ratio = beam.damping if isinstance(beam.damping, (float, int)) else E(beam.damping)

    def times(stiff: Callable[[Moments], Value], heavy: Callable[[Moments], Value], bends: bool):
        return 2.0 * ratio / first_frequency(profile, length, stiff, heavy, bends)

    twist = times(lambda m: shear * m.j, lambda m: density * (m.iy + m.iz), False)
    about_y, about_z = (
        times(lambda m, k=k: young * m[k], lambda m: density * m.area, True) for k in (1, 2)
    )
    along = times(lambda m: young * m.area, lambda m: density * m.area, False)
    return twist, about_y, about_z, along, about_z, about_y


def first_frequency(
    profile: Profile,
    length: float,
    stiff: Callable[[Moments], Value],
    heavy: Callable[[Moments], Value],
    bends: bool,
) -> Value:
    """Return the first natural frequency [rad/s] of the beam clamped at its root: exact if it is
    uniform, else Rayleigh's quotient with the shape of a uniform one.
    """
    wave = FIRST if bends else 0.5 * math.pi
    power = 4 if bends else 2
    if profile.uniform:
        m = moments(profile.sizes[0])
        return (stiff(m) / heavy(m)) ** 0.5 * (wave / length) ** (power / 2)
    above, below = 0.0, 0.0
    for point, weight in gauss_points(GAUSS):
        m = moments(profile.at(length * point))
        shape, slope = bending_shape(point) if bends else twisting_shape(point)
        above = above + weight * slope * slope * stiff(m)
        below = below + weight * shape * shape * heavy(m)
    return (above / below) ** 0.5 / length ** (power / 2)  # type: ignore[operator]


def bending_shape(x: float) -> tuple[float, float]:
    """Return the first bending shape of a uniform cantilever at fraction x of its length, and its
    second derivative.
    """
    k = FIRST
    s = (math.cosh(k) + math.cos(k)) / (math.sinh(k) + math.sin(k))
    z = k * x
    shape = math.cosh(z) - math.cos(z) - s * (math.sinh(z) - math.sin(z))
    return shape, k * k * (math.cosh(z) + math.cos(z) - s * (math.sinh(z) + math.sin(z)))


def twisting_shape(x: float) -> tuple[float, float]:
    """Return the first shape of a uniform bar in torsion or extension at fraction x of its length,
    and its derivative.
    """
    return math.sin(0.5 * math.pi * x), 0.5 * math.pi * math.cos(0.5 * math.pi * x)


def piece_of(chain: Chain, density: Value, begin: float, end: float, disc: float = 0.0) -> Piece:
    """Return mass, centre of mass and inertia of a part of the beam, exact for sizes linear in x; a
    length `disc` at its beginning is left out.
    """
    if disc:
        part = piece_of(chain, density, begin + disc, end)
        return part._replace(begin=begin, centre=part.centre + disc)
    breaks = [begin, *(p for p in chain.profile.places if begin < p < end), end]
    mass, first = 0.0, 0.0
    places: list[tuple[float, Value, Moments]] = []
    if chain.profile.uniform:
        m, length = moments(chain.profile.sizes[0]), end - begin
        line = density * m.area
        across = line * (length**3 / 12.0)
        around = density * length
        inertia = (
            around * (m.iy + m.iz),
            across + around * m.iy,
            across + around * m.iz,
        )
        return Piece(begin, end, line * length, 0.5 * length, inertia)
    for a, b in zip(breaks, breaks[1:], strict=False):
        for point, weight in gauss_points(3):
            x = a + (b - a) * point
            m = chain.moments_at(x)
            share = weight * (b - a) * density
            places.append((x - begin, share, m))
            mass = mass + share * m.area
            first = first + share * m.area * (x - begin)
    centre = first / mass
    around, about_y, about_z = 0.0, 0.0, 0.0
    for x, share, m in places:
        off = (x - centre) * (x - centre) * m.area
        around = around + share * (m.iy + m.iz)
        about_y = about_y + share * (m.iy + off)
        about_z = about_z + share * (m.iz + off)
    return Piece(begin, end, mass, centre, (around, about_y, about_z))
