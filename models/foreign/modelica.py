"""Models of Modelica.Mechanics.MultiBody as descriptions.

Frames that are connected, or rigidly joined by parts, form one body. Joints lead from body to body;
successive joints without mass between them become one joint. Components without a counterpart are
listed with their path; visualizers are left out silently.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.models.foreign import modelica_parts as parts
from kinetree.models.foreign.display_shapes import MOST_SHAPES, posed
from kinetree.models.foreign.modelica_assemblies import assembly_variable, taken_apart
from kinetree.models.foreign.modelica_axis import AXIS_FAMILIES, AxisElements
from kinetree.models.foreign.modelica_component import Component, Unreadable
from kinetree.models.foreign.modelica_flattening import Model, parsed
from kinetree.models.foreign.modelica_links import (
    HERE,
    WORLD,
    Link,
    Move,
    Nodes,
    Pose,
    composed,
    inverse,
)
from kinetree.models.foreign.modelica_loads import LINE_FORCES, LOADS, Loads
from kinetree.models.foreign.modelica_parser import KIND
from kinetree.models.foreign.modelica_wheels import WHEELS, add_wheel_body, add_wheels
from kinetree.models.foreign.robot import Lump, Sheet, numbers, quoted, refused, rotation

refuse = partial(refused, kind=KIND)
SILENT = ("Visualizers", "Icons", "Interfaces")
CUTS = ("CutForce", "CutTorque", "CutForceAndTorque", "Power")  # rigid, with signals
EARTH = 3.986004418e14  # m3/s2, the field of a point where the model gives none


def describe(path: Path, model: str = "") -> tuple[dict[str, Any], list[str]]:
    """Return the description of a model in a Modelica file (the last one if none is named) and a
    list of what was left out.
    """
    flat = parsed(path, model)
    try:
        return Translation(flat, path.name).description()
    except Unreadable as error:
        text = str(error).removeprefix("? ")
        raise refuse(str(path), f"{text}") from None


class Translation:
    """The translation of one Modelica model to a description."""

    def __init__(self, model: Model, file: str):
        self.model, self.nodes = model, Nodes()
        self.sheet = Sheet(model.name, file)
        self.sheet.left_out = model.left_out
        self.sheet.gravity = [0.0, 0.0, 0.0]
        self.lumps: list[tuple[str, Lump, parts.Shapes, Component]] = []
        self.links: list[Link] = []
        self.lines: list[tuple[Component, dict[str, Any]]] = []
        self.free: list[Component] = []  # joints without constraints
        self.relative: list[tuple[str, Lump]] = []  # inertias that rotors take over, by node
        self.outputs: dict[str, dict[str, Any]] = {}
        self.bodies: dict[str, str] = {WORLD: "ground"}
        self.point_gravity = 0.0  # m3/s2, of a field towards the origin
        self.starts: dict[str, Component] = {}  # bodies that tell where they begin, by node

    def description(self) -> tuple[dict[str, Any], list[str]]:
        model = self.model
        model.components, model.connections = taken_apart(model.components, model.connections)
        self.sheet.left_out += [
            f"assumed: {c.path.rpartition('.')[0]} begins with frame_b where its nAxis_ia points"
            for c in model.components
            if c.path.endswith(".prismatic") and c.given("strut")
        ]
        for one, other in model.connections:
            self.nodes.join(one, other)
        for component in model.components:
            for key, value in component.values.items():
                if isinstance(value, str) and value.startswith("? ") and key in parts.PHYSICAL:
                    raise Unreadable(f"{component.path}.{key}: {value[2:]}")
            self._component(component)
        self._free_links()
        self._springs_in_series()
        self._chains()
        self._bodies()
        self._joints()
        self._free()
        Loads(self).add()
        AxisElements(self).add()
        add_wheels(self)
        self._aliases()
        if not self.sheet.bodies:
            raise Unreadable("a model without bodies")
        whole = self.sheet.description()
        if self.outputs:
            whole["outputs"] = self.outputs
        return whole, self.sheet.left_out

    def leave_out(self, component: Component, why: str = "") -> None:
        """List a component as not translated, with the reason."""
        self.sheet.left_out.append(f"{component.path} ({component.kind}){why and ': '}{why}")

    # -- components -----------------------------------------------------------------------------------
    def _component(self, c: Component) -> None:
        path, kind = c.path, c.kind.rpartition(".")[2]
        family = c.kind.rpartition(".")[0]
        a, b = f"{path}.frame_a", f"{path}.frame_b"
        if family in SILENT or "Visualizers" in c.kind:
            return
        loose = any(c.given(f"{key}_locked") is False for key in "xyz")
        if kind == "World":
            self._world(c)
        elif family == "Constraints" and kind != "Prismatic" and loose:
            self.leave_out(c, "a constraint with directions that are not locked")
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
        elif kind == "Spherical":
            self.links.append(Link(path, (a, b), [], parts.spherical(c)))
        elif kind in ("FreeMotion", "FreeMotionScalarInit"):
            self.free.append(c)
        elif kind in ("SphericalSpherical", "UniversalSpherical"):
            self._rod(c, kind, a, b)
        elif kind in LINE_FORCES and family == "Forces":
            self.lines.append((c, parts.line_force(c, kind)))
            if c.number("m", 0.0):
                self.leave_out(c, "its mass")
        elif kind == "Rotor1D":
            self._rotor(c, a)
        elif kind in CUTS:
            self._hold(c, a, b, HERE)
            self.leave_out(c, "its signals")
        elif kind in LOADS or family == "Sensors":
            pass  # on bodies: Loads
        elif kind in WHEELS:
            add_wheel_body(self, c)
        elif family in AXIS_FAMILIES or kind in ("Mounting1D", "Strut"):
            pass  # along an axis: AxisElements
        else:
            self.leave_out(c)

    def _world(self, c: Component) -> None:
        kind = str(c.given("gravityType") or "").rpartition(".")[2]
        if kind == "PointGravity":
            self.point_gravity = c.number("mu", EARTH)
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

    def _rotor(self, c: Component, frame: str) -> None:
        """Add a rotor that rotates about an axis of its housing.

        In the Modelica library the housing's inertia already includes the non-rotating rotor; that
        part is subtracted.
        """
        n = parts.unit(c.vector("n", (1, 0, 0)), f"{c.path}.n")
        lump = Lump(0.0, np.zeros(3), c.number("J", 1.0) * np.outer(n, n))
        shaft = f"{c.path}.shaft"
        connected = {node for pair in self.model.connections for node in pair}
        if frame not in connected:
            self.nodes.weld(WORLD, frame, HERE)
        turn = Move("rotate", n, f"{c.path}.phi", c.guess("phi"), c.guess("w"))
        self.links.append(Link(c.path, (frame, shaft), [turn]))
        self.lumps.append((shaft, lump, [], c))
        self.relative.append((frame, Lump(0.0, np.zeros(3), -lump.tensor)))

    def _free_links(self) -> None:
        """Add free joints between parts that no other joint connects; elsewhere such a joint only
        gives start values, which are left out.
        """
        near = Nodes()
        for link in self.links:
            one, other = (self.nodes.place(each)[0] for each in link.ends)
            near.join(one or "world", other or "world")
        for c in self.free:
            ends = f"{c.path}.frame_a", f"{c.path}.frame_b"
            one, other = (self.nodes.place(each)[0] or "world" for each in ends)
            if near.find(one) == near.find(other):
                self.leave_out(c, "its start values: other joints lead there")
                continue
            near.join(one, other)
            if one == "world" and not parts.tells_start(c):
                continue  # the bodies themselves may tell where they begin
            self.links.append(Link(c.path, ends, [], parts.free_joint(c)))

    def _springs_in_series(self) -> None:
        """Replace two springs in series, joined by a massless frame, by one spring."""
        while (pair := self._series()) is not None:
            (one, a), (two, b), node = pair
            far = [
                next(f"{c.path}.frame_{end}" for end in "ab"
                     if self.nodes.find(f"{c.path}.frame_{end}") != node)
                for c in (one, two)
            ]  # fmt: skip
            k = a["stiffness"], b["stiffness"]
            stiffness = k[0] * k[1] / (k[0] + k[1]) if sum(k) else 0.0
            joined = Component(f"{one.path}_{two.path}", "Forces.Spring", {})
            for end, frame in zip("ab", far, strict=True):
                self.nodes.join(frame, f"{joined.path}.frame_{end}")
            law = {"kind": "line", "stiffness": stiffness, "length": a["length"] + b["length"]}
            self.lines = [each for each in self.lines if each[0] not in (one, two)]
            self.lines.append((joined, law))

    def _series(self) -> Any:
        """Return two springs in series with their common frame, or None."""
        ends: dict[str, list[tuple[Component, dict[str, Any]]]] = {}
        for c, law in self.lines:
            for end in "ab":
                ends.setdefault(self.nodes.find(f"{c.path}.frame_{end}"), []).append((c, law))
        taken = {self.nodes.find(node) for node, *_ in self.lumps} | set(self.nodes.held)
        taken |= {self.nodes.find(end) for link in self.links for end in link.ends} | {WORLD}
        taken |= {self.nodes.place(f"{c.path}.frame_{end}")[0] for c in self.model.components
                  if c.kind.startswith(("Sensors.", "Forces.World")) for end in "ab"}  # fmt: skip
        for node, lines in ends.items():
            if node in taken or len(lines) != 2 or lines[0][0] is lines[1][0]:
                continue
            if all(set(law) == {"kind", "stiffness", "length"} for _, law in lines):
                return lines[0], lines[1], node
        return None

    # -- bodies ---------------------------------------------------------------------------------------
    def _chains(self) -> None:
        """Replace two joints with only a massless body between them by one joint."""
        heavy = {self.nodes.place(node)[0] for node, *_ in (*self.lumps, *self.relative)} | {WORLD}
        for c, _ in self.lines:
            heavy |= {self.nodes.place(f"{c.path}.frame_{end}")[0] for end in "ab"}
        for c in self.model.components:
            if c.kind.rpartition(".")[2] in LOADS:
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
        """Return a joint between two clusters of frames, with the poses of its frames in them."""
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
            for node, own in self.relative:
                if self.nodes.place(node)[0] == cluster:
                    R, r = self.nodes.place(node)[1]
                    lump = lump.joined(Lump(0.0, lump.com, R @ own.tensor @ R.T))
            names = [c.path for *_, c in sorted(members, key=lambda each: -each[1].mass)]
            name = (names or [cluster.rpartition(".")[0] or "body"])[0]
            self.bodies[cluster] = self.sheet.fresh(name, "body", self.sheet.bodies)
            table = lump.table()
            if shapes:
                table["shapes"] = shapes[:MOST_SHAPES]
            self.sheet.bodies[self.bodies[cluster]] = table

    def at(self, node: str) -> dict[str, Any]:
        """Return a frame as a point of a body in the description."""
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
            found += [{"shift": numbers(r)}] if abs(r).max() > parts.NEGLIGIBLE_LENGTH else []
            found += rotation(R)
            waiting = HERE
            if step is not None:
                step.coordinate = self.sheet.fresh(step.coordinate, "coordinate", value=True)
                found.append(step.table())
        return found

    def _free(self) -> None:
        """Add free joints for bodies without a joint."""
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
            here = [c for node, c in self.starts.items() if self.nodes.place(node)[0] == cluster]
            told = [c for c in here if parts.tells_start(c)]
            start = (told or here or [None])[0]
            self.sheet.left_out += [
                f"{c.path}: its start values: those of {told[0].path} count" for c in told[1:]
            ]
            joint = self.sheet.fresh(f"{name}_free", "joint", self.sheet.joints)
            self.sheet.joints[joint] = {
                "child": name,
                **parts.free_body(start, self._pose_of(start), len(here) == 1),
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

    # -- outputs --------------------------------------------------------------------------------------
    def _aliases(self) -> None:
        known = {
            move.coordinate for link in self.links for move in link.moves
        }  # names of the file, as the format takes them
        for output, text in self.model.aliases:
            if (law := assembly_variable(text, self.model.components, known)) is not None:
                self.outputs[output] = {"value": law}
                continue
            path, _, last = text.rpartition(".")
            rate = {"w": "phi", "v": "s", "a": ""}.get(last)
            if text in known:
                self.outputs[output] = {"value": quoted(text)}
            elif rate and f"{path}.{rate}" in known:
                self.outputs[output] = {"value": f"der({quoted(f'{path}.{rate}')})"}
            else:
                self.sheet.left_out.append(f"{output} = {text}: an equation")
