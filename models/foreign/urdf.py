"""URDF as a description: links connected by fixed joints become one body; mimic joints become
couplings.

Frames are those of URDF (a link's frame is its joint's), so that coordinates, speeds and
accelerations equal those of other readers of the file.
"""

from __future__ import annotations

import io
import logging
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.models.checks.bodies_check import INERTIA_ROUNDING
from kinetree.models.foreign.display_shapes import MOST_SHAPES, posed, visual_shape
from kinetree.models.foreign.robot import (
    ROBOT_ARGUMENTS,
    Lump,
    Sheet,
    numbers,
    place,
    quoted,
    refused,
)
from kinetree.models.foreign.xml_file import check_xml
from kinetree.models.language.errors import shown

TYPES = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "planar": "planar",
    "floating": "free",
}
MOST_LINKS = 10_000
SMALLEST_GYRATION = 1e-6  # m: an inertia with a smaller radius is that of a point, rounded
ARGUMENTS = ROBOT_ARGUMENTS


refuse = partial(refused, kind="a robot in URDF")


def parsed(path: Path, text: bytes | None = None) -> Any:
    """Return the robot as yourdfpy reads it, without meshes; `text` replaces the file's content."""
    try:
        import yourdfpy
        from lxml.etree import LxmlError, XMLParser
        from lxml.etree import parse as lxml_tree
    except ImportError:
        raise refuse(
            str(path),
            "a file that needs the package yourdfpy",
            hint="install it with 'pip install kinetree[robots]'",
        ) from None
    logging.getLogger("yourdfpy").setLevel(
        logging.CRITICAL
    )  # what matters is said as an error here
    plain = {
        "build_scene_graph": False,
        "build_collision_scene_graph": False,
        "load_meshes": False,
        "load_collision_meshes": False,
    }
    if text is None:
        check_xml(path, "a robot in URDF")  # yourdfpy would read on behind a fault
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            robot = yourdfpy.URDF.load(
                str(path) if text is None else io.BytesIO(text), **plain
            ).robot
    except (
        LxmlError,
        OSError,
        ValueError,
        TypeError,
        AttributeError,
        KeyError,
        IndexError,
    ) as error:
        if isinstance(error, AttributeError):
            source = str(path) if text is None else io.BytesIO(text)
            refuse_open_joint(path, lxml_tree(source, XMLParser(recover=True)))
        reason = f"a tag without {error}" if isinstance(error, KeyError) else str(error)
        raise refuse(str(path), f"what cannot be read: {reason}") from None
    if not robot.links or len(robot.links) > MOST_LINKS:
        raise refuse(
            str(path),
            f"{len(robot.links)} links",
            hint=f"at least one and at most {MOST_LINKS} are read",
        )
    return robot


def refuse_open_joint(path: Path, tree: Any) -> None:
    """Raise for the first joint of an XML tree that has no parent or no child."""
    for joint in tree.iter("joint"):
        for end in ("parent", "child"):
            if joint.find(end) is None:
                raise refuse(
                    str(path),
                    f"joint '{joint.get('name')}' without <{end}>",
                    line=joint.sourceline if path.suffix != ".xacro" else None,
                )


def lump_of(link: Any) -> Lump:
    """Return the inertia of one link in its own axes."""
    given = link.inertial
    if given is None or (given.mass is None and given.inertia is None):
        return Lump()
    origin = np.eye(4) if given.origin is None else given.origin
    tensor = np.zeros((3, 3)) if given.inertia is None else np.asarray(given.inertia, float)
    return Lump(float(given.mass or 0.0), np.zeros(3), tensor).moved(origin[:3, :3], origin[:3, 3])


def describe(
    path: Path,
    floating: bool = False,
    limits: bool = False,
    torques: bool = False,
    keep_fixed: bool = False,
) -> tuple[dict, list[str]]:
    """Return the description of a robot and a list of what was left out."""
    return described(path, parsed(path), floating, limits, torques, keep_fixed)


def described(
    path: Path, robot: Any, floating: bool, limits: bool, torques: bool, keep_fixed: bool
) -> tuple[dict, list[str]]:
    """Return the description of a robot that has been read already, and a list of what was left
    out.
    """
    sheet = Sheet(robot.name or path.stem, path.name)
    links = {link.name: link for link in robot.links}
    into = {joint.child: joint for joint in robot.joints}
    for joint in robot.joints:
        if joint.parent not in links or joint.child not in links:
            raise refuse(
                str(path),
                f"joint '{joint.name}' between '{joint.parent}' and '{joint.child}'",
                hint="one of them is no link",
            )
        if joint.type != "fixed" and joint.type not in TYPES:
            raise refuse(
                str(path),
                f"joint '{joint.name}' of type '{joint.type}'",
                hint="known are fixed, " + ", ".join(TYPES),
            )
    roots = [name for name in links if name not in into]
    if len(roots) != 1 or len(into) != len(robot.joints):
        raise refuse(
            str(path),
            f"{len(roots)} links without a parent"
            if len(roots) != 1
            else "a link with two parents",
            hint="a tree with one root",
        )
    order = in_order(robot, roots[0], len(links), str(path))
    empty = without_mass(order, links, into)
    sheet.left_out += [
        f"joint '{into[link].name}' moves nothing that has mass: it is held"
        for link in order
        if link in empty
    ]
    carriers = carried(order, into, keep_fixed, empty)
    check_inertias(sheet, order, links, carried(order, into, False, empty), str(path), not floating)
    add_bodies(sheet, order, links, carriers, roots[0], floating)
    names = dict(zip(order, body_names(sheet, order, carriers), strict=True))
    add_looks(sheet, robot, order, carriers, names, path.parent)
    for link in order[1:]:
        if carriers[link][0] == link:
            add_joint(sheet, into[link], carriers, names, limits, torques)
    if not limits:
        sheet.without_stops(
            sum(
                carriers[joint.child][0] == joint.child
                for joint in robot.joints
                if has_stops(joint)
            )
        )
    for joint in robot.joints:
        if joint.mimic is not None:
            add_mimic(sheet, joint)
    return sheet.description(), sheet.left_out


def in_order(robot: Any, root: str, count: int, file: str) -> list[str]:
    """Return the links from the root outwards, siblings in the order of the file."""
    children: dict[str, list[str]] = {}
    for joint in robot.joints:
        children.setdefault(joint.parent, []).append(joint.child)
    order, stack = [], [root]
    while stack:
        link = stack.pop()
        order.append(link)
        stack.extend(reversed(children.get(link, [])))
    if len(order) != count:
        raise refuse(file, "joints in a circle", hint="a tree with one root")
    return order


def without_mass(order: list[str], links: dict[str, Any], into: dict[str, Any]) -> set[str]:
    """Return links on moving joints that, together with everything attached to them, have no mass."""
    heavy = set()
    for link in reversed(order):
        lump = lump_of(links[link])
        if link in heavy or lump.mass != 0.0 or np.any(lump.tensor != 0.0):
            heavy.add(link)
            if link in into:
                heavy.add(into[link].parent)
    found = {link for link in order[1:] if link not in heavy and into[link].type != "fixed"}
    follows = {link: into[link].mimic.joint for link in found if into[link].mimic is not None}
    while led := {
        link
        for link in found & follows.keys()
        if follows[link] not in {into[each].name for each in found}
    }:
        found -= led  # a coupling to what moves holds them
    return found


def carried(
    order: list[str], into: dict[str, Any], keep_fixed: bool, empty: set[str]
) -> dict[str, tuple[str, np.ndarray]]:
    """Return for every link the link it is rigidly merged with, and its pose there."""
    found: dict[str, tuple[str, np.ndarray]] = {}
    for link in order:
        joint = into.get(link)
        if joint is None or link not in empty and (joint.type != "fixed" or keep_fixed):
            found[link] = link, np.eye(4)
        else:
            carrier, pose = found[joint.parent]
            found[link] = carrier, pose @ pose_of(joint)
    return found


def pose_of(joint: Any) -> np.ndarray:
    return np.eye(4) if joint.origin is None else joint.origin


def check_inertias(
    sheet: Sheet,
    order: list[str],
    links: dict[str, Any],
    carriers: dict[str, tuple[str, np.ndarray]],
    file: str,
    held: bool,
) -> None:
    """List the links whose principal moments no body has; refuse links that move and whose moment
    of inertia about an axis through the origin of their frame is negative, with all that is fixed
    to them.

    `held` says that the root does not move.
    """
    whole: dict[str, Lump] = {}
    for link in order:
        lump = lump_of(links[link])
        carrier, pose = carriers[link]
        whole[carrier] = whole.get(carrier, Lump()).joined(lump.moved(pose[:3, :3], pose[:3, 3]))
        found = impossible_moments(lump)
        if found is not None:
            sheet.left_out.append(
                f"assumed: the inertia of link '{link}' as it is given, with principal moments"
                f" {listed(found)}; of a body each is 0 or more and at most the sum of the others"
            )
    for link in order[1 if held else 0 :]:
        lump = whole.get(link)
        if lump is None or not finite(lump) or lump.mass < 0.0:
            continue
        moments = np.linalg.eigvalsh(lump.tensor_about(np.zeros(3)))
        if moments[0] < -INERTIA_ROUNDING * abs(moments).sum():
            raise refuse(
                file,
                f"link '{link}' with negative inertia: principal moments about its origin"
                f" {listed(moments)}",
                hint="check its <inertia>, and that ixy, ixz and iyz are those about its centre of"
                " mass",
            )


def impossible_moments(lump: Lump) -> np.ndarray | None:
    """Return the principal moments about the centre of mass [kg.m2] if no rigid body has them."""
    if not finite(lump):
        return None
    moments = np.linalg.eigvalsh(lump.tensor)
    rounding = INERTIA_ROUNDING * abs(moments).sum() + SMALLEST_GYRATION**2 * abs(lump.mass)
    wrong = moments[0] < -rounding or moments[0] + moments[1] < moments[2] - rounding
    return moments if wrong else None


def finite(lump: Lump) -> bool:
    """Return whether a mass and its inertia are numbers; what is none is said of the body."""
    return bool(np.isfinite(lump.mass) and np.isfinite((*lump.com, *lump.tensor.flat)).all())


def listed(moments: np.ndarray) -> str:
    """Return numbers for a message."""
    return ", ".join(f"{each:.4g}" for each in moments)


def add_bodies(
    sheet: Sheet,
    order: list[str],
    links: dict[str, Any],
    carriers: dict[str, Any],
    root: str,
    floating: bool,
) -> None:
    """Add one body per link that is not merged into another, and the root."""
    lumps: dict[str, Lump] = {}
    for link in order:
        carrier, pose = carriers[link]
        lumps[carrier] = lumps.get(carrier, Lump()).joined(
            lump_of(links[link]).moved(pose[:3, :3], pose[:3, 3])
        )
    carried: dict[str, list[str]] = {}
    for link in order:
        carried.setdefault(carriers[link][0], []).append(link)
    for link, lump in lumps.items():
        if link == root and not floating and lump.mass == 0.0:
            continue  # a root without mass is the ground itself
        parts = [each for each in carried[link] if each != link]
        text = {"text": "carries " + ", ".join(parts)[:150]} if parts else {}
        sheet.bodies[sheet.fresh(link, "body", sheet.bodies)] = lump.table() | text
    if len(sheet.bodies) and (floating or lumps[root].mass):
        first = next(iter(sheet.bodies))
        sheet.joints["root_joint"] = {"child": first, "type": "free" if floating else "rigid"}


def body_names(sheet: Sheet, order: list[str], carriers: dict[str, Any]) -> list[str]:
    """Return the name of the body that each link belongs to, or ground."""
    moving = [link for link in order if carriers[link][0] == link]
    names = list(sheet.bodies)
    if len(names) < len(moving):
        names.insert(0, "ground")
    of = dict(zip(moving, names, strict=True))
    return [of[carriers[link][0]] for link in order]


def add_looks(
    sheet: Sheet,
    robot: Any,
    order: list[str],
    carriers: dict[str, Any],
    names: dict[str, str],
    folder: Path,
) -> None:
    """Add the visuals of all links to their bodies as shapes."""
    links = {link.name: link for link in robot.links}
    materials = {material.name: material for material in robot.materials}
    for link in order:
        _, pose = carriers[link]
        for visual in links[link].visuals if names[link] in sheet.bodies else ():
            shapes = sheet.bodies[names[link]].setdefault("shapes", [])
            if not drawn(visual):
                sheet.left_out.append(
                    f"a mirrored or stretched mesh of link '{link}': it is not drawn"
                )
                continue
            shape = visual_shape(visual, materials, folder)
            if shape is None and visual.geometry is not None and visual.geometry.mesh is not None:
                sheet.left_out.append(
                    f"the mesh {shown(visual.geometry.mesh.filename)} of link '{link}':"
                    " there is no such file"
                )
            if shape is not None and len(shapes) < MOST_SHAPES:
                own = pose @ (np.eye(4) if visual.origin is None else visual.origin)
                shapes.append(posed(shape, own[:3, :3], own[:3, 3]))
    for body in sheet.bodies.values():
        if not body.get("shapes", True):
            del body["shapes"]


def drawn(visual: Any) -> bool:
    """Return whether the mesh of a visual is scaled uniformly; others are not displayed."""
    mesh = None if visual.geometry is None else visual.geometry.mesh
    scale = np.ravel(1.0 if mesh is None or mesh.scale is None else mesh.scale).astype(float)
    return bool(scale.min() > 0.0 and np.ptp(scale) <= 1e-9 * scale.max())


def add_joint(
    sheet: Sheet,
    joint: Any,
    carriers: dict[str, Any],
    names: dict[str, str],
    limits: bool,
    torques: bool,
) -> None:
    """Add a joint with friction, stops and drive."""
    pose = carriers[joint.parent][1] @ pose_of(joint)
    name = sheet.fresh(joint.name, "joint", sheet.joints)
    kind = TYPES.get(joint.type, "rigid")
    table = {"parent": names[joint.parent], "child": names[joint.child], "type": kind} | place(
        pose[:3, :3], pose[:3, 3]
    )
    sheet.joints[name] = table
    if kind in ("revolute", "prismatic", "planar"):
        axis = np.array([1.0, 0.0, 0.0]) if joint.axis is None else np.asarray(joint.axis, float)
        table["axis"] = numbers(axis)
    if kind not in ("revolute", "prismatic"):
        return
    coordinate = sheet.fresh(joint.name, "coordinate", value=True)
    table["coordinates"] = [coordinate]
    if joint.dynamics is not None:
        sheet.rubbing(
            coordinate, float(joint.dynamics.damping or 0.0), float(joint.dynamics.friction or 0.0)
        )
    limit = joint.limit
    if limits and has_stops(joint):
        sheet.stop(
            coordinate,
            float(limit.lower or 0.0),
            float(limit.upper or 0.0),
            float(limit.effort or 0.0),
        )
    if torques:
        sheet.torque(coordinate, "N.m" if kind == "revolute" else "N")


def has_stops(joint: Any) -> bool:
    """Return whether the position of a joint is limited."""
    return joint.limit is not None and joint.type in ("revolute", "prismatic")


def add_mimic(sheet: Sheet, joint: Any) -> None:
    """Add a coupling for a mimic joint."""
    followed = joint.mimic.joint
    found = {
        name: table["coordinates"][0]
        for name, table in sheet.joints.items()
        if "coordinates" in table
    }
    if followed not in found or joint.name not in found:
        sheet.left_out.append(f"joint '{joint.name}' follows '{followed}', which has no coordinate")
        return
    factor = 1.0 if joint.mimic.multiplier is None else float(joint.mimic.multiplier)
    offset = 0.0 if joint.mimic.offset is None else float(joint.mimic.offset)
    sheet.couplings[f"{joint.name}.mimic"] = {
        "value": f"{quoted(found[joint.name])} - ({factor!r}*{quoted(found[followed])} + {offset!r})"
    }
