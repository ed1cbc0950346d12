"""The trees in Pinocchio (aba) and MuJoCo (mj_forward): accelerations to compare, calls to time.

Both are called from Python; the time of the same call on an empty model is subtracted. Contacts,
constraints and sensors of MuJoCo are off; what remains of mj_forward is kinematics, inertia matrix,
its factor, bias forces and accelerations.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from kinetree.scripts.bench.dynamics_trees import AXES, COM, GRAVITY, INERTIA, MASS, OFFSET, Case

MOST_FREEDOMS = {
    "pinocchio": 300,
    "mujoco": 400,
}  # Pinocchio keeps arrays of n³ numbers, a gigabyte for 300


class Peer(NamedTuple):
    """A tree at its state in another engine."""

    name: str
    call: Callable[[int], object]  # evaluates so many times
    udot: np.ndarray
    residual: (
        Callable[[np.ndarray], float] | None
    )  # forces that accelerations leave over, as part of the largest force without them


def peers(case: Case, q: np.ndarray, u: np.ndarray) -> Iterator[Peer]:
    """Yield the installed peers that support the joint."""
    for name, make in (("pinocchio", pinocchio), ("mujoco", mujoco)):
        if len(u) <= MOST_FREEDOMS[name] and case.joint in ("revolute", "universal", "spherical"):
            try:
                yield make(case, q, u)
            except ImportError:
                continue


def empty_calls() -> dict[str, Callable[[int], object]]:
    """Return calls on models without bodies, which measure the overhead of calls from Python."""
    nobody, none = Case("chain", "revolute", ()), np.zeros(0)
    return {peer.name: peer.call for peer in peers(nobody, none, none)}


# -- Pinocchio ------------------------------------------------------------------------------------------------------------------------------
def pinocchio_model(case: Case):
    """Return a tree as a Pinocchio model."""
    import pinocchio as pin

    model = pin.Model()
    model.gravity.linear = np.array([0.0, 0.0, -GRAVITY])
    xx, yy, zz, xy, xz, yz = INERTIA
    body = pin.Inertia(MASS, np.array(COM), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
    place = pin.SE3(np.eye(3), np.array(OFFSET))
    simple = dict(zip(AXES, (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ), strict=True))
    for i, parent in enumerate(case.parents, 1):
        first, second = case.axes(i)
        if case.joint == "revolute":
            joint = simple[first]()
        elif case.joint == "universal":
            joint = pin.JointModelUniversal(
                np.eye(3)[AXES.index(first)], np.eye(3)[AXES.index(second)]
            )
        else:
            joint = pin.JointModelSpherical()
        model.appendBodyToJoint(
            model.addJoint(parent, joint, place, f"j{i}"), body, pin.SE3.Identity()
        )
    return model


def pinocchio_coordinates(case: Case, q: np.ndarray) -> np.ndarray:
    """Return coordinates in Pinocchio's order, in which quaternions are (x, y, z, w)."""
    return (
        q
        if case.joint != "spherical"
        else np.ascontiguousarray(q.reshape(-1, 4)[:, [1, 2, 3, 0]]).ravel()
    )


def pinocchio(case: Case, q: np.ndarray, u: np.ndarray) -> Peer:
    """Return the peer that evaluates Pinocchio's articulated-body algorithm (aba); its residuals
    come from Pinocchio's inverse dynamics.
    """
    import pinocchio as pin

    model = pinocchio_model(case)
    data, q, none, aba = (
        model.createData(),
        pinocchio_coordinates(case, q),
        np.zeros(len(u)),
        pin.aba,
    )

    def call(count: int) -> None:
        for _ in range(count):
            aba(model, data, q, u, none)

    def residual(udot: np.ndarray) -> float:
        size = np.abs(pin.rnea(model, data, q, u, none)).max()
        return float(np.abs(pin.rnea(model, data, q, u, udot)).max() / size)

    return Peer("pinocchio", call, np.array(aba(model, data, q, u, none)), residual)


# -- MuJoCo ---------------------------------------------------------------------------------------------------------------------------------
def mujoco_text(case: Case) -> str:
    """Return a tree as MJCF text with nested body elements."""
    inertial = f'<inertial pos="{numbers(COM)}" mass="{MASS}" fullinertia="{numbers(INERTIA)}"/>'
    inside = [""] * (case.bodies + 1)
    for i in range(case.bodies, 0, -1):
        text = f'<body pos="{numbers(OFFSET)}">{inertial}{mujoco_joints(case, i)}{inside[i]}</body>'
        inside[case.parents[i - 1]] = text + inside[case.parents[i - 1]]
        inside[i] = ""
    flags = '<flag contact="disable" constraint="disable" sensor="disable"/>'
    return f'<mujoco><size memory="16M"/><option gravity="0 0 -{GRAVITY}">{flags}</option><worldbody>{inside[0]}</worldbody></mujoco>'


def mujoco_joints(case: Case, i: int) -> str:
    """Return the MJCF elements of joint i: one hinge, two hinges, or a ball."""
    if case.joint == "spherical":
        return '<joint type="ball"/>'
    axes = case.axes(i)[: 1 if case.joint == "revolute" else 2]
    return "".join(
        f'<joint type="hinge" axis="{numbers(np.eye(3)[AXES.index(axis)])}"/>' for axis in axes
    )


def numbers(values) -> str:
    return " ".join(str(float(value)) for value in values)


def mujoco(case: Case, q: np.ndarray, u: np.ndarray) -> Peer:
    """Return the peer that evaluates MuJoCo's mj_forward, by composite bodies and a sparse factor
    of the inertia matrix.
    """
    import mujoco as module

    mj: Any = module  # what it offers is known at run time alone
    model = mj.MjModel.from_xml_string(mujoco_text(case))
    data, forward = mj.MjData(model), mj.mj_forward
    order = depth_first(case)
    data.qpos[:] = q.reshape(case.bodies, -1)[order].ravel() if case.bodies else q
    data.qvel[:] = u.reshape(case.bodies, -1)[order].ravel() if case.bodies else u

    def call(count: int) -> None:
        for _ in range(count):
            forward(model, data)

    call(1)
    udot = np.empty_like(u).reshape(case.bodies, -1) if case.bodies else u
    if case.bodies:
        udot[order] = data.qacc.reshape(case.bodies, -1)
    return Peer("mujoco", call, udot.ravel(), None)


def depth_first(case: Case) -> list[int]:
    """Return the bodies (numbered from 0) in MuJoCo's depth-first order."""
    children: list[list[int]] = [[] for _ in range(case.bodies + 1)]
    for i, parent in enumerate(case.parents, 1):
        children[parent].append(i)
    order, stack = [], [*reversed(children[0])]
    while stack:
        i = stack.pop()
        order.append(i - 1)
        stack.extend(reversed(children[i]))
    return order
