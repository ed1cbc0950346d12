"""Warnings about conditions of events and stages that a run cannot detect, since it monitors sign
changes of differences.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kinetree.models.expressions.nodes import (
    Const,
    ExpressionError,
    Leaf,
    Node,
    Operation,
    names,
    postorder,
)
from kinetree.models.expressions.parse import parse
from kinetree.models.expressions.time_breakpoints import LEVEL
from kinetree.solvers.layout import Op

if TYPE_CHECKING:
    from kinetree.models.checks.consistency_check import Checker
    from kinetree.models.description.schema import Stage

Path = tuple[str | int, ...]
EQUALITIES = {Op.EQ: "==", Op.NE: "!="}


def check_conditions(checker: Checker) -> None:
    """Check the conditions of all events and stages."""
    d = checker.description
    for name, event in d.events.items():
        check_one(checker, ("events", name, "when"), event.when)
    seen = set[str]()
    for path, stage in stages_of(d.stages, ("stages",)):
        if stage.ends is not None and stage.ends.when is not None:
            check_one(checker, (*path, "ends", "when"), stage.ends.when)
        if stage.name and stage.name in seen:
            checker.warn(
                (*path, "name"),
                f"'{stage.name}' a second time",
                "names of their own",
                "tables cannot distinguish such stages",
            )
        seen.add(stage.name)
    check_last(checker)


def stages_of(stages: tuple[Stage, ...], path: Path) -> Iterator[tuple[Path, Stage]]:
    """Yield all stages with their paths, including stages inside sequences."""
    for index, stage in enumerate(stages):
        yield (*path, index), stage
        yield from stages_of(stage.sequence or (), (*path, index, "sequence"))


def check_one(checker: Checker, path: Path, text: float | str) -> None:
    """Warn about an equality of varying values, which is true only at single instants, and about
    numbers used as conditions.
    """
    try:
        root = parse(text)
    except ExpressionError:
        return  # reported elsewhere
    for node in postorder((root,)):
        if (
            isinstance(node, Operation)
            and node.op in EQUALITIES
            and moves(checker, node.args[0], node.args[1])
        ):
            found = f"'{EQUALITIES[node.op]}' between values that move"
            checker.warn(
                path,
                found,
                "<, <=, > or >=",
                "a run sees where one value passes another, not that they are equal at an instant",
            )
            return
    if not judged(checker, root):
        checker.warn(
            path,
            f"the number {text}",
            "a comparison",
            "a number counts as true if it is above 0.5",
        )


def moves(checker: Checker, *roots: Node) -> bool:
    """Return whether any of the expressions changes continuously between events."""
    found: dict[Node, bool] = {}
    for node in postorder(roots):
        if isinstance(node, Leaf):
            found[node] = leaf_moves(checker, node)
        elif isinstance(node, Operation) and node.op in LEVEL:
            found[node] = False
        else:
            first = 1 if isinstance(node, Operation) and node.op == Op.IF else 0
            found[node] = any(found[each] for each in node.args[first:])
    return any(found[root] for root in roots)


def leaf_moves(checker: Checker, leaf: Leaf) -> bool:
    """Return whether a variable changes continuously; parameters, inputs and constant states do
    not.
    """
    d, name = checker.description, leaf.key
    if name in d.parameters or name in d.inputs:
        return False
    try:
        if name in d.states:
            return parse(d.states[name].rate) is not Const(0.0)
        output = d.outputs.get(name)
        if output is None or output.value is None:
            return True
        root = parse(output.value)
        return not names(root) & d.outputs.keys() and moves(checker, root)
    except ExpressionError:
        return False


def judged(checker: Checker, root: Node) -> bool:
    """Return whether an expression is a truth value: a comparison, or a variable 0 or 1 that
    changes only in steps.
    """
    if isinstance(root, Operation) and root.op in (Op.AND, Op.OR, Op.NOT):
        return all(judged(checker, each) for each in root.args)
    return not isinstance(root, (Leaf, Operation)) or not moves(checker, root)


def check_last(checker: Checker) -> None:
    """Warn about a last stage whose end, or whose actions at its end, have no effect."""
    stages = checker.description.stages
    if not stages:
        return
    last, path = stages[-1], ("stages", len(stages) - 1)
    changes = [key for key in ("free", "drop", "lock", "set") if getattr(last, key)]
    if last.ends is not None and not (changes or last.sequence):
        checker.warn(
            (*path, "ends"),
            "an end condition of the last stage",
            "stop_time in [run]",
            "nothing changes there, and the run continues",
        )
    elif last.ends is None and changes:
        earlier = ", put it into the stage before" if len(stages) > 1 else ""
        checker.warn(
            (*path, changes[0]),
            f"'{changes[0]}' in a last stage without an end",
            "a stage with 'ends'",
            f"a stage changes the structure at its end: this has no effect{earlier}",
        )
