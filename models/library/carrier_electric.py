"""Electric drives of the carriers: a motor with gear and amplifier on the slew and on the luff
angle, with position control inside the model.

The amplifiers receive the set current

    PID(set value - angle) + advance (known load of the departures)/(gear torque_constant)

While a run is prepared, springs hold the angles and the controllers see no error; in the last
preparation step the motors hold the angles alone. Holding takes current, so that energies are
counted only after t = 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinetree.models.library import carrier_compensation
from kinetree.models.library.carrier_parameters import Rows, Table

if TYPE_CHECKING:
    from kinetree.models.library.carrier_drives import Drive
    from kinetree.models.library.carrier_parts import Settings

AXES = ("slew", "luff")
PREPARED = 10.0  # rate at which counters go back to 0 while the run is prepared [1/s]

MOTORS: Rows = {
    "torque_constant": (1.0, "N.m/A", "torque per current of the motors"),
    "winding_resistance": (0.15, "Ohm", "resistance of their windings"),
    "winding_inductance": (2e-3, "H", "inductance of their windings"),
    "rotor_inertia": (0.01, "kg.m2", "inertia of a rotor"),
    "slew_gear": (600.0, "1", "turns of the slewing motor per turn of the platform"),
    "luff_gear": (600.0, "1", "turns of the luffing motor per turn of the cradle"),
    "gear_efficiency": (0.9, "1", "efficiency of both gears"),
    "bus_voltage": (560.0, "V", "largest voltage of the amplifiers"),
    "current_limit": (60.0, "A", "largest current of the amplifiers"),
}
CONTROL: Rows = {
    "slew_gain": (6000.0, "A/rad", "current of the slewing motor per error of the angle"),
    "slew_rate_gain": (300.0, "A.s/rad", "current per rate of that error"),
    "slew_integral_gain": (6000.0, "A/(s.rad)", "rate of the current per error"),
    "luff_gain": (8000.0, "A/rad", "current of the luffing motor per error of the angle"),
    "luff_rate_gain": (400.0, "A.s/rad", "current per rate of that error"),
    "luff_integral_gain": (8000.0, "A/(s.rad)", "rate of the current per error"),
    "rate_filter": (2e-3, "s", "time constant of the filter of the rates"),
    **carrier_compensation.ADVANCE,
}


def motors(drives: list[Drive], on: Settings) -> Table:
    """Return the motors with their controllers and set values, and their energy accounts."""
    forces, controllers, states = {}, {}, carrier_compensation.known_states(on)
    for drive in drives:
        axis, label = drive.axis, drive.label
        known = f"(({carrier_compensation.known_force(drive, len(drives), on)}) - {label}_known)"
        states[f"{label}_known"] = {"rate": f"{known}/known_lag", "unit": "N.m"}
        ahead = f"advance*{axis}_advance*{label}_known/({axis}_gear*torque_constant)"
        forces[label] = {
            "kind": "electric",
            "coordinate": axis,
            "current": f"{axis}_control + {ahead}",
            "torque_constant": "torque_constant",
            "resistance": "winding_resistance",
            "inductance": "winding_inductance",
            "inertia": "rotor_inertia",
            "gear": f"{axis}_gear",
            "efficiency": "gear_efficiency",
            "speed": 0.01,
            "voltage_limit": "bus_voltage",
            "current_limit": "current_limit",
        }
        controllers[f"{axis}_control"] = {
            "measure": axis,
            "setpoint": f"if(lock > 0, {axis}, {axis}_set)",
            "kp": f"{axis}_gain",
            "ki": f"{axis}_integral_gain",
            "kd": f"{axis}_rate_gain",
            "filter": "rate_filter",
            "low": "-current_limit",
            "high": "current_limit",
        }
    for name, text, power in (
        ("drive_energy", "Energy taken from the bus, without what comes back", "max({}.electric_power, 0)"),
        ("drive_work", "Work of the drives", "{}.power"),
    ):  # fmt: skip
        total = " + ".join(power.format(drive.label) for drive in drives)
        states[name] = {
            "rate": f"if(lock > 0, -{PREPARED}*{name}, if(t > 0, {total}, 0))",
            "unit": "J",
            "text": text,
        }
    return {"forces": forces, "controllers": controllers, "states": states}


def outputs(labels: list[str]) -> Table:
    """Return outputs: torques and currents of the motors, and the angle errors."""
    found: Table = {
        f"{axis}_error": {"value": f"{axis}_set - {axis}", "unit": "rad"} for axis in AXES
    }
    units = {"current": "A", "voltage": "V", "torque": "N.m", "electric_power": "W"}
    for label in labels:
        for suffix, unit in units.items():
            found[f"{label}_{suffix}"] = {"value": f"{label}.{suffix}", "unit": unit}
        found[f"{label}_saturation"] = {
            "value": f"{label}.saturation",
            "unit": "1",
            "text": f"1 while a limit of current or voltage binds {label}",
        }
    return found
