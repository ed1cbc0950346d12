"""Trees that are built step by step: bodies and joints written into the text of a description."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kinetree.models.description.names import name_fault
from kinetree.models.joints.kinds import KINDS
from kinetree.scripts.studio.texts import is_json, plain

GROUND = "ground"
AXES = ("x", "y", "z", "-x", "-y", "-z")
PLAIN_NAME = re.compile(r"[A-Za-z0-9_-]+")
SNAP = 0.2  # of the longest edge of a box: how near a click is to the middle of a face
DIGITS = 12  # of a computed inertia

Triple = tuple[float, float, float]


@dataclass(frozen=True)
class NewBody:
    """A body of the shape of a box."""

    name: str
    mass: float  # kg
    box: Triple  # lengths of the edges [m]
    centre: Triple = (0.0, 0.0, 0.0)  # of the box, and of the mass, in the body's frame [m]

    def table(self) -> dict[str, Any]:
        """Return the body as a table of a description."""
        return {
            "mass": self.mass,
            "com": list(self.centre),
            "inertia": inertia_of_box(self.mass, self.box),
            "shape": {"box": list(self.box), "at": list(self.centre)},
        }


@dataclass(frozen=True)
class NewJoint:
    """A typed joint between two bodies."""

    name: str
    parent: str
    child: str
    kind: str = "revolute"
    axes: tuple[str, ...] = ("z",)
    at: Triple = (0.0, 0.0, 0.0)  # in the parent's frame [m]
    child_at: Triple = (0.0, 0.0, 0.0)  # in the child's frame [m]
    pitch: float = 0.0  # advance per turn of a screw [m]

    def table(self) -> dict[str, Any]:
        """Return the joint as a table of a description."""
        kind = KINDS[self.kind]
        table: dict[str, Any] = {"parent": self.parent, "child": self.child, "type": self.kind}
        if kind.axes:
            axes = list(self.axes[: len(kind.axes)])
            table["axis"] = axes[0] if len(axes) == 1 else axes
        if kind.pitch:
            table["pitch"] = self.pitch
        table["at"] = list(self.at)
        if any(self.child_at):
            table["child_at"] = list(self.child_at)
        return table


def inertia_of_box(mass: float, box: Sequence[float]) -> list[float]:
    """Return xx, yy, zz, xy, xz, yz of a homogeneous box about its centre [kg.m2]."""
    x, y, z = (edge * edge for edge in box)
    moments = [float(f"{mass * sum(pair) / 12.0:.{DIGITS}g}") for pair in ((y, z), (x, z), (x, y))]
    return [*moments, 0.0, 0.0, 0.0]


def snapped(body: Any, point: Sequence[float]) -> list[float]:
    """Return the centre of the box of a body, or the middle of one of its faces, where it is near."""
    try:
        shape = body["shape"]
        edges = [float(each) for each in shape["box"]]
        centre = [float(each) for each in shape.get("at", (0, 0, 0))]
    except (KeyError, TypeError, ValueError):  # another shape, or expressions
        return list(point)
    places = [
        [
            c + side * edge / 2.0 if j == k else c
            for j, (c, edge) in enumerate(zip(centre, edges, strict=True))
        ]
        for k in range(3)
        for side in (-1, 0, 1)
    ]
    nearest = min(places, key=lambda place: math.dist(place, point))
    near = math.dist(nearest, point) <= SNAP * max(edges)
    return [float(f"{x:.{DIGITS}g}") for x in nearest] if near else list(point)


def free_name(stem: str, taken: Mapping[str, Any]) -> str:
    """Return a name that is not taken: the stem with the first number that is free."""
    return next(name for k in range(1, len(taken) + 2) if (name := f"{stem}{k}") not in taken)


def tables_of(text: str, section: str) -> dict[str, Any]:
    """Return the tables of a section of a text by name; none where it cannot be read."""
    try:
        found = plain(text).get(section, {})
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def with_body(text: str, body: NewBody | None, joint: NewJoint) -> str:
    """Return the text with a joint and the body that it carries; without a body, the joint closes
    a loop between bodies that are there.
    """
    additions = {} if body is None else {("bodies", body.name): body.table()}
    additions[("joints", joint.name)] = joint.table()
    for (section, name), table in additions.items():
        text = with_table(text, section, name, table)
    return text


def with_table(text: str, section: str, name: str, table: Mapping[str, Any]) -> str:
    """Return the text with one more table of a section; a name that is taken is refused."""
    if fault := name_fault(name, value=False) if name else "a name":
        raise ValueError(f"{section}: found the name {name!r}, expected {fault}")
    content = plain(text)
    if name in content.get(section, {}):
        raise ValueError(f"{section}.{name}: there is one of that name already")
    if is_json(text):
        content.setdefault(section, {})[name] = dict(table)
        return json.dumps(content, indent=1, ensure_ascii=False)
    lines = [f"[{section}.{key_of(name)}]", *(f"{k} = {toml_value(v)}" for k, v in table.items())]
    return f"{text.rstrip()}\n\n" + "\n".join(lines) + "\n"


def built(text: str, name: str) -> tuple[NewBody, NewJoint] | None:
    """Return a body and the joint that carries it, where they are written as they are built here."""
    body = tables_of(text, "bodies").get(name)
    joints = {
        label: joint
        for label, joint in tables_of(text, "joints").items()
        if isinstance(joint, dict) and joint.get("child") == name
    }
    if len(joints) != 1 or body is None:
        return None
    ((label, joint),) = joints.items()
    try:
        shape, axis = body["shape"], joint.get("axis", ())
        found = NewBody(name, float(body["mass"]), _triple(shape["box"]), _triple(shape["at"]))
        carrier = NewJoint(
            label,
            joint["parent"],
            name,
            joint["type"],
            (axis,) if isinstance(axis, str) else tuple(axis),
            _triple(joint["at"]),
            pitch=float(joint.get("pitch", 0.0)),
        )
        same = found.table() == body and carrier.table() == joint
    except (KeyError, TypeError, ValueError):
        return None
    return (found, carrier) if same else None


def _triple(values: Sequence[Any]) -> Triple:
    """Return three numbers; ValueError where there are others, or expressions."""
    x, y, z = map(float, values)
    return x, y, z


def with_other(text: str, body: NewBody, joint: NewJoint) -> str:
    """Return the text with a body that is there, and the joint that carries it, written anew."""
    found = built(text, body.name)
    if found is None:
        raise ValueError(f"{body.name} was written in another way: change it in the description")
    text = without_table(text, "joints", found[1].name)
    return with_body(without_table(text, "bodies", body.name), body, joint)


def without_body(text: str, name: str) -> str:
    """Return the text without a body and the joints that hold it."""
    if name not in tables_of(text, "bodies"):
        raise ValueError(f"there is no body '{name}'")
    joints = [
        label
        for label, joint in tables_of(text, "joints").items()
        if isinstance(joint, dict) and name in (joint.get("parent", GROUND), joint.get("child"))
    ]
    for section, label in (*(("joints", label) for label in joints), ("bodies", name)):
        text = without_table(text, section, label)
    return text


def without_table(text: str, section: str, name: str) -> str:
    """Return the text without a table of a section, verified by reading it again."""
    content = plain(text)
    del content[section][name]
    if not content[section]:
        del content[section]
    if is_json(text):
        return json.dumps(content, indent=1, ensure_ascii=False)
    made = without_lines(text, section, name)
    if plain(made) != content:
        raise ValueError(
            f"[{section}.{name}] is not written as a table of its own: take it out in the description"
        )
    return made


def without_lines(text: str, section: str, name: str) -> str:
    """Return TOML without the lines of a table and of those inside it; comments before the next
    table stay.
    """
    key = rf"(?:{re.escape(name)}|'{re.escape(name)}'|\"{re.escape(name)}\")"
    header = re.compile(rf"\[{{1,2}}\s*{section}\s*\.\s*{key}\s*(?:\.[^\]]*)?\]")
    kept: list[str] = []
    dropped: list[str] = []
    inside = False
    for line in text.splitlines(keepends=True):
        if line.startswith("["):
            kept += notes_at_end(dropped)
            inside, dropped = header.match(line) is not None, []
        (dropped if inside else kept).append(line)
    return "".join(kept).rstrip() + "\n"


def notes_at_end(lines: list[str]) -> list[str]:
    """Return the empty lines and comments that end a table: they belong to the next one."""
    k = len(lines)
    while k and (not lines[k - 1].strip() or lines[k - 1].startswith("#")):
        k -= 1
    return lines[k:]


def key_of(name: str) -> str:
    """Return a name as a key of TOML."""
    return name if PLAIN_NAME.fullmatch(name) else json.dumps(name, ensure_ascii=False)


def toml_value(value: Any) -> str:
    """Return a value in TOML: text, number, list or inline table."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key_of(k)} = {toml_value(v)}" for k, v in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return repr(float(f"{value:.{DIGITS}g}"))
