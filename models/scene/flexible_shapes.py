"""Flexible bodies as data of a scene: surfaces of reduced bodies that modes move, pieces of beams,
and von Mises stresses of both.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from kinetree.models.beams.body_surfaces import von_mises_of
from kinetree.models.beams.discretization import plain_number, text_of
from kinetree.models.beams.reduced_bodies import Reduced
from kinetree.models.description.schema import Description
from kinetree.models.language.parameters import evaluate_parameters
from kinetree.models.quantities.cross_sections import Sizes, half_sizes, moments
from kinetree.models.scene.body_poses import Motion
from kinetree.models.scene.plotted_columns import packed


def skins(description: Description) -> list[dict[str, Any]]:
    """Return the surfaces of reduced bodies: undeformed corners, triangles, mode shapes and modal
    stresses.
    """
    found = []
    for name, r in description.reduced.items():
        if "skin_points" not in r.skin:
            continue
        stresses = r.skin.get("skin_stresses")
        found.append(
            {
                "body": name,
                "count": len(r.stiffness),
                "points": packed(r.skin["skin_points"]),
                "triangles": packed(r.skin["skin_triangles"], "<i4"),
                "shapes": packed(r.skin["skin_shapes"]),
                "stresses": None if stresses is None else packed(np.nan_to_num(stresses)),
            }
        )
    return found


def boxes(description: Description) -> dict[str, list[np.ndarray]]:
    """Return the corners of the bounding box of every surface, by its body."""
    found = {}
    for name, r in description.reduced.items():
        if "skin_points" in r.skin:
            points = r.skin["skin_points"].astype(float)
            ends = np.stack([points.min(axis=0), points.max(axis=0)])
            choices = np.array(list(itertools.product((0, 1), repeat=3)))
            found[name] = list(ends[choices, np.arange(3)])
    return found


def amplitudes(description: Description, motion: Motion) -> list[str]:
    """Return the modal coordinates over time of every surface."""
    return [
        packed(np.nan_to_num(motion.bending[name]))
        for name, r in description.reduced.items()
        if "skin_points" in r.skin
    ]


def largest_stress(r: Reduced, motion: Motion, name: str) -> float:
    """Return the largest von Mises stress of a surface over a motion [Pa]."""
    stresses = r.skin.get("skin_stresses")
    if stresses is None:
        return 0.0
    flat = np.nan_to_num(stresses).reshape(len(r.stiffness), -1)
    rows = np.nan_to_num(motion.bending[name])
    return max(
        (float(von_mises_of((row @ flat).reshape(-1, 6)).max()) for row in rows), default=0.0
    )


def beams(description: Description, bodies: list[str]) -> list[dict[str, Any]]:
    """Return root and pieces of every displayed beam, with the start points of the pieces."""
    found = []
    for form in description.beam_forms.values():
        pieces = [(name, piece.begin) for name, piece in form.pieces if name in bodies]
        if len(pieces) > 1:
            found.append({"pieces": [{"body": name, "begin": at} for name, at in pieces]})
    return found


class Fibre(NamedTuple):
    """Stress of a fibre from the angles of a hinge: factors of the twist and of the bending angles
    about y and z [Pa/rad], and whether the section is round.
    """

    twist: float
    about_y: float
    about_z: float
    round: bool


def fibres(description: Description, bodies: list[str]) -> list[list[Fibre | None]]:
    """Return the fibre factors between neighbouring pieces of every displayed beam; None if there
    is no hinge.
    """
    values, _ = evaluate_parameters(
        {name: parameter.value for name, parameter in description.parameters.items()}
    )
    found = []
    for form in description.beam_forms.values():
        names = [name for name, _ in form.pieces if name in bodies]
        if len(names) < 2:
            continue
        rigid = {joint for _, joint in form.sections}  # parts without a hinge before them
        hinged = [name for name, _ in form.pieces if name not in rigid]
        found.append(
            [
                None if name in rigid else fibre(form.chain, hinged.index(name) - 1, values)
                for name in names[1:]
            ]
        )
    return found


def fibre(chain: Any, k: int, values: Any) -> Fibre:
    """Return the fibre factors of hinge k: von Mises stress of bending and twist at the outermost
    fibre.
    """

    def number(value: Any) -> float:
        return plain_number(text_of(value), values)

    hinge = chain.hinges[k]
    given = chain.profile.at(hinge.station)
    sizes = Sizes(given.form, tuple(number(each) for each in given.sizes), given.j, None)
    section = moments(sizes)
    _, iy, iz, j = (number(each) for each in section)
    y, z = (number(each) for each in half_sizes(sizes))
    twist, about_y, about_z = (number(each) for each in hinge.stiffness[:3])
    return Fibre(twist * max(y, z) / j, about_y * z / iy, about_z * y / iz, given.form == "tube")


def beam_stresses(description: Description, motion: Motion, bodies: list[str]) -> list[np.ndarray]:
    """Return von Mises stresses at the outermost fibre from the elastic loads of the hinges [Pa],
    (frames, pieces) for every displayed beam.
    """
    forms = [
        names
        for form in description.beam_forms.values()
        if len(names := [name for name, _ in form.pieces if name in bodies]) > 1
    ]
    found = []
    for names, factors in zip(forms, fibres(description, bodies), strict=True):
        stresses: list[np.ndarray] = []
        for (a, b), each in zip(itertools.pairwise(names), factors, strict=True):
            if each is None:
                stresses.append(stresses[-1] if stresses else np.zeros(motion.time.size))
            else:
                stresses.append(fibre_stress(each, turned(motion, a, b)))
        at_hinges = np.array(stresses)
        inner = np.maximum(at_hinges[1:], at_hinges[:-1])
        found.append(np.nan_to_num(np.vstack([at_hinges[:1], inner, at_hinges[-1:]]).T))
    return found


def turned(motion: Motion, a: str, b: str) -> np.ndarray:
    """Return the rotation vectors (frames, 3) of body b relative to body a."""
    p, q = motion.poses[a][:, 3:], motion.poses[b][:, 3:]
    w = np.sum(p * q, axis=1)
    v = p[:, :1] * q[:, 1:] - q[:, :1] * p[:, 1:] - np.cross(p[:, 1:], q[:, 1:])
    sine = np.linalg.norm(v, axis=1)
    angle = 2.0 * np.arctan2(sine, np.abs(w))
    scale = np.where(sine > 1e-9, angle / np.maximum(sine, 1e-9), 2.0)
    return v * (scale * np.where(w < 0.0, -1.0, 1.0))[:, None]


def fibre_stress(factors: Fibre, turns: np.ndarray) -> np.ndarray:
    """Return the von Mises stress of bending and twist of a hinge, from its rotation vectors
    (frames, 3).
    """
    mx, my, mz = (np.abs(turns) * factors[:3]).T
    bent = np.hypot(my, mz) if factors.round else my + mz
    return np.sqrt(bent**2 + 3.0 * mx**2)
