"""An electric motor with its gear and amplifier along a coordinate.

With ω = gear ẋ the speed of the rotor, i the current and k the torque constant:

    inductance di/dt = u - resistance i - k ω          (without inductance i = (u - k ω)/resistance)
    force along the coordinate = gear k i - (1 - efficiency) |gear k i| tanh(ẋ/speed)

The amplifier supplies the voltage u. With `voltage` u is that law, limited to k ω ± resistance
current_limit, which keeps a steady current within its limit. With `current` u makes the current
follow that law, within ± current_limit, with the time constant `lag`. The limit ± voltage_limit is
applied last: a rotor driven faster than the voltage can balance feeds back current beyond the
limit. The rotor's inertia, reflected through the gear, is added to the joint of the coordinate
(models/description/motor_rotors.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from kinetree.models.expressions.internal_names import hidden, rate_of_state
from kinetree.models.expressions.node_arithmetic import (
    E,
    absolute,
    choose,
    const,
    larger,
    name,
    smaller,
    tanh,
)
from kinetree.models.forces.force_energy import Book
from kinetree.models.forces.force_kind import ForceKind, OwnState
from kinetree.models.forces.force_schema import ForceTable
from kinetree.models.forces.line_laws import define_force, push, speed_of
from kinetree.models.language.basic_checks import Path
from kinetree.models.language.numbers_and_expressions import Law, Number

if TYPE_CHECKING:
    from kinetree.models.checks.consistency_check import Checker
    from kinetree.models.compilation.structure_builder import Builder

LIMITED = 1e-9  # V: difference of wanted and given voltage that counts as a limit


class ElectricForce(ForceTable):
    """Electric motor with gear and amplifier along one coordinate, driven by a voltage or by the set value of its current."""

    kind: Literal["electric"] = "electric"
    coordinate: str = Field(description="Name of a coordinate")
    voltage: Law | None = Field(
        None, description="Commanded voltage, such as an input or a controller [V]"
    )
    current: Law | None = Field(None, description="Commanded current, instead of a voltage [A]")
    torque_constant: Number = Field(
        description="Torque per current, and voltage per speed of the rotor [N.m/A]"
    )
    resistance: Number = Field(description="Resistance of the winding [Ohm]")
    inductance: Number | None = Field(
        None, description="Inductance of the winding (default: 0) [H]"
    )
    inertia: Number = Field(0.0, description="Inertia of the rotor about its axis [kg.m2]")
    gear: Number = Field(
        1.0, description="Gear ratio: rotation of the rotor per unit of the coordinate [1/m or 1]"
    )
    efficiency: Number = Field(1.0, description="Efficiency of the gear [1]")
    speed: Number = Field(
        1e-3,
        description="Speed of the coordinate over which the gear's loss changes its sign [m/s or rad/s]",
    )
    lag: Number = Field(
        1e-3, description="Time constant with which the current follows `current` [s]"
    )
    voltage_limit: Number | None = Field(None, description="Largest magnitude of the voltage [V]")
    current_limit: Number | None = Field(
        None, description="Largest magnitude of the commanded current [A]"
    )
    positive: ClassVar = (
        "torque_constant",
        "resistance",
        "inductance",
        "efficiency",
        "speed",
        "lag",
        "voltage_limit",
        "current_limit",
    )
    not_negative: ClassVar = ("inertia",)


def states(force: ElectricForce) -> dict[str, OwnState]:
    if force.inductance is None:
        return {}
    return {"current": OwnState("A", text="Current of the motor")}


def measures(force: ElectricForce) -> dict[str, str]:
    """Return the names that every motor offers; with inductance the current is a state."""
    own = {} if force.inductance is not None else {"current": "A"}
    units = {"voltage": "V", "torque": "N.m", "speed": "rad/s", "saturation": "1"}
    return own | units | {"electric_power": "W", "power": "W", "heat": "W"}


def within(value: E, least: E, most: E) -> E:
    return smaller(larger(value, least), most)


def add_electric(builder: Builder, label: str, force: ElectricForce) -> None:
    """Add an electric motor: its amplifier, its current, its force along the coordinate."""
    key = f"forces.{label}"
    index, rate = speed_of(builder, force.coordinate)

    def number(each: str) -> E:
        return E(builder.node(getattr(force, each), f"{key}.{each}"))

    def offered(suffix: str, value: E) -> E:
        builder.define(hidden(label, suffix), value.node)
        builder.offer(f"{label}.{suffix}", hidden(label, suffix))
        return name(hidden(label, suffix))

    k, R, gear = number("torque_constant"), number("resistance"), number("gear")
    inductance = None if force.inductance is None else number("inductance")
    current = None if inductance is None else name(builder.made(f"{label}.current"))
    induced = k * offered("speed", gear * rate)
    wanted, limited = amplifier(force, number, induced, R, current, inductance)
    voltage = offered("voltage", limited)
    if inductance is None:
        current = offered("current", (voltage - induced) / R)
    assert current is not None
    if inductance is not None:
        change = (voltage - R * current - induced) / inductance
        builder.define(rate_of_state(builder.made(f"{label}.current")), change.node)
    torque = offered("torque", k * current)
    lost = (1.0 - number("efficiency")) * absolute(gear * torque)
    rubs = lost * tanh(rate / number("speed"))
    stored = const(0.0) if inductance is None else 0.5 * inductance * current * current
    push(builder, index, define_force(builder, label, gear * torque - rubs, stored))
    heat = offered("heat", R * current * current + rubs * rate)
    taken = offered("electric_power", voltage * current)
    value = name(f"force('{label}')")
    offered("power", value * rate)
    offered("saturation", choose(absolute(wanted - voltage) > LIMITED, 1.0, 0.0))
    builder.books[label] = Book(lambda: value * rate, lambda: heat - taken, stored)


def amplifier(
    force: ElectricForce, number, induced: E, R: E, current: E | None, inductance: E | None
) -> tuple[E, E]:
    """Return the voltage requested from the amplifier and the one after all limits."""
    limit = None if force.current_limit is None else number("current_limit")
    if force.current is None:
        wanted = number("voltage")
        given = (
            wanted if limit is None else within(wanted, induced - R * limit, induced + R * limit)
        )
    else:
        asked = number("current")
        kept = asked if limit is None else within(asked, -limit, limit)

        def voltage(target: E) -> E:
            if current is None or inductance is None:
                return induced + R * target
            return induced + R * current + inductance / number("lag") * (target - current)

        wanted, given = voltage(asked), voltage(kept)
    if force.voltage_limit is not None:
        largest = number("voltage_limit")
        given = within(given, -largest, largest)
    return wanted, given


def check_electric(checker: Checker, path: Path, force: ElectricForce) -> None:
    if (force.voltage is None) == (force.current is None):
        found = "neither voltage nor current" if force.voltage is None else "voltage and current"
        checker.complain(path, found, "one of them: what the amplifier is told")
    if "lag" in force.model_fields_set and (force.current is None or force.inductance is None):
        checker.complain((*path, "lag"), "lag", "it with current and inductance alone")
    if isinstance(force.efficiency, float) and force.efficiency > 1.0:
        checker.complain((*path, "efficiency"), f"{force.efficiency:g}", "at most 1")


FORCE = ForceKind(
    ElectricForce,
    add_electric,
    says="gear torque_constant i less the gear's loss; inductance di/dt = u - resistance i - torque_constant gear ẋ",
    rank=7,
    told_by=frozenset({"torque_constant", "resistance"}),
    more=measures,
    states=states,
    check=check_electric,
    gives_energy=True,
    example={
        "voltage": "3*sin(2*t)",
        "torque_constant": 0.3,
        "resistance": 0.8,
        "inductance": 0.05,
        "gear": 4.0,
        "efficiency": 0.8,
        "speed": 0.2,
        "voltage_limit": 2.5,
        "current_limit": 3.0,
    },
)
