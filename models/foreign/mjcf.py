"""MJCF as a description, read by MuJoCo's own compiler, which handles defaults, includes and
inertias from shapes.

A body has MuJoCo's frame; several joints of one body become one joint with several coordinates.
Contacts, tendons and soft limits are force models of MuJoCo; they are left out and listed.
"""

from __future__ import annotations

from functools import partial
from math import prod
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError, iterparse

import numpy as np

from kinetree.models.description.reading.read_source import LARGEST_ROBOT
from kinetree.models.foreign.display_shapes import MOST_SHAPES, geom_shape, posed
from kinetree.models.foreign.mjcf_extras import (
    add_actuators,
    add_equalities,
    say_left_out,
    switch_off,
    take_motors,
)
from kinetree.models.foreign.robot import ROBOT_ARGUMENTS, Lump, Sheet, numbers, place, refused
from kinetree.models.foreign.xml_file import check_xml
from kinetree.models.language.plain_files import fault_of

FREE, BALL, SLIDE, HINGE = range(4)
MOST_ELEMENTS = 200_000
ARGUMENTS = ROBOT_ARGUMENTS
COPIERS = ("replicate", "composite", "flexcomp")  # elements that stand for several


refuse = partial(refused, kind="a model in MJCF")


def parsed(path: Path) -> Any:
    """Return the compiled MuJoCo model of an MJCF file."""
    try:
        import mujoco
    except ImportError:
        raise refuse(
            str(path),
            "a file that needs the package mujoco",
            hint="install it with 'pip install kinetree[robots]'",
        ) from None
    module: Any = mujoco  # what it offers is known at run time alone
    if (made := elements_of(path)) > MOST_ELEMENTS:
        raise refuse(
            str(path),
            f"{made} elements with all copies",
            hint=f"at most {MOST_ELEMENTS} are read",
        )
    check_xml(path, "a model in MJCF")
    try:
        return module.MjModel.from_xml_path(str(path))
    except (ValueError, RuntimeError, OSError) as error:
        raise refuse(
            str(path), f"what MuJoCo cannot compile: {' '.join(str(error).split())}"
        ) from None


def elements_of(path: Path, above: tuple[Path, ...] = ()) -> int:
    """Return the number of XML elements, with included files and repetitions; 0 if the file is not
    XML.
    """
    if path in above or not path.is_file() or fault_of(path, LARGEST_ROBOT):
        return 0
    total, times = 0, [1]
    try:
        for event, element in iterparse(path, ("start", "end")):
            if event == "start":
                total += times[-1]
                if element.tag == "include":
                    beside = path.parent / element.get("file", "")
                    total += times[-1] * elements_of(beside.resolve(), (*above, path))
                copies = element.get("count", "1").split() if element.tag in COPIERS else []
                times.append(times[-1] * prod(max(1, int(float(each))) for each in copies))
            else:
                times.pop()
                element.clear()
            if total > MOST_ELEMENTS or times[-1] > MOST_ELEMENTS:
                return max(total, times[-1])
    except (ParseError, ValueError, OverflowError, OSError):  # MuJoCo says it better
        return total
    return total


def describe(
    path: Path, limits: bool = False, torques: bool = False, keep_fixed: bool = False
) -> tuple[dict, list[str]]:
    """Return the description of an MJCF model and a list of what was left out."""
    model = parsed(path)
    take_motors(model)
    switch_off(model)
    sheet = Sheet(model_name(model) or path.stem, path.name, gravity=numbers(model.opt.gravity))
    if not model.njnt:
        raise refuse(str(path), "a model in which nothing moves", hint="it has no joints")
    reader = Reader(model, sheet, keep_fixed)
    reader.carry()
    for body in range(1, model.nbody):
        reader.body(body)
    for body in range(1, model.nbody):
        if reader.carrier[body][0] == body:
            reader.joint(body)
    for joint in range(model.njnt):
        reader.rubbing(joint, limits, torques)
    add_equalities(reader)
    add_actuators(reader)
    say_left_out(reader, limits)
    return sheet.description(), sheet.left_out


def model_name(model: Any) -> str:
    return bytes(model.names).split(b"\0")[0].decode("utf-8", "replace")


def matrix(quaternion: Any) -> np.ndarray:
    """Return the rotation matrix of a quaternion w, x, y, z."""
    from scipy.spatial.transform import Rotation

    w, x, y, z = quaternion
    return Rotation.from_quat((x, y, z, w)).as_matrix()


class Reader:
    """The conversion of one MuJoCo model to a description."""

    def __init__(self, model: Any, sheet: Sheet, keep_fixed: bool):
        self.model, self.sheet, self.keep_fixed = model, sheet, keep_fixed
        self.carrier: list[tuple[int, np.ndarray, np.ndarray]] = [
            (0, np.eye(3), np.zeros(3))
        ]  # of every body: who carries it, R, r
        self.names: list[str] = ["ground"]
        self.coordinates: dict[int, str] = {}  # of hinges and slides
        self.unnamed: dict[str, int] = {}

    def name(self, kind: str, index: int) -> str:
        """Return the name of a body, joint or actuator; unnamed ones are numbered."""
        model = self.model
        given = {"body": model.body, "joint": model.joint, "actuator": model.actuator}[kind](
            index
        ).name
        return given or f"{kind}{index}"

    def carry(self) -> None:
        """Merge bodies without joints into their parents."""
        model = self.model
        for body in range(1, model.nbody):
            parent, R, r = self.carrier[model.body_parentid[body]]
            fixed = model.body_jntnum[body] == 0 and not self.keep_fixed
            if fixed:
                self.carrier.append(
                    (parent, R @ matrix(model.body_quat[body]), R @ model.body_pos[body] + r)
                )
            else:
                self.carrier.append((body, np.eye(3), np.zeros(3)))

    def body(self, body: int) -> None:
        """Convert a body with everything merged into it to a body of the description."""
        model = self.model
        if self.carrier[body][0] != body:
            self.names.append("")
            return
        lump = Lump()
        for each in range(body, model.nbody):
            if self.carrier[each][0] == body:
                _, R, r = self.carrier[each]
                own = Lump(
                    float(model.body_mass[each]), np.zeros(3), np.diag(model.body_inertia[each])
                )
                lump = lump.joined(
                    own.moved(matrix(model.body_iquat[each]), model.body_ipos[each]).moved(R, r)
                )
                if model.body_gravcomp[each]:
                    self.hold(
                        each,
                        self.sheet.fresh(self.name("body", body), "body", self.sheet.bodies),
                        R,
                        r,
                    )
        self.names.append(self.sheet.fresh(self.name("body", body), "body", self.sheet.bodies))
        self.sheet.bodies[self.names[body]] = lump.table()
        self.looks(body)

    def looks(self, body: int) -> None:
        """Add the shapes of a body and of those merged with it."""
        model = self.model
        shapes: list[dict[str, Any]] = []
        for geom in range(model.ngeom):
            carrier, R, r = self.carrier[model.geom_bodyid[geom]]
            shape = geom_shape(model, geom) if carrier == body and body else None
            if shape is not None and len(shapes) < MOST_SHAPES:
                shapes.append(
                    posed(shape, R @ matrix(model.geom_quat[geom]), R @ model.geom_pos[geom] + r)
                )
        if shapes:
            self.sheet.bodies[self.names[body]]["shapes"] = shapes

    def hold(self, body: int, carrier: str, R: np.ndarray, r: np.ndarray) -> None:
        """Add the force of gravity compensation of a body."""
        model = self.model
        force = -model.body_gravcomp[body] * model.body_mass[body] * model.opt.gravity
        point = R @ model.body_ipos[body] + r
        self.sheet.forces[f"{self.name('body', body)}.gravcomp"] = {
            "kind": "wrench", "body": carrier, "point": numbers(point), "force": numbers(force)
        }  # fmt: skip

    def joint(self, body: int) -> None:
        """Convert all joints of a body; a ball joint combined with others gets massless bodies in
        between.
        """
        model, sheet = self.model, self.sheet
        parent, R, r = self.carrier[model.body_parentid[body]]
        pose = R @ matrix(model.body_quat[body]), R @ model.body_pos[body] + r
        joints = list(
            range(model.body_jntadr[body], model.body_jntadr[body] + model.body_jntnum[body])
        )
        name, child = self.names[parent], self.names[body]
        groups: list[list[int]] = []
        for joint in joints:
            alone = model.jnt_type[joint] in (FREE, BALL)
            if groups and not alone and model.jnt_type[groups[-1][-1]] not in (FREE, BALL):
                groups[-1].append(joint)
            else:
                groups.append([joint])
        if not groups:
            sheet.joints[sheet.fresh(f"{child}.joint", "joint", sheet.joints)] = {
                "parent": name,
                "child": child,
                "type": "rigid",
            } | place(*pose)
        for k, group in enumerate(groups):
            between = child
            if k < len(groups) - 1:
                between = sheet.fresh(f"{child}.between{k + 1}", "body", sheet.bodies)
                sheet.bodies[between] = {"mass": 0.0}
            self.group(group, name, between, *(pose if k == 0 else (np.eye(3), np.zeros(3))))
            name = between

    def group(
        self, joints: list[int], parent: str, child: str, R: np.ndarray, r: np.ndarray
    ) -> None:
        """Add one joint of the description for a ball joint, a free joint, or a sequence of hinges
        and slides.
        """
        model, sheet = self.model, self.sheet
        first = joints[0]
        name = sheet.fresh(self.name("joint", first), "joint", sheet.joints)
        table: dict[str, Any] = {"parent": parent, "child": child}
        sheet.joints[name] = table
        q = model.qpos0[model.jnt_qposadr[first] :]
        if model.jnt_type[first] == FREE:
            table |= {"type": "free", "start": numbers(q[:7])}
            armature = float(model.dof_armature[model.jnt_dofadr[first] :][:6].max())
            if armature:  # inertia without weight that only translates has no counterpart
                sheet.left_out.append(f"armature {armature:g} of the free joint '{name}'")
        elif model.jnt_type[first] == BALL:
            anchor = model.jnt_pos[first]
            self.rotors(table, joints)
            table |= (
                {"type": "spherical"}
                | place(R, R @ anchor + r)
                | ({"child_at": numbers(anchor)} if anchor.any() else {})
            )
        else:
            transforms = [{"shift": numbers(r)}] if r.any() else []
            turned = place(R, np.zeros(3)).get("frame", [])
            self.rotors(table, joints)
            table["transforms"] = [
                *transforms,
                *turned,
                *(each for joint in joints for each in self.moving(joint)),
            ]

    def rotors(self, table: dict[str, Any], joints: list[int]) -> None:
        """Add the reflected inertias of motors to a joint."""
        model = self.model
        found = [
            float(value)
            for joint in joints
            for value in model.dof_armature[model.jnt_dofadr[joint] :][
                : 3 if model.jnt_type[joint] == BALL else 1
            ]
        ]
        if any(found):
            table["rotor_inertia"] = found

    def moving(self, joint: int) -> list[dict[str, Any]]:
        """Return a hinge about its anchor, or a slide, measured from the model's reference
        position.
        """
        model = self.model
        axis, anchor = numbers(model.jnt_axis[joint]), model.jnt_pos[joint]
        zero = float(model.qpos0[model.jnt_qposadr[joint]])
        name = self.sheet.fresh(self.name("joint", joint), "coordinate", value=True)
        self.coordinates[joint] = name
        motion = "rotate" if model.jnt_type[joint] == HINGE else "shift"
        found: list[dict[str, Any]] = [
            {motion: axis, "coordinate": name} | ({"start": zero} if zero else {})
        ]
        if zero:
            found.insert(0, {motion: axis, "by": -zero})
        if anchor.any() and motion == "rotate":
            found = [{"shift": numbers(anchor)}, *found, {"shift": numbers(-anchor)}]
        return found

    def rubbing(self, joint: int, limits: bool, torques: bool) -> None:
        """Add spring, damping, friction, stops and drive of one joint."""
        model, sheet = self.model, self.sheet
        dof = model.jnt_dofadr[joint]
        name = self.coordinates.get(joint)
        if name is None:
            if model.dof_damping[dof] or model.jnt_stiffness[joint] or model.dof_frictionloss[dof]:
                sheet.left_out.append(
                    f"spring, damping or friction of joint '{self.name('joint', joint)}', which is a ball or free"
                )
            return
        sheet.rubbing(name, float(model.dof_damping[dof]), float(model.dof_frictionloss[dof]))
        if model.jnt_stiffness[joint]:
            rest = float(model.qpos_spring[model.jnt_qposadr[joint]])
            sheet.forces[f"{name}.spring"] = {
                "coordinate": name,
                "stiffness": float(model.jnt_stiffness[joint]),
                "length": rest,
            }
        if limits and model.jnt_limited[joint]:
            low, high = numbers(model.jnt_range[joint])
            sheet.stop(name, low, high, 0.0)
        if torques:
            sheet.torque(name, "N.m" if model.jnt_type[joint] == HINGE else "N")
