"""N four-bar mechanism (IFToMM/UDC multibody benchmark A02): n + 1 cranks side by side, joined by n
couplers.

lib:n_four_bar with n (loops), length, mass, speed (of the first crank's end at the start) and g.
One degree of freedom; twice per turn all bars lie on one line, where the constraints lose rank and
the mechanism must continue as a parallelogram.
"""

from typing import Any

from kinetree.models.library.argument_checks import Argument, whole

MOST_LOOPS = 1000
ARGUMENTS = {"n": Argument("number of loops", 1, MOST_LOOPS)}


def describe(n: int = 2) -> dict[str, Any]:
    """Return the description: cranks c0..cn on the ground, coupler b{i} from crank i to crank i +
    1; the cranks start upright.
    """
    loops = whole("n", n, 1, MOST_LOOPS)
    bodies = {f"c{i}": rod() for i in range(loops + 1)} | {f"b{i}": rod() for i in range(loops)}
    joints: dict[str, Any] = {f"A{i}": crank_joint(i) for i in range(loops + 1)}
    for i in range(loops):
        joints[f"B{i}"] = {
            "parent": f"c{i}",
            "child": f"b{i}",
            "at": ["length", 0, 0],
            "transforms": [{"rotate": "z", "coordinate": f"phi{i}", "start": "-pi/2"}],
        }
        joints[f"C{i}"] = {
            "parent": f"b{i}",
            "child": f"c{i + 1}",
            "type": "revolute",
            "at": ["length", 0, 0],
            "child_at": ["length", 0, 0],
        }
    tip = {"quantity": "position", "body": "c0", "point": ["length", 0, 0]}
    return {
        "format": "kinetree/1",
        "name": f"{loops}-four-bar",
        "text": f"{loops + 1} cranks joined by {loops} couplers, one freedom, singular twice per turn",
        "gravity": [0, "-g", 0],
        "parameters": {
            "length": {"value": 1.0, "unit": "m", "min": 0, "text": "length of a bar"},
            "mass": {"value": 1.0, "unit": "kg", "min": 0, "text": "mass of a bar"},
            "speed": {
                "value": 1.0,
                "unit": "m/s",
                "text": "speed of the cranks' ends at the start, along x",
            },
            "g": {"value": 9.81, "unit": "m/s2", "text": "gravity, along -y"},
        },
        "bodies": bodies,
        "joints": joints,
        "outputs": {"tip": tip, "energy": {"quantity": "energy"}},
        "run": {"stop_time": 10, "output_step": 0.01},
    }


def rod() -> dict[str, Any]:
    """Return a thin bar along x as a body."""
    across = "mass*length**2/12"
    shape = {"box": ["length", "length/20", "length/20"], "at": ["length/2", 0, 0]}
    return {
        "mass": "mass",
        "com": ["length/2", 0, 0],
        "inertia": [0, across, across, 0, 0, 0],
        "shape": shape,
    }


def crank_joint(i: int) -> dict[str, Any]:
    """Return the revolute joint of crank i; only the speed of the first one is given."""
    turn = {"rotate": "z", "coordinate": f"theta{i}", "start": "pi/2"} | (
        {} if i else {"speed": "-speed/length"}
    )
    return {"child": f"c{i}", "at": [f"{i}*length", 0, 0], "transforms": [turn]}
