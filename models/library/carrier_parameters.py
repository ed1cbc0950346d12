"""Parameters of the carriers: round values of a vehicle of 20 to 30 t."""

from __future__ import annotations

from typing import Any

Table = dict[str, Any]
Rows = dict[str, tuple[float | str, str, str]]  # name: (value, unit, text)

PARAMETERS: Rows = {
    "g": (9.81, "m/s2", "gravity"),
    "front_mass": (6000.0, "kg", "mass of the front part of the base, with the engine"),
    "rear_mass": (7000.0, "kg", "mass of the rear part of the base"),
    "frame_mass": (1500.0, "kg", "mass of the lower frame under the slewing ring"),
    "platform_mass": (3000.0, "kg", "mass of the slewing platform"),
    "cradle_mass": (2500.0, "kg", "mass of the luffing cradle with its guide rails"),
    "module_mass": (120.0, "kg", "mass of a module"),
    "module_length": (2.0, "m", "length of a module"),
    "module_width": (0.4, "m", "width and height of a module"),
    "module_pitch": (0.5, "m", "distance of neighbouring rails"),
    "rail_length": (3.0, "m", "travel of a module until it leaves its rail"),
    "tyre_radius": (0.6, "m", "free radius of a tyre"),
    "tyre_stiffness": (9e5, "N/m", "vertical stiffness of a tyre"),
    "tyre_damping": (1.5e4, "N.s/m", "vertical damping of a tyre"),
    "tyre_side": (6e5, "N/m", "side stiffness of a tyre"),
    "jack_extension": (
        0.95,
        "m",
        "extension of the outrigger jacks; 0.95 lifts the wheels, 0.5 lets the carrier stand on them",
    ),
    "jack_stroke": (1.2, "m", "largest extension of a jack"),
    "jack_front": (2.9, "m", "distance of the front jacks before the origin of the base"),
    "jack_rear": (2.9, "m", "distance of the rear jacks behind it"),
    "jack_width": (1.9, "m", "distance of the jacks from the middle plane"),
    "jack_first": (8e5, "N/m", "stiffness of a jack until its play is used up"),
    "jack_play": (0.005, "m", "compression at which a jack becomes stiff"),
    "jack_stiffness": (
        1.2e6,
        "N/m",
        "stiffness of a jack beyond its play, at the extension 0.95 m",
    ),
    "jack_damping": (2e4, "N.s/m", "damping of a jack, at the extension 0.95 m"),
    "jack_slenderness": (
        0.2,
        "1/m",
        "loss of stiffness and damping of a mechanical jack per extension",
    ),
    "jack_side": (8e5, "N/m", "side stiffness of a standing jack"),
    "soil_strength": (3e4, "N", "load at which the soil under a jack begins to settle"),
    "soil_hardening": (5e6, "N/m", "growth of that load with the settlement"),
    "soil_viscosity": (1e6, "N.s/m", "load above the strength per settling speed"),
    "soil_stiffness": (2e7, "N/m", "stiffness of the soil's elastic part under a jack"),
    "soil_stiffening": (2e8, "N/m2", "growth of that stiffness with the settlement"),
    "soil_damping": (1e5, "N.s/m", "damping of the elastic part"),
    "grip": (0.7, "1", "friction of tyres and jacks on the ground"),
    "slew_command": (0.3, "rad", "slew angle at which the drive rests"),
    "slew_stiffness": (3e6, "N.m/rad", "stiffness of the locked slew drive"),
    "slew_damping": (8e4, "N.m.s/rad", "damping of the locked slew drive"),
    "luff_command": (0.5, "rad", "luff angle at which the drive rests"),
    "luff_stiffness": (4e6, "N.m/rad", "stiffness of the locked luff drive"),
    "luff_damping": (8e4, "N.m.s/rad", "damping of the locked luff drive"),
    "balance_pressure": (
        6e6,
        "Pa",
        "pressure of the accumulator on the balancing cylinder of the cradle",
    ),
    "balance_area": (0.005, "m2", "piston area of the balancing cylinder"),
    "tilt_stiffness": (
        4e4,
        "N.m/rad",
        "elastic moment against tilting and yawing of a module on its rail",
    ),
    "tilt_damping": (200.0, "N.m.s/rad", "damping of these"),
    "guide_stiffness": (5e6, "N/m", "stiffness of a module's guide across its rail"),
    "guide_damping": (8e3, "N.s/m", "damping of it"),
    "band": (
        0.8,
        "m",
        "distance of the guide pin before, of the bearing band behind the middle of a module",
    ),
    "clearance": (1e-3, "m", "free play of pin and band in groove and tube"),
    "rail_friction": (80.0, "N", "friction of a module on its rail"),
    "latch_stiffness": (2e6, "N/m", "stiffness of the latch that holds a module"),
    "latch_strength": (2500.0, "N", "force at which the latch opens"),
    "latch_damping": (
        1500.0,
        "N.s/m",
        "damping of a module at rest and on its rail's drive; 0 keeps the energy",
    ),
    "push_factor": (1.0, "1", "factor on the push of a module"),
    "blast_factor": (1.0, "1", "factor on the load on the cradle after a departure"),
    "pause": (0.5, "s", "time before the first module is pushed"),
    "pace": (0.5, "s", "time from the departure of a module to the push of the next"),
    "pushed": (0.0, "1", "number of the module that is pushed; the schedule changes it"),
    "departed": (0.0, "1", "1 between a departure and the next push; the schedule changes it"),
    "gone": (0.0, "1", "number of modules that have left; the schedule changes it"),
}
GUIDES: Rows = {
    "guide_share": (
        0.02,
        "1",
        "part of the elastic guidance of a module that is left beside the contacts of pin and band",
    ),
    "module_ahead": (
        0.15,
        "m",
        "centre of mass of a module before its middle, so that its weight presses pin and band against their guides",
    ),
}
HELIX: Rows = {
    "helix_pitch": (6.0, "m", "travel of a module in which its helical groove turns it once"),
    "pin_radius": (0.2, "m", "distance of the guide pin from the axis of its module"),
}
PACKS: Rows = {
    "pack_distance": (1.8, "m", "distance of the middles of two packs"),
    "blast_side": (
        0.0,
        "m",
        "how far to the left of the middle the load after a departure acts; the schedule changes it",
    ),
}
HYDRAULIC_JACKS: Rows = {
    "jack_area": (0.002, "m2", "piston area of a hydraulic jack"),
    "jack_ring": (0.001, "m2", "area of its retracting side"),
    "jack_oil": (1e-3, "m3", "oil on either side of it besides the stroke"),
    "jack_modulus": (1.2e9, "Pa", "bulk modulus of that oil with its hoses; the jack is shut"),
    "jack_pressure": (1e7, "Pa", "pressure of the retracting side of an unloaded jack"),
}
LIMITS: dict[str, Table] = {
    "rail_length": {"min": "module_length"},
    "module_pitch": {"min": "module_width"},
    "pack_distance": {"min": "2*module_pitch + module_width"},
    "jack_extension": {"min": 0, "max": "jack_stroke"},
    "slew_command": {"min": -0.7, "max": 0.7},
    "luff_command": {"min": -0.05, "max": 0.9},
    "pause": {"min": 0},
    "pace": {"min": 0},
}
TUNABLE = ("slew_gain", "luff_gain", "advance", "slew_advance", "luff_advance")  # while it runs
NOT_NEGATIVE = ("mass", "stiffness", "damping", "radius", "length", "width", "area", "modulus")


def parameters(n: int, *more: Rows) -> Table:
    """Return the parameters of a carrier with n modules; `more` adds further rows."""
    found = {}
    derived: Rows = {
        "weight": (
            f"g*(front_mass + rear_mass + frame_mass + platform_mass + cradle_mass + {n}*module_mass)",
            "N",
            "weight of everything",
        ),
        "jack_travel": (
            "jack_play + (weight/4 - jack_first*jack_play)/jack_stiffness",
            "m",
            "mean compression of the jacks at rest",
        ),
        "tyre_travel": (
            "weight/4/tyre_stiffness",
            "m",
            "mean compression of the tyres at rest without jacks",
        ),
    }
    for rows in (PARAMETERS, *more, derived):
        for name, (value, unit, text) in rows.items():
            lowest = {"min": 0} if name.rpartition("_")[2] in NOT_NEGATIVE else {}
            found[name] = (
                {"value": value, "unit": unit, "text": text}
                | lowest
                | LIMITS.get(name, {})
                | ({"tunable": True} if name in TUNABLE else {})
            )
    return found
