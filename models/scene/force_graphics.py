"""Display of force elements, drives and contacts: elements between two points, wheels, legs,
contact points.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from kinetree.models.description.schema import Description
from kinetree.models.forces.kinds import KINDS
from kinetree.models.scene.attachments import Numbers, turned
from kinetree.models.scene.body_poses import Motion
from kinetree.models.scene.command_targets import CONTROLLED, commanded
from kinetree.models.scene.default_shapes import DARK, METAL, ROD
from kinetree.models.scene.shapes import Part, along, matrix, part

TYRE, OIL, SPRING, ROPE, RAIL = "#2b2f36", "#d9b13b", "#2f8f8b", "#8a6543", "#7d8894"
BARREL = 0.62  # of the shortest length seen, where a cylinder does not tell its own
WIDTH = 0.45  # of a tyre by its radius


def world(motion: Motion, body: str, point: np.ndarray) -> np.ndarray:
    """Return the position of a body's point over time in ground axes."""
    if body == "ground":
        return np.tile(point, (motion.time.size, 1))
    pose = motion.poses[body]
    return pose[:, :3] + np.array([matrix(q) @ point for q in pose[:, 3:]])


def stretched(
    description: Description, numbers: Numbers, motion: Motion, size: float
) -> list[dict[str, Any]]:
    """Return the springs, struts, ropes and cylinders between two points, as data of a scene."""
    found, told = [], commanded(description)
    parts = {**description.forces, **description.actuators, **description.hydraulics}
    for label, force in parts.items():
        ends = getattr(force, "between", None)
        look = KINDS[force.kind].look if label in description.forces else cylinder_look
        if ends is None or look is None:
            continue
        places = [
            {"body": end.body, "point": numbers.vector(end.point).tolist()}
            for end in (ends[0], *getattr(force, "over", ()), ends[1])
        ]
        if any(place["body"] not in motion.poses and place["body"] != "ground" for place in places):
            continue
        for a, b in pairwise(places):
            lengths = np.linalg.norm(
                world(motion, a["body"], np.array(a["point"]))
                - world(motion, b["body"], np.array(b["point"])),
                axis=1,
            )
            known = lengths[np.isfinite(lengths)]
            low = float(known.min()) if known.size else 0.0
            rest = float(known.mean()) if known.size else 0.0
            box = {"commanded": CONTROLLED} if label in told and a is places[0] else {}
            found.append(
                {
                    "name": label,
                    "a": a,
                    "b": b,
                    "rest": rest,
                    **look(force, numbers, size, low),
                    **box,
                }
            )
    return found


def cylinder_look(force: Any, numbers: Numbers, size: float, low: float) -> dict[str, Any]:
    """Return barrel and rod of a cylinder from its bore and stroke; `low` is its smallest length in
    the run.
    """
    area = getattr(force, "area_a", None) or getattr(
        getattr(force, "chambers", None), "area_a", None
    )
    bore = np.sqrt(numbers.number(area) / np.pi) if area is not None else 0.0
    radius = float(np.clip(1.25 * bore, 1.1 * ROD * size, 3.0 * ROD * size))
    own = getattr(force, "shortest", None) or getattr(
        getattr(force, "chambers", None), "shortest", None
    )
    shortest = numbers.number(own) if own is not None else 0.0
    barrel = 0.9 * shortest if 0.0 < shortest <= low else BARREL * low
    return {"kind": "cylinder", "radius": radius, "barrel": float(barrel), "colour": OIL}


def standing(
    description: Description, numbers: Numbers, size: float
) -> tuple[dict[str, list[Part]], list[dict[str, Any]]]:
    """Return shapes that force elements add to bodies, and the points of contact with the ground."""
    parts: dict[str, list[Part]] = {}
    contacts = []
    for label, force in description.forces.items():
        kind = KINDS[force.kind]
        if kind.parts is not None:
            for body, pieces in kind.parts(force, numbers, size).items():
                if ("bodies", body) in description.pieces:
                    continue  # a beam is drawn itself
                parts.setdefault(body, []).extend(pieces)
        touched = kind.touch(force, numbers) if kind.touch is not None else None
        if touched is not None:
            point, radius = touched
            body, normal, height = (getattr(force, key) for key in ("body", "normal", "height"))
            normal = numbers.vector(normal)
            normal = normal / (np.linalg.norm(normal) or 1.0)
            facts = {
                "point": point.tolist(),
                "normal": normal.tolist(),
                "radius": radius,
                "height": numbers.known(height),
            }
            contacts.append({"name": label, "body": body, **facts})
    return parts, contacts


def wheel(middle: np.ndarray, axle: np.ndarray, radius: float) -> list[Part]:
    """Return the shapes of tyre and rim of a wheel."""
    R = along(axle)
    return [
        part("wheel", (radius, WIDTH * radius), middle, R, TYRE),
        part("cylinder", (0.55 * radius, 0.9 * WIDTH * radius), middle, R, METAL),
    ]


def leg(foot: np.ndarray, axis: np.ndarray, extension: float, size: float) -> list[Part]:
    """Return housing, leg and foot plate of an outrigger jack."""
    width = 1.6 * ROD * size
    house = 0.06 * size
    end = foot + extension * axis
    R = along(axis)
    return [
        part("box", (2.2 * width, 2.2 * width, 2 * house), foot - 0.4 * house * axis, R, DARK),
        part(
            "cylinder",
            (0.7 * width, extension + house),
            foot + 0.5 * (extension - house) * axis,
            R,
            METAL,
        ),
        part("cylinder", (2.2 * width, 0.5 * width), end - 0.25 * width * axis, R, DARK),
    ]


def rail(force: Any, numbers: Numbers, size: float) -> dict[str, list[Part]]:
    """Return a guide rail on its body."""
    start, axis = numbers.vector(force.between[0].point), numbers.vector(force.axis)
    axis = axis / (np.linalg.norm(axis) or 1.0)
    begin = numbers.number(force.begin)
    end = numbers.number(force.end) if force.end is not None else begin + 0.5 * size
    middle = start + 0.5 * (begin + end) * axis
    width = 0.6 * ROD * size
    return {
        force.between[0].body: [
            part("box", (width, width, abs(end - begin)), middle, along(axis), RAIL)
        ]
    }


def track(force: Any, numbers: Numbers, size: float) -> dict[str, list[Part]]:
    """Return the curve of a guide as short straight pieces, in body axes [m]."""
    from scipy.interpolate import CubicSpline  # costs a quarter of a second, few scenes need it

    start = numbers.vector(force.between[0].point)
    if force.helix is not None:
        radius, pitch, begin, end = (
            numbers.number(getattr(force.helix, each))
            for each in ("radius", "pitch", "begin", "end")
        )
        s = np.linspace(begin, end, 2 + int(abs(end - begin) / 0.2))
        line = np.stack([radius * np.cos(s), radius * np.sin(s), pitch * s / (2.0 * np.pi)], axis=1)
    else:
        points = np.array([*force.points, *force.points[:1]] if force.closed else force.points)
        s = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
        line = CubicSpline(s, points, bc_type="periodic" if force.closed else "not-a-knot")(
            np.linspace(0.0, s[-1], 8 * len(points))
        )
    pieces = []
    for before, after in zip(start + line, start + line[1:], strict=False):
        way = after - before
        length = float(np.linalg.norm(way))
        pieces.append(
            part(
                "cylinder",
                (0.3 * ROD * size, length),
                0.5 * (before + after),
                along(way / (length or 1.0)),
                RAIL,
            )
        )
    return {force.between[0].body: pieces}


def bearing(force: Any, numbers: Numbers, size: float) -> dict[str, list[Part]]:
    """Return a rubber sleeve on the first body and a pin through it on the second, along the axis
    of least rotational stiffness.
    """
    first, second = force.between
    stiffness = (
        force.stiffness
        if not isinstance(force.stiffness[0], tuple)
        else [row[k] for k, row in enumerate(force.stiffness)]
    )
    shifting, turning = np.split(numbers.vector(stiffness), 2)
    if not shifting.any():
        return {}  # it holds turns only: nothing is borne
    R = np.eye(3)
    for axis, angle in zip(np.eye(3), numbers.vector(force.rotate), strict=True):
        R = R @ turned(axis, angle)
    way, radius = along(R[:, int(turning.argmin())]), 2.2 * ROD * size
    at = numbers.vector(first.point)
    sleeve = [
        part("wheel", (radius, 1.3 * radius), at, way, TYRE),
        part("cylinder", (1.08 * radius, 0.4 * radius), at, way, RAIL),
    ]
    back = turned(
        numbers.vector(force.turned), -float(np.linalg.norm(numbers.vector(force.turned)))
    )  # axes of the first body on the second
    pin = [
        part(
            "cylinder",
            (0.56 * radius, 2.2 * radius),
            numbers.vector(second.point),
            back @ way,
            METAL,
        )
    ]
    found = {first.body: sleeve}
    found.setdefault(second.body, []).extend(pin)
    return found
