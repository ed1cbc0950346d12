"""Linear range of reduced bodies: how far their interfaces rotate, compared with what a sum of
modes can represent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from kinetree.models.beams.reduced_bodies import Reduced
    from kinetree.models.description.schema import Description

# rad: with linear shapes the arc is 0.2 % longer than it is, with those of second order the error is of the cube of the angle
FIRST_ORDER, SECOND_ORDER = 0.1, 0.25


def largest_turn(r: Reduced, amplitudes: np.ndarray) -> tuple[float, int, int]:
    """Return the largest rotation [rad] of an interface for modal amplitudes (rows, n), with the
    index of interface and row.
    """
    turns = np.einsum("rk,fki->rfi", amplitudes, r.turns)
    angles = np.sqrt((turns**2).sum(axis=2))
    if not angles.size:
        return 0.0, 0, 0
    row, face = divmod(int(np.nanargmax(np.nan_to_num(angles))), angles.shape[1])
    return float(angles[row, face]), face, row


def beyond_linear_range(
    description: Description, columns: Mapping[str, np.ndarray], time: np.ndarray
) -> Iterator[str]:
    """Yield a sentence for every reduced body that deforms further than its modes can represent."""
    for name, r in description.reduced.items():
        modes = [columns.get(f"{name}.mode{k}") for k in range(1, len(r.stiffness) + 1)]
        if any(each is None for each in modes):
            continue
        angle, face, row = largest_turn(r, np.stack(modes, axis=1))  # type: ignore[arg-type]
        allowed = FIRST_ORDER if r.second is None else SECOND_ORDER
        if angle > allowed:
            yield (
                f"bodies.{name}.flexible: interface '{r.interfaces[face]}' turns by {angle:.2g} rad at"
                f" t = {time[row]:.6g} s, more than the {allowed:g} rad that modes follow: cut the body"
                " into several, or use a beam"
            )
