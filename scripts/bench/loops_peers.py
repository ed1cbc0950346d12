"""N four-bars in Pinocchio (lcaba, constraintDynamics), MuJoCo (mj_forward) and Exudyn (a run with the generalised alpha method)."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

Timer = Callable[[Callable[[int], object], int], float]
GRAVITY = 9.81


def accelerations(n: int, timed: Timer) -> list[dict]:
    """Return the time per acceleration of the peers that are installed."""
    found = []
    for each in (pinocchio, mujoco):
        try:
            found += each(n, timed)
        except ImportError:
            continue
    return found


def simulations(n: int, stop: float, exact: tuple[float, float], quick: bool) -> list[dict]:
    """Return the runs of Exudyn with several step sizes."""
    try:
        return [
            exudyn(n, stop, steps, exact) for steps in ((500, 4000) if quick else (500, 1000, 4000))
        ]
    except ImportError:
        return []


# -- Pinocchio ------------------------------------------------------------------------------------------------------------------------------
def pinocchio_model(n: int):
    """Return the tree of cranks, each with its coupler, and the loop constraints between the end of
    a coupler and the end of the next crank.
    """
    import pinocchio as pin

    model = pin.Model()
    model.gravity.linear = np.array([0.0, -GRAVITY, 0.0])
    rod = pin.Inertia(1.0, np.array([0.5, 0.0, 0.0]), np.diag([1e-6, 1 / 12, 1 / 12]))
    end = pin.SE3(np.eye(3), np.array([1.0, 0.0, 0.0]))
    cranks, couplers = [], []
    for i in range(n + 1):
        cranks.append(
            model.addJoint(
                0, pin.JointModelRZ(), pin.SE3(np.eye(3), np.array([float(i), 0.0, 0.0])), f"c{i}"
            )
        )
        model.appendBodyToJoint(cranks[-1], rod, pin.SE3.Identity())
        if i < n:
            couplers.append(model.addJoint(cranks[-1], pin.JointModelRZ(), end, f"b{i}"))
            model.appendBodyToJoint(couplers[-1], rod, pin.SE3.Identity())
    loops = pin.StdVec_RigidConstraintModel()
    for i in range(n):
        loops.append(
            pin.RigidConstraintModel(
                pin.ContactType.CONTACT_3D,
                model,
                couplers[i],
                end,
                cranks[i + 1],
                end,
                pin.ReferenceFrame.LOCAL,
            )
        )
    q = np.array(
        [np.pi / 2 if name.startswith("c") else -np.pi / 2 for name in list(model.names)[1:]]
    )
    v = np.array([-1.0 if name.startswith("c") else 1.0 for name in list(model.names)[1:]])
    return model, loops, q, v


def pinocchio(n: int, timed: Timer) -> list[dict]:
    """Return Pinocchio's times with loops as 3D point constraints, the cheapest form that Pinocchio
    has for them.
    """
    import pinocchio as pin

    settings = pin.ProximalSettings(1e-12, 1e-6, 3)
    overhead = call_overhead(timed)
    found = []
    for name in ("lcaba", "constraintDynamics"):
        model, loops, q, v = pinocchio_model(n)
        data = model.createData()
        datas = pin.StdVec_RigidConstraintData()
        for loop in loops:
            datas.append(loop.createData())
        tau = np.zeros(model.nv)
        if name == "lcaba":
            pin.computeJointMinimalOrdering(model, data, loops)
            call = pin.lcaba
        else:
            pin.initConstraintDynamics(model, data, loops, datas)
            call = pin.constraintDynamics

        def evaluate(
            count: int, call=call, arguments=(model, data, q, v, tau, loops, datas, settings)
        ) -> None:
            for _ in range(count):
                call(*arguments)

        found.append(
            {
                "method": f"pinocchio {name}",
                "loops": n,
                "us": timed(evaluate, max(20, 2000 // n)) - overhead,
                "overhead": overhead,
            }
        )
    return found


def call_overhead(timed: Timer) -> float:
    """Return the time [µs] of a call on a model of one body."""
    import pinocchio as pin

    model = pin.Model()
    model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "j")
    model.appendBodyToJoint(
        1, pin.Inertia(1.0, np.array([0.5, 0.0, 0.0]), np.eye(3)), pin.SE3.Identity()
    )
    data = model.createData()
    x = np.zeros(1)

    def evaluate(count: int) -> None:
        for _ in range(count):
            pin.aba(model, data, x, x, x)

    return timed(evaluate, 2000)


# -- MuJoCo ---------------------------------------------------------------------------------------------------------------------------------
def mujoco(n: int, timed: Timer) -> list[dict]:
    """Return the time of MuJoCo's mj_forward with the loops as soft connect constraints."""
    import mujoco as module

    mj: Any = module  # what it offers is known at run time alone
    inertia = '<inertial pos="0.5 0 0" mass="1" diaginertia="0.001 0.0833333 0.0833333"/>'
    bodies, pins = "", ""
    for i in range(n + 1):
        inner = ""
        if i < n:
            inner = f'<body name="b{i}" pos="1 0 0"><joint axis="0 0 1"/>{inertia}</body>'
            pins += f'<connect body1="b{i}" body2="c{i + 1}" anchor="1 0 0"/>'
        bodies += f'<body name="c{i}" pos="{i} 0 0"><joint axis="0 0 1"/>{inertia}{inner}</body>'
    text = f'<mujoco><option gravity="0 -{GRAVITY} 0" jacobian="sparse"/><worldbody>{bodies}</worldbody><equality>{pins}</equality></mujoco>'
    model = mj.MjModel.from_xml_string(text)
    data = mj.MjData(model)
    names = [
        mj.mj_id2name(model, mj.mjtObj.mjOBJ_BODY, model.jnt_bodyid[j]) for j in range(model.njnt)
    ]
    data.qpos[:] = [np.pi / 2 if name.startswith("c") else -np.pi / 2 for name in names]
    data.qvel[:] = [-1.0 if name.startswith("c") else 1.0 for name in names]

    def evaluate(count: int) -> None:
        for _ in range(count):
            mj.mj_forward(model, data)

    return [
        {
            "method": "mujoco mj_forward (soft)",
            "loops": n,
            "us": timed(evaluate, max(20, 2000 // n)) - 0.3,
        }
    ]


# -- Exudyn ---------------------------------------------------------------------------------------------------------------------------------
def exudyn(n: int, stop: float, steps: int, exact: tuple[float, float]) -> dict:
    """Return a run of Exudyn with plane rigid bodies and revolute joints, by generalised alpha of
    index 2.
    """
    import exudyn
    from exudyn.utilities import (
        Force,
        MarkerBodyPosition,
        NodeRigidBody2D,
        ObjectGround,
        RevoluteJoint2D,
        RigidBody2D,
    )

    exu: Any = exudyn  # what it offers is known at run time alone
    container = exu.SystemContainer()
    mbs = container.AddSystem()
    ground = mbs.AddObject(ObjectGround())
    ends = []

    def bar(x: float, y: float, angle: float, velocity: list[float]) -> tuple[Any, Any]:
        node: Any = mbs.AddNode(
            NodeRigidBody2D(referenceCoordinates=[x, y, angle], initialVelocities=velocity)
        )
        body = mbs.AddObject(RigidBody2D(physicsMass=1.0, physicsInertia=1 / 12, nodeNumber=node))
        mbs.AddLoad(
            Force(
                markerNumber=mbs.AddMarker(MarkerBodyPosition(bodyNumber=body)),
                loadVector=[0, -GRAVITY, 0],
            )
        )
        low, high = (
            mbs.AddMarker(MarkerBodyPosition(bodyNumber=body, localPosition=[s, 0, 0]))
            for s in (-0.5, 0.5)
        )
        return low, high

    for i in range(n + 1):
        low, high = bar(i, 0.5, np.pi / 2, [0.5, 0, -1.0])
        base = mbs.AddMarker(MarkerBodyPosition(bodyNumber=ground, localPosition=[i, 0, 0]))
        mbs.AddObject(RevoluteJoint2D(markerNumbers=[base, low]))
        ends.append(high)
    for i in range(n):
        left, right = bar(i + 0.5, 1.0, 0.0, [1.0, 0, 0])
        mbs.AddObject(RevoluteJoint2D(markerNumbers=[ends[i], left]))
        mbs.AddObject(RevoluteJoint2D(markerNumbers=[right, ends[i + 1]]))
    mbs.Assemble()
    settings = exu.SimulationSettings()
    settings.timeIntegration.numberOfSteps = steps
    settings.timeIntegration.endTime = stop
    settings.timeIntegration.verboseMode = 0
    settings.solutionSettings.writeSolutionToFile = False
    settings.timeIntegration.generalizedAlpha.useIndex2Constraints = True
    settings.timeIntegration.generalizedAlpha.useNewmark = True
    clock = time.thread_time()
    mbs.SolveDynamic(settings)
    seconds = time.thread_time() - clock
    tip = mbs.GetMarkerOutput(ends[0], exu.OutputVariableType.Position)
    error = float(max(abs(tip[0] - exact[0]), abs(tip[1] - exact[1])))
    return {
        "method": f"exudyn, {steps} steps",
        "steps": steps,
        "loops": n,
        "stop": stop,
        "seconds": seconds,
        "error": error,
    }
