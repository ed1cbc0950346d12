"""Loops with sampled controllers: the discretised plant with held, delayed commands, and its
margins.

z⁺ = Φ z + Γ₁ v⁻ + Γ₀ v, Φ = exp(A T); the command v of a sample comes n periods and f later: Γ₀ = ∫
exp(A τ) B dτ over 0..T - f, Γ₁ over T - f..T, and further states hold the n + 1 commands under way.
Measurements at a sample depend on the command before it (K. J. Åström, B. Wittenmark,
Computer-Controlled Systems, 3rd ed., 1997, ch. 2 and 3).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import expm

from kinetree.models.analysis.frequency_response import POINTS, StateSpace, around_resonances

PERIOD_TOLERANCE = 1e-9  # of a period
STILL = 1e-9  # distance of poles from 1 that stands for none


@dataclass(frozen=True)
class SampledLoop(StateSpace):
    """A discrete-time system z⁺ = A z + B w, y = C z + D w from one sample to the next."""

    period: float

    def response(self, omega: np.ndarray | float) -> np.ndarray:
        """Return the frequency response G(exp(jω period)) of a sampled loop."""
        z = np.exp(1j * self.period * np.atleast_1d(np.asarray(omega, dtype=float)))
        if not self.A.size:
            return np.broadcast_to(self.D.astype(complex), (z.size, *self.D.shape)).copy()
        return (
            self.C
            @ np.linalg.solve(
                z[:, None, None] * np.eye(len(self.A)) - self.A, self.B[None].astype(complex)
            )
            + self.D
        )

    def then(self, other: StateSpace) -> SampledLoop:
        return SampledLoop(*vars(super().then(other)).values(), period=self.period)

    def symmetric_frequencies(self, delay: float) -> list[float]:
        """Return the ends of the frequency axis at which a loop with dead time has a real response:
        zero, and half the sampling rate where there is no further dead time [rad/s].
        """
        at_rest = np.abs(np.linalg.eigvals(self.A) - 1.0).min(initial=1.0) > STILL
        return [0.0] * bool(at_rest) + [np.pi / self.period] * (delay == 0.0)

    def frequencies(self, low: float | None = None, high: float | None = None) -> np.ndarray:
        """Return ω up to half the sampling rate, denser near lightly damped resonances."""
        values = np.linalg.eigvals(self.A) if self.A.size else np.array([1.0])
        slow = np.log(np.where(np.abs(values) > 1e-12, values, 1e-12).astype(complex)) / self.period
        top = np.pi / self.period
        sizes = np.abs(slow)
        least = float(sizes[sizes > 1e-6 * top].min(initial=0.01 * top))
        first, last = low or min(0.1 * least, 0.01 * top), min(high or top, top)
        swings = slow[(slow.imag > 0.0) & (slow.imag < 0.999 * top)]
        close = around_resonances(swings)
        even = np.geomspace(first, last, max(2, int(POINTS * np.log10(last / first))))
        return np.unique(np.concatenate((even, close[(close > first) & (close < last)])))

    def stands(self, crossovers: Sequence[float], delay: float) -> bool:
        """Return whether the closed loop is stable.

        States that are constant with and without the loop, such as locked oil, are not counted as
        unstable.
        """
        open_poles, values = np.linalg.eigvals(self.A), np.linalg.eigvals(self.closed())
        still = np.abs(values - 1.0) <= STILL
        mine = values if still.sum() > (np.abs(open_poles - 1.0) <= STILL).sum() else values[~still]
        return bool(np.abs(mine).max(initial=0.0) < 1.0)


def held_plant(plant: StateSpace, period: float, delay: float = 0.0) -> SampledLoop:
    """Return the plant discretised for a command that is held and delayed by `delay`."""
    n = math.floor(delay / period + PERIOD_TOLERANCE)
    f = max(delay - n * period, 0.0)
    f = 0.0 if f < PERIOD_TOLERANCE * period else f
    Phi, new = exponential_integral(plant.A, plant.B, period - f)
    late, old = exponential_integral(plant.A, plant.B, f)
    whole, m, size = late @ Phi, plant.B.shape[1], len(plant.A)
    old = Phi @ old  # acts first, then waits for the rest of the period
    count = n + 1  # commands under way: v[k - 1], ..., v[k - n - 1]
    A, B = np.zeros((size + count * m, size + count * m)), np.zeros((size + count * m, m))
    A[:size, :size] = whole
    last = slice(size + n * m, size + count * m)
    A[:size, last] = old
    if n:
        A[:size, size + (n - 1) * m : size + n * m] = new
    else:
        B[:size] = new
    B[size : size + m] = np.eye(m)
    for k in range(1, count):
        A[size + k * m : size + (k + 1) * m, size + (k - 1) * m : size + k * m] = np.eye(m)
    C = np.hstack((plant.C, np.zeros((len(plant.C), count * m))))
    C[:, last] = plant.D
    return SampledLoop(A, B, C, np.zeros_like(plant.D), period)


def exponential_integral(
    A: np.ndarray, B: np.ndarray, time: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return exp(A time) and ∫ exp(A τ) B dτ over 0..time, from one exponential (C. F. Van Loan,
    IEEE Trans. AC 23 (1978) 395).
    """
    n, m = B.shape
    whole = expm(np.block([[A, B], [np.zeros((m, n + m))]]) * time)
    return whole[:n, :n], whole[:n, n:]
