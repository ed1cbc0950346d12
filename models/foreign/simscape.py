"""Reader of Simscape Multibody Import XML as exported by CAD programs: parts, instances, joints and
mates.

Programs with the exporter of Simscape Multibody Link write mates (`Constraints`), Onshape writes
joints with frames of their own. Both become joints; what has no counterpart is listed.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from kinetree.models.foreign.assembly import (
    Assembly,
    AssemblyJoint,
    PartPlace,
    Pose,
    X,
    Y,
    Z,
)
from kinetree.models.foreign.display_shapes import hexadecimal
from kinetree.models.foreign.mates import Geometry, Mate, _Rows, conditions
from kinetree.models.foreign.robot import ROBOT_ARGUMENTS, Lump, refused
from kinetree.models.foreign.xml_file import xml_tree

KIND = "an assembly in Simscape Multibody Import XML"
MOST_INSTANCES = 20_000
ARGUMENTS = ROBOT_ARGUMENTS
LENGTHS = {
    "meter": 1.0, "metre": 1.0, "m": 1.0, "millimeter": 1e-3, "mm": 1e-3, "centimeter": 1e-2, "cm": 1e-2, "decimeter": 0.1,
    "micrometer": 1e-6, "um": 1e-6, "nanometer": 1e-9, "angstrom": 1e-10, "kilometer": 1e3,
    "inch": 0.0254, "in": 0.0254, "foot": 0.3048, "ft": 0.3048,
    "yard": 0.9144, "mil": 2.54e-5, "microinch": 2.54e-8, "mile": 1609.344,
}  # fmt: skip
MASSES = {
    "kilogram": 1.0, "kg": 1.0, "gram": 1e-3, "g": 1e-3, "milligram": 1e-6, "mg": 1e-6, "tonne": 1e3, "metricton": 1e3, "ton": 1e3,
    "pound": 0.45359237, "poundmass": 0.45359237, "lbm": 0.45359237, "lb": 0.45359237, "ounce": 0.028349523125, "slug": 14.59390293720636,
}  # fmt: skip
# joints with frames: the type of the format, or elementary motions in the base frame
TYPES = {
    "Revolute": "revolute", "Prismatic": "prismatic", "Cylindrical": "cylindrical", "Planar": "planar", "Spherical": "spherical", "Ball": "spherical",
    "Universal": "universal", "Weld": "rigid", "Fastened": "rigid", "Rigid": "rigid", "SixDof": "free", "SixDOF": "free", "Bushing": "free",
}  # fmt: skip
MOVES: dict[str, Any] = {
    "PinSlot": (("slide", X), ("turn", Z)),
    "Rectangular": (("slide", X), ("slide", Y)),
    "Cartesian": (("slide", X), ("slide", Y), ("slide", Z)),
    "Gimbal": (("turn", X), ("turn", Y), ("turn", Z)),
    "Bearing": (("slide", Z), ("turn", X), ("turn", Y), ("turn", Z)),
    "Telescoping": (("slide", Z), ("turn", X), ("turn", Y), ("turn", Z)),
}

refuse = partial(refused, kind=KIND)


def describe(path: Path, limits: bool = False) -> tuple[dict[str, Any], list[str]]:
    """Return the description of an assembly, and lists of what was left out or assumed."""
    del limits  # such files have none
    return read(path).description()


def read(path: Path) -> Assembly:
    """Return the assembly in a file; raises ModelError if there is none."""
    root = xml_tree(path, KIND)
    if root.tag != "SimscapeMultibodyImportXML":
        raise refuse(str(path), f"the element '{root.tag}'")
    assembly = root.find("RootAssembly")
    if assembly is None:
        raise refuse(str(path), "no RootAssembly")
    try:
        return _Reader(path, root, assembly).read()
    except _Fault as fault:
        raise refuse(str(path), str(fault)) from None


class _Fault(ValueError):
    """Raised for invalid content of the file."""


@dataclass
class _Units:
    length: float
    mass: float


class _Reader:
    """Reads one Simscape Multibody file."""

    def __init__(self, path: Path, root: Element, assembly: Element):
        self.path, self.root, self.top = path, root, assembly
        self.units = self._units(root.find("DataUnits"))
        name = assembly.get("name") or path.stem
        self.found = Assembly(name, path.name)
        self.parts = {each.get("uid", ""): each for each in root.iterfind("Parts/Part")}
        self.assemblies = {
            each.get("uid", ""): each for each in root.iterfind("Assemblies/Assembly")
        }
        self.poses: dict[tuple[str, ...], Pose] = {(): (np.eye(3), np.zeros(3))}
        self.no_mesh: list[str] = []
        self.held: dict[tuple[str, ...], list[str]] = {}  # parts held in an assembly inside

    def read(self) -> Assembly:
        tree = self.top.find("InstanceTree")
        if tree is None or tree.find("Instance") is None:
            raise _Fault("an assembly without instances")
        self._instances(tree, ())
        self._connections(self.top, ())
        self._hold_together()
        if self.no_mesh:
            some = ", ".join(sorted(set(self.no_mesh))[:5])
            self.found.left_out.append(
                f"{len(set(self.no_mesh))} geometry files that are not beside it: {some}"
            )
        if not self.found.parts:
            raise _Fault("an assembly without parts")
        return self.found

    def _units(self, element: Element | None) -> _Units:
        def factor(key: str, known: dict[str, float]) -> float:
            name = "" if element is None else element.get(key, "")
            if name and name.lower() not in known:
                raise _Fault(f"the unit of {key} '{name[:30]}'")
            return known[name.lower()] if name else 1.0

        return _Units(factor("length", LENGTHS), factor("mass", MASSES))

    # -- parts ----------------------------------------------------------------------------------------
    def _instances(self, tree: Element, path: tuple[str, ...]) -> None:
        """Read the instances of an assembly and those nested in them."""
        R, r = self.poses[path]
        for each in tree.iterfind("Instance"):
            if len(self.poses) > MOST_INSTANCES:
                raise _Fault(f"more than {MOST_INSTANCES} instances")
            uid = (*path, each.get("uid", ""))
            A, a = self._transform(each.find("Transform"))
            self.poses[uid] = (R @ A, r + R @ a)
            entity = each.get("entityUid", "")
            name = re.sub(r"\s*<(\d+)>$", r"-\1", each.get("name") or uid[-1]).replace(" ", "_")
            if entity in self.parts:
                grounded = each.get("grounded") == "true"
                self.found.parts["/".join(uid)] = self._part(
                    name, self.parts[entity], uid, grounded
                )
            else:
                self._instances(each, uid)
                if entity in self.assemblies:
                    self._connections(self.assemblies[entity], uid)
                elif each.find("Instance") is None:
                    self.found.left_out.append(f"the instance '{name}', whose part is not there")

    def _part(self, name: str, part: Element, uid: tuple[str, ...], grounded: bool) -> PartPlace:
        path, pose = uid[:-1], self.poses[uid]
        m, length = self.units.mass, self.units.length
        lump = Lump()
        if (given := part.find("MassProperties")) is not None:
            mass = self._numbers(given, "Mass", 1)[0] * m
            com = np.array(self._numbers(given, "CenterOfMass", 3)) * length
            xx, yy, zz, yz, xz, xy = np.array(self._numbers(given, "Inertia", 6)) * m * length**2
            lump = Lump(mass, com, np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
        if grounded and path:
            self.held.setdefault(path, []).append("/".join(uid))
        return PartPlace(name, pose, lump, self._shapes(part), grounded and not path)

    def _hold_together(self) -> None:
        """Weld the parts of each subassembly that is rigid."""
        for first, *others in self.held.values():
            for other in others:
                pose = self.found.parts[other].pose
                joint = AssemblyJoint(f"{first}_{other}", first, other, "rigid", pose, pose)
                self.found.joints.append(joint)

    def _shapes(self, part: Element) -> list[dict[str, Any]]:
        file = part.find("GeometryFile")
        name = "" if file is None else file.get("name", "")
        if not name:
            return []
        path = self.path.parent / name.replace("\\", "/").rpartition("/")[2]
        if not path.is_file():
            self.no_mesh.append(name[:80])
            return []
        shape: dict[str, Any] = {"mesh": str(path.resolve())}
        if path.suffix.lower() not in (".step", ".stp"):
            shape["scale"] = self._units(part.find("ModelUnits")).length
        colour = part.find("VisualProperties/Diffuse")
        if colour is not None:
            rgba = [_real(colour.get(key, "1")) for key in "rgba"]
            shape |= hexadecimal(rgba)
        return [shape]

    # -- joints and mates -----------------------------------------------------------------------------
    def _connections(self, assembly: Element, path: tuple[str, ...]) -> None:
        for joint in assembly.iterfind("Joints/*"):
            self._joint(joint, path)
        for mate in assembly.iterfind("Constraints/*"):
            self._mate(mate, path)

    def _joint(self, joint: Element, path: tuple[str, ...]) -> None:
        name = joint.get("name") or str(joint.tag)
        ends = []
        for key in ("BaseFrame", "FollowerFrame"):
            frame = joint.find(key)
            if frame is None:
                raise _Fault(f"the joint '{name[:60]}' without a {key}")
            uid = self._place(frame, path)
            R, r = self.poses[uid]
            A, a = self._transform(frame.find("Transform"))
            ends.append((uid, (R @ A, r + R @ a)))
        (base, one), (follower, other) = ends
        kind, moves = TYPES.get(str(joint.tag), ""), MOVES.get(str(joint.tag), ())
        if not kind and not moves:
            self.found.left_out.append(f"the joint '{name}' of the type {joint.tag}")
            return
        sides = self._side(base), self._side(follower)
        self.found.joints.append(AssemblyJoint(name, sides[0], sides[1], kind, one, other, moves))

    def _mate(self, mate: Element, path: tuple[str, ...]) -> None:
        name, kind = mate.get("name") or str(mate.tag), str(mate.tag)
        sides, geometry = [], []
        for each in mate.iterfind("ConstraintGeometry"):
            uid = self._place(each, path)
            R, r = self.poses[uid]
            point = np.array(self._numbers(each, "Position", 3, (0, 0, 0))) * self.units.length
            axis = np.array(self._numbers(each, "Axis", 3, (0, 0, 1)))
            size = np.linalg.norm(axis)
            if size == 0.0:
                raise _Fault(f"the mate '{name[:60]}' with an axis of length 0")
            kind_of = (each.get("geomType") or "point").lower()
            geometry.append(Geometry(kind_of, r + R @ point, R @ axis / size))
            sides.append(self._side(uid))
        if len(sides) == 2 and sides[0] == sides[1]:
            return
        if len(sides) != 2:
            self.found.left_out.append(f"the mate '{name}' ({kind}) of {len(sides)} parts")
            return
        found = Mate(kind, name, sides[0], sides[1], (geometry[0], geometry[1]))
        if conditions(found, _Rows(geometry[0].point, 1.0)):
            self.found.mates.append(found)
        else:
            kinds = " and ".join(each.kind for each in geometry)
            self.found.left_out.append(f"the mate '{name}' ({kind} of {kinds})")

    def _place(self, element: Element, path: tuple[str, ...]) -> tuple[str, ...]:
        """Return the instance that a path leads to; the assembly itself for an empty path."""
        own = [(each.text or "").strip() for each in element.iterfind("InstancePath/Uid")]
        uid = (*path, *(each for each in own if each))
        if uid not in self.poses:
            raise _Fault(f"the unknown instance '{'/'.join(uid)[-60:]}'")
        return uid

    def _side(self, uid: tuple[str, ...]) -> str:
        """Return the part of an instance; for an assembly a part that belongs to it."""
        key = "/".join(uid)
        if not uid or key in self.found.parts:
            return key
        inside = [name for name in self.found.parts if name.startswith(f"{key}/")]
        held = next(iter([*self.held.get(uid, ()), *inside]), None)
        if held is None:
            raise _Fault(f"the assembly '{key[-60:]}' without parts")
        return held

    # -- numbers --------------------------------------------------------------------------------------
    def _numbers(
        self, element: Element, key: str, count: int, default: tuple[float, ...] | None = None
    ) -> list[float]:
        text = element.findtext(key)
        if text is None or not text.strip():
            if default is not None:
                return list(default)
            raise _Fault(f"no {key} in {element.tag}")
        values = [_real(each) for each in text.replace(",", " ").split()]
        if len(values) != count:
            raise _Fault(f"{len(values)} numbers as {key}, where {count} belong")
        return values

    def _transform(self, element: Element | None) -> Pose:
        """Return a pose; rotation matrices with few digits are made orthogonal."""
        if element is None:
            return np.eye(3), np.zeros(3)
        one = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
        R = np.array(self._numbers(element, "Rotation", 9, one)).reshape(3, 3)
        U, s, V = np.linalg.svd(R)
        if abs(s - 1.0).max() > 1e-3 or np.linalg.det(R) < 0.0:
            raise _Fault("a rotation that is none")
        r = np.array(self._numbers(element, "Translation", 3, (0, 0, 0))) * self.units.length
        return U @ V, r


def _real(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise _Fault(f"'{text[:30]}' as a number") from None
    if not math.isfinite(value) or abs(value) > 1e100:
        raise _Fault(f"the number {text[:30]}")
    return value
