"""The state of an integrator is its memory: copied, restored, changed, limited, and sound after failures."""

import numpy as np
import pytest
from allocation import allocations
from integrator_runs import METHODS, block, cut, memory, problem, state_of, step_of, time_of

from kinetree.scripts.bench import integrator_list as compiled
from kinetree.scripts.bench.integrator_list import FIXED
from kinetree.scripts.bench.integrator_problems import (
    BLOW_UP,
    DECAY,
    HIRES_END,
    Problem,
    kepler,
    kepler_end,
)
from kinetree.solvers.integrate import controller
from kinetree.solvers.integrate.controller import HARD, STEPS, T_NEW, T_OLD, Y_OLD
from kinetree.solvers.layout import Status

ORBIT = kepler(0.3, 10.0)
OPTIONS = {"rtol": 1e-9, "atol": 1e-9, "h": 0.01, "refresh": 3.0}
NEVER = 1e9
COMPILED = "rk4"  # the one method that is compiled here


def started(name: str, case: Problem = ORBIT, **options) -> np.ndarray:
    chosen = {**OPTIONS, **options}
    if name not in FIXED and "h" not in options:
        chosen["h"] = 0.0
    mem = memory(name, case, **chosen)
    assert METHODS[name].start(mem, problem, case.context, 0.0, np.array(case.start)) == 0
    return mem


def steps(
    name: str, mem: np.ndarray, count: int, case: Problem = ORBIT, limit: float = NEVER
) -> None:
    for _ in range(count):
        assert METHODS[name].step(mem, problem, case.context, limit) == 0


@pytest.mark.parametrize("name", METHODS)
def test_copied_integrator_memory_continues_bit_for_bit(name):
    mem = started(name)
    steps(name, mem, 57)
    saved = mem.copy()
    steps(name, mem, 60)
    steps(name, saved, 60)
    assert mem.tobytes() == saved.tobytes()


@pytest.mark.parametrize("name", METHODS)
def test_dense_output_does_not_change_later_steps(name):
    mem = started(name)
    steps(name, mem, 30)
    asked, out = mem.copy(), np.empty(4)
    for _ in range(20):
        METHODS[name].interpolate(out, asked, 0.5 * (asked[T_OLD] + asked[T_NEW]))
        steps(name, asked, 1)
        steps(name, mem, 1)
    assert state_of(asked).tobytes() == state_of(mem).tobytes() and time_of(asked) == time_of(mem)


@pytest.mark.parametrize("name", METHODS)
def test_dense_output_is_smooth_at_step_ends(name):
    """Ends to rounding (the polynomials have size 1, so 1e-14); where two steps meet, slopes agree to the quotient's h/1e3."""
    mem, out = started(name), np.empty(4)
    steps(name, mem, 40)
    for _ in range(5):
        t_old, t_new, h = mem[T_OLD], mem[T_NEW], mem[T_NEW] - mem[T_OLD]
        METHODS[name].interpolate(out, mem, t_old)
        assert np.abs(out - block(mem, Y_OLD)).max() < 2e-14
        METHODS[name].interpolate(out, mem, t_new)
        assert np.abs(out - state_of(mem)).max() < 2e-14
        left = out.copy()
        METHODS[name].interpolate(out, mem, t_new - 1e-3 * h)
        left = (left - out) / (1e-3 * h)
        steps(name, mem, 1)
        start = block(mem, Y_OLD).copy()
        METHODS[name].interpolate(out, mem, t_new + 1e-3 * (mem[T_NEW] - t_new))
        right = (out - start) / (1e-3 * (mem[T_NEW] - t_new))
        assert np.abs(left - right).max() < 4e-3 * max(h, mem[T_NEW] - t_new) * 10


@pytest.mark.parametrize("name", METHODS)
def test_small_changes_of_the_state_keep_order_and_step(name):
    """As a projection does: the state is moved by a tenth of the tolerance after every step."""
    touched, mem = started(name), started(name)
    rng = np.random.default_rng(3)
    while time_of(mem) < 5.0:
        steps(name, mem, 1)
    while time_of(touched) < 5.0:
        steps(name, touched, 1)
        state_of(touched)[:] *= 1.0 + 1e-10 * rng.uniform(-1.0, 1.0, 4)
        assert METHODS[name].changed(touched, problem, ORBIT.context) == 0
    assert touched[STEPS] <= 1.15 * mem[STEPS] + 3
    exact = kepler_end(0.3, time_of(touched))
    # each change adds 1e-10; errors of an orbit grow by no more than a few per time unit
    reference = np.abs(state_of(mem) - kepler_end(0.3, time_of(mem))).max()
    assert np.abs(state_of(touched) - exact).max() < 2 * reference + 20e-10 * np.sqrt(
        touched[STEPS]
    )


@pytest.mark.parametrize("name", METHODS)
def test_integration_continues_after_cut_and_restart_inside_a_step(name):
    mem, out = started(name), np.empty(4)
    steps(name, mem, 40)
    instant = mem[T_OLD] + 0.3 * step_of(mem)
    METHODS[name].interpolate(out, mem, instant)
    cut(mem, instant, out)
    assert METHODS[name].restart(mem, problem, ORBIT.context) == 0
    assert time_of(mem) == instant and state_of(mem).tobytes() == out.tobytes()
    uncut = started(name)
    while time_of(uncut) < 2.0:
        steps(name, uncut, 1)
    while time_of(mem) < 2.0:
        steps(name, mem, 1)
    errors = [np.abs(state_of(m) - kepler_end(0.3, time_of(m))).max() for m in (mem, uncut)]
    # the collocation polynomial of radau has an error of h^4 inside the step, where the ends have h^5
    assert errors[0] < (30 if name == "radau" else 3) * errors[1] + 1e-9


@pytest.mark.parametrize("name", METHODS)
def test_no_step_passes_a_hard_limit(name):
    """Communication points at irregular instants are hit exactly."""
    mem = started(name)
    mem[HARD] = 1.0
    for limit in (0.0301, 0.5, 0.5001, 0.777, 1.9):
        while time_of(mem) < limit:
            steps(name, mem, 1, limit=limit)
            assert time_of(mem) <= limit
        assert time_of(mem) == limit
    error = np.abs(state_of(mem) - kepler_end(0.3, 1.9)).max()
    assert error < (0.05 if name == "semi-implicit" else 1e-6)


@pytest.mark.parametrize("off", [1e-11, -1e-11])
@pytest.mark.parametrize("name", FIXED)
def test_roundoff_remainder_causes_no_extra_step(name, off):
    """A hard limit that lies a rounding beside the end of a fixed step is that end: as many steps as to the end itself, and none beyond."""
    counts = []
    for part in (0.0, off):
        mem = started(name)
        mem[HARD] = 1.0
        limit = (8.0 + part) * mem[controller.H_GIVEN]
        while time_of(mem) < limit:
            steps(name, mem, 1, limit=limit)
        assert time_of(mem) == limit
        counts.append(mem[STEPS])
    assert counts[0] == counts[1] > 0


@pytest.mark.parametrize("name", [name for name in METHODS if name not in FIXED])
def test_time_limits_do_not_reduce_later_step_sizes(name):
    """With limits every 0.25, a method that forgot its step at each limit would pay twice."""
    free, limited = started(name), started(name)
    limited[HARD] = 1.0
    while time_of(free) < 8.0:
        steps(name, free, 1)
    for k in range(1, 33):
        while time_of(limited) < 0.25 * k:
            steps(name, limited, 1, limit=0.25 * k)
    assert limited[STEPS] < 2.0 * free[STEPS] + 64


@pytest.mark.parametrize("name", [name for name in METHODS if name not in FIXED])
def test_steps_respect_the_largest_one_allowed(name):
    mem = started(name)
    mem[controller.H_MAX] = 0.003
    for _ in range(50):
        steps(name, mem, 1)
        assert step_of(mem) <= 0.003


@pytest.mark.parametrize("refuses", [True, False])
@pytest.mark.parametrize("name", METHODS)
def test_failing_right_hand_side_is_reported_and_keeps_last_state(name, refuses):
    """Beyond t = 1 the rate is NaN, with or without a status of its own."""
    case = Problem("blow up", (BLOW_UP, 1.0 if refuses else 0.0, 0.0), (0.0,), 2.0, None, False, 0)
    if name == "stormer":
        case = case._replace(coordinates=0)
    mem = started(name, case, refresh=0.0, h=0.01)
    status = 0
    while status == 0 and mem[STEPS] < 1000:
        status = METHODS[name].step(mem, problem, case.context, NEVER)
    assert status in (Status.NOT_A_NUMBER, Status.SINGULAR_JOINT + 1)
    assert 0.98 < time_of(mem) <= 1.0 + 0.0101 and abs(state_of(mem)[0] - time_of(mem)) < 1e-12


def test_tolerances_below_rounding_are_raised():
    mem = started("adams", rtol=0.0, atol=0.0)
    steps("adams", mem, 20)
    assert mem[controller.RTOL] == controller.MIN_RTOL


@pytest.mark.parametrize("coordinates, speeds", [(2.0, 3.0), (2.0, -1.0)])
def test_stormer_refuses_momentum_form_and_nonholonomic_speeds(coordinates, speeds):
    mem = memory("stormer", ORBIT, h=0.1)
    mem[controller.NQ], mem[controller.NU] = coordinates, speeds
    assert (
        METHODS["stormer"].start(mem, problem, ORBIT.context, 0.0, np.array(ORBIT.start))
        == Status.INCONSISTENT
    )


def test_fixed_step_time_never_drifts():
    """A million tenths end at 1e5 exactly as the product says, not as the sum does; so many steps are made by the compiled method."""
    case = Problem("decay", (DECAY, 0.0, 0.0), (1.0,), 0.0, None, False, 0)
    mem = compiled.memory(COMPILED, case, h=0.1)
    result = compiled.run(COMPILED, case, np.array([1e5]), mem)
    assert result.steps == 10**6 and time_of(mem) == 0.1 * 10**6


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name == COMPILED else pytest.mark.slow) for name in METHODS],
)
def test_integrator_steps_do_not_allocate(name):
    """A long run with much output allocates as much as a short one: what the call itself needs for its arguments.

    Counted on compiled methods; that none of the library can allocate is seen in its symbols (tests/engine/test_allocation.py).
    """
    case = HIRES_END if name in ("radau", "semi-implicit") else ORBIT
    mem = compiled.memory(name, case, **{**OPTIONS, "h": 0.0 if name not in FIXED else 0.01})
    counts = []
    for times in (np.array([0.05]), np.linspace(0.01, 5.0, 100)):
        compiled.run(name, case, times, mem)
        counts.append(allocations(lambda times=times: compiled.run(name, case, times, mem), 1))
    assert counts[0] == counts[1] > 0
