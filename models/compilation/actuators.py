"""Actuators, the interfaces for external drives: measured motion, received force and stiffness,
internal oil chambers.

The force, positive if it extends, is F + dF/ds (s - s0) + dF/dv (v - v0); F and its derivatives are
inputs, s0 and v0 the length and speed at the start of the communication step. The mean speed is (s
- s0)/(t - t0); a drive needs it to agree with the mechanism on the travel within a step.

Chambers: V_a = volume_a + area_a (s - shortest), V_b = volume_b + area_b (longest - s),
    V_a dp_a/dt = E(p_a) (flow_a - area_a v - leakage (p_a - p_b)),  V_b dp_b/dt = E(p_b) (flow_b + area_b v + leakage (p_a - p_b)).
Bulk modulus of oil with a volume fraction of air at 1 bar, polytropic exponent 1.4: E = E0 (1 + a)/(1 + a E0/(1.4 p)), a = air (1 bar/p)^(1/1.4).
Cavitation: below the pressure CAVITATION a decrease of pressure is slowed down, so that pressures stay above 0.
"""

from __future__ import annotations

from kinetree.models.compilation.element_states import HELD, stands
from kinetree.models.compilation.structure_builder import Builder
from kinetree.models.description.joint_units import actuator_units, way_driven
from kinetree.models.description.schema import Actuator, Chambers
from kinetree.models.expressions import registers as phases
from kinetree.models.expressions.columns import Column
from kinetree.models.expressions.internal_names import hidden, rate_of_state
from kinetree.models.expressions.node_arithmetic import E, choose, const, larger, name, smaller
from kinetree.models.expressions.vectors import (
    NOWHERE,
    Vector,
    position,
    sensed,
    vector_of,
    velocity,
)
from kinetree.models.forces.line_laws import end_stops, push, rubbing, speed_of
from kinetree.models.hydraulics.oil_terms import CAVITATION, LEAST_VOLUME, bulk_modulus
from kinetree.solvers import layout as L
from kinetree.solvers.sensors.kinds.points import ACCELERATION, DISTANCE, DISTANCE_RATE
from kinetree.solvers.sensors.kinds.speeds import SPEED_RATE


def add_actuators(builder: Builder) -> None:
    """Add forces, latches and outputs of all actuators."""
    for label, actuator in builder.description.actuators.items():
        if stands(actuator, builder.description):
            add_actuator(builder, label, actuator)


def add_actuator(builder: Builder, label: str, actuator: Actuator) -> None:
    """Add the sensors, inputs and force records of one actuator."""
    between = actuator.between is not None
    measure_line(builder, label, actuator) if between else measure_coordinate(
        builder, label, actuator
    )
    length, speed = name(f"{label}.length"), name(f"{label}.speed")
    t0, s0, v0 = (name(hidden(label, key)) for key in ("t0", *HELD))
    builder.define(
        f"{label}.mean_speed",
        choose(name("t") > t0, (length - s0) / larger(name("t") - t0, 1e-300), speed).node,
    )
    builder.registers.add(f"{label}.effective_mass", 0.0, phases.ACCELERATION)
    probe = builder.registers.add(hidden(label, "probe"), 0.0, phases.STATE)
    value = (
        name(f"{label}.force")
        + name(f"{label}.stiffness") * (length - s0)
        + name(f"{label}.damping") * (speed - v0)
    )
    if actuator.chambers is not None:
        value = value + chamber_force(builder, label, actuator.chambers, length, speed)
    builder.define(hidden(label, "value"), value.node)
    value = builder.register((name(hidden(label, "value")) + name(hidden(label, "probe"))).node)
    if not apply(builder, actuator, value):
        return
    builder.probes.append(
        (
            probe,
            *(
                builder.register(name(f"{label}.{key}").node)
                for key in ("acceleration", "effective_mass")
            ),
        )
    )
    names = builder.registers.names
    sources = {**{key: f"{label}.{source}" for key, source in HELD.items()}, "t0": "t"}
    builder.latches += [
        (builder.register(name(source).node), names[hidden(label, key)])
        for key, source in sources.items()
    ]
    units = actuator_units(way_driven(builder.description.joints, actuator.coordinate))
    builder.columns += [
        Column(f"{label}.{key}", 0, units[key], text) for key, text in TEXTS.items()
    ]


TEXTS = {
    "length": "Length",
    "speed": "Rate of the length",
    "acceleration": "Acceleration of the length",
    "mean_speed": "Mean speed over the last communication step",
    "effective_mass": "Force per acceleration along the actuator",
}


def measure_line(builder: Builder, label: str, actuator: Actuator) -> None:
    """Add the length between two points with its first and second derivative, (r a + v v -
    speed^2)/length.
    """
    assert actuator.between is not None
    ends = []
    for part, point in zip("ab", actuator.between, strict=True):
        at, body = (
            vector_of(builder, point.point, f"actuators.{label}.between"),
            builder.body[point.body],
        )
        register = builder.vector(x.node for x in at)
        inside = hidden(label, part)
        acceleration = (
            NOWHERE
            if body == 0
            else sensed(builder, f"{inside}.acceleration", ACCELERATION, body, register)
        )
        ends.append(
            (
                position(builder, f"{inside}.position", body, at),
                velocity(builder, f"{inside}.velocity", body, at),
                acceleration,
            )
        )
    r, v, a = (Vector(*second).minus(Vector(*first)) for first, second in zip(*ends, strict=True))
    sensors = [
        index
        for point in actuator.between
        for index in (builder.body[point.body], builder.vector(point.point))
    ]
    builder.add_sensor(f"{label}.length", DISTANCE, *sensors)
    builder.add_sensor(f"{label}.speed", DISTANCE_RATE, *sensors)
    length, speed = name(f"{label}.length"), name(f"{label}.speed")
    builder.define(f"{label}.acceleration", ((r.dot(a) + v.dot(v) - speed * speed) / length).node)


def measure_coordinate(builder: Builder, label: str, actuator: Actuator) -> None:
    """Use a coordinate of the mechanism as the actuator's length."""
    builder.define(f"{label}.length", name(str(actuator.coordinate)).node)
    builder.define(f"{label}.speed", name(f"der({actuator.coordinate})").node)
    index, _ = speed_of(builder, str(actuator.coordinate))
    if index < 0:
        builder.define(f"{label}.acceleration", const(0.0).node)
    else:
        builder.add_sensor(f"{label}.acceleration", SPEED_RATE, index)


def apply(builder: Builder, actuator: Actuator, value: int) -> bool:
    """Add the force record of an actuator; return False if its coordinate is locked."""
    if actuator.between is None:
        index, _ = speed_of(builder, str(actuator.coordinate))
        push(builder, index, value)
        return index >= 0
    a, b = actuator.between
    builder.add_force(
        L.Force.LINE,
        builder.body[a.body],
        builder.vector(a.point),
        builder.body[b.body],
        builder.vector(b.point),
        value,
    )
    return True


def chamber_force(builder: Builder, label: str, chambers: Chambers, length: E, speed: E) -> E:
    """Return the force of oil, seals and end stops, and define the rates of the chamber pressures."""
    part = {
        key: E(builder.node(getattr(chambers, key), f"actuators.{label}.chambers.{key}"))
        for key in type(chambers).model_fields
    }
    pressure = {side: name(f"{label}.pressure_{side}") for side in "ab"}
    leak = part["leakage"] * (pressure["a"] - pressure["b"])
    volume = {
        "a": part["area_a"] * (length - part["shortest"]),
        "b": part["area_b"] * (part["longest"] - length),
    }
    for side, sign in (("a", 1.0), ("b", -1.0)):
        dead, p = part[f"volume_{side}"], pressure[side]
        flow = name(f"{label}.flow_{side}") - sign * (part[f"area_{side}"] * speed + leak)
        rate = (
            bulk_modulus(part["bulk_modulus"], part["air"], p)
            * flow
            / larger(dead + volume[side], LEAST_VOLUME * dead)
        )
        left = smaller(larger(p, 0.0) / CAVITATION, 1.0)
        builder.define(
            rate_of_state(f"{label}.pressure_{side}"),
            (larger(rate, 0.0) + left * smaller(rate, 0.0)).node,
        )
    value = pressure["a"] * part["area_a"] - pressure["b"] * part["area_b"]
    value = value + rubbing(builder, part["coulomb"], part["viscous"], part["speed"], speed)
    return end_stops(builder, chambers, length, speed, value)[0]
