"""The open loop of a PID controller and a linear plant, from which margins are computed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kinetree.models.analysis.frequency_response import StateSpace

LEAST_FILTER = 1e-6  # s, where a derivative has none


def pid(kp: float, ki: float = 0.0, kd: float = 0.0, filter: float = 0.0) -> StateSpace:
    """Return the transfer function kp + ki/s + kd s/(filter s + 1)."""
    blocks, B, C, D = [], [], [], kp
    if ki:
        blocks.append(0.0)
        B.append(1.0)
        C.append(ki)
    if kd:
        T = max(filter, LEAST_FILTER)
        blocks.append(-1.0 / T)
        B.append(1.0 / T)
        C.append(-kd / T)
        D += kd / T
    return StateSpace(
        np.diag(blocks).reshape(len(B), len(B)),
        np.array(B).reshape(-1, 1),
        np.array(C).reshape(1, -1),
        np.array([[D]]),
    )


def loop_of(plant: StateSpace, table: Mapping[str, Any]) -> StateSpace:
    """Return the open loop of a linear plant and its PID controller u = kp (setpoint - y) + ..."""
    numbers = {key: float(table.get(key, 0.0)) for key in ("kp", "ki", "kd", "filter")}
    return pid(**numbers).then(plant)
