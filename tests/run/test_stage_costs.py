"""What a change of stage costs, in evaluations of the right-hand side, on fifty modules that leave one after another."""

import time
from collections.abc import Callable

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.engine.instance import Instance
from kinetree.models.run.simulation_unit import Run, make_unit
from kinetree.solvers.layout import Status

REPEATS = 20
NEAR = 1e-7  # s: no step of the motion fits in between


def fastest(call: Callable[[], object], work: np.ndarray) -> float:
    """Smallest time of a call from the same block of work."""
    before, found = work.copy(), []
    for _ in range(REPEATS):
        work[:] = before
        began = time.perf_counter()
        call()
        found.append(time.perf_counter() - began)
    return min(found)


@pytest.mark.slow
def test_change_of_stage_costs_less_than_a_hundred_evaluations():
    """All structures stand ready before the run; the change itself, the start of the integrator and its first step together.

    By a method without Jacobians: where `auto` has gone over to Radau, its first one takes an evaluation for every state more."""
    system = load("lib:carrier", modules=50).compile()
    unit = make_unit(system, "adams")
    run = Run(unit)
    run.head.soft = 1.0
    assert run.call("unit_start") == 0
    instance = Instance(unit.compiled[0])
    instance.set_state(*system.start())
    evaluation = fastest(lambda: instance.entry("repeat")(100, 0.0), instance.work) / 100
    worst, t = 0.0, 0.0
    for _ in range(6):
        status = 0
        while status == 0:
            before, last = run.work.copy(), t
            t += 0.05
            status = run.call("unit_advance", 1, t)
        assert status == Status.EVENT
        instant = float(run.head.time)
        run.work[:] = before
        if instant - NEAR > last:
            assert run.call("unit_advance", 1, instant - NEAR) == 0
        change = fastest(
            lambda instant=instant: run.call("unit_advance", 1, instant + NEAR), run.work
        )
        first_step = fastest(
            lambda instant=instant: run.call("unit_advance", 1, instant + 2 * NEAR), run.work
        )
        worst, t = max(worst, (change + first_step) / evaluation), instant
    assert worst < 100.0
