"""An MJCF file as we read it beside MuJoCo, at random states: accelerations, mass and energies without what has no counterpart here.

Contacts, limits, equalities, dry friction, fluid and tendons are switched off in MuJoCo, and equalities and dry friction here; springs, damping,
reflected inertias, compensated weight and actuators on joints stay.
"""

from pathlib import Path
from typing import Any

import mujoco
import numpy as np

import kinetree.models.foreign.mjcf as mjcf
from kinetree.models import load
from kinetree.models.foreign.mjcf_extras import BENT


class Reader(mjcf.Reader):
    """Remembers the names of joints."""

    made: "Reader"

    def __init__(self, *arguments: Any):
        super().__init__(*arguments)
        self.joint_names: dict[int, str] = {}
        Reader.made = self

    def group(self, joints: list[int], *arguments: Any) -> None:
        before = set(self.sheet.joints)
        super().group(joints, *arguments)
        self.joint_names[joints[0]] = (set(self.sheet.joints) - before).pop()


def read(path: Path) -> tuple[dict[str, Any], Reader]:
    """The description and its reader."""
    plain, mjcf.Reader = mjcf.Reader, Reader  # type: ignore[misc]
    try:
        description, _ = mjcf.describe(path)
    finally:
        mjcf.Reader = plain  # type: ignore[misc]
    return description, Reader.made


def shared(path: Path) -> tuple[dict[str, Any], Any, Reader]:
    """What both know: our description, and MuJoCo's model."""
    d, reader = read(path)
    model: Any = mujoco.MjModel.from_xml_path(str(path))
    known = set(reader.joint_names.values())
    rigid = {name for name, joint in d["joints"].items() if joint.get("type") == "rigid"}
    tree = {
        joint["child"]: name
        for name, joint in reversed(list(d["joints"].items()))
        if name in known | rigid
    }
    d["joints"] = {
        name: joint
        for name, joint in d["joints"].items()
        if name in known or tree[joint["child"]] == name
    }
    d.pop("couplings", None)
    d["forces"] = {
        name: smooth(force) for name, force in d.get("forces", {}).items() if smooth(force)
    }
    off = mujoco.mjtDisableBit
    model.opt.disableflags |= int(
        off.mjDSBL_CONTACT | off.mjDSBL_LIMIT | off.mjDSBL_EQUALITY | off.mjDSBL_FRICTIONLOSS
    )
    model.opt.density = model.opt.viscosity = 0.0
    if model.opt.disableflags & off.mjDSBL_GRAVITY:  # for the potential
        model.opt.gravity[:] = 0.0
    for name in (
        *BENT,
        "tendon_stiffness",
        "tendon_damping",
        "tendon_armature",
        "flex_stiffness",
        "flex_bending",
        "flex_damping",
        "flexedge_stiffness",
    ):
        if hasattr(model, name):
            getattr(model, name)[:] = 0.0
    for joint in range(model.njnt):
        if model.jnt_type[joint] in (mjcf.FREE, mjcf.BALL):
            first = model.jnt_dofadr[joint]
            model.dof_damping[first : first + (6 if model.jnt_type[joint] == mjcf.FREE else 3)] = (
                0.0
            )
            model.jnt_stiffness[joint] = 0.0
    for k, name in enumerate(commands(reader)):
        if name not in d.get("inputs", {}):
            model.actuator_gaintype[k] = model.actuator_biastype[k] = 0
            model.actuator_gainprm[k] = model.actuator_biasprm[k] = 0.0
    return d, model, reader


def smooth(force: dict[str, Any]) -> dict[str, Any] | None:
    """A force without dry friction."""
    if force.get("kind") != "friction":
        return force
    return (
        {"coordinate": force["coordinate"], "damping": force["viscous"]}
        if force["viscous"]
        else None
    )


def commands(reader: Reader) -> list[str]:
    """Names of the inputs of all actuators; those we do not know have none."""
    inputs = reader.sheet.inputs
    names = (reader.name("actuator", k) for k in range(reader.model.nu))
    return [f"{name}.command" if f"{name}.command" in inputs else name for name in names]


def differences(path: Path, states: int = 3) -> dict[str, float]:
    """Largest differences, each beside the largest number of its kind: of accelerations, the forces that they take, energies, and the mass."""
    d, model, reader = shared(path)
    system = load(d).compile()
    data = mujoco.MjData(model)
    rng = np.random.default_rng(7)
    found = dict.fromkeys(("accelerations", "forces", "kinetic", "potential", "mass"), 0.0)
    moving = carried_by_joints(model)
    held = [body for body in moving if model.body_mass[body]]
    mass = float(model.body_mass[held].sum())
    found["mass"] = abs(sum(float(body["mass"]) for body in d["bodies"].values()) - mass) / mass
    for _ in range(states):
        q, u = (np.array(part) for part in system.start())
        places: list[tuple[int, int]] = []
        free: list[tuple[int, int]] = []
        for joint in range(model.njnt):
            put(model, data, system, reader, rng, joint, q, u, places, free)
        inputs = {
            name: float(rng.uniform(*bounds(model, k)))
            for k, name in enumerate(commands(reader))
            if name in d.get("inputs", {})
        }
        for k, name in enumerate(commands(reader)):
            data.ctrl[k] = inputs.get(name, 0.0)
        data.act[:] = 0.0
        mujoco.mj_forward(model, data)
        expected = np.array(data.qacc)
        for ours, theirs in free:  # ours in axes of the body, as it is seen from there
            R = data.xmat[model.jnt_bodyid[model.dof_jntid[theirs]]].reshape(3, 3)
            expected[theirs : theirs + 3] = R.T @ expected[theirs : theirs + 3] - np.cross(
                u[ours + 3 : ours + 6], u[ours : ours + 3]
            )
        accelerations = system.accelerations(0.0, q, u, inputs=inputs)
        ours, theirs = np.array(places).T
        left, own = np.zeros(model.nv), np.zeros(model.nv)
        left[theirs] = accelerations[ours] - expected[theirs]
        mujoco.mj_mulM(model, data, own, left)
        size = max(
            np.abs(data.qfrc_bias).max(),
            np.abs(data.qfrc_passive).max(),
            np.abs(data.qfrc_actuator).max(),
        )
        found["forces"] = max(found["forces"], float(np.abs(own).max() / size))
        found["accelerations"] = max(
            found["accelerations"],
            float(np.abs(accelerations[ours] - expected[theirs]).max() / np.abs(expected).max()),
        )
        mujoco.mj_energyVel(model, data)
        kinetic, potential = system.energy(0.0, q, u)
        found["kinetic"] = max(found["kinetic"], abs(kinetic - data.energy[1]) / data.energy[1])
        parts = [-float(model.body_mass[b] * (model.opt.gravity @ data.xipos[b])) for b in moving]
        springs = [
            0.5 * float(model.jnt_stiffness[j]) * float(data.qpos[at] - model.qpos_spring[at]) ** 2
            for j, at in enumerate(model.jnt_qposadr)
        ]
        size = sum(map(abs, (*parts, *springs))) or 1.0
        found["potential"] = max(
            found["potential"], abs(potential - sum(parts) - sum(springs)) / size
        )
    return found


def carried_by_joints(model: Any) -> list[int]:
    """Bodies that some joint moves; bodies that a host places (mocap) stand still here."""
    moves = [False]
    for body in range(1, model.nbody):
        moves.append(bool(model.body_jntnum[body]) or moves[model.body_parentid[body]])
    return [body for body, each in enumerate(moves) if each]


def bounds(model: Any, k: int) -> tuple[float, float]:
    return tuple(model.actuator_ctrlrange[k]) if model.actuator_ctrllimited[k] else (-1.0, 1.0)


def put(
    model: Any,
    data: Any,
    system: Any,
    reader: Reader,
    rng: np.random.Generator,
    joint: int,
    q,
    u,
    places: list,
    free: list,
) -> None:
    """A random state of one joint, for both."""
    kind, at, dof = model.jnt_type[joint], model.jnt_qposadr[joint], model.jnt_dofadr[joint]
    if kind in (mjcf.HINGE, mjcf.SLIDE):
        name = reader.coordinates[joint]
        data.qpos[at], data.qvel[dof] = model.qpos0[at] + rng.normal(0.0, 0.3), rng.normal()
        k = system.speeds.index(f"der({name})")
        q[system.coordinates.index(name)], u[k] = data.qpos[at], data.qvel[dof]
        places.append((k, dof))
        return
    name = reader.joint_names[joint]
    turn = rng.normal(size=4)
    turn /= np.linalg.norm(turn)
    shift = 3 if kind == mjcf.FREE else 0
    data.qpos[at + shift : at + shift + 4], data.qvel[dof + shift : dof + shift + 3] = (
        turn,
        rng.normal(size=3),
    )
    first, k = (
        system.coordinates.index(f"{name}.{'x' if shift else 'qw'}"),
        system.speeds.index(f"{name}.{'vx' if shift else 'wx'}"),
    )
    q[first + shift : first + shift + 4], u[k + shift : k + shift + 3] = (
        turn,
        data.qvel[dof + shift : dof + shift + 3],
    )
    if shift:
        data.qpos[at : at + 3], data.qvel[dof : dof + 3] = rng.normal(size=3), rng.normal(size=3)
        q[first : first + 3], u[k : k + 3] = (
            data.qpos[at : at + 3],
            mjcf.matrix(turn).T @ data.qvel[dof : dof + 3],
        )
        free.append((k, dof))
    places.extend((k + n, dof + n) for n in range(shift + 3))
