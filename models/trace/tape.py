"""The tape of a trace: operations on symbols in the order of execution, each different one stored
once.

A node is (operation, arguments...), identified by its index. Simplifications are applied at once:
constants, zeros and ones, signs (moved outwards), equal differences, sines and cosines of negative
angles, s²x + c²x of one angle. Every node carries its value at a recorded state in general position
(the witness). Where a kernel must decide by an unknown number, the value at the witness decides,
and the decision is stored as a condition under which the tape is valid.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import frexp

from kinetree.models.trace.nodes import Node, Nodes


class Tape(Nodes):
    """A tape: nodes with the rules by which they are simplified."""

    # -- arithmetic ---------------------------------------------------------------------------------------------------------------------
    def neg(self, a: int) -> int:
        node = self.nodes[a]
        operation = node[0]
        if operation == "const":
            return self.constant(-node[1])
        if operation == "neg":
            return node[1]
        if operation == "-":
            return (
                self.node(("-", node[2], node[1]))
                if ("-", node[2], node[1]) in self.index
                else self.node(("neg", a))
            )
        return self.node(("neg", a))

    def add(self, a: int, b: int) -> int:
        na, nb = self.nodes[a], self.nodes[b]
        if na[0] == "const":
            if nb[0] == "const":
                return self.constant(na[1] + nb[1])
            if na[1] == 0.0:
                return b
            if na[1] < 0.0:
                return self.node(("-", b, self.constant(-na[1])))
        if nb[0] == "const":
            if nb[1] == 0.0:
                return a
            if nb[1] < 0.0:
                return self.node(("-", a, self.constant(-nb[1])))
        if nb[0] == "neg":
            return self.sub(a, nb[1])
        if na[0] == "neg":
            return self.sub(b, na[1])
        if nb[0] == "-" and nb[2] == a:  # a + (x - a)
            return nb[1]
        if na[0] == "-" and na[2] == b:
            return na[1]
        if na[0] == "/" and nb[0] == "/" and na[2] == nb[2] and self.is_root(na[2]):
            return self.div(self.add(na[1], nb[1]), na[2])
        if na[0] == "*" or nb[0] == "*":
            found = self.alike(a, na, b, nb, 1.0)
            if found >= 0:
                return found
            found = self.pythagoras(na, nb) if na[0] == nb[0] else -1
            if found >= 0:
                return found
        return self.node(("+", a, b) if a <= b else ("+", b, a))

    def sub(self, a: int, b: int) -> int:
        if a == b:
            return self.constant(0.0)
        na, nb = self.nodes[a], self.nodes[b]
        if nb[0] == "const":
            return self.add(a, self.constant(-nb[1]))
        if na[0] == "const" and na[1] == 0.0:
            return self.neg(b)
        if nb[0] == "neg":
            return self.add(a, nb[1])
        if na[0] == "neg":
            return self.neg(self.add(na[1], b))
        if nb[0] == "-" and nb[1] == a:  # a - (a - x)
            return nb[2]
        if na[0] == "-" and na[1] == b:
            return self.neg(na[2])
        if na[0] == "+" and b in na:
            return na[2] if na[1] == b else na[1]
        if nb[0] == "+" and a in nb:
            return self.neg(nb[2] if nb[1] == a else nb[1])
        if na[0] == "/" and nb[0] == "/" and na[2] == nb[2] and self.is_root(na[2]):
            return self.div(self.sub(na[1], nb[1]), na[2])
        if na[0] == "*" or nb[0] == "*":
            found = self.alike(a, na, b, nb, -1.0)
            if found >= 0:
                return found
        turned = self.index.get(("-", b, a))
        return self.neg(turned) if turned is not None else self.node(("-", a, b))

    def mul(self, a: int, b: int) -> int:
        na, nb = self.nodes[a], self.nodes[b]
        if nb[0] == "const":
            a, b, na, nb = b, a, nb, na
        if na[0] == "const":
            x = na[1]
            if nb[0] == "const":
                return self.constant(x * nb[1])
            if x == 0.0:
                return a
            if x == 1.0:
                return b
            if x < 0.0:
                return self.neg(self.mul(self.constant(-x), b))
            if nb[0] == "*" and self.nodes[nb[1]][0] == "const":
                return self.mul(self.constant(x * self.nodes[nb[1]][1]), nb[2])
            if nb[0] == "/" and self.nodes[nb[2]][0] == "const":
                return self.mul(self.constant(x / self.nodes[nb[2]][1]), nb[1])
            if nb[0] == "*":  # two constants meet
                for inner, other in ((nb[1], nb[2]), (nb[2], nb[1])):
                    ni = self.nodes[inner]
                    if ni[0] == "*" and self.nodes[ni[1]][0] == "const":
                        return self.mul(
                            self.constant(x * self.nodes[ni[1]][1]), self.mul(other, ni[2])
                        )
            if nb[0] == "/" and self.is_root(nb[2]):
                return self.div(self.mul(a, nb[1]), nb[2])
        if na[0] == "neg":
            return self.neg(self.mul(na[1], b))
        if nb[0] == "neg":
            return self.neg(self.mul(a, nb[1]))
        if na[0] == "const":  # constants first
            return self.node(("*", a, b))
        found = self.without_root(a, na, b, nb)
        return found if found >= 0 else self.product(a, b)

    def without_root(self, a: int, na: Node, b: int, nb: Node) -> int:
        """Return the product a b with square roots cancelled or moved outwards; -1 if there are
        none.

        A factorisation with square roots of a symmetric matrix thereby becomes the one without.
        """
        if a == b and na[0] == "sqrt":
            return na[1]
        if na[0] != "/" or not self.is_root(na[2]):
            a, b, na, nb = b, a, nb, na
        if na[0] != "/" or not self.is_root(na[2]):
            return -1
        root = na[2]
        if b == root:
            return na[1]
        if nb[0] == "/" and nb[2] == root:
            x, y = (na[1], nb[1]) if a <= b else (nb[1], na[1])
            return self.mul(x, self.div(y, self.nodes[root][1]))
        return self.div(self.mul(na[1], b), root)

    def product(self, a: int, b: int) -> int:
        """Return the product a b of two non-constant nodes; x (y z) reuses an existing y (x z)."""
        key, index = ("*", a, b) if a <= b else ("*", b, a), self.index
        if key in index:
            return index[key]
        for x, other in ((a, self.nodes[b]), (b, self.nodes[a])):
            if other[0] == "*":
                for y, z in ((other[1], other[2]), (other[2], other[1])):
                    inner = index.get(("*", x, z) if x <= z else ("*", z, x))
                    if inner is not None:
                        found = index.get(("*", y, inner) if y <= inner else ("*", inner, y))
                        if found is not None:
                            return found
        return self.node(key)

    def div(self, a: int, b: int) -> int:
        na, nb = self.nodes[a], self.nodes[b]
        if na[0] == "neg":
            return self.neg(self.div(na[1], b))
        if nb[0] == "neg":
            return self.neg(self.div(a, nb[1]))
        if na[0] == "const" and na[1] == 0.0:
            return a
        if nb[0] == "const":
            x = nb[1]
            if na[0] == "const" or x == 1.0:
                return a if x == 1.0 else self.fold("/", a, b)
            if x < 0.0:
                return self.neg(self.div(a, self.constant(-x)))
            if x > 0.0 and exact_inverse(x):
                return self.mul(self.constant(1.0 / x), a)
            if na[0] in ("*", "/") and self.nodes[na[1 if na[0] == "*" else 2]][0] == "const":
                inner = self.nodes[na[1 if na[0] == "*" else 2]][1]
                return (
                    self.mul(self.constant(inner / x), na[2])
                    if na[0] == "*"
                    else self.div(na[1], self.constant(inner * x))
                )
        if a == b:
            return self.constant(1.0)
        if nb[0] == "sqrt" and na[0] == "/" and na[2] == b:  # d/√d stays: so it meets its like
            return self.div(na[1], nb[1])
        return self.node(("/", a, b))

    def alike(self, a: int, na: Node, b: int, nb: Node, sign: float) -> int:
        """Return (c ± d) x for c x ± d x with constants c, d; -1 for any other operands."""
        first = na[0] == "*" and self.nodes[na[1]][0] == "const"
        second = nb[0] == "*" and self.nodes[nb[1]][0] == "const"
        x, y = na[2] if first else a, nb[2] if second else b
        if x != y:
            return -1
        c, d = self.nodes[na[1]][1] if first else 1.0, self.nodes[nb[1]][1] if second else 1.0
        return self.mul(self.constant(c + sign * d), x)

    def pythagoras(self, na: Node, nb: Node) -> int:
        """Return the factor x of s·s·x + c·c·x, s and c being the sine and cosine of one angle; -1
        for any other operands.
        """
        nodes = self.nodes
        for s in na[1:]:
            kind = nodes[s][0]
            if kind != "sin" and kind != "cos":
                continue
            c = self.index.get(("cos" if kind == "sin" else "sin", nodes[s][1]))
            if c is None or c not in nb[1:]:
                continue
            x = self.without(na[2] if na[1] == s else na[1], s)
            if x >= 0 and x == self.without(nb[2] if nb[1] == c else nb[1], c):
                return x
        return -1

    def without(self, a: int, factor: int) -> int:
        """Return a divided by one of its factors; -1 if it does not have that factor."""
        if a == factor:
            return self.constant(1.0)
        node = self.nodes[a]
        if node[0] == "*":
            if node[1] == factor:
                return node[2]
            if node[2] == factor:
                return node[1]
        return -1

    # -- functions ----------------------------------------------------------------------------------------------------------------------
    def sine(self, a: int) -> int:
        node = self.nodes[a]
        return self.neg(self.sine(node[1])) if node[0] == "neg" else self.fold("sin", a)

    def cosine(self, a: int) -> int:
        node = self.nodes[a]
        return self.cosine(node[1]) if node[0] == "neg" else self.fold("cos", a)

    def power(self, a: int, b: int) -> int:
        """Return the node of a^b; small integer powers become products."""
        x = self.number(b)
        if x is None or self.number(a) is not None:
            return self.fold("pow", a, b)
        if x in (1.0, 2.0, 3.0, 4.0):
            square = self.mul(a, a) if x > 1.0 else a
            return square if x <= 2.0 else self.mul(square, a if x == 3.0 else square)
        if x == 0.0:
            return self.constant(1.0)
        if x == -1.0:
            return self.div(self.constant(1.0), a)
        return self.fold("sqrt", a) if x == 0.5 else self.fold("pow", a, b)

    def again(self, node: Node, new: Mapping[int, int]) -> int:
        """Return the node of an operation repeated with other arguments."""
        operation = node[0]
        if operation == "const":
            return self.constant(node[1])
        if operation == "symbol":
            return self.index[node]
        arguments = [new[each] for each in node[1:]]
        rule = RULES.get(operation)
        return rule(self, *arguments) if rule else self.fold(operation, *arguments)

    # -- decisions ----------------------------------------------------------------------------------------------------------------------
    def compare(self, operation: str, a: int, b: int) -> int:
        """Return the node of a comparison; comparing a former selection between 1 and 0 with zero
        gives back its condition.
        """
        if operation in ("eq", "ne"):
            if self.number(b) == 0.0 and self.nodes[a][0] == "select":
                _, c, x, y = self.nodes[a]
                if self.number(x) == 1.0 and self.number(y) == 0.0:
                    return c if operation == "ne" else self.logical_not(c)
            if a == b:
                return self.constant(float(operation == "eq"))
        return self.fold(operation, a, b)

    def logical_not(self, c: int) -> int:
        node = self.nodes[c]
        return node[1] if node[0] == "not" else self.fold("not", c)

    def logical(self, operation: str, a: int, b: int) -> int:
        """Return the node of `and` or `or` of two conditions."""
        for one, other in ((a, b), (b, a)):
            known = self.number(one)
            if known is not None:
                return one if (known != 0.0) == (operation == "or") else other
        return a if a == b else self.node((operation, min(a, b), max(a, b)))

    def select(self, c: int, a: int, b: int) -> int:
        """Return the node of a selection: a if the condition holds, else b."""
        known = self.number(c)
        if known is not None:
            return a if known != 0.0 else b
        if a == b:
            return a
        if self.nodes[c][0] == "not":
            c, a, b = self.nodes[c][1], b, a
        return self.node(("select", c, a, b))


RULES = {
    "+": Tape.add,
    "-": Tape.sub,
    "*": Tape.mul,
    "/": Tape.div,
    "neg": Tape.neg,
    "sin": Tape.sine,
    "cos": Tape.cosine,
    "pow": Tape.power,
}
RULES |= {"select": Tape.select, "not": Tape.logical_not}


def exact_inverse(x: float) -> bool:
    """Return whether 1/x is exact, which is so if x is a power of two."""
    return frexp(x)[0] == 0.5
