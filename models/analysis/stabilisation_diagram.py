"""Stabilisation diagrams of free decays: physical poles persist with rising model order, noise
poles scatter.

A pole is stable if the previous order has one within FREQUENCY_SHARE of its frequency; its damping
is stable if it is within DECAY_SHARE of its damping ratio too (C. Peeters, G. De Roeck, J. Dyn.
Syst. Meas. Control 123 (2001) 659).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.models.analysis.free_decay import hankel_decomposition, invariance_poles

FREQUENCY_SHARE, DECAY_SHARE = 0.01, 0.05
MAX_ORDER = 40


@dataclass(frozen=True)
class Pole:
    """One oscillating pole of one model order."""

    order: int
    frequency: float  # Hz
    damping: float
    steady: bool  # in frequency
    stable: bool  # in both


@dataclass(frozen=True)
class Diagram:
    """Poles of all model orders."""

    poles: tuple[Pole, ...]
    orders: tuple[int, ...]

    def lines(self, share: float = 0.5) -> list[tuple[float, float, int]]:
        """Return frequency, damping and number of those groups of stable poles that occur in more
        than a share of the orders.
        """
        stable = sorted(
            (pole for pole in self.poles if pole.stable), key=lambda pole: pole.frequency
        )
        groups: list[list[Pole]] = []
        for pole in stable:
            if (
                groups
                and pole.frequency - np.median([each.frequency for each in groups[-1]])
                < FREQUENCY_SHARE * pole.frequency
            ):
                groups[-1].append(pole)
            else:
                groups.append([pole])
        found = []
        for group in groups:
            if len(group) > share * len(self.orders):
                found.append(
                    (
                        float(np.median([p.frequency for p in group])),
                        float(np.median([p.damping for p in group])),
                        len(group),
                    )
                )
        return found

    def plot(self, path: str | Path | None = None) -> Any:
        """Plot the model order over frequency; return the figure and, with a path, save it."""
        try:
            from matplotlib.figure import Figure
        except ImportError:
            raise ValueError("plots need matplotlib: pip install kinetree[plots]") from None
        figure = Figure(figsize=(8.0, 5.0), layout="constrained")
        axes = figure.subplots()
        kinds = (("o", "stable", "#1f5fa8", [p for p in self.poles if p.stable]),
                 ("+", "steady frequency", "#c0562b", [p for p in self.poles if p.steady and not p.stable]),
                 (".", "new", "#aaaaaa", [p for p in self.poles if not p.steady]))  # fmt: skip
        for mark, label, colour, poles in kinds:
            axes.plot(
                [p.frequency for p in poles],
                [p.order for p in poles],
                mark,
                color=colour,
                label=label,
                markersize=4,
                linestyle="",
            )
        axes.set(xlabel="frequency [Hz]", ylabel="order", title="Stabilisation diagram")
        axes.grid(alpha=0.3)
        axes.legend(fontsize="small")
        if path is not None:
            figure.savefig(path, dpi=120)
        return figure


def stabilisation_diagram(
    time: Sequence[float] | np.ndarray,
    channels: Mapping[str, Sequence[float] | np.ndarray],
    most: int = MAX_ORDER,
) -> Diagram:
    """Return the poles of the orders 2, 4, ..., `most` from one singular value decomposition."""
    record = hankel_decomposition(time, channels, None)
    dt, rows, V = record.interval, record.rows, record.V
    found: list[Pole] = []
    before: list[tuple[float, float]] = []
    orders = tuple(range(2, min(most, rows // 3, len(V)) + 1, 2))
    for order in orders:
        poles = invariance_poles(V[:order])
        here = (
            []
            if poles is None
            else [
                (float(w / (2 * np.pi * dt)), float(s / np.hypot(s, w)))
                for s, w in zip(poles.decay, poles.turn, strict=True)
            ]
        )
        for f, z in here:
            near = [each for each in before if abs(each[0] - f) <= FREQUENCY_SHARE * f]
            found.append(
                Pole(
                    order,
                    f,
                    z,
                    bool(near),
                    any(abs(each[1] - z) <= DECAY_SHARE * max(abs(z), 1e-12) for each in near),
                )
            )
        before = here
    return Diagram(tuple(found), orders)
