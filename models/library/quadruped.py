"""A robot on four legs that trots: a free trunk, twelve joints with servos, feet that touch the
ground as spheres.

    ground -(free)- trunk -(abduct)- hip -(swing)- thigh -(knee)- shank        front left, front right, rear left, rear right

Every joint has a servo: torque = stiffness (target - angle) - damping rate, limited. The targets
are a trot: diagonal legs move in phase, the thigh swings as a cosine, and the foot lifts in the
half period in which the thigh moves forward; the gait begins after `wait`. Inputs: `stride`, the
amplitude of the swing (0: standing), and `turn`, the difference of the strides of the two sides.
Parameters are round numbers of a robot of 20 kg.
"""

from __future__ import annotations

from typing import Any

LEGS = {
    "front_left": (1, 1, 0.0),
    "front_right": (1, -1, 0.5),
    "rear_left": (-1, 1, 0.5),
    "rear_right": (-1, -1, 0.0),
}

PARAMETERS: dict[str, tuple[float, str, str]] = {
    "trunk_mass": (10.0, "kg", "mass of the trunk"),
    "hip_mass": (0.7, "kg", "mass of a hip"),
    "thigh_mass": (1.2, "kg", "mass of a thigh"),
    "shank_mass": (0.35, "kg", "mass of a shank with its foot"),
    "thigh": (0.24, "m", "length of a thigh"),
    "shank": (0.24, "m", "length of a shank, to the middle of the foot"),
    "foot": (0.02, "m", "radius of a foot"),
    "stiffness": (250.0, "N.m/rad", "stiffness of the servos"),
    "damping": (6.0, "N.m.s/rad", "damping of the servos"),
    "torque": (60.0, "N.m", "largest torque of a servo"),
    "rotor": (0.01, "kg.m2", "inertia of a motor, reflected to its joint"),
    "crouch": (0.7, "rad", "angle of the thighs when it stands; the knees bend by twice as much"),
    "period": (0.5, "s", "of the gait"),
    "lift": (0.35, "rad", "by which a leg is drawn in while it swings forward"),
    "wait": (0.5, "s", "time for which it stands before it walks"),
    "ground": (3e4, "N/m", "stiffness of the ground under a foot"),
    "ground_damping": (300.0, "N.s/m", "damping of the ground under a foot"),
    "grip": (0.8, "1", "friction of the feet"),
}


def describe() -> dict[str, Any]:
    """Return the description of trunk and four legs."""
    parameters = {
        name: {"value": value, "unit": unit, "text": text}
        for name, (value, unit, text) in PARAMETERS.items()
    }
    bodies: dict[str, Any] = {
        "trunk": {
            "mass": "trunk_mass",
            "inertia": ["trunk_mass*0.008", "trunk_mass*0.025", "trunk_mass*0.03", 0, 0, 0],
            "shape": {"box": [0.5, 0.18, 0.12]},
        }
    }
    height = "(thigh + shank)*cos(crouch) + foot - 0.0016"
    joints: dict[str, Any] = {
        "trunk": {"child": "trunk", "type": "free", "start": [0, 0, height, 1, 0, 0, 0]}
    }
    forces: dict[str, Any] = {}
    for leg, (front, side, phase) in LEGS.items():
        bodies |= leg_bodies(leg)
        joints |= leg_joints(leg, front, side)
        forces |= servos(leg, side, phase)
        forces[f"foot_{leg}"] = {
            "kind": "contact", "body": f"shank_{leg}", "point": [0, 0, "-shank"], "radius": "foot", "stiffness": "ground",
            "damping": "ground_damping",
            "friction": "grip", "friction_speed": 0.02,
        }  # fmt: skip
    loads = {f"load_{leg}": {"quantity": "force", "force": f"foot_{leg}"} for leg in LEGS}
    place = {
        "trunk_position": {"quantity": "position", "body": "trunk"},
        "upright": {"quantity": "orientation", "body": "trunk"},
    }
    return {
        "format": "kinetree/1",
        "name": "Quadruped",
        "text": "Robot on four legs with twelve servos, which trots",
        "gravity": [0, 0, -9.81],
        "parameters": parameters,
        "inputs": {
            "stride": {
                "start": 0.25,
                "unit": "rad",
                "text": "amplitude of the swing of the thighs; 0: it stands",
            },
            "turn": {
                "start": 0.0,
                "unit": "rad",
                "text": "added to the stride at the right, taken from it at the left",
            },
        },
        "bodies": bodies,
        "joints": joints,
        "forces": forces,
        "outputs": loads
        | place
        | {"centre": {"quantity": "centre_of_mass"}, "energy": {"quantity": "energy"}},
        "run": {"stop_time": 5.0, "output_step": 0.01},
    }


def leg_bodies(leg: str) -> dict[str, Any]:
    """Return the bodies of a leg: hip, thigh and shank."""
    found: dict[str, Any] = {
        f"hip_{leg}": {
            "mass": "hip_mass",
            "inertia": ["hip_mass*0.001"] * 3 + [0, 0, 0],
            "shape": {"sphere": 0.05},
        }
    }
    for part, width in (("thigh", 0.03), ("shank", 0.015)):
        long = f"{part}_mass*{part}**2/12"
        shape = {"capsule": [width, part], "at": [0, 0, f"-{part}/2"]}
        found[f"{part}_{leg}"] = {
            "mass": f"{part}_mass",
            "com": [0, 0, f"-{part}/2"],
            "inertia": [long, long, f"{long}/20", 0, 0, 0],
            "shape": shape,
        }
    return found


def leg_joints(leg: str, front: int, side: int) -> dict[str, Any]:
    """Return the joints of a leg: abduction about x, swing and knee about y, each with its motor's
    inertia.
    """
    places = {
        "abduct": ("trunk", "hip", [0.2 * front, 0.05 * side, 0], "x"),
        "swing": ("hip", "thigh", [0, 0.08 * side, 0], "y"),
    }
    places["knee"] = ("thigh", "shank", [0, 0, "-thigh"], "y")
    starts = {"abduct": 0.0, "swing": "crouch", "knee": "-2*crouch"}
    return {
        f"{name}_{leg}": {
            "parent": f"{parent}_{leg}" if parent != "trunk" else "trunk", "child": f"{child}_{leg}", "type": "revolute", "axis": axis, "at": at,
            "coordinates": [f"{name}_{leg}"], "start": starts[name], "rotor_inertia": "rotor",
        }
        for name, (parent, child, at, axis) in places.items()
    }  # fmt: skip


def servos(leg: str, side: int, phase: float) -> dict[str, Any]:
    """Return the servo torques of a leg towards its gait; the thigh swings forward (angle down)
    while the foot is in the air.
    """
    turn = f"2*pi*((t - wait)/period + {phase!r})"
    going = "if(t > wait, 1 - exp(-(t - wait)/0.4), 0)"
    wide = f"(stride {'-' if side > 0 else '+'} turn)*{going}"
    raised = f"lift*{going}*if(abs(stride) + abs(turn) > 0, max(0, sin({turn})), 0)"
    targets = {
        "abduct": "0",
        "swing": f"crouch + {wide}*cos({turn}) + {raised}",
        "knee": f"-2*crouch - 2*{raised}",
    }
    return {
        f"servo_{name}_{leg}": {
            "coordinate": f"{name}_{leg}",
            "value": f"max(-torque, min(torque, stiffness*({target} - {name}_{leg}) - damping*der({name}_{leg})))",
        }
        for name, target in targets.items()
    }
