"""Reported quantities of beams: hinge coordinates, their meaning as beam motions, clamped natural
frequencies.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from kinetree.models.beams.discretization import first_frequency, moduli, plain_number, text_of
from kinetree.models.description.joints import joint_elements
from kinetree.models.description.schema import Description
from kinetree.models.language.parameters import evaluate_parameters


def hinge_coordinates(description: Description) -> frozenset[str]:
    """Return the coordinates and speeds of the hinges of all beams."""
    forms = [
        joint_elements(description.joints[name], name)
        for section, name in description.pieces
        if section == "joints" and name in description.joints
    ]
    return frozenset(name for form in forms for name in (*form.coordinates, *form.speeds))


MOTION = re.compile(
    r"(.+)\.(?:hinge\d+\.(?:turn_|w)(x|y|z)|(bend|stretch|shear_y|shear_z)\d+)"
)  # local coordinates of hinges, and speeds of balls


def motion_of(description: Description, coordinate: str) -> str:
    """Return the beam motion that a local hinge coordinate belongs to, as in "boom bending about
    z"; other coordinates unchanged.
    """
    match = MOTION.fullmatch(coordinate)
    if match is None or match[1] not in description.beams:
        return coordinate
    beam, turn, word = match[1], match[2], match[3]
    if word and word != "bend":
        return f"{beam} {word.replace('_', ' along ')}"
    axis = turn or description.beams[beam].bending
    return f"{beam} twist" if axis == "x" else f"{beam} bending about {axis}"


def beam_motions(description: Description, names: Iterable[str]) -> dict[str, str]:
    """Return, by name, the beam motions of those names that are local coordinates or speeds of
    hinges.
    """
    found = {
        name: motion_of(description, name.removeprefix("der(").removesuffix(")")) for name in names
    }
    return {name: words for name, words in found.items() if words not in (name, name[4:-1])}


def clamped_frequencies(description: Description, name: str) -> tuple[float, float]:
    """Return the first frequencies of a beam clamped at its root, of bending along z and along y
    [Hz].
    """
    values, _ = evaluate_parameters(
        {name: parameter.value for name, parameter in description.parameters.items()}
    )
    chain = description.beam_forms[name].chain
    density, young, _ = moduli(description.materials[description.beams[name].material])
    found = (
        first_frequency(
            chain.profile,
            chain.length,
            lambda m, k=k: young * m[k],
            lambda m: density * m.area,
            True,
        )
        for k in (1, 2)
    )
    y, z = (plain_number(text_of(each), values) / (2.0 * math.pi) for each in found)
    return y, z
