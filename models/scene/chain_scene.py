"""A linear chain as a scene: masses in a row connected by springs, with small displacements
magnified to be visible.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.models.language.parts.chain_parts import MEMBER
from kinetree.models.scene.body_poses import FRAMES, Motion, spread
from kinetree.models.scene.default_shapes import CORNERS, DARK, METAL
from kinetree.models.scene.force_graphics import SPRING
from kinetree.models.scene.plotted_columns import curves, marks, packed
from kinetree.models.scene.scene import PALETTE
from kinetree.models.scene.shapes import Part, part
from kinetree.models.scene.shapes import along as upright

if TYPE_CHECKING:
    from kinetree.models.chain.system import ChainSystem
    from kinetree.models.result.result import Result

SHOWN = 0.35  # of the spacing: the largest displacement of a member against its neighbour, as drawn
MOST_TURN = 0.5  # rad, as drawn
BOX = np.array([0.62, 0.4, 0.4])
COIL, WIRE = 1.1, 0.17  # radii of a coil and of its wire by the spacing of its turns
ROUND = (1.0, 2.0, 5.0, 10.0)


def places(system: ChainSystem, result: Result) -> tuple[list[str], np.ndarray, str]:
    """Return names and displacements over time (frames, members, 6) of chain members, and the axis
    along which they lie.
    """
    found = [MEMBER.fullmatch(name) for name in system.coordinates]
    members = dict.fromkeys(match[2] for match in found if match)
    if all(found) and any(match[1] != "x" for match in found if match):
        order = ("x", "y", "z", "rx", "ry", "rz")
        table = np.zeros((result.time.size, len(members), 6))
        for k, member in enumerate(members):
            for j, letter in enumerate(order):
                if f"{letter}{member}" in system.coordinates:
                    table[:, k, j] = result[f"{letter}{member}"]
        loaded = [name[0] for name in system.chain.forces if name[0] in "xyz"]
        return [f"member {member}" for member in members], table, loaded[0] if loaded else "x"
    table = np.zeros((result.time.size, system.n, 6))
    table[:, :, 0] = result.array(system.coordinates)
    return list(system.coordinates), table, "x"


def rounded(value: float) -> float:
    """Return the largest of the values 1, 2, 5, 10, ... not above a magnification, for readability."""
    if value <= 1.0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(value))
    return float(power * max(each for each in ROUND if each * power <= value * (1 + 1e-9)))


def chain_data(system: ChainSystem, result: Result, limit: int = FRAMES) -> dict[str, Any]:
    """Return the scene of a chain as data for the page."""
    names, table, letter = places(system, result)
    rows, count, along = spread(result.time.size, limit), len(names), "xyz".index(letter)
    table = table[rows]
    free = not system.supports.any() and float(
        np.abs(system.couplings.sum(axis=1)).max()
    ) < 1e-9 * float(np.abs(system.couplings).max())
    mean = table[:, :, :3].mean(axis=1, keepdims=True) if free else np.zeros((rows.size, 1, 3))
    table[:, :, :3] -= mean
    gaps = np.abs(np.diff(table[:, :, :3], axis=1, prepend=table[:, :1, :3] if free else 0.0)).max()
    turns = float(np.abs(table[:, :, 3:]).max())
    largest = max(float(gaps), turns * SHOWN / MOST_TURN, 1e-30)
    magnified = rounded(SHOWN / largest) if largest < SHOWN else SHOWN / largest
    poses = np.zeros((rows.size, count, 7))
    poses[:, :, :3] = magnified * table[:, :, :3]
    poses[:, :, along] += np.arange(count) * (-1.0 if free else 1.0)
    angle = 0.5 * magnified * table[:, :, 3:]
    poses[:, :, 4:] = angle
    poses[:, :, 3] = 1.0
    poses[:, :, 3:] /= np.linalg.norm(poses[:, :, 3:], axis=2, keepdims=True)
    motion = Motion(result.time[rows], rows, np.zeros(rows.size, dtype=int), {}, {}, {})
    note = (
        f"displacements drawn {magnified:g} times as large"
        if magnified >= 1.0
        else f"displacements drawn {1 / magnified:.3g} times smaller"
    )
    note += ", against their mean" if free else ""
    coil = system.chain.look == "coil"
    bodies = []
    for k, name in enumerate(names):
        size = np.roll(BOX, along)
        colour = PALETTE[1] if free and k == 0 else PALETTE[0]
        pieces = (
            [part("box", size, np.zeros(3), np.eye(3))]
            if not coil
            else [plate(along, 0.0)]
            if k + 1 == count
            else []
        )
        bodies.append(
            {
                "name": name,
                "text": "",
                "colour": colour,
                "parts": pieces,
                "joints": [],
                "com": [0.0] * 3,
                "mass": 1.0,
            }
        )
    reach = 0.55 * count + (1.0 if coil else 0.5)
    middle = np.zeros(3)
    middle[along] = 0.5 * (count - 1) * (-1.0 if free else 1.0) - (0.5 if coil else 0.0)
    lines = turns_of(names, along) if coil else springs(names, along, -1.0 if free else 1.0)
    clip = {"name": "motion", "time": packed(motion.time, "<f8"), "poses": packed(poses), "origin": None, "vectors": [], "rate": None,
            "forces": [None] * len(lines), "plots": curves(result, motion, system.description), "marks": marks(None, motion)}  # fmt: skip
    return {
        "name": system.name, "text": f"{system.description.text} ({note})", "size": 0.25 * count + 1.0, "middle": middle.tolist(), "reach": reach,
        "up": [0.0, 0.0, 1.0], "normal": None, "ground": None, "bodies": bodies,
        "scenery": [plate(along, -1.0)] if coil else [], "bearings": [],
        "outline": outline(middle, count, along), "lines": lines, "arrows": [], "traces": [], "clips": [clip],
    }  # fmt: skip


def outline(middle: np.ndarray, count: int, along: int) -> list[list[float]]:
    """Return the corners of the row's bounding box, which determine the first view."""
    half = np.full(3, COIL + 2.0 * WIRE)
    half[along] += 0.5 * count
    return [(middle + half * np.array(signs)).tolist() for signs in CORNERS]


def springs(names: list[str], along: int, way: float) -> list[dict[str, Any]]:
    """Return a spring from every member to the next one."""
    reach = np.zeros(3)
    reach[along] = 0.5 * BOX[0] * way
    return [
        {"name": f"coupling {k + 1}", "kind": "spring", "radius": 0.1, "colour": SPRING, "rest": 1.0 - float(BOX[0]),
         "a": {"body": a, "point": reach.tolist()}, "b": {"body": b, "point": (-reach).tolist()}}
        for k, (a, b) in enumerate(zip(names, names[1:]))
    ]  # fmt: skip


def plate(along: int, at: float) -> Part:
    """Return the plate at the end of a coil spring."""
    place = np.zeros(3)
    place[along] = at - WIRE if at < 0.0 else at + WIRE
    return part(
        "cylinder",
        (1.2 * COIL, 1.2 * WIRE),
        place,
        upright(np.eye(3)[along]),
        DARK if at < 0.0 else METAL,
    )


def turns_of(names: list[str], along: int) -> list[dict[str, Any]]:
    """Return one turn of wire between successive members, the first one from the ground."""
    clamped = np.zeros(3)
    clamped[along] = -1.0
    ends = [
        {"body": "ground", "point": clamped.tolist()},
        *({"body": name, "point": [0.0, 0.0, 0.0]} for name in names),
    ]
    look = {
        "kind": "turn",
        "radius": COIL,
        "wire": WIRE,
        "axis": along,
        "colour": SPRING,
        "rest": 1.0,
    }
    return [
        {"name": f"turn {k + 1}", **look, "a": a, "b": b}
        for k, (a, b) in enumerate(zip(ends, ends[1:], strict=False))
    ]
