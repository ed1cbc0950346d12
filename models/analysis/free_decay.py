"""Modes of a free decay: frequencies, decrements, amplitudes and phases from sampled channels, by
the method of rotational invariance (ESPRIT).

    y_c(k) = Σ_i Re a_ci z_i^k,   z = exp((-s + 2πi f) dt)
The leading right singular vectors of the stacked Hankel matrices of all channels span the powers of
z; shifting them by one sample gives z as eigenvalues (total least squares). They are refined by
least squares over all samples (models/analysis/decay_fit.py). The number of z is `order`, or as an
information criterion decides; in the latter case modes that noise could have produced are removed.
Cost: a singular value decomposition of (channels N/2) x (N/2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kinetree.models.analysis.decay_fit import Poles, information_criterion, refine_poles
from kinetree.models.analysis.identification_result import Fit, draw_fit

MAX_ORDER = 40  # poles that are looked for
MAX_HANKEL_COLUMNS = 600  # columns of the Hankel matrices; longer records are cut into rows
MAX_GROWTH = 25.0  # powers of e over half the record: what grows faster is no decay
LEAST_POLE = 1e-12  # of a pole: what is smaller decays within a sample
LEAST_CRITERION_GAIN = 1e-3  # of the criterion per sample by which least squares must be better than invariance, which is exact without noise
SIGNIFICANT_DEVIATIONS = 2.0  # deviations, beyond what the largest of many has by chance
MAX_DECAY_PER_SAMPLE = 1.0  # powers of e per sample
MAX_FREQUENCY_SHARE = 0.97  # of half the sampling rate
MAX_FREQUENCY_DEVIATION = 0.3  # part of a frequency that its deviation may be
SINGULAR_ROUNDING = 1e-13  # singular values below this part of the largest are zero


class DecayError(ValueError):
    """Raised for samples from which no decay can be identified."""


@dataclass(frozen=True)
class DecayMode:
    """One mode of a decay: amplitude exp(-decay t) cos(2π frequency t + phase) per channel."""

    frequency: float  # of the damped oscillation [Hz]; 0 for a part that does not swing
    decay: float  # [1/s]
    amplitudes: dict[str, float]
    phases: dict[str, float]  # [rad]
    frequency_deviation: float = 0.0  # standard deviations
    decay_deviation: float = 0.0
    left: float = (
        0.0  # of what the fit leaves, the part within the width of this mode, relative to the mode
    )
    note: str = ""  # why it should not be relied on

    @property
    def half_life(self) -> float:
        """Return the time [s] in which the amplitude halves; infinite if it does not decay."""
        return float(np.log(2.0)) / self.decay if self.decay > 0.0 else float("inf")

    def mean_amplitude(self, duration: float) -> dict[str, float]:
        """Return the mean amplitude over the first `duration` seconds of the decay, per channel."""
        gone = self.decay * duration
        share = -float(np.expm1(-gone)) / gone if gone else 1.0
        return {name: share * size for name, size in self.amplitudes.items()}

    @property
    def damping(self) -> float:
        """Return the damping ratio of the mode (fraction of critical damping)."""
        size = float(np.hypot(self.decay, 2.0 * np.pi * self.frequency))
        return self.decay / size if size else 0.0


@dataclass(frozen=True)
class Decay:
    """Modes of a free decay, slowest first, with singular values and fit quality."""

    modes: tuple[DecayMode, ...]
    poles: np.ndarray
    singular: np.ndarray
    time: np.ndarray
    measured: dict[str, np.ndarray]
    fitted: dict[str, np.ndarray]
    notes: tuple[str, ...] = ()  # about the fit as a whole

    @property
    def reliable(self) -> tuple[DecayMode, ...]:
        """Return the modes without a note of doubt."""
        return tuple(mode for mode in self.modes if not mode.note)

    @property
    def fits(self) -> tuple[Fit, ...]:
        return tuple(
            Fit.of(name, values, self.fitted[name]) for name, values in self.measured.items()
        )

    def plot(self, path: str | Path | None = None):
        """Plot the channels and the sum of the modes; return the figure and, with a path, save it."""
        title = ", ".join(f"{mode.frequency:.4g} Hz" for mode in self.modes if mode.frequency)
        return draw_fit(self.time, self.measured, self.fitted, title, path)


class Hankel(NamedTuple):
    """A record of free decay and the singular value decomposition of its Hankel matrices."""

    time: np.ndarray
    channels: dict[str, np.ndarray]
    interval: float  # between two samples [s]
    rows: int  # of the matrix of one channel
    singular: np.ndarray
    V: np.ndarray  # right singular vectors, one per row


def hankel_decomposition(
    time: Sequence[float] | np.ndarray,
    channels: Mapping[str, Sequence[float] | np.ndarray],
    order: int | None,
) -> Hankel:
    """Check a record and decompose the Hankel matrices of its channels, each scaled by its spread."""
    t = np.asarray(time, dtype=float)
    columns = {name: np.asarray(values, dtype=float) for name, values in channels.items()}
    check_record(t, columns, order)
    rows = t.size - min(t.size // 2, MAX_HANKEL_COLUMNS)
    scaled = [values / (values.std() or 1.0) for values in columns.values()]
    hankel = np.vstack(
        [np.lib.stride_tricks.sliding_window_view(values, t.size - rows + 1) for values in scaled]
    )
    _, singular, V = np.linalg.svd(hankel, full_matrices=False)
    return Hankel(t, columns, (t[-1] - t[0]) / (t.size - 1), rows, singular, V)


def free_decay(
    time: Sequence[float] | np.ndarray,
    channels: Mapping[str, Sequence[float] | np.ndarray],
    order: int | None = None,
) -> Decay:
    """Return the modes of a free decay.

    `order`: two per oscillation and one per non-oscillating part, such as an offset; by default it
    is chosen from the singular values.
    """
    t, columns, dt, rows, singular, V = hankel_decomposition(time, channels, order)
    values = np.column_stack(list(columns.values()))
    fit = fitted_poles(V, values, order, rows)
    poles, covariance, noise = fit if order else significant_modes(fit, values)
    steps = np.arange(t.size, dtype=float)
    Phi = poles.columns(steps)
    found = np.linalg.lstsq(Phi, values, rcond=None)[0]
    left = values - Phi @ found
    modes = tuple(described_modes(poles, covariance, found, left, values, list(columns), dt))
    if not any(not mode.note for mode in modes):
        raise DecayError(
            f"no mode stands out of the noise: {'; '.join(dict.fromkeys(mode.note for mode in modes)) or 'nothing is left of it'}"
        )
    fitted = {name: Phi @ found[:, k] for k, name in enumerate(columns)}
    return Decay(
        modes,
        sampled_poles(poles),
        singular,
        t,
        columns,
        fitted,
        residual_notes(left, noise, order),
    )


def fitted_poles(
    V: np.ndarray, values: np.ndarray, order: int | None, rows: int
) -> tuple[Poles, np.ndarray, np.ndarray]:
    """Return poles per sample by ESPRIT, refined by least squares if that improves them."""
    steps = np.arange(len(values), dtype=float)
    orders = (order,) if order else range(1, min(MAX_ORDER, rows // 3, len(V)) + 1)
    tried = [
        (information_criterion(start, steps, values), k, start)
        for k in orders
        for start in (invariance_poles(V[:k]),)
        if start is not None
    ]
    if not tried:
        raise DecayError("no decay was found in the samples")
    start = min(tried, key=lambda each: each[:2])[2]
    poles, covariance, noise = refine_poles(start, steps, values)
    before, after = (information_criterion(each, steps, values) for each in (start, poles))
    better = before - after > LEAST_CRITERION_GAIN * len(values)
    return (poles if better else start), covariance, noise


def invariance_poles(V: np.ndarray) -> Poles | None:
    """Return the poles from the leading singular vectors; None if one vanishes or grows too fast to
    be physical.
    """
    z = total_least_squares_poles(V.T)
    if not (np.abs(z) > LEAST_POLE).all():
        return None
    z = np.where(np.abs(np.imag(z)) <= LEAST_POLE * np.abs(z), np.real(z), z)
    found = np.log(z.astype(complex))
    return Poles.of(found) if (np.real(found) * len(V.T) < MAX_GROWTH).all() else None


def significant_modes(
    fit: tuple[Poles, np.ndarray, np.ndarray], values: np.ndarray
) -> tuple[Poles, np.ndarray, np.ndarray]:
    """Return the fitted poles without those of modes that noise could have produced."""
    steps = np.arange(len(values), dtype=float)
    while True:
        poles, covariance, noise = fit
        ratios = mode_significance(poles, steps, values)
        n = poles.single.size
        fades = np.concatenate((-poles.single, poles.decay))
        turns = np.concatenate((np.zeros(n), poles.turn))
        ratios = np.where(
            (turns >= MAX_FREQUENCY_SHARE * np.pi)
            | (fades > MAX_DECAY_PER_SAMPLE)
            | (fades * len(values) < -MAX_GROWTH),
            0.0,
            ratios,
        )
        if ratios.size < 2 or ratios.min() > noise_threshold(len(values)):
            return fit
        kept = [
            k for k in range(ratios.size) if k != int(ratios.argmin())
        ]  # one at a time: two close parts make each other unsure
        single = [k for k in kept if k < n]
        pairs = [k - n for k in kept if k >= n]
        fit = refine_poles(
            Poles(poles.single[single], poles.decay[pairs], poles.turn[pairs]), steps, values
        )


def noise_threshold(samples: int) -> float:
    """Return how many standard deviations the amplitude of pure noise hardly exceeds at any of so
    many frequencies.
    """
    return SIGNIFICANT_DEVIATIONS + float(np.sqrt(2.0 * np.log(samples)))


def mode_significance(poles: Poles, steps: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return for every mode the largest ratio of amplitude to its standard deviation."""
    Phi = poles.columns(steps)
    found, *_ = np.linalg.lstsq(Phi, values, rcond=None)
    free = max(len(values) - Phi.shape[1], 1)
    size = np.maximum(np.linalg.norm(Phi, axis=0), 1e-300)
    spread = np.linalg.norm(np.linalg.pinv(Phi / size), axis=1) / size
    sigma = np.maximum(
        np.sqrt(((values - Phi @ found) ** 2).sum(axis=0) / free),
        SINGULAR_ROUNDING * np.abs(values).max(axis=0),
    )
    ratios = np.abs(found) / np.maximum(spread[:, None] * sigma, 1e-300)
    n, m = poles.single.size, poles.decay.size
    return np.concatenate(
        (
            ratios[:n].max(axis=1, initial=0.0),
            np.hypot(ratios[n : n + m], ratios[n + m :]).max(axis=1, initial=0.0),
        )
    )


def sampled_poles(poles: Poles) -> np.ndarray:
    """Return z of all poles, both of a conjugate pair."""
    pair = np.exp(-poles.decay + 1j * poles.turn)
    return np.concatenate((np.exp(poles.single).astype(complex), pair, pair.conj()))


def residual_notes(left: np.ndarray, noise: np.ndarray, order: int | None) -> tuple[str, ...]:
    """Return notes that say if the residual does not look like noise."""
    spread = left.std(axis=0)
    sized = spread > 1e3 * SINGULAR_ROUNDING * np.maximum(np.abs(noise).max(), 1e-300)
    ties = [
        float(np.corrcoef(part[1:], part[:-1])[0, 1])
        for part, wanted in zip(left.T, sized, strict=True)
        if wanted
    ]
    if any(tie > 6.0 / np.sqrt(len(left)) for tie in ties) and noise.max() > 0.0:
        why = (
            "is the order too low, or is it not only a decay?"
            if order
            else "is it not only a decay?"
        )
        return (
            f"what is left is not noise (correlation of neighbouring samples {max(ties):.2f}): {why}",
        )
    return ()


def described_modes(
    poles: Poles,
    covariance: np.ndarray,
    found: np.ndarray,
    left: np.ndarray,
    values: np.ndarray,
    names: list[str],
    dt: float,
) -> list[DecayMode]:
    """Return the poles as modes, slowest first, with standard deviations and notes; a
    non-oscillating part has the phase 0 or π.
    """
    n, m = poles.single.size, poles.decay.size
    steps = np.arange(len(values), dtype=float)
    deviations = (
        np.sqrt(np.maximum(np.diag(covariance), 0.0)) / dt
        if covariance.size
        else np.zeros(n + 2 * m)
    )
    ratios, Phi = mode_significance(poles, steps, values), poles.columns(steps)
    modes = []
    for k in range(n + m):
        if k < n:
            complex_size = found[k].astype(complex)
            turn, fade, at = 0.0, -poles.single[k], (0.0, deviations[k])
            part = np.outer(Phi[:, k], found[k])
        else:
            complex_size = found[k] - 1j * found[k + m]
            turn, fade, at = (
                poles.turn[k - n],
                poles.decay[k - n],
                (deviations[k + m] / (2 * np.pi), deviations[k]),
            )
            part = np.outer(Phi[:, k], found[k]) + np.outer(Phi[:, k + m], found[k + m])
        sizes = dict(zip(names, map(float, np.abs(complex_size)), strict=True))
        phases = dict(zip(names, map(float, np.angle(complex_size)), strict=True))
        frequency = float(turn / (2 * np.pi * dt))
        note = reliability_note(turn, at[0], frequency, float(ratios[k]), fade, len(values))
        modes.append(
            DecayMode(
                frequency,
                float(fade / dt),
                sizes,
                phases,
                float(at[0]),
                float(at[1]),
                residual_in_bandwidth(part, left, turn, abs(fade)),
                note,
            )
        )
    return sorted(modes, key=lambda mode: (mode.frequency, mode.decay))


def reliability_note(
    turn: float, deviation: float, frequency: float, ratio: float, fade: float, samples: int
) -> str:
    """Return why a mode should not be relied on, or an empty text; turn (frequency) and fade
    (decay) are per sample.
    """
    periods = turn * samples / (2 * np.pi)
    if turn >= MAX_FREQUENCY_SHARE * np.pi:
        return "at the limit of the sampling: half the sampling rate is no motion"
    if ratio <= noise_threshold(samples):
        return f"not told from noise: its amplitude is {ratio:.1f} of its own deviation"
    if fade > MAX_DECAY_PER_SAMPLE:
        return "gone within a sample"
    if fade * samples < -1.0:
        return "it grows: this is no decay"
    if turn and deviation > MAX_FREQUENCY_DEVIATION * frequency:
        return f"its frequency is known to {100 * deviation / frequency:.0f} % only"
    return f"the record holds {periods:.2g} of its periods only" if turn and periods < 1.0 else ""


def residual_in_bandwidth(part: np.ndarray, left: np.ndarray, turn: float, fade: float) -> float:
    """Return the spectral residual within the bandwidth of a mode."""
    angles = 2 * np.pi * np.fft.rfftfreq(len(part))
    near = np.abs(angles - turn) <= max(2.0 * fade, 4 * np.pi / len(part))
    own, rest = (
        float((np.abs(np.fft.rfft(each, axis=0)[near]) ** 2).sum()) for each in (part, left)
    )
    return float(np.sqrt(rest / own)) if own > 0.0 else 0.0


def check_record(t: np.ndarray, columns: Mapping[str, np.ndarray], order: int | None) -> None:
    """Raise if a record has unequal time steps, non-finite values or too few samples."""
    if order is not None and not 1 <= order <= MAX_HANKEL_COLUMNS // 2:
        raise DecayError(f"order {order}; expected 1 to {MAX_HANKEL_COLUMNS // 2}")
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


def total_least_squares_poles(V: np.ndarray) -> np.ndarray:
    """Return the poles by total least squares for X: V without its last row times X = V without its
    first row.
    """
    order = V.shape[1]
    _, _, W = np.linalg.svd(np.hstack((V[:-1], V[1:])), full_matrices=False)
    W = W.conj().T
    above, below = W[:order, order:], W[order:, order:]
    return np.linalg.eigvals(-above @ np.linalg.inv(below))
