"""Conversion of expressions to text in the syntax of descriptions."""

from __future__ import annotations

from kinetree.models.expressions.functions import FUNCTIONS
from kinetree.models.expressions.nodes import (
    Const,
    Der,
    ExpressionError,
    Leaf,
    Lookup,
    Node,
    Operation,
    postorder,
)
from kinetree.models.expressions.parse import parse
from kinetree.solvers.layout import Op

SIGNS = {
    Op.ADD: "+", Op.SUB: "-", Op.MUL: "*", Op.DIV: "/", Op.MOD: "%", Op.LT: "<", Op.LE: "<=", Op.GT: ">", Op.GE: ">=", Op.EQ: "==", Op.NE: "!=",
    Op.AND: "and", Op.OR: "or",
}  # fmt: skip
CALLS = {op: name for name, (op, _) in FUNCTIONS.items()} | {Op.MIN: "min", Op.MAX: "max"}
BEFORE = {Op.NEG: "-", Op.NOT: "not "}
MAX_TEXT_LENGTH = 15_000  # characters


def written(node: Node) -> str:
    """Return an expression as text; raise ExpressionError for table derivatives and overlong
    results.
    """
    texts: dict[Node, str] = {}
    for each in postorder((node,)):
        inner = [texts[arg] for arg in each.args]
        if isinstance(each, Const):
            texts[each] = repr(each.value) if each.value >= 0.0 else f"({each.value!r})"
        elif isinstance(each, Leaf):
            texts[each] = name_of(each)
        elif isinstance(each, Lookup) and each.op in (Op.TABLE1, Op.TABLE2):
            texts[each] = f"table({each.table!r}, {', '.join(inner)})"
        elif isinstance(each, Lookup):
            raise ExpressionError(f"the derivative of table '{each.table}' has no text")
        else:
            assert isinstance(each, Operation)
            texts[each] = operation(each.op, inner)
        if len(texts[each]) > MAX_TEXT_LENGTH:
            raise ExpressionError(f"longer than {MAX_TEXT_LENGTH} characters")
    return texts[node]


def name_of(leaf: Leaf) -> str:
    """Return a name, in quotation marks if it would otherwise be parsed differently, such as 'j-1'."""
    try:
        if parse(leaf.key) is leaf:
            return leaf.key
    except ExpressionError:  # der(j-1)
        pass
    return f"der('{leaf.name}')" if isinstance(leaf, Der) else f"'{leaf.name}'"


def operation(op: Op, inner: list[str]) -> str:
    if op in BEFORE:
        return f"({BEFORE[op]}{inner[0]})"
    return (
        f"({inner[0]} {SIGNS[op]} {inner[1]})"
        if op in SIGNS
        else f"{CALLS[op]}({', '.join(inner)})"
    )
