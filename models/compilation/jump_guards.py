"""Jumps of force laws: guards without actions on functions of the state whose sign selects the side
of a discontinuity.

Variable integration steps end at their sign changes, and model exchange hosts locate them. The
functions are declared by laws, as a damped contact declares its touch and release, or are the
arguments of `sign`, comparisons, `floor`, `ceil` and `mod` in expressions of the description.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from kinetree.models.compilation.events import resolvable
from kinetree.models.compilation.structure_builder import NONE, Builder
from kinetree.models.description.names import expressions
from kinetree.models.description.reading.source_location import key_path
from kinetree.models.expressions.node_arithmetic import E, const, sin
from kinetree.models.expressions.nodes import Node, Operation, names, postorder
from kinetree.models.expressions.parse import parse
from kinetree.models.expressions.registers import STATE
from kinetree.solvers import layout as L
from kinetree.solvers.layout import Op

COMPARISONS = (Op.LT, Op.LE, Op.GT, Op.GE)
SPACED = (Op.FLOOR, Op.CEIL, Op.MOD)
LAWS = (
    "couplings",
    "contacts",
    "forces",
    "inputs",
    "states",
    "actuators",
    "controllers",
    "observers",
    "hydraulics",
)  # sections whose expressions make rates: those of bodies and joints depend on time at most


def add_jump_guards(builder: Builder) -> None:
    """Add the guards of all jumps that kinematics determine, after those of events and contacts;
    every function of the state is added once.
    """
    never = -1 - builder.register(0.0)  # they are no events and end no stage
    known: set[int] = set()
    for node, text, side in (*builder.jumps, *jumps_of_expressions(builder)):
        if not resolvable(builder, node) or builder.registers.phase_of(node) != STATE:
            continue
        register = builder.register(node)
        if register not in known:
            known.add(register)
            builder.guard_names.append(f"jump of {text}")
            hold = builder.registers.names[side] if side else NONE
            builder.guards.append((register, int(L.Guard.JUMP), hold, 0, never))


def jumps_of_expressions(builder: Builder) -> Iterator[tuple[Node, str, str]]:
    """Yield the jumps in the expressions for forces and rates, and in the outputs that these use,
    each with its text and without hysteresis.
    """
    d = builder.description
    wanted: list[tuple[str, str]] = [
        (key_path(path), text)
        for section in LAWS
        for path, text in expressions(getattr(d, section), (section,))
        if text.scope != "parameter"
    ]
    seen: set[str] = set()
    for key, text in wanted:
        node = parse(text)
        for jump in jumps(node):
            yield jump, f"{key} ({text})", ""
        for used in sorted((names(node) & d.outputs.keys()) - seen):
            seen.add(used)
            value = d.outputs[used].value
            if isinstance(value, str):
                wanted.append((f"outputs.{used}", value))


def jumps(node: Node) -> Iterator[Node]:
    """Yield the functions whose zeros are the jumps of an expression."""
    for each in postorder((node,)):
        if not isinstance(each, Operation):
            continue
        args = [E(arg) for arg in each.args]
        if each.op == Op.SIGN:
            yield args[0].node
        elif each.op in COMPARISONS:
            yield (args[0] - args[1]).node
        elif each.op in SPACED:
            spacing = args[1] if each.op == Op.MOD else const(1.0)
            yield sin(math.pi * args[0] / spacing).node
