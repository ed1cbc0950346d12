"""Dense output of radau as runs of mechanisms read it: nearly as good as the ends of steps, on stiff problems too."""

import numpy as np
import pytest
from integrator_runs import METHODS, block, memory, problem, run, state_of, time_of
from plain_kernels import plain

from kinetree.scripts.bench.integrator_problems import (
    DECAY,
    SPRINGS,
    VAN_DER_POL_STIFF,
    Problem,
    kepler,
    kepler_end,
)
from kinetree.solvers.integrate.controller import T_NEW, T_OLD, Y_OLD, H

radau_refined = plain("integrate.radau_dense").radau_refined


@pytest.fixture
def refined(monkeypatch):
    """The bench reads the refined polynomial."""
    monkeypatch.setitem(METHODS, "radau", METHODS["radau"]._replace(interpolate=radau_refined))


def at_ends(case: Problem, times: np.ndarray) -> np.ndarray:
    """States at all times as ends of steps, at a tight tolerance."""
    mem, states = memory("radau", case, 1e-12, 1e-12, hard=1.0), []
    METHODS["radau"].start(mem, problem, case.context, 0.0, np.array(case.start))
    for t in times:
        while time_of(mem) < t:
            assert METHODS["radau"].step(mem, problem, case.context, t) == 0
        states.append(state_of(mem).copy())
    return np.array(states)


@pytest.mark.parametrize("tolerance, middle", [(1e-5, 1e-6), (1e-7, 1e-7), (1e-9, 2e-9)])
def test_dense_output_of_van_der_pol_matches_reference(refined, tolerance: float, middle: float):
    """Median over 400 rows: the polynomial alone has 1e-5, 1.3e-6 and 5e-8. The slope of 1e6 in the layers makes the largest error one of time."""
    times = np.linspace(0.0, 2.0, 401)[1:]
    states = run(
        "radau", VAN_DER_POL_STIFF, times, memory("radau", VAN_DER_POL_STIFF, tolerance, tolerance)
    ).states
    assert np.median(np.abs(states - at_ends(VAN_DER_POL_STIFF, times)).max(axis=1)) < middle
    assert (
        np.abs(states[-1] - VAN_DER_POL_STIFF.end).max() < 2 * tolerance
    )  # 2.6e-6 at 1e-7 by the polynomial alone


@pytest.mark.parametrize("tolerance", [1e-5, 1e-7, 1e-9])
def test_dense_output_of_free_motion_matches_closed_form(refined, tolerance: float):
    """Orbit and springs with one stiff part: the largest error inside is at most 1.5 times that at the end of the run."""
    orbit = kepler(0.2, 6.0)
    springs = Problem("springs", (SPRINGS, 1000.0, 0.5), (1.0, 1.0, 0.0, 0.0), 20.0, None, True, 2)
    for case in (orbit, springs):
        times = np.linspace(0.0, case.stop, 501)[1:]
        exact = (
            np.array([kepler_end(0.2, t) for t in times]) if case is orbit else at_ends(case, times)
        )
        error = np.abs(
            run("radau", case, times, memory("radau", case, tolerance, tolerance)).states - exact
        ).max(axis=1)
        ends = np.abs(
            run(
                "radau", case, times[-1:], memory("radau", case, tolerance, tolerance, hard=1.0)
            ).states
            - exact[-1]
        ).max()
        assert error.max() < 1.5 * ends, case.name


def test_dense_output_of_constrained_motion_matches_reference(refined):
    """y follows cos t with rate 1e9: off the first two steps, which have no steps before them, the error is below the tolerance."""
    case, times = (
        Problem("decay", (DECAY, 1e9, 0.0), (1.0,), 10.0, None, True, 0),
        np.linspace(2.0, 10.0, 401),
    )
    for tolerance in (1e-5, 1e-7, 1e-9):
        result = run("radau", case, times, memory("radau", case, tolerance, tolerance))
        assert np.abs(result.states[:, 0] - np.cos(times)).max() < 0.5 * tolerance


def test_refined_radau_output_is_continuous(refined):
    """Rounding of a few terms of size 1, after small changes of the state too; slopes agree where steps meet."""
    case, method, out = kepler(0.2, 6.0), METHODS["radau"], np.empty(4)
    mem = memory("radau", case, 1e-7, 1e-7)
    method.start(mem, problem, case.context, 0.0, np.array(case.start))
    for k in range(40):
        assert method.step(mem, problem, case.context, 1e9) == 0
        if k % 3 == 0:
            state_of(mem)[:] *= 1.0 + 1e-7
            method.changed(mem, problem, case.context)
        for t, state in ((mem[T_OLD], block(mem, Y_OLD)), (mem[T_NEW], state_of(mem))):
            radau_refined(out, mem, t)
            assert np.abs(out - state).max() < 2e-14
        radau_refined(out, mem, mem[T_NEW] - 1e-4 * mem[H])
        slope = (state_of(mem) - out) / (1e-4 * mem[H])
        rate = np.empty(4)
        problem(rate, case.context, mem[T_NEW], state_of(mem))
        assert np.abs(slope - rate).max() < 1e-3 * mem[H]


def test_dense_output_is_accurate_in_shortened_steps(refined):
    """Hard limits leave steps of any length, a billionth of the next one too: points too close to each other are not used."""
    case, method, out = kepler(0.2, 6.0), METHODS["radau"], np.empty(4)
    mem, worst = memory("radau", case, 1e-8, 1e-8, hard=1.0), 0.0
    method.start(mem, problem, case.context, 0.0, np.array(case.start))
    for k in range(1, 12):
        for limit in (0.5 * k, 0.5 * k + 10.0**-k):
            while time_of(mem) < limit:
                assert method.step(mem, problem, case.context, limit) == 0
                t = 0.5 * (mem[T_OLD] + mem[T_NEW])
                radau_refined(out, mem, t)
                worst = max(worst, np.abs(out - kepler_end(0.2, t)).max())
    assert worst < 2e-7
