"""Inputs with derivatives: a coupling that follows an input makes the mechanism depend on the
input's time derivatives.

ż = A z + B w + E₁ ẇ + E₂ ẅ becomes, for z' = z - E₂ ẇ - (E₁ + A E₂) w, ż' = A z' + (B + A (E₁ + A
E₂)) w: equal responses, without derivatives. An output that then still depends on an input's
derivative (as the force that drives a prescribed speed depends on its acceleration) cannot be an
output of such a system.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kinetree.models.analysis.finite_differences import DIFFERENCE_STEP, automatic_differences

if TYPE_CHECKING:
    from kinetree.models.analysis.constrained_tangents import Tangents
    from kinetree.models.analysis.linearization import Linear
    from kinetree.models.system.local_coordinates import Evaluation

LEFT = 1e-7  # part of what makes up the slope by a rate that is more than its errors


def with_rates(
    linear: Linear,
    evaluation: Evaluation,
    q: np.ndarray,
    u: np.ndarray,
    x: np.ndarray,
    registers: Sequence[int],
    along: Tangents,
) -> Linear:
    """Return the linear system extended by time derivatives of the inputs."""
    c = evaluation.system.compiled
    rows, p = linear.A.shape[0], len(linear.coordinates)
    first, second, D1, D2 = (
        np.zeros((count, len(c.inputs))) for count in (rows, rows, len(registers), len(registers))
    )
    for k, moved in zip(evaluation.rated, along.by_rates.T, strict=True):
        first[:p, k] = moved[along.coordinates]
        for order, (change, found, seen) in enumerate(
            ((moved, first, D1), (0.0 * moved, second, D2))
        ):
            slopes = slopes_by_input_rate(
                evaluation, q, u, change, x, k, order, along.independent, registers
            )
            found[p:, k], seen[:, k] = slopes[: rows - p], slopes[rows - p :]
    E = first + linear.A @ second
    left = np.maximum(
        uncancelled_rows(D1, linear.C, second), uncancelled_rows(D2, linear.C, 0.0 * second)
    )
    return replace(
        linear,
        B=linear.B + linear.A @ E,
        D=linear.D + linear.C @ E,
        shift=E,
        shift_by_rates=second,
        improper=left,
    )


def uncancelled_rows(D: np.ndarray, C: np.ndarray, E: np.ndarray) -> np.ndarray:
    """Return a mask of the rows in which D + C E is not zero beyond rounding."""
    return np.abs(D + C @ E) > LEFT * (np.abs(D) + np.abs(C) @ np.abs(E))


def slopes_by_input_rate(
    evaluation: Evaluation, q: np.ndarray, u: np.ndarray, change: np.ndarray, x: np.ndarray, k: int, order: int,
    independent: np.ndarray, registers: Sequence[int],
) -> np.ndarray:  # fmt: skip
    """Return the derivatives of the independent accelerations, the rates of the states and
    registers by a time derivative of input k, which also changes the speeds.
    """
    ws = evaluation.instance.ws

    def response(h: np.ndarray) -> np.ndarray:
        rates = (float(h[0]), 0.0) if order == 0 else (0.0, float(h[0]))
        with evaluation.moving_input(k, *rates):
            evaluation.call("outputs" if registers else "accelerations", q, u + change * h[0], x)
            return np.concatenate((ws.udot[independent], ws.xdot, ws.val[list(registers)]))

    return automatic_differences(response, np.zeros(1), np.array([DIFFERENCE_STEP]))[:, 0]
