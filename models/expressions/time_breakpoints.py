"""Breakpoints of functions of time (kinks and jumps), at which integrators must end a step.

A breakpoint can be predicted if the argument of a table, a comparison, min, max, abs, sign, floor,
ceil or mod is linear in time between breakpoints: then the value and rate of the argument give the
time of the next one.
"""

from collections.abc import Mapping, Set

from kinetree.models.expressions.nodes import ONE, ZERO, Leaf, Lookup, Node, Operation, postorder
from kinetree.models.expressions.simplify import make
from kinetree.solvers.layout import Knot, Op

SUMS = {Op.ADD, Op.SUB}
LEVEL = {
    Op.FLOOR,
    Op.CEIL,
    Op.SIGN,
    Op.LT,
    Op.LE,
    Op.GT,
    Op.GE,
    Op.EQ,
    Op.NE,
    Op.AND,
    Op.OR,
    Op.NOT,
}
COMPARED = {Op.LT, Op.LE, Op.GT, Op.GE, Op.MIN, Op.MAX}
OF_ONE = {Op.TABLE1, Op.TABLE1_D, Op.TABLE1_DD}


def paces(nodes: Mapping[Node, int], time: int) -> dict[Node, Node | None]:
    """Return the rate of change of every node of the time phase or an earlier one: an expression,
    or None if it is not constant between breakpoints.

    Nodes must be ordered with arguments first.
    """
    found: dict[Node, Node | None] = {}
    for node, phase in nodes.items():
        if phase <= time:
            found[node] = ZERO if phase < time else pace(node, found)
    return found


def pace(node: Node, known: Mapping[Node, Node | None]) -> Node | None:
    """Return the time derivative of a node that depends on time alone; None if it is not constant
    between breakpoints.
    """
    if not node.args:
        return (
            ONE if getattr(node, "key", "") == "t" else ZERO
        )  # the beginning of a stage does not move
    rates = [known.get(arg) for arg in node.args]
    if any(rate is None for rate in rates):
        return None
    if isinstance(node, Lookup):
        return None if any(rate is not ZERO for rate in rates) else ZERO
    assert isinstance(node, Operation)
    if node.op in LEVEL or all(rate is ZERO for rate in rates):
        return ZERO
    return moving(node, [rate for rate in rates if rate is not None])


def moving(node: Operation, rates: list[Node]) -> Node | None:
    """Return the rate of an operation whose arguments vary with time; None if it is not constant."""
    op, args = node.op, node.args
    if op in SUMS:
        return make(op, *rates)
    if op == Op.NEG:
        return make(Op.NEG, rates[0])
    if op == Op.MUL and ZERO in rates:
        still = rates.index(ZERO)
        return make(Op.MUL, args[still], rates[1 - still])
    if op in (Op.DIV, Op.MOD) and rates[1] is ZERO:
        return make(Op.DIV, rates[0], args[1]) if op == Op.DIV else rates[0]
    if op == Op.ABS:
        return make(Op.MUL, make(Op.SIGN, args[0]), rates[0])
    if op in (Op.MIN, Op.MAX):
        return make(Op.IF, make(Op.LT if op == Op.MIN else Op.GT, *args), *rates)
    if op == Op.IF:
        return make(Op.IF, args[0], *rates[1:])
    return None


def corners(
    phases: Mapping[Node, int], time: int, motions: Set[Node]
) -> list[tuple[Knot, Node, Node, Node | str | None, bool]]:
    """Return the breakpoints: kind, linear argument, its rate, the table or the spacing, and
    whether `motions` depend on it. Every argument counts once per table or kind.
    """
    known = paces(phases, time)
    found: dict[tuple, bool] = {}
    for node, phase in phases.items():
        if phase == time and node.args:
            for kind, argument, rate, detail in candidates(node, known):
                if rate is not None and rate is not ZERO:
                    key = (kind, argument, rate, detail)
                    found[key] = found.get(key, False) or node in motions
    return [(*key, moves) for key, moves in found.items()]


def instants(node: Node, levels: Mapping[str, int], time: int) -> list[tuple[Node, Node]]:
    """Return the terms of a guard that are linear in time, with their rates, so that the event time
    can be announced to hosts.
    """
    if isinstance(node, Operation) and node.op in (Op.MIN, Op.MAX):
        return [found for arg in node.args for found in instants(arg, levels, time)]
    found = runs_evenly(node, levels, time)
    return [] if found is None else [(node, found)]


def runs_evenly(node: Node, levels: Mapping[str, int], time: int) -> Node | None:
    """Return the constant rate of an expression that is linear in time, or None."""
    parts = list(postorder((node,)))
    if any(isinstance(part, Leaf) and levels.get(part.key, time + 1) > time for part in parts):
        return None
    phases: dict[Node, int] = {}
    for part in parts:
        own = levels[part.key] if isinstance(part, Leaf) else 0
        phases[part] = max((phases[arg] for arg in part.args), default=own)
    rate = paces(phases, time)[node]
    return None if rate is ZERO else rate


def candidates(
    node: Node, known: Mapping[Node, Node | None]
) -> list[tuple[Knot, Node, Node | None, Node | str | None]]:
    """Return the expressions in one node whose zeros may produce a breakpoint."""
    args = node.args
    if isinstance(node, Lookup):
        sides = (Knot.TABLE_X,) if node.op in OF_ONE else (Knot.TABLE_X, Knot.TABLE_Y)
        return [
            (side, arg, known.get(arg), node.table) for side, arg in zip(sides, args, strict=True)
        ]
    assert isinstance(node, Operation)
    if node.op in COMPARED:
        a, b = (known.get(arg) for arg in args)
        return [
            (
                Knot.ZERO,
                make(Op.SUB, *args),
                None if a is None or b is None else make(Op.SUB, a, b),
                None,
            )
        ]
    if node.op in (Op.ABS, Op.SIGN):
        return [(Knot.ZERO, args[0], known.get(args[0]), None)]
    if node.op in (Op.FLOOR, Op.CEIL):
        return [(Knot.MULTIPLE, args[0], known.get(args[0]), ONE)]
    if node.op == Op.MOD and known.get(args[1]) is ZERO:
        return [(Knot.MULTIPLE, args[0], known.get(args[0]), args[1])]
    return []
