"""Inertia tensors given in other axes than the body's: J = R J' Rᵀ, where the columns of R are
those axes in body axes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from kinetree.models.language.numbers_and_expressions import Expression, fault

if TYPE_CHECKING:
    from kinetree.models.language.parts.body_parts import Transform

PLACES = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))  # xx yy zz xy xz yz


def turn(axis: Sequence[float], angle: float) -> np.ndarray:
    """Return the rotation about an axis (Rodrigues)."""
    a = np.asarray(axis) / math.hypot(*axis)
    K = np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])
    return np.eye(3) + math.sin(angle) * K + (1.0 - math.cos(angle)) * K @ K


def rotation_of(frame: Sequence[Transform]) -> np.ndarray:
    """Return the product of constant rotations; other transforms are refused."""
    R = np.eye(3)
    for transform in frame:
        axis, angle = transform.rotate, transform.by
        if axis is None or transform.shift is not None or transform.coordinate is not None:
            raise fault(
                "a transform that is no rotation",
                "constant rotations { rotate = axis, by = angle }",
            )
        if (
            not isinstance(angle, float)
            or any(isinstance(each, str) for each in axis)
            or not any(axis)
        ):
            raise fault(
                "an expression or no direction",
                "numbers as axis and angle of the frame of a tensor",
            )
        R = R @ turn([float(each) for each in axis], angle)
    return R


def rotated(tensor: Sequence[float | str], R: np.ndarray) -> tuple[float | str, ...]:
    """Return the six elements of R J Rᵀ; those of J may be expressions."""
    full = [[0, 3, 4], [3, 1, 5], [4, 5, 2]]
    found: list[float | str] = []
    for i, j in PLACES:
        weights = [0.0] * 6
        for k in range(3):
            for m in range(3):
                weights[full[k][m]] += float(R[i, k] * R[j, m])
        if any(isinstance(each, str) for each in tensor):
            found.append(
                Expression(
                    " + ".join(
                        f"{weight!r}*({each})" for weight, each in zip(weights, tensor, strict=True)
                    )
                )
            )
        else:
            found.append(
                sum(weight * float(each) for weight, each in zip(weights, tensor, strict=True))
            )
    return tuple(found)
