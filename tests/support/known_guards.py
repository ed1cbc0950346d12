"""A locator of events over laws of time that are known, and where it looks."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from plain_kernels import plain
from unit_stand_in import entries

from kinetree.solvers import unit_layout as U
from kinetree.solvers.layout import Status

S, E, G = plain("events.root_finding"), plain("events.event_location"), plain("events.guard_state")
C = plain("integrate.controller")
Law = Callable[[float], float]


class Locator:
    """A locator over laws of time on a step of one state, which is the time; it notes the instants at which it is asked."""

    def __init__(
        self,
        *laws: Law,
        begin: float = 0.0,
        end: float = 1.0,
        watch: float = 1.0,
        direction: float = 0.0,
        fails_after: float = math.inf,
    ):
        self.laws, self.asked, self.fails_after = laws, [], fails_after
        self.ev = U.LOCATOR.of(np.full(G.locator_size(len(laws), 1), np.nan))
        E.start_locator(self.ev, len(laws), 1)
        self.mem = np.zeros(C.HEADER + C.BLOCKS)
        self.mem[C.N], self.mem[C.T_OLD], self.mem[C.T_NEW], self.mem[C.H] = (
            1,
            begin,
            end,
            end - begin,
        )
        self.part("watch")[:], self.part("direction")[:] = watch, direction
        self.how = (self.ev, self.guards, None, self.interpolate, self.mem)
        self.ev.checked, self.ev.slopes_at = begin, -math.inf
        self.part(G.VALUE)[:] = self.at(begin)
        self.part("sign")[:] = np.sign(self.at(begin))

    def part(self, block: int | str) -> np.ndarray:
        """A vector of a number per guard, or an entry of the records of all guards."""
        if isinstance(block, str):
            return entries(self.ev, block)
        return G.guard_values(self.ev, block)

    def at(self, t: float) -> list[float]:
        return [law(t) for law in self.laws]

    def guards(self, out, context, t, y) -> int:
        assert y[0] == t
        self.asked.append(t)
        out[:] = self.at(t)
        return int(Status.NOT_A_NUMBER) if t > self.fails_after else 0

    def interpolate(self, y, mem, t) -> None:
        y[0] = t

    def interval(self, a: float, b: float) -> None:
        """Values and slopes at both ends."""
        self.part(G.VALUE)[:], self.part(G.AT_B)[:] = self.at(a), self.at(b)
        self.ev.slopes_at = -math.inf
        S.compute_end_slopes(*self.how, a, b)


def one(t: float) -> float:
    return 1.0
