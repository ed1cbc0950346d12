"""Jumps of force laws inside the steps of a run: how their instants depend on state and parameters.

A law such as if(t < t1, 1, -1), a clipped damping force at the touch of a soft contact, or floor(x)
changes its value where g(t, y, p) = 0. The rates are f⁻ before and f⁺ after that instant, the state
is continuous, and a change of state or parameters moves the instant by -(g_y δy + g_p δp)/ġ.
Afterwards the state differs by (f⁺ - f⁻)(g_y δy + g_p δp)/ġ: the saltation term, which fixed steps
do not contain (J. Aizerman, F. Gantmacher, Quart. J. Mech. Appl. Math. 11 (1958) 163). Conditions
at which the rates do not jump (kinks) need no such term.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from kinetree.models.gradients.step_blocks import StepBlocks

BISECTIONS = 40
NARROW = 1e-9  # of a step: width of the bracket about the instant of a jump
MOST_JUMPS = 8  # in one step; more are chattering
JUMP_ROUNDING = 1e-9  # part of the largest rate below which nothing jumps
SMOOTH = 10.0  # jumps are so much larger than what rates change over the bracket beside it
GRAZING = 1e-9  # rate of a condition, beside the sum of its parts, that stands for zero
REACH = 2.0  # of the bracket, times the rate of a condition: from there it comes to its bound
ALIKE = 1e-6  # relative difference of conditions that are one


@dataclass(frozen=True)
class LawJump:
    """A jump of the rates inside a step."""

    time: float
    change: np.ndarray  # f⁺ - f⁻
    instant: np.ndarray  # (g_y, g_t, g_given) / ġ: minus the slopes of its instant


def law_jumps(blocks: StepBlocks, k: int) -> list[LawJump]:
    """Return the jumps of the rates inside step k of a block, ordered by time."""
    t0, t1, y0, y1 = blocks.step_at(k)
    h = t1 - t0
    f0, f1 = blocks.rates(t0, y0), blocks.rates(t1, y1)

    def state(t: float) -> np.ndarray:
        a, b, c, d = hermite((t - t0) / h)
        return a * y0 + b * y1 + h * (c * f0 + d * f1)

    def sides(t: float) -> np.ndarray:
        blocks.go_inputs(t)
        given = blocks.part("given", 0, blocks.codes.given)
        return blocks.codes.call("stand", t, state(t), given)[: blocks.codes.sides]

    found: list[LawJump] = []
    begin, here, last = t0, sides(t0), sides(t1)
    for _ in range(MOST_JUMPS):
        if np.array_equal(here, last):
            return found
        low, high = begin, t1
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            if high - low <= NARROW * h or not low < middle < high:
                break
            low, high = (middle, high) if np.array_equal(sides(middle), here) else (low, middle)
        after = sides(high)
        jump = law_jump(blocks, state, low, high, np.flatnonzero(after != here), (t0, t1))
        if jump is not None:
            found.append(jump)
        begin, here = high, after
    raise ValueError(f"laws change more than {MOST_JUMPS} times within the step at t = {t0:.9g}")


def law_jump(
    blocks: StepBlocks,
    state,
    low: float,
    high: float,
    changed: np.ndarray,
    step: tuple[float, float],
) -> LawJump | None:
    """Return the jump between two instants across which conditions change; None if the rates do not
    jump.
    """
    width, codes, n = high - low, blocks.codes, blocks.n
    before, after = blocks.rates(low, state(low)), blocks.rates(high, state(high))
    earlier, later = max(low - width, step[0]), min(high + width, step[1])
    smooth = np.abs(before - blocks.rates(earlier, state(earlier))).max(initial=0.0)
    smooth = max(smooth, np.abs(after - blocks.rates(later, state(later))).max(initial=0.0))
    change = after - before
    largest = max(np.abs(before).max(initial=0.0), np.abs(after).max(initial=0.0))
    if np.abs(change).max(initial=0.0) <= SMOOTH * smooth + JUMP_ROUNDING * largest:
        return None
    c = codes.system.compiled
    rate = (*c.coordinates, *c.speeds, *c.states)[int(np.abs(change).argmax())]
    where = f"the rate of {rate} jumps at t = {low:.9g}"
    instants = []
    blocks.go_inputs(low)
    given = blocks.part("given", 0, codes.given)
    distances = codes.call("distances", low, state(low), given)[: codes.sides]
    for i in changed:
        factors = (np.arange(codes.sides) == i).astype(float)
        slopes = codes.call("surfaces", low, np.concatenate([state(low), factors]), given)
        slopes = slopes[: n + 1 + codes.given]
        by_time = blocks.by_time(low, slopes)
        speeds = [float(slopes[:n] @ f) + by_time for f in (before, after)]
        parts = float(np.abs(slopes[:n]) @ np.abs(before)) + abs(by_time)
        if abs(speeds[0]) <= GRAZING * parts or abs(distances[i]) > REACH * width * abs(speeds[0]):
            continue  # it changes because another one does
        if speeds[0] * speeds[1] <= 0.0:
            raise ValueError(f"{where} back and forth: the motion slides along the jump of a law")
        instants.append(slopes / speeds[0])
    if not instants:
        raise ValueError(f"{where}, where no condition passes through its bound")
    for other in instants[1:]:
        if np.abs(other - instants[0]).max() > ALIKE * np.abs(instants[0]).max():
            raise ValueError(f"{where} by several conditions at once, which has no slope")
    return LawJump(low, change, instants[0])


def hermite(s: float) -> tuple[float, float, float, float]:
    """Return the cubic Hermite weights at s of both end states and (times the step) of both end
    rates.
    """
    b = s * s * (3.0 - 2.0 * s)
    return 1.0 - b, b, s * (s - 1.0) ** 2, s * s * (s - 1.0)


def hermite_slopes(s: float) -> tuple[float, float, float, float]:
    """Return the derivatives of the cubic Hermite weights by s."""
    b = 6.0 * s * (1.0 - s)
    return -b, b, (s - 1.0) * (3.0 * s - 1.0), s * (3.0 * s - 2.0)
