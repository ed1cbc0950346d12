"""Sampled LQG control with the delay of the exchange.

The plant is z⁺ = A z + B v from sample to sample (models/analysis/sampled_loops.py; commands in
transit are states), and two Riccati equations are solved: K for Σ zᵀQz + vᵀRv, L for disturbances
of given density at the inputs and noise of given density in the measures (variance density²/(2
period), as a controller's `noise` makes it). The observer is the block `observer`: z = z⁻ + L (y -
C z⁻), v = -K z.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, expm, solve_discrete_are

from kinetree.models.analysis.linearization import Linear
from kinetree.models.analysis.sampled_loops import SampledLoop, held_plant


@dataclass(frozen=True)
class Observed:
    """Gains of a sampled observer and regulator."""

    plant: SampledLoop
    K: np.ndarray
    L: np.ndarray
    period: float

    @property
    def eigenvalues(self) -> np.ndarray:
        """Return the closed-loop eigenvalues of regulator and observer."""
        A, B, C = self.plant.A, self.plant.B, self.plant.C
        return np.concatenate(
            (np.linalg.eigvals(A - B @ self.K), np.linalg.eigvals(A - A @ self.L @ C))
        )

    def block(self, measures: Sequence[str], rests: Sequence[float]) -> dict:
        """Return the observer as a table of [controllers]."""
        values = [
            f"{name} - {rest!r}" if rest else name
            for name, rest in zip(measures, rests, strict=True)
        ]
        matrices = {
            "A": self.plant.A,
            "B": self.plant.B,
            "C": self.plant.C,
            "L": self.L,
            "K": self.K,
        }
        return {"kind": "observer", "period": self.period, "measures": values} | {
            key: value.tolist() for key, value in matrices.items()
        }


def weights(names: Sequence[str], given: Mapping[str, float], usual: float) -> np.ndarray:
    """Return a diagonal matrix of weights by name; raise ValueError for unknown names."""
    for name in given:
        if name not in names:
            raise ValueError(f"no '{name}' to weigh; there are {', '.join(names)}")
    return np.diag([float(given.get(name, usual)) for name in names])


def observed(
    linear: Linear,
    commands: Sequence[str],
    measures: Sequence[str],
    period: float,
    delay: float,
    table: Mapping[str, Mapping[str, float]],
) -> Observed:
    """Design a sampled observer with state feedback. `table` has weights of states and inputs,
    densities of disturbances at the inputs and of noise in the measurements, all by name.
    """
    part = linear.part(commands, measures)
    plant = held_plant(part, period, delay)
    size, n = len(plant.A), len(part.A)
    Q, R = np.zeros((size, size)), weights(commands, table.get("inputs", {}), 1.0)
    Q[:n, :n] = weights(linear.states, table.get("states", {}), 0.0)
    W = np.zeros((size, size))
    push = part.B @ weights(commands, table.get("disturbance", {}), 1.0)
    W[:n, :n] = diffused(part.A, push @ push.T, period)
    N = weights(measures, table.get("noise", {}), 1.0) ** 2 / (2.0 * period)
    try:
        P = solve_discrete_are(plant.A, plant.B, Q, R)
        S = solve_discrete_are(plant.A.T, plant.C.T, W, N)
    except (LinAlgError, ValueError) as error:
        raise ValueError(
            f"no regulator: {error}; some motion that matters is not moved by the commands, not weighted or not measured"
        ) from None
    K = np.linalg.solve(R + plant.B.T @ P @ plant.B, plant.B.T @ P @ plant.A)
    L = S @ plant.C.T @ np.linalg.inv(plant.C @ S @ plant.C.T + N)
    return Observed(plant, K, L, period)


def diffused(A: np.ndarray, intensity: np.ndarray, period: float) -> np.ndarray:
    """Return the covariance caused by white disturbances in one period (Van Loan 1978)."""
    n = len(A)
    whole = expm(np.block([[-A, 0.5 * intensity], [np.zeros((n, n)), A.T]]) * period)
    found = whole[n:, n:].T @ whole[:n, n:]
    return 0.5 * (found + found.T)
