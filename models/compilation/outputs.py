"""Outputs of a description: expressions, and measured quantities as sensors with one register per component."""

from __future__ import annotations

import re

from kinetree.models.compilation.algebra import const, root
from kinetree.models.compilation.builder import Builder
from kinetree.models.compilation.compiled import Column
from kinetree.models.compilation.computed_outputs import computed
from kinetree.models.description.names import output_names
from kinetree.models.description.quantity_kinds import AXES_OF, QUANTITIES
from kinetree.models.description.value_parts import Output
from kinetree.solvers.sensors.kinds.bodies import ANGULAR_ACCELERATION, ANGULAR_VELOCITY, ORIENTATION
from kinetree.solvers.sensors.kinds.energies import ENERGY, KINETIC_ENERGY, POTENTIAL_ENERGY
from kinetree.solvers.sensors.kinds.forces import MULTIPLIER, REACTION_FORCE, REACTION_MOMENT
from kinetree.solvers.sensors.kinds.points import ACCELERATION, DISTANCE, DISTANCE_RATE, POSITION, VELOCITY
from kinetree.solvers.sensors.kinds.speeds import SPEED_RATE

SENSORS = {
    "position": POSITION,
    "velocity": VELOCITY,
    "acceleration": ACCELERATION,
    "angular_velocity": ANGULAR_VELOCITY,
    "angular_acceleration": ANGULAR_ACCELERATION,
}
ENERGIES = {"energy": ENERGY, "kinetic_energy": KINETIC_ENERGY, "potential_energy": POTENTIAL_ENERGY}
DISTANCES = {"distance": DISTANCE, "distance_rate": DISTANCE_RATE}
FORCE_OF = re.compile(r"(force|reaction)\('(.*)'\)")


def add_outputs(builder: Builder) -> None:
    """Columns of all outputs, and what does not need the force elements."""
    for label, output in builder.description.outputs.items():
        if output.value is not None:
            builder.define(label, builder.node(output.value, f"outputs.{label}.value"))
            builder.columns.append(Column(label, 0, output.unit, output.text, output.display_unit))
        else:
            add_quantity(builder, label, output)


def components(output: Output) -> list[int]:
    """Numbers of the components that are wanted; 3 is the length of a vector."""
    kind = QUANTITIES[output.quantity or ""]
    axes = AXES_OF[3 if output.quantity == "force" else kind.components]
    return [axes.index(output.axis)] if output.axis is not None else list(range(kind.components))


def add_quantity(builder: Builder, label: str, output: Output) -> None:
    """Sensors of one measured quantity, where there is one that gives it; else expressions over sensors."""
    quantity, names = output.quantity or "", output_names(label, output)
    if quantity == "dissipated_energy":  # a state, which has a column already
        return
    unit = output.unit or measured_unit(output, QUANTITIES[quantity].unit)
    builder.columns += [Column(name, 0, unit, output.text, output.display_unit) for name in names]
    plain = output.reference is None and output.frame in ("ground", "body")
    frame, wanted = int(output.frame == "body"), list(zip(names, components(output), strict=True))
    if quantity in SENSORS and plain:
        point = builder.vector(output.point, f"outputs.{label}.point")
        for name, axis in wanted:
            builder.add_sensor(name, SENSORS[quantity], builder.body[output.body or "ground"], point, axis=axis, frame=frame)
    elif quantity == "orientation" and plain:
        for name, axis in wanted:
            builder.add_sensor(name, ORIENTATION, builder.body[output.body or "ground"], axis=axis)
    elif quantity in DISTANCES and output.between is not None:
        a, b = output.between
        builder.add_sensor(label, DISTANCES[quantity], builder.body[a.body], builder.vector(a.point), builder.body[b.body], builder.vector(b.point))
    elif quantity == "reaction" and plain:
        add_reaction_output(builder, output, wanted, frame)
    elif quantity in ENERGIES:
        builder.add_sensor(label, ENERGIES[quantity])
    else:
        builder.deferred.append(lambda: add_computed(builder, label, output, names))


def measured_unit(output: Output, unit: str) -> str:
    """Unit of a quantity; forces and reactions may be moments."""
    return "N.m" if output.quantity in ("force", "reaction") and output.part == "moment" else unit


def add_reaction_output(builder: Builder, output: Output, wanted: list[tuple[str, int]], frame: int) -> None:
    """Reaction of a joint, of the tree or cut, on its child at the origin of the child's frame."""
    kind = REACTION_FORCE if output.part == "force" else REACTION_MOMENT
    i = builder.joint_body[output.joint or ""]
    turned = builder.topology.reversed[i - 1]
    child = builder.body[builder.description.joints[output.joint or ""].child] if turned else 0
    for name, axis in wanted:
        builder.add_sensor(name, kind, i, b=child, point_b=int(turned), axis=axis, frame=frame)


def add_deferred(builder: Builder) -> None:
    """Outputs that need the force elements."""
    for make in builder.deferred:
        make()


def add_computed(builder: Builder, label: str, output: Output, names: list[str]) -> None:
    """An output that is an expression over sensors."""
    found = computed(builder, label, output)
    parts = list(found) if isinstance(found, tuple) else [found]
    if len(parts) == 3:
        parts.append(root(sum((part * part for part in parts), const(0.0))))
    for name, k in zip(names, components(output), strict=True):
        builder.define(name, parts[k if len(parts) > 1 else 0].node)


def add_rates(builder: Builder) -> None:
    """Sensors for der(SPEED), such as der(der(gamma)), wherever an expression asks for them."""
    if not builder.asked_anew("rates"):
        return
    speeds = [name for joint in builder.topology.joint for name in builder.forms[joint].speeds]
    for index, speed in enumerate(speeds):
        key = f"der({speed})"
        if key in builder.used and key not in builder.registers.names:
            builder.add_sensor(key, SPEED_RATE, index)


def add_magnitudes(builder: Builder) -> None:
    """Sensors for force('JOINT') and reaction('JOINT') wherever an expression asks for them."""
    if not builder.asked_anew("magnitudes"):
        return
    for key in sorted(key for key in builder.used if key.endswith(")")):
        match = FORCE_OF.fullmatch(key)
        if match and match[1] == "force" and match[2] in builder.coupling_rows and key not in builder.registers.names:
            if match[2] not in (*builder.description.forces, *builder.joint_body):
                builder.add_sensor(key, MULTIPLIER, builder.coupling_rows[match[2]])
                continue
        if match and match[2] in builder.joint_body and key not in builder.registers.names and match[2] not in builder.description.forces:
            builder.add_sensor(key, REACTION_FORCE, builder.joint_body[match[2]], axis=3)
