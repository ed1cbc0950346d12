"""Guards: conditions as continuous numbers that become positive, with the actions of events."""

from __future__ import annotations

from kinetree.models.compilation.algebra import E, larger, name, smaller
from kinetree.models.compilation.builder import NONE, Builder
from kinetree.models.compilation.hidden import STAGE_START
from kinetree.models.compilation.outputs import add_magnitudes, add_rates
from kinetree.models.expressions.nodes import ExpressionError, Node, Operation
from kinetree.models.expressions.registers import ACCELERATION
from kinetree.solvers import layout as L
from kinetree.solvers.layout import Op

LARGEST_ACTIONS = 64  # of one event


def guard_of(node: Node) -> E:
    """A number that is positive where a condition holds and passes zero where it changes."""
    if isinstance(node, Operation):
        args = node.args
        if node.op in (Op.GT, Op.GE):
            return E(args[0]) - E(args[1])
        if node.op in (Op.LT, Op.LE):
            return E(args[1]) - E(args[0])
        if node.op == Op.AND:
            return smaller(guard_of(args[0]), guard_of(args[1]))
        if node.op == Op.OR:
            return larger(guard_of(args[0]), guard_of(args[1]))
        if node.op == Op.NOT:
            return -guard_of(args[0])
    return E(node) - 0.5


def add_guards(builder: Builder) -> None:
    """The end of the stage, then the events of the description."""
    end = builder.end
    if end is not None:
        conditions = []
        if end.when is not None:
            conditions.append((f"when {end.when}", guard_of(builder.node(end.when, "ends.when"))))
        if end.at is not None:
            conditions.append((f"at {end.at}", name("t") - E(builder.node(end.at, "ends.at"))))
        if end.after is not None:
            conditions.append((f"after {end.after}", name("t") - name(STAGE_START) - E(builder.node(end.after, "ends.after"))))
        for word, condition in conditions:
            add_guard(builder, condition.node, L.G_STAGE, [], f"the end of the stage ({word})")
    for label, event in builder.description.events.items():
        laws = [builder.node(law, f"events.{label}") for law in (event.when, *event.set.values())]
        if builder.later and not all(resolvable(builder, law) for law in laws):
            continue
        if all(known(builder, target) for target in event.set):
            actions = [action(builder, target, value, f"events.{label}.set") for target, value in event.set.items()]
            guard = guard_of(builder.node(event.when, f"events.{label}.when")).node
            add_guard(builder, guard, L.G_RESET, actions[:LARGEST_ACTIONS], f"event '{label}' (when {event.when})")


def resolvable(builder: Builder, node: Node) -> bool:
    """Whether the present structure knows every name of an expression."""
    add_magnitudes(builder)
    add_rates(builder)
    try:
        builder.registers.phase_of(node)
    except ExpressionError:
        return False
    return True


def add_guard(builder: Builder, node: Node, kind: int, actions: list[tuple[int, int, int]], text: str) -> None:
    """One guard record and what to call it."""
    add_magnitudes(builder)
    add_rates(builder)
    builder.late_guards = builder.late_guards or builder.registers.phase_of(node) >= ACCELERATION
    builder.guard_names.append(text)
    builder.guards.append((builder.register(node), kind, len(builder.actions), len(actions)))
    builder.actions += actions


def entries(builder: Builder) -> list[str]:
    """Names of the entries of y = (q, u, x)."""
    forms = [builder.forms[joint] for joint in builder.topology.joint]
    return [n for f in forms for n in f.coordinates] + [n for f in forms for n in f.speeds] + list(builder.states)


def known(builder: Builder, target: str) -> bool:
    """Whether the present structure has what an event sets."""
    return target in builder.description.parameters or target in entries(builder)


def action(builder: Builder, target: str, value: float | str, key: str) -> tuple[int, int, int]:
    """What an event sets: an entry of y or a parameter, and the register of the new value."""
    register = builder.register(value, key)
    if target in builder.description.parameters:
        return (NONE, builder.registers.names[target], register)
    return (entries(builder).index(target), NONE, register)
