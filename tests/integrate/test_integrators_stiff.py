"""Stiff problems against printed references; linear algebra of the implicit methods; when to change the method."""

import numpy as np
import pytest
from integrator_runs import (
    METHODS,
    block,
    is_smooth,
    is_stiff,
    memory,
    problem,
    run,
    state_of,
    time_of,
)
from plain_kernels import plain

from kinetree.scripts.bench.integrator_problems import (
    ARENSTORF_ORBIT,
    DECAY,
    HIRES_END,
    ROBERTSON_LONG,
    SPRINGS,
    VAN_DER_POL_STIFF,
    Problem,
    kepler,
    shaken_chain,
)
from kinetree.solvers.integrate.controller import FACTORISATIONS, JACOBIANS, LIPSCHITZ, STEPS, Y_NEW

JACOBIAN, LU, RADAU = (
    plain("integrate.jacobian"),
    plain("integrate.linear_solver"),
    plain("integrate.radau"),
)
numerical_jacobian, spectral_radius = JACOBIAN.numerical_jacobian, JACOBIAN.spectral_radius
factor, factor_complex, solve, solve_complex = (
    LU.factor,
    LU.factor_complex,
    LU.solve,
    LU.solve_complex,
)


@pytest.mark.parametrize(
    "case, small",
    [(VAN_DER_POL_STIFF, 1e-4), (ROBERTSON_LONG, 1e-6), (HIRES_END, 1e-4)],
    ids=lambda x: getattr(x, "name", ""),
)
def test_radau_meets_printed_references(case, small):
    """Relative error of every component within 1000 times the tolerance (steps times growth), and shrinking with it."""
    for tolerance in (1e-4, 1e-7, 1e-10):
        result = run(
            "radau",
            case,
            np.array([case.stop]),
            memory("radau", case, tolerance, small * tolerance),
        )
        assert result.status == 0
        error = np.abs(result.states[-1] / np.array(case.end) - 1.0).max()
        assert (
            error < 1000 * tolerance ** (5 / 6)
            if case is ROBERTSON_LONG
            else error < 300 * tolerance
        ), (tolerance, error)


def test_radau_reuses_jacobian_and_factors():
    result = run(
        "radau", ROBERTSON_LONG, np.array([1e11]), memory("radau", ROBERTSON_LONG, 1e-8, 1e-14)
    )
    assert result.jacobians < 0.3 * result.steps and result.factorisations < 0.6 * result.steps


@pytest.mark.parametrize(
    "case, small",
    [(VAN_DER_POL_STIFF, 1e-4), (ROBERTSON_LONG, 1e-6), (HIRES_END, 1e-4)],
    ids=lambda x: getattr(x, "name", ""),
)
def test_jacobian_is_updated_before_newton_fails(case, small):
    """Where convergence slows down, not only where it stops: on solutions that are smooth but for a few turns not one step in fifty is lost."""
    result = run("radau", case, np.array([case.stop]), memory("radau", case, 1e-7, small * 1e-7))
    assert result.rejected < 0.02 * result.steps and result.jacobians < 0.5 * result.steps


@pytest.mark.parametrize("name", ["adams", "rk45"])
def test_arenstorf_orbit_closes(name):
    case = ARENSTORF_ORBIT
    result = run(name, case, np.array([case.stop]), memory(name, case, 1e-12, 1e-12))
    # one revolution multiplies errors by about 1e5
    assert np.abs(result.states[-1] - np.array(case.end)).max() < 1e-6


def decay_jacobian(jacobian, mem, rhs, context, trial):
    """Exact Jacobian of the problem DECAY."""
    jacobian[0] = -context[1]
    mem[JACOBIANS] += 1.0
    return 0


def test_user_jacobian_is_used():
    case = Problem("decay", (DECAY, 1e5, 0.0), (0.0,), 3.0, None, True, 0)
    mem = memory("radau", case, 1e-8, 1e-8)
    assert METHODS["radau"].start(mem, problem, case.context, 0.0, np.array(case.start)) == 0
    while time_of(mem) < 3.0:
        assert RADAU.radau_step_with(mem, problem, decay_jacobian, case.context, 3.0) == 0
    assert abs(state_of(mem)[0] - np.cos(time_of(mem))) < 1e-6


@pytest.mark.parametrize("tolerance", [1e-4, 1e-6, 1e-9])
def test_radau_dense_output_is_accurate_for_stiff_forces(tolerance):
    """y follows cos t with rate 1e9: the ends of steps are exact whatever the step, so only the check of the polynomial keeps its inside right.

    The inner tolerance of the method is 0.1 tol^(2/3); the polynomial is judged by its predecessor, which leaves a factor.
    """
    case, times = (
        Problem("decay", (DECAY, 1e9, 0.0), (1.0,), 10.0, None, True, 0),
        np.linspace(0.0, 10.0, 201)[1:],
    )
    result = run("radau", case, times, memory("radau", case, tolerance, tolerance))
    assert np.abs(result.states[:, 0] - np.cos(times)).max() < 0.5 * tolerance ** (2 / 3)
    assert result.evaluations < 700 * (1e-9 / tolerance) ** (1 / 6)


STIFF = {
    "springs, damped": (
        Problem("", (SPRINGS, 1000.0, 0.5), (1.0, 1.0, 0.0, 0.0), 20.0, None, True, 2),
        0.2,
    ),
    "van der Pol": (VAN_DER_POL_STIFF._replace(stop=0.5), 1e-3),
    "decay": (Problem("", (DECAY, 1e4, 0.0), (1.0,), 5.0, None, True, 0), 0.3),
}
SMOOTH = {
    "orbit": kepler(0.6, 40.0),
    "circle": kepler(0.0, 60.0),
    "oscillators": Problem("", (SPRINGS, 12.0, 0.0), (1.0, 0.5, 0.0, 0.0), 20.0, None, False, 2),
    "chain": shaken_chain(5, 100.0, 0.1, 10.0),
}


@pytest.mark.parametrize("name", ["adams", "rk45"])
@pytest.mark.parametrize("kind", STIFF)
def test_stiffness_is_detected_early(kind, name):
    case, latest = STIFF[kind]
    for tolerance in (1e-4, 1e-7):
        mem = memory(name, case, tolerance, tolerance)
        METHODS[name].start(mem, problem, case.context, 0.0, np.array(case.start))
        while not is_stiff(mem) and mem[STEPS] < 2000:
            assert METHODS[name].step(mem, problem, case.context, 1e9) == 0
        assert is_stiff(mem) and time_of(mem) < latest and mem[STEPS] < 1000


@pytest.mark.parametrize("name", ["adams", "rk45"])
@pytest.mark.parametrize("kind", SMOOTH)
def test_small_steps_for_accuracy_are_not_taken_for_stiffness(kind, name):
    case = SMOOTH[kind]
    for tolerance in (1e-4, 1e-7, 1e-10):
        mem = memory(name, case, tolerance, tolerance)
        METHODS[name].start(mem, problem, case.context, 0.0, np.array(case.start))
        while time_of(mem) < case.stop:
            assert METHODS[name].step(mem, problem, case.context, 1e9) == 0
            assert not is_stiff(mem), time_of(mem)


def test_radau_detects_smooth_problems():
    smooth, stiff = SMOOTH["oscillators"], STIFF["springs, damped"][0]
    verdicts = []
    for case in (smooth, stiff):
        mem = memory("radau", case, 1e-6, 1e-6)
        METHODS["radau"].start(mem, problem, case.context, 0.0, np.array(case.start))
        while time_of(mem) < case.stop and not is_smooth(mem):
            METHODS["radau"].step(mem, problem, case.context, 1e9)
        verdicts.append(is_smooth(mem))
    assert verdicts == [True, False]


@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_factors_solve_real_and_complex_systems(n):
    """Backward stable: residual within 50 n eps of |A||x|."""
    rng = np.random.default_rng(n)
    a, b = rng.normal(size=(n, n)), rng.normal(size=(n, n))
    x, y, pivots = rng.normal(size=n), rng.normal(size=n), np.zeros(n)
    lu, solution = a.ravel().copy(), x.copy()
    assert factor(lu, pivots, n) == 0
    solve(lu, pivots, n, solution)
    bound = 50 * n * 2.2e-16
    assert np.abs(a @ solution - x).max() <= bound * np.abs(a).max() * (
        1.0 + np.abs(solution).max()
    )
    re, im, u, v = a.ravel().copy(), b.ravel().copy(), x.copy(), y.copy()
    assert factor_complex(re, im, pivots, n) == 0
    solve_complex(re, im, pivots, n, u, v)
    residual = (a + 1j * b) @ (u + 1j * v) - (x + 1j * y)
    assert np.abs(residual).max() <= bound * np.abs(a + 1j * b).max() * (
        1.0 + np.abs(u + 1j * v).max()
    )


def test_diagonal_rows_are_solved_exactly():
    """Numbers of another size below them are no pivots: what rests (0) keeps its bits, and the others are as accurate as ever."""
    rng = np.random.default_rng(3)
    n, still = 9, [0, 4, 7]
    a, b, x, y = (
        rng.normal(size=(n, n)),
        rng.normal(size=(n, n)),
        rng.normal(size=n),
        rng.normal(size=n),
    )
    a[:, still] *= 1e6
    for k in still:
        a[k], b[k], x[k], y[k] = 0.0, 0.0, 0.0, 0.0
        a[k, k], b[k, k] = 0.3, 0.4
    x[4] = 0.6
    pivots, lu, found = np.zeros(n), a.ravel().copy(), x.copy()
    assert factor(lu, pivots, n) == 0
    solve(lu, pivots, n, found)
    assert found[still].tolist() == [0.0, 0.6 / 0.3, 0.0]
    assert np.abs(a @ found - x).max() <= 1e-12 * np.abs(a).max()
    x[4], y[4] = 0.0, 0.0
    re, im, u, v = a.ravel().copy(), b.ravel().copy(), x.copy(), y.copy()
    assert factor_complex(re, im, pivots, n) == 0
    solve_complex(re, im, pivots, n, u, v)
    assert not u[still].any() and not v[still].any()
    assert np.abs((a + 1j * b) @ (u + 1j * v) - (x + 1j * y)).max() <= 1e-12 * np.abs(a).max()


def test_coordinate_rows_pivot_on_their_diagonal():
    """Rows (g, -1) of coordinates above stiff rows of speeds: no row is exchanged for them, and the solution is as accurate as ever."""
    rng = np.random.default_rng(5)
    m, g = 6, 30.0
    n = 2 * m
    a = np.block(
        [
            [g * np.eye(m), -np.eye(m)],
            [1e6 * rng.normal(size=(m, m)), 1e3 * rng.normal(size=(m, m)) + g * np.eye(m)],
        ]
    )
    x, pivots, lu = rng.normal(size=n), np.zeros(n), a.ravel().copy()
    b = a @ x
    assert factor(lu, pivots, n) == 0 and pivots[:m].tolist() == [-1.0 - (m + k) for k in range(m)]
    solve(lu, pivots, n, b)
    assert np.abs(b - x).max() < 1e-11 * np.linalg.cond(a / np.abs(a).max(axis=1)[:, None])
    z = a + 1j * g * np.eye(n)
    c = z @ (x + 2j * x)
    re, im, u, v = z.real.ravel().copy(), z.imag.ravel().copy(), c.real.copy(), c.imag.copy()
    assert factor_complex(re, im, pivots, n) == 0 and (pivots[:m] < 0.0).all()
    solve_complex(re, im, pivots, n, u, v)
    assert max(np.abs(u - x).max(), np.abs(v - 2 * x).max()) < 1e-11 * np.linalg.cond(
        a / np.abs(a).max(axis=1)[:, None]
    )


def test_singular_matrices_are_reported():
    assert factor(np.ones(9), np.zeros(3), 3) == 1
    assert factor_complex(np.ones(9), np.ones(9), np.zeros(3), 3) == 1
    assert factor(np.full(4, np.nan), np.zeros(2), 2) == 1


def test_difference_jacobian_and_spectral_radius_match_reference():
    """Forward differences: error sqrt(eps) |f''| y / 2 of entries up to 280; the radius of springs is the fast frequency."""
    case = HIRES_END
    mem, n = memory("radau", case, 1e-6, 1e-6), 8
    METHODS["radau"].start(mem, problem, case.context, 0.0, np.array(case.start))
    y = block(mem, Y_NEW)
    y[:] = np.linspace(0.1, 0.8, n)
    METHODS["radau"].changed(mem, problem, case.context)
    jacobian, trial = np.empty(n * n), np.empty(2 * n)
    assert numerical_jacobian(jacobian, mem, problem, case.context, trial) == 0
    exact, f, g = np.empty((n, n)), np.empty(n), np.empty(n)
    for j in range(n):
        for out, side in ((f, 1e-3), (g, -1e-3)):  # central differences are exact for a quadratic f
            problem(out, case.context, 0.0, y + side * np.eye(n)[j])
        exact[:, j] = (f - g) / 2e-3
    assert np.abs(jacobian.reshape(n, n) - exact).max() < 280 * 1.5e-8 * 2
    case = STIFF["springs, damped"][0]._replace(context=(SPRINGS, 300.0, 0.0))
    mem = memory("radau", case)
    METHODS["radau"].start(mem, problem, case.context, 0.0, np.array(case.start))
    numerical_jacobian(jacobian, mem, problem, case.context, trial)
    assert spectral_radius(jacobian, 4, trial) == pytest.approx(300.0, rel=0.05)
    assert mem[FACTORISATIONS] == 0


@pytest.mark.parametrize("name", ["rk45", "tsit5"])
@pytest.mark.parametrize("rate", [3.0, 50.0])
def test_time_derivative_of_right_hand_side_is_estimated_at_step_end(name, rate):
    """The last two evaluations are at one instant: for y' = -rate (y - g(t)) their difference over that of their arguments is the rate itself."""
    case = Problem("decay", (DECAY, rate, 0.0), (1.0,), 3.0, None, True, 0)
    mem = memory(name, case, 1e-3, 1e-3, h=0.05)
    assert METHODS[name].start(mem, problem, case.context, 0.0, np.array(case.start)) == 0
    for _ in range(3):
        assert METHODS[name].step(mem, problem, case.context, case.stop) == 0
        assert mem[LIPSCHITZ] == pytest.approx(rate, rel=1e-6)
