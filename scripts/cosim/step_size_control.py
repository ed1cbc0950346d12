"""Step-size control by the energy that the coupling generates (ECCO: Sadjina, Kyllingstad, Skjong,
Pedersen, Engineering with Computers 33, 2017).

The residual power of a bond is the power that one side delivers by its own variables less the power
that the other side receives by its own. Its root mean square over the bonds, each relative to the
largest power that the bond has carried, is kept near a tolerance by a proportional-integral
controller of the step; no step is repeated.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.scripts.cosim.energy_monitor import Watch

SAFETY = 0.8  # part of the tolerance that is aimed at
INTEGRAL, PROPORTIONAL = 0.3, 0.2  # exponents
SHRINK, GROW = 0.2, 1.5  # limits of the change from step to step


@dataclass(frozen=True)
class ControlSpec:
    """Settings of the step control; step lengths in s, by default a thousandth and ten times the
    first step.
    """

    tolerance: float = 0.01  # residual power relative to the largest power of a bond
    smallest: float | None = None
    largest: float | None = None


class StepControl:
    """Controller of the communication step size."""

    def __init__(self, spec: ControlSpec, first: float):
        self.spec, self.before = spec, 1.0
        self.smallest, self.largest = spec.smallest or first / 1000.0, spec.largest or 10.0 * first
        self.peaks: dict[str, float] = {}

    def error(self, watches: Sequence[Watch]) -> float:
        """Return the residual power of the last step relative to the tolerance."""
        total = 0.0
        for watch in watches:
            name = watch.bond.name
            peak = self.peaks[name] = max(self.peaks.get(name, 0.0), abs(watch.power))
            total += (watch.error / (self.spec.tolerance * peak)) ** 2 if peak > 0.0 else 0.0
        return math.sqrt(total / len(watches)) if watches else 1.0

    def following(self, watches: Sequence[Watch], h: float) -> float:
        """Return the size of the next step after one of size h."""
        error = max(self.error(watches), 1e-3)
        change = (
            SAFETY ** (INTEGRAL + PROPORTIONAL)
            * error ** -(INTEGRAL + PROPORTIONAL)
            * self.before**PROPORTIONAL
        )
        self.before = error
        return min(max(h * min(max(change, SHRINK), GROW), self.smallest), self.largest)
