"""Random tree mechanisms as descriptions, and their poses by an independent dense evaluation.

Poses are 4x4 matrices with their first and second time derivatives (second-order jets) multiplied along the path; nothing of the product's
recursions, element sequences or numberings is used.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetree.models.joints.kinds import KINDS as JOINTS

KNOWN = (
    "revolute",
    "prismatic",
    "cylindrical",
    "universal",
    "spherical",
    "planar",
    "screw",
    "free",
    "rigid",
)  # by steps of their own here
KINDS = (*KNOWN, *(kind for kind in JOINTS if kind not in KNOWN), "transforms", "given", "reversed")
Jet = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass
class Motion:
    """A given function of time, a sin(b t + c) + d t."""

    a: float
    b: float
    c: float
    d: float

    def text(self) -> str:
        return f"{self.a!r}*sin({self.b!r}*t + {self.c!r}) + {self.d!r}*t"

    def jet(self, t: float) -> tuple[float, float, float]:
        s, k = np.sin(self.b * t + self.c), np.cos(self.b * t + self.c)
        return self.a * s + self.d * t, self.a * self.b * k + self.d, -self.a * self.b * self.b * s


@dataclass
class Step:
    """One elementary transform: amount is a constant, a Motion, or factor times the coordinate with a local index."""

    turn: bool
    axis: np.ndarray
    amount: float | Motion = 0.0
    coordinate: int = -1
    factor: float = 1.0


@dataclass
class RandomJoint:
    """Steps from the parent frame to the child frame; a quaternion joint has "ball" or "free" after its steps."""

    steps: list[Step]
    special: str = ""
    freedoms: int = 0
    backwards: bool = False


@dataclass
class RandomTree:
    description: dict[str, Any]
    parents: dict[str, str]
    joints: dict[str, RandomJoint]  # by body


def unit(rng: np.random.Generator) -> np.ndarray:
    a = rng.normal(size=3)
    return a / np.linalg.norm(a)


def vector(values) -> list[float]:
    return [float(value) for value in values]


def random_description(rng: np.random.Generator, bodies: int) -> RandomTree:
    """Bodies b1, b2, ... in random order of description, every joint kind, outputs of all kinematic quantities at a point of each body."""
    order = [f"b{i}" for i in range(1, bodies + 1)]
    kinds = list(KINDS) * (bodies // len(KINDS) + 1)
    rng.shuffle(kinds)
    tree = RandomTree({}, {}, {})
    tables: dict[str, dict[str, Any]] = {"bodies": {}, "joints": {}, "outputs": {}}
    for i, body in enumerate(order):
        first = max(0, i - int(rng.integers(1, 5)))
        parent = "ground" if i == 0 else order[int(rng.integers(first, i))]
        joint, table = random_joint(rng, kinds[i], f"j{i + 1}")
        tree.parents[body], tree.joints[body] = parent, joint
        ends = (
            {"parent": body, "child": parent}
            if joint.backwards
            else {"parent": parent, "child": body}
        )
        tables["joints"][f"j{i + 1}"] = ends | table
        tables["bodies"][body] = random_body(rng)
        tables["outputs"] |= outputs(body, vector(rng.normal(0.0, 0.5, 3)))
    shuffled = list(tables["bodies"])
    rng.shuffle(shuffled)
    tables["bodies"] = {body: tables["bodies"][body] for body in shuffled}
    tree.description = {
        "format": "kinetree/1",
        "name": "random",
        "gravity": vector(rng.normal(0.0, 6.0, 3)),
        **tables,
    }
    return tree


def random_body(rng: np.random.Generator) -> dict[str, Any]:
    """Three or more mass points never make an impossible tensor: J = tr(P) E - P with P positive."""
    r = rng.normal(0.0, 0.3, (3, 3))
    P = r @ r.T + 0.02 * np.eye(3)
    J = np.trace(P) * np.eye(3) - P
    key = "inertia" if rng.random() < 0.7 else "inertia_at_origin"
    return {
        "mass": float(rng.uniform(0.5, 3.0)),
        "com": vector(rng.normal(0.0, 0.1, 3)) if key == "inertia" else [0, 0, 0],
        key: tensor(J),
    }


def tensor(J: np.ndarray) -> list[float]:
    return vector((J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]))


def outputs(body: str, point: list[float]) -> dict[str, Any]:
    quantities = (
        "position",
        "velocity",
        "acceleration",
        "orientation",
        "angular_velocity",
        "angular_acceleration",
    )
    with_point = ("position", "velocity", "acceleration")
    tables = {
        f"{body}_{q}": {"quantity": q, "body": body} | ({"point": point} if q in with_point else {})
        for q in quantities
    }
    own = {
        f"{body}_own_{q}": {"quantity": q, "body": body, "frame": "body", "point": point}
        for q in ("velocity", "acceleration")
    }
    return tables | own


def place(rng: np.random.Generator) -> tuple[dict[str, Any], list[Step]]:
    """`at` and `frame` of a joint and what they mean."""
    table: dict[str, Any] = {}
    steps = []
    if rng.random() < 0.7:
        table["at"] = vector(rng.normal(0.0, 0.4, 3))
        steps.append(Step(False, np.array(table["at"]), float(np.linalg.norm(table["at"]))))
    if rng.random() < 0.5:
        axis, angle = unit(rng), float(rng.normal())
        table["frame"] = [{"rotate": vector(axis), "by": angle}]
        steps.append(Step(True, axis, angle))
    return table, steps


def random_joint(
    rng: np.random.Generator, kind: str, name: str
) -> tuple[RandomJoint, dict[str, Any]]:
    if kind in ("transforms", "given", "reversed"):
        return random_sequence(rng, kind, name)
    table, steps = place(rng)
    table["type"] = kind
    axis = unit(rng) * rng.uniform(0.5, 2.0)  # axes need not be unit vectors
    if kind in ("revolute", "prismatic", "cylindrical", "screw"):
        table["axis"] = vector(axis)
    if kind == "planar":
        table["axis"] = "z"
    if kind == "universal":
        pair = np.linalg.qr(rng.normal(size=(3, 3)))[0][:2]
        table["axis"] = [vector(pair[0]), vector(pair[1])]
        steps += [Step(True, pair[k], coordinate=k) for k in range(2)]
    moving = {
        "revolute": [Step(True, axis, coordinate=0)],
        "prismatic": [Step(False, axis, coordinate=0)],
        "cylindrical": [Step(False, axis, coordinate=0), Step(True, axis, coordinate=1)],
        "planar": [
            Step(False, np.eye(3)[0], coordinate=0),
            Step(False, np.eye(3)[1], coordinate=1),
            Step(True, np.eye(3)[2], coordinate=2),
        ],
    }
    steps += moving.get(kind, [])
    if kind == "screw":
        table["pitch"] = float(rng.uniform(-1.0, 1.0))
        steps += [
            Step(True, axis, coordinate=0),
            Step(False, axis, coordinate=0, factor=table["pitch"] / (2 * np.pi)),
        ]
    if kind not in KNOWN:
        steps += registered(rng, kind, table)
    special = {"spherical": "ball", "free": "free"}.get(kind, "")
    freedoms = {"ball": 3, "free": 6}.get(
        special, 1 + max((s.coordinate for s in steps), default=-1)
    )
    return RandomJoint(steps, special, freedoms, special != "free" and rng.random() < 0.3), table


def registered(rng: np.random.Generator, kind: str, table: dict[str, Any]) -> list[Step]:
    """Steps of a joint that has none of its own here: its elements, multiplied by matrices."""
    declared = JOINTS[kind]
    axes = [vector(axis) for axis in np.linalg.qr(rng.normal(size=(3, 3)))[0][: len(declared.axes)]]
    if axes:
        table["axis"] = axes[0] if len(axes) == 1 else axes
    if declared.pitch:
        table["pitch"] = float(rng.uniform(-1.0, 1.0))
    elements = declared.elements([(x, y, z) for x, y, z in axes], table.get("pitch", 0.0))
    return [
        Step(e.kind.turns, np.array(e.axis), coordinate=e.coordinate, factor=e.factor)
        for e in elements
    ]


def random_sequence(
    rng: np.random.Generator, kind: str, name: str
) -> tuple[RandomJoint, dict[str, Any]]:
    """Elementary transforms in random order; coordinates turn or shift about well separated axes, the first may be shared by a further one."""
    axes = {turn: list(np.linalg.qr(rng.normal(size=(3, 3)))[0]) for turn in (True, False)}
    kinds = (
        ["coordinate"] * int(rng.integers(1, 4))
        + ["constant"] * int(rng.integers(0, 3))
        + ["given"] * int(kind == "given" or rng.random() < 0.2)
    )
    rng.shuffle(kinds)
    steps: list[Step] = []
    freedoms = 0
    for each in kinds:
        turn = bool(rng.random() < 0.6)
        if each == "coordinate":
            steps.append(Step(turn, axes[turn].pop(), coordinate=freedoms))
            freedoms += 1
        elif each == "constant":
            steps.append(Step(turn, unit(rng), float(rng.normal(0.0, 0.5))))
        else:
            steps.append(Step(turn, unit(rng), Motion(*vector(rng.normal(0.0, 0.6, 4)))))
    if rng.random() < 0.4:
        steps.append(
            Step(not steps[-1].turn, unit(rng), coordinate=0, factor=float(rng.uniform(0.1, 0.4)))
        )
    table = {"transforms": [as_table(step, name) for step in steps]}
    return RandomJoint(steps, "", freedoms, kind == "reversed"), table


def as_table(step: Step, name: str) -> dict[str, Any]:
    table: dict[str, Any] = {"rotate" if step.turn else "shift": vector(step.axis)}
    if step.coordinate >= 0:
        return (
            table
            | {"coordinate": f"{name}_{step.coordinate}"}
            | ({"factor": step.factor} if step.factor != 1.0 else {})
        )
    return table | {"by": step.amount.text() if isinstance(step.amount, Motion) else step.amount}


# -- the independent evaluation -------------------------------------------------------------------------------------------------------------
def skew(a: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def product(a: Jet, b: Jet) -> Jet:
    return a[0] @ b[0], a[1] @ b[0] + a[0] @ b[1], a[2] @ b[0] + 2.0 * a[1] @ b[1] + a[0] @ b[2]


def inverse(x: Jet) -> Jet:
    y = np.linalg.inv(x[0])
    d = -y @ x[1] @ y
    return y, d, -d @ x[1] @ y - y @ x[2] @ y - y @ x[1] @ d


def empty() -> Jet:
    return np.eye(4), np.zeros((4, 4)), np.zeros((4, 4))


def step_jet(step: Step, t: float, q: np.ndarray, u: np.ndarray, udot: np.ndarray) -> Jet:
    if step.coordinate >= 0:
        k = step.coordinate
        x = (step.factor * q[k], step.factor * u[k], step.factor * udot[k])
    else:
        x = step.amount.jet(t) if isinstance(step.amount, Motion) else (step.amount, 0.0, 0.0)
    axis = step.axis / np.linalg.norm(step.axis)
    jet = empty()
    if not step.turn:
        for k in range(3):
            jet[k][:3, 3] = x[k] * axis
        return jet
    K = skew(axis)
    R = np.eye(3) + np.sin(x[0]) * K + (1.0 - np.cos(x[0])) * K @ K
    jet[0][:3, :3], jet[1][:3, :3], jet[2][:3, :3] = (
        R,
        x[1] * K @ R,
        (x[2] * K + x[1] ** 2 * K @ K) @ R,
    )
    return jet


def matrix_of(quaternion: np.ndarray) -> np.ndarray:
    w, v = quaternion[0], quaternion[1:]
    return np.eye(3) + 2.0 * w * skew(v) + 2.0 * skew(v) @ skew(v)


def quaternion_jet(free: bool, q: np.ndarray, u: np.ndarray, udot: np.ndarray) -> Jet:
    jet = empty()
    R = matrix_of(q[-4:])
    W, E = skew(u[-3:]), skew(udot[-3:])
    jet[0][:3, :3], jet[1][:3, :3], jet[2][:3, :3] = R, R @ W, R @ (W @ W + E)
    if free:
        jet[0][:3, 3], jet[1][:3, 3], jet[2][:3, 3] = q[:3], R @ u[:3], R @ (W @ u[:3] + udot[:3])
    return jet


def joint_jet(joint: RandomJoint, t: float, q: np.ndarray, u: np.ndarray, udot: np.ndarray) -> Jet:
    jet = empty()
    for step in joint.steps:
        jet = product(jet, step_jet(step, t, q, u, udot))
    if joint.special:
        jet = product(jet, quaternion_jet(joint.special == "free", q, u, udot))
    return inverse(jet) if joint.backwards else jet
