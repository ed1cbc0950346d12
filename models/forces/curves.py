"""Curves in space and their point nearest to a pin, for expressions or, in tests, arrays of
numbers.

A curve c(s) is a cubic spline through points, s the chord length, or a helix about z, s the angle.
The point nearest to r solves (r - c)·c' = 0. The search starts on a spline at the nearest point of
the polygon through its points, on a helix at the pin's own angle in the turn of its height. Newton
steps follow: (r - c)·c' / max(|c'|² - (r - c)·c'', least |c'|²), bounded so that they descend even
if r is beyond the centre of curvature. Beside a bend the first one is a Gauss-Newton step, (r -
c)·c' / |c'|², which is never longer than the offset and needs no bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from kinetree.models.expressions.vectors import Vector

OVERLAP = 24  # points beyond both ends of a closed curve, where its spline no longer knows of them
SPLINE_STEPS = (None, 0.5, 0.2, 0.2)  # least of each of Newton's steps; None is Gauss's
HELIX_STEPS = (0.2, 0.2, 0.2)
At = Callable[[Any], tuple[Vector, ...]]  # s to the vectors c, c', c''


class Arithmetic(NamedTuple):
    """Functions with one implementation for expressions and one for arrays."""

    larger: Callable[[Any, Any], Any]
    smaller: Callable[[Any, Any], Any]
    choose: Callable[[Any, Any, Any], Any]
    sin: Callable[[Any], Any]
    cos: Callable[[Any], Any]
    atan2: Callable[[Any, Any], Any]
    floor: Callable[[Any], Any]
    keep: Callable[[str, Any], Any]  # names a value that is used more than once


class Knots(NamedTuple):
    """Points of a spline with their parameters s, extended beyond both ends of a closed curve, and
    its segments.
    """

    s: np.ndarray
    points: np.ndarray
    ways: range
    end: float


def knots(points: Any, closed: bool) -> Knots:
    places = np.array(points, dtype=float)
    n = len(places)
    lengths = np.linalg.norm(np.diff(np.vstack([places, places[:1]]), axis=0), axis=1)
    s = np.concatenate([[0.0], np.cumsum(lengths[:-1])])
    if not closed:
        return Knots(s, places, range(n - 1), float(s[-1]))
    end = float(lengths.sum())
    around = np.arange(-OVERLAP, n + OVERLAP + 1)
    return Knots(
        s[around % n] + end * (around // n), places[around % n], range(OVERLAP, OVERLAP + n), end
    )


def beginning(known: Knots, r: Vector, by: Arithmetic) -> Any:
    """Return s of the point of the polygon that is closest to r; squared distances omit |r|²."""
    best = least = None
    for number, k in enumerate(known.ways):
        begin, end = float(known.s[k]), float(known.s[k + 1])
        axis = (known.points[k + 1] - known.points[k]) / (end - begin)
        foot = known.points[k] - begin * axis  # where the line through both points has s = 0
        line = by.keep(f"line {number}", dotted(axis, r, -foot @ axis))
        s = by.keep(f"way {number}", by.smaller(by.larger(line, begin), end))
        square = by.keep(
            f"way {number} square", s * (s - 2.0 * line) + dotted(-2.0 * foot, r, foot @ foot)
        )
        if best is None:
            best, least = s, square
        else:
            best = by.keep(f"nearest {number}", by.choose(square < least, s, best))
            least = by.keep(f"nearest {number} square", by.smaller(square, least))
    return best


def dotted(numbers: np.ndarray, r: Vector, more: float) -> Any:
    return float(more) + float(numbers[0]) * r.x + float(numbers[1]) * r.y + float(numbers[2]) * r.z


def winding(radius: Any, rise: Any, by: Arithmetic) -> At:
    """Return position c and derivatives c', c'' of a helix."""

    def at(s: Any) -> tuple[Vector, ...]:
        x, y = radius * by.cos(s), radius * by.sin(s)
        return Vector(x, y, rise * s), Vector(-y, x, rise + 0.0 * s), Vector(-x, -y, 0.0 * s)

    return at


def angle(rise: Any, r: Vector, by: Arithmetic) -> Any:
    """Return the pin's own angle about the helix axis, in the turn of its height."""
    own = by.atan2(r.y, r.x)
    return own + 2.0 * math.pi * by.floor((r.z / rise - own) / (2.0 * math.pi) + 0.5)


def improved(at: At, s: Any, r: Vector, least: float | None, by: Arithmetic) -> Any:
    """Return s after one step of the closest-point search."""
    c, d, dd = at(s)
    offset, square = r.minus(c), d.dot(d)
    return s + offset.dot(d) / (
        square if least is None else by.larger(square - offset.dot(dd), least * square)
    )


def nearest(at: At, s: Any, r: Vector, steps: Sequence[float | None], by: Arithmetic) -> Any:
    for k, least in enumerate(steps):
        s = by.keep(f"step {k}", improved(at, s, r, least, by))
    return s
