"""Arithmetic on expression nodes, so that force laws read like their formulas."""

from __future__ import annotations

from functools import lru_cache

from kinetree.models.expressions.nodes import Const, Name, Node
from kinetree.models.expressions.parse import parse
from kinetree.models.expressions.simplify import make
from kinetree.solvers.layout import Op


def node_of(value: E | Node | str | float) -> Node:
    """Return the expression node of an operand: a number, a name or an expression."""
    return (
        value.node if isinstance(value, E) else value if isinstance(value, Node) else parse(value)
    )


class E:
    """An expression under construction: `E("k") * (E(l) - 0.5)`; `.node` is the finished node."""

    __slots__ = ("node",)

    def __init__(self, value: E | Node | str | float):
        self.node: Node = value if isinstance(value, Node) else node_of(value)

    def __add__(self, other):
        return E(make(Op.ADD, self.node, node_of(other)))

    def __radd__(self, other):
        return E(other) + self

    def __sub__(self, other):
        return E(make(Op.SUB, self.node, node_of(other)))

    def __rsub__(self, other):
        return E(other) - self

    def __mul__(self, other):
        return E(make(Op.MUL, self.node, node_of(other)))

    def __rmul__(self, other):
        return E(other) * self

    def __truediv__(self, other):
        return E(make(Op.DIV, self.node, node_of(other)))

    def __rtruediv__(self, other):
        return E(other) / self

    def __pow__(self, other):
        return E(make(Op.POW, self.node, node_of(other)))

    def __neg__(self):
        return E(make(Op.NEG, self.node))

    def __gt__(self, other):
        return E(make(Op.GT, self.node, node_of(other)))

    def __ge__(self, other):
        return E(make(Op.GE, self.node, node_of(other)))

    def __lt__(self, other):
        return E(make(Op.LT, self.node, node_of(other)))


@lru_cache(maxsize=8192)
def name(key: str) -> E:
    """Return an expression for a name, which may contain characters that no expression can spell."""
    return E(Name(key))


def const(value: float) -> E:
    return E(Const(value))


def function(op: Op, *args: E | float) -> E:
    return E(make(op, *(E(arg).node for arg in args)))


def larger(a: E | float, b: E | float) -> E:
    return function(Op.MAX, a, b)


def smaller(a: E | float, b: E | float) -> E:
    return function(Op.MIN, a, b)


def choose(condition: E, a: E | float, b: E | float) -> E:
    return function(Op.IF, condition, a, b)


def exp(a: E) -> E:
    return function(Op.EXP, a)


def tanh(a: E) -> E:
    return function(Op.TANH, a)


def root(a: E) -> E:
    return function(Op.SQRT, a)


def log(a: E) -> E:
    return function(Op.LOG, a)


def absolute(a: E) -> E:
    return function(Op.ABS, a)


def sin(a: E) -> E:
    return function(Op.SIN, a)


def cos(a: E) -> E:
    return function(Op.COS, a)
