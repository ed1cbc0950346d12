"""Measured order of convergence of every integrator and of its dense output."""

import numpy as np
import pytest
from integrator_runs import METHODS, end_errors, memory, problem, run, slope, state_of, time_of

from kinetree.scripts.bench.integrator_list import FIXED as BY_STEPS
from kinetree.scripts.bench.integrator_problems import SPRINGS, Problem, kepler, kepler_end
from kinetree.solvers.integrate.controller import EVALUATIONS, STEPS

ORBIT = kepler(0.2, 6.0)
VARIABLE = [name for name in METHODS if name not in BY_STEPS]

# order and the coarsest step: finest is an eighth; errors there span 1e-2 to 1e-12, above rounding
FIXED = [
    ("rk4", {}, 4, 0.1),
    ("stormer", {}, 6, 0.06),
    ("stormer", {"correct": 1.0}, 6, 0.1),
    ("semi-implicit", {"refresh": 1.0}, 2, 0.02),
    ("semi-implicit", {"refresh": 7.0}, 2, 0.02),
    ("semi-implicit", {"refresh": 0.0}, 1, 0.004),
]


@pytest.mark.parametrize("name, options, order, coarsest", FIXED)
def test_fixed_step_methods_reach_their_order(name, options, order, coarsest):
    steps = [ORBIT.stop / round(ORBIT.stop / coarsest * 2**k) for k in range(4)]
    errors = end_errors(name, ORBIT, steps, **options)
    assert slope(np.array(steps), errors) == pytest.approx(order, abs=0.35), errors


@pytest.mark.parametrize("name, order", [("rk45", 5), ("radau", 5), ("tsit5", 5), ("verner65", 6)])
def test_variable_step_methods_reach_their_order(name, order):
    """With rtol = tol, work per unit of time grows as tol^(-1/(order of the error estimate + 1)); error against steps shows the order itself."""
    steps, errors = [], []
    for tolerance in 10.0 ** -np.arange(5, 11):
        result = run(name, ORBIT, np.array([ORBIT.stop]), memory(name, ORBIT, tolerance, tolerance))
        steps.append(result.steps)
        errors.append(np.abs(result.states[-1] - ORBIT.end).max())
    measured = -slope(np.array(steps), np.array(errors))
    # verner65 was made to have small leading errors: at these steps those of order 7 are as large
    assert order - 0.6 < measured < order + (1.5 if name == "verner65" else 0.6)


@pytest.mark.parametrize("name", VARIABLE)
@pytest.mark.parametrize("given", [1e-4, 3e-5])
def test_given_first_step_is_used(name, given):
    """Far below what the tolerance asks for, so that it is taken; none given, a method chooses one of its own."""
    taken = []
    for h in (given, 0.0):
        mem = memory(name, ORBIT, 1e-6, 1e-6, h=h)
        assert METHODS[name].start(mem, problem, ORBIT.context, 0.0, np.array(ORBIT.start)) == 0
        assert METHODS[name].step(mem, problem, ORBIT.context, ORBIT.stop) == 0
        taken.append(time_of(mem))
    assert taken[0] == given != taken[1]


def test_adams_order_rises_with_accuracy():
    """Work grows slower than for any fixed order: 1e-13 costs at most four times 1e-5 (order 8 alone would need ten times as much)."""
    evaluations = {}
    for tolerance in (1e-5, 1e-13):
        result = run(
            "adams", ORBIT, np.array([ORBIT.stop]), memory("adams", ORBIT, tolerance, tolerance)
        )
        evaluations[tolerance] = result.evaluations
        assert np.abs(result.states[-1] - ORBIT.end).max() < 100 * tolerance
    assert evaluations[1e-13] < 4.5 * evaluations[1e-5]


@pytest.mark.parametrize("name", VARIABLE)
def test_integration_error_follows_tolerance(name):
    tolerances = 10.0 ** -np.arange(4, 12)
    errors = []
    for tolerance in tolerances:
        result = run(name, ORBIT, np.array([ORBIT.stop]), memory(name, ORBIT, tolerance, tolerance))
        errors.append(np.abs(result.states[-1] - ORBIT.end).max())
    assert (np.array(errors) < 200 * tolerances).all(), (
        errors
    )  # errors grow with t on an orbit: factor ~ 3 pi t / a per revolution
    assert slope(tolerances, np.array(errors)) == pytest.approx(1.0, abs=0.25), errors


@pytest.mark.parametrize("name", VARIABLE)
def test_dense_output_error_matches_step_error(name):
    """Largest error over 500 points inside the steps against that at the ends of the steps."""
    times = np.linspace(0.0, ORBIT.stop, 501)[1:]
    exact = np.array([kepler_end(0.2, t) for t in times])
    for tolerance in (1e-5, 1e-8, 1e-11):
        result = run(name, ORBIT, times, memory(name, ORBIT, tolerance, tolerance))
        inside = np.abs(result.states - exact).max()
        at_end = np.abs(result.states[-1] - ORBIT.end).max()
        assert inside < 20 * max(at_end, tolerance), tolerance


@pytest.mark.parametrize(
    "name, options, order",
    [("rk4", {}, 4), ("stormer", {}, 6), ("semi-implicit", {"refresh": 1.0}, 2)],
)
def test_dense_output_of_fixed_steps_keeps_the_order(name, options, order):
    times = np.linspace(0.0, ORBIT.stop, 173)[
        1:
    ]  # 172 parts: never on the grid of the steps but at the end
    exact = np.array([kepler_end(0.2, t) for t in times])
    steps = [ORBIT.stop / n for n in (150, 300, 600)]
    errors = [
        np.abs(run(name, ORBIT, times, memory(name, ORBIT, h=h, **options)).states - exact).max()
        for h in steps
    ]
    assert slope(np.array(steps), np.array(errors)) == pytest.approx(order, abs=0.6), errors


def springs(w: float, damping: float, stop: float) -> Problem:
    """Slow oscillator cos t that drags a stiff one at rest relative to it, and a first-order state; end by the variation of constants."""
    return Problem("springs", (SPRINGS, w, damping), (1.0, 1.0, 0.0, 0.0, 0.0), stop, None, True, 2)


def test_stormer_takes_velocity_forces_and_first_order_states():
    case = springs(3.0, 0.2, 4.0)
    fine = run("adams", case, np.array([case.stop]), memory("adams", case, 1e-13, 1e-13))
    case = case._replace(end=tuple(fine.states[-1]))
    steps = [case.stop / n for n in (80, 160, 320)]
    assert slope(np.array(steps), end_errors("stormer", case, steps)) == pytest.approx(6, abs=0.5)


def test_stormer_starts_from_single_steps_between_hard_limits():
    """Limits at every step leave no room for the start over 4 h: single steps fill the history, then one evaluation per step is enough."""
    h = 0.01
    mem = memory("stormer", ORBIT, h=h, hard=1.0)
    method = METHODS["stormer"]
    assert method.start(mem, problem, ORBIT.context, 0.0, np.array(ORBIT.start)) == 0
    for k in range(1, 401):
        while time_of(mem) < k * h:
            assert method.step(mem, problem, ORBIT.context, k * h) == 0
    assert mem[STEPS] == 400 and mem[EVALUATIONS] < 400 + 4 * 17
    assert np.abs(state_of(mem) - kepler_end(0.2, 4.0)).max() < 1e-7


def test_semi_implicit_survives_any_stiffness():
    """A damped spring of 1e6 rad/s at h = 0.01 (explicit limit 2e-6): the slow motion stays within the order-2 error of cos t."""
    case = springs(1e6, 0.7, 10.0)
    result = run(
        "semi-implicit",
        case,
        np.array([case.stop]),
        memory("semi-implicit", case, h=0.01, refresh=5.0),
    )
    assert result.status == 0
    assert np.abs(result.states[-1][:2] - np.cos(10.0)).max() < 10.0 * 0.01**2


def test_every_method_is_covered():
    """A method whose order nobody measures fails here."""
    measured = (
        {name for name, *_ in FIXED}
        | {"adams", "rk45", "radau", "tsit5", "verner65"}
        | {"adams-fixed"}
    )  # of no fixed order: test_integrators_budget
    assert set(METHODS) == measured
