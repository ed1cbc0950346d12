"""Symbolic derivatives of expressions, exact wherever the expression is smooth.

The chain rule over the graph: d(node) = sum of (partial derivative) * d(argument), each node once.
Step functions (sign, floor, comparisons) have derivative 0; where two branches meet, the derivative
of the branch taken counts.
"""

from collections.abc import Callable, Mapping

from kinetree.models.expressions.nodes import (
    ONE,
    TWO,
    ZERO,
    ExpressionError,
    Leaf,
    Lookup,
    Name,
    Node,
    Operation,
    postorder,
)
from kinetree.models.expressions.simplify import make
from kinetree.solvers.layout import Op

Rule = Callable[[Leaf], Node | None]


def differentiate(node: Node, rules: Rule) -> Node:
    """Return the total derivative, where `rules` gives the derivative of a leaf (None: 0)."""
    derivative: dict[Node, Node] = {}
    for each in postorder((node,)):
        if isinstance(each, Leaf):
            derivative[each] = rules(each) or ZERO
        elif all(derivative[arg] is ZERO for arg in each.args):
            derivative[each] = ZERO
        elif isinstance(each, Lookup):
            derivative[each] = lookup(each, [derivative[arg] for arg in each.args])
        else:
            assert isinstance(each, Operation)
            rule = DERIVATIVES.get(each.op)
            derivative[each] = (
                rule(each, *each.args, *(derivative[arg] for arg in each.args)) if rule else ZERO
            )
    return derivative[node]


def time_derivatives(
    node: Node, rates: Mapping[str, Node] | None = None
) -> tuple[Node, Node, Node]:
    """Return an expression of `t` and of names with given rates, with its first and second time
    derivative; all other names count as constant.
    """

    def clock(leaf: Leaf) -> Node | None:
        return ONE if leaf is Name("t") else (rates or {}).get(leaf.key)

    first = differentiate(node, clock)
    return node, first, differentiate(first, clock)


def lookup(node: Lookup, d: list[Node]) -> Node:
    if node.op == Op.TABLE1:
        return times(Lookup(Op.TABLE1_D, node.table, node.args), d[0])
    if node.op == Op.TABLE1_D:
        return times(Lookup(Op.TABLE1_DD, node.table, node.args), d[0])
    if node.op == Op.TABLE2:
        along_x = times(Lookup(Op.TABLE2_DX, node.table, node.args), d[0])
        return plus(along_x, times(Lookup(Op.TABLE2_DY, node.table, node.args), d[1]))
    order = "third" if node.op == Op.TABLE1_DD else "second"
    variables = "one variable" if node.op == Op.TABLE1_DD else "two variables"
    raise ExpressionError(f"table '{node.table}': a table of {variables} has no {order} derivative")


def plus(a: Node, b: Node) -> Node:
    return make(Op.ADD, a, b)


def minus(a: Node, b: Node) -> Node:
    return make(Op.SUB, a, b)


def times(a: Node, b: Node) -> Node:
    return make(Op.MUL, a, b)


def over(a: Node, b: Node) -> Node:
    return make(Op.DIV, a, b)


def square(a: Node) -> Node:
    return times(a, a)


def root_of_one_minus(a: Node) -> Node:
    return make(Op.SQRT, minus(ONE, square(a)))


def quotient(node: Node, a: Node, b: Node, da: Node, db: Node) -> Node:
    return over(minus(da, times(node, db)), b)


def power(node: Node, a: Node, b: Node, da: Node, db: Node) -> Node:
    along_base = ZERO
    if da is not ZERO:
        along_base = times(times(b, make(Op.POW, a, minus(b, ONE))), da)
    return (
        plus(along_base, times(times(node, make(Op.LOG, a)), db)) if db is not ZERO else along_base
    )


def angle(node: Node, y: Node, x: Node, dy: Node, dx: Node) -> Node:
    return over(minus(times(x, dy), times(y, dx)), plus(square(x), square(y)))


def choice(op: Op) -> Callable[..., Node]:
    return lambda node, a, b, da, db: make(Op.IF, make(op, a, b), da, db)


DERIVATIVES: dict[Op, Callable[..., Node]] = {
    Op.ADD: lambda node, a, b, da, db: plus(da, db),
    Op.SUB: lambda node, a, b, da, db: minus(da, db),
    Op.MUL: lambda node, a, b, da, db: plus(times(da, b), times(a, db)),
    Op.DIV: quotient,
    Op.POW: power,
    Op.NEG: lambda node, a, da: make(Op.NEG, da),
    Op.SIN: lambda node, a, da: times(make(Op.COS, a), da),
    Op.COS: lambda node, a, da: make(Op.NEG, times(make(Op.SIN, a), da)),
    Op.TAN: lambda node, a, da: times(plus(ONE, square(node)), da),
    Op.ASIN: lambda node, a, da: over(da, root_of_one_minus(a)),
    Op.ACOS: lambda node, a, da: make(Op.NEG, over(da, root_of_one_minus(a))),
    Op.ATAN: lambda node, a, da: over(da, plus(ONE, square(a))),
    Op.ATAN2: angle,
    Op.SINH: lambda node, a, da: times(make(Op.COSH, a), da),
    Op.COSH: lambda node, a, da: times(make(Op.SINH, a), da),
    Op.TANH: lambda node, a, da: times(minus(ONE, square(node)), da),
    Op.EXP: lambda node, a, da: times(node, da),
    Op.LOG: lambda node, a, da: over(da, a),
    Op.SQRT: lambda node, a, da: over(da, times(TWO, node)),
    Op.ABS: lambda node, a, da: times(make(Op.SIGN, a), da),
    Op.MIN: choice(Op.LE),
    Op.MAX: choice(Op.GE),
    Op.IF: lambda node, c, a, b, dc, da, db: make(Op.IF, c, da, db),
    Op.MOD: lambda node, a, b, da, db: minus(da, times(make(Op.FLOOR, over(a, b)), db)),
}
