"""Merging of rigidly connected bodies into one body before a run is compiled.

The carrier takes over mass, centre of mass and inertia, as expressions over the parameters of the
parts; joints at a merged part begin at the carrier with the constant elements that lead to the
part. Bodies and joints that are named elsewhere (forces, contacts, couplings, outputs, stages, ...)
are not merged. Reactions and poses of merged parts are computed with the unmerged structure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from kinetree.models.description.joints import joint_elements
from kinetree.models.description.schema import Body, Description
from kinetree.models.expressions.measurement_frames import GROUND_AXES, composed
from kinetree.models.expressions.node_arithmetic import E, choose, const, cos, function, sin
from kinetree.models.expressions.nodes import ZERO, Const, Node
from kinetree.models.expressions.vectors import NOWHERE, Vector
from kinetree.models.graph.tree import GROUND, Topology, path_set
from kinetree.models.joints.elements import ElementForm
from kinetree.solvers.layout import Op

Elements = tuple[ElementForm, ...]
Around = dict[str, tuple[Elements, Elements]]  # elements before and after those of a joint
WORD = re.compile(r"'([^']*)'|([^\W\d][\w.]*)")
ELSEWHERE = {
    "format",
    "name",
    "text",
    "materials",
    "bodies",
    "joints",
    "scenery",
    "parameters",
    "tables",
    "chain",
}  # sections that name nothing that moves
TEXTS = {"text", "unit", "display_unit"}


@dataclass(frozen=True)
class Merged:
    """A description with merged bodies, its tree, the transforms to the merged parts, and their
    carriers.
    """

    description: Description
    topology: Topology
    around: Around
    carriers: dict[str, str]


def words(part: Any) -> Iterator[str]:
    """Yield all names in a part of a description, including those inside expressions."""
    if isinstance(part, str):
        yield part
        for quoted, plain in WORD.findall(part):
            yield quoted or plain
            if "." in plain:
                pieces = plain.split(".")
                yield from (".".join(pieces[:k]) for k in range(1, len(pieces)))
    elif isinstance(part, BaseModel):
        for key in type(part).model_fields:
            if key not in TEXTS:
                yield from words(getattr(part, key))
    elif isinstance(part, Mapping):
        for key, each in part.items():
            yield from words(key)
            yield from words(each)
    elif isinstance(part, (tuple, list)):
        for each in part:
            yield from words(each)


def mentioned(description: Description) -> set[str]:
    """Return the names used in all sections except bodies and joints."""
    found: set[str] = set()
    for key in type(description).model_fields:
        section = getattr(description, key)
        if key not in ELSEWHERE:
            found |= set(
                words(tuple(section.values()) if isinstance(section, Mapping) else section)
            )
    return found


def attached(description: Description, tree: Topology) -> frozenset[str]:
    """Return the bodies that are rigidly attached to others in every structure of a description."""
    if not description.run.merge or description.chain is not None:
        return frozenset()
    rigid = {
        k
        for k, joint in enumerate(tree.joint)
        if not tree.reversed[k]
        and constant(description, joint)
        and ("joints", joint) not in description.modal_parts
    }
    if not rigid:
        return frozenset()
    if description.stages:
        rigid -= in_loops(description, tree)
    named = mentioned(description)
    return frozenset(
        tree.order[k] for k in rigid if tree.order[k] not in named and tree.joint[k] not in named
    )


def constant(description: Description, joint: str) -> bool:
    """Return whether a joint has no motion, not even a prescribed one."""
    return all(
        element.kind.constant
        for element in joint_elements(description.joints[joint], joint).elements
    )


def in_loops(description: Description, tree: Topology) -> set[int]:
    """Return the tree positions of joints that belong to a loop, since another structure may cut
    them.
    """
    number = {GROUND: 0} | {body: k for k, body in enumerate(tree.order, 1)}
    found: set[int] = set()
    for joint in (description.joints[name] for name in tree.cuts):
        ends = (set(path_set(tree.parent, number[body])) for body in (joint.parent, joint.child))
        found |= {k - 1 for k in set.symmetric_difference(*ends)}
    return found


def merged(description: Description, tree: Topology, parts: frozenset[str]) -> Merged | None:
    """Return the description with merged bodies, or None if nothing can be merged. Bodies with mass
    on the ground are not merged.
    """
    carriers: dict[str, str] = {}
    ways: dict[str, Elements] = {}
    bodies = dict(description.bodies)
    names = (GROUND, *tree.order)
    for k, part in enumerate(tree.order):
        parent = names[tree.parent[k]]
        carrier = carriers.get(parent, parent)
        if part not in parts or (carrier == GROUND and not weightless(description.bodies[part])):
            continue
        carriers[part] = carrier
        ways[part] = (
            ways.get(parent, ())
            + joint_elements(description.joints[tree.joint[k]], tree.joint[k]).elements
        )
        if carrier != GROUND:
            bodies[carrier] = joined(bodies[carrier], description.bodies[part], ways[part])
    if not carriers:
        return None
    bodies = {name: body for name, body in bodies.items() if name not in carriers}
    gone = {tree.joint[k] for k, part in enumerate(tree.order) if part in carriers}
    around: Around = {}
    joints = {}
    for name, joint in description.joints.items():
        if name in gone:
            continue
        before, after = ways.get(joint.parent, ()), ways.get(joint.child, ())
        if joint.parent in carriers or joint.child in carriers:
            around[name] = before, tuple(element.turned() for element in reversed(after))
            ends = {
                "parent": carriers.get(joint.parent, joint.parent),
                "child": carriers.get(joint.child, joint.child),
            }
            joint = joint.model_copy(update=ends)
        joints[name] = joint
    found = description.model_copy(update={"bodies": bodies, "joints": joints})
    return Merged(found, thinned(tree, carriers), around, carriers)


def thinned(tree: Topology, carriers: Mapping[str, str]) -> Topology:
    """Return the tree without merged bodies, in the same order."""
    left = [k for k, body in enumerate(tree.order) if body not in carriers]
    number = {GROUND: 0} | {tree.order[k]: n for n, k in enumerate(left, 1)}
    names = (GROUND, *tree.order)
    return Topology(
        order=tuple(tree.order[k] for k in left),
        parent=tuple(
            number[carriers.get(before, before)] for before in (names[tree.parent[k]] for k in left)
        ),
        joint=tuple(tree.joint[k] for k in left),
        reversed=tuple(tree.reversed[k] for k in left),
        cuts=tree.cuts,
    )


# -- inertia ------------------------------------------------------------------------------------------------------------------------------
def weightless(body: Body) -> bool:
    """Return whether a body has zero mass and inertia for all parameter values."""
    return all(
        E(each).node is ZERO
        for each in (body.mass, *(body.inertia or ()), *(body.inertia_at_origin or ()))
    )


def moments(body: Body) -> tuple[E, Vector, list[E]]:
    """Return mass, mass times centre of mass, and the inertia xx yy zz xy xz yz about the origin of
    a body.
    """
    mass, com = E(body.mass), Vector(*(E(each) for each in body.com))
    tensor = [E(each) for each in body.inertia or body.inertia_at_origin or (0.0,) * 6]
    if body.inertia_at_origin is None or body.inertia is not None:
        tensor = [a + mass * b for a, b in zip(tensor, spread(com), strict=True)]
    return mass, com.times(mass), tensor


def spread(c: Vector) -> tuple[E, ...]:
    """Return (c·c) E - c cᵀ as xx yy zz xy xz yz: the inertia tensor of a unit mass at c."""
    x, y, z = c
    return y * y + z * z, x * x + z * z, x * x + y * y, -(x * y), -(x * z), -(y * z)


def joined(body: Body, part: Body, way: Elements) -> Body:
    """Return a body with a rigidly attached part added: the part's inertia is rotated, R J' Rᵀ, and
    shifted with its mass.
    """
    if weightless(part):
        return body
    mass, moment, tensor = moments(body)
    R, r = placed(way)
    m, c, about = (
        E(part.mass),
        Vector(*(E(each) for each in part.com)),
        [E(each) for each in part.inertia or part.inertia_at_origin or (0.0,) * 6],
    )
    if part.inertia is None and part.inertia_at_origin is not None:
        about = [a - m * b for a, b in zip(about, spread(c), strict=True)]
    xx, yy, zz, xy, xz, yz = about
    rows = [
        composed(R, Vector(*row)) for row in ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    ]  # J Rᵀ by rows
    J = [
        composed(R, Vector(*column)) for column in zip(*rows, strict=True)
    ]  # its columns, turned: R J Rᵀ
    there = composed(R, c).plus(r)
    own = J[0].x, J[1].y, J[2].z, J[0].y, J[0].z, J[1].z
    total, moment = mass + m, moment.plus(there.times(m))
    tensor = [a + b + m * d for a, b, d in zip(tensor, own, spread(there), strict=True)]
    share = (
        total
        if isinstance(total.node, Const) and total.node is not ZERO
        else choose(function(Op.EQ, total, const(0.0)), const(1.0), total)
    )
    com = Vector(*(each / share for each in moment))
    update = {
        "mass": number(total),
        "com": tuple(map(number, com)),
        "inertia": None,
        "inertia_at_origin": tuple(map(number, tensor)),
    }
    return body.model_copy(update=update)


def number(value: E) -> float | Node:
    return value.node.value if isinstance(value.node, Const) else value.node


def placed(way: Elements) -> tuple[tuple[Vector, ...], Vector]:
    """Return rotation (its columns) and translation of a sequence of constant elements."""
    R, r = GROUND_AXES, NOWHERE
    for element in way:
        axis = Vector(*(E(each) for each in element.axis or (0.0, 0.0, 0.0)))
        if not element.kind.turns:
            r = r.plus(composed(R, axis))
            continue
        a = axis.unit()
        s, c = sin(E(element.amount or 0.0)), cos(E(element.amount or 0.0))
        turned = [
            a.times(part * (const(1.0) - c)).plus(unit.times(c)).plus(a.cross(unit).times(s))
            for part, unit in zip(a, GROUND_AXES, strict=True)
        ]
        R = tuple(composed(R, column) for column in turned)
    return R, r
