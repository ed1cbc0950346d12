"""Star: a base body with branches of equal rods, on revolute joints of alternating axes, universal
or spherical joints.

lib:star with n (number of bodies, the base included), branch (rods per branch), freedoms (1, 2 or 3
per joint); parameters as in lib:chain. [Sh24] 4.1 compares the formulations on chains and on such
stars.
"""

import math
from typing import Any

from kinetree.models.library.argument_checks import Argument, several
from kinetree.models.library.chain import FREEDOMS, MOST_BODIES, count, frame, joint, rod

ARGUMENTS = {
    "n": Argument("number of bodies, the base included", 1, MOST_BODIES),
    "freedoms": FREEDOMS,
    "branch": Argument("number of rods of a branch", 1, MOST_BODIES),
}


def describe(n: int = 7, freedoms: int = 1, branch: int = 1) -> dict[str, Any]:
    """Return the description of a star: body 1 hangs on the ground and carries rods 2..n in
    branches around it.
    """
    total = count("n", n, MOST_BODIES)
    kind = count("freedoms", freedoms, 3)
    long = count("branch", branch, MOST_BODIES)
    branches = max(1, math.ceil((total - 1) / long))
    bodies = {"b1": base()} | {f"b{i}": rod() for i in range(2, total + 1)}
    joints = {"j1": joint(1, kind, "ground", [0, 0, 0])}
    for i in range(2, total + 1):
        place, arm = divmod(i - 2, branches)
        angle = 2 * math.pi * arm / branches
        first = place == 0
        at = (
            [f"length*{math.cos(angle)!r}", f"length*{math.sin(angle)!r}", "-length/2"]
            if first
            else [0, 0, "-length"]
        )
        joints[f"j{i}"] = joint(i, kind, "b1" if first else f"b{i - branches}", at)
    return frame(
        f"Star of {total} bodies",
        f"A base with {branches} branches of {several(long, 'rod')}, {several(kind, 'freedom')} per joint",
    ) | {
        "bodies": bodies,
        "joints": joints,
        "outputs": {
            "base": {"quantity": "position", "body": "b1", "point": [0, 0, "-length"]},
            "energy": {"quantity": "energy"},
        },
    }


def base() -> dict[str, Any]:
    """Return the base: a disc of radius length and mass 4*mass, half a length below its joint."""
    across = "mass*length**2"
    return {
        "mass": "4*mass",
        "com": [0, 0, "-length/2"],
        "inertia": [across, across, "2*mass*length**2", 0, 0, 0],
        "shape": {"cylinder": ["length", "length/20"], "at": [0, 0, "-length/2"]},
    }
