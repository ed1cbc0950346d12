"""Values of parameters that are drawn: distributions, and how points are spread over them.

A distribution is a table with one of: uniform = [low, high], normal = [mean, deviation], lognormal = [median, factor of one deviation].
Random points, Latin hypercube and Sobol sequence (scipy.stats.qmc) are points of the unit cube that the inverse of each distribution maps.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

SPREADS = ("random", "latin", "sobol", "indices")
FORMS = {"uniform": "[low, high]", "normal": "[mean, deviation]", "lognormal": "[median, factor of one deviation]"}


class Distribution:
    """One parameter's."""

    def __init__(self, kind: str, first: float, second: float):
        self.kind, self.first, self.second = kind, first, second

    @classmethod
    def of(cls, table: Mapping[str, Any], place: str) -> Distribution:
        """From a table with one key."""
        if len(table) != 1 or next(iter(table)) not in FORMS:
            raise ValueError(f"{place}: expected one of {', '.join(f'{key} = {form}' for key, form in FORMS.items())}")
        kind, pair = next(iter(table.items()))
        good = isinstance(pair, (list, tuple)) and len(pair) == 2 and all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in pair)
        if not good or not np.isfinite(pair).all():
            raise ValueError(f"{place}: {kind}: expected {FORMS[kind]}, found {pair}")
        first, second = float(pair[0]), float(pair[1])
        wrong = (
            (kind == "uniform" and not first < second)
            or (kind == "normal" and not second > 0.0)
            or (kind == "lognormal" and not (first > 0.0 and second > 1.0))
        )
        if wrong:
            raise ValueError(f"{place}: {kind} = [{first:g}, {second:g}]: expected {FORMS[kind]} that spreads")
        return cls(kind, first, second)

    def at(self, share: np.ndarray) -> np.ndarray:
        """The values below which these shares lie."""
        from scipy.special import ndtri

        if self.kind == "uniform":
            return self.first + share * (self.second - self.first)
        number = ndtri(np.clip(share, 1e-12, 1.0 - 1e-12))
        return self.first + self.second * number if self.kind == "normal" else self.first * self.second**number

    def __str__(self) -> str:
        return f"{self.kind}({self.first:g}, {self.second:g})"


def cube(spread: str, dimensions: int, samples: int, seed: int) -> np.ndarray:
    """Points of the unit cube; a Sobol sequence is balanced for powers of two."""
    from scipy.stats import qmc

    if spread == "indices":
        from kinetree.scripts.studies.indices import saltelli

        return saltelli(dimensions, samples, seed)
    if spread == "random":
        return np.random.default_rng(seed).random((samples, dimensions))
    if spread == "latin":
        return qmc.LatinHypercube(dimensions, rng=np.random.default_rng(seed)).random(samples)
    sampler = qmc.Sobol(dimensions, scramble=True, rng=np.random.default_rng(seed))
    power = max(0, (samples - 1).bit_length())
    return sampler.random_base2(power)[:samples]


def drawn(spread: str, distributions: Mapping[str, Distribution], samples: int, seed: int) -> dict[str, np.ndarray]:
    """Columns of values."""
    points = cube(spread, len(distributions), samples, seed)
    return {name: distribution.at(points[:, k]) for k, (name, distribution) in enumerate(distributions.items())}
