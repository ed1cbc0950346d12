"""Loader crane: slewing column, boom, jib and a telescopic arm as steel box beams, three hydraulic
cylinders on valves, a rope with a load.

lib:loader_crane with flexible (1: boom, jib and arm bend; 0: they are rigid, with the same masses),
segments (elements of each) and pads (1: the arm reaches into the jib and slides there on pads in
both lateral directions; 0: it slides on the jib's end without clearance). Inputs lift, knuckle and
telescope open the valves of their cylinders (-1 to 1), slew_rate turns the column. Sizes are those
of a crane of 20 t.m, in round numbers of our own. The start pressures balance the undeformed crane:
F = dU/ds for every cylinder; `run.prepare` computes the equilibrium of the bent crane from there.
"""

from __future__ import annotations

import math
from typing import Any

from kinetree.models.library.argument_checks import Argument, switch, whole

STEEL = {"density": 7850.0, "youngs_modulus": 2.1e11, "shear_modulus": 8.1e10, "yield_stress": 7e8}
LENGTHS = {"boom": 3.2, "jib": 2.6, "arm": 2.8}  # m
BOXES = {"boom": (0.34, 0.24, 0.010), "jib": (0.28, 0.20, 0.008), "arm": (0.22, 0.15, 0.007)}  # m
PIN = 2.2  # height of the boom's pin [m]
ANGLES = {"boom": 0.9, "jib": -0.7}  # at the start, up from the part before [rad]
OUT = 0.6  # of the arm beyond the end of the jib at the start [m]
ROPE = 1.5  # m
INSIDE = 2.2  # of the arm in the jib where it slides on pads, when `out` is 0 [m]
LEAST_INSIDE = 0.5  # that the telescope's cylinder leaves [m]
PADS = {"stiffness": 1e8, "damping": 2e4, "clearance": "pad_clearance", "friction": 0.1}
BACK = 20e5  # pressure of the side that does not carry, at the start [Pa]
G = 9.81
MOST_SEGMENTS = 20
ARGUMENTS = {
    "flexible": switch("boom, jib and arm bend; else they are rigid, with the same masses"),
    "segments": Argument("number of elements of each beam", 1, MOST_SEGMENTS),
    "load": Argument("mass on the rope at the start", 0, None, unit="kg"),
    "pads": switch("the arm slides in the jib on pads; else on the jib's end without play"),
}
CYLINDERS: dict[str, dict[str, Any]] = {
    "lift": {
        "from": ("column", (0.35, 0.9)), "to": ("boom", (1.0, -0.2)),
        "areas": (227e-4, 115e-4), "stroke": (1.0, 2.4),
    },
    "knuckle": {
        "from": ("boom", (1.7, -0.35)), "to": ("jib", (0.55, -0.30)),
        "areas": (154e-4, 76e-4), "stroke": (0.8, 2.6),
    },
    "telescope": {
        "from": ("jib", (0.8, 0.28)), "to": ("arm", (0.4, 0.28)),
        "areas": (38e-4, 18e-4), "stroke": (1.5, 4.9),
    },
}  # fmt: skip


def describe(
    flexible: int = 1, segments: int = 2, load: float = 500.0, pads: int = 0
) -> dict[str, Any]:
    """Return the description of the crane; `load` is the mass on the rope [kg]."""
    bends, count = whole("flexible", flexible, 0, 1), whole("segments", segments, 1, MOST_SEGMENTS)
    inside = INSIDE * whole("pads", pads, 0, 1)
    places = straight(float(load), inside)
    d: dict[str, Any] = {
        "format": "kinetree/1",
        "name": "Loader crane",
        "text": "Loader crane of three box beams on hydraulic cylinders, with a load on a rope",
        "parameters": {
            "rated_flow": {"value": 8e-4, "unit": "m3/s", "text": "flow of a valve, fully open"},
            "load_mass": {"value": float(load), "unit": "kg", "text": "load on the rope"},
        },
        "materials": {"steel": STEEL},
        "bodies": {
            "column": {
                "mass": 600.0,
                "com": [0, 0, 1.1],
                "inertia": [300.0, 300.0, 60.0, 0, 0, 0],
                "shape": {"cylinder": [0.25, PIN], "at": [0, 0, PIN / 2]},
            },
            "load": {
                "mass": "load_mass",
                "inertia": [20.0, 20.0, 20.0, 0, 0, 0],
                "shape": {"box": [0.6, 0.6, 0.4]},
            },
        },
        "beams": {},
        "joints": joints(inside),
        "inputs": {
            "lift": {"min": -1.0, "max": 1.0, "text": "valve of the lift cylinder"},
            "knuckle": {"min": -1.0, "max": 1.0, "text": "valve of the knuckle cylinder"},
            "telescope": {"min": -1.0, "max": 1.0, "text": "valve of the telescope"},
            "slew_rate": {"unit": "rad/s", "text": "wanted rate of the column"},
        },
        "forces": {
            "slewing": {"coordinate": "slew", "value": "60e3*(slew_rate - der(slew))"},
            "rope_drag": {"coordinate": "sway_x", "viscous": 20.0},
            "rope_drag_across": {"coordinate": "sway_y", "viscous": 20.0},
        },
        "hydraulics": hydraulics(places, inside),
        "outputs": outputs(bool(bends), inside),
        "run": {
            "stop_time": 10.0,
            "output_step": 0.02,
            "integrator": "radau",
            "tolerances": 1e-5,
        },
    }
    if inside:
        d["parameters"]["pad_clearance"] = {
            "value": 0.0, "unit": "m", "min": 0.0, "text": "play of the arm in the jib, to each side",
        }  # fmt: skip
        d["forces"] |= pads_of(inside)
    for name, length in lengths(inside).items():
        section = {"box": list(BOXES[name])}
        if bends:
            beam = {"length": length, "section": section, "material": "steel", "segments": count}
            d["beams"][name] = beam | {"damping": 0.02, "colour": "orange"}
        else:
            d["bodies"][name] = rigid(name, length)
    return d


def lengths(inside: float = 0.0) -> dict[str, float]:
    """Return the lengths of the beams [m], that of the arm including the part in the jib."""
    return LENGTHS | {"arm": LENGTHS["arm"] + inside}


def pads_of(inside: float) -> dict[str, Any]:
    """Return the pads in both lateral directions: at the end of the jib on the arm, and at the root
    of the arm in the jib.
    """
    jib, arm = {"body": "jib"}, {"body": "arm"}
    ends = {
        "front": [arm, {**jib, "point": [LENGTHS["jib"], 0, 0]}, LENGTHS["arm"] + inside],
        "rear": [jib, arm, LENGTHS["jib"]],
    }
    return {
        f"{name}_pad_{axis}": {
            **PADS, "kind": "rail", "between": [rail, pin], "across": axis, "end": end,
        }
        for name, (rail, pin, end) in ends.items()
        for axis in "yz"
    }  # fmt: skip


def mass_of(name: str, length: float | None = None) -> float:
    """Return the mass [kg] of a box beam, by default for its full length."""
    h, w, t = BOXES[name]
    area = h * w - (h - 2 * t) * (w - 2 * t)
    return STEEL["density"] * (LENGTHS[name] if length is None else length) * area


def rigid(name: str, length: float) -> dict[str, Any]:
    """Return a box beam of the crane as a rigid body."""
    h, w, t = BOXES[name]
    a, b, line = h - 2 * t, w - 2 * t, STEEL["density"] * length
    iy, iz = (w * h**3 - b * a**3) / 12.0, (h * w**3 - a * b**3) / 12.0
    rod = mass_of(name, length) * length**2 / 12.0
    return {
        "mass": mass_of(name, length),
        "com": [length / 2, 0, 0],
        "inertia": [line * (iy + iz), rod + line * iy, rod + line * iz, 0, 0, 0],
        "shape": {
            "box": [length, w, h],
            "at": [length / 2, 0, 0],
            "colour": "orange",
        },
    }


def joints(inside: float) -> dict[str, Any]:
    """Return the joints of the crane: slewing column, pins, telescope and rope."""
    pin = {"type": "revolute", "axis": [0, -1, 0]}
    slide: dict[str, Any] = {
        "type": "prismatic", "axis": "x", "at": [LENGTHS["jib"], 0, 0], "child_at": [0, 0, 0],
        "coordinates": ["out"], "start": OUT,
    }  # fmt: skip
    if inside:  # what the pads hold is free
        ways = {"out": ("shift", "x"), "aside": ("shift", "y"), "lifted": ("shift", "z")}
        ways |= {"yaw": ("rotate", "z"), "pitch": ("rotate", "y")}
        moves: list[dict[str, Any]] = [{kind: axis, "coordinate": name} for name, (kind, axis) in ways.items()]  # fmt: skip
        moves[0]["start"] = OUT
        slide = {"transforms": [{"shift": [LENGTHS["jib"] - inside, 0, 0]}, *moves]}
    return {
        "ring": {"child": "column", "type": "revolute", "coordinates": ["slew"]},
        "boom_pin": {
            **pin, "parent": "column", "child": "boom", "at": [0, 0, PIN],
            "coordinates": ["boom_angle"], "start": ANGLES["boom"],
        },
        "jib_pin": {
            **pin, "parent": "boom", "child": "jib", "at": [LENGTHS["boom"], 0, 0],
            "coordinates": ["jib_angle"], "start": ANGLES["jib"],
        },
        "pads": {"parent": "jib", "child": "arm", **slide},
        "rope": {
            "parent": "arm", "child": "load", "type": "universal", "at": [LENGTHS["arm"] + inside, 0, 0],
            "frame": [{"rotate": "y", "by": ANGLES["boom"] + ANGLES["jib"]}],
            "child_at": [0, 0, ROPE], "coordinates": ["sway_x", "sway_y"],
        },
    }  # fmt: skip


def outputs(bends: bool, inside: float) -> dict[str, Any]:
    """Return the outputs: tip position, pressures, beam loads."""
    found: dict[str, Any] = {
        "tip": {"quantity": "position", "body": "arm", "point": [LENGTHS["arm"] + inside, 0, 0]},
        "load_height": {"quantity": "position", "body": "load", "axis": "z"},
        "lift_pressure": {"value": "lift_a.pressure", "unit": "bar"},
        "energy": {"quantity": "energy"},
    }
    for name, length in lengths(inside).items() if bends else ():
        tip = {"quantity": "deflection", "beam": name, "station": length, "axis": "z"}
        found[f"{name}_sag"] = {**tip, "unit": "mm"}
    for name in ("boom", "jib") if bends else ():
        station = CYLINDERS["lift" if name == "boom" else "knuckle"]["to"][1][0]
        found[f"{name}_stress"] = {
            "quantity": "stress",
            "beam": name,
            "station": station,
            "unit": "MPa",
        }
    return found


def hydraulics(holds: dict[str, float], inside: float) -> dict[str, Any]:
    """Return a supply of constant pressure and, per cylinder, a valve, two hoses and relief valves."""
    found: dict[str, Any] = {"rail": {"pressure": 250e5}, "tank": {"pressure": 2e5}}
    for name, cylinder in CYLINDERS.items():
        a, b = cylinder["areas"]
        force = holds[name]  # p_a a - p_b b; the side that does not carry has the back pressure
        at_a = max(BACK, (force + BACK * b) / a)
        at_b = (at_a * a - force) / b
        (body, (x, z)), (other, (u, w)) = cylinder["from"], cylinder["to"]
        shortest, longest = cylinder["stroke"]
        if inside and other == "arm":
            longest = LENGTHS["jib"] + u - x + inside - LEAST_INSIDE
            u += inside
        found[f"{name}_valve"] = {
            "supply": "rail",
            "tank": "tank",
            "a": f"{name}_a",
            "b": f"{name}_b",
            "command": name,
            "rated_flow": "rated_flow",
            "time_constant": 0.05,
        }
        found[f"{name}_a"] = {"volume": 1e-3, "start": at_a}
        found[f"{name}_b"] = {"volume": 1e-3, "start": at_b}
        found[f"{name}_cylinder"] = {
            "between": [{"body": body, "point": [x, 0, z]}, {"body": other, "point": [u, 0, w]}],
            "a": f"{name}_a",
            "b": f"{name}_b",
            "area_a": a,
            "area_b": b,
            "shortest": shortest,
            "longest": longest,
            "viscous": 5e3,
        }
        for side in "ab":
            found[f"{name}_{side}_relief"] = {
                "path": [f"{name}_{side}", "tank"],
                "opens": 350e5,
                "gain": 1e-8,
            }
            found[f"{name}_{side}_make_up"] = {"path": ["tank", f"{name}_{side}"], "gain": 1e-7}
    return found


def straight(load: float, inside: float = 0.0) -> dict[str, float]:
    """Return the cylinder forces that balance the undeformed crane, by differences of potential
    energy and length.
    """

    def state(boom: float, jib: float, out: float) -> tuple[float, dict[str, float]]:
        frames = {"column": (0.0, 0.0, 0.0), "boom": (0.0, PIN, boom)}
        for name, before, along in (("jib", "boom", LENGTHS["boom"]), ("arm", "jib", 0.0)):
            x, z, angle = frames[before]
            along = along or LENGTHS["jib"] + out - inside
            turn = angle + (jib if name == "jib" else 0.0)
            frames[name] = (x + along * math.cos(angle), z + along * math.sin(angle), turn)

        def place(body: str, u: float, w: float) -> tuple[float, float]:
            x, z, angle = frames[body]
            c, s = math.cos(angle), math.sin(angle)
            return x + u * c - w * s, z + u * s + w * c

        energy = load * place("arm", LENGTHS["arm"] + inside, 0.0)[1]
        for name, length in lengths(inside).items():
            energy += mass_of(name, length) * place(name, length / 2, 0.0)[1]
        strokes = {}
        for name, each in CYLINDERS.items():
            (body, point), (other, (u, w)) = each["from"], each["to"]
            strokes[name] = math.dist(place(body, *point), place(other, u + inside * (other == "arm"), w))  # fmt: skip
        return G * energy, strokes

    h, forces = 1e-5, {}
    moves = {"lift": (h, 0.0, 0.0), "knuckle": (0.0, h, 0.0), "telescope": (0.0, 0.0, h)}
    for name, (a, b, c) in moves.items():
        sides = [
            state(ANGLES["boom"] + sign * a, ANGLES["jib"] + sign * b, OUT + sign * c)
            for sign in (1, -1)
        ]
        forces[name] = (sides[0][0] - sides[1][0]) / (sides[0][1][name] - sides[1][1][name])
    return forces
