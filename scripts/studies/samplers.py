"""Random values of parameters: distributions, and sampling methods.

A distribution is a table with one of: uniform = [low, high], normal = [mean, deviation], lognormal
= [median, factor of one deviation]. Random points, Latin hypercube and Sobol sequence
(scipy.stats.qmc) are points of the unit cube that the inverse of each distribution maps. Normal and
lognormal ones may be correlated: their standard normal numbers z become L z, L Lᵀ the correlation
(of lognormal ones: that of the logarithms).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

SPREADS = ("random", "latin", "sobol", "indices")
LEAST = 1e-12  # share below and above which nothing is drawn
SAME = 1e-6  # of written numbers that are to agree, relative
FORMS = {
    "uniform": "[low, high]",
    "normal": "[mean, deviation]",
    "lognormal": "[median, factor of one deviation]",
}


class Distribution:
    """The distribution of one parameter."""

    def __init__(self, kind: str, first: float, second: float):
        self.kind, self.first, self.second = kind, first, second

    @classmethod
    def of(cls, table: Mapping[str, Any], place: str) -> Distribution:
        """Return the distribution that a table with one key defines."""
        if len(table) != 1 or next(iter(table)) not in FORMS:
            raise ValueError(
                f"{place}: expected one of {', '.join(f'{key} = {form}' for key, form in FORMS.items())}"
            )
        kind, pair = next(iter(table.items()))
        good = (
            isinstance(pair, (list, tuple))
            and len(pair) == 2
            and all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in pair)
        )
        if not good or not np.isfinite(pair).all():
            raise ValueError(f"{place}: {kind}: expected {FORMS[kind]}, found {pair}")
        first, second = float(pair[0]), float(pair[1])
        wrong = (
            (kind == "uniform" and not first < second)
            or (kind == "normal" and not second > 0.0)
            or (kind == "lognormal" and not (first > 0.0 and second > 1.0))
        )
        if wrong:
            raise ValueError(
                f"{place}: {kind} = [{first:g}, {second:g}]: expected {FORMS[kind]} that spreads"
            )
        return cls(kind, first, second)

    def at(self, share: np.ndarray) -> np.ndarray:
        """Return the quantiles of the distribution at some probabilities."""
        from scipy.special import ndtri

        if self.kind == "uniform":
            return self.first + share * (self.second - self.first)
        number = ndtri(np.clip(share, LEAST, 1.0 - LEAST))
        return (
            self.first + self.second * number
            if self.kind == "normal"
            else self.first * self.second**number
        )

    def __str__(self) -> str:
        return f"{self.kind}({self.first:g}, {self.second:g})"


class Correlated:
    """Parameters that vary together: their names `of`, and a symmetric matrix `correlation` or
    `covariance` in this order.
    """

    KEYS = {"of", "correlation", "covariance"}

    def __init__(self, of: list[str], factor: np.ndarray):
        self.of, self.factor = of, factor  # lower triangle of the correlation

    @classmethod
    def among(
        cls, table: Mapping[str, Any], distributions: Mapping[str, Any], place: str
    ) -> Correlated:
        """Return the correlations of varied parameters in a table, checked against their
        distributions.
        """
        names, kinds = (
            table.get("of"),
            [key for key in ("correlation", "covariance") if key in table],
        )
        if (
            not set(table) <= cls.KEYS
            or not isinstance(names, list)
            or len(kinds) != 1
            or len(set(map(str, names))) < max(len(names), 2)
        ):
            raise ValueError(
                f"{place}: expected of = [two or more names] and correlation or covariance, a matrix in their order"
            )
        for name in names:
            found = distributions.get(name)
            if not isinstance(found, Distribution) or found.kind == "uniform":
                raise ValueError(
                    f"{place}.of: '{name}' is not drawn from a normal or lognormal distribution in [vary]"
                )
        try:
            matrix = np.array(table[kinds[0]], dtype=float)
        except (TypeError, ValueError):
            matrix = np.zeros(0)
        count = len(names)
        if (
            matrix.shape != (count, count)
            or not np.isfinite(matrix).all()
            or np.abs(matrix - matrix.T).max() > SAME * np.abs(matrix).max()
        ):
            raise ValueError(
                f"{place}.{kinds[0]}: expected a symmetric matrix of {count} rows of {count} finite numbers"
            )
        sizes = np.ones(count)
        if kinds[0] == "covariance":
            own = [distributions[name] for name in names]
            sizes = np.array(
                [each.second if each.kind == "normal" else np.log(each.second) for each in own]
            )
        for name, value, size in zip(names, np.diag(matrix), sizes, strict=True):
            if abs(value - size**2) > SAME * size**2:
                told = (
                    "1"
                    if kinds[0] == "correlation"
                    else f"{size**2:.9g}, the square of its deviation in [vary]"
                )
                raise ValueError(
                    f"{place}.{kinds[0]}: the entry of '{name}' with itself is {value:.9g}, expected {told}"
                )
        try:
            return cls(names, np.linalg.cholesky(matrix / np.outer(sizes, sizes)))
        except np.linalg.LinAlgError:
            raise ValueError(
                f"{place}.{kinds[0]}: no numbers vary so together: the matrix is not positive definite"
            ) from None


def cube(spread: str, dimensions: int, samples: int, seed: int) -> np.ndarray:
    """Return sample points in the unit cube, (samples, dimensions), by a sampling method; a Sobol
    sequence is balanced for powers of two.
    """
    from scipy.stats import qmc

    if spread == "indices":
        from kinetree.scripts.studies.sobol_indices import saltelli

        return saltelli(dimensions, samples, seed)
    if spread == "random":
        return np.random.default_rng(seed).random((samples, dimensions))
    if spread == "latin":
        return qmc.LatinHypercube(dimensions, rng=np.random.default_rng(seed)).random(samples)
    sampler = qmc.Sobol(dimensions, scramble=True, rng=np.random.default_rng(seed))
    return sampler.random_base2((samples - 1).bit_length())[:samples]


def drawn(
    spread: str,
    distributions: Mapping[str, Distribution],
    samples: int,
    seed: int,
    together: Correlated | None = None,
) -> dict[str, np.ndarray]:
    """Return the sampled values of every parameter by name."""
    from scipy.special import ndtr, ndtri

    points = cube(spread, len(distributions), samples, seed)
    if together is not None:
        at = [list(distributions).index(name) for name in together.of]
        points[:, at] = ndtr(ndtri(np.clip(points[:, at], LEAST, 1.0 - LEAST)) @ together.factor.T)
    return {
        name: distribution.at(points[:, k])
        for k, (name, distribution) in enumerate(distributions.items())
    }
