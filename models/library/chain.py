"""Chain of n equal hanging rods, on revolute joints of alternating axes, universal or spherical
joints.

lib:chain with n (bodies), freedoms (1, 2 or 3 per joint), length, mass, bend (angle of every joint
at the start) and gravity. [Sh24] 4.1 compares the formulations on such chains and on stars.
"""

from typing import Any

from kinetree.models.library.argument_checks import Argument, several

MOST_BODIES = 2000
FREEDOMS = Argument(
    "degrees of freedom of every joint", 1, 3, ("revolute", "universal", "spherical")
)
ARGUMENTS = {"n": Argument("number of rods", 1, MOST_BODIES), "freedoms": FREEDOMS}
AXES = ("x", "y")


def describe(n: int = 5, freedoms: int = 1) -> dict[str, Any]:
    """Return name, text and parameters shared by chains and stars."""
    links = count("n", n, MOST_BODIES)
    kind = count("freedoms", freedoms, 3)
    bodies = {f"b{i}": rod() for i in range(1, links + 1)}
    joints = {
        f"j{i}": joint(
            i, kind, "ground" if i == 1 else f"b{i - 1}", [0, 0, 0 if i == 1 else "-length"]
        )
        for i in range(1, links + 1)
    }
    return frame(
        f"Chain of {links} rods",
        f"{links} rods one on another, {several(kind, 'freedom')} per joint",
    ) | {
        "bodies": bodies,
        "joints": joints,
        "outputs": {
            "tip": {"quantity": "position", "body": f"b{links}", "point": [0, 0, "-length"]},
            "energy": {"quantity": "energy"},
        },
    }


def frame(name: str, text: str) -> dict[str, Any]:
    """Return name, title and parameters that chains and stars share."""
    parameters = {
        "length": {"value": 0.5, "unit": "m", "min": 0, "text": "length of a rod"},
        "mass": {"value": 1.0, "unit": "kg", "min": 0, "text": "mass of a rod"},
        "bend": {"value": 0.2, "unit": "rad", "text": "angle of every joint at the start"},
        "g": {"value": 9.81, "unit": "m/s2", "text": "gravity, along -z"},
    }
    run = {"stop_time": 5, "output_step": 0.01}
    return {
        "format": "kinetree/1",
        "name": name,
        "text": text,
        "gravity": [0, 0, "-g"],
        "parameters": parameters,
        "run": run,
    }


def count(name: str, value: float, most: int) -> int:
    """Return a structural argument that must be an integer from 1 to `most`."""
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float))
        or value != int(value)
        or not 1 <= value <= most
    ):
        raise ValueError(f"{name} is {value!r}, expected a whole number from 1 to {most}")
    return int(value)


def rod() -> dict[str, Any]:
    """Return the body of a square rod of width length/10 along -z."""
    across = "mass*length**2*1.01/12"
    return {
        "mass": "mass",
        "com": [0, 0, "-length/2"],
        "inertia": [across, across, "mass*length**2*0.02/12", 0, 0, 0],
        "shape": {"box": ["length/10", "length/10", "length"], "at": [0, 0, "-length/2"]},
    }


def joint(i: int, freedoms: int, parent: str, at: list[Any]) -> dict[str, Any]:
    """Return joint i with coordinate q{i}, or a{i} and b{i}, or a quaternion; revolute axes
    alternate.
    """
    common = {"parent": parent, "child": f"b{i}", "at": at}
    if freedoms == 1:
        return common | {
            "type": "revolute",
            "axis": AXES[(i - 1) % 2],
            "coordinates": [f"q{i}"],
            "start": ["bend"],
        }
    if freedoms == 2:
        return common | {
            "type": "universal",
            "coordinates": [f"a{i}", f"b{i}"],
            "start": ["bend", "bend/2"],
        }
    return common | {"type": "spherical", "start": ["cos(bend/2)", "sin(bend/2)", 0, 0]}
