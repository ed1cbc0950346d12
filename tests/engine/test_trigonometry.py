"""Sine and cosine of joints against 40 digits."""

import math

import mpmath
import numpy as np
import pytest
from numba import njit

from kinetree.solvers.algebra.trigonometry import MOST_TURNS, sincos


@njit
def compiled(angle):
    return sincos(angle)


def angles() -> np.ndarray:
    """Small and large ones, whole quarter turns with their neighbours, both sides of where the C library takes over."""
    rng = np.random.default_rng(1)
    quarters = np.arange(-40, 41) * math.pi / 2
    edge = MOST_TURNS * math.pi / 2
    spread = np.concatenate([scale * rng.normal(size=300) for scale in (1e-9, 1e-3, 1.0, 1e2, 1e5)])
    near = np.concatenate(
        [
            np.nextafter(quarters, -np.inf),
            quarters,
            np.nextafter(quarters, np.inf),
            quarters + 0.5 * math.pi / 2,
        ]
    )
    return np.concatenate(
        [spread, near, [0.0, -0.0, edge * (1 - 1e-9), edge * (1 + 1e-9), -edge, 1e12, -1e15]]
    )


@pytest.mark.parametrize("function", [sincos, compiled], ids=["plain Python", "compiled"])
def test_trigonometric_error_is_below_two_ulp(function):
    """Half a unit from rounding what is left of the angle, half from the last addition, a third from the polynomials and the cosine's 1 - z/2."""
    with mpmath.workdps(40):
        for angle in angles():
            for found, exact in zip(
                function(float(angle)),
                (mpmath.sin(mpmath.mpf(angle)), mpmath.cos(mpmath.mpf(angle))),
                strict=True,
            ):
                assert abs(mpmath.mpf(found) - exact) <= 1.33 * math.ulp(float(exact)), angle


@pytest.mark.parametrize("function", [sincos, compiled], ids=["plain Python", "compiled"])
def test_sine_of_nan_is_nan(function):
    assert all(math.isnan(each) for each in function(math.nan))


def test_sine_of_infinite_angle_is_nan():
    assert all(math.isnan(each) for each in compiled(math.inf))
