"""Assemblies of CAD programs as descriptions: parts with poses, joints between frames, mates.

This is shared by all readers of CAD files. Parts that are welded become one body. Joints start at
the positions in the file, so that closed loops are closed at the start.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kinetree.models.foreign.display_shapes import MOST_SHAPES, posed
from kinetree.models.foreign.mates import Freedoms, Mate, freedoms_of
from kinetree.models.foreign.robot import Lump, Sheet, place

Pose = tuple[np.ndarray, np.ndarray]  # R, r in the axes of the ground
GROUND = "ground"
APART = 1e-5  # of the size of the assembly: two frames of a joint farther apart are told
TURNED = 1e-5  # rad


@dataclass
class PartPlace:
    """A part of an assembly with its pose."""

    name: str
    pose: Pose
    lump: Lump  # in the part's own axes
    shapes: list[dict[str, Any]] = field(default_factory=list)  # in the part's own axes
    grounded: bool = False


@dataclass
class AssemblyJoint:
    """A joint between two parts, or a part and "" for the ground; poses of its frames in ground
    axes.

    `moves` are the elementary motions in the base frame: (slide or turn, axis). `kind` is a joint
    type of the format with the same motions, "" if there is none.
    """

    name: str
    base: str
    follower: str
    kind: str
    base_frame: Pose
    follower_frame: Pose
    moves: tuple[tuple[str, tuple[float, ...]], ...] = ()
    pitch: float = 0.0


X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


@dataclass
class Assembly:
    """Parts, joints and mates of one file, and a list of what was left out."""

    name: str
    file: str
    parts: dict[str, PartPlace] = field(default_factory=dict)
    joints: list[AssemblyJoint] = field(default_factory=list)
    mates: list[Mate] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)

    def description(self) -> tuple[dict[str, Any], list[str]]:
        """Return the description of the assembly, and what is left out or assumed."""
        return _Assembling(self).description()


class _Assembling:
    """The conversion of one assembly to a description."""

    def __init__(self, assembly: Assembly):
        self.a = assembly
        self.group = {name: name for name in assembly.parts} | {"": ""}
        self.sheet = Sheet(assembly.name, assembly.file)
        assembly.assumed.append("gravity of 9.81 m/s2 along -z: such files have none")
        self.names: dict[str, str] = {"": GROUND}
        self.size = self._size()

    def _size(self) -> float:
        places = np.array([part.pose[1] for part in self.a.parts.values()])
        return max(float(np.ptp(places, axis=0).max()), 1e-3) if len(places) else 1.0

    def root(self, name: str) -> str:
        """Return the representative part of a welded group; "" for the ground."""
        while self.group[name] != name:
            name = self.group[name]
        return name

    def weld(self, one: str, other: str) -> None:
        """Weld two parts to one body; it gets the frame of the ground or else of the heavier part."""
        a, b = self.root(one), self.root(other)
        if a == b:
            return
        parts = self.a.parts
        heavy = a == "" or (b != "" and parts[a].lump.mass >= parts[b].lump.mass)
        keep, lose = (a, b) if heavy else (b, a)
        self.group[lose] = keep

    def description(self) -> tuple[dict[str, Any], list[str]]:
        for name, part in self.a.parts.items():
            if part.grounded:
                self.weld("", name)
        for joint in self.a.joints:
            if joint.kind == "rigid":
                self._compare(joint)
                self.weld(joint.base, joint.follower)
        mated = self._mated()
        joints = [
            joint
            for joint in self.a.joints
            if joint.kind != "rigid" and self._moves_something(joint)
        ]
        self._ground(joints, mated)
        joints = self._held(joints, mated)
        self._add_bodies()
        for joint in joints:
            self._add_joint(joint)
        far = self._distances([(j.base, j.follower) for j in joints] + list(mated))
        for (one, other), freedoms in sorted(
            mated.items(), key=lambda item: min(far.get(each, math.inf) for each in item[0])
        ):
            turned = far.get(other, math.inf) < far.get(one, math.inf)
            self._add_mated(*((other, one) if turned else (one, other)), freedoms)
        self._add_free()
        told = [*self.a.left_out, *self.sheet.left_out]
        whole = self.sheet.description()
        if scenery := self._scenery():
            whole["scenery"] = scenery
        return whole, told + [f"assumed: {each}" for each in self.a.assumed]

    def _scenery(self) -> list[dict[str, Any]]:
        """Return the shapes of the parts that are fixed to the ground."""
        parts = self._members("")
        return [shape for part in parts for shape in _moved(part.shapes, *part.pose)]

    # -- which parts are one, and which joints there are ----------------------------------------------
    def _mated(self) -> dict[tuple[str, str], Freedoms]:
        """Return the relative motions that the mates of every pair of parts allow; pairs without
        any are welded.
        """
        while True:
            pairs: dict[tuple[str, str], list[Mate]] = {}
            for mate in self.a.mates:
                a, b = self.root(mate.one), self.root(mate.other)
                if a != b:
                    pairs.setdefault((min(a, b), max(a, b)), []).append(mate)
            found = {pair: freedoms_of(mates, self.size) for pair, mates in pairs.items()}
            rigid = [pair for pair, freedoms in found.items() if freedoms.kind == "rigid"]
            if not rigid:
                return found
            for one, other in rigid:
                self.weld(one, other)

    def _distances(self, links: list[tuple[str, str]]) -> dict[str, int]:
        """Return the number of joints between the ground and every part reached by joints."""
        near: dict[str, set[str]] = {}
        for one, other in links:
            a, b = self.root(one), self.root(other)
            near.setdefault(a, set()).add(b)
            near.setdefault(b, set()).add(a)
        found, front = {"": 0}, [""]
        while front:
            front = [each for name in front for each in near.get(name, ()) if each not in found]
            step = 1 + max(found.values())
            found |= dict.fromkeys(front, step)
        return found

    def _moves_something(self, joint: AssemblyJoint) -> bool:
        if self.root(joint.base) != self.root(joint.follower):
            return True
        self.a.left_out.append(f"the joint '{joint.name}', between parts that are welded together")
        return False

    def _ground(self, joints: list[AssemblyJoint], mated: dict[tuple[str, str], Freedoms]) -> None:
        """Fix one part to the ground if nothing connects the assembly to it."""
        reached = {self.root(name) for name in self.group if self.root(name) == ""}
        held = any(self.root(name) == "" for name in self.a.parts)
        linked = any("" in (self.root(j.base), self.root(j.follower)) for j in joints)
        if held or linked or any("" in pair for pair in mated) or not self.a.parts or not reached:
            return
        degree: dict[str, int] = {}
        for joint in joints:
            degree[self.root(joint.base)] = degree.get(self.root(joint.base), 0) + 1
        for pair in mated:
            for name in pair:
                degree[name] = degree.get(name, 0) + 1
        if not degree:
            return
        first = max(degree, key=lambda name: (degree[name], self.a.parts[name].lump.mass))
        self.a.assumed.append(
            f"'{self.a.parts[first].name}' stands on the ground: the file holds no part"
        )
        self.weld("", first)
        for pair in [pair for pair in mated if first in pair]:
            other = pair[1] if pair[0] == first else pair[0]
            mated[("", other)] = mated.pop(pair)

    def _held(
        self, joints: list[AssemblyJoint], mated: dict[tuple[str, str], Freedoms]
    ) -> list[AssemblyJoint]:
        """Weld massless parts at the ends of chains, whose motion would be undetermined, and return
        the remaining joints.
        """
        while True:
            ends: dict[str, list[AssemblyJoint | None]] = {}
            for joint in joints:
                for each in (joint.base, joint.follower):
                    ends.setdefault(self.root(each), []).append(joint)
            for pair in mated:
                for each in pair:
                    ends.setdefault(each, []).append(None)
            light = next(
                (
                    found[0]
                    for root, found in ends.items()
                    if root and len(found) == 1 and found[0] and self._weightless(root)
                ),
                None,
            )
            if light is None:
                return joints
            self.a.left_out.append(f"the joint '{light.name}', which moves nothing with mass")
            self.weld(light.base, light.follower)
            joints = [joint for joint in joints if joint is not light]

    def _weightless(self, root: str) -> bool:
        return not any(p.lump.mass or p.lump.tensor.any() for p in self._members(root))

    # -- bodies ---------------------------------------------------------------------------------------
    def _members(self, root: str) -> list[PartPlace]:
        return [part for name, part in self.a.parts.items() if self.root(name) == root]

    def _add_bodies(self) -> None:
        for uid, part in self.a.parts.items():
            if self.root(uid) != uid:
                continue
            R, r = part.pose
            lump, shapes = Lump(), []
            for member in self._members(uid):
                S, s = R.T @ member.pose[0], R.T @ (member.pose[1] - r)
                lump = lump.joined(member.lump.moved(S, s))
                shapes += _moved(member.shapes, S, s)
            name = self.sheet.fresh(part.name, "body", self.sheet.bodies)
            self.names[uid] = name
            table = lump.table()
            if not lump.mass:
                self.a.left_out.append(f"the mass of '{name}': the file has none")
            if shapes:
                table["shapes"] = shapes[:MOST_SHAPES]
            self.sheet.bodies[name] = table
        for root, name in self.names.items():
            others = [
                part.name for part in self._members(root) if part is not self.a.parts.get(root)
            ]
            if others:
                what = f"one body '{name}' is also" if root else "what stands on the ground is"
                self.a.assumed.append(f"{what} {', '.join(others)}")

    def _pose(self, root: str) -> Pose:
        return self.a.parts[root].pose if root else (np.eye(3), np.zeros(3))

    # -- joints ---------------------------------------------------------------------------------------
    def _compare(self, joint: AssemblyJoint) -> None:
        """Note a weld whose frames do not coincide."""
        (A, a), (B, b) = joint.base_frame, joint.follower_frame
        apart, turned = (
            float(np.linalg.norm(b - a)),
            math.acos(min(1.0, (np.trace(A.T @ B) - 1) / 2)),
        )
        if apart > APART * self.size or turned > math.sqrt(TURNED):
            self.a.assumed.append(
                f"the weld '{joint.name}' holds its parts as they stand, "
                f"{apart:.3g} m and {turned:.3g} rad from its frames"
            )

    def _ends(self, base: str, follower: str) -> tuple[dict[str, Any], str, str]:
        """Return the bodies of a joint; the ground is the parent."""
        a, b = self.root(base), self.root(follower)
        table = {"parent": self.names[a], "child": self.names[b]}
        if table["parent"] == GROUND:
            del table["parent"]
        return table, a, b

    def _framed(self, table: dict[str, Any], a: str, b: str, base: Pose, follower: Pose) -> None:
        (P, p), (C, c) = self._pose(a), self._pose(b)
        table |= place(P.T @ base[0], P.T @ (base[1] - p))
        table |= place(C.T @ follower[0], C.T @ (follower[1] - c), "child_at", "child_frame")

    def _add_joint(self, joint: AssemblyJoint) -> None:
        """Add a joint with frames of its own, starting at the poses of the file."""
        table, a, b = self._ends(joint.base, joint.follower)
        base, follower = joint.base_frame, joint.follower_frame
        if b == "":  # a joint down to the ground is turned round
            table, a, b = self._ends(joint.follower, joint.base)
            base, follower = follower, base
        name = self.sheet.fresh(joint.name, "joint", self.sheet.joints)
        S, s = base[0].T @ follower[0], base[0].T @ (follower[1] - base[1])
        if joint.kind:
            start, off = _start(joint.kind, S, s, joint.pitch)
            if off[0] > APART * self.size or off[1] > TURNED:
                # the file's frames do not meet: the parts stay where they stand
                self.a.assumed.append(
                    f"the joint '{joint.name}' begins where its parts stand, "
                    f"{off[0]:.3g} m and {off[1]:.3g} rad from its frames"
                )
                follower, start = base, None
            table["type"] = joint.kind
            self._framed(table, a, b, base, follower)
            if joint.kind == "screw":
                table["pitch"] = joint.pitch
            if start is not None and any(start):
                table["start"] = [float(each) + 0.0 for each in start]
        else:
            table |= self._transforms(name, joint.moves, a, b, base)
        self.sheet.joints[name] = table

    def _transforms(
        self, name: str, moves: tuple[Any, ...], a: str, b: str, frame: Pose
    ) -> dict[str, Any]:
        """Return a joint as a sequence of elementary motions that are zero at the poses of the
        file.
        """
        (P, p), (C, c) = self._pose(a), self._pose(b)
        found: list[dict[str, Any]] = []
        at = place(P.T @ frame[0], P.T @ (frame[1] - p), "shift", "turns")
        if "shift" in at:
            found.append({"shift": at["shift"]})
        found += at.get("turns", [])
        for number, (way, axis) in enumerate(moves, 1):
            key = "shift" if way == "slide" else "rotate"
            found.append({key: list(axis), "coordinate": f"{name}.{key}{number}"})
        back = place(frame[0].T @ C, frame[0].T @ (c - frame[1]), "shift", "turns")
        if "shift" in back:
            found.append({"shift": back["shift"]})
        return {"transforms": found + back.get("turns", [])}

    def _add_mated(self, base: str, follower: str, freedoms: Freedoms) -> None:
        """Add the joint that is equivalent to all mates of two parts."""
        table, a, b = self._ends(base, follower)
        if b == "":
            table, a, b = self._ends(follower, base)
        ends = [self.a.parts[each].name if each else GROUND for each in (a, b)]
        name = self.sheet.fresh(f"{ends[0]}_{ends[1]}", "joint", self.sheet.joints)
        frame = freedoms.frame
        if freedoms.kind:
            table["type"] = freedoms.kind
            self._framed(table, a, b, frame, frame)
            if freedoms.kind == "screw":
                table["pitch"] = freedoms.pitch
        else:
            table |= self._transforms(name, freedoms.moves, a, b, frame)
        self.sheet.joints[name] = table
        what = ", ".join(sorted({mate.kind for mate in freedoms.mates}))
        self.a.assumed.append(
            f"the mates of '{ends[0]}' and '{ends[1]}' ({what}) are a joint: {freedoms.says}"
        )

    def _add_free(self) -> None:
        """Add free joints for parts that no joint connects to the ground."""
        links: dict[str, set[str]] = {}
        for table in self.sheet.joints.values():
            one, other = table.get("parent", GROUND), table["child"]
            links.setdefault(one, set()).add(other)
            links.setdefault(other, set()).add(one)
        reached: set[str] = set()

        def spread(name: str) -> None:
            waiting = [name]
            while waiting:
                each = waiting.pop()
                if each not in reached:
                    reached.add(each)
                    waiting += links.get(each, ())

        spread(GROUND)
        for uid, name in self.names.items():
            if name in reached:
                continue
            joint = self.sheet.fresh(f"{name}_free", "joint", self.sheet.joints)
            R, r = self._pose(uid)
            self.sheet.joints[joint] = {"child": name, "type": "free", **place(R, r)}
            self.a.assumed.append(f"'{name}' moves freely: no joint leads to it from the ground")
            spread(name)


def _moved(shapes: list[dict[str, Any]], R: np.ndarray, r: np.ndarray) -> list[dict[str, Any]]:
    """Return the shapes of a part in the axes of its body."""
    return [posed(dict(shape), R, r) for shape in shapes]


def _start(
    kind: str, S: np.ndarray, s: np.ndarray, pitch: float
) -> tuple[list[float] | None, tuple[float, float]]:
    """Return the start coordinates of a typed joint that moves its follower frame to S, s.

    Also returned are the distance [m] and angle [rad] that remain because the joint cannot move
    that way.
    """
    from scipy.spatial.transform import Rotation

    tilt = math.acos(max(-1.0, min(1.0, S[2, 2])))
    angle = math.atan2(S[1, 0] - S[0, 1], S[0, 0] + S[1, 1])
    radial = math.hypot(s[0], s[1])
    turned = math.acos(max(-1.0, min(1.0, (float(np.trace(S)) - 1.0) / 2.0)))
    far = float(np.linalg.norm(s))
    if kind == "revolute":
        return [angle], (far, tilt)
    if kind == "screw":
        return [angle], (math.hypot(radial, s[2] - pitch * angle / (2 * math.pi)), tilt)
    if kind == "prismatic":
        return [s[2]], (radial, turned)
    if kind == "cylindrical":
        return [s[2], angle], (radial, tilt)
    if kind == "planar":
        return [s[0], s[1], angle], (abs(s[2]), tilt)
    x, y, z, w = Rotation.from_matrix(S).as_quat()
    if kind == "spherical":
        return [w, x, y, z], (far, 0.0)
    if kind == "free":
        return [*s, w, x, y, z], (0.0, 0.0)
    if kind == "universal":
        one, two = math.atan2(S[2, 1], S[1, 1]), math.atan2(S[0, 2], S[0, 0])
        return [one, two], (far, abs(S[0, 1]))
    return None, (0.0, 0.0)
