"""The register machine that evaluates every expression of a description: val[dst] = op(val[a],
val[b], val[c]), one instruction after another.

Results follow IEEE arithmetic: division by zero gives infinity, an argument outside the domain NaN.
Both branches of IF are evaluated, and the result of the branch not taken is ignored. Cost: one jump
for frequent instructions, three for rare ones, plus the operation itself.
"""

import math

from numba import types
from numba.extending import overload

from kinetree.solvers.algebra.lane_select import (
    larger_of,
    select,
    smaller_of,
    whole_above,
    whole_below,
)
from kinetree.solvers.expressions.tables import lookup1, lookup2
from kinetree.solvers.kernel import OPTIONS, exact, kernel
from kinetree.solvers.layout import Op, Status
from kinetree.solvers.views import instruction_at


@exact
def evaluate(val, code, first, last, tables, table_data):
    """Execute the instructions first..last-1 on the registers val."""
    at = first
    while at < last:
        step = instruction_at(code, at)
        at += 1
        op, dst, a, b, c = step.op, step.dst, step.a, step.b, step.c
        if op == Op.MUL:
            val[dst] = val[a] * val[b]
        elif op == Op.ADD:
            val[dst] = val[a] + val[b]
        elif op == Op.SUB:
            val[dst] = val[a] - val[b]
        elif op == Op.MUL_ADD:
            val[dst] = val[a] * val[b] + val[c]
        elif op == Op.SUB_MUL:
            val[dst] = val[c] - val[a] * val[b]
        elif op == Op.MUL_SUB:
            val[dst] = val[a] * val[b] - val[c]
        elif op == Op.MAX:
            val[dst] = larger_of(val[a], val[b])
        elif op == Op.DIV:
            val[dst] = val[a] / val[b]
        elif op == Op.NEG:
            val[dst] = -val[a]
        elif op == Op.COPY:
            val[dst] = val[a]
        elif op == Op.IF:
            val[dst] = select(val[a] != 0.0, val[b], val[c])
        elif op == Op.GATE:
            val[dst] = select(val[a] > 0.0, larger_of(val[b], val[c]), val[c])
        elif op == Op.MIN:
            val[dst] = smaller_of(val[a], val[b])
        elif op == Op.SQRT:
            val[dst] = math.sqrt(val[a])
        else:
            val[dst] = seldom(op, val, a, b, c, tables, table_data)
    return Status.OK.value


@kernel
def seldom(op, val, a, b, c, tables, table_data):
    """Return the result of a rarely used operation (functions and tables), which is dispatched
    outside the fast path.
    """
    if op <= Op.LOG:
        return transcendental(op, val[a], val[b])
    if op < Op.TABLE1 or Op.TABLE2_DY < op < Op.TABLE1_DD:
        return elementary(op, val[a], val[b])
    return looked_up(op, a, val[b], val[c], tables, table_data)


@kernel
def transcendental(op, a, b):
    """Return the result of a transcendental function provided by libm."""
    if op == Op.SIN:
        return math.sin(a)
    if op == Op.COS:
        return math.cos(a)
    if op == Op.POW:
        return math.pow(a, b)
    if op == Op.EXP:
        return math.exp(a)
    if op == Op.ATAN2:
        return math.atan2(a, b)
    if op == Op.TANH:
        return math.tanh(a)
    if op == Op.LOG:
        return math.log(a)
    if op == Op.TAN:
        return math.tan(a)
    if op == Op.ATAN:
        return math.atan(a)
    if op == Op.ASIN:
        return math.asin(a)
    if op == Op.ACOS:
        return math.acos(a)
    if op == Op.SINH:
        return math.sinh(a)
    return math.cosh(a)


@kernel
def elementary(op, a, b):
    """Return the result of a rounding, comparison or logical operation."""
    if op == Op.ABS:
        return abs(a)
    if op == Op.SIGN:
        return select(a > 0.0, 1.0, select(a < 0.0, -1.0, a))
    if op == Op.FLOOR:
        return whole_below(a)
    if op == Op.CEIL:
        return whole_above(a)
    if op == Op.MOD:
        return a % b
    return select(holds(op, a, b), 1.0, 0.0)


@kernel
def holds(op, a, b):
    """Return whether a comparison or logical operation on a and b is true."""
    if op == Op.LT:
        return a < b
    if op == Op.LE:
        return a <= b
    if op == Op.GT:
        return a > b
    if op == Op.GE:
        return a >= b
    if op == Op.EQ:
        return a == b
    if op == Op.NE:
        return a != b
    if op == Op.AND:
        return (a != 0.0) & (b != 0.0)
    if op == Op.OR:
        return (a != 0.0) | (b != 0.0)
    return a == 0.0


def looked_up(op, k, x, y, tables, data):
    """Out-of-line version of `look_up` for plain numbers; wide numbers have one of their own."""
    return look_up(op, k, x, y, tables, data)


@overload(looked_up, jit_options=OPTIONS)
def plain_looked_up(op, k, x, y, tables, data):
    return looked_up if isinstance(x, types.Float) else None


@kernel
def look_up(op, k, x, y, tables, data):
    """Return the value of table k, or of the derivative selected by `op`, at x (and y)."""
    if op == Op.TABLE1:
        return lookup1(tables, data, k, x, 0)
    if op == Op.TABLE1_D:
        return lookup1(tables, data, k, x, 1)
    if op == Op.TABLE1_DD:
        return lookup1(tables, data, k, x, 2)
    if op == Op.TABLE2:
        return lookup2(tables, data, k, x, y, 0, 0)
    if op == Op.TABLE2_DX:
        return lookup2(tables, data, k, x, y, 1, 0)
    return lookup2(tables, data, k, x, y, 0, 1)
