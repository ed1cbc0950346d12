"""Event indicators: conditions as continuous functions that become positive, with the actions of
events.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.models.compilation.outputs import add_magnitudes, add_rates
from kinetree.models.compilation.prescribed_motion import early
from kinetree.models.compilation.structure_builder import NONE, Builder
from kinetree.models.description.names import expressions
from kinetree.models.expressions.internal_names import STAGE_START
from kinetree.models.expressions.node_arithmetic import E, const, larger, name, smaller
from kinetree.models.expressions.nodes import ZERO, ExpressionError, Node, Operation, names
from kinetree.models.expressions.parse import parse
from kinetree.models.expressions.registers import ACCELERATION
from kinetree.models.language.errors import ModelError, Problem, shown, suggestion
from kinetree.solvers import layout as L
from kinetree.solvers.layout import Op


def guard_of(node: Node) -> E:
    """Return an expression that is positive where a condition holds and zero where it changes."""
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
    """Add the guards of the stage end and of all events."""
    end = builder.end
    if end is not None:
        conditions = []
        if end.when is not None:
            when = builder.node(end.when, "ends.when")
            conditions.append((f"when {end.when}", guard_of(when), E(when) > const(0.5)))
        if end.at is not None:
            way = name("t") - E(builder.node(end.at, "ends.at"))
            conditions.append((f"at {end.at}", way, way >= const(0.0)))
        if end.after is not None:
            way = name("t") - name(STAGE_START) - E(builder.node(end.after, "ends.after"))
            conditions.append((f"after {end.after}", way, way >= const(0.0)))
        actions = [
            action(builder, target, value, "stages.set") for target, value in builder.at_end.items()
        ]
        for word, condition, holds in conditions:
            add_guard(
                builder,
                condition.node,
                L.Guard.STAGE,
                actions,
                -1 - builder.register(holds.node),
                f"the end of the stage ({word})",
            )
    for number, (label, event) in enumerate(builder.description.events.items()):
        laws = [builder.node(law, f"events.{label}") for law in (event.when, *event.set.values())]
        if builder.later and not all(resolvable(builder, law) for law in laws):
            refuse_blind(builder, label, (event.when, *event.set.values()), laws)
            continue
        if builder.later and not all(known(builder, target) for target in event.set):
            continue
        actions = [
            action(builder, target, value, f"events.{label}.set")
            for target, value in event.set.items()
        ]
        guard = guard_of(builder.node(event.when, f"events.{label}.when")).node
        add_guard(
            builder, guard, L.Guard.RESET, actions, number, f"event '{label}' (when {event.when})"
        )


def refuse_blind(
    builder: Builder, event: str, texts: Sequence[float | str], laws: Sequence[Node]
) -> None:
    """Refuse a sampled controller that measures a part no longer in the mechanism while its command
    still acts.
    """
    d = builder.description
    owner = d.made.get(("events", event))
    if owner is None:
        return
    commands = {
        name for (section, name), by in d.made.items() if by == owner and section == "outputs"
    }
    acts = any(
        path[0] not in ("events", "outputs", "stages") and names(parse(text)) & commands
        for path, text in expressions(d)
    )
    if acts:
        lost = next(
            text for text, law in zip(texts, laws, strict=True) if not resolvable(builder, law)
        )
        raise ModelError(
            Problem(
                f"controllers.{owner}",
                f"{shown(lost)}, which has left the mechanism, while its command still acts",
                "what the controller reads to stay as long as what it drives",
                file=d.file,
            )
        )


def resolvable(builder: Builder, node: Node) -> bool:
    """Return whether the current structure defines every name of an expression."""
    add_magnitudes(builder)
    add_rates(builder)
    try:
        builder.registers.phase_of(node)
    except ExpressionError:
        return False
    return True


def add_guard(
    builder: Builder,
    node: Node,
    kind: int,
    actions: list[tuple[int, int, int]],
    number: int,
    text: str,
) -> None:
    """Add one guard record with its text; `number` is the index of its event, or -1 minus the
    register of a stage end.
    """
    add_magnitudes(builder)
    add_rates(builder)
    builder.late_guards = builder.late_guards or builder.registers.phase_of(node) >= ACCELERATION
    builder.registers.announced.append(
        (
            node,
            {each: early(builder, each).node.key for each in holding(builder)},  # type: ignore[attr-defined]
        )
    )
    builder.guard_names.append(text)
    builder.guards.append(
        (builder.register(node), kind, len(builder.actions), len(actions), number)
    )
    builder.actions += actions


def holding(builder: Builder) -> list[str]:
    """Return the states with zero rate, such as the memory of sampled controllers, whose sample
    times are announced to hosts.
    """
    return [
        each
        for each, state in builder.description.states.items()
        if builder.node(state.rate, f"states.{each}.rate") == ZERO
    ]


def entries(builder: Builder) -> list[str]:
    """Return the names of the entries of the state vector y = (q, u, x)."""
    forms = [builder.forms[joint] for joint in builder.topology.joint]
    return (
        [n for f in forms for n in f.coordinates]
        + [n for f in forms for n in f.speeds]
        + list(builder.states)
    )


def known(builder: Builder, target: str) -> bool:
    """Return whether the target of an event action exists in the current structure."""
    return target in builder.description.parameters or target in entries(builder)


def action(builder: Builder, target: str, value: float | str, key: str) -> tuple[int, int, int]:
    """Return the target of an event action (an entry of y or a parameter) and the register of its
    new value.
    """
    parameter = builder.description.parameters.get(target)
    if parameter is not None:
        if isinstance(parameter.value, str):
            found = f"'{target}', which is computed as {parameter.value}"
            raise ModelError(
                Problem(
                    f"{key}.{target}",
                    found,
                    "a parameter with a number of its own",
                    file=builder.description.file,
                )
            )
        return (NONE, builder.registers.names[target], builder.register(value, f"{key}.{target}"))
    names = entries(builder)
    if target not in names:
        hint = suggestion(target, (*names, *builder.description.parameters))
        raise ModelError(
            Problem(
                f"{key}.{target}",
                repr(target),
                "a coordinate, speed, state or parameter",
                hint,
                file=builder.description.file,
            )
        )
    return (names.index(target), NONE, builder.register(value, f"{key}.{target}"))
