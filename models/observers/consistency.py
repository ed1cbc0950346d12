"""Consistency of estimators: whether their standard deviations are right, and what the measurements
can tell.

Normalised innovations squared (NIS) of a consistent filter are chi-square variables, and its
whitened innovations are uncorrelated in time. With a known truth the normalised errors squared
(NEES) are chi-square variables too (Y. Bar-Shalom, X. R. Li, T. Kirubarajan, 2001).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2

from kinetree.models.observers.kalman_filters import Innovation, whitened

SKIPPED = 0.1  # part of the readings at the beginning, in which the start is forgotten
INDISTINGUISHABLE = (
    0.999  # correlation of two estimates that only a combination of them is known of
)
LITTLE_GAIN = 0.9  # final standard deviation by that at the start: readings tell nothing


@dataclass(frozen=True)
class Band:
    """A mean of chi-square variables, with the interval that contains it with 95 % probability for
    a consistent filter.
    """

    mean: float
    low: float
    high: float

    @property
    def inside(self) -> bool:
        """Return whether the mean lies within its confidence band."""
        return self.low <= self.mean <= self.high

    @property
    def verdict(self) -> str:
        """Return the verdict on the consistency of the filter: consistent, overconfident or cautious."""
        if self.inside:
            return "consistent"
        return "overconfident" if self.mean > self.high else "too cautious"


def band(values: Sequence[float], freedom: float) -> Band:
    """Return the mean of chi-square variables that have `freedom` degrees of freedom each on
    average.
    """
    count = len(values)
    if not count:
        return Band(float("nan"), float("nan"), float("nan"))
    low, high = (float(chi2.ppf(p, freedom * count)) / count for p in (0.025, 0.975))
    return Band(float(np.mean(values)), low, high)


def innovation_band(innovations: Sequence[Innovation]) -> Band:
    """Return the mean normalised innovation squared, without the initial transient."""
    kept = innovations[int(SKIPPED * len(innovations)) :]
    freedom = float(np.mean([len(each.names) for each in kept])) if kept else 1.0
    return band([each.squared for each in kept], freedom)


def autocorrelation(innovations: Sequence[Innovation]) -> tuple[float, float]:
    """Return the correlation of successive whitened innovations, and its 95 % bound for consistent
    filters.
    """
    kept = innovations[int(SKIPPED * len(innovations)) :]
    pairs = [
        (whitened(a), whitened(b))
        for a, b in zip(kept, kept[1:], strict=False)
        if a.names == b.names
    ]
    if len(pairs) < 8:
        return 0.0, 1.0
    first, second = np.array([a for a, _ in pairs]), np.array([b for _, b in pairs])
    size = float(np.sum(first * first) * np.sum(second * second)) ** 0.5
    return float(np.sum(first * second)) / size if size else 0.0, 1.96 / first.size**0.5


@dataclass(frozen=True)
class Knowledge:
    """Information gained about one quantity: its standard deviations at start and end."""

    name: str
    before: float
    after: float

    @property
    def known(self) -> bool:
        """Return whether the measurements reduced the uncertainty."""
        return self.after < LITTLE_GAIN * self.before


def alike(names: Sequence[str], covariance: np.ndarray) -> list[tuple[str, str, float]]:
    """Return pairs of quantities with almost fully correlated errors: the measurements determine
    only a combination of them.
    """
    sizes = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    correlation = covariance / np.outer(sizes, sizes)
    return [
        (names[a], names[b], float(correlation[a, b]))
        for a in range(len(names))
        for b in range(a)
        if abs(correlation[a, b]) > INDISTINGUISHABLE
    ]
