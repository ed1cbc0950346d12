"""Cross sections of beams: areas, second moments, torsion constants, shear areas and stresses, for
numbers or expressions.

Height h is along z, width w along y. Torsion constant of a rectangle: Roark's formula; of a box:
Bredt's. Shear areas: Cowper (1966).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from kinetree.models.expressions.node_arithmetic import E, absolute, larger, root, smaller
from kinetree.models.expressions.nodes import Const
from kinetree.models.language.parts.beam_parts import Section

PI = 3.141592653589793
Value = Any  # a float, or an expression E


def value_of(number: Any) -> Value:
    """Return a number of the description as an arithmetic value."""
    return number if isinstance(number, (float, int)) else E(number)


def smallest(a: Value, b: Value) -> Value:
    """Return the smaller of two values."""
    return min(a, b) if _plain(a, b) else smaller(a, b)


def largest(a: Value, b: Value) -> Value:
    """Return the larger of two values."""
    return max(a, b) if _plain(a, b) else larger(a, b)


def _plain(*values: Value) -> bool:
    return all(isinstance(each, (float, int)) for each in values)


class Sizes(NamedTuple):
    """Form and sizes of a section at one station, and given values that replace those computed from
    the form.
    """

    form: str
    sizes: tuple[Value, ...]
    j: Value | None = None
    shear: tuple[Value, Value] | None = None


def sizes_of(section: Section) -> Sizes:
    """Return the sizes of a cross section of the description."""
    given = (
        (section.area, section.iy, section.iz, section.j)
        if section.form == "numbers"
        else getattr(section, section.form)
    )
    return Sizes(
        section.form,
        tuple(map(value_of, given)),
        None if section.j is None else value_of(section.j),
        None if section.shear_area is None else tuple(map(value_of, section.shear_area)),  # type: ignore[arg-type]
    )


def blend(a: Sizes, b: Sizes, part: Value) -> Sizes:
    """Return the sizes between two sections of one form, interpolated at a fraction from 0 to 1."""

    def between(x: Value, y: Value) -> Value:
        return x if x is y or (_plain(x, y) and x == y) else x + part * (y - x)

    return Sizes(
        a.form,
        tuple(between(x, y) for x, y in zip(a.sizes, b.sizes, strict=True)),
        None if a.j is None or b.j is None else between(a.j, b.j),
        None
        if a.shear is None or b.shear is None
        else (between(a.shear[0], b.shear[0]), between(a.shear[1], b.shear[1])),
    )


class Moments(NamedTuple):
    """Area, second moments about y and z, torsion constant [m2, m4]."""

    area: Value
    iy: Value
    iz: Value
    j: Value


def moments(s: Sizes) -> Moments:
    """Return area, second moments and torsion constant of a section."""
    if s.form == "tube":
        r, i = s.sizes
        square = r * r, i * i
        polar = PI / 2.0 * (square[0] * square[0] - square[1] * square[1])
        found = Moments(PI * (square[0] - square[1]), 0.5 * polar, 0.5 * polar, polar)
    elif s.form == "rectangle":
        h, w = s.sizes
        long, short = largest(h, w), smallest(h, w)
        ratio = short / long
        j = long * short**3.0 * (1.0 / 3.0 - 0.21 * ratio * (1.0 - ratio**4.0 / 12.0))
        found = Moments(h * w, w * h**3.0 / 12.0, h * w**3.0 / 12.0, j)
    elif s.form == "box":
        h, w, t = s.sizes
        a, b = h - 2.0 * t, w - 2.0 * t
        j = 2.0 * t * (h - t) ** 2.0 * (w - t) ** 2.0 / (h + w - 2.0 * t)
        found = Moments(
            h * w - a * b,
            (w * h**3.0 - b * a**3.0) / 12.0,
            (h * w**3.0 - a * b**3.0) / 12.0,
            j,
        )
    else:
        found = Moments(*s.sizes)
    return found if s.j is None else found._replace(j=s.j)


def shear_areas(s: Sizes, poisson: Value) -> tuple[Value, Value] | None:
    """Return the shear areas along y and z; None if a section given by numbers has none."""
    if s.shear is not None:
        return s.shear
    area, v = moments(s).area, poisson
    if s.form == "tube":
        m = s.sizes[1] / s.sizes[0]
        m2 = m * m
        once = (1.0 + m2) * (1.0 + m2)
        k = 6.0 * (1.0 + v) * once / ((7.0 + 6.0 * v) * once + (20.0 + 12.0 * v) * m2)
        return area * k, area * k
    if s.form == "rectangle":
        k = 10.0 * (1.0 + v) / (12.0 + 11.0 * v)
        return area * k, area * k
    if s.form == "box":
        h, w, t = s.sizes

        def coefficient(height: Value, width: Value) -> Value:  # thin walls, walls of one thickness
            n = width / height
            above = 10.0 * (1.0 + v) * (1.0 + 3.0 * n) ** 2.0
            below = (
                12.0
                + 72.0 * n
                + 150.0 * n**2.0
                + 90.0 * n**3.0
                + v * (11.0 + 66.0 * n + 135.0 * n**2.0 + 90.0 * n**3.0)
                + 10.0 * n**3.0 * ((3.0 + v) + 3.0 * n)
            )
            return above / below

        return area * coefficient(w - t, h - t), area * coefficient(h - t, w - t)
    return None


def half_sizes(s: Sizes) -> tuple[Value, Value]:
    """Return the largest distances from the axis along y and z, for display; for a section given by
    numbers those of a round bar of equal area.
    """
    if s.form == "tube":
        return s.sizes[0], s.sizes[0]
    if s.form == "numbers":
        radius = (s.sizes[0] / PI) ** 0.5
        return radius, radius
    return 0.5 * s.sizes[1], 0.5 * s.sizes[0]


def von_mises(s: Sizes, load: tuple[E, E, E, E, E, E]) -> E:
    """Return the largest von Mises stress under n, vy, vz, mx, my, mz, over the points of a section
    where one of its parts is largest.

    Round sections: outermost fibre of bending, and the neutral axis of shear. Angular ones:
    corners, middles of the sides, and the centre of a solid section. Transverse shear: 3/2 V/A of a
    rectangle, V S/(I 2t) of thin walls, 4/3 V/A (r² + r i + i²)/(r² + i²) of a tube.
    """
    n, vy, vz, mx, my, mz = load
    a, iy, iz, j = moments(s)
    axial, zero = absolute(n) / a, E(Const(0.0))
    if s.form == "tube":
        r, i = (E(each) for each in s.sizes)
        twist = absolute(mx) * r / j
        bent = axial + root(my * my + mz * mz) * r / iy
        shear = (
            root(vy * vy + vz * vz) / a * (4.0 / 3.0) * (r * r + r * i + i * i) / (r * r + i * i)
        )
        points = [(bent, twist), (axial, twist + shear)]
    else:
        height, width = s.sizes[0], s.sizes[1]
        by, bz = absolute(my) * (0.5 * height) / iy, absolute(mz) * (0.5 * width) / iz
        if s.form == "box":
            t = s.sizes[2]
            h, w = height - t, width - t
            flow = absolute(mx) / (2.0 * t * h * w)
            # largest shear stress of the webs at mid-height, and in the corners
            sz = absolute(vz) / (iy * 2.0 * t)
            sy = absolute(vy) / (iz * 2.0 * t)
            corner_z, corner_y = sz * (0.5 * t * w * h), sy * (0.5 * t * w * h)
            web, flange = corner_z + sz * (t * h * h / 4.0), corner_y + sy * (t * w * w / 4.0)
            corner = root(corner_z * corner_z + corner_y * corner_y)
            points = [
                (axial + by + bz, flow + corner),
                (axial + bz, flow + web),
                (axial + by, flow + flange),
            ]
        else:
            long, short = largest(height, width), smallest(height, width)
            side = absolute(mx) * (3.0 + 1.8 * (short / long)) / (long * short * short)
            end = side * (short / long) ** 0.5  # at the middle of the short sides, about
            sy, sz = 1.5 * absolute(vy) / a, 1.5 * absolute(vz) / a
            tall = 1.0 if _plain(height, width) and height >= width else 0.0
            if not _plain(height, width):
                tall = E(height) >= E(width)
            at_sides = end + tall * (side - end)  # sides at y = ±w/2, which are long if tall
            at_faces = side + tall * (end - side)
            points = [
                (axial + by + bz, zero),
                (axial + bz, at_sides + sz),
                (axial + by, at_faces + sy),
                (axial, root(sy * sy + sz * sz)),
            ]
    squares = [E(normal) * E(normal) + 3.0 * (E(shear) * E(shear)) for normal, shear in points]
    most = squares[0]
    for each in squares[1:]:
        most = larger(most, each)
    return root(most)
