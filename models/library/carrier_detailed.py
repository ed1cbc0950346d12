"""Mobile carrier, detailed variant: front and rear base, lower frame, platform, cradle, payload
modules that leave their rails one by one.

    ground -(heave, pitch, roll)- rear base -(front_yaw, front_pitch, front_roll)- front base
                                  rear base -(frame_roll, frame_pitch)- frame -(slew, lean)- platform -(luff)- cradle -(s_i, tilt_i, turn_i)- module i

The spherical joint of the bases and the universal joint of the frame have elastic, damped moments
about every angle; ties between frame and front base only pull. Everything else, including
preparation, schedule and arguments, is as in `carrier`. `rigid = 1` locks the bases, the frame and
the lean of the platform, which reproduces the basic variant.
"""

from __future__ import annotations

from typing import Any

from kinetree.models.library import carrier_parts as parts
from kinetree.models.library.argument_checks import switch

COUPLING = [0.2, 0, 0]  # spherical joint of the bases
PIVOT = [-0.5, 0, 0.4]  # universal joint of the frame
ANGLES = ("front_yaw", "front_pitch", "front_roll", "frame_roll", "frame_pitch", "lean")
STIFFNESS = {
    "front_stiffness": (
        2e7,
        "N.m/rad",
        "elastic moment between front and rear base, at each of three angles",
    ),
    "front_damping": (4e5, "N.m.s/rad", "damping of it"),
    "frame_stiffness": (
        3e7,
        "N.m/rad",
        "elastic moment of the frame on the rear base, at both angles",
    ),
    "frame_damping": (5e5, "N.m.s/rad", "damping of it"),
    "lean_stiffness": (3e7, "N.m/rad", "elastic moment of the slewing ring against leaning"),
    "lean_damping": (5e5, "N.m.s/rad", "damping of it"),
    "tie_stiffness": (
        2e6,
        "N/m",
        "stiffness of a tie between frame and front base when it is tight",
    ),
    "tie_slack": (1.002, "1", "length of a slack tie over the distance of its ends"),
}
TIES = {"left": 0.8, "right": -0.8}
TIE_ENDS = (
    [1.6, 0.1],
    [1.0, 0.1],
)  # x and z: on the front base in the vehicle's frame, on the frame in its own


ARGUMENTS = parts.ARGUMENTS | {
    "rigid": switch("bases, frame and lean of the platform are rigid: moves as the basic variant")
}


def describe(
    modules: int = 4,
    order: Any = 0,
    full: int = 0,
    hydraulic: int = 0,
    soil: int = 0,
    contacts: int = 0,
    drives: int = 0,
    outside: int = 0,
    cylinders: int = 0,
    forward: int = 0,
    known_order: Any = -1,
    helical: int = 0,
    flexible: int = 0,
    replan: int = 0,
    estimated: int = 0,
    packs: int = 1,
    blast_field: int = 0,
    rigid: int = 0,
) -> dict[str, Any]:
    """Return the description of the detailed carrier with the given number of modules."""
    if rigid not in (0, 1):
        raise ValueError(f"rigid is {rigid!r}, expected 0 or 1")
    on = parts.Settings(
        modules,
        order,
        known_order,
        packs,
        full=full,
        hydraulic=hydraulic,
        soil=soil,
        contacts=contacts,
        drives=drives,
        outside=outside,
        cylinders=cylinders,
        forward=forward,
        helical=helical,
        flexible=flexible,
        replan=replan,
        estimated=estimated,
        blast_field=blast_field,
    )
    rest = parts.upper(on, "frame", [a - b for a, b in zip(parts.RING, PIVOT, strict=True)])
    own = {
        name: {"value": value, "unit": unit, "min": 0, "text": text}
        for name, (value, unit, text) in STIFFNESS.items()
    }
    return {
        "format": "kinetree/1",
        "name": f"Detailed carrier of {on.n} modules",
        "text": "Front and rear base, lower frame, platform, cradle on tyres and jacks, modules that leave their rails one after another",
        "gravity": [0, 0, "-g"],
        "parameters": parts.all_parameters(on) | own,
        "outputs": parts.outputs(on),
        "tables": parts.tables(on),
        "run": parts.run(on),
        **rest,
        "bodies": {**lower_bodies(), **rest["bodies"]},
        "joints": {
            "base": parts.vehicle_joint("rear", on.full),
            **lower_joints(bool(rigid)),
            **rest["joints"],
        },
        "forces": {
            **parts.ground_forces("front", "rear", on),
            **({} if rigid else elastic()),
            **rest["forces"],
        },
    }


def lower_bodies() -> dict[str, Any]:
    """Return rear and front base in the vehicle's frame, and the lower frame about its pivot."""
    at, size = parts.FRAME
    return {
        "rear": parts.body("rear_mass", *parts.REAR),
        "front": parts.body("front_mass", *parts.FRONT),
        "frame": parts.body("frame_mass", [a - b for a, b in zip(at, PIVOT, strict=True)], size),
    }


def lower_joints(rigid: bool) -> dict[str, Any]:
    """Return the spherical joint of the bases, the universal joint of the frame, and the slewing
    ring that can lean.
    """
    back = [-x for x in COUPLING]
    turns = {
        "front": [("z", "front_yaw"), ("y", "front_pitch"), ("x", "front_roll")],
        "frame": [("x", "frame_roll"), ("y", "frame_pitch")],
    }
    moving = {
        name: [] if rigid else [parts.rotation(axis, angle) for axis, angle in each]
        for name, each in turns.items()
    }
    ring = [
        parts.rotation("z", "slew", start="slew_command"),
        *([] if rigid else [parts.rotation("y", "lean")]),
    ]
    above = [a - b for a, b in zip(parts.RING, PIVOT, strict=True)]
    return {
        "coupling": {
            "parent": "rear",
            "child": "front",
            "transforms": [{"shift": COUPLING}, *moving["front"], {"shift": back}],
        },
        "pivot": {
            "parent": "rear",
            "child": "frame",
            "transforms": [{"shift": PIVOT}, *moving["frame"]],
        },
        "ring": {"parent": "frame", "child": "platform", "transforms": [{"shift": above}, *ring]},
    }


def elastic() -> dict[str, Any]:
    """Return the elastic moments about every angle, and the ties."""
    forces: dict[str, Any] = {}
    for angle in ANGLES:
        part = angle.partition("_")[0]
        forces[f"{angle}_spring"] = {
            "coordinate": angle,
            "stiffness": f"{part}_stiffness",
            "damping": f"{part}_damping",
        }
    (x, z), (xf, zf) = TIE_ENDS
    length = ((x - xf - PIVOT[0]) ** 2 + (z - zf - PIVOT[2]) ** 2) ** 0.5
    for side, y in TIES.items():
        ends = [{"body": "front", "point": [x, y, z]}, {"body": "frame", "point": [xf, y, zf]}]
        forces[f"tie_{side}"] = {
            "between": ends,
            "tension_only": True,
            "stiffness": "tie_stiffness",
            "length": f"tie_slack*{length!r}",
        }
    return forces
