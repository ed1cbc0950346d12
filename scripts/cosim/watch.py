"""Watches a coupling by the energy that it makes.

Both sides multiply what they were given with what they did: the mechanism was given F and moved with v, the drive was given v and answered with F.
Where the two works differ, the coupling itself has made the difference (energy residual). A coupling that follows the motion makes little, and the
less of the work the longer it lasts; one that is unstable feeds an oscillation: its part of the work grows and does not fall again. And a coupling
whose inputs are wrong by a good part of everything that was ever on the wire, window after window, follows nothing.
"""

from __future__ import annotations

import math

from kinetree.scripts.cosim.masters import Master

PART = 0.1  # of the work, made by the coupling
WRONG = 0.2  # mean jump of an input, relative to the range of the values on its wire
TIMES = 4  # windows in a row in which one of them has been exceeded
STEPS = 4  # smallest number of steps per window
SPAN = 0.02  # s per window
SMALL = 0.01  # ranges below this part of the value are rest


class Watch:
    """Energy residual of one pair of wires, effort and flow; a wire with the stiffness says how the effort follows the motion within a step."""

    def __init__(self, effort: int, flow: int, stiffness: int | None = None):
        self.effort, self.flow, self.stiffness = effort, flow, stiffness
        self.given = self.answered = self.largest = 0.0  # work on one side, on the other, and the most of both
        self.steps, self.judged, self.made, self.times = 0, 0.0, 0.0, 0
        self.jumps, self.lowest, self.highest = 0.0, math.inf, -math.inf

    @property
    def residual(self) -> float:
        """Energy that the coupling has made so far."""
        return self.given - self.answered

    def look(self, master: Master, t: float, h: float) -> str:
        """A message when the coupling has become unstable, else nothing."""
        now, used, before = master.read(), master.used, master.before
        if before is None:
            return ""
        effort, flow = (0.5 * (before[k] + now[k]) for k in (self.effort, self.flow))
        given = used[self.effort]
        if self.stiffness is not None:  # on average over half of the travel
            given += 0.5 * h * used[self.stiffness] * used[self.flow]
        self.given += h * given * flow
        self.answered += h * effort * used[self.flow]
        self.largest = max(self.largest, abs(self.given), abs(self.answered))
        self.jumps += abs(given - effort)
        self.lowest, self.highest = min(self.lowest, effort), max(self.highest, effort)
        self.steps += 1
        if self.steps < STEPS or t + h - self.judged < SPAN:
            return ""
        grows = self.residual > PART * self.largest and self.residual > self.made
        wrong = self.jumps > WRONG * self.steps * (self.highest - self.lowest + SMALL * abs(self.highest))
        self.times = self.times + 1 if grows or wrong else 0
        self.steps, self.jumps, self.judged, self.made = 0, 0.0, t + h, max(self.residual, 0.0)
        return self.message(master, t + h) if self.times >= TIMES else ""

    def message(self, master: Master, t: float) -> str:
        wire, part = master.wires[self.effort], 100.0 * self.residual / self.largest
        what = f"has made {self.residual:.3g} J, {part:.0f} % of the work of either side, and makes more"
        if self.residual <= PART * self.largest:
            what = "jumps from step to step by a good part of all that was ever on the wire"
        return f"unstable: until t = {t:.4g} s the coupling ({wire}) {what}: take a smaller step, or a scheme that tells the stiffness"
