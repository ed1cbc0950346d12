"""Modes of a free decay: frequencies, decrements, amplitudes and phases from sampled channels, by the method of rotational invariance (ESPRIT).

    y_c(k) = Σ_i Re a_ci z_i^k,   z = exp((-s + 2πi f) dt)
The leading right singular vectors of the stacked Hankel matrices of all channels span the powers of z; shifting them by one sample gives z as
eigenvalues (total least squares). Noise lies in the small singular values, which are cut off where they fall most steeply, or behind `order` of them.
Cost: a singular value decomposition of (channels N/2) x (N/2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kinetree.models.analysis.identified import Fit, draw

MOST_ORDER = 40  # poles that are looked for
LARGEST = 600  # columns of the Hankel matrices; longer records are cut into rows
ROUNDING = 1e-13  # singular values below this part of the largest are zero


class DecayError(ValueError):
    """The samples do not suit."""


@dataclass(frozen=True)
class DecayMode:
    """One part of a decay: amplitude exp(-decay t) cos(2π frequency t + phase), per channel."""

    frequency: float  # of the damped oscillation [Hz]; 0 for a part that does not swing
    decay: float  # [1/s]
    amplitudes: dict[str, float]
    phases: dict[str, float]  # [rad]

    @property
    def damping(self) -> float:
        """Damping ratio."""
        size = float(np.hypot(self.decay, 2.0 * np.pi * self.frequency))
        return self.decay / size if size else 0.0

    @property
    def decrement(self) -> float:
        """Logarithmic decrement of a period."""
        return self.decay / self.frequency if self.frequency else float("inf")


@dataclass(frozen=True)
class Decay:
    """Modes, slowest first, the singular values that decided on their number, and how well their sum meets the channels."""

    modes: tuple[DecayMode, ...]
    poles: np.ndarray
    singular: np.ndarray
    time: np.ndarray
    measured: dict[str, np.ndarray]
    fitted: dict[str, np.ndarray]

    @property
    def fits(self) -> tuple[Fit, ...]:
        return tuple(Fit.of(name, values, self.fitted[name]) for name, values in self.measured.items())

    def plot(self, path: str | Path | None = None):
        """Channels and the sum of the modes; returns the figure."""
        title = ", ".join(f"{mode.frequency:.4g} Hz" for mode in self.modes if mode.frequency)
        return draw(self.time, self.measured, self.fitted, title, path)


def free_decay(time: Sequence[float] | np.ndarray, channels: Mapping[str, Sequence[float] | np.ndarray], order: int | None = None) -> Decay:
    """Modes of a free decay.

    `order`: two per oscillation, one per part that does not swing, such as an offset; left out: as the singular values say.
    """
    t = np.asarray(time, dtype=float)
    columns = {name: np.asarray(values, dtype=float) for name, values in channels.items()}
    check(t, columns, order)
    dt = (t[-1] - t[0]) / (t.size - 1)
    rows = t.size - min(t.size // 2, LARGEST)
    scaled = [values / (values.std() or 1.0) for values in columns.values()]
    hankel = np.vstack([np.lib.stride_tricks.sliding_window_view(values, t.size - rows + 1) for values in scaled])
    _, singular, V = np.linalg.svd(hankel, full_matrices=False)
    poles = invariance(V[: order or steepest(singular[:MOST_ORDER])].T)
    powers = poles[None, :] ** np.arange(t.size)[:, None]
    amplitudes, fitted = {}, {}
    for name, values in columns.items():
        amplitudes[name] = np.linalg.lstsq(powers, values.astype(complex), rcond=None)[0]
        fitted[name] = (powers @ amplitudes[name]).real
    return Decay(tuple(parts_of(poles, amplitudes, dt)), poles, singular, t, columns, fitted)


def check(t: np.ndarray, columns: Mapping[str, np.ndarray], order: int | None) -> None:
    """Equal time steps, finite values, enough of them."""
    if order is not None and not 1 <= order <= LARGEST // 2:
        raise DecayError(f"order {order}; expected 1 to {LARGEST // 2}")
    least = max(8, 4 * (order or 1) + 2)
    if t.ndim != 1 or t.size < least:
        raise DecayError(f"{t.size} samples; expected at least {least}")
    steps = np.diff(t)
    if not np.isfinite(t).all() or steps.min() <= 0.0 or np.ptp(steps) > 1e-3 * steps.mean():
        raise DecayError("time: expected ascending times in equal steps")
    if not columns:
        raise DecayError("no channel")
    for name, values in columns.items():
        if values.shape != t.shape or not np.isfinite(values).all():
            raise DecayError(f"channel '{name}': expected {t.size} finite values")
        if not values.any():
            raise DecayError(f"channel '{name}' is zero throughout")


def steepest(singular: np.ndarray) -> int:
    """The number of singular values before their steepest fall."""
    kept = np.maximum(singular, ROUNDING * singular[0])
    return int(np.argmax(kept[:-1] / kept[1:])) + 1


def invariance(V: np.ndarray) -> np.ndarray:
    """Poles by total least squares: V without its last row times X = V without its first row."""
    order = V.shape[1]
    _, _, W = np.linalg.svd(np.hstack((V[:-1], V[1:])), full_matrices=False)
    W = W.conj().T
    above, below = W[:order, order:], W[order:, order:]
    return np.linalg.eigvals(-above @ np.linalg.inv(below))


def parts_of(poles: np.ndarray, amplitudes: Mapping[str, np.ndarray], dt: float) -> list[DecayMode]:
    """Poles of the upper half plane as modes, slowest first; a part that does not swing has the phase 0 or π."""
    found = []
    for k, z in enumerate(poles):
        if z.imag < 0.0 or z == 0.0:
            continue
        exponent = np.log(complex(z)) / dt
        double = 2.0 if z.imag > 0.0 else 1.0
        sizes = {name: float(double * abs(each[k])) for name, each in amplitudes.items()}
        phases = {name: float(np.angle(each[k])) for name, each in amplitudes.items()}
        found.append(DecayMode(float(exponent.imag / (2.0 * np.pi)), float(-exponent.real), sizes, phases))
    return sorted(found, key=lambda mode: (mode.frequency, mode.decay))
