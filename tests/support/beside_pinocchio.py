"""A URDF file as we read it beside Pinocchio, at random states, without the friction, damping and followers it leaves out."""

from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from kinetree.models import load
from kinetree.models.foreign.urdf import describe

PARTS = ("x", "y", "z", "qw", "qx", "qy", "qz")


def differences(path: Path, floating: bool, states: int = 3) -> dict[str, float]:
    """What Pinocchio's inverse dynamics leaves of the forces at our accelerations, beside the largest; differences of energies and of the mass."""
    d, _ = describe(path, floating=floating)
    for name in ("forces", "couplings"):
        d.pop(name, None)
    system = load(d).compile()
    model = (
        pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
        if floating
        else pin.buildModelFromUrdf(str(path))
    )
    data, rng = model.createData(), np.random.default_rng(5)
    moving = float(sum(inertia.mass for inertia in model.inertias[1:]))
    ours = sum(
        float(body["mass"]) for name, body in d["bodies"].items() if floating or not stands(d, name)
    )
    found = {
        "forces": 0.0,
        "kinetic": 0.0,
        "potential": 0.0,
        "mass": abs(ours - moving) / (moving or 1.0),
    }
    low = None
    for _ in range(states if system.n else 0):
        q, u = (np.array(part) for part in system.start())
        their_q, v, a, places = pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv), []
        for joint, name in list(zip(model.joints, model.names, strict=True))[1:]:
            places += place(system, joint, name, rng, q, u, their_q, v)
        mine, theirs = np.array(places).T
        a[theirs] = system.accelerations(0.0, q, u)[mine]
        size = np.abs(pin.rnea(model, data, their_q, v, np.zeros(model.nv))).max() or 1.0
        found["forces"] = max(
            found["forces"],
            float(np.abs(pin.rnea(model, data, their_q, v, a)[theirs]).max() / size),
        )
        kinetic, potential = system.energy(0.0, q, u)
        expected = pin.computeKineticEnergy(model, data, their_q, v)
        found["kinetic"] = max(found["kinetic"], abs(kinetic - expected) / (expected or 1.0))
        own = potential - pin.computePotentialEnergy(
            model, data, their_q
        )  # but for what stands on the ground
        low = own if low is None else low
        found["potential"] = max(
            found["potential"], abs(own - low) / (abs(potential) + 9.81 * moving or 1.0)
        )
    return found


def stands(d: dict[str, Any], body: str) -> bool:
    """Whether a body stands on the ground."""
    joint = next(joint for joint in d["joints"].values() if joint["child"] == body)
    return joint.get("type") == "rigid" and (
        joint.get("parent", "ground") == "ground" or stands(d, joint["parent"])
    )


def place(
    system: Any, joint: Any, name: str, rng: np.random.Generator, q, u, their_q, v
) -> list[tuple[int, int]]:
    """A random state of one joint for both; one that is held here rests there."""
    if name == "root_joint":
        turn = rng.normal(size=4)
        turn /= np.linalg.norm(turn)
        at = rng.normal(size=3)
        first, k = system.coordinates.index("root_joint.x"), system.speeds.index("root_joint.vx")
        q[first : first + 7] = *at, *turn
        their_q[joint.idx_q : joint.idx_q + 7] = *at, *turn[1:], turn[0]
        u[k : k + 6] = v[joint.idx_v : joint.idx_v + 6] = rng.normal(size=6)
        return [(k + n, joint.idx_v + n) for n in range(6)]
    if name not in system.coordinates:
        return []
    k, angle = system.speeds.index(f"der({name})"), rng.uniform(-1, 1)
    q[system.coordinates.index(name)], u[k] = angle, rng.normal()
    their_q[joint.idx_q : joint.idx_q + joint.nq] = (
        (np.cos(angle), np.sin(angle)) if joint.nq == 2 else angle
    )
    v[joint.idx_v] = u[k]
    return [(k, joint.idx_v)]
