"""Branch-free choices that work for plain numbers and for SIMD lanes: select, minimum, maximum,
all-lanes test, floor and ceiling.

On plain numbers these are what Python writes as `a if condition else b`; `solvers/numbers` adds the same for its numbers.
"""

import numpy as np
from numba import types
from numba.extending import overload

from kinetree.solvers.kernel import OPTIONS


def select(condition, a, b):
    """Return a where the condition holds, else b, lane by lane; both arguments are evaluated."""
    return a if condition else b


def larger_of(a, b):
    """Return the larger of two values; of equal ones a, but of equal duals the one whose derivative
    makes it grow faster.
    """
    return select(b > a, b, a)


def smaller_of(a, b):
    """Return the smaller of two values lane by lane; of equal ones the one that `larger_of` does
    not return.
    """
    return select(b < a, b, a)


def every(condition):
    """Return whether a condition holds in all SIMD lanes."""
    return condition


def whole_below(x):
    """Return the largest integer not above x."""
    return np.floor(x)


def whole_above(x):
    """Return the smallest integer not below x."""
    return np.ceil(x)


@overload(select, jit_options=OPTIONS)
def plain_select(condition, a, b):
    return select if isinstance(condition, types.Boolean) else None


@overload(larger_of, jit_options=OPTIONS)
def plain_larger_of(a, b):
    return (
        (lambda a, b: select(b > a, b, a))
        if isinstance(a, types.Float) and isinstance(b, types.Float)
        else None
    )


@overload(smaller_of, jit_options=OPTIONS)
def plain_smaller_of(a, b):
    return (
        (lambda a, b: select(b < a, b, a))
        if isinstance(a, types.Float) and isinstance(b, types.Float)
        else None
    )


@overload(every, jit_options=OPTIONS)
def plain_every(condition):
    return every if isinstance(condition, types.Boolean) else None


@overload(whole_below, jit_options=OPTIONS)
def plain_whole_below(x):
    return whole_below if isinstance(x, types.Float) else None


@overload(whole_above, jit_options=OPTIONS)
def plain_whole_above(x):
    return whole_above if isinstance(x, types.Float) else None
