"""All sampled controllers of a mechanism from sample to sample: the plant between them, and their
laws in the order in which a run carries them out.

X = (z, v, memories, commands under way): z moves with the commands v that act. At its instants a law
reads, renews its memory and gives a command, which acts at once or after its delay. Laws of one
instant follow one another, each with the commands that earlier ones left
(models/controllers/expansion.py). The product of these steps over a common period is exact for any
periods and delays; it has one input and one output where the opened law samples once in it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from kinetree.models.analysis.frequency_response import StateSpace
from kinetree.models.analysis.sampled_loops import STILL, SampledLoop, exponential_integral
from kinetree.models.controllers.expansion import (
    FIRST,
    PERIOD_TOLERANCE,
    delay_parts,
)

RATIO = 1000  # largest numerator and denominator of a ratio of two periods
INSTANTS = 4000  # of a common period, at most


@dataclass(frozen=True)
class SampledLaw:
    """A linear law from sample to sample: memory⁺ = A memory + B read, command = C memory + D read."""

    name: str
    period: float  # s
    delay: float  # s, with the largest jitter
    commands: Sequence[int]  # places of its commands among the inputs of the plant
    reads: Sequence[int]  # places of what it reads among the outputs of the plant
    matrices: SampledLoop

    @property
    def whole_and_part(self) -> tuple[int, float]:
        """Return the whole periods of the delay, and what is left of it [s]."""
        whole, part = delay_parts(self.delay, self.period)
        return whole, part if part > PERIOD_TOLERANCE * self.period else 0.0

    @property
    def waiting(self) -> int:
        """Return how many commands of a kind are under way besides the one that acts."""
        whole, part = self.whole_and_part
        return whole + (part > 0.0)


def common_period(periods: Sequence[float]) -> float | None:
    """Return the least common multiple of sample periods [s]; None where their ratios are no small
    fractions.
    """
    shortest = min(periods)
    least = 1
    for period in periods:
        ratio = Fraction(period / shortest).limit_denominator(RATIO)
        if abs(float(ratio) * shortest - period) > PERIOD_TOLERANCE * period:
            return None
        least = math.lcm(least, ratio.numerator)
        if least > INSTANTS:
            return None
    total = least * shortest
    return total if sum(total / period for period in periods) <= INSTANTS else None


@dataclass
class Steps:
    """The steps of one common period of a plant with sampled laws."""

    plant: StateSpace
    laws: Sequence[SampledLaw]

    def __post_init__(self) -> None:
        self.acting = len(self.plant.A)
        place = self.acting + self.plant.B.shape[1]
        self.memory, self.under_way = [], []
        for law in self.laws:
            self.memory.append(slice(place, place + len(law.matrices.A)))
            place += len(law.matrices.A)
            ways = [
                slice(place + k * len(law.commands), place + (k + 1) * len(law.commands))
                for k in range(law.waiting)
            ]
            self.under_way.append(ways)
            place += law.waiting * len(law.commands)
        self.size = place
        self.motions: dict[float, np.ndarray] = {}

    def move(self, now: np.ndarray, time: float) -> None:
        """Let the plant move for a while [s] with the commands that act."""
        key = float(f"{time:.9g}")
        if key not in self.motions:
            moved, pushed = exponential_integral(self.plant.A, self.plant.B, time)
            self.motions[key] = np.hstack((moved, pushed))
        end = self.acting + self.plant.B.shape[1]
        now[: self.acting] = self.motions[key] @ now[:end]

    def sample(self, now: np.ndarray, number: int, opened: str) -> np.ndarray:
        """Carry out a law and return its commands; an opened law gives the last column of `now` in
        their place.
        """
        law, end = self.laws[number], self.acting + self.plant.B.shape[1]
        rows, own = list(law.reads), law.matrices
        read = np.hstack((self.plant.C[rows], self.plant.D[rows])) @ now[:end]
        memory = now[self.memory[number]].copy()
        wanted = own.C @ memory + own.D @ read
        now[self.memory[number]] = own.A @ memory + own.B @ read
        given = wanted
        if law.name == opened:
            given = np.zeros_like(wanted)
            given[:, -1] = 1.0
        ways, at = self.under_way[number], [self.acting + k for k in law.commands]
        whole, part = law.whole_and_part
        if whole and not part:
            now[at] = now[ways[-1]]
        elif not ways:
            now[at] = given
        for k in range(len(ways) - 1, -1, -1):
            now[ways[k]] = now[ways[k - 1]] if k else given
        return wanted

    def release(self, now: np.ndarray, number: int) -> None:
        """Let the oldest command that is under way act."""
        now[[self.acting + k for k in self.laws[number].commands]] = now[self.under_way[number][-1]]

    def instants(self, period: float) -> list[tuple[float, int, bool]]:
        """Return the instants in their order: time [s], number of the law, and whether it samples
        (or a late command of it begins to act).
        """
        found = []
        for number, law in enumerate(self.laws):
            for k in range(round(period / law.period)):
                time = (k + FIRST) * law.period
                found.append((time, number, True))
                part = law.whole_and_part[1]
                if part:
                    found.append(((time + part) % period, number, False))
        grain = PERIOD_TOLERANCE * min(law.period for law in self.laws)
        return sorted(found, key=lambda each: (round(each[0] / grain), each[1], each[2]))

    def whole(self, period: float, opened: str = "") -> SampledLoop:
        """Return the motion from one common period to the next, from the opened command to the one
        that its law gives.
        """
        now = np.hstack((np.eye(self.size), np.zeros((self.size, 1))))
        time, wanted = 0.0, np.zeros((1, self.size + 1))
        for at, number, samples in self.instants(period):
            if at > time:
                self.move(now, at - time)
                time = at
            if not samples:
                self.release(now, number)
                continue
            commands = self.sample(now, number, opened)
            if self.laws[number].name == opened:
                wanted = commands.copy()
        self.move(now, period - time)
        return SampledLoop(now[:, :-1], now[:, -1:], wanted[:, :-1], wanted[:, -1:], period)


def stable_together(plant: StateSpace, laws: Sequence[SampledLaw]) -> bool | None:
    """Return whether a plant with all its sampled laws is stable; None where their periods have no
    common multiple. What keeps its value with and without the laws does not count.
    """
    period = common_period([law.period for law in laws])
    if period is None:
        return None
    values = np.linalg.eigvals(Steps(plant, laws).whole(period).A)
    alone = np.linalg.eigvals(exponential_integral(plant.A, plant.B, period)[0])
    still = np.abs(values - 1.0) <= STILL
    kept = values if still.sum() > (np.abs(alone - 1.0) <= STILL).sum() else values[~still]
    return bool(np.abs(kept).max(initial=0.0) < 1.0)
