"""Step sizes below which the variable-metric iteration of the forms ITR surely converges, [Sh24]
(2.43), (2.51), (2.52).

H = M⁻¹ of the previous step is a valid start while ‖ΔM‖ < 1/‖H‖ (2.43). Over a step h the
coordinates change by q̇ h, so that the time derivative of M gives the bound h‖Ṁ‖‖M⁻¹‖ < 1, which is
(2.51) with computed constants. (2.52) estimates it as 1/(κ max(1, ‖q̇‖)), κ the condition number of
M. Both are sufficient conditions: beyond them the iteration may converge more slowly, or by its
line search.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kinetree.models.system.local_coordinates import Chart

if TYPE_CHECKING:
    from kinetree.models.system.system import System

SHIFT = 1e-6  # s, over which the mass matrix is differenced


@dataclass(frozen=True)
class StepAdvice:
    """Bounds on the step size of a run by ITR (variable-metric iteration), at one state."""

    condition: float  # of the mass matrix
    sure: float  # s, by the rate of the mass matrix (2.51); infinite where it does not change
    estimate: float  # s, by the condition number and the speeds alone (2.52)

    def __str__(self) -> str:
        sure = f"{self.sure:.2g} s" if math.isfinite(self.sure) else "any length"
        return (
            f"ITR surely converges at the start with steps up to {sure} (2.51), as the mass matrix "
            f"changes; the estimate (2.52) by its condition number {self.condition:.3g} is "
            f"{self.estimate:.2g} s"
        )


def itr_step_advice(system: System, t: float, q: np.ndarray, u: np.ndarray) -> StepAdvice:
    """Return the step sizes below which ITR (variable-metric iteration) surely converges from a
    state.
    """
    mass = system.mass_matrix(t, q)
    values = np.linalg.eigvalsh(mass)
    later = system.mass_matrix(t + SHIFT, Chart(system, t, q).moved(q, SHIFT * u))
    rate = float(np.linalg.norm(later - mass, 2)) / SHIFT
    noise = 1e3 * np.finfo(float).eps * values[-1] / SHIFT
    sure = float(values[0]) / rate if rate > noise else math.inf
    condition = float(values[-1] / values[0])
    return StepAdvice(condition, sure, 1.0 / (condition * max(1.0, float(np.linalg.norm(u)))))
