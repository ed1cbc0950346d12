"""Checks of prescribed motions: jumps of the position are errors, kinks at unknown instants are
warnings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kinetree.models.expressions.nodes import (
    ExpressionError,
    Leaf,
    Lookup,
    Node,
    Operation,
    leaves,
    postorder,
)
from kinetree.models.expressions.parse import evaluate_constant, parse
from kinetree.models.expressions.time_breakpoints import COMPARED, LEVEL, paces
from kinetree.solvers.layout import Op

if TYPE_CHECKING:
    from kinetree.models.checks.consistency_check import Checker

CORNERED = LEVEL | COMPARED | {Op.ABS, Op.MOD}
SAMPLES, SUSPECTS, HALVINGS = 1000, 20, 45
JUMP = 1e-6  # of 1 and the size of the motion: what is left of a continuous motion after that many halvings of an interval is far less
DURATION = 10.0  # of runs whose stop time is not given [s]


def check_given(checker: Checker) -> None:
    """Check every prescribed motion of every joint."""
    for name, joint in checker.description.joints.items():
        for k, transform in enumerate(joint.transforms or ()):
            if isinstance(transform.by, str):
                try:
                    check_one(checker, ("joints", name, "transforms", k, "by"), transform.by)
                except ExpressionError:
                    continue  # reported elsewhere, or not a number everywhere


def check_one(checker: Checker, path: tuple[str | int, ...], text: str) -> None:
    root = parse(text)
    if all(leaf.key != "t" for leaf in leaves(root)):
        return
    nodes = tuple(postorder((root,)))
    cornered = [
        node
        for node in nodes
        if isinstance(node, Lookup) or isinstance(node, Operation) and node.op in CORNERED
    ]
    if not uneven(nodes, cornered) and not any(
        isinstance(node, Operation) and node.op in LEVEL | {Op.MOD} for node in cornered
    ):
        return
    if (
        not any(isinstance(node, Lookup) for node in nodes)
        and (t := jump(checker, root)) is not None
    ):
        checker.complain(
            path,
            text,
            "a motion without jumps",
            f"it jumps at t = {t:.6g}: no force carries a body over that; an event can set coordinates",
        )
    elif uneven(nodes, cornered):
        hint = "its kinks occur at unknown instants, so momentum is not conserved there: use arguments that are linear in t"
        checker.warn(path, text, hint=hint)


def uneven(nodes: tuple[Node, ...], cornered: Sequence[Node]) -> bool:
    """Return whether an argument of functions with kinks is not linear in time between kinks."""
    moving: dict[Node, int] = {}
    for node in nodes:
        own = isinstance(node, Leaf) and node.key == "t"
        moving[node] = int(own or any(moving[arg] for arg in getattr(node, "args", ())))
    rates = paces(moving, 1)
    return any(moving[arg] and rates[arg] is None for node in cornered for arg in node.args)


def jump(checker: Checker, root: Node) -> float | None:
    """Return an instant at which the value jumps, found by repeatedly halving the least smooth
    intervals; None if there is none.
    """
    run = checker.description.run
    begin = checker.number(run.start_time) or 0.0
    stop = checker.number(run.stop_time)
    end = begin + DURATION if stop is None or stop <= begin else stop

    def value(t: float) -> float:
        return evaluate_constant(root, {**checker.values, "t": t})

    times = [begin + (end - begin) * k / SAMPLES for k in range(SAMPLES + 1)]
    found = [value(t) for t in times]
    for k in sorted(
        range(1, SAMPLES - 1),
        key=lambda k: -abs(found[k + 2] - 3.0 * found[k + 1] + 3.0 * found[k] - found[k - 1]),
    )[:SUSPECTS]:
        a, b, fa, fb = times[k], times[k + 1], found[k], found[k + 1]
        for _ in range(HALVINGS):
            c = 0.5 * (a + b)
            fc = value(c)
            a, b, fa, fb = (a, c, fa, fc) if abs(fc - fa) > abs(fb - fc) else (c, b, fc, fb)
        if abs(fb - fa) > JUMP * (1.0 + max(map(abs, found))):
            return b
    return None
