"""MJCF features beyond trees: equality constraints as loops and couplings, actuators as inputs, and
a list of what is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.models.foreign.robot import numbers, place, quoted

if TYPE_CHECKING:
    from kinetree.models.foreign.mjcf import Reader

CONNECT, WELD, JOINT = 0, 1, 2
ON_JOINT, IN_PARENT = 0, 1  # transmissions
SLIDE = 2  # from this kind on joints have one coordinate
DIRECT, INTEGRATOR, FILTER, EXACT_FILTER = 0, 1, 2, 3  # activation
FIXED, AFFINE = 0, 1  # gains; a bias counts NONE = 0, AFFINE = 1


BENT = {  # what newer versions of MuJoCo have
    "jnt_stiffnesspoly": "terms of higher order in the springs",
    "dof_dampingpoly": "terms of higher order in the damping",
    "actuator_dampingpoly": "terms of higher order in the damping",
    "actuator_delay": "delays",
    "actuator_actearly": "activation a step ahead",
    "jnt_springyield": "yielding of the springs",
}
# what <flag> disables
(
    NO_CONSTRAINT,
    NO_EQUALITY,
    NO_FRICTION,
    NO_LIMIT,
    NO_CONTACT,
    NO_SPRING,
    NO_DAMPER,
    NO_GRAVITY,
    NO_CLAMP,
) = (1 << k for k in range(9))
NO_ACTUATION = 1 << 11


def disabled(model: Any, *flags: int) -> bool:
    """Return whether the model's options disable one of the given features."""
    return any(int(model.opt.disableflags) & flag for flag in flags)


def take_motors(model: Any) -> None:
    """Add reflected inertia and damping of actuators to their joints in the MuJoCo model."""
    for k in range(model.nu):
        if (
            model.actuator_trntype[k] in (ON_JOINT, IN_PARENT)
            and model.jnt_type[model.actuator_trnid[k, 0]] >= SLIDE
        ):
            dof = model.jnt_dofadr[model.actuator_trnid[k, 0]]
            for motor, joint in (
                ("actuator_armature", "dof_armature"),
                ("actuator_damping", "dof_damping"),
            ):
                getattr(model, joint)[dof] += (
                    getattr(model, motor, np.zeros(model.nu))[k] * model.actuator_gear[k, 0] ** 2
                )


def switch_off(model: Any) -> None:
    """Set the quantities to zero that the model's option flags disable."""
    if disabled(model, NO_GRAVITY):
        model.opt.gravity[:] = 0.0
    for flags, names in (
        ((NO_SPRING,), ("jnt_stiffness",)),
        ((NO_DAMPER,), ("dof_damping",)),
        ((NO_FRICTION, NO_CONSTRAINT), ("dof_frictionloss",)),
        ((NO_LIMIT, NO_CONSTRAINT), ("jnt_limited",)),
        ((NO_EQUALITY, NO_CONSTRAINT), ("eq_active0",)),
        ((NO_CLAMP,), ("actuator_ctrllimited",)),
    ):
        if disabled(model, *flags):
            for name in names:
                getattr(model, name)[:] = 0


def add_equalities(reader: Reader) -> None:
    """Convert connections and welds to loops, and joint equalities to couplings."""
    model, sheet = reader.model, reader.sheet
    for k in range(model.neq):
        kind, a, b, data = (
            model.eq_type[k],
            model.eq_obj1id[k],
            model.eq_obj2id[k],
            model.eq_data[k],
        )
        name = model.equality(k).name or f"equality{k}"
        if not model.eq_active0[k]:
            sheet.left_out.append(f"equality '{name}', which is switched off")
        elif kind == JOINT:
            add_joint_equality(reader, name, a, b, data)
        elif (
            kind in (CONNECT, WELD) and model.eq_objtype[k] == 1
        ):  # between bodies, not between sites
            close(reader, name, kind, a, b, data)
        else:
            sheet.left_out.append(f"equality '{name}', which is of a kind not known here")


def close(reader: Reader, name: str, kind: int, a: int, b: int, data: Any) -> None:
    """Add a loop-closing joint between two bodies."""
    from kinetree.models.foreign.mjcf import matrix

    sheet = reader.sheet
    first, R1, r1 = reader.carrier[a]
    second, R2, r2 = reader.carrier[b]
    joint: dict[str, Any] = {"parent": reader.names[first], "child": reader.names[second]}
    if kind == CONNECT:
        joint |= {
            "type": "spherical",
            "at": numbers(R1 @ data[0:3] + r1),
            "child_at": numbers(R2 @ data[3:6] + r2),
        }
    else:  # data: anchor in b, then position and orientation of b in a
        anchor, offset, turn = data[0:3], data[3:6], matrix(data[6:10])
        joint |= {"type": "rigid"} | place(
            R1 @ turn @ R2.T, R1 @ (offset) + r1 - R1 @ turn @ R2.T @ (R2 @ anchor + r2)
        )
    if joint["parent"] == joint["child"]:
        sheet.left_out.append(f"equality '{name}' between parts of one body")
        return
    sheet.joints[sheet.fresh(name, "joint", sheet.joints)] = joint


def add_joint_equality(reader: Reader, name: str, a: int, b: int, data: Any) -> None:
    """Add the coupling q_a - q_a0 = c0 + c1 (q_b - q_b0) + ... up to the fourth power."""
    model, sheet = reader.model, reader.sheet
    if a not in reader.coordinates or (b >= 0 and b not in reader.coordinates):
        sheet.left_out.append(f"equality '{name}' of joints that have no single coordinate")
        return

    def change(joint: int) -> str:
        zero = float(model.qpos0[model.jnt_qposadr[joint]])
        text = quoted(reader.coordinates[joint])
        return f"({text} - {zero!r})" if zero else text

    terms = [f"{float(data[0])!r}"]
    if b >= 0:
        terms += [
            f"{float(data[k])!r}*{change(b)}" + (f"**{k}" if k > 1 else "")
            for k in range(1, 5)
            if data[k]
        ]
    sheet.couplings[name] = {"value": f"{change(a)} - ({' + '.join(terms)})"}


def add_actuators(reader: Reader) -> None:
    """Add an input and a force gear (gain u + bias) for each joint actuator; actuators with common
    bounds share one force.
    """
    model, sheet = reader.model, reader.sheet
    together: dict[int, list[str]] = {}
    for k in range(model.nu):
        name = sheet.fresh(reader.name("actuator", k), "command", sheet.inputs, value=True)
        joint = int(model.actuator_trnid[k, 0])
        known = (
            model.actuator_trntype[k] in (ON_JOINT, IN_PARENT)
            and joint in reader.coordinates
            and model.actuator_gaintype[k] in (FIXED, AFFINE)
            and model.actuator_biastype[k] in (0, AFFINE)
            and model.actuator_dyntype[k] in (DIRECT, INTEGRATOR, FILTER, EXACT_FILTER)
        )
        if not known:
            sheet.left_out.append(f"actuator '{name}', which is of a kind not known here")
            continue
        if (
            disabled(model, NO_ACTUATION)
            or int(model.opt.disableactuator) >> int(model.actuator_group[k]) & 1
        ):
            sheet.left_out.append(f"actuator '{name}', which is switched off")
            continue
        sheet.inputs[name] = {"start": 0.0}
        force = law(reader, k, name, reader.coordinates[joint])
        if model.jnt_actfrclimited[joint]:
            together.setdefault(joint, []).append(force)
        else:
            sheet.forces[f"{name}.force"] = {
                "coordinate": reader.coordinates[joint],
                "value": force,
            }
    for joint, forces in together.items():
        coordinate = reader.coordinates[joint]
        sum_ = " + ".join(f"({force})" for force in forces)
        sheet.forces[f"{coordinate}.actuators"] = {
            "coordinate": coordinate,
            "value": limited(sum_, True, model.jnt_actfrcrange[joint]),
        }


def law(reader: Reader, k: int, name: str, coordinate: str) -> str:
    """Return the force of an actuator along a coordinate as an expression."""
    model = reader.model
    gear = float(model.actuator_gear[k, 0])
    length, speed = f"({gear!r}*{quoted(coordinate)})", f"({gear!r}*der({quoted(coordinate)}))"
    command = limited(quoted(name), model.actuator_ctrllimited[k], model.actuator_ctrlrange[k])
    if model.actuator_dyntype[k] != DIRECT:
        state = f"{name}.activation"
        lag = float(model.actuator_dynprm[k, 0])
        rate = (
            command
            if model.actuator_dyntype[k] == INTEGRATOR
            else f"({command} - {quoted(state)})/{max(lag, 1e-10)!r}"
        )
        reader.sheet.states[state] = {"rate": rate}
        command = limited(quoted(state), model.actuator_actlimited[k], model.actuator_actrange[k])

    def affine(p: np.ndarray, kind: int) -> str:
        terms = [f"{float(p[0])!r}"] + (
            [f"{float(p[1])!r}*{length}", f"{float(p[2])!r}*{speed}"] if kind == AFFINE else []
        )
        return " + ".join(terms)

    gain, bias = model.actuator_gainprm[k], model.actuator_biasprm[k]
    force = f"({affine(gain, model.actuator_gaintype[k])})*{command}"
    if model.actuator_biastype[k] == AFFINE:
        force += f" + {affine(bias, AFFINE)}"
    return f"{gear!r}*{limited(f'({force})', model.actuator_forcelimited[k], model.actuator_forcerange[k])}"


def limited(text: str, is_limited: Any, bounds: Any) -> str:
    return f"min(max({text}, {float(bounds[0])!r}), {float(bounds[1])!r})" if is_limited else text


def say_left_out(reader: Reader, limits: bool) -> None:
    """List the features of the MuJoCo model that have no counterpart."""
    model, say = reader.model, reader.sheet.left_out.append
    colliding = int(((model.geom_contype != 0) | (model.geom_conaffinity != 0)).sum())
    if colliding and not disabled(model, NO_CONTACT, NO_CONSTRAINT):
        say(f"contacts of {colliding} geoms")
    if (model.geom_type == 7).any():
        say(f"looks of {int((model.geom_type == 7).sum())} meshes")
    if model.ntendon:
        say(f"{model.ntendon} tendons")
    if not limits:
        reader.sheet.without_stops(int(model.jnt_limited.sum()))
    if model.opt.density or model.opt.viscosity:
        say("forces of the surrounding fluid")
    for name, what in BENT.items():
        values = np.asarray(getattr(model, name, ()), dtype=float)
        if values.any():
            owner = "actuators" if name.startswith("actuator") else "joints"
            say(f"{what} of {int(values.reshape(len(values), -1).any(axis=1).sum())} {owner}")
    if getattr(model, "nflex", 0):
        say(f"{model.nflex} flexible bodies")
