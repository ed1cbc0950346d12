"""What both carriers have in common: parameters, platform, cradle, modules on their rails, drives, schedule."""

from __future__ import annotations

from typing import Any

from kinetree.models.library.chain import count

Table = dict[str, Any]
MOST_MODULES = 50
COLUMNS = 5  # modules side by side

# name: (value, unit, text); values are round numbers of a vehicle of 20 to 30 t
PARAMETERS: dict[str, tuple[float | str, str, str]] = {
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
    "jack_extension": (0.95, "m", "extension of the outrigger jacks; 0.95 lifts the wheels, 0.5 lets the carrier stand on them"),
    "jack_first": (8e5, "N/m", "stiffness of a jack until its play is used up"),
    "jack_play": (0.005, "m", "compression at which a jack becomes stiff"),
    "jack_stiffness": (1.2e6, "N/m", "stiffness of a jack beyond its play"),
    "jack_damping": (2e4, "N.s/m", "damping of a jack"),
    "jack_side": (8e5, "N/m", "side stiffness of a standing jack"),
    "jack_area": (0.0015, "m2", "piston area of a hydraulic jack"),
    "jack_oil": (0.4, "m", "length of the oil column of a hydraulic jack at extension 0"),
    "oil": (1.4e9, "Pa", "bulk modulus of the jacks' oil"),
    "soil_strength": (7e4, "N", "load at which the soil under a jack begins to settle"),
    "soil_hardening": (5e6, "N/m", "growth of that load with the settlement"),
    "soil_viscosity": (1e6, "N.s/m", "load above the strength per settling speed"),
    "grip": (0.7, "1", "friction of tyres and jacks on the ground"),
    "slew_command": (0.3, "rad", "slew angle at which the drive rests"),
    "slew_stiffness": (3e6, "N.m/rad", "stiffness of the slew drive"),
    "slew_damping": (8e4, "N.m.s/rad", "damping of the slew drive"),
    "luff_command": (0.5, "rad", "luff angle at which the drive rests"),
    "luff_stiffness": (4e6, "N.m/rad", "stiffness of the luff drive"),
    "luff_damping": (8e4, "N.m.s/rad", "damping of the luff drive"),
    "balance_pressure": (6e6, "Pa", "pressure of the accumulator on the balancing cylinder of the cradle"),
    "balance_area": (0.005, "m2", "piston area of the balancing cylinder"),
    "tilt_stiffness": (4e4, "N.m/rad", "elastic moment against tilting and yawing of a module on its rail"),
    "tilt_damping": (200.0, "N.m.s/rad", "damping of these"),
    "guide_stiffness": (5e6, "N/m", "stiffness of a module's guide across its rail"),
    "guide_damping": (8e3, "N.s/m", "damping of it"),
    "band": (0.8, "m", "distance of the guide pin before, of the bearing band behind the middle of a module"),
    "clearance": (1e-3, "m", "free play of pin and band in groove and tube"),
    "rail_friction": (80.0, "N", "friction of a module on its rail"),
    "latch_stiffness": (2e6, "N/m", "stiffness of the latch that holds a module"),
    "latch_strength": (2500.0, "N", "force at which the latch opens"),
    "latch_damping": (1500.0, "N.s/m", "damping of a module at rest and on its rail's drive; 0 keeps the energy"),
    "pause": (0.5, "s", "time before the first module is pushed"),
    "pace": (0.5, "s", "time from the departure of a module to the push of the next"),
    "pushed": (0.0, "1", "number of the module that is pushed; the schedule changes it"),
    "departed": (0.0, "1", "1 between a departure and the next push; the schedule changes it"),
}
LIMITS = {"rail_length": {"min": "module_length"}, "module_pitch": {"min": "module_width"}, "jack_extension": {"min": 0}}
NOT_NEGATIVE = ("mass", "stiffness", "damping", "radius", "length", "width")


def parameters(n: int) -> Table:
    """The table of parameters; the last ones say where a carrier of n modules stands at the start."""
    found = {}
    derived: dict[str, tuple[float | str, str, str]] = {
        "weight": (f"g*(front_mass + rear_mass + frame_mass + platform_mass + cradle_mass + {n}*module_mass)", "N", "weight of everything"),
        "jack_travel": ("jack_play + (weight/4 - jack_first*jack_play)/jack_stiffness", "m", "mean compression of the jacks at rest"),
        "tyre_travel": ("weight/4/tyre_stiffness", "m", "mean compression of the tyres at rest without jacks"),
    }
    for name, (value, unit, text) in (PARAMETERS | derived).items():
        given = {"value": value, "unit": unit, "text": text}
        lowest = {"min": 0} if name.rpartition("_")[2] in NOT_NEGATIVE else {}
        found[name] = given | lowest | LIMITS.get(name, {})
    return found


def box(mass: float | str, x: Any, y: Any, z: Any) -> list[Any]:
    """Inertia of a homogeneous box about its centre of mass."""
    return [f"{mass}*(({b})**2 + ({c})**2)/12" for b, c in ((y, z), (x, z), (x, y))] + [0, 0, 0]


def body(mass: str, com: list[Any], size: tuple[Any, Any, Any]) -> Table:
    """A homogeneous box."""
    return {"mass": mass, "com": com, "inertia": box(mass, *size), "shape": {"box": list(size), "at": com}}


FRONT = ([1.7, 0, 0], (3.0, 2.2, 0.8))  # centre of mass in the vehicle's frame, and size
REAR = ([-1.6, 0, 0], (3.4, 2.2, 0.7))
FRAME = ([-0.5, 0, 0.5], (2.4, 1.8, 0.3))
RING = [-0.5, 0, 0.8]  # slewing ring, where the platform's frame stands
HINGE = [-1.5, 0, 0.7]  # hinge of the cradle on the platform
CYLINDER = ([0.8, 0, 0.2], [1.6, 0, -0.1])  # eyes of the luffing cylinder on platform and cradle
BALANCE = ([0.6, 0.5, 0.2], [1.2, 0.5, -0.1])  # eyes of the balancing cylinder
WHEELS = {"front_left": (2.4, 1.1), "front_right": (2.4, -1.1), "rear_left": (-2.4, 1.1), "rear_right": (-2.4, -1.1)}
JACKS = {"front_left": (2.9, 1.9), "front_right": (2.9, -1.9), "rear_left": (-2.9, 1.9), "rear_right": (-2.9, -1.9)}


def rotation(axis: str | list[int], coordinate: str, **more: Any) -> Table:
    return {"rotate": axis, "coordinate": coordinate, **more}


def vehicle_joint(child: str, full: bool) -> Table:
    """Heave, pitch and roll, with surge, sway and yaw in the full setting; at the start it stands as high as jacks or tyres hold it."""
    steps: list[Table] = [{"shift": "z", "coordinate": "heave", "start": "max(jack_extension + 0.4 - jack_travel, tyre_radius + 0.7 - tyre_travel)"}]
    if full:
        steps += [{"shift": "x", "coordinate": "surge"}, {"shift": "y", "coordinate": "sway"}, rotation("z", "yaw")]
    return {"child": child, "transforms": [*steps, rotation("y", "pitch"), rotation("x", "roll")]}


def ground_forces(front: str, rear: str, full: bool, hydraulic: bool, soil: bool) -> Table:
    """Tyres and jacks; `front` and `rear` are the bodies that carry them."""
    forces: Table = {}
    friction = {"friction": "grip"} if full else {}
    for name, (x, y) in WHEELS.items():
        forces[f"wheel_{name}"] = {
            "kind": "tyre", "body": front if x > 0 else rear, "point": [x, y, -0.7], "radius": "tyre_radius", "stiffness": "tyre_stiffness",
            "damping": "tyre_damping", **({"side_stiffness": "tyre_side"} if full else {}), **friction,
        }  # fmt: skip
    law: Table = {"stiffness": "oil*jack_area/(jack_oil + jack_extension)"} if hydraulic else {"law": "leg"}
    for name, (x, y) in JACKS.items():
        forces[f"jack_{name}"] = {
            "kind": "jack", "body": front if x > 0 else rear, "point": [x, y, -0.4], "extension": "jack_extension", "damping": "jack_damping",
            **law, **({"side_stiffness": "jack_side"} if full else {}), **friction,
            **({"soil": {"strength": "soil_strength", "hardening": "soil_hardening", "viscosity": "soil_viscosity"}} if soil else {}),
        }  # fmt: skip
    return forces


def upper(n: int, full: bool, contacts: bool, outside: bool) -> Table:
    """Cradle, modules, their forces, the drives; the platform's joint is the caller's."""
    bodies: Table = {
        "platform": body("platform_mass", [-0.3, 0, 0.3], (3.2, 2.0, 0.6)),
        "cradle": body("cradle_mass", [2.0, 0, 0.3], (4.2, 2.4, 0.8)),
    }
    luff = rotation([0, -1, 0], "luff", start="luff_command")
    joints: Table = {"hinge": {"parent": "platform", "child": "cradle", "transforms": [{"shift": HINGE}, luff]}}
    forces: Table = {} if outside else drives()
    for i in range(1, n + 1):
        bodies[f"module{i}"] = body("module_mass", [0, 0, 0], ("module_length", "module_width", "module_width"))
        joints[f"rail{i}"] = rail(i, n, full)
        forces |= module_forces(i, n, full, contacts)
    forces["recoil"] = {"body": "cradle", "point": [4.0, 0, 0.3], "frame": "body", "force": ['-departed*table("blast", t - stage_start)', 0, 0]}
    eyes = [{"body": name, "point": point} for name, point in zip(("platform", "cradle"), BALANCE, strict=True)]
    forces["balance"] = {"kind": "cylinder", "between": eyes, "area_a": "balance_area", "pressure_a": "balance_pressure"}
    actuators = {
        "slew_drive": {"coordinate": "slew"},
        "luff_drive": {"between": [{"body": "platform", "point": CYLINDER[0]}, {"body": "cradle", "point": CYLINDER[1]}]},
    }
    return {"bodies": bodies, "joints": joints, "forces": forces, "actuators": actuators, "tables": tables(), "stages": schedule(n)}


def drives() -> Table:
    """Locked drives: elastic, damped, at the commanded angles."""
    return {
        f"{way}_hold": {"coordinate": way, "stiffness": f"{way}_stiffness", "damping": f"{way}_damping", "length": f"{way}_command"}
        for way in ("slew", "luff")
    }


def place(i: int, n: int) -> list[Any]:
    """Where the middle of module i rests on the cradle: rows of five, the lowest row first, in the middle."""
    row, column = divmod(i - 1, COLUMNS)
    wide = min(COLUMNS, n - row * COLUMNS)
    return [1.6, f"{column - (wide - 1) / 2}*module_pitch", f"0.9 + {row}*module_pitch"]


def rail(i: int, n: int, full: bool) -> Table:
    """Travel s, then the small angles; in the full setting also shifts across the rail and a roll."""
    steps: list[Table] = [{"shift": place(i, n)}, {"shift": "x", "coordinate": f"s{i}"}]
    if full:
        steps += [{"shift": "y", "coordinate": f"across{i}"}, {"shift": "z", "coordinate": f"above{i}"}, rotation("x", f"twist{i}")]
    return {"parent": "cradle", "child": f"module{i}", "transforms": [*steps, rotation("y", f"tilt{i}"), rotation("z", f"turn{i}")]}


def module_forces(i: int, n: int, full: bool, contacts: bool) -> Table:
    """Latch, push, friction, elastic guidance; contacts of pin and band with the rail."""
    forces: Table = {
        f"latch{i}": {"coordinate": f"s{i}", "law": "latch", "damping": f"latch_damping*(1 - min(max(s{i}/0.01, 0), 1))"},
        f"push{i}": {"coordinate": f"s{i}", "value": f'if(pushed == {i}, table("push", t - stage_start), 0)'},
        f"rub{i}": {"coordinate": f"s{i}", "coulomb": "rail_friction", "speed": 0.05},
    }
    turns = ["tilt", "turn"] + (["twist"] if full else [])
    forces |= {f"{way}_spring{i}": {"coordinate": f"{way}{i}", "stiffness": "tilt_stiffness", "damping": "tilt_damping"} for way in turns}
    for way in ("across", "above") if full else ():
        forces[f"{way}_spring{i}"] = {"coordinate": f"{way}{i}", "stiffness": "guide_stiffness", "damping": "guide_damping"}
    if contacts:
        x, y, z = place(i, n)
        for name, at, more in (("pin", "band", {"across": "z"}), ("bearing", "-band", {})):
            forces[f"{name}{i}"] = {
                "kind": "rail", "between": [{"body": "cradle", "point": [x, y, z]}, {"body": f"module{i}", "point": [at, 0, 0]}],
                "stiffness": "guide_stiffness", "damping": "guide_damping", "clearance": "clearance", "begin": "-module_length",
                "end": "rail_length + module_length/2 - band", **more,
            }  # fmt: skip
    return forces


def tables() -> Table:
    """Laws of jacks and latches, push and recoil over the time since they began."""
    opens = "latch_strength/latch_stiffness"
    return {
        "leg": {"x": [0, "jack_play", "jack_play + 0.2"], "y": [0, "jack_first*jack_play", "jack_first*jack_play + 0.2*jack_stiffness"],
                "outside": "extrapolated"},
        "latch": {"x": ["-0.1", 0, opens, f"2*{opens}"], "y": ["-0.1*latch_stiffness", 0, "latch_strength", 0]},
        "push": {"x": [0, 0.1, 0.4, 1.0, 1.2], "y": [0, 4000, 4000, 1500, 1500]},
        "blast": {"x": [0, 0.02, 0.1, 0.15], "y": [0, 2000, 2000, 0]},
    }  # fmt: skip


def schedule(n: int) -> list[Table]:
    """Rest, then per module: travel until it leaves its rail, free swing."""
    stages: list[Table] = [{"name": "rest", "ends": {"after": "pause"}, "set": {"pushed": 1}}]
    for i in range(1, n + 1):
        stages += [
            {"name": f"travel {i}", "ends": {"when": f"s{i} > rail_length"}, "free": [f"rail{i}"], "set": {"departed": 1}},
            {"name": f"swing {i}", "ends": {"after": "pace"}, "drop": [f"module{i}"], "set": {"departed": 0, "pushed": i + 1}},
        ]
    return stages


def outputs(n: int) -> Table:
    """What is reported besides coordinates and drives."""
    heights = {f"module{i}_height": {"quantity": "position", "body": f"module{i}", "axis": "z"} for i in range(1, n + 1)}
    loads = {f"{kind}_load_{name}": {"quantity": "force", "force": f"{kind}_{name}"} for kind in ("wheel", "jack") for name in WHEELS}
    brow = {"quantity": "position", "body": "cradle", "point": [4.0, 0, 0.3]}
    return loads | heights | {"brow": brow, "energy": {"quantity": "energy"}}


def settings(modules: float, **switches: float) -> tuple[int, dict[str, bool]]:
    """Structural arguments: a number of modules from 1 to 50, switches 0 or 1."""
    for name, value in switches.items():
        if value not in (0, 1):
            raise ValueError(f"{name} is {value!r}, expected 0 or 1")
    return count("modules", modules, MOST_MODULES), {name: bool(value) for name, value in switches.items()}
