"""Construction of simplified operations: constants are folded, neutral terms dropped, small powers
become products.

Rules that would change a finite value by more than rounding are left out; 0*x is 0 even where x could become infinite.
"""

import math
from collections.abc import Callable
from functools import lru_cache

from kinetree.models.expressions.functions import OPERATIONS
from kinetree.models.expressions.nodes import (
    ONE,
    ZERO,
    Const,
    Leaf,
    Lookup,
    Node,
    Operation,
    postorder,
)
from kinetree.solvers.layout import Op

COMMUTATIVE = frozenset((Op.ADD, Op.MUL, Op.MIN, Op.MAX, Op.EQ, Op.NE, Op.AND, Op.OR))
REMEMBERED = 1 << 15  # results of `make`
LARGEST_PRODUCT = 8  # x**n up to here is a product of at most four factors


@lru_cache(maxsize=REMEMBERED)
def make(op: Op, *args: Node) -> Node:
    """Return the simplest node equal to `op` applied to `args`; results are cached."""
    folded = fold(op, args)
    if folded is not None:
        return folded
    rule = RULES.get(op)
    simpler = rule(*args) if rule else None
    if simpler is not None:
        return simpler
    if op in COMMUTATIVE:
        args = tuple(sorted(args, key=place))
        if op == Op.MUL and isinstance(args[-1], Const):  # constant factors stand first
            args = args[::-1]
    return Operation(op, args)


def place(node: Node) -> tuple[int, str, int]:
    """Return the sort key of an argument of a commutative operation."""
    if isinstance(node, Const):
        return 2, "", node.mark
    return (1, node.key, 0) if isinstance(node, Leaf) else (0, "", node.mark)


def fold(op: Op, args: tuple[Node, ...]) -> Node | None:
    """Return the constant value of an operation on constants, or None if it is not finite."""
    values = [arg.value for arg in args if isinstance(arg, Const)]
    if len(values) < len(args):
        return None
    value = OPERATIONS[op](*values)
    return Const(value) if math.isfinite(value) else None


def operation_of(node: Node, op: Op) -> bool:
    return isinstance(node, Operation) and node.op == op


def add(a: Node, b: Node) -> Node | None:
    if a is ZERO:
        return b
    if b is ZERO:
        return a
    if operation_of(b, Op.NEG):
        return make(Op.SUB, a, b.args[0])
    if operation_of(a, Op.NEG):
        return make(Op.SUB, b, a.args[0])
    return None


def subtract(a: Node, b: Node) -> Node | None:
    if b is ZERO:
        return a
    if a is ZERO:
        return make(Op.NEG, b)
    if a is b:
        return ZERO
    return make(Op.ADD, a, b.args[0]) if operation_of(b, Op.NEG) else None


def multiply(a: Node, b: Node) -> Node | None:
    if isinstance(b, Const):
        a, b = b, a
    if a is ZERO:
        return ZERO
    if a is ONE:
        return b
    if isinstance(a, Const) and a.value == -1.0:
        return make(Op.NEG, b)
    for x, y in ((a, b), (b, a)):
        if operation_of(x, Op.NEG):
            return make(Op.NEG, make(Op.MUL, x.args[0], y))
    if isinstance(a, Const) and operation_of(b, Op.MUL) and isinstance(b.args[0], Const):
        factor = fold(Op.MUL, (a, b.args[0]))
        return make(Op.MUL, factor, b.args[1]) if factor not in (None, ZERO) else None
    return (
        Operation(Op.MUL, (a, b)) if isinstance(a, Const) else None
    )  # the constant that was second, too


def divide(a: Node, b: Node) -> Node | None:
    if b is ONE:
        return a
    if a is ZERO and b is not ZERO:
        return ZERO
    if operation_of(a, Op.NEG):
        return make(Op.NEG, make(Op.DIV, a.args[0], b))
    return None


def negate(a: Node) -> Node | None:
    if operation_of(a, Op.NEG):
        return a.args[0]
    return make(Op.SUB, a.args[1], a.args[0]) if operation_of(a, Op.SUB) else None


def power(a: Node, b: Node) -> Node | None:
    if a is ONE:
        return ONE
    if not isinstance(b, Const):
        return None
    exponent = b.value
    if exponent == 0.5:
        return make(Op.SQRT, a)
    if exponent != math.floor(exponent) or abs(exponent) > LARGEST_PRODUCT:
        return None
    if exponent < 0:
        return make(Op.DIV, ONE, product(a, int(-exponent)))
    return product(a, int(exponent))


def product(a: Node, n: int) -> Node:
    """Return x**n by squaring."""
    if n == 0:
        return ONE
    if n == 1:
        return a
    half = product(a, n // 2)
    square = make(Op.MUL, half, half)
    return make(Op.MUL, square, a) if n % 2 else square


def choose(condition: Node, a: Node, b: Node) -> Node | None:
    if isinstance(condition, Const):
        return a if condition.value != 0.0 else b
    return a if a is b else None


def both(a: Node, b: Node) -> Node | None:
    for x, y in ((a, b), (b, a)):
        if isinstance(x, Const):
            return ZERO if x is ZERO else make(Op.NE, y, ZERO)
    return None


def either(a: Node, b: Node) -> Node | None:
    for x, y in ((a, b), (b, a)):
        if isinstance(x, Const):
            return make(Op.NE, y, ZERO) if x is ZERO else ONE
    return None


def same(a: Node, b: Node) -> Node | None:
    return a if a is b else None


RULES: dict[Op, Callable[..., Node | None]] = {
    Op.ADD: add,
    Op.SUB: subtract,
    Op.MUL: multiply,
    Op.DIV: divide,
    Op.NEG: negate,
    Op.POW: power,
    Op.IF: choose,
    Op.AND: both,
    Op.OR: either,
    Op.MIN: same,
    Op.MAX: same,
}


def substitute(
    node: Node, rule: Callable[[Leaf], Node | None], new: dict[Node, Node] | None = None
) -> Node:
    """Return the expression with leaves replaced by `rule`; `new` caches results of the same rule."""
    new = {} if new is None else new
    for each in postorder((node,), new):
        if isinstance(each, Leaf):
            replacement = rule(each)
            new[each] = each if replacement is None else replacement
        else:
            new[each] = rebuild(each, tuple(new[arg] for arg in each.args))
    return new[node]


def rebuild(node: Node, args: tuple[Node, ...]) -> Node:
    """Return a node with the same operation and other arguments."""
    if args == node.args:
        return node
    if isinstance(node, Lookup):
        return Lookup(node.op, node.table, args)
    assert isinstance(node, Operation)
    return make(node.op, *args)
