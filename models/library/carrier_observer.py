"""Estimation of the loads of a departure on board: mass of a module and factor of its push force,
from sensors of angles, travel and pressures.

An extended Kalman filter with the carrier's own equations starts from the parameters known_mass and
known_push. The unmodelled moment before a departure (`luff_trim`) is estimated too, so that the
weight is identified from the module's travel and not from the equilibrium.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinetree.models.library.carrier_parameters import Rows, Table

if TYPE_CHECKING:
    from kinetree.models.library.carrier_parts import Settings

NAME = "loads"  # of the observer
SENSORS: Rows = {
    "sample_period": (0.005, "s", "sampling period of the sensors and of the estimate of loads"),
    "angle_noise": (2e-5, "rad", "standard deviation of a measured angle"),
    "travel_noise": (5e-4, "m", "standard deviation of the measured travel of a module"),
    "pressure_noise": (2e4, "Pa", "standard deviation of a measured pressure"),
    "mass_doubt": (15.0, "kg", "standard deviation of the foreseen mass of a module"),
    "push_doubt": (0.15, "1", "standard deviation of the foreseen factor on the push"),
    "trim_doubt": (5000.0, "N.m", "standard deviation of the unknown moment on the luff axis"),
}
REST_DEVIATION = (
    1e-5  # standard deviation at rest of angles, travels [rad, m], their speeds and openings
)


def measured(on: Settings, labels: list[str]) -> dict[str, tuple[str, str]]:
    """Return the measured quantity and the noise of every sensor by name."""
    found = {f"{axis}_sensor": (axis, "angle_noise") for axis in ("slew", "luff")}
    found |= {f"travel_sensor_{i}": (f"s{i}", "travel_noise") for i in range(1, on.n + 1)}
    return found | {
        f"{label}_{side}_sensor": (f"{label}_{side}.pressure", "pressure_noise")
        for label in labels
        for side in "ab"
    }


def leaves(sensor: str) -> bool:
    """Return whether the measured part of a sensor leaves with its module."""
    return sensor.startswith("travel_sensor")


def sensors(on: Settings, labels: list[str]) -> Table:
    """Return the sensors as controllers of kind `sensor`. Those of module travels give only noise,
    since a controller must not read a part that leaves.
    """
    return {
        name: {
            "kind": "sensor",
            "input": "0" if leaves(name) else value,
            "period": "sample_period",
            "noise": f"{noise}*sqrt(2*sample_period)",
        }
        for name, (value, noise) in measured(on, labels).items()
    }


def observers(on: Settings, labels: list[str]) -> Table:
    """Return the observer of a module's mass and push force."""
    turning = ["heave", "pitch", "roll", "slew", "luff"]
    moving = [f"{way}{i}" for i in range(1, on.n + 1) for way in ("s", "tilt", "turn")]
    still = [*turning, *moving]
    oil = [f"{label}_{side}.pressure" for label in labels for side in "ab"]
    initial = {name: REST_DEVIATION for each in still for name in (each, f"der({each})")}
    initial |= {f"{label}_valve.spool": REST_DEVIATION for label in labels}
    initial |= {f"{axis}_target": REST_DEVIATION for axis in ("slew", "luff")}
    watch = {
        "period": "sample_period",
        "readings": [
            {
                "value": value,
                "reads": f"{value} + {name}" if leaves(name) else name,
                "noise": noise,
            }
            for name, (value, noise) in measured(on, labels).items()
        ],
        "parameters": {
            "module_mass": {
                "start": "known_mass",
                "std": "mass_doubt",
                "walk": "mass_doubt/3",
                "min": 1.0,
            },
            "push_factor": {
                "start": "known_push",
                "std": "push_doubt",
                "walk": "push_doubt/3",
                "min": 0.0,
            },
        },
        "unknowns": {"luff_trim": {"coordinate": "luff", "std": "trim_doubt"}},
        "initial": initial | dict.fromkeys(oil, 1e4),
        "process": {"speeds": 1e-3} | dict.fromkeys(oil, 1e4),
    }
    return {NAME: watch}
