"""Functions of lanes and duals: what kernels call on plain numbers, for the wide ones.

Lanes: square root, absolute value and rounding at once, sine and cosine by polynomials, all else lane by lane.
Duals: f(a)' = f'(a) a', lane functions have slopes zero where they are flat.
"""

import builtins
import math
import operator

from numba.extending import overload

from kinetree.solvers.algebra.choose import every, select, whole_above, whole_below
from kinetree.solvers.algebra.trigonometry import sincos
from kinetree.solvers.kernel import OPTIONS, kernel
from kinetree.solvers.lanes.primitive import (
    all_of,
    as_dual,
    blend,
    ceilings,
    dual_of,
    floors,
    lane,
    lanes_of,
    nearest,
    quarter,
    roots,
    sizes,
    slopes_of,
    value_of,
    with_lane,
)
from kinetree.solvers.lanes.types import DUAL, LANES, MASK, WIDTH, LanesType

# quarter turns of fewer than 2^20 are taken off exactly: pi/2 in parts of 33 bits, and the rest
QUARTER = (1.57079632673412561417, 6.07710050630396597660e-11, 2.02226624879595063154e-21)
MOST_TURNS = 1e6
SINE = (-1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04, 2.75573137070700676789e-06,
        -2.50507602534068634195e-08, 1.58969099521155010221e-10)  # fmt: skip
COSINE = (4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05, -2.75573143513906633035e-07,
          2.08757232129817482790e-09, -1.13596475577881948265e-11)  # fmt: skip


def overloaded(function, *wanted):
    """Add an implementation for the given wide type as first argument; others, if any, are wide as well or plain."""

    def decorate(make):
        body = kernel(make)

        def one(a):
            return (lambda a: body(a)) if a is wanted[0] else None

        def two(a, b):
            if wide_pair(a, b) is not wanted[0]:
                return None
            return lambda a, b: body(a, b)

        overload(function, jit_options=OPTIONS, strict=False)(one if make.__code__.co_argcount == 1 else two)
        return body

    return decorate


def wide_pair(a, b):
    """The wide type of two arguments; None for plain ones."""
    found = [each for each in (a, b) if isinstance(each, LanesType)]
    return found[0] if found else None


# -- decisions and rounding -----------------------------------------------------------------------------------------------------------------
@overload(every, jit_options=OPTIONS)
def mask_every(condition):
    return (lambda condition: all_of(condition)) if condition is MASK else None


@overload(select, jit_options=OPTIONS)
def mask_select(condition, a, b):
    return (lambda condition, a, b: blend(condition, a, b)) if condition is MASK else None


@overloaded(math.sqrt, LANES)
def lanes_sqrt(a):
    return roots(a)


@overloaded(math.sqrt, DUAL)
def dual_sqrt(a):
    root = math.sqrt(value_of(a))
    return dual_of(root, slopes_of(a) * (0.5 / root))


@overloaded(builtins.abs, LANES)
def lanes_abs(a):
    return sizes(a)


@overloaded(builtins.abs, DUAL)
def dual_abs(a):
    return -a if value_of(a) < 0.0 else a


@overloaded(builtins.max, DUAL)
def dual_max(a, b):
    return select(b > a, as_dual(b), as_dual(a))


@overloaded(builtins.min, DUAL)
def dual_min(a, b):
    return select(b < a, as_dual(b), as_dual(a))


@overload(whole_below, jit_options=OPTIONS)
def wide_whole_below(x):
    if x is LANES:
        return lambda x: floors(x)
    return (lambda x: whole_below(value_of(x))) if x is DUAL else None


@overload(whole_above, jit_options=OPTIONS)
def wide_whole_above(x):
    if x is LANES:
        return lambda x: ceilings(x)
    return (lambda x: whole_above(value_of(x))) if x is DUAL else None


@overloaded(operator.mod, LANES)
def lanes_mod(a, b):
    first = lanes_of(a)
    second = lanes_of(b)
    out = first
    for k in range(WIDTH):
        out = with_lane(out, k, lane(first, k) % lane(second, k))
    return out


@overloaded(operator.mod, DUAL)
def dual_mod(a, b):
    first = as_dual(a)
    second = as_dual(b)
    return first - second * whole_below(value_of(first) / value_of(second))


# -- sine and cosine ------------------------------------------------------------------------------------------------------------------------
@kernel
def polynomial(z, c):
    """c0 + c1 z + ... + c5 z^5."""
    return c[0] + z * (c[1] + z * (c[2] + z * (c[3] + z * (c[4] + z * c[5]))))


@kernel
def lanes_sincos(x):
    """Quarter turns taken off in three parts, then the polynomials of fdlibm; large angles lane by lane."""
    turns = nearest(x * (2.0 / math.pi))
    if not every(sizes(turns) < MOST_TURNS):
        s = x
        c = x
        for k in range(WIDTH):
            s = with_lane(s, k, math.sin(lane(x, k)))
            c = with_lane(c, k, math.cos(lane(x, k)))
        return s, c
    high = x - turns * QUARTER[0]
    low = turns * QUARTER[1]
    r = high - low
    r = r - (turns * QUARTER[2] - ((high - r) - low))
    z = r * r
    return quarter(r + r * z * polynomial(z, SINE), 1.0 - (0.5 * z - z * z * polynomial(z, COSINE)), turns)


@overload(sincos, jit_options=OPTIONS)
def wide_sincos(angle):
    if angle is LANES:
        return lambda angle: lanes_sincos(angle)
    return (lambda angle: dual_sincos(angle)) if angle is DUAL else None


@kernel
def dual_sincos(a):
    s = math.sin(value_of(a))
    c = math.cos(value_of(a))
    return dual_of(s, c * slopes_of(a)), dual_of(c, -s * slopes_of(a))


@overloaded(math.sin, LANES)
def lanes_sin(a):
    return lanes_sincos(a)[0]


@overloaded(math.cos, LANES)
def lanes_cos(a):
    return lanes_sincos(a)[1]


# -- functions of one number: lane by lane, and with their derivatives -----------------------------------------------------------------------
def each_lane(function):
    """Implementation for lanes."""

    def apply(a):
        out = a
        for k in range(WIDTH):
            out = with_lane(out, k, function(lane(a, k)))
        return out

    return apply


def with_slope(function, derivative):
    """Implementation for duals; the derivative is a kernel of the argument and the value."""
    body = kernel(derivative)

    def apply(a):
        x = value_of(a)
        y = function(x)
        return dual_of(y, slopes_of(a) * body(x, y))

    return apply


DERIVATIVES = {
    math.exp: lambda x, y: y,
    math.log: lambda x, y: 1.0 / x,
    math.tan: lambda x, y: 1.0 + y * y,
    math.atan: lambda x, y: 1.0 / (1.0 + x * x),
    math.asin: lambda x, y: 1.0 / math.sqrt((1.0 - x) * (1.0 + x)),
    math.acos: lambda x, y: -1.0 / math.sqrt((1.0 - x) * (1.0 + x)),
    math.sinh: lambda x, y: math.cosh(x),
    math.cosh: lambda x, y: math.sinh(x),
    math.tanh: lambda x, y: 1.0 - y * y,
    math.sin: lambda x, y: math.cos(x),
    math.cos: lambda x, y: -math.sin(x),
}
for _function, _derivative in DERIVATIVES.items():
    if _function not in (math.sin, math.cos):
        overloaded(_function, LANES)(each_lane(_function))
    overloaded(_function, DUAL)(with_slope(_function, _derivative))


# -- functions of two numbers ---------------------------------------------------------------------------------------------------------------
@overloaded(math.pow, LANES)
def lanes_pow(a, b):
    base = lanes_of(a)
    power = lanes_of(b)
    out = base
    for k in range(WIDTH):
        out = with_lane(out, k, math.pow(lane(base, k), lane(power, k)))
    return out


@overloaded(math.pow, DUAL)
def dual_pow(a, b):
    first = as_dual(a)
    second = as_dual(b)
    base = value_of(first)
    power = value_of(second)
    value = math.pow(base, power)
    by_base = power * math.pow(base, power - 1.0) if power != 0.0 else 0.0
    by_power = value * math.log(base) if base > 0.0 else 0.0
    return dual_of(value, by_base * slopes_of(first) + by_power * slopes_of(second))


@overloaded(math.atan2, LANES)
def lanes_atan2(a, b):
    y = lanes_of(a)
    x = lanes_of(b)
    out = y
    for k in range(WIDTH):
        out = with_lane(out, k, math.atan2(lane(y, k), lane(x, k)))
    return out


@overloaded(math.atan2, DUAL)
def dual_atan2(a, b):
    first = as_dual(a)
    second = as_dual(b)
    y = value_of(first)
    x = value_of(second)
    square = x * x + y * y
    return dual_of(math.atan2(y, x), (x / square) * slopes_of(first) - (y / square) * slopes_of(second))
