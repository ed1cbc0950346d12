"""Results of an identification: estimates, standard deviations, quality of the fit, report, plot."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from kinetree.models.result.atomic_file import whole_file
from kinetree.models.result.number_format import fitting, written


@dataclass(frozen=True)
class Estimate:
    """A parameter estimate with start value and standard deviation."""

    name: str
    start: float
    value: float
    deviation: float
    unit: str = ""
    note: str = ""

    def told(self) -> str:
        """Return value and standard deviation as text, rounded to the second digit of the
        deviation.
        """
        factor, unit = fitting(self.unit, self.value)
        value, deviation = factor * self.value, factor * self.deviation
        known = deviation > 0.0 and math.isfinite(deviation)
        places = 1 - math.floor(math.log10(deviation)) if known else 12
        unit = f" {unit}" if unit not in ("", "1") else ""
        return f"{self.name} = {written(round(value, places), 12 if known else 5)} ± {written(deviation, 2)}{unit}"

    def to_dict(self) -> dict[str, Any]:
        """Return the estimate as plain data for JSON."""
        return {
            "start": self.start,
            "value": self.value,
            "standard_deviation": self.deviation,
            "unit": self.unit,
            "note": self.note,
        }


@dataclass(frozen=True)
class Fit:
    """The quality of fit of one column."""

    name: str
    rows: int
    rms: float  # root mean square of the differences
    mean_deviation: (
        float  # mean of their magnitudes over the largest excursion of the data from their mean
    )
    correlation: float  # of data and model; 0 where one of them is constant

    @classmethod
    def of(cls, name: str, measured: np.ndarray, fitted: np.ndarray) -> Fit:
        """Return root mean square and mean residual and the correlation of a column over its
        measured rows.
        """
        there = np.isfinite(measured)
        y, m = measured[there], fitted[there]
        excursion = float(np.abs(y - y.mean()).max()) or 1.0
        moves = y.std() > 0.0 and m.std() > 0.0
        correlation = float(np.corrcoef(y, m)[0, 1]) if moves else 0.0
        return cls(
            name,
            int(there.sum()),
            float(np.sqrt(np.mean((m - y) ** 2))),
            float(np.abs(m - y).mean()) / excursion,
            correlation,
        )


@dataclass(frozen=True)
class Suspect:
    """Another parameter whose change would explain part of the residual of a fit, to first order."""

    name: str
    value: float  # in the description
    change: float
    explained: float  # part of the sum of squares that is left
    unit: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the suspected parameter as plain data for JSON."""
        return dict(vars(self))


@dataclass(frozen=True)
class Identification:
    """Estimates in order, their `covariance`, and `measured` and `fitted` columns over `time`."""

    name: str
    estimates: tuple[Estimate, ...]
    covariance: np.ndarray
    fits: tuple[Fit, ...]
    time: np.ndarray
    measured: dict[str, np.ndarray]
    fitted: dict[str, np.ndarray]
    runs: int
    converged: bool
    units: dict[str, str] = field(default_factory=dict)  # of the columns
    suspects: tuple[Suspect, ...] = ()  # the best first, where they were asked for

    def __getitem__(self, name: str) -> float:
        return self.values[name]

    @property
    def values(self) -> dict[str, float]:
        """Return the estimated values by name."""
        return {each.name: each.value for each in self.estimates}

    @property
    def deviations(self) -> dict[str, float]:
        """Return the standard deviations of the estimates."""
        return {each.name: each.deviation for each in self.estimates}

    @property
    def correlation(self) -> np.ndarray:
        """Return the correlation matrix of the estimates."""
        spread = np.sqrt(np.diag(self.covariance))
        return self.covariance / np.outer(spread, spread)

    @property
    def alike(self) -> tuple[tuple[str, str, float], ...]:
        """Return pairs of parameters that the data hardly distinguish, with their correlation."""
        names, c = [each.name for each in self.estimates], self.correlation
        return tuple(
            (names[i], names[j], float(c[i, j]))
            for i in range(len(names))
            for j in range(i)
            if abs(c[i, j]) > 0.95
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the columns as plain data for JSON."""
        return {
            "mechanism": self.name,
            "parameters": {each.name: each.to_dict() for each in self.estimates},
            "covariance": self.covariance.tolist(),
            "correlation": self.correlation.tolist(),
            "columns": {
                f.name: {
                    "rows": f.rows,
                    "rms": f.rms,
                    "mean_deviation": f.mean_deviation,
                    "correlation": f.correlation,
                }
                for f in self.fits
            },
            "runs": self.runs,
            "converged": self.converged,
            "suspects": [each.to_dict() for each in self.suspects],
        }

    def plot(self, path: str | Path | None = None):
        """Plot measured points and fitted lines, one panel per column; return the figure and, with
        a path, save it.
        """
        return draw_fit(
            self.time,
            self.measured,
            self.fitted,
            ", ".join(each.told() for each in self.estimates),
            path,
            self.units,
        )


def draw_fit(
    time: np.ndarray,
    measured: dict[str, np.ndarray],
    fitted: dict[str, np.ndarray],
    title: str,
    path: str | Path | None,
    units: Mapping[str, str] | None = None,
):
    """Plot measured points and fitted lines, one panel per column in a suitable unit; return the
    figure.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ValueError("plots need matplotlib: pip install kinetree[plots]") from None
    figure = Figure(figsize=(9.0, 0.8 + 2.2 * len(measured)), layout="constrained")
    panels = np.atleast_1d(np.array(figure.subplots(len(measured), 1, sharex=True)))
    for panel, name in zip(panels, measured, strict=True):
        factor, unit = fitting((units or {}).get(name, ""), measured[name])
        panel.plot(
            time, factor * measured[name], ".", markersize=3, color="#9a9a9a", label="measured"
        )
        panel.plot(time, factor * fitted[name], linewidth=1.3, color="#1f5f8b", label="fitted")
        panel.set_ylabel(name + (f"\n[{unit}]" if unit not in ("", "1") else ""))
        panel.grid(True, linewidth=0.4, alpha=0.6)
        panel.margins(x=0.0)
    panels[0].legend(frameon=False, ncol=2, loc="best")
    panels[-1].set_xlabel("time [s]")
    figure.suptitle(fill(title, 78), fontsize="medium")
    if path is not None:
        with whole_file(path) as draft:
            figure.savefig(draft, dpi=130)
    return figure
