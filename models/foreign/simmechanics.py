"""Reader of SimMechanics XML of the first generation (Simscape Multibody Link 1): bodies, frames,
joints, grounds.

Every body has frames, each given relative to another one or to the world. Joints connect two frames
and are lists of primitives: weld, revolute, prismatic, spherical.
"""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from kinetree.models.foreign.assembly import Assembly, AssemblyJoint, PartPlace, Pose
from kinetree.models.foreign.mates import across
from kinetree.models.foreign.robot import Lump, refused
from kinetree.models.foreign.simscape import LENGTHS, MASSES
from kinetree.models.foreign.xml_file import xml_tree

KIND = "a mechanism in SimMechanics XML"
WORLD = "WORLD"
refuse = partial(refused, kind=KIND)


class _Fault(ValueError):
    """Raised for invalid content of the file."""


def describe(path: Path) -> tuple[dict[str, Any], list[str]]:
    """Return the description of a mechanism, and lists of what was left out or assumed."""
    return read(path).description()


def read(path: Path) -> Assembly:
    """Return the assembly in a file; raises ModelError if there is none."""
    root = xml_tree(path, KIND)
    top = root if root.tag == "SimMechanics" else root.find("SimMechanics")
    if top is None:
        raise refuse(str(path), f"the element '{root.tag}' without SimMechanics")
    try:
        return _Reader(path, top).read()
    except _Fault as fault:
        raise refuse(str(path), str(fault)) from None


class _Reader:
    """Reads one SimMechanics file."""

    def __init__(self, path: Path, top: Element):
        self.path, self.top = path, top
        self.found = Assembly(_text(top, "name") or path.stem, path.name)
        self.frames: dict[str, tuple[str, Pose]] = {}  # by `ref`: part and pose in the world
        self.no_mesh: list[str] = []

    def read(self) -> Assembly:
        for number, body in enumerate(self.top.iter("Body"), 1):
            self._body(body, number)
        for ground in self.top.iter("Ground"):
            for frame in ground.iterfind("frame/Frame"):
                if ref := frame.get("ref"):
                    self.frames[ref] = ("", self._pose(frame, {}, 0))
        if not self.found.parts:
            raise _Fault("a mechanism without bodies")
        for joint in self.top.iter("SimpleJoint"):
            self._joint(joint)
        for tag in sorted({each.tag for each in self.top.iter() if each.tag in UNKNOWN}):
            count = sum(1 for _ in self.top.iter(tag))
            self.found.left_out.append(f"{count} elements {tag}")
        if self.no_mesh:
            some = ", ".join(sorted(set(self.no_mesh))[:5])
            self.found.left_out.append(
                f"{len(set(self.no_mesh))} geometry files that are not beside it: {some}"
            )
        return self.found

    # -- bodies ---------------------------------------------------------------------------------------
    def _body(self, body: Element, number: int) -> None:
        """Read one body; its axes are those of its frame CS1, or of the frame at its centre of
        gravity.
        """
        uid = _text(body, "nodeID") or f"body {number}"
        if uid in self.found.parts:
            uid = f"{uid} {number}"
        frames = {_text(each, "name"): each for each in body.iterfind("frames/Frame")}
        own = {name: self._pose(frame, frames, 0) for name, frame in frames.items()}
        if "CG" not in own:
            raise _Fault(f"the body '{_text(body, 'name')[:60]}' without a frame CG")
        for name, frame in frames.items():
            if ref := frame.get("ref"):
                self.frames[ref] = (uid, own[name])
        R, r = own.get("CS1", own["CG"])
        C, c = own["CG"]
        mass = self._number(body, "mass") * _unit(body, "massUnits", MASSES)
        J = np.array(self._numbers(body, "inertia", 9)).reshape(3, 3)
        J = (J + J.T) / 2.0 * self._inertia_unit(body)
        lump = Lump(mass, np.zeros(3), J).moved(R.T @ C, R.T @ (c - r))
        part = PartPlace(_text(body, "name") or uid, (R, r), lump, self._shapes(body))
        self.found.parts[uid] = part

    def _inertia_unit(self, body: Element) -> float:
        text = _text(body, "inertiaUnits") or "kg*m^2"
        mass, _, length = text.partition("*")
        length = length.strip().removesuffix("^2")
        if mass.strip().lower() not in MASSES or length.lower() not in LENGTHS:
            raise _Fault(f"the unit of inertia '{text[:30]}'")
        return MASSES[mass.strip().lower()] * LENGTHS[length.lower()] ** 2

    def _shapes(self, body: Element) -> list[dict[str, Any]]:
        name = _text(body, "geometryFileName")
        if not name:
            return []
        path = self.path.parent / name.replace("\\", "/").rpartition("/")[2]
        if not path.is_file():
            self.no_mesh.append(name[:80])
            return []
        length = next((_unit(f, "positionUnits", LENGTHS) for f in body.iter("Frame")), 1.0)
        return [{"mesh": str(path.resolve()), "scale": length}]

    def _pose(self, frame: Element, others: dict[str, Element], depth: int) -> Pose:
        """Return the pose of a frame in the world, following the frames that it is relative to."""
        if depth > len(others) + 1:
            raise _Fault(
                f"frames that are given from one another, as '{_text(frame, 'name')[:30]}'"
            )

        def given_from(key: str) -> Pose:
            name = _text(frame, key) or WORLD
            if name == WORLD:
                return np.eye(3), np.zeros(3)
            if name not in others:
                raise _Fault(f"a frame that is given from '{name[:30]}'")
            return self._pose(others[name], others, depth + 1)

        _, origin = given_from("positionOrigin")
        axes, _ = given_from("positionReferenceFrame")
        turn, _ = given_from("orientationReferenceFrame")
        r = np.array(self._numbers(frame, "position", 3)) * _unit(frame, "positionUnits", LENGTHS)
        return turn @ self._rotation(frame), origin + axes @ r

    def _rotation(self, frame: Element) -> np.ndarray:
        from scipy.spatial.transform import Rotation

        kind = _text(frame, "orientationType") or "3x3 Transform"
        degrees = _text(frame, "orientationUnits").lower().startswith("deg")
        values = self._numbers(frame, "orientation", None)
        if kind == "3x3 Transform" and len(values) == 9:
            U, s, V = np.linalg.svd(np.array(values).reshape(3, 3))
            R = U @ V
            if abs(s - 1.0).max() > 1e-2 or np.linalg.det(R) < 0.0:
                raise _Fault(f"an orientation that is no rotation, {values}"[:120])
            return R
        if kind == "Quaternion" and len(values) == 4 and any(values):
            return Rotation.from_quat([*values[1:], values[0]]).as_matrix()
        if kind.startswith("Euler") and len(values) == 3:
            order = kind.removeprefix("Euler").strip(" -")
            if len(order) == 3 and set(order.upper()) <= set("XYZ"):
                return Rotation.from_euler(order.upper(), values, degrees=degrees).as_matrix()
        raise _Fault(f"an orientation of the type '{kind[:30]}' with {len(values)} numbers")

    # -- joints ---------------------------------------------------------------------------------------
    def _joint(self, joint: Element) -> None:
        name = _text(joint, "name") or "joint"
        ends = []
        for key in ("base", "follower"):
            frame = joint.find(f"{key}/JointSide/connection/Frame")
            ref = "" if frame is None else frame.get("ref", "")
            if ref not in self.frames:
                raise _Fault(
                    f"the joint '{name[:60]}' whose {key} is the unknown frame '{ref[:20]}'"
                )
            ends.append(self.frames[ref])
        (base, one), (follower, other) = ends
        primitives = [
            (_text(each, "name").lower(), self._axis(each, one, other))
            for each in joint.iterfind("primitives/Primitive")
        ]
        unknown = {kind for kind, _ in primitives} - {"weld", "revolute", "prismatic", "spherical"}
        if unknown:
            self.found.left_out.append(f"the joint '{name}' of {', '.join(sorted(unknown))[:60]}")
            return
        kinds = sorted(kind for kind, _ in primitives)
        moving = [each for each in primitives if each[0] != "weld"]
        point = one[1]
        self._meet(name, kinds, one[1], other[1])
        kind, frame, moves = "", (np.eye(3), point), ()
        if not moving or "weld" in kinds:
            kind = "rigid"
        elif kinds in (["revolute"], ["prismatic"]):
            kind, frame = kinds[0], (_along(moving[0][1]), point)
        elif kinds == ["spherical"]:
            kind = "spherical"
        elif kinds == ["prismatic", "revolute"] and _parallel(moving[0][1], moving[1][1]):
            kind, frame = "cylindrical", (_along(moving[0][1]), point)
        elif kinds == ["prismatic", "prismatic", "prismatic", "spherical"]:
            kind = "free"
        elif "spherical" not in kinds:
            moves = tuple(
                ("slide" if kind == "prismatic" else "turn", tuple(map(float, axis)))
                for kind, axis in moving
            )
        else:
            axes = [
                *(("slide", tuple(map(float, axis))) for k, axis in moving if k == "prismatic"),
                *(("turn", tuple(map(float, axis))) for axis in np.eye(3)),
            ]
            moves = tuple(axes)
        self.found.joints.append(AssemblyJoint(name, base, follower, kind, frame, frame, moves))

    def _meet(self, name: str, kinds: list[str], a: np.ndarray, b: np.ndarray) -> None:
        apart = float(np.linalg.norm(b - a))
        if "prismatic" not in kinds and apart > 1e-6:
            self.found.assumed.append(
                f"the joint '{name}' is at its base frame, {apart:.3g} m from its follower frame"
            )

    def _axis(self, primitive: Element, one: Pose, other: Pose) -> np.ndarray:
        if primitive.find("axis") is None:
            return np.array([0.0, 0.0, 1.0])
        axis = np.array(self._numbers(primitive, "axis", 3))
        size = np.linalg.norm(axis)
        if size == 0.0:
            raise _Fault("an axis of length 0")
        frame = _text(primitive, "referenceFrame") or WORLD
        if frame == "BASE":
            axis = one[0] @ axis
        elif frame == "FOLLOWER":
            axis = other[0] @ axis
        elif frame != WORLD:
            raise _Fault(f"an axis given in the frame '{frame[:30]}'")
        return axis / size

    # -- numbers --------------------------------------------------------------------------------------
    def _number(self, element: Element, key: str) -> float:
        return self._numbers(element, key, 1)[0]

    def _numbers(self, element: Element, key: str, count: int | None) -> list[float]:
        text = _text(element, key)
        try:
            values = [float(each) for each in text.replace(";", " ").replace(",", " ").split()]
        except ValueError:
            raise _Fault(f"'{text[:30]}' as {key}") from None
        if not all(math.isfinite(each) and abs(each) < 1e100 for each in values):
            raise _Fault(f"'{text[:30]}' as {key}")
        if count is not None and len(values) != count:
            raise _Fault(f"{len(values)} numbers as {key}, where {count} belong")
        return values


UNKNOWN = {"Constraint", "Driver", "MassSpring", "Actuator", "Sensor", "ForceElement"}


def _text(element: Element, key: str) -> str:
    return (element.findtext(key) or "").strip().strip('"').strip()


def _unit(element: Element, key: str, known: dict[str, float]) -> float:
    name = _text(element, key).lower()
    if name and name not in known:
        raise _Fault(f"the unit '{name[:30]}' as {key}")
    return known[name] if name else 1.0


def _along(axis: np.ndarray) -> np.ndarray:
    x, y = across(axis)
    return np.column_stack([x, y, axis])


def _parallel(a: np.ndarray, b: np.ndarray) -> bool:
    return float(np.linalg.norm(np.cross(a, b))) < 1e-6
