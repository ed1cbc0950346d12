"""Poles of a free decay by least squares over all samples: variable projection.

    min over λ of Σ_c |y_c - Φ(λ) a_c|²/σ_c²,   a_c the best amplitudes for these λ
columns of Φ: exp(λt) of a real λ, exp(-st) cos(ωt) and exp(-st) sin(ωt) of a pair. The Jacobian is
that of L. Kaufman (1975), -P ∂Φ a with P the projector onto what Φ leaves; at the minimum s²
(JᵀJ)⁻¹ is the covariance of the poles, s² the residual variance. Cost: a factorisation of Φ per
iteration.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from scipy.optimize import least_squares

ITERATIONS = 200
FINE = 1e-9  # part of a channel's size below which nothing is searched
QUIET = 1e-14  # noise of a channel that a fit meets to rounding, part of its size


@dataclass
class Poles:
    """Poles in units of the sample interval: real exponents λ = -s, and pairs -s ± jω."""

    single: np.ndarray
    decay: np.ndarray
    turn: np.ndarray

    @classmethod
    def of(cls, exponents: np.ndarray) -> Poles:
        """Return poles from exponents, pairs listed once or twice."""
        real, turning = np.real(exponents), np.imag(exponents)
        return cls(real[turning == 0.0], -real[turning > 0.0], turning[turning > 0.0])

    @property
    def vector(self) -> np.ndarray:
        return np.concatenate((self.single, self.decay, self.turn))

    def put(self, values: np.ndarray) -> Poles:
        """Return poles of the same kinds with new values."""
        n, m = self.single.size, self.decay.size
        return Poles(values[:n], values[n : n + m], values[n + m :])

    def columns(self, t: np.ndarray) -> np.ndarray:
        """Return the matrix Φ at times t: columns of real poles, cosines, sines."""
        fade = np.exp(-np.outer(t, self.decay))
        angle = np.outer(t, self.turn)
        return np.hstack(
            (np.exp(np.outer(t, self.single)), fade * np.cos(angle), fade * np.sin(angle))
        )


def amplitudes(poles: Poles, t: np.ndarray, channels: np.ndarray) -> np.ndarray:
    """Return the least-squares amplitudes of the columns of Φ, one column per channel."""
    return np.linalg.lstsq(poles.columns(t), channels, rcond=None)[0]


class Projection:
    """Residuals of the variable projection and their Jacobian for scipy; channels are divided by
    their noise.
    """

    def __init__(self, start: Poles, t: np.ndarray, channels: np.ndarray):
        self.start, self.t, self.channels = start, t, channels
        self.scale = np.maximum(
            np.hypot(np.concatenate((start.single, start.decay, start.turn)), self.pace(start)),
            1e-300,
        )

    @staticmethod
    def pace(start: Poles) -> np.ndarray:
        """Return the scale of each parameter of the poles."""
        sizes = np.hypot(start.decay, start.turn)
        return np.concatenate((np.abs(start.single), sizes, sizes))

    def poles(self, x: np.ndarray) -> Poles:
        return self.start.put(x * self.scale)

    def residuals(self, x: np.ndarray) -> np.ndarray:
        Q = self.basis(self.poles(x))
        return (self.channels - Q @ (Q.T @ self.channels)).T.ravel()

    def basis(self, poles: Poles) -> np.ndarray:
        """Return an orthonormal basis of the columns of Φ."""
        return np.linalg.qr(poles.columns(self.t))[0]

    def jacobian(self, x: np.ndarray) -> np.ndarray:
        poles, t = self.poles(x), self.t
        Phi, Q = poles.columns(t), self.basis(poles)
        a = np.linalg.lstsq(Phi, self.channels, rcond=None)[0]
        n, m = poles.single.size, poles.decay.size
        cosines, sines = Phi[:, n : n + m], Phi[:, n + m :]
        found = []
        for k in range(n):
            found.append(np.outer(t * Phi[:, k], a[k]))
        for k in range(m):
            found.append(
                -t[:, None]
                * (np.outer(cosines[:, k], a[n + k]) + np.outer(sines[:, k], a[n + m + k]))
            )
        for k in range(m):
            found.append(
                t[:, None]
                * (np.outer(cosines[:, k], a[n + m + k]) - np.outer(sines[:, k], a[n + k]))
            )
        return (
            np.column_stack([-(each - Q @ (Q.T @ each)).T.ravel() for each in found]) * self.scale
        )


def pole_bounds(poles: Poles, samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Return bounds, per sample, of the poles that the record can resolve."""
    n, m = poles.single.size, poles.decay.size
    most, least = np.full(n + m, 30.0), np.full(n + m, 30.0 / samples)
    low = np.concatenate((-most[:n], -least[n:], np.zeros(m)))
    return low, np.concatenate((least[:n], most[n:], np.full(m, np.pi * (1 + 1e-9))))


def refine_poles(
    start: Poles, t: np.ndarray, channels: np.ndarray, rounds: int = 3
) -> tuple[Poles, np.ndarray, np.ndarray]:
    """Return the poles that fit all samples best, their covariance, and the noise of every channel."""
    t = t - t[0]
    noise = np.maximum(channels.std(axis=0), 1e-300)
    poles = start
    for _ in range(rounds if channels.shape[1] > 1 else 1):
        task = Projection(poles, t, channels / noise)
        x0 = poles.vector / task.scale
        if x0.size:
            low, high = (limit / task.scale for limit in pole_bounds(poles, len(t)))
            inside = np.clip(x0, low + 1e-9 * (high - low), high - 1e-9 * (high - low))
            found = least_squares(
                task.residuals,
                inside,
                jac=cast(Any, task.jacobian),
                bounds=(low, high),
                x_scale="jac",
                xtol=1e-14,
                ftol=1e-14,
                gtol=1e-14,
                max_nfev=ITERATIONS,
            )
            poles = task.poles(found.x)
        left = channels - poles.columns(t) @ amplitudes(poles, t, channels)
        noise = np.maximum(
            np.sqrt((left**2).mean(axis=0)),
            QUIET * np.maximum(np.abs(channels).max(axis=0), 1e-300),
        )
    task = Projection(poles, t, channels / noise)
    x = poles.vector / task.scale
    r = task.residuals(x)
    free = max(r.size - x.size - channels.shape[1] * poles.columns(t[:1]).shape[1], 1)
    if not x.size:
        return poles, np.zeros((0, 0)), noise
    J = task.jacobian(x)
    covariance = np.linalg.pinv(J.T @ J) * float(r @ r) / free * np.outer(task.scale, task.scale)
    return poles, covariance, noise


def information_criterion(
    poles: Poles, t: np.ndarray, channels: Mapping[str, np.ndarray] | np.ndarray
) -> float:
    """Return Schwarz's information criterion of a set of poles."""
    values = (
        channels if isinstance(channels, np.ndarray) else np.column_stack(list(channels.values()))
    )
    Phi = poles.columns(t - t[0])
    left = values - Phi @ np.linalg.lstsq(Phi, values, rcond=None)[0]
    floor = (FINE * np.maximum(np.abs(values).max(axis=0), 1e-300)) ** 2
    numbers = Phi.shape[1] * values.shape[1] + poles.vector.size
    return float(
        t.size * np.log(np.maximum((left**2).mean(axis=0), floor)).sum()
        + numbers * np.log(t.size * values.shape[1])
    )
