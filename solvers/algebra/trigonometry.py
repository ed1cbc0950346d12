"""Sine and cosine of one angle, computed together and inlined: a call of the C library would cost
half as much as a whole joint.

The angle is reduced by multiples of pi/2, which is subtracted in three parts (exact for fewer than
2^20 quarter turns). The remainder goes through the polynomials of fdlibm: errors stay below 1.33
units in the last place. Larger angles go to the C library.
"""

import math

from numba import types
from numba.extending import overload

from kinetree.solvers.algebra.lane_select import whole_below
from kinetree.solvers.kernel import OPTIONS, inline

# pi/2 in parts of 33 bits, and the rest
QUARTER = (1.57079632673412561417, 6.07710050630396597660e-11, 2.02226624879595063154e-21)
MOST_TURNS = 1e6
SINE = (-1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04, 2.75573137070700676789e-06,
        -2.50507602534068634195e-08, 1.58969099521155010221e-10)  # fmt: skip
COSINE = (4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05, -2.75573143513906633035e-07,
          2.08757232129817482790e-09, -1.13596475577881948265e-11)  # fmt: skip


@inline
def polynomial(z, c):
    """Return the polynomial c0 + c1 z + ... + c5 z^5 with the coefficients c."""
    return c[0] + z * (c[1] + z * (c[2] + z * (c[3] + z * (c[4] + z * c[5]))))


@inline
def within_a_quarter(angle, turns):
    """Return sine and cosine of an angle that is reduced by the given number of quarter turns
    first.
    """
    high = angle - turns * QUARTER[0]
    low = turns * QUARTER[1]
    r = high - low
    r = r - (turns * QUARTER[2] - ((high - r) - low))
    z = r * r
    return r + r * z * polynomial(z, SINE), 1.0 - (0.5 * z - z * z * polynomial(z, COSINE))


def sincos(angle):
    """Return sine and cosine of an angle [rad]."""
    return plain_sincos(angle)


@inline
def plain_sincos(angle):
    """Return sine and cosine of an angle [rad] given as a plain number (no SIMD lanes, no dual)."""
    turns = whole_below(angle * (2.0 / math.pi) + 0.5)
    if not abs(turns) < MOST_TURNS:
        return math.sin(angle), math.cos(angle)
    k = int(turns)
    s, c = within_a_quarter(angle, turns)
    sine = c if k & 1 else s
    cosine = s if k & 1 else c
    return -sine if k & 2 else sine, -cosine if (k + 1) & 2 else cosine


@overload(sincos, jit_options=OPTIONS | {"forceinline": True})
def sincos_of_plain(angle):
    return sincos if isinstance(angle, types.Float) else None
