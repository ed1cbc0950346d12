"""Validation of a curve before a run: the closest-point search is tested with pins on and beside
the curve.

The result for each pin is compared with the nearest of many points of the curve, refined until it
converges. The search has failed if it ends farther away than that, or if another step would still
move it, by more than a fraction of the distance between the points there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from kinetree.models.expressions.vectors import Vector
from kinetree.models.forces.curves import (
    HELIX_STEPS,
    SPLINE_STEPS,
    Arithmetic,
    At,
    angle,
    beginning,
    improved,
    knots,
    nearest,
    winding,
)

SHARE = 1e-6  # of the distance between two points that a nearest place may be wrong by
BESIDE = 0.02  # of that distance, how far beside the curve pins without clearance are tried
PLACES, FEWEST, MOST = 240, 5, 40  # pins along the curve, and between two points
SIDES = 6
FINER = 4  # places of the curve to each of the pins, whose nearest begins the comparison
IMPROVEMENTS = 8
TURNS, WAYS = 3, 8  # of a helix, and how many ways each of them is taken for
NUMBERS = Arithmetic(
    np.maximum, np.minimum, np.where, np.sin, np.cos, np.arctan2, np.floor, lambda key, value: value
)


class Fault(NamedTuple):
    """A failed closest-point search: the segments of the true closest point and of the one found,
    and the curve's dimensions there.
    """

    way: int
    ended: int
    length: float
    radius: float


class Trial(NamedTuple):
    """A curve in numbers for tests: position and derivatives, start of the search, its steps, s of
    the points, whether it has two ends.
    """

    at: At
    begun: Callable[[Vector], Any]
    steps: Sequence[float | None]
    s: np.ndarray
    ends: bool


@lru_cache(maxsize=64)
def spline_fault(
    points: tuple[tuple[float, float, float], ...], closed: bool, clearance: float
) -> Fault | None:
    from scipy.interpolate import (
        CubicSpline,
    )  # costs a quarter of a second, few descriptions need it

    known = knots(points, closed)
    curve = CubicSpline(known.s, known.points)
    slope, bend = curve.derivative(), curve.derivative(2)

    def at(s: Any) -> tuple[Vector, ...]:
        inside = np.clip(s, known.s[0], known.s[-1])
        out, d = (s - inside)[:, None], slope(inside)
        return (
            Vector(*(curve(inside) + out * d).T),
            Vector(*d.T),
            Vector(*np.where(out == 0.0, bend(inside), 0.0).T),
        )

    s = known.s[known.ways.start : known.ways.stop + 1]
    return fault(
        Trial(at, lambda r: beginning(known, r, NUMBERS), SPLINE_STEPS, s, not closed), clearance
    )


@lru_cache(maxsize=64)
def helix_fault(radius: float, pitch: float, clearance: float) -> Fault | None:
    """Return the fault of the closest-point search on some turns of a helix, which represent all
    others, or None.
    """
    rise = pitch / (2.0 * math.pi)
    s = 2.0 * math.pi * TURNS * np.linspace(-0.5, 0.5, TURNS * WAYS + 1)
    return fault(
        Trial(
            winding(radius, rise, NUMBERS),
            lambda r: angle(rise, r, NUMBERS),
            HELIX_STEPS,
            s,
            ends=False,
        ),
        clearance,
    )


def fault(trial: Trial, clearance: float) -> Fault | None:
    """Return the worst failure of the closest-point search on a curve, or None."""
    s, ways = trial.s, np.diff(trial.s)
    each = min(max(PLACES // len(ways), FEWEST), MOST)
    fine = (s[:-1, None] + ways[:, None] * np.arange(each * FINER) / (each * FINER)).ravel()
    way = np.arange(fine.size) // (each * FINER)
    c, d, dd = (np.array(vector) for vector in trial.at(fine))
    speed, points = np.linalg.norm(d, axis=0), np.array(trial.at(s)[0])
    length = np.linalg.norm(np.diff(points, axis=1), axis=0)
    on = way[::FINER]
    pins = around(
        c[:, ::FINER],
        d[:, ::FINER] / speed[::FINER],
        np.full(on.size, clearance) if clearance > 0.0 else BESIDE * length[on],
    )
    on = np.tile(on, SIDES + 1)
    r = Vector(*pins)
    found = nearest(trial.at, trial.begun(r), r, trial.steps, NUMBERS)
    ended = np.clip(found, s[0], s[-1]) if trial.ends else found
    still = np.abs(improved(trial.at, found, r, trial.steps[-1], NUMBERS) - found) * np.tile(
        speed[::FINER], SIDES + 1
    )
    right, least = nearest_of(trial, fine, c, pins)
    missed = np.maximum(away(trial.at, ended, pins) - least, still) / (SHARE * length[on])
    worst = int(missed.argmax())
    if missed[worst] <= 1.0:
        return None
    bending = np.linalg.norm(np.cross(d, dd, axis=0), axis=0) / speed**3
    here, there = (way_at(s, float(place[worst])) for place in (right, ended))
    return Fault(here, there, float(length[here]), 1.0 / float(bending[way == here].max()))


def way_at(s: np.ndarray, place: float) -> int:
    """Return the segment that contains arc length s [m], taken modulo the length of a closed curve."""
    within = place if s[0] <= place <= s[-1] else s[0] + (place - s[0]) % (s[-1] - s[0])
    return min(int(np.searchsorted(s, within, side="right")), s.size - 1) - 1


def around(middle: np.ndarray, along: np.ndarray, beside: np.ndarray) -> np.ndarray:
    """Return pin positions on the curve and beside it in all directions."""
    across = np.cross(along, np.eye(3)[np.abs(along).argmin(axis=0)].T, axis=0)
    across /= np.linalg.norm(across, axis=0)
    other = np.cross(along, across, axis=0)
    turns = 2.0 * math.pi * np.arange(SIDES) / SIDES
    return np.hstack(
        [
            middle,
            *(
                middle + beside * (math.cos(turn) * across + math.sin(turn) * other)
                for turn in turns
            ),
        ]
    )


def away(at: At, s: Any, pins: np.ndarray) -> Any:
    return np.linalg.norm(pins - np.array(at(s)[0]), axis=0)


def nearest_of(trial: Trial, fine: np.ndarray, c: np.ndarray, pins: np.ndarray) -> tuple[Any, Any]:
    """Return the parameter s of the curve point nearest to each pin, and its distance."""
    k = ((c * c).sum(axis=0) - 2.0 * (pins.T @ c)).argmin(axis=1)
    s, r, step = fine[k], Vector(*pins), float(np.diff(fine).max())
    low, high = (
        (s - step, s + step)
        if not trial.ends
        else (np.maximum(s - step, trial.s[0]), np.minimum(s + step, trial.s[-1]))
    )
    for _ in range(IMPROVEMENTS):
        s = np.clip(improved(trial.at, s, r, trial.steps[-1], NUMBERS), low, high)
    return s, np.minimum(away(trial.at, fine[k], pins), away(trial.at, s, pins))
