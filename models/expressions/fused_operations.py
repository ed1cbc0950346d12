"""Fused instructions: multiply-add, and the one-sided law x > 0 ? max(y, 0) : 0.

A register program costs time per instruction, and each instruction waits for the register that the
one before wrote. Values are those of the two separate operations, rounded twice. A node that others
read, or that is known in an earlier phase than its user, is not fused.
"""

from collections import Counter
from collections.abc import Container, Mapping, Sequence

from kinetree.models.expressions.nodes import ZERO, Leaf, Node, Operation
from kinetree.solvers.layout import Op

STATE = 2  # the first phase whose values nobody looks for corners in


def fused(
    nodes: Sequence[Node],
    levels: Mapping[str, int],
    known: Mapping[Node, int],
    wanted: Container[Node],
) -> set[Node]:
    """Return the nodes that are fused into the only node that reads them; `known` gives the phases
    of existing nodes.
    """
    uses = Counter(arg for node in nodes for arg in node.args)
    phase = dict(known)
    depth: dict[Node, int] = {}
    inside: set[Node] = set()
    for node in nodes:
        own = levels.get(node.key, 0) if isinstance(node, Leaf) else 0
        phase[node] = max((phase[arg] for arg in node.args), default=own)
        depth[node] = 1 + max((depth.get(arg, 0) for arg in node.args), default=0)
        if phase[node] < STATE or not isinstance(node, Operation):
            continue
        free = [
            arg
            for arg in node.args
            if uses[arg] == 1 and phase[arg] == phase[node] and arg in depth and arg not in wanted
        ]
        free = [arg for arg in free if isinstance(arg, Operation)]
        if node.op in (Op.ADD, Op.SUB):
            products = [arg for arg in free if arg.op == Op.MUL]
            inside |= {max(products, key=depth.__getitem__)} if products else set()
        elif node.op == Op.IF and is_gate(node) and node.args[0] in free and node.args[1] in free:
            inside |= {node.args[0], node.args[1]}
    return inside


def is_gate(node: Operation) -> bool:
    """Return whether an operation is x > 0 ? max(y, z) : z."""
    condition, above, below = node.args
    if not (isinstance(condition, Operation) and isinstance(above, Operation)):
        return False
    return (
        condition.op == Op.GT
        and condition.args[1] is ZERO
        and above.op == Op.MAX
        and above.args[1] is below
    )


def two_steps(node: Node, known: Container[Node]) -> tuple[Op, tuple[Node, ...]] | None:
    """Return the fused instruction for a node and an inner node that only it uses; None if there is
    none.
    """
    missing = [k for k, arg in enumerate(node.args) if arg not in known]
    if not missing or not isinstance(node, Operation):
        return None
    first = node.args[missing[0]]
    if node.op == Op.IF:
        return Op.GATE, (first.args[0], node.args[1].args[0], node.args[2])
    other = node.args[1 - missing[0]]
    op = Op.MUL_ADD if node.op == Op.ADD else Op.MUL_SUB if missing[0] == 0 else Op.SUB_MUL
    return op, (*first.args, other)
