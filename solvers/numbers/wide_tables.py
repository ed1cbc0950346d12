"""Tables at wide arguments: for lanes evaluated lane by lane, for duals with their derivatives."""

from numba.extending import overload

from kinetree.solvers.expressions.evaluate import look_up, looked_up
from kinetree.solvers.expressions.tables import lookup1, lookup2
from kinetree.solvers.kernel import OPTIONS, kernel
from kinetree.solvers.layout import WIDTH, Op
from kinetree.solvers.numbers.number_types import DUAL, LANES
from kinetree.solvers.numbers.primitive_operations import (
    dual_of,
    lane,
    slopes_of,
    value_of,
    with_lane,
)


@overload(looked_up, jit_options=OPTIONS)
def wide_looked_up(op, k, x, y, tables, data):
    if x is LANES:
        return lambda op, k, x, y, tables, data: lanes_looked_up(op, k, x, y, tables, data)
    return (
        (lambda op, k, x, y, tables, data: dual_looked_up(op, k, x, y, tables, data))
        if x is DUAL
        else None
    )


@kernel
def lanes_looked_up(op, k, x, y, tables, data):
    """Look up a table lane by lane."""
    out = x
    for n in range(WIDTH):
        out = with_lane(out, n, look_up(op, k, lane(x, n), lane(y, n), tables, data))
    return out


@kernel
def dual_looked_up(op, k, x, y, tables, data):
    """Return value and derivatives of a table lookup by the chain rule."""
    a, b = value_of(x), value_of(y)
    value = look_up(op, k, a, b, tables, data)
    by_y = 0.0
    if op == Op.TABLE1:
        by_x = lookup1(tables, data, k, a, 1)
    elif op == Op.TABLE1_D:
        by_x = lookup1(tables, data, k, a, 2)
    elif op == Op.TABLE1_DD:
        by_x = lookup1(tables, data, k, a, 3)
    else:
        along_x = 1 if op == Op.TABLE2_DX else 0
        along_y = 1 if op == Op.TABLE2_DY else 0
        by_x = lookup2(tables, data, k, a, b, along_x + 1, along_y)
        by_y = lookup2(tables, data, k, a, b, along_x, along_y + 1)
    return dual_of(value, by_x * slopes_of(x) + by_y * slopes_of(y))
