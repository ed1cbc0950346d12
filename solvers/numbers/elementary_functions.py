"""Mathematical functions of lanes and duals: the counterparts of what kernels call on plain
numbers.

Lanes: square root, absolute value and rounding are vector instructions, sine and cosine
polynomials, all else is computed lane by lane. Duals: f(a)' = f'(a) a'; piecewise constant
functions have zero derivatives.
"""

import builtins
import math
import operator

from numba.extending import overload

from kinetree.solvers.algebra.lane_select import (
    every,
    larger_of,
    select,
    smaller_of,
    whole_above,
    whole_below,
)
from kinetree.solvers.algebra.trigonometry import MOST_TURNS, sincos, within_a_quarter
from kinetree.solvers.kernel import OPTIONS, kernel
from kinetree.solvers.layout import WIDTH
from kinetree.solvers.numbers.number_types import DUAL, LANES, MASK, LanesType
from kinetree.solvers.numbers.primitive_operations import (
    all_of,
    as_dual,
    blend,
    ceilings,
    dual_of,
    floors,
    lane,
    lanes_of,
    quarter,
    roots,
    sizes,
    slopes_of,
    value_of,
    with_lane,
)

LEANING = (
    1.0,
    0.7548776662466927,
    0.5698402909980532,
    0.4301597090019468,
    0.324717957244746,
    0.2451223337533073,
    0.185037,
    0.139680,
)


def overloaded(function, wanted):
    """Return a decorator that adds an implementation of `function` for a wide type; of two
    arguments one may be plain.
    """

    def decorate(make):
        body = kernel(make)

        def one(a):
            return (lambda a: body(a)) if a is wanted else None

        def two(a, b):
            if wide_pair(a, b) is not wanted:
                return None
            return lambda a, b: body(a, b)

        overload(function, jit_options=OPTIONS, strict=False)(
            one if make.__code__.co_argcount == 1 else two
        )
        return body

    return decorate


def wide_pair(a, b):
    """Return the wide type of two arguments; None for plain ones."""
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


@kernel
def steep(factor, slopes):
    """Return a factor times derivatives, with 0 wherever the derivative is 0, even for an infinite
    factor.
    """
    return select(slopes == 0.0, lanes_of(0.0), factor * slopes)


@overloaded(math.sqrt, DUAL)
def dual_sqrt(a):
    """Return the square root of a dual number; at 0 its derivative is 0 where the argument does not
    change.
    """
    root = math.sqrt(value_of(a))
    if root == 0.0:
        return dual_of(root, steep(math.inf, slopes_of(a)))
    return dual_of(root, slopes_of(a) * (0.5 / root))


@overloaded(builtins.abs, LANES)
def lanes_abs(a):
    return sizes(a)


@kernel
def leaning(slopes):
    """Return the derivative along one fixed generic direction, which decides the side at kinks."""
    rate = 0.0
    for k in range(WIDTH):
        rate += LEANING[k] * lane(slopes, k)
    return rate


@overloaded(builtins.abs, DUAL)
def dual_abs(a):
    """Return the absolute value of a dual number; at 0 with the derivative of one side."""
    value = value_of(a)
    return -a if value < 0.0 or (value == 0.0 and leaning(slopes_of(a)) < 0.0) else a


@kernel
def ahead(a, b):
    """Return whether a is larger than b, or equal to it and growing faster along the generic
    direction.
    """
    if value_of(a) != value_of(b):
        return value_of(a) > value_of(b)
    return leaning(slopes_of(a) - slopes_of(b)) > 0.0


@overloaded(larger_of, LANES)
def lanes_larger_of(a, b):
    return select(b > a, lanes_of(b), lanes_of(a))


@overloaded(smaller_of, LANES)
def lanes_smaller_of(a, b):
    return select(b < a, lanes_of(b), lanes_of(a))


def dual_larger(a, b):
    """Return the larger of two dual numbers with its derivatives, such that max + min = a + b also
    for equal values.
    """
    first = as_dual(a)
    second = as_dual(b)
    return second if ahead(second, first) else first


def dual_smaller(a, b):
    first = as_dual(a)
    second = as_dual(b)
    return first if ahead(second, first) else second


for _function, _law in (
    (builtins.max, dual_larger),
    (larger_of, dual_larger),
    (builtins.min, dual_smaller),
    (smaller_of, dual_smaller),
):
    overloaded(_function, DUAL)(_law)


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


@overloaded(operator.mod, DUAL)
def dual_mod(a, b):
    first = as_dual(a)
    second = as_dual(b)
    return first - second * whole_below(value_of(first) / value_of(second))


# -- sine and cosine ------------------------------------------------------------------------------------------------------------------------
@kernel
def lanes_sincos(x):
    """Return sine and cosine of all lanes; large angles are computed lane by lane."""
    turns = floors(x * (2.0 / math.pi) + 0.5)
    if not every(sizes(turns) < MOST_TURNS):
        s = x
        c = x
        for k in range(WIDTH):
            s = with_lane(s, k, math.sin(lane(x, k)))
            c = with_lane(c, k, math.cos(lane(x, k)))
        return s, c
    s, c = within_a_quarter(x, turns)
    return quarter(s, c, turns)


@overload(sincos, jit_options=OPTIONS)
def wide_sincos(angle):
    if angle is LANES:
        return lambda angle: lanes_sincos(angle)
    return (lambda angle: dual_sincos(angle)) if angle is DUAL else None


@kernel
def dual_sincos(a):
    s, c = sincos(value_of(a))
    return dual_of(s, c * slopes_of(a)), dual_of(c, -s * slopes_of(a))


@overloaded(math.sin, LANES)
def lanes_sin(a):
    return lanes_sincos(a)[0]


@overloaded(math.cos, LANES)
def lanes_cos(a):
    return lanes_sincos(a)[1]


# -- functions of one number: lane by lane, and with their derivatives -----------------------------------------------------------------------
def each_lane(function):
    """Return the implementation of a function for lanes, computed lane by lane."""

    def apply(a):
        out = a
        for k in range(WIDTH):
            out = with_lane(out, k, function(lane(a, k)))
        return out

    return apply


def with_slope(function, derivative):
    """Return the implementation of a function for duals; its derivative is a kernel of argument and
    value.
    """
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
def each_pair(function):
    """Return the implementation of a function of two arguments for lanes; one argument may be a
    plain number.
    """

    def apply(a, b):
        first = lanes_of(a)
        second = lanes_of(b)
        out = first
        for k in range(WIDTH):
            out = with_lane(out, k, function(lane(first, k), lane(second, k)))
        return out

    return apply


for _function in (math.pow, math.atan2, operator.mod):
    overloaded(_function, LANES)(each_pair(_function))


@overloaded(math.pow, DUAL)
def dual_pow(a, b):
    first = as_dual(a)
    second = as_dual(b)
    base = value_of(first)
    power = value_of(second)
    value = math.pow(base, power)
    by_base = power * math.pow(base, power - 1.0) if power != 0.0 else 0.0
    by_power = value * math.log(base) if base > 0.0 else 0.0
    if base == 0.0:
        return dual_of(value, steep(by_base, slopes_of(first)))
    return dual_of(value, by_base * slopes_of(first) + by_power * slopes_of(second))


@overloaded(math.atan2, DUAL)
def dual_atan2(a, b):
    first = as_dual(a)
    second = as_dual(b)
    y = value_of(first)
    x = value_of(second)
    square = x * x + y * y
    if square == 0.0:
        return dual_of(math.atan2(y, x), steep(math.inf, slopes_of(first)))
    return dual_of(
        math.atan2(y, x), (x / square) * slopes_of(first) - (y / square) * slopes_of(second)
    )
