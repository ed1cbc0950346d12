"""Models of Modelica.Mechanics.MultiBody as descriptions.

Frames that are connected, or held together by parts, form one body; joints lead from body to body,
and joints in a row without mass between them become one. What has no counterpart is named with its
path; visualizers are left out silently.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.models.foreign import modelica_parts as parts
from kinetree.models.foreign.looks import MOST_SHAPES, posed
from kinetree.models.foreign.modelica_axis import AxisElements
from kinetree.models.foreign.modelica_text import KIND, Component, Model, Unreadable, parsed
from kinetree.models.foreign.robot import Lump, Sheet, numbers, quoted, refused, rotation
from kinetree.models.language.numbers_and_expressions import AXES

Pose = tuple[np.ndarray, np.ndarray]
HERE: Pose = (np.eye(3), np.zeros(3))
WORLD = ""  # the cluster of the ground
refuse = partial(refused, kind=KIND)
SILENT = ("Visualizers", "Icons", "Interfaces")


@dataclass
class Move:
    """One elementary motion along or about an axis."""

    way: str
    axis: np.ndarray
    coordinate: str
    start: float = 0.0
    speed: float = 0.0

    def table(self) -> dict[str, Any]:
        """Return the motion as a transform."""
        axis = next((key for key, each in AXES.items() if np.array_equal(self.axis, each)), None)
        found: dict[str, Any] = {
            self.way: axis or numbers(self.axis), "coordinate": self.coordinate,
        }  # fmt: skip
        found |= {"start": self.start} if self.start else {}
        return found | ({"speed": self.speed} if self.speed else {})


@dataclass
class Link:
    """A joint from one frame to another, as poses and motions one after another."""

    name: str
    ends: tuple[str, str]  # nodes
    steps: list[Pose | Move]
    typed: dict[str, Any] = field(default_factory=dict)

    def turned(self) -> Link:
        """Return the joint as seen from its other end."""
        steps = [
            Move(each.way, -each.axis, each.coordinate, each.start, each.speed)
            if isinstance(each, Move)
            else inverse(each)
            for each in reversed(self.steps)
        ]
        return Link(self.name, (self.ends[1], self.ends[0]), steps)

    @property
    def moves(self) -> list[Move]:
        return [each for each in self.steps if isinstance(each, Move)]


def inverse(pose: Pose) -> Pose:
    R, r = pose
    return R.T, -R.T @ r


def composed(one: Pose, other: Pose) -> Pose:
    return one[0] @ other[0], one[1] + one[0] @ other[1]


class Nodes:
    """Connectors that are one, and frames that are rigid with one another."""

    def __init__(self) -> None:
        self.same: dict[str, str] = {}
        self.held: dict[str, tuple[str, Pose]] = {}

    def find(self, node: str) -> str:
        """Return the representative of the connectors joined with this one."""
        while (up := self.same.get(node, node)) != node:
            node = up
        return node

    def join(self, one: str, other: str) -> None:
        a, b = self.find(one), self.find(other)
        if a != b:
            self.same[b] = a

    def place(self, node: str) -> tuple[str, Pose]:
        """Return the cluster of a frame and its pose in it."""
        root, pose = self.find(node), HERE
        while root in self.held:
            up, step = self.held[root]
            root, pose = up, composed(step, pose)
        return root, pose

    def weld(self, one: str, other: str, pose: Pose) -> bool:
        """Hold a frame at a pose of another one; False where both are held together already."""
        (a, A), (b, B) = self.place(one), self.place(other)
        if a == b:
            return False
        if b == WORLD:
            self.held[a] = (b, composed(B, inverse(composed(A, pose))))
        else:
            self.held[b] = (a, composed(composed(A, pose), inverse(B)))
        return True


def describe(path: Path, model: str = "") -> tuple[dict[str, Any], list[str]]:
    """Return the description of a model of a file, its last one if none is named."""
    flat = parsed(path, model)
    try:
        return Translation(flat, path.name).description()
    except Unreadable as error:
        text = str(error).removeprefix("? ")
        raise refuse(str(path), f"{text}") from None


class Translation:
    """One model on its way to a description."""

    def __init__(self, model: Model, file: str):
        self.model, self.nodes = model, Nodes()
        self.sheet = Sheet(model.name, file)
        self.sheet.left_out = model.left_out
        self.sheet.gravity = [0.0, 0.0, 0.0]
        self.lumps: list[tuple[str, Lump, parts.Shapes, Component]] = []
        self.links: list[Link] = []
        self.lines: list[tuple[Component, dict[str, Any]]] = []
        self.loads: list[Component] = []
        self.outputs: dict[str, dict[str, Any]] = {}
        self.bodies: dict[str, str] = {WORLD: "ground"}
        self.starts: dict[str, Component] = {}  # bodies that tell where they begin, by node

    def description(self) -> tuple[dict[str, Any], list[str]]:
        for one, other in self.model.connections:
            self.nodes.join(one, other)
        for component in self.model.components:
            for key, value in component.values.items():
                if isinstance(value, str) and value.startswith("? ") and key in parts.PHYSICAL:
                    raise Unreadable(f"{component.path}.{key}: {value[2:]}")
            self._component(component)
        self._chains()
        self._bodies()
        self._joints()
        self._free()
        self._forces()
        AxisElements(self).add()
        self._aliases()
        if not self.sheet.bodies:
            raise Unreadable("a model without bodies")
        whole = self.sheet.description()
        if self.outputs:
            whole["outputs"] = self.outputs
        return whole, self.sheet.left_out

    def leave_out(self, component: Component, why: str = "") -> None:
        """Name a component that is not translated."""
        self.sheet.left_out.append(f"{component.path} ({component.kind}){why and ': '}{why}")

    # -- components -----------------------------------------------------------------------------------
    def _component(self, c: Component) -> None:
        path, kind = c.path, c.kind.rpartition(".")[2]
        family = c.kind.rpartition(".")[0]
        a, b = f"{path}.frame_a", f"{path}.frame_b"
        if family in SILENT or "Visualizers" in c.kind:
            return
        if kind == "World":
            self._world(c)
        elif kind == "Fixed" and family != "Components":
            self.nodes.weld(WORLD, b, (np.eye(3), c.vector("r")))
        elif kind in ("FixedTranslation", "FixedRotation"):
            self._hold(c, a, b, (parts.fixed_rotation(c), c.vector("r")))
        elif kind in parts.BODIES:
            lump, shapes, r = parts.BODIES[kind](c)
            self.lumps.append((a, lump, shapes, c))
            self.starts[a] = c
            if r is not None:
                self._hold(c, a, b, (np.eye(3), r))
        elif (moves := parts.moves(c, kind)) is not None:
            made = [Move(*each) for each in moves]
            self.links.append(Link(path, (a, b), list(made)))
        elif kind in ("Spherical", "FreeMotion"):
            typed = parts.spherical(c) if kind == "Spherical" else parts.free(c, "rel_a")
            self.links.append(Link(path, (a, b), [], typed))
        elif kind in ("SphericalSpherical", "UniversalSpherical"):
            self._rod(c, kind, a, b)
        elif kind in ("Spring", "Damper", "SpringDamperParallel") and family == "Forces":
            self.lines.append((c, parts.line_force(c, kind)))
            if c.number("m", 0.0):
                self.leave_out(c, "its mass")
        elif kind in ("WorldForce", "WorldTorque"):
            self.loads.append(c)
        elif kind in parts.SENSORS:
            self.loads.append(c)
        elif family in ("Components", "Sources", "Rotational", "Translational"):
            pass  # along an axis: AxisElements
        else:
            self.leave_out(c)

    def _world(self, c: Component) -> None:
        kind = str(c.given("gravityType") or "").rpartition(".")[2]
        if kind == "PointGravity":
            self.leave_out(c, "the field of a point")
        elif kind != "NoGravity":
            n = c.vector("n", (0.0, -1.0, 0.0))
            self.sheet.gravity = numbers(n / np.linalg.norm(n) * c.number("g", 9.80665))
        self.nodes.weld(WORLD, f"{c.path}.frame_b", HERE)

    def _hold(self, c: Component, a: str, b: str, pose: Pose) -> None:
        if not self.nodes.weld(a, b, pose):
            self.leave_out(c, "it closes a ring of rigid parts")

    def _rod(self, c: Component, kind: str, a: str, b: str) -> None:
        if c.number("m", 0.0):
            self.leave_out(c, "the mass of the rod")
        length = c.given("rodLength")
        if kind == "UniversalSpherical" and length is None:
            length = float(np.linalg.norm(c.vector("rRod_ia", (1.0, 0.0, 0.0))))
            if c.path in {x.rpartition(".")[0] for pair in self.model.connections for x in pair
                          if x.endswith("frame_ia")}:  # fmt: skip
                self.sheet.left_out.append(f"{c.path}.frame_ia: what is fixed to the rod")
        if length is None:
            self.leave_out(c, "a rod whose length the model computes")
            return
        self.lines.append((c, {"rod": float(length)}))

    # -- bodies ---------------------------------------------------------------------------------------
    def _chains(self) -> None:
        """Make one joint of two that only a body without mass lies between."""
        heavy = {self.nodes.place(node)[0] for node, *_ in self.lumps} | {WORLD}
        for c, _ in self.lines:
            heavy |= {self.nodes.place(f"{c.path}.frame_{end}")[0] for end in "ab"}
        for c in self.loads:
            heavy |= {self.nodes.place(f"{c.path}.frame_{end}")[0] for end in "ab"}
        self.links = [self._between_bodies(link) for link in self.links]
        again = True
        while again:
            again = False
            ends: dict[str, list[Link]] = {}
            for link in self.links:
                for end in link.ends:
                    ends.setdefault(end, []).append(link)
            for cluster, links in ends.items():
                if cluster in heavy or len(links) != 2 or links[0] is links[1]:
                    continue
                if any(link.typed for link in links):
                    continue
                one = links[0] if links[0].ends[1] == cluster else links[0].turned()
                two = links[1] if links[1].ends[0] == cluster else links[1].turned()
                joint = Link(f"{one.name}_{two.name}", (one.ends[0], two.ends[1]),
                             one.steps + two.steps)  # fmt: skip
                self.links = [x for x in self.links if not any(x is y for y in links)] + [joint]
                again = True
                break

    def _between_bodies(self, link: Link) -> Link:
        """Return a joint from cluster to cluster: with the poses of its frames in them."""
        (a, A), (b, B) = (self.nodes.place(each) for each in link.ends)
        if link.typed:
            return Link(link.name, (a, b), [A, B], link.typed)
        return Link(link.name, (a, b), [A, *link.steps, inverse(B)])

    def _bodies(self) -> None:
        clusters: dict[str, list[tuple[str, Lump, parts.Shapes, Component]]] = {}
        for each in self.lumps:
            clusters.setdefault(self.nodes.place(each[0])[0], []).append(each)
        for link in self.links:
            for end in link.ends:
                clusters.setdefault(end, [])
        clusters.pop(WORLD, None)
        for cluster, members in clusters.items():
            lump = Lump()
            shapes: list[dict[str, Any]] = []
            for node, own, looks, _ in members:
                R, r = self.nodes.place(node)[1]
                lump = lump.joined(own.moved(R, r))
                shapes += [posed(dict(shape), *composed((R, r), pose)) for shape, pose in looks]
            names = [c.path for *_, c in sorted(members, key=lambda each: -each[1].mass)]
            name = (names or [cluster.rpartition(".")[0] or "body"])[0]
            self.bodies[cluster] = self.sheet.fresh(name, "body", self.sheet.bodies)
            table = lump.table()
            if shapes:
                table["shapes"] = shapes[:MOST_SHAPES]
            self.sheet.bodies[self.bodies[cluster]] = table

    def at(self, node: str) -> dict[str, Any]:
        """Return a frame as a point of a body."""
        cluster, (_, r) = self.nodes.place(node)
        if cluster not in self.bodies:
            raise Unreadable(f"{node}: forces that meet where there is no body")
        point = {"point": numbers(r)} if r.any() else {}
        return {"body": self.bodies[cluster], **point}

    # -- joints ---------------------------------------------------------------------------------------
    def _joints(self) -> None:
        for link in self.links:
            if link.ends[0] == link.ends[1]:
                self.sheet.left_out.append(f"{link.name}: a joint of one body to itself")
                continue
            name = self.sheet.fresh(link.name, "joint", self.sheet.joints)
            table: dict[str, Any] = {}
            if link.ends[0] != WORLD:
                table["parent"] = self.bodies[link.ends[0]]
            table["child"] = self.bodies[link.ends[1]]
            if link.typed:
                A, B = (each for each in link.steps if not isinstance(each, Move))
                table |= link.typed | parts.framed(A, B)
            else:
                table["transforms"] = self._transforms(link)
            self.sheet.joints[name] = table

    def _transforms(self, link: Link) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        waiting = HERE
        for step in [*link.steps, None]:
            if isinstance(step, tuple):
                waiting = composed(waiting, step)
                continue
            R, r = waiting
            found += [{"shift": numbers(r)}] if abs(r).max() > parts.NOTHING else []
            found += rotation(R)
            waiting = HERE
            if step is not None:
                step.coordinate = self.sheet.fresh(step.coordinate, "coordinate", value=True)
                found.append(step.table())
        return found

    def _free(self) -> None:
        """Let bodies move freely to which no joint leads."""
        reached, front = {"ground"}, True
        while front:
            front = False
            for table in self.sheet.joints.values():
                ends = {table.get("parent", "ground"), table["child"]}
                if ends & reached and not ends <= reached:
                    reached |= ends
                    front = True
        for cluster, name in list(self.bodies.items()):
            if name in reached:
                continue
            if any(name in (t.get("parent"), t["child"]) for t in self.sheet.joints.values()):
                others = {
                    self.bodies[e] for link in self.links for e in link.ends if e in self.bodies
                }
                if name not in others:
                    continue
            start = next(
                (c for node, c in self.starts.items() if self.nodes.place(node)[0] == cluster), None
            )
            joint = self.sheet.fresh(f"{name}_free", "joint", self.sheet.joints)
            self.sheet.joints[joint] = {
                "child": name,
                **parts.free_body(start, self._pose_of(start)),
            }
            reached.add(name)
            self._spread(reached)

    def _pose_of(self, c: Component | None) -> Pose:
        return HERE if c is None else self.nodes.place(f"{c.path}.frame_a")[1]

    def _spread(self, reached: set[str]) -> None:
        again = True
        while again:
            again = False
            for table in self.sheet.joints.values():
                ends = {table.get("parent", "ground"), table["child"]}
                if ends & reached and not ends <= reached:
                    reached |= ends
                    again = True

    # -- forces and outputs ---------------------------------------------------------------------------
    def _forces(self) -> None:
        for c, law in self.lines:
            ends = [self.at(f"{c.path}.frame_{end}") for end in "ab"]
            if ends[0]["body"] == ends[1]["body"]:
                self.leave_out(c, "both ends are on one body")
            elif "rod" in law:
                name = self.sheet.fresh(c.path, "coupling", self.sheet.couplings)
                self.sheet.couplings[name] = {"between": ends, "length": law["rod"]}
            else:
                name = self.sheet.fresh(c.path, "force", self.sheet.forces)
                self.sheet.forces[name] = {"between": ends} | law
        for c in self.loads:
            kind = c.kind.rpartition(".")[2]
            if kind in parts.SENSORS:
                quantity = parts.SENSORS[kind]
                self.outputs[f"{c.path}"] = {"quantity": quantity} | self.at(f"{c.path}.frame_a")
                continue
            key = "force" if kind == "WorldForce" else "torque"
            vector = self.signal(f"{c.path}.{key}")
            frame = str(c.given("resolveInFrame") or "world").rpartition(".")[2]
            if vector is None or frame not in ("world", "frame_b"):
                self.leave_out(c, "a signal that is no constant")
                continue
            load = {"force" if key == "force" else "moment": vector}
            axes = {"frame": "body"} if frame == "frame_b" else {}
            if axes and abs(self.nodes.place(f"{c.path}.frame_b")[1][0] - np.eye(3)).max() > 1e-12:
                self.leave_out(c, "a load in the axes of a turned frame")
                continue
            name = self.sheet.fresh(c.path, "force", self.sheet.forces)
            self.sheet.forces[name] = (
                {"kind": "wrench"} | self.at(f"{c.path}.frame_b") | load | axes
            )

    def signal(self, node: str) -> Any:
        """Return the law of the source that is connected with an input; None for others."""
        root = self.nodes.find(node)
        for c in self.model.components:
            if self.nodes.find(f"{c.path}.y") == root and f"{c.path}.y" != node:
                return parts.source(c)
        return None

    def _aliases(self) -> None:
        known = {
            move.coordinate for link in self.links for move in link.moves
        }  # names of the file, as the format takes them
        for output, text in self.model.aliases:
            path, _, last = text.rpartition(".")
            rate = {"w": "phi", "v": "s", "a": ""}.get(last)
            if text in known:
                self.outputs[output] = {"value": quoted(text)}
            elif rate and f"{path}.{rate}" in known:
                self.outputs[output] = {"value": f"der({quoted(f'{path}.{rate}')})"}
            else:
                self.sheet.left_out.append(f"{output} = {text}: an equation")
