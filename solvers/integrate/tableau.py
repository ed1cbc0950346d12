"""Tableaus of explicit Runge-Kutta pairs and their order conditions.

A pair of order p has weights b (the last row of `a`: the last stage of a step is the first of the
next one), error weights, and dense-output weights that are polynomials of the fraction theta of the
step. A rooted tree t of r vertices gives the condition sum b_i Phi_i(t) = 1/gamma(t), for dense
weights theta^r/gamma(t). J. C. Butcher, Numerical Methods for Ordinary Differential Equations,
2016, chapter 3.
"""

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

Tree = tuple  # a rooted tree is the sorted tuple of the trees at its root
Rows = tuple[tuple[float, ...], ...]


class Tableau(NamedTuple):
    """Nodes and weights of a Runge-Kutta pair; stages beyond `stages` serve the dense output alone."""

    order: int  # of the solution
    lower: int  # of the solution it is compared with
    dense: int  # of the output inside a step
    stages: int  # the last one at the end of the step
    c: tuple[float, ...]
    a: Rows  # row s: weights of the stages before stage s
    error: tuple[float, ...]  # weights of the difference of both solutions, per stage of the step
    weights: Rows  # per stage: coefficients of theta, theta^2, ...

    @property
    def b(self) -> tuple[float, ...]:
        """Return the weights b of the solution, one per stage."""
        row = self.a[self.stages - 1]
        return (*row, *(0.0,) * (len(self.c) - len(row)))

    def defects(self) -> dict[str, float]:
        """Return the largest violation of the order conditions for every order."""
        s = len(self.c)
        lower = tuple(
            x - y for x, y in zip(self.b, (*self.error, *(0.0,) * (s - self.stages)), strict=True)
        )
        found = {
            "nodes": max(
                abs(sum(row) - c) / scale(row, [1.0] * s)
                for row, c in zip(self.a[1:], self.c[1:], strict=True)
            )
        }
        found["end"] = max(
            abs(sum(w) - b) / scale(w, [1.0] * len(w))
            for w, b in zip(self.weights, self.b, strict=True)
        )
        found["order"] = max(self.violation(self.b, t, 1.0) for t in trees_to(self.order))
        found["lower"] = max(self.violation(lower, t, 1.0) for t in trees_to(self.lower))
        for power in range(1, len(self.weights[0]) + 1):
            column = tuple(w[power - 1] for w in self.weights)
            worst = max(
                self.violation(column, t, 1.0 if size(t) == power else 0.0)
                for t in trees_to(self.dense)
            )
            found["dense"] = max(worst, found.get("dense", 0.0))
        return found

    def excess(self) -> float:
        """Return the largest violation of the order conditions one order above that of the pair."""
        return max(self.violation(self.b, t, 1.0) for t in trees(self.order + 1))

    def violation(self, b: tuple[float, ...], tree: Tree, right: float) -> float:
        phi = self.elementary(tree)
        return abs(sum(x * y for x, y in zip(b, phi, strict=True)) - right / density(tree)) / scale(
            b, phi
        )

    def elementary(self, tree: Tree) -> list[float]:
        """Return the elementary weight phi_i(t) of every stage for a rooted tree."""
        found = [1.0] * len(self.c)
        for branch in tree:
            below = self.elementary(branch)
            for i, row in enumerate(self.a):
                found[i] *= sum(x * y for x, y in zip(row, below, strict=False))
        return found

    def stability(self) -> float:
        """Return the end of the stability interval on the negative real axis."""
        powers, stage = [], [1.0] * len(self.c)
        for _ in range(self.stages):
            powers.append(sum(x * y for x, y in zip(self.b, stage, strict=True)))
            stage = [sum(x * y for x, y in zip(row, stage, strict=False)) for row in self.a]
        z = 0.0
        while (
            abs(1.0 - z * sum(p * (-z) ** k for k, p in enumerate(powers))) <= 1.0 + 1e-9
            and z < 100.0
        ):
            z += 0.01
        return z


def scale(weights, values) -> float:
    """Return the magnitude of the terms of a weighted sum, at least 1, which bounds its rounding
    error.
    """
    return max(1.0, sum(abs(x * y) for x, y in zip(weights, values, strict=False)))


@cache
def trees(order: int) -> tuple[Tree, ...]:
    """Return all rooted trees with `order` vertices."""
    return ((),) if order == 1 else tuple(sorted(set(forests(order - 1, order - 1))))


def forests(total: int, largest: int) -> Iterator[Tree]:
    """Yield all multisets of trees with `total` vertices, none larger than `largest`."""
    if total == 0:
        yield ()
    for order in range(min(total, largest), 0, -1):
        for tree in trees(order):
            for rest in forests(total - order, order):
                yield tuple(sorted((tree, *rest)))


def trees_to(order: int) -> list[Tree]:
    return [tree for k in range(1, order + 1) for tree in trees(k)]


def size(tree: Tree) -> int:
    """Return the number of vertices of a tree."""
    return 1 + sum(size(branch) for branch in tree)


def density(tree: Tree) -> int:
    """Return the density gamma(t) of a rooted tree: the product of the sizes of all its subtrees."""
    found = size(tree)
    for branch in tree:
        found *= density(branch)
    return found
