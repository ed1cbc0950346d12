"""Plane mechanisms of the library in Pinocchio: hinges about z and loop closures at points, with
masses and positions from the description.

Gravity, forces and drives are left out on both sides; the accelerations of a moving state are
compared before anything is timed.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kinetree.models import load
from kinetree.models.compilation.compile import parameter_values
from kinetree.models.expressions.parse import evaluate_constant
from kinetree.models.specialised.specialised_system import Specialised
from kinetree.models.system.system import System
from kinetree.scripts.bench.loops_peers import call_overhead

PLANE = ("four-bar", "six-bar", "andrews")
AGREED = 1e-6  # of the largest acceleration
LEAST = 1e-12  # moment of inertia that Pinocchio wants of rods about their axis; it does not matter in the plane
Timer = Callable[[Callable[[int], object], int], float]


def unloaded(name: str) -> System:
    """Return a mechanism of the library with neither gravity nor forces; as in the peers the hinges
    that close its loops have no coordinates.
    """
    source = load(f"lib:{name}").description.model_dump(exclude_unset=True)
    source = {
        key: value
        for key, value in source.items()
        if key in ("format", "name", "parameters", "bodies", "joints")
    }
    source |= {"gravity": [0, 0, 0]}
    for joint in load(source).compile().cut_joints:
        source["joints"] = {**source["joints"], joint: without_angle(source["joints"][joint])}
    return load(source).compile()


def without_angle(joint: dict[str, Any]) -> dict[str, Any]:
    """Return a hinge about z between shifts as a joint whose angle nothing names."""
    shifts = [each.get("shift") for each in joint["transforms"]]
    turn = shifts.index(None)
    (before, after) = (
        next(iter(part), (0.0, 0.0, 0.0)) for part in (shifts[:turn], shifts[turn + 1 :])
    )
    assert not any(joint.get("at", ())) and len(shifts) <= 3, "one shift before and one behind"
    places = {"at": before, "child_at": [f"-({part})" for part in after]}
    return {key: joint[key] for key in ("parent", "child")} | {"type": "revolute"} | places


class Plane:
    """A plane mechanism as a Pinocchio model."""

    def __init__(self, system: System):
        import pinocchio as pin

        self.system, self.model, self.body = system, pin.Model(), {"ground": 0}
        self.values = parameter_values(system.description)
        self.model.gravity.linear = np.zeros(3)
        self.loops = pin.StdVec_RigidConstraintModel()
        joints, cut = system.description.joints, set(system.cut_joints)
        self.coordinates: list[str] = []
        waiting = [name for name in joints if name not in cut]
        while waiting:
            name = next(each for each in waiting if (joints[each].parent or "ground") in self.body)
            waiting.remove(name)
            self.add(joints[name], False)
        for name in cut:
            self.add(joints[name], True)
        self.places = [system.coordinates.index(name) for name in self.coordinates]

    def numbers(self, vector: Sequence[Any]) -> np.ndarray:
        return np.array([evaluate_constant(each, self.values) for each in vector])

    def add(self, joint: Any, closes: bool) -> None:
        """Add a hinge with its body, or the point at which a hinge closes a loop."""
        import pinocchio as pin

        before, after, turn = self.numbers(joint.at), -self.numbers(joint.child_at), None
        for each in joint.transforms or ():
            if each.coordinate is not None:
                turn = each.coordinate
            elif turn is None:
                before = before + self.numbers(each.shift)
            else:
                after = after + self.numbers(each.shift)
        parent, one = self.body[joint.parent or "ground"], np.eye(3)
        if closes:
            ends = (
                self.model,
                parent,
                pin.SE3(one, before),
                self.body[joint.child],
                pin.SE3(one, -after),
                pin.ReferenceFrame.LOCAL,
            )
            self.loops.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, *ends))
            return
        assert turn is not None and not after.any(), "a hinge about z at the origin of its body"
        child = self.model.addJoint(parent, pin.JointModelRZ(), pin.SE3(one, before), joint.child)
        body = self.system.description.bodies[joint.child]
        xx, yy, zz, xy, xz, yz = self.numbers(body.inertia or (0.0,) * 6)
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) + LEAST * one
        mass = evaluate_constant(body.mass, self.values)
        self.model.appendBodyToJoint(
            child, pin.Inertia(mass, self.numbers(body.com), tensor), pin.SE3.Identity()
        )
        self.body[joint.child] = child
        self.coordinates.append(turn)


def accelerations(name: str, timed: Timer) -> list[dict[str, Any]]:
    """Return the times of one mechanism by our engine, our straight-line code and Pinocchio's
    lcaba.
    """
    import pinocchio as pin

    system = unloaded(name)
    q, u = system.start()
    if not u.any():
        q, u = system.project(0.0, q, np.ones(system.n))
    ours, fast = system.accelerations(0.0, q, u), Specialised(system)
    repeat = system._fast.entry("repeat")
    row = {"loops": len(system.cut_joints), "bodies": len(system.bodies), "mechanism": name}
    found = [{**row, "method": "kinetree", "us": timed(lambda count: repeat(count, 0.0), 2000)}]
    found.append({**row, "method": "kinetree straight-line", "us": 1e6 * fast.times["specialised"]})
    plane = Plane(system)
    data, datas, settings = (
        plane.model.createData(),
        pin.StdVec_RigidConstraintData(),
        pin.ProximalSettings(1e-12, 1e-6, 3),
    )
    for loop in plane.loops:
        datas.append(loop.createData())
    pin.computeJointMinimalOrdering(plane.model, data, plane.loops)
    arguments = (
        plane.model,
        data,
        q[plane.places],
        u[plane.places],
        np.zeros(plane.model.nv),
        plane.loops,
        datas,
        settings,
    )
    deviation = float(np.abs(pin.lcaba(*arguments) - ours[plane.places]).max() / np.abs(ours).max())

    def evaluate(count: int) -> None:
        for _ in range(count):
            pin.lcaba(*arguments)

    us = timed(evaluate, 500) - call_overhead(timed)
    found.append({**row, "method": "pinocchio lcaba", "us": us, "deviation": deviation})
    return found
