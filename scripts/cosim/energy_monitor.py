"""Watches a coupling by the energy that it makes.

Both sides multiply what they were given with what they did: the mechanism was given F and moved with v, the drive was given v and answered with F.
Where the two works differ, the coupling itself has made the difference (energy residual). A coupling that follows the motion makes little, and the
less of the work the longer it lasts; one that is unstable feeds an oscillation: its part of the work grows and does not fall again. And a coupling
whose inputs are wrong by a good part of everything that was ever on the wires, window after window, follows nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from kinetree.scripts.cosim.bonds import Bond
from kinetree.scripts.cosim.masters import Master

PART = 0.1  # of the work, made by the coupling
WRONG = 0.2  # mean jump of an input, relative to the range of the values on its wire
TIMES = 4  # windows in a row in which one of them has been exceeded
STEPS = 4  # smallest number of steps per window
SPAN = 0.02  # s per window
LASTING = 0.9  # part of the first window's jumps below which they fade
REST_RANGE = 0.01  # ranges below this part of the value are rest


class Range:
    """Jumps of an input against the range of all that was on its wire."""

    def __init__(self) -> None:
        self.jumps, self.lowest, self.highest = 0.0, math.inf, -math.inf

    def add(self, used: float, value: float) -> None:
        self.jumps += abs(used - value)
        self.lowest, self.highest = min(self.lowest, value), max(self.highest, value)

    def part(self, steps: int) -> float:
        """Return mean jump relative to the range."""
        wide = self.highest - self.lowest + REST_RANGE * max(abs(self.highest), abs(self.lowest))
        return self.jumps / (steps * wide) if wide > 0.0 else 0.0


class Watch:
    """Energy residual of one bond."""

    def __init__(self, bond: Bond):
        self.bond = bond
        self.given = self.answered = self.largest = (
            0.0  # work on one side, on the other, and the most of both
        )
        self.power = self.error = (
            0.0  # exchanged in the last step, and the difference of both sides [W]
        )
        self.steps, self.judged, self.made, self.times = 0, 0.0, 0.0, 0
        self.effort, self.flow, self.first = Range(), Range(), 0.0

    @property
    def residual(self) -> float:
        """Return the energy [J] that the coupling has generated so far."""
        return self.bond.sign * (self.given - self.answered)

    def look(self, master: Master, now: Sequence[float], t: float, h: float) -> str:
        """Return a message if the coupling has become unstable, else an empty text."""
        used, before, bond = master.used, master.before, self.bond
        if before is None:
            return ""
        effort, flow = (0.5 * (before[k] + now[k]) for k in (bond.effort, bond.flow))
        given = used[bond.effort]
        if bond.stiffness is not None:  # on average over half of the travel
            given += 0.5 * h * used[bond.stiffness] * used[bond.flow]
        factors = master.wires[bond.effort].factor * master.wires[bond.flow].factor
        scale = 1.0 / abs(factors) if factors else 1.0  # in the units of one side
        self.power, self.error = (
            scale * given * flow,
            scale * (given * flow - effort * used[bond.flow]),
        )
        self.given += h * scale * given * flow
        self.answered += h * scale * effort * used[bond.flow]
        self.largest = max(self.largest, abs(self.given), abs(self.answered))
        self.effort.add(given, effort)
        self.flow.add(used[bond.flow], flow)
        self.steps += 1
        return (
            self.judge(master, t + h) if self.steps >= STEPS and t + h - self.judged >= SPAN else ""
        )

    def judge(self, master: Master, t: float) -> str:
        """Test the energy error at the end of a window; repeated growth means instability."""
        grows = self.residual > PART * self.largest and self.residual > self.made
        jump = self.effort.jumps / self.steps
        wrong = min(self.effort.part(self.steps), self.flow.part(self.steps)) > WRONG
        if self.times == 0:
            self.first = jump
        fades = (
            not grows and self.times > 0 and jump < LASTING * self.first
        )  # a coarse picture of an oscillation that dies away
        self.times = self.times + 1 if (grows or wrong) and not fades else 0
        self.steps, self.judged, self.made = 0, t, max(self.residual, 0.0)
        self.effort.jumps = self.flow.jumps = 0.0
        return self.message(master, t) if self.times >= TIMES else ""

    def message(self, master: Master, t: float) -> str:
        wire, part = (
            master.wires[self.bond.effort],
            100.0 * self.residual / self.largest if self.largest else 0.0,
        )
        what = f"has made {self.residual:.3g} J, {part:.0f} % of the work of either side, and makes more"
        if self.residual <= PART * self.largest:
            what = "jumps from step to step by a good part of all that was ever on the wires"
        return f"unstable: until t = {t:.4g} s the coupling ({wire}) {what}: take a smaller step, or a scheme that tells the stiffness"
