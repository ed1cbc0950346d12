"""Outputs of a description: expressions, and measured quantities as sensors with one register per component."""

from __future__ import annotations

import re

from kinetree.models.compilation.structure_builder import Builder
from kinetree.models.description.names import output_names
from kinetree.models.description.output_parts import Output
from kinetree.models.expressions.columns import Column
from kinetree.models.expressions.internal_names import rate_of_state
from kinetree.models.expressions.node_arithmetic import const, root
from kinetree.models.quantities.kinds import QUANTITIES
from kinetree.models.quantities.kinds.reactions import measure_reaction
from kinetree.models.quantities.quantity_kind import plain
from kinetree.solvers.sensors.kinds.forces import MULTIPLIER
from kinetree.solvers.sensors.kinds.speeds import SPEED_RATE

FORCE_OF = re.compile(r"(force|reaction)\('(.*)'\)(?:\[(\d)\])?")


def add_outputs(builder: Builder) -> None:
    """Add the columns of all outputs, and the definitions that need no force elements."""
    for label, output in builder.description.outputs.items():
        if output.value is not None:
            builder.define(label, builder.node(output.value, f"outputs.{label}.value"))
            builder.columns.append(Column(label, 0, output.unit, output.text, output.display_unit))
        else:
            add_quantity(builder, label, output)


def components(output: Output) -> list[int]:
    """Return the indices of the requested components; 3 is the magnitude of a vector."""
    kind = QUANTITIES[output.quantity or ""]
    return (
        [kind.axes.index(output.axis)] if output.axis is not None else list(range(kind.components))
    )


def add_quantity(builder: Builder, label: str, output: Output) -> None:
    """Add the sensors of one measured quantity, or the expressions over sensors that define it."""
    kind, names = QUANTITIES[output.quantity or ""], output_names(label, output)
    if kind.state:
        return
    unit = output.unit or kind.unit_of(output)
    shown_in = output.display_unit or ("" if output.unit else kind.display_unit)
    builder.columns += [Column(each, 0, unit, output.text, shown_in) for each in names]
    if kind.sensed is not None and (plain(output) or kind.computed is None):
        kind.sensed(builder, output, list(zip(names, components(output), strict=True)))
    else:
        builder.deferred.append(lambda: add_computed(builder, label, output, names))


def add_computed(builder: Builder, label: str, output: Output, names: list[str]) -> None:
    """Add an output that is an expression over sensors."""
    make = QUANTITIES[output.quantity or ""].computed
    assert make is not None
    found = make(builder, label, output)
    parts = list(found) if isinstance(found, tuple) else [found]
    if len(parts) == 3:
        parts.append(root(sum((part * part for part in parts), const(0.0))))
    for each, k in zip(names, components(output), strict=True):
        builder.define(each, parts[k if len(parts) > 1 else 0].node)


def add_deferred(builder: Builder) -> None:
    """Add the outputs that refer to force elements, after these."""
    for make in builder.deferred:
        make()


def add_rates(builder: Builder) -> None:
    """Add sensors for der(SPEED) wherever expressions use it."""
    if not builder.asked_anew("rates"):
        return
    speeds = [name for joint in builder.topology.joint for name in builder.forms[joint].speeds]
    for index, speed in enumerate(speeds):
        key = f"der({speed})"
        if key in builder.used and key not in builder.registers.names:
            builder.add_sensor(key, SPEED_RATE, index)


def add_magnitudes(builder: Builder) -> None:
    """Add the sensors of force('JOINT'), reaction('JOINT') and the latter's components [1] to [6]."""
    if not builder.asked_anew("magnitudes"):
        return
    for key in sorted(builder.used):
        match = FORCE_OF.fullmatch(key)
        if (
            match
            and match[1] == "force"
            and match[2] in builder.coupling_rows
            and key not in builder.registers.names
        ):
            if match[2] not in (*builder.description.forces, *builder.joint_body):
                builder.add_sensor(key, MULTIPLIER, builder.coupling_rows[match[2]])
                continue
        if (
            match
            and match[2] in builder.joint_body
            and key not in builder.registers.names
            and match[2] not in builder.description.forces
        ):
            moment, axis = divmod(int(match[3]) - 1, 3) if match[3] else (0, 3)
            measure_reaction(builder, match[2], bool(moment), [(key, axis)], frame=1)


def add_integrals(builder: Builder) -> None:
    """Add the rates of the states that integrate a quantity."""
    for label, output in builder.description.outputs.items():
        kind = QUANTITIES.get(output.quantity or "")
        if (
            kind is not None
            and kind.state
            and kind.computed is not None
            and output.force in builder.books
        ):
            builder.define(rate_of_state(label), kind.computed(builder, label, output).node)
