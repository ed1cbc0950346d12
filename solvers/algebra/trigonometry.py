"""Sine and cosine of one angle."""

import math

from numba import types
from numba.extending import overload

from kinetree.solvers.kernel import OPTIONS


def sincos(angle):
    """Sine and cosine together."""
    return math.sin(angle), math.cos(angle)


@overload(sincos, jit_options=OPTIONS)
def plain_sincos(angle):
    return sincos if isinstance(angle, types.Float) else None
