"""Watches a coupling: the energy that it makes or loses, and whether its jumps grow from step to step.

Both sides multiply what they were given with what they did: the mechanism was given F and moved with v, the drive was given v and answered with F.
Where the two products differ, the coupling itself has made the difference (energy residual). A stable coupling follows the motion: its jumps, the
differences between what an input was given and what its source then had, are as large as the excitation asks for. In an unstable one they grow.
"""

from __future__ import annotations

import numpy as np

from kinetree.scripts.cosim.masters import Master

WINDOW = 12  # windows of jumps that are compared
STEPS = 8  # smallest number of steps per window
SPAN = 0.05  # s per window: longer than the excitation's flanks
GROWTH = 1.25  # from window to window ...
TIMES = 4  # ... so many times in a row
NOTABLE = 0.02  # jumps relative to the largest value on the wire


class Watch:
    """Energy residual of one pair of wires (effort, flow), and growth of the jumps of the effort."""

    def __init__(self, force: int, speed: int, stiffness: int | None = None):
        self.force, self.speed, self.stiffness = force, speed, stiffness
        self.residual = 0.0
        self.largest, self.window, self.peaks, self.in_window, self.began = 0.0, 0.0, [], 0, 0.0

    def look(self, master: Master, t: float, h: float) -> str:
        """A message when the coupling has become unstable, else nothing."""
        now, used, before = master.read(), master.used, master.before
        if before is None:
            return ""
        force, speed = 0.5 * (before[self.force] + now[self.force]), 0.5 * (before[self.speed] + now[self.speed])
        given = used[self.force]
        if self.stiffness is not None:  # the told force follows the motion: on average over half of the travel
            given += 0.5 * h * used[self.stiffness] * used[self.speed]
        self.residual += h * (given * speed - force * used[self.speed])
        self.largest = max(self.largest, abs(now[self.force]))
        jump = abs(force - given)
        self.window, self.in_window = max(self.window, jump), self.in_window + 1
        if self.in_window >= STEPS and t + h - self.began >= SPAN:
            self.peaks, self.window, self.in_window, self.began = [*self.peaks, self.window][-WINDOW:], 0.0, 0, t + h
            return self.judge(master, t + h)
        return ""

    def judge(self, master: Master, t: float) -> str:
        recent = np.array(self.peaks[-TIMES - 1 :])
        if recent.size <= TIMES or recent[0] < NOTABLE * self.largest or np.any(recent[1:] < GROWTH * recent[:-1]):
            return ""
        wire = master.wires[self.force]
        times = recent[-1] / recent[0]
        return (
            f"unstable: the jumps on {wire} have grown {times:.3g} times in {TIMES} windows until t = {t:.4g} s; the coupling has made "
            f"{self.residual:.3g} J: take a smaller step, or a scheme that tells the stiffness"
        )
