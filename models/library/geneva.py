"""Geneva drive: a driver with a pin turns a slotted wheel by one slot per turn; a locking disc with
a flat side keeps it within 3 degrees in between.

lib:geneva with slots (3 to 12), distance (of the axles), pin, play, land, speed (set speed of the
driver) and others. While the pin is in a slot, with the driver's angle theta measured from the line
between the axles, crank a = distance sin(pi/slots):

    tan(wheel angle) = a sin theta/(distance - a cos theta)        fastest: sin(pi/slots)/(1 - sin(pi/slots)) times the driver

All contacts are between convex shapes: the pin with both walls of every slot, the corners of the
slots with the locking disc.
"""

from math import acos, cos, pi, sin, tau
from typing import Any

from kinetree.models.library.argument_checks import Argument, whole

MOST_SLOTS = 12
ARGUMENTS = {"slots": Argument("number of slots of the wheel", 3, MOST_SLOTS)}
ARC_EDGES = 16  # of the locking disc's polygon
ARC_PARTS = (-0.8, -0.4, 0.0, 0.4, 0.8)  # of the wheel's arcs: where points of the picture are
CORNER_RADIUS = 1e-3  # of the slots' corners that the locking disc touches [m]
BEFORE = 0.4  # of the pin at the start, to the mouth of its slot [rad]
ROOM = 0.9  # part of the way to the wheel that the locking disc's flat side reaches


def describe(slots: int = 4) -> dict[str, Any]:
    """Return the description: driver and wheel on bearings, with contacts of slot walls and locking
    disc.
    """
    n = whole("slots", slots, 3, MOST_SLOTS)
    bearings = {"driver": ["distance", 0, 0], "wheel": [0, 0, 0]}
    angles = {"driver": "theta", "wheel": "phi"}
    starts = {"driver": -(pi / 2.0 - pi / n) - BEFORE, "wheel": 0.0}
    joints = {
        name: {
            "child": name,
            "at": at,
            "transforms": [{"rotate": "z", "coordinate": angles[name], "start": starts[name]}],
        }
        for name, at in bearings.items()
    }
    joints["driver"]["transforms"][0]["speed"] = "speed"
    return {
        "format": "kinetree/1",
        "name": f"Geneva drive with {n} slots",
        "text": "A pin turns a slotted wheel by steps; pin, slots and locking disc are contacts of polygons",
        "parameters": parameters(n),
        "bodies": bodies(n),
        "joints": joints,
        "forces": {
            "motor": {"coordinate": "theta", "value": "gain*(speed - der(theta))"},
            "bearing": {"coordinate": "phi", "damping": "bearing"},
            **walls(n),
            **locks(n),
        },
        "outputs": {
            "torque": "force('motor')",
            "ratio": "der(phi)/der(theta)",
            "energy": {"quantity": "energy"},
        },
        "run": {"stop_time": 4, "output_step": 0.005},
    }


def parameters(n: int) -> dict[str, Any]:
    """Return parameters: lengths, masses and contact laws."""
    metres = {"unit": "m", "min": 0}
    return {
        "distance": metres | {"value": 0.1, "text": "of the axles"},
        "crank": metres | {"value": f"distance*sin(pi/{n})", "text": "from driver's axle to pin"},
        "mouth": metres | {"value": f"distance*cos(pi/{n})", "text": "radius of the wheel"},
        "pin": metres
        | {"value": 0.06, "text": "radius of the pin by the distance"}
        | {"unit": "1"},
        "play": metres | {"value": 1e-4, "text": "between pin and wall of a slot"},
        "wall": metres | {"value": "pin*distance + play", "text": "from a slot's middle"},
        "land": metres | {"value": "0.03*distance", "text": "width of a wall at its mouth"},
        "lock": metres | {"value": "crank - wall - land", "text": "radius of the locking disc"},
        "speed": {"value": 6.0, "unit": "rad/s", "tunable": True, "text": "of the driver"},
        "gain": {"value": 2.0, "unit": "N.m.s/rad", "min": 0, "text": "of the motor"},
        "bearing": {"value": 2e-2, "unit": "N.m.s/rad", "min": 0, "text": "damping of the wheel"},
        "stiffness": {"value": 1e5, "unit": "N/m", "min": 0, "text": "of the contacts"},
    }


def bodies(n: int) -> dict[str, Any]:
    """Return driver and wheel with their masses and shapes."""
    arm = {"box": ["crank", "0.15*crank", "0.05*distance"], "at": ["-crank/2", 0, "0.08*distance"]}
    disc = {"extrusion": lock_corners(n), "height": "0.05*distance"}
    peg = {
        "cylinder": ["pin*distance", "0.15*distance"],
        "at": ["-crank", 0, "0.03*distance"],
        "colour": "orange",
    }
    return {
        "driver": {
            "mass": 0.6,
            "inertia": [1e-3, 1e-3, 2e-3, 0, 0, 0],
            "shapes": [disc, arm, peg],
        },
        "wheel": {
            "mass": 0.4,
            "inertia": [3e-4, 3e-4, 6e-4, 0, 0, 0],
            "shapes": [{"extrusion": wheel_corners(n), "height": "0.05*distance"}],
        },
    }


def wheel_corners(n: int) -> list[list[str]]:
    """Return the corners of the slotted wheel for display: slot after slot, with points of the arcs
    between them.
    """
    found = []
    bottom, reach = "(distance - crank - wall)", "(lock + play)"
    for k in range(n):
        angle = pi / n + k * tau / n
        local = [
            ("mouth", "-wall - land"),
            ("mouth", "-wall"),
            (bottom, "-wall"),
            (bottom, "wall"),
            ("mouth", "wall"),
            ("mouth", "wall + land"),
        ]
        found += [turned(x, y, angle) for x, y in local]
        for part in ARC_PARTS:
            aside = part * (pi / 2.0 - pi / n)
            x, y = f"(distance - {reach}*{cos(aside):.15g})", f"{reach}*({sin(aside):.15g})"
            found.append(turned(x, y, angle + pi / n))
    return found


def lock_corners(n: int) -> list[list[str]]:
    """Return the corners of the locking disc: an arc, and a flat side towards the pin, which is at
    -x.
    """
    room = ROOM * (1.0 - cos(pi / n)) / (sin(pi / n) - 0.091)
    first = acos(min(room, 0.99))
    steps = [first + (tau - 2.0 * first) * k / ARC_EDGES for k in range(ARC_EDGES + 1)]
    return [[f"-lock*{cos(angle):.15g}", f"-lock*{sin(angle):.15g}"] for angle in steps]


def turned(x: str, y: str, angle: float) -> list[str]:
    """Return a corner rotated about the axle, as expressions."""
    c, s = f"{cos(angle):.15g}", f"{sin(angle):.15g}"
    return [f"{x}*({c}) - ({y})*({s})", f"{x}*({s}) + ({y})*({c})"]


def walls(n: int) -> dict[str, Any]:
    """Return the contacts of the pin with both walls of every slot."""
    found = {}
    for k in range(n):
        for name, sign in (("left", ""), ("right", "-")):
            x = ["distance - crank - wall", "mouth"]
            y = [f"{sign}wall", f"{sign}(wall + land)"]
            corners = [[x[0], y[0]], [x[1], y[0]], [x[1], y[1]], [x[0], y[1]]]
            found[f"{name}{k + 1}"] = {
                "kind": "contact",
                "body": "driver",
                "point": ["-crank", 0, 0],
                "shape": {"sphere": "pin*distance"},
                "against": {
                    "body": "wheel",
                    "polygon": corners,
                    "rotate": [0, 0, pi / n + k * tau / n],
                },
                "stiffness": "stiffness",
                "dissipation": 2.0,
            }
    return found


def locks(n: int) -> dict[str, Any]:
    """Return the contacts of the slots' corners with the locking disc."""
    found = {}
    for k in range(n):
        for name, sign in (("above", ""), ("below", "-")):
            y = f"{sign}(wall + land - {CORNER_RADIUS})"
            found[f"{name}{k + 1}"] = {
                "kind": "contact",
                "body": "wheel",
                "point": turned(f"(mouth - {CORNER_RADIUS})", y, pi / n + k * tau / n) + [0],
                "shape": {"sphere": CORNER_RADIUS},
                "against": {"body": "driver", "polygon": lock_corners(n)},
                "stiffness": "stiffness",
                "dissipation": 2.0,
            }
    return found
