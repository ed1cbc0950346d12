"""Adams of fixed step: what it costs at most, and how its order follows the motion."""

import numpy as np
import pytest
from integrator_runs import METHODS, block, memory, problem, run, slope

from kinetree.scripts.bench.integrator_problems import DECAY, Problem, kepler
from kinetree.solvers.integrate.adams_fixed import DIFFERENCES
from kinetree.solvers.integrate.controller import EVALUATIONS, F_NEW, ORDER, T_NEW, Y_NEW

ORBIT = kepler(0.2, 6.0)
NAME = "adams-fixed"


def stepped(case: Problem, h: float, steps: int) -> tuple[list[int], list[float]]:
    """Evaluations and order of every step."""
    mem, method = memory(NAME, case, 1e-6, 1e-6, h=h), METHODS[NAME]
    method.start(mem, problem, case.context, 0.0, np.array(case.start))
    costs, orders = [], []
    for _ in range(steps):
        before = mem[EVALUATIONS]
        assert method.step(mem, problem, case.context, 1e9) == 0
        costs.append(int(mem[EVALUATIONS] - before))
        orders.append(mem[ORDER])
    return costs, orders


def test_adams_step_costs_two_to_four_evaluations():
    costs, orders = stepped(ORBIT, 0.02, 40)
    assert costs == [4] * 3 + [2] * 37
    assert orders[:4] == [4] * 4 and max(orders) == 8


def test_smooth_motion_raises_adams_order():
    """Errors fall faster than those of order 4, and at 0.01 they are less than a fifth of rk4's for half of its evaluations."""
    steps = [ORBIT.stop / n for n in (150, 300, 600)]
    errors = {}
    for name in (NAME, "rk4"):
        results = [
            run(name, ORBIT, np.array([ORBIT.stop]), memory(name, ORBIT, h=h, hard=1.0))
            for h in steps
        ]
        errors[name] = [np.abs(result.states[-1] - ORBIT.end).max() for result in results]
    assert slope(np.array(steps), np.array(errors[NAME])) > 4.3, errors
    assert errors[NAME][2] < 0.2 * errors["rk4"][2], errors


def test_multistep_method_restarts_by_runge_kutta_after_discontinuity_or_step_change():
    """What the differences hold is of no use beyond a corner, or at another distance."""
    mem, method = memory(NAME, ORBIT, 1e-6, 1e-6, h=0.02, hard=1.0), METHODS[NAME]
    method.start(mem, problem, ORBIT.context, 0.0, np.array(ORBIT.start))
    costs = []

    def step(limit: float) -> None:
        before = mem[EVALUATIONS]
        assert method.step(mem, problem, ORBIT.context, limit) == 0
        costs.append(int(mem[EVALUATIONS] - before))

    for _ in range(6):
        step(9.0)
    assert costs[-3:] == [2, 2, 2]
    step(0.125)  # shortened
    assert mem[T_NEW] == 0.125 and costs[-1] == 4
    for _ in range(4):
        step(9.0)
    assert costs[-4:] == [4, 4, 4, 2]
    assert method.turn(mem, problem, ORBIT.context) == 0
    step(9.0)
    assert costs[-1] == 4


def test_small_state_changes_enter_the_differences():
    """A projection moves the newest state, and with it the newest rate alone: the differences are those of the rates that stand now."""
    mem, method = memory(NAME, ORBIT, 1e-6, 1e-6, h=0.02), METHODS[NAME]
    method.start(mem, problem, ORBIT.context, 0.0, np.array(ORBIT.start))
    rates = [block(mem, F_NEW).copy()]
    for _ in range(6):
        assert method.step(mem, problem, ORBIT.context, 1e9) == 0
        rates.append(block(mem, F_NEW).copy())
    block(mem, Y_NEW)[:] *= 1.0 + 1e-6
    assert method.changed(mem, problem, ORBIT.context) == 0
    rates[-1] = block(mem, F_NEW).copy()
    for j in range(7):
        expected = np.diff(np.array(rates), j, axis=0)[-1]
        assert block(mem, DIFFERENCES + j) == pytest.approx(expected, abs=1e-14), j


def test_stability_limit_lowers_adams_order():
    """A rate of -30/s at steps of 20 ms is inside the region of low orders alone: the order falls, and the motion stays bounded."""
    case = Problem(
        "decay", (DECAY, 30.0, 0.0), (1.0,), 4.0, None, True, 0
    )  # y' = -30 (y - cos t) - sin t
    costs, orders = stepped(case, 0.02, 200)
    result = run(NAME, case, np.array([4.0]), memory(NAME, case, 1e-6, 1e-6, h=0.02, hard=1.0))
    assert abs(result.states[-1, 0] - np.cos(4.0)) < 1e-4
    assert min(orders[20:]) <= 4 and max(costs) == 4
