"""Dimensional analysis of expressions from the known units of their names.

A dimension is the exponents of the base units; angles count as numbers, because r*omega is a speed.
Unknown remains: a name without a unit, a number that may hide a unit (9.81 in 9.81*m, 2 in
sin(2*t)), and everything computed from these.

A factor may hide what engineers write without a unit: a time constant, a stiffness, an area
(`HIDDEN`). No quantity takes a mass to a length, so that "load/2" is as little a length as "load":
`misfit` finds this. Factors that only count or share (2, 3/4) hide no acceleration and no mass per
length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from kinetree.models.expressions.nodes import ZERO, Const, Leaf, Lookup, Node, Operation, postorder
from kinetree.models.language.units.unit_of_measure import BASE, Unit, parse_unit
from kinetree.solvers.layout import Op

ANGLE = BASE.index("rad")
SAME = (Op.ADD, Op.SUB, Op.MIN, Op.MAX)
COMPARISONS = (Op.LT, Op.LE, Op.GT, Op.GE, Op.EQ, Op.NE)
OF_NUMBERS = (
    Op.SIN,
    Op.COS,
    Op.TAN,
    Op.ASIN,
    Op.ACOS,
    Op.ATAN,
    Op.SINH,
    Op.COSH,
    Op.TANH,
    Op.EXP,
    Op.LOG,
)
KEEPING = (Op.NEG, Op.ABS)
SIGNS = {
    Op.ADD: "+",
    Op.SUB: "-",
    Op.LT: "<",
    Op.LE: "<=",
    Op.GT: ">",
    Op.GE: ">=",
    Op.EQ: "==",
    Op.NE: "!=",
}


class Dimension(NamedTuple):
    """A dimension: exponents of the base units without the angle."""

    exponents: tuple[float, ...]

    def __str__(self) -> str:
        above, below = (
            [
                f"{name}{abs(e):g}" if abs(e) != 1 else name
                for name, e in zip(BASE, self.exponents, strict=False)
                if e * sign > 0
            ]
            for sign in (1, -1)
        )
        divisor = (
            "" if not below else "/" + (below[0] if len(below) == 1 else f"({'.'.join(below)})")
        )
        return (".".join(above) or "1") + divisor


class Clash(Exception):
    """Raised for two dimensions that do not agree; `pair` has them where two values are joined."""

    def __init__(self, text: str, pair: tuple[Dimension, Dimension] | None = None):
        super().__init__(text)
        self.pair = pair


NUMBER = Dimension((0.0,) * ANGLE)


def dimension_of(unit: Unit | str) -> Dimension:
    """Return the dimension of a unit."""
    return Dimension(
        tuple(map(float, (parse_unit(unit) if isinstance(unit, str) else unit).exponents[:ANGLE]))
    )


def infer(
    root: Node, known: Callable[[str], Dimension | None], bare_factors: bool = False
) -> Dimension | None:
    """Return the dimension of an expression, or None if unknown; raise Clash if it is inconsistent.

    With `bare_factors` literal numbers in products and quotients have no unit.
    """
    found: dict[Node, Dimension | None] = {}
    for node in postorder((root,)):
        if isinstance(node, Const):
            found[node] = None
        elif isinstance(node, Leaf):
            found[node] = known(node.key)
        elif isinstance(node, Lookup):
            found[node] = None
        else:
            assert isinstance(node, Operation)
            parts = [found[arg] for arg in node.args]
            if bare_factors and node.op in (Op.MUL, Op.DIV):
                parts = [NUMBER if isinstance(arg, Const) else found[arg] for arg in node.args]
            found[node] = combined(node, parts)
    return found[root]


def combined(node: Operation, d: list[Dimension | None]) -> Dimension | None:
    """Return the dimension of one operation from those of its arguments; None if unknown."""
    op = node.op
    if op in SAME:
        return common(node, *d)
    if op in COMPARISONS:
        common(node, *d)
        return NUMBER
    if op == Op.IF:
        return common(node, *d[1:])
    if op in KEEPING:
        return d[0]
    if op in OF_NUMBERS:
        if d[0] is not None and any(d[0].exponents):
            raise Clash(f"{op.name.lower()}() of a value in {d[0]}")
        return NUMBER
    if op in (Op.AND, Op.OR, Op.NOT, Op.SIGN):
        return NUMBER
    if op == Op.ATAN2:
        common(node, *d)
        return NUMBER
    if op == Op.SQRT:
        return None if d[0] is None else Dimension(tuple(e / 2 for e in d[0].exponents))
    if op == Op.POW:
        exponent = node.args[1]
        known = d[0] is not None and isinstance(exponent, Const)
        return Dimension(tuple(e * exponent.value for e in d[0].exponents)) if known else None  # type: ignore[union-attr]
    if op in (Op.MUL, Op.DIV) and d[0] is not None and d[1] is not None:
        sign = 1 if op == Op.MUL else -1
        return Dimension(
            tuple(a + sign * b for a, b in zip(d[0].exponents, d[1].exponents, strict=True))
        )
    return None


def common(node: Operation, *d: Dimension | None) -> Dimension | None:
    """Return the common dimension of values that are added, compared or selected; None if unknown."""
    told = [each for each in d if each is not None]
    for each in told[1:]:
        if not alike(each, told[0]):
            sign = SIGNS.get(node.op, node.op.name.lower())
            raise Clash(f"{told[0]} {sign} {each}", (told[0], each))
    unknown = any(
        each is None and arg is not ZERO for each, arg in zip(d, node.args[-len(d) :], strict=True)
    )
    return None if unknown or not told else told[0]


def alike(a: Dimension, b: Dimension) -> bool:
    return all(abs(x - y) < 1e-9 for x, y in zip(a.exponents, b.exponents, strict=True))


HIDDEN = tuple(
    dimension_of(unit)
    for unit in "1 s m m2 m3 m4 m5 kg kg.m2 m/s m/s2 N N.m N/m N.s/m N.m.s Pa kg/m3 m3/s J W".split()
)  # what a literal factor may stand for, also as a divisor
PROFILE = dimension_of("kg/m")  # beside a length only, as a mass is not divided by it
MEASURED = {
    PROFILE,
    *map(dimension_of, ("m/s2", "kg/m3", "Pa", "m4", "m5")),
}  # never as small as 2 or 3/4


def rounded(dimension: Dimension) -> tuple[float, ...]:
    """Return the exponents of a dimension without rounding errors, which can be looked up."""
    return tuple(round(x, 6) + 0.0 for x in dimension.exponents)


USUAL = frozenset(map(rounded, HIDDEN))
SIZED = frozenset(map(rounded, MEASURED))
COUNTS = 8  # the largest whole number of a factor or a divisor that only counts or shares


def misfit(
    root: Node, known: Callable[[str], Dimension | None], expected: tuple[Dimension, ...]
) -> str | None:
    """Return what an expression is in where no literal factor can bring it to an expected dimension,
    or the values that it joins; None where it may fit.
    """
    operations = [node for node in postorder((root,)) if isinstance(node, Operation)]
    factors = literal_factors(operations)
    if not factors:
        return None
    measured = [x for x in factors if not counts(x)]
    sums = len(factors) > 1 and any(node.op in (Op.ADD, Op.SUB) for node in operations)
    if sums or len(measured) > 1:
        return None  # several factors may have different units
    try:
        found = infer(root, known, bare_factors=True)
    except Clash as clash:
        wrong = clash.pair is not None and not may_hide(*clash.pair, bool(measured))
        return f"values of {clash}" if wrong else None
    if found is None or not expected:
        return None
    return None if any(may_hide(found, each, bool(measured)) for each in expected) else str(found)


def literal_factors(operations: Iterable[Operation]) -> list[float]:
    """Return the literal numbers that multiply or divide something in the operations."""
    return [
        arg.value
        for node in operations
        if node.op in (Op.MUL, Op.DIV)
        for arg in node.args
        if isinstance(arg, Const)
    ]


def counts(factor: float) -> bool:
    """Return whether a factor only counts or shares, as 2, 1/3, 3/4 and 1.5 do."""
    size = abs(factor)
    return any(
        size * divisor <= COUNTS and abs(size * divisor - round(size * divisor)) < 1e-9
        for divisor in range(1, COUNTS + 1)
    )


def may_hide(found: Dimension, expected: Dimension, measured: bool) -> bool:
    """Return whether a literal factor may take one dimension to the other; `measured` if it is a
    number that does more than count.
    """
    factor, divisor = (
        Dimension(tuple(x - y for x, y in zip(a.exponents, b.exponents, strict=True)))
        for a, b in ((expected, found), (found, expected))
    )
    usual = USUAL if measured else USUAL - SIZED
    if usual & {rounded(factor), rounded(divisor)}:
        return True
    return measured and alike(PROFILE, factor)
