"""Complete orientations among the columns of a result: quaternions, where e and -e are the same
rotation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from kinetree.models.run.simulation_unit import Unit


def quaternion_columns(unit: Unit, names: list[str]) -> list[list[int]]:
    """Return the columns w, x, y, z of every output that is a complete orientation."""
    labels = [
        label
        for label, output in unit.description.outputs.items()
        if output.quantity == "orientation" and output.axis is None
    ]
    parts = [[f"{label}[{k}]" for k in range(1, 5)] for label in labels]
    return [[names.index(name) for name in part] for part in parts if set(part) <= set(names)]


def turn_continuously(table: np.ndarray, columns: list[int]) -> None:
    """Choose the sign of quaternions, row by row, nearest to the row before; e and -e are the same
    rotation.
    """
    e = table[:, columns]
    opposite = np.sum(e[1:] * e[:-1], axis=1) < 0.0
    table[1:, columns] = e[1:] * np.cumprod(np.where(opposite, -1.0, 1.0))[:, np.newaxis]
