"""Outputs of a description: expressions, and measured quantities as sensors with one register per component."""

from __future__ import annotations

import re

from kinetree.models.compilation.builder import Builder, Column
from kinetree.models.description.errors import ModelError, Problem
from kinetree.models.description.schema import Output
from kinetree.models.expressions.nodes import Name
from kinetree.solvers.layout import Sensor

VECTORS = {
    "position": (Sensor.POSITION, "m"),
    "velocity": (Sensor.VELOCITY, "m/s"),
    "acceleration": (Sensor.ACCELERATION, "m/s2"),
    "angular_velocity": (Sensor.ANGULAR_VELOCITY, "rad/s"),
    "angular_acceleration": (Sensor.ANGULAR_ACCELERATION, "rad/s2"),
}
ENERGIES = {"energy": Sensor.ENERGY, "kinetic_energy": Sensor.KINETIC_ENERGY, "potential_energy": Sensor.POTENTIAL_ENERGY}
DISTANCES = {"distance": (Sensor.DISTANCE, "m"), "distance_rate": (Sensor.DISTANCE_RATE, "m/s")}
AXES = {"x": 0, "y": 1, "z": 2, "norm": 3}
QUATERNION = {"w": 0, "x": 1, "y": 2, "z": 3}
FORCE_OF = re.compile(r"(force|reaction)\('(.*)'\)")


def add_outputs(builder: Builder) -> None:
    """Sensors and definitions of all outputs; the columns follow once everything is defined."""
    for label, output in builder.description.outputs.items():
        if output.value is not None:
            builder.define(label, builder.node(output.value, f"outputs.{label}.value"))
            builder.columns.append(Column(label, 0, output.unit, output.text))
        else:
            add_quantity(builder, label, output)


def add_column(builder: Builder, label: str, output: Output, unit: str) -> None:
    builder.columns.append(Column(label, 0, output.unit or unit, output.text))


def components(label: str, output: Output, axes: dict[str, int], count: int) -> list[tuple[str, int]]:
    """Names and numbers of the components that are wanted."""
    if output.axis is not None:
        if output.axis not in axes:
            raise ModelError(Problem(f"outputs.{label}.axis", repr(output.axis), "one of " + ", ".join(axes)))
        return [(label, axes[output.axis])]
    return [(f"{label}[{k + 1}]", k) for k in range(count)]


def add_quantity(builder: Builder, label: str, output: Output) -> None:
    """Sensors of one measured quantity."""
    quantity = output.quantity or ""
    frame = int(output.frame == "body")
    if quantity in VECTORS:
        kind, unit = VECTORS[quantity]
        point = builder.vector(output.point, f"outputs.{label}.point")
        for name, axis in components(label, output, AXES, 3):
            builder.add_sensor(name, kind, builder.body[output.body or "ground"], point, axis=axis, frame=frame)
            add_column(builder, name, output, unit)
    elif quantity == "orientation":
        for name, axis in components(label, output, QUATERNION, 4):
            builder.add_sensor(name, Sensor.ORIENTATION, builder.body[output.body or "ground"], axis=axis)
            add_column(builder, name, output, "1")
    elif quantity in DISTANCES and output.between is not None:
        kind, unit = DISTANCES[quantity]
        a, b = output.between
        ends = (builder.body[a.body], builder.vector(a.point), builder.body[b.body], builder.vector(b.point))
        builder.add_sensor(label, kind, *ends)
        add_column(builder, label, output, unit)
    elif quantity == "reaction":
        add_reaction_output(builder, label, output, frame)
    elif quantity == "force":
        builder.define(label, builder.node(Name(f"force('{output.force}')")))
        add_column(builder, label, output, "N")
    else:
        builder.add_sensor(label, ENERGIES[quantity])
        add_column(builder, label, output, "J")


def add_reaction_output(builder: Builder, label: str, output: Output, frame: int) -> None:
    """Reaction of a joint, of the tree or cut, on its child at the origin of the child's frame."""
    kind, unit = (Sensor.REACTION_FORCE, "N") if output.part == "force" else (Sensor.REACTION_MOMENT, "N.m")
    for name, axis in components(label, output, AXES, 3):
        i = builder.joint_body[output.joint or ""]
        turned = builder.topology.reversed[i - 1]
        child = builder.body[builder.description.joints[output.joint or ""].child] if turned else 0
        builder.add_sensor(name, kind, i, b=child, point_b=int(turned), axis=axis, frame=frame)
        add_column(builder, name, output, unit)


def add_rates(builder: Builder) -> None:
    """Sensors for der(SPEED), such as der(der(gamma)), wherever an expression asks for them."""
    speeds = [name for joint in builder.topology.joint for name in builder.forms[joint].speeds]
    for index, speed in enumerate(speeds):
        key = f"der({speed})"
        if key in builder.used and key not in builder.registers.names:
            builder.add_sensor(key, Sensor.SPEED_RATE, index)


def add_magnitudes(builder: Builder) -> None:
    """Sensors for force('JOINT') and reaction('JOINT') wherever an expression asks for them."""
    for key in sorted(builder.used):
        match = FORCE_OF.fullmatch(key)
        if match and match[1] == "force" and match[2] in builder.coupling_rows and key not in builder.registers.names:
            if match[2] not in (*builder.description.forces, *builder.joint_body):
                builder.add_sensor(key, Sensor.MULTIPLIER, builder.coupling_rows[match[2]])
                continue
        if match and match[2] in builder.joint_body and key not in builder.registers.names and match[2] not in builder.description.forces:
            builder.add_sensor(key, Sensor.REACTION_FORCE, builder.joint_body[match[2]], axis=3)
