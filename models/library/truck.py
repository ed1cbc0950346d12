"""Truck with a crane on jacks: steered, driven, braked, on tyres with slip; it drives over a bump, brakes on a slope and lifts itself on its jacks.

    ground -(x, y, heave, yaw, pitch, roll)- chassis -(travel, steer)- knuckle -(spin)- wheel          front left, front right
                                             chassis -(travel)- knuckle -(spin)- wheel                 rear left, rear right
                                             chassis -(slew)- column -(luff)- boom -(2 swings)- load

Four wheels (`wheel`: brush model, or shear of soil) on springs and dampers, steering by Ackermann's angles, drive torque on the rear axle through a
differential, brakes that hold (`brake`); four jacks whose extension follows a command; a crane whose angles follow commands. Inputs: drive [N.m],
brake and park (0 to 1), steer [rad], jacks [m], slew and luff [rad].
Arguments: trip (0: the inputs alone; 1: drives over a bump, steers, stops; 2: rolls down a slope and stops there; 3: lifts itself on its jacks and
turns its crane with a load); soil (1: soft ground under wheels and jacks, heavy clay).
"""

from __future__ import annotations

from typing import Any

from kinetree.models.library.argument_checks import Argument, switch, whole

Table = dict[str, Any]
FRONT, REAR, HALF = 2.6, -1.6, 0.95  # axles before and behind the chassis frame, half the track [m]
BASE = FRONT - REAR
FRAME = 1.0  # height of the chassis frame over the ground at the start [m]
WHEELS = {
    "front_left": (FRONT, HALF),
    "front_right": (FRONT, -HALF),
    "rear_left": (REAR, HALF),
    "rear_right": (REAR, -HALF),
}
JACKS = {
    "front_left": (1.6, 2.1),
    "front_right": (1.6, -2.1),
    "rear_left": (-2.7, 1.5),
    "rear_right": (-2.7, -1.5),
}
SLOPES = {0: 0.0, 1: 0.0, 2: 0.12, 3: 0.0}
STOPS = {0: 5.0, 1: 16.0, 2: 10.0, 3: 20.0}
ARGUMENTS = {
    "trip": Argument(
        "what the truck does",
        0,
        len(SLOPES) - 1,
        ("the inputs alone", "bump, steering, stop", "slope", "crane on jacks"),
    ),
    "soil": switch("soft ground under wheels and jacks: heavy clay"),
}

PARAMETERS: dict[str, tuple[float, str, str]] = {
    "chassis_mass": (6500.0, "kg", "mass of the chassis with cab, engine and jacks"),
    "column_mass": (500.0, "kg", "mass of the crane's column"),
    "boom_mass": (700.0, "kg", "mass of the boom"),
    "boom_length": (6.0, "m", "from the hinge to the tip of the boom"),
    "rope": (1.5, "m", "from the tip of the boom to the middle of the load"),
    "load_mass": (50.0, "kg", "mass on the hook"),
    "wheel_mass": (120.0, "kg", "mass of a wheel"),
    "wheel_inertia": (15.0, "kg.m2", "moment of inertia of a wheel about its axle"),
    "knuckle_mass": (80.0, "kg", "mass of a knuckle or half axle"),
    "radius": (0.5, "m", "free radius of a tyre"),
    "tyre_stiffness": (7e5, "N/m", "vertical stiffness of a tyre"),
    "tyre_damping": (2e3, "N.s/m", "vertical damping of a tyre"),
    "slip_stiffness": (2.5e5, "N", "longitudinal force of a tyre per slip"),
    "cornering_stiffness": (1.4e5, "N", "side force of a tyre per lateral slip"),
    "patch_along": (6e5, "N/m", "longitudinal stiffness of a standing tyre"),
    "patch_across": (3e5, "N/m", "lateral stiffness of a standing tyre"),
    "patch_damping": (3e3, "N.s/m", "damping of a standing tyre"),
    "patch_length": (0.2, "m", "length of the patch of a tyre"),
    "grip": (0.8, "1", "friction of tyres and jacks on the ground"),
    "rolling": (0.008, "1", "coefficient of rolling resistance"),
    "spring": (2e5, "N/m", "stiffness of a wheel's spring"),
    "damper": (1.5e4, "N.s/m", "damping of a wheel's spring"),
    "spring_load_front": (1.8e4, "N", "load of a front spring at travel 0"),
    "spring_load_rear": (2.0e4, "N", "load of a rear spring at travel 0"),
    "droop": (0.12, "m", "travel at which a wheel hangs in its stop"),
    "linkage": (1.5e5, "N.m/rad", "stiffness of the steering linkage of a wheel"),
    "linkage_damping": (1.5e3, "N.m.s/rad", "damping of the steering linkage"),
    "brake_front": (1.4e4, "N.m", "moment of a front brake"),
    "brake_rear": (1.0e4, "N.m", "moment of a rear brake"),
    "brake_stiffness": (2e5, "N.m/rad", "stiffness of a brake that holds"),
    "drag": (3.0, "N.s2/m2", "air drag per square of the speed"),
    "jack_stiffness": (8e6, "N/m", "stiffness of a jack"),
    "jack_damping": (1e5, "N.s/m", "damping of a jack"),
    "jack_side": (4e6, "N/m", "side stiffness of a jack's foot"),
    "jack_speed": (0.15, "m/s", "speed at which the jacks extend"),
    "crane_stiffness": (4e6, "N.m/rad", "stiffness of the drives of slew and luff"),
    "crane_damping": (4e5, "N.m.s/rad", "damping of the drives of slew and luff"),
    "crane_lag": (0.8, "s", "time in which slew and luff follow their commands"),
    "pedal_lag": (0.15, "s", "time in which torque, brakes and steering follow their commands"),
    "slope": (0.0, "1", "rise of the ground per metre along x"),
    "bump_at": (14.0, "m", "place of the bump along x"),
    "bump_height": (0.08, "m", "height of the bump"),
    "bump_length": (1.6, "m", "length of the bump"),
}
INPUTS: dict[str, tuple[str, str]] = {
    "drive": ("N.m", "torque on the rear axle"),
    "brake": ("1", "foot brake, 0 to 1"),
    "park": ("1", "parking brake on the rear wheels, 0 to 1"),
    "steer": ("rad", "steering angle in the middle of the front axle, to the left"),
    "jacks": ("m", "extension of the jacks; they touch at about 0.5"),
    "slew": ("rad", "angle of the crane, 0 towards the rear"),
    "luff": ("rad", "angle of the boom above the horizontal"),
}
STATES = {"torque": "drive", "braking": "brake", "parking": "park", "steering": "steer"}
PROGRAMS: dict[int, dict[str, tuple[list[float], list[float]]]] = {
    1: {
        "drive": ([1.0, 1.5, 5.0, 5.5], [0, 5500, 5500, 600]),
        "steer": ([6.0, 7.0, 8.0, 9.0, 10.0], [0, 0.12, 0, -0.12, 0]),
        "brake": ([10.5, 11.0], [0, 0.45]),
    },
    2: {"brake": ([1.0, 1.2, 5.0, 5.4], [0.4, 0, 0, 0.4])},
    3: {
        "jacks": ([1.0, 1.1], [0, 0.78]),
        "slew": ([8.0, 8.1], [0, 1.6]),
        "luff": ([7.0, 7.1], [0, 0.9]),
        "park": ([0.0, 0.1], [1, 1]),
    },
}
CLAY: Table = {
    "friction_modulus": 1.55595e6,
    "cohesion_modulus": 1.27e4,
    "exponent": 0.13,
    "viscosity": 2e4,
    "stiffness": 2e7,
    "damping": 5e4,
}
SHEAR: Table = {"cohesion": 6.895e4, "angle": 0.593, "modulus": 0.01, "width": 0.3, "length": 0.25}


def describe(trip: int = 1, soil: int = 0) -> Table:
    """Return the description of the truck for one of its trips."""
    trip, soft = whole("trip", trip, 0, len(SLOPES) - 1), bool(whole("soil", soil, 0, 1))
    parameters = {
        name: {"value": value, "unit": unit, "text": text}
        for name, (value, unit, text) in PARAMETERS.items()
    }
    parameters["slope"]["value"] = SLOPES[trip]
    parameters["load_mass"]["value"] = 800.0 if trip == 3 else PARAMETERS["load_mass"][0]
    parameters["bump_height"]["value"] = PARAMETERS["bump_height"][0] if trip == 1 else 0.0
    return {
        "format": "kinetree/1",
        "name": "Truck with a crane on jacks",
        "text": "Steered, driven and braked on tyres with slip; lifts itself on its jacks",
        "gravity": [0, 0, -9.81],
        "parameters": parameters,
        "inputs": {
            name: {"start": 0.0, "unit": unit, "text": text}
            for name, (unit, text) in INPUTS.items()
        },
        "tables": {
            f"trip_{name}": {"x": x, "y": y} for name, (x, y) in PROGRAMS.get(trip, {}).items()
        },
        "states": states(trip),
        "bodies": bodies(),
        "joints": joints(),
        "forces": {**springs(), **wheels(soft), **jacks(soft), **crane()},
        "outputs": outputs(),
        "run": {
            "stop_time": STOPS[trip],
            "output_step": 0.02,
            "prepare": [{"name": "standing on its wheels"}],
        },
    }


def command(name: str, trip: int) -> str:
    """Return the expression of an input plus the value that the programmed trip adds to it."""
    return f"({name} + table('trip_{name}', t))" if name in PROGRAMS.get(trip, {}) else name


def states(trip: int) -> Table:
    """Return the states that follow the commands: pedals and crane with a lag, jacks with limited
    speed.
    """
    found: Table = {
        state: {
            "rate": f"({command(name, trip)} - {state})/pedal_lag",
            "unit": INPUTS[name][0],
            "start": start(name, trip),
        }
        for state, name in STATES.items()
    }
    for name in ("slew", "luff"):
        found[f"{name}_target"] = {
            "rate": f"({command(name, trip)} - {name}_target)/crane_lag",
            "unit": "rad",
        }
    way = f"({command('jacks', trip)} - extension)/0.1"
    found["extension"] = {"rate": f"max(-jack_speed, min(jack_speed, {way}))", "unit": "m"}
    return found


def start(name: str, trip: int) -> float:
    """Return the start value of a pedal for a trip."""
    program = PROGRAMS.get(trip, {}).get(name)
    return 0.0 if program is None else program[1][0]


def box(mass: str, x: float, y: float, z: float) -> list[Any]:
    """Return the inertia of a homogeneous box."""
    return [f"{mass}*{(b * b + c * c) / 12!r}" for b, c in ((y, z), (x, z), (x, y))] + [0, 0, 0]


def bodies() -> Table:
    """Return the bodies of the truck: chassis, knuckles and wheels, crane and load."""
    rim = "wheel_mass*radius**2/4"
    looks = [
        {"box": [6.6, 0.9, 0.25], "at": [0.3, 0, 0]},
        {"box": [1.7, 2.3, 1.7], "at": [2.9, 0, 1.0]},
        {"box": [2.6, 2.3, 0.15], "at": [-1.5, 0, 0.25]},
        *(
            {"box": [0.24, 2.0 * y, 0.2], "at": [x, 0, -0.22], "colour": "grey"}
            for x, y in JACKS.values()
            if y > 0.0
        ),  # beams of the jacks
    ]
    found: Table = {
        "chassis": {"mass": "chassis_mass", "com": [0.6, 0, 0.3], "inertia": box("chassis_mass", 6.6, 2.0, 1.4), "shapes": looks},
        "column": {
            "mass": "column_mass", "com": [0, 0, 0.8], "inertia": box("column_mass", 0.5, 0.5, 1.6),
            "shape": {"cylinder": [0.22, 1.7], "at": [0, 0, 0.8]},
        },
        "boom": {
            "mass": "boom_mass",
            "com": ["-0.4*boom_length", 0, 0],
            "inertia": ["boom_mass*0.05", "boom_mass*boom_length**2/12", "boom_mass*boom_length**2/12", 0, 0, 0],
            "shape": {"box": ["boom_length", 0.3, 0.35], "at": ["-boom_length/2", 0, 0]},
        },
        "load": {
            "mass": "load_mass", "com": [0, 0, "-rope"], "inertia": box("load_mass", 0.7, 0.7, 0.5),
            "shape": {"box": [0.7, 0.7, 0.5], "at": [0, 0, "-rope"]},
        },
    }  # fmt: skip
    for name in WHEELS:
        found[f"knuckle_{name}"] = {
            "mass": "knuckle_mass",
            "inertia": box("knuckle_mass", 0.3, 0.3, 0.3),
        }
        spokes = {"box": [0.6, 0.24, 0.12], "colour": "#b9bec4"}
        found[f"wheel_{name}"] = {
            "mass": "wheel_mass",
            "inertia": [rim, "wheel_inertia", rim, 0, 0, 0],
            "shape": spokes,
        }
    return found


def joints() -> Table:
    """Return the joints of the truck's tree."""
    turns: list[Table] = [
        {"rotate": axis, "coordinate": name, "start": 0.0}
        for axis, name in (("z", "yaw"), ("y", "pitch"), ("x", "roll"))
    ]
    turns[1]["start"] = "-atan(slope)"
    shifts = [
        {"shift": axis, "coordinate": name, "start": at}
        for axis, name, at in (("x", "x", 0.0), ("y", "y", 0.0), ("z", "heave", FRAME))
    ]
    found: Table = {"road": {"child": "chassis", "transforms": [*shifts, *turns]}}
    for name, (x, y) in WHEELS.items():
        steps: list[Table] = [
            {"shift": [x, y, -0.5]},
            {"shift": "z", "coordinate": f"travel_{name}"},
        ]
        if x > 0:
            steps.append({"rotate": "z", "coordinate": f"steer_{name}"})
        found[f"axle_{name}"] = {
            "parent": "chassis",
            "child": f"knuckle_{name}",
            "transforms": steps,
        }
        spin = [{"rotate": "y", "coordinate": f"spin_{name}"}]
        found[f"hub_{name}"] = {
            "parent": f"knuckle_{name}",
            "child": f"wheel_{name}",
            "transforms": spin,
        }
    slewing = [{"shift": [1.5, 0, 0.2]}, {"rotate": "z", "coordinate": "crane_slew"}]
    luffing = [{"shift": [0, 0, 1.6]}, {"rotate": "y", "coordinate": "crane_luff"}]
    swings = [
        {"shift": ["-boom_length", 0, 0]},
        {"rotate": "y", "by": 0},
        {"rotate": "y", "coordinate": "swing_along"},
        {"rotate": "x", "coordinate": "swing_across"},
    ]
    return found | {
        "column": {"parent": "chassis", "child": "column", "transforms": slewing},
        "boom": {"parent": "column", "child": "boom", "transforms": luffing},
        "hook": {"parent": "boom", "child": "load", "transforms": [swings[0], *swings[2:]]},
    }  # fmt: skip


def ackermann(name: str) -> str:
    """Return the steering angle of a front wheel: both point at a common centre on the rear axle's
    line (Ackermann).
    """
    _, y = WHEELS[name]
    return f"atan(tan(steering)/(1 - {y / BASE!r}*tan(steering)))"


def springs() -> Table:
    """Return springs, dampers and droop stops of the wheels, the steering linkage, drive and
    brakes.
    """
    found: Table = {}
    for name, (x, _) in WHEELS.items():
        axle, travel = "front" if x > 0 else "rear", f"travel_{name}"
        found[f"spring_{name}"] = {
            "coordinate": travel,
            "stiffness": "spring",
            "damping": "damper",
            "length": f"-spring_load_{axle}/spring",
        }
        found[f"stop_{name}"] = {
            "coordinate": travel,
            "stiffness": 2e4,
            "damping": 2e3,
            "lower": "-droop",
            "sharpness": 300.0,
        }
        limit = f"braking*brake_{axle}" + ("" if x > 0 else " + parking*brake_rear")
        damping = "0.003*brake_stiffness"
        found[f"brake_{name}"] = {
            "coordinate": f"spin_{name}",
            "largest": f"max(0, {limit})",
            "stiffness": "brake_stiffness",
            "damping": damping,
        }
        if x > 0:
            law = (
                f"-(linkage*(steer_{name} - {ackermann(name)}) + linkage_damping*der(steer_{name}))"
            )
            found[f"linkage_{name}"] = {"coordinate": f"steer_{name}", "value": law}
        else:
            found[f"drive_{name}"] = {"coordinate": f"spin_{name}", "value": "0.5*torque"}
    found["air"] = {"coordinate": "x", "value": "-drag*abs(der(x))*der(x)"}
    return found


def wheels(soft: bool) -> Table:
    """Return the tyres with slip, on the road with its bump or on soil."""
    bump = "bump_height*if(abs(ground.x - bump_at) < 0.5*bump_length, cos(3.141592653589793*(ground.x - bump_at)/bump_length)**2, 0)"
    law = {
        "kind": "wheel", "radius": "radius", "stiffness": "tyre_stiffness", "damping": "tyre_damping", "height": f"slope*ground.x + {bump}",
        "patch_stiffness": ["patch_along", "patch_across"], "patch_damping": "patch_damping", "patch_length": "patch_length", "rolling": "rolling",
    }  # fmt: skip
    road = {"friction": "grip", "slip_stiffness": ["slip_stiffness", "cornering_stiffness"]}
    field = {"shear": SHEAR, "soil": CLAY | {"width": 0.3}}
    return {
        f"tyre_{name}": {"body": f"wheel_{name}", **law, **(field if soft else road)}
        for name in WHEELS
    }


def jacks(soft: bool) -> Table:
    """Return the outrigger jacks."""
    law = {
        "kind": "jack", "body": "chassis", "extension": "extension", "stiffness": "jack_stiffness", "damping": "jack_damping",
        "height": "slope*ground.x", "side_stiffness": "jack_side", "side_damping": "0.02*jack_side", "friction": "grip",
    }  # fmt: skip
    plate = {"soil": CLAY | {"width": 0.5, "area": 0.25}} if soft else {}
    return {
        f"jack_{name}": {**law, "point": [x, y, -0.45], **plate} for name, (x, y) in JACKS.items()
    }


def crane() -> Table:
    """Return the drives of the crane (elastic and damped) and the air drag of the load on its rope."""
    found: Table = {}
    for name in ("slew", "luff"):
        law = f"-(crane_stiffness*(crane_{name} - {name}_target) + crane_damping*der(crane_{name}))"
        found[f"crane_{name}"] = {"coordinate": f"crane_{name}", "value": law}
    for way in ("along", "across"):
        found[f"swing_{way}"] = {
            "coordinate": f"swing_{way}",
            "stiffness": 0.0,
            "damping": "0.5*load_mass*rope**2",
        }
    return found


def outputs() -> Table:
    """Return outputs: loads, slips, speed, position of the load."""
    found: Table = {
        f"load_{name}": {"quantity": "force", "force": f"tyre_{name}"} for name in WHEELS
    }
    found |= {f"jack_load_{name}": {"quantity": "force", "force": f"jack_{name}"} for name in JACKS}
    found |= {f"traction_{name}": {"value": f"tyre_{name}.drive", "unit": "N"} for name in WHEELS}
    found |= {f"cornering_{name}": {"value": f"tyre_{name}.side", "unit": "N"} for name in WHEELS}
    found["wheels_off_ground"] = {
        "value": " + ".join(f"if(load_{name} > 0, 0, 1)" for name in WHEELS),
        "unit": "1",
    }
    found["speed"] = {
        "quantity": "velocity",
        "body": "chassis",
        "frame": "body",
        "axis": "x",
        "unit": "km/h",
    }
    found["hook"] = {"quantity": "position", "body": "load", "point": [0, 0, "-rope"]}
    found["energy"] = {"quantity": "energy"}
    return found
