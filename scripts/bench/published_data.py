"""Values printed in the papers that Kinetree follows, read from `published.toml`, and polynomials
in the number of bodies.
"""

import tomllib
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from kinetree.solvers.literal.operation_counts import costs

Pair = tuple[Fraction, Fraction]  # a + b K, with the K iterations of ITR
Polynomial = tuple[Pair, ...]  # coefficients of N^0, N^1, ...
Tree = tuple[list[int], list[int]]  # freedoms and predecessors of the bodies
DEGREE = 3  # of operations in the number of bodies
POWERS = ("", "N", "N²", "N³")


class Row(NamedTuple):
    """One published value beside ours; a row that deviates has a remark."""

    source: str
    table: str
    quantity: str
    published: str
    ours: str
    deviation: str
    remark: str = ""

    @property
    def agrees(self) -> bool:
        """Return whether our value rounds to the printed one."""
        return self.deviation == "0"


@cache
def published() -> dict[str, Any]:
    """Return the content of `published.toml`."""
    return tomllib.loads(Path(__file__).with_name("published.toml").read_text(encoding="utf-8"))


def polynomial(coefficients: Sequence[Any]) -> Polynomial:
    """Return the polynomial of a list in the data file, whose entries are numbers, fractions "a/b"
    and pairs.
    """
    return tuple(
        (Fraction(c[0]), Fraction(c[1])) if isinstance(c, list) else (Fraction(c), Fraction(0))
        for c in coefficients
    )


def counted(method: str, tree: Callable[[int], Tree]) -> Polynomial:
    """Return the exact operation count of a method by our cost formulas as a polynomial in N.
    `tree`: function from N to degrees of freedom and predecessors.

    The formulas are evaluated at N = 1..4 with 0 and 1 iterations.
    """
    places = range(1, DEGREE + 2)
    without, once = (
        interpolated([Fraction(costs(*tree(n), iterations=k)[method]) for n in places])
        for k in (0, 1)
    )
    return tuple((a, b - a) for a, b in zip(without, once, strict=True))


def interpolated(values: Sequence[Fraction]) -> list[Fraction]:
    """Return the coefficients of the polynomial with these values at 1, 2, 3, ..."""
    size = len(values)
    total = [Fraction(0)] * size
    for i, value in enumerate(values, 1):
        term = [Fraction(value)]
        for j in (j for j in range(1, size + 1) if j != i):
            shifted, scaled = [Fraction(0), *term], [-j * c for c in term] + [Fraction(0)]
            term = [(a + b) / (i - j) for a, b in zip(shifted, scaled, strict=True)]
        total = [a + b for a, b in zip(total, term, strict=True)]
    return total


def difference(a: Polynomial, b: Polynomial) -> Polynomial:
    """Return the polynomial a − b."""
    size = max(len(a), len(b))
    zero = (Fraction(0), Fraction(0))
    first, second = (p + (zero,) * (size - len(p)) for p in (a, b))
    return tuple((x[0] - y[0], x[1] - y[1]) for x, y in zip(first, second, strict=True))


def value(p: Polynomial, n: int, iterations: Fraction = Fraction(2)) -> Fraction:
    """Return the value of a polynomial for N = n and a number of iterations."""
    return sum(((a + b * iterations) * n**k for k, (a, b) in enumerate(p)), Fraction(0))


def text(p: Polynomial) -> str:
    """Return a polynomial in the printed notation, highest power first; 0 for an empty one."""
    terms = ""
    for (a, b), power in reversed(list(zip(p, POWERS, strict=False))):
        negative = a < 0 or (a == 0 and b < 0)
        inside = coefficient(*((-a, -b) if negative else (a, b)), power)
        if inside:
            terms += (" − " if negative else " + ") + inside
    return (
        terms.removeprefix(" + ").replace(" − ", "−", 1)
        if terms[:2] == " −"
        else (terms.removeprefix(" + ") or "0")
    )


def coefficient(a: Fraction, b: Fraction, power: str) -> str:
    """Return the term (a + b K) N^k as text, empty for 0."""
    if not (a or b):
        return ""
    if not b:
        return f"{a} {power}".strip()
    iterated = "K" if abs(b) == 1 else f"{abs(b)}K"
    inside = f"{a} {'−' if b < 0 else '+'} {iterated}" if a else iterated
    return f"({inside}) {power}".strip() if a else f"{inside} {power}".strip()
