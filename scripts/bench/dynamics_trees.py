"""Trees of the dynamics benchmarks, with equal parameters for every engine.

All bodies have the same general mass properties. Joint axes alternate between x, y and z, and
joints sit at a constant general offset. In a chain each body hangs on the one before; a star
carries branches of equal length on its first body. The state is drawn at random: angles within a
radian, speeds within one per second.
"""

from typing import Any, NamedTuple

import numpy as np

from kinetree.models import load
from kinetree.models.system.system import System

MASS, COM, OFFSET = 1.0, (0.02, -0.03, -0.1), (0.03, 0.02, -0.2)
INERTIA = (
    0.012,
    0.010,
    0.006,
    0.001,
    -0.0005,
    0.0008,
)  # xx yy zz xy xz yz about the centre of mass
GRAVITY = 9.81
AXES = "xyz"
JOINTS = {"revolute": 1, "universal": 2, "spherical": 3, "ball on a slide": 4}  # freedoms


class Case(NamedTuple):
    """A tree; `parents` are those of the bodies 1..N, where 0 is the ground."""

    topology: str
    joint: str
    parents: tuple[int, ...]

    @property
    def bodies(self) -> int:
        return len(self.parents)

    def axes(self, i: int) -> str:
        """Return the letters of the first and the second axis of joint i."""
        return AXES[(i - 1) % 3] + AXES[i % 3]


def chain(joint: str, bodies: int) -> Case:
    """Return a chain, in which each body hangs on the one before."""
    return Case("chain", joint, tuple(range(bodies)))


def star(joint: str, bodies: int) -> Case:
    """Return a star, in which all bodies but the first are children of the first."""
    return Case("star", joint, (0, *[1] * (bodies - 1)))


def branched(joint: str, branches: int, length: int) -> Case:
    """Return a tree whose first body carries branches of equal length."""
    parents = [0] + [
        1 if place == 0 else i - branches
        for place in range(length)
        for i in range(2 + place * branches, 2 + (place + 1) * branches)
    ]
    return Case(f"{branches} branches of {length}", joint, tuple(parents))


def system(case: Case) -> System:
    """Return the compiled mechanism of a tree at its random state."""
    body = {"mass": MASS, "com": list(COM), "inertia": list(INERTIA)}
    q, u = (part.reshape(case.bodies, -1).tolist() for part in state(case))
    joints = {
        f"j{i}": joint(case, i, parent, q[i - 1], u[i - 1])
        for i, parent in enumerate(case.parents, 1)
    }
    frame = {
        "format": "kinetree/1",
        "name": f"{case.topology} of {case.bodies}",
        "gravity": [0, 0, -GRAVITY],
    }
    return load(
        {**frame, "bodies": {f"b{i}": body for i in range(1, case.bodies + 1)}, "joints": joints}
    ).compile()


def joint(case: Case, i: int, parent: int, q: list[float], u: list[float]) -> dict[str, Any]:
    """Return the description of joint i with its start values."""
    ends = {"parent": f"b{parent}" if parent else "ground", "child": f"b{i}"}
    typed = {**ends, "type": case.joint, "at": list(OFFSET), "start": q, "speed": u}
    first, second = case.axes(i)
    if case.joint == "revolute":
        return {**typed, "axis": first}
    if case.joint == "universal":
        return {**typed, "axis": [first, second]}
    if case.joint == "spherical":
        return typed
    kinds = [("shift", first), *(("rotate", axis) for axis in AXES)]
    moves = [
        {kind: axis, "coordinate": f"{kind}_{axis}{i}", "start": q[k], "speed": u[k]}
        for k, (kind, axis) in enumerate(kinds)
    ]
    return {**ends, "transforms": [{"shift": list(OFFSET)}, *moves]}


def state(case: Case, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Return random coordinates and speeds of a tree; quaternions are (w, x, y, z), speeds of
    spherical joints are angular velocities in the child's axes.
    """
    draw = np.random.default_rng(seed)
    freedoms = JOINTS[case.joint]
    u = draw.uniform(-1.0, 1.0, case.bodies * freedoms)
    if case.joint != "spherical":
        return draw.uniform(-1.0, 1.0, case.bodies * freedoms), u
    q = np.hstack((np.ones((case.bodies, 1)), draw.uniform(-0.5, 0.5, (case.bodies, 3))))
    return (q / np.linalg.norm(q, axis=1, keepdims=True)).ravel(), u
