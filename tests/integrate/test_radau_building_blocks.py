"""Radau IIA piece by piece: its numbers against the collocation they come from, errors and dense output on polynomials, and what it decides."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.polynomial import Polynomial

from kinetree.models.trace.symbolic_kernels import PlainKernels

KERNELS = PlainKernels(symbolic=False)
CT = KERNELS.module("kinetree.solvers.integrate.controller")
N = KERNELS.module("kinetree.solvers.integrate.radau_newton")
R = KERNELS.module("kinetree.solvers.integrate.radau")
D = KERNELS.module("kinetree.solvers.integrate.radau_dense")
J = KERNELS.module("kinetree.solvers.integrate.jacobian")
NODES = np.array([N.C1, N.C2, 1.0])
A = np.array(
    [
        [
            Polynomial.fromroots(np.delete(NODES, j)).integ()(c)
            / np.prod(NODES[j] - np.delete(NODES, j))
            for j in range(3)
        ]
        for c in NODES
    ]
)
TO = np.array([[N.T11, N.T12, N.T13], [N.T21, N.T22, N.T23], [N.T31, 1.0, 0.0]])
FROM = np.array([[N.I11, N.I12, N.I13], [N.I21, N.I22, N.I23], [N.I31, N.I32, N.I33]])


def memory(n: int = 1, rtol: float = 1e-6, atol: float = 1e-6, **header: float) -> np.ndarray:
    mem = np.empty(R.radau_size(n))
    CT.set_options(mem, n, rtol, atol, 0.0, 0.0)
    for name, value in header.items():
        mem[next(getattr(module, name) for module in (CT, N) if hasattr(module, name))] = value
    return mem


def put(mem: np.ndarray, **blocks: object) -> np.ndarray:
    for name, value in blocks.items():
        CT.block(mem, next(getattr(module, name) for module in (CT, N) if hasattr(module, name)))[
            :
        ] = value
    return mem


def of(function: Callable[[float, np.ndarray], object]) -> Callable:
    def rhs(f: np.ndarray, context: object, t: float, y: np.ndarray) -> int:
        f[:] = function(t, y)
        return 0

    return rhs


def test_radau_coefficients_match_collocation():
    """Nodes: Radau's quadrature is exact to degree 4. The transformation makes blocks of the inverse of A, its inverse undoes it."""
    assert [A[2] @ NODES**k for k in range(5)] == pytest.approx(
        [1 / (k + 1) for k in range(5)], rel=1e-14
    )
    blocks = np.array([[N.GAMMA, 0.0, 0.0], [0.0, N.A_RE, -N.B_IM], [0.0, N.B_IM, N.A_RE]])
    assert pytest.approx(np.eye(3), abs=1e-14) == FROM @ TO
    assert FROM @ np.linalg.inv(A) @ TO == pytest.approx(blocks, abs=1e-13)
    # the embedded error is none where the solution is cubic
    assert [np.dot((R.E1, R.E2, R.E3), NODES**k) for k in (1, 2, 3)] == pytest.approx(
        [-1.0, 0.0, 0.0], abs=1e-14
    )
    s = np.linspace(0.0, 1.0, 2001)
    assert pytest.approx(np.abs(s * (s - N.C1) * (s - N.C2) * (s - 1.0)).max(), rel=5e-3) == R.NODES


def test_radau_weights_and_newton_tolerances_match_formulas():
    """0.1 rtol^(2/3) for a state of size one; the iteration ends at its root, at 0.03 at most, and not below rounding."""
    mem = put(memory(2, 1e-6, 1e-9), Y_NEW=[2.0, -3.0])
    N.weigh(mem)
    assert CT.block(mem, N.WEIGHT) == pytest.approx(
        [1.0 / (1e-5 * (1e-3 + 2.0)), 1.0 / (1e-5 * (1e-3 + 3.0))], rel=1e-12
    )
    for rtol, kappa in (
        (1e-6, math.sqrt(1e-5)),
        (1e-3, 0.03),
        (1e-14, 10 * 2.22e-16 / (0.1 * 1e-14 ** (2 / 3))),
    ):
        mem[CT.RTOL] = rtol
        N.weigh(mem)
        assert mem[N.KAPPA] == pytest.approx(kappa, rel=1e-12)


def test_radau_solves_linear_problem_in_one_iteration():
    """Stages of y' = L y + 1 as a dense system says, whatever the start values; with them the last polynomial continued."""
    L, y, h = np.array([[-3.0, 2.0], [0.5, -1.0]]), np.array([1.0, -2.0]), 0.3
    mem = put(memory(2, FRESH=1.0), Y_NEW=y)
    N.matrix(mem, N.JACOBIAN)[:] = L.ravel()
    N.weigh(mem)
    assert N.factorise(mem, h) == 0 and mem[N.FACTOR_H] == h and mem[CT.FACTORISATIONS] == 1.0
    exact = np.linalg.solve(
        np.eye(6) - h * np.kron(A, L), h * np.kron(A, np.eye(2)) @ np.tile(L @ y + 1.0, 3)
    ).reshape(3, 2)
    for fresh, p in ((1.0, 0.0), (0.0, 0.4)):
        mem[CT.FRESH], mem[CT.H], mem[N.QUALITY] = (
            fresh,
            0.2,
            1e-9,
        )  # as measured in the last step: small
        put(mem, P1=p, P2=-p, P3=0.5 * p)
        N.predict(mem, h)
        x = h / 0.2 * NODES
        expected = (
            p * x * (1.0 + (x - N.C2 + 1.0) * (-1.0 + 0.5 * (x - N.C1 + 1.0)))
            if fresh == 0.0
            else np.zeros(3)
        )
        for j in range(3):
            assert CT.block(mem, N.Z1 + j) == pytest.approx(np.full(2, expected[j]), abs=1e-15)
        assert CT.block(mem, N.FORESEEN) == pytest.approx(np.full(2, expected[2]), abs=1e-15)
        assert (FROM @ np.array([CT.block(mem, N.Z1 + j) for j in range(3)])).T == pytest.approx(
            np.array([CT.block(mem, N.W1 + j) for j in range(3)]).T
        )
        assert N.evaluate_stages(mem, of(lambda t, y: L @ y + 1.0), None, h) == 0
        assert N.newton_update(mem, h) > 0.0
        assert np.array([CT.block(mem, N.Z1 + j) for j in range(3)]) == pytest.approx(
            exact, abs=1e-12
        )
    before = np.array([CT.block(mem, N.W1 + j) for j in range(3)])
    put(mem, Z1=0.0, Z2=0.0, Z3=0.0, W1=0.0, W2=0.0, W3=0.0)
    N.evaluate_stages(mem, of(lambda t, y: L @ y + 1.0), None, h)
    size = N.newton_update(mem, h)
    assert size == pytest.approx(
        math.sqrt(np.mean((before * CT.block(mem, N.WEIGHT)) ** 2)), rel=1e-9
    )


def test_radau_stages_are_evaluated_at_their_times():
    times = []
    mem = put(memory(T_NEW=2.0), Y_NEW=1.0, Z1=0.1, Z2=0.2, Z3=0.3)
    assert N.evaluate_stages(mem, of(lambda t, y: times.append((t, y[0])) or t), None, 0.5) == 0
    assert times == [
        (pytest.approx(2.0 + 0.5 * c), pytest.approx(1.0 + z))
        for c, z in zip(NODES, (0.1, 0.2, 0.3), strict=True)
    ]
    assert [CT.block(mem, N.G1 + j)[0] for j in range(3)] == pytest.approx(
        [2.0 + 0.5 * c for c in NODES]
    )


def iterated(
    slope: float, jacobian: float, quality: float = 0.5, kappa: float = 0.03, rtol: float = 1e-3
) -> tuple[int, float, np.ndarray]:
    """Status and factor of an iteration for y' = slope y from y = 1 with another Jacobian, h = 1."""
    mem = put(memory(1, rtol, rtol, FRESH=1.0), Y_NEW=1.0)
    N.matrix(mem, N.JACOBIAN)[:] = jacobian
    N.weigh(mem)
    N.factorise(mem, 1.0)
    mem[N.QUALITY], mem[N.KAPPA] = quality, kappa
    status, factor = N.iterate(mem, of(lambda t, y: slope * y), None, 1.0)
    return status, factor, mem


def test_radau_newton_stops_on_convergence_or_divergence():
    status, factor, mem = iterated(-2.0, -2.0)
    assert (
        (status, factor, mem[N.USED]) == (0, 1.0, 2.0)
        and mem[N.THETA] < 1e-10
        and mem[N.QUALITY] == pytest.approx(mem[N.THETA], abs=1e-12)
    )
    # what converged fast in the last step may end after one iteration; what was not measured may not
    assert (
        iterated(-2.0, -2.0, quality=1e-7)[2][N.USED] == 1.0
        and iterated(-2.0, -2.0, quality=N.NOT_MEASURED, kappa=1e6)[2][N.USED] == 2.0
    )
    assert (
        iterated(-2.0, -2.0, quality=0.5, kappa=1e6)[2][N.USED] == 1.0
    )  # a quality above 1e-3 counts as 1, and a correction of 1e6 is small then
    fast = iterated(-2.0, -2.0, quality=1e-7)[2]
    assert fast[N.THETA] == N.KEEP_JACOBIAN and fast[N.QUALITY] == pytest.approx(1e-7**0.8)
    status, factor, mem = iterated(60.0, 0.0)
    assert (status, factor) == (-1, 0.5) and mem[N.THETA] >= 0.99 and mem[N.USED] == 2.0
    assert iterated(math.nan, 0.0)[:2] == (CT.NOT_A_NUMBER, 0.5)
    status, factor, mem = iterated(
        2.0, 0.0, kappa=1e-9
    )  # slow: the rest after seven would be too much, and the step is cut by how much
    theta, k = mem[N.THETA], int(mem[N.USED])
    assert (
        status == -1
        and 2 <= k < 7
        and 0.0 < theta < 0.99
        and 0.8 * 20.0 ** (-1.0 / (3 + 7 - k)) <= factor < 0.8
    )


def test_radau_dense_error_matches_formula():
    """For t^4: h^4 times the largest product of distances to the nodes, whatever the step before."""
    for H, h in ((0.5, 0.5), (0.5, 0.2), (0.3, 0.9)):
        mem = put(memory(FRESH=0.0, H=H), WEIGHT=10.0, Z3=(H + h) ** 4)
        nodes = Polynomial.fromroots([0.0, N.C1 * H, N.C2 * H, H])
        put(mem, FORESEEN=(H + h) ** 4 - nodes(H + h))
        assert R.dense_error(mem, h) == pytest.approx(10.0 * h**4 * R.NODES, rel=1e-12)
        mem[CT.FRESH] = 1.0
        assert R.dense_error(mem, h) == 0.0


def test_radau_error_norm_is_bounded_below():
    mem = put(memory(2), WEIGHT=[10.0, 100.0])
    assert (
        R.weighted(mem, np.array([3.0, 0.4])) == pytest.approx(math.sqrt((30.0**2 + 40.0**2) / 2))
        and R.weighted(mem, np.zeros(2)) == 1e-10
    )
    assert R.weighted(memory(0), np.zeros(0)) == 1e-10


def factor(error: float, used: float = 7.0, last_h: float = 0.0, last_error: float = 1.0) -> float:
    return R.step_factor(
        memory(USED=used, LAST_ACCEPTED_H=last_h, LAST_ERROR=last_error), 0.1, error
    )


def test_radau_step_size_prediction_matches_formula():
    """error^(1/4) over a safety that falls with the iterations; the trend of two errors, when it is worse; between a fifth and eight."""
    safety = 0.9 * 15 / (7 + 14)
    assert factor(0.5) == pytest.approx(safety / 0.5**0.25) and factor(
        0.5, used=1.0
    ) == pytest.approx(0.9 / 0.5**0.25)
    assert factor(0.5, used=0.0) == pytest.approx(0.9 / 0.5**0.25)  # never more than that
    assert factor(2.0, last_h=0.1, last_error=1e-6) == pytest.approx(
        safety / 2.0**0.25
    )  # a failure has no trend
    assert factor(0.5, 1.0, 0.2, 0.1) == pytest.approx(
        0.9 / (2.0 * (0.25 / 0.1) ** 0.25)
    ) and factor(0.5, 1.0, 0.05, 0.5) == factor(0.5, 1.0)
    assert factor(1e-9) == 8.0 and factor(1e9) == pytest.approx(0.2)


def finished(
    factor: float,
    *,
    h: float = 0.1,
    wanted: float = 0.0,
    age: float = 2.0,
    theta: float = 0.01,
    lipschitz: float = 1.0,
    error: float = 0.5,
):
    """Header after a step from t = 1 that was accepted."""
    names = {
        "JACOBIAN_AGE": age,
        "THETA": theta,
        "LIPSCHITZ": lipschitz,
        "SMOOTH": 3.0,
        "FRESH": 1.0,
        "STEPS": 4.0,
        "T_NEW": 1.0,
    }
    mem = put(memory(**names), Y_NEW=5.0, F_NEW=6.0, Z1=0.1, Z2=0.2, Z3=0.25)
    assert R.finish(mem, of(lambda t, y: t + y), None, 1.0 + h, h, wanted, factor, error) == 0
    ends = [float(CT.block(mem, k)[0]) for k in (CT.Y_OLD, CT.Y_NEW, CT.F_OLD, CT.F_NEW)]
    assert (
        ends == [5.0, 5.25, 6.0, 1.0 + h + 5.25]
        and mem[N.LAST_ACCEPTED_H] == h
        and (mem[CT.T_OLD], mem[CT.T_NEW]) == (1.0, 1.0 + h)
    )
    return mem


def test_accepted_step_predicts_next_step():
    def planned(factor: float, **more: float) -> float:
        return float(finished(factor, **more)[CT.H_NEXT])

    # with a Jacobian that serves, growth up to a fifth is not worth new factors
    assert (
        planned(1.0) == planned(1.2) == planned(1.1) == 0.1
        and planned(1.21) == pytest.approx(0.121)
        and planned(0.9) == pytest.approx(0.09)
    )
    assert planned(1.1, theta=0.5) == pytest.approx(0.11)
    assert (
        planned(0.5, wanted=0.3) == 0.3
        and planned(5.0, wanted=0.3) == pytest.approx(0.5)
        and planned(0.5, wanted=0.1) == pytest.approx(0.05)
    )
    assert (
        finished(1.0, age=2.0)[N.JACOBIAN_AGE] == 3.0
        and finished(1.0, age=0.0, theta=0.02)[N.JACOBIAN_AGE] == 1.0
    )
    assert finished(1.0, theta=0.021)[N.JACOBIAN_AGE] == -1.0
    assert (
        finished(1.0, error=0.5)[N.LAST_ERROR] == 0.5
        and finished(1.0, error=0.005)[N.LAST_ERROR] == 0.01
    )
    assert (
        finished(1.0, lipschitz=9.9)[CT.SMOOTH] == 4.0
        and finished(1.0, lipschitz=10.1)[CT.SMOOTH] == 0.0
    )


def test_jacobian_is_renewed_when_needed():
    made = []

    def jacobian(
        matrix: np.ndarray, mem: np.ndarray, rhs: object, context: object, trial: np.ndarray
    ) -> int:
        made.append(trial.size)
        matrix[:] = [0.0, 1.0, -9.0, 0.0]
        return refused

    mem, refused = memory(2, JACOBIAN_AGE=-1.0, FACTOR_H=0.1), 0
    assert R.prepare(mem, None, jacobian, None, 0.1) == 0
    assert (
        made == [4]
        and mem[N.JACOBIAN_AGE] == 0.0
        and mem[CT.LIPSCHITZ] == pytest.approx(3.0)
        and mem[CT.FACTORISATIONS] == 1.0
    )
    assert R.prepare(mem, None, jacobian, None, 0.1) == 0 and mem[CT.FACTORISATIONS] == 1.0
    assert (
        R.prepare(mem, None, jacobian, None, 0.2) == 0
        and mem[CT.FACTORISATIONS] == 2.0
        and mem[N.FACTOR_H] == 0.2
        and len(made) == 1
    )
    N.matrix(mem, N.JACOBIAN)[:] = [N.GAMMA / 0.5, 0.0, 0.0, N.GAMMA / 0.5]
    assert R.prepare(mem, None, jacobian, None, 0.5) == -1 and mem[N.FACTOR_H] == 0.0
    mem[N.JACOBIAN_AGE], refused = -1.0, 5
    assert R.prepare(mem, None, jacobian, None, 0.5) == 5 and mem[N.JACOBIAN_AGE] == -1.0


@pytest.mark.parametrize(
    "rate",
    [Polynomial([2.0, -1.0, 3.0]), Polynomial([2.0, -1.0, 3.0, 4.0])],
    ids=["cubic", "of degree 4"],
)
def test_refined_radau_output_is_exact_to_degree_four(rate: Polynomial):
    """The collocation polynomial alone to degree three; in the first step, after steps of other sizes, and after one more than four times as long."""
    motion, mem, out = rate.integ(), memory(1, 1e-2, 1e-2), np.empty(1)
    assert R.radau_start(mem, of(lambda t, y: rate(t)), None, 0.0, np.zeros(1)) == 0
    D.radau_refined(out, mem, 0.0)
    assert out[0] == 0.0
    for h in (0.1, 0.15, 0.05, 0.21, 0.01):
        mem[CT.H_NEXT] = h
        assert R.radau_step(mem, of(lambda t, y: rate(t)), None, 9.0) == 0 and mem[CT.H] == h
        for s in (0.0, 0.3, 0.8, 1.0):
            t = mem[CT.T_OLD] + s * h
            D.radau_refined(out, mem, t)
            assert out[0] == pytest.approx(motion(t), abs=1e-13)
            D.radau_interpolate(out, mem, t)
            assert out[0] == pytest.approx(
                motion(t), abs=1e-13 if rate.degree() == 2 else 2.0 * h**4
            )
    if rate.degree() == 2:
        put(
            mem, Y_NEW=CT.block(mem, CT.Y_NEW) + 1e-3
        )  # as a projection does: the ends are met, and the slope at both of them
        for s, part in ((0.0, 0.0), (0.5, 0.5), (1.0, 1.0), (0.25, 0.25**2 * 2.5)):
            t = mem[CT.T_OLD] + s * mem[CT.H]
            D.radau_refined(out, mem, t)
            assert out[0] == pytest.approx(motion(t) + 1e-3 * part, abs=1e-13)


def test_radau_extrapolates_old_stages_up_to_fourfold_steps():
    for h, known in ((0.4, True), (0.4001, False)):
        mem = put(
            memory(FRESH=0.0, H=0.1),
            Z1=0.3,
            Z2=-0.2,
            Z3=0.1,
            P1=0.5,
            P2=0.6,
            P3=0.7,
            FREE=0.1,
            DEFECT=0.2,
        )
        D.store(mem, h)
        assert (CT.block(mem, N.POWER5)[0] != 0.0) == known
        assert CT.block(mem, N.FREE)[0] == pytest.approx(-10.0 * N.GAMMA * 0.2)
    mem[CT.FRESH] = 1.0
    D.store(mem, 0.1)
    assert (
        CT.block(mem, N.POWER5)[0] == 0.0
        and CT.block(mem, N.POWER4)[0] == 0.25 * CT.block(mem, N.FREE)[0]
    )


def test_jacobian_increments_scale_with_state():
    """The root of eps of the largest of state, change in a step, tolerance over rtol; to where the solution goes, or back if refused."""
    asked: list[np.ndarray] = []

    def rhs(f: np.ndarray, context: float, t: float, y: np.ndarray) -> int:
        asked.append(y - start)
        f[:] = 2.0 * (y - start)[[0, 0, 2, 3]] + np.array([-1.0, 100.0, 0.0, -1.0])
        return int(y[3] < start[3] and refuses)

    start, refuses = np.array([4.0, 0.0, 0.0, -2.0]), True
    mem = put(
        memory(4, 1e-3, 1e-6, H_NEXT=0.05, T_NEW=1.0, PASSIVE=0.0),
        Y_NEW=start,
        F_NEW=[-1.0, 100.0, 0.0, -1.0],
    )
    CT.block(mem, CT.ATOL)[:] = [1e-6, 1e-6, 1e-6, 1e-6]
    found = np.full(16, np.nan)
    assert J.numerical_jacobian(found, mem, rhs, None, np.empty(8)) == 0
    root = 2.0**-26
    moves = [a[np.flatnonzero(a)[0]] for a in asked]
    assert (
        moves
        == pytest.approx([-4.0 * root, 5.0 * root, 1e-3 * root, -2.0 * root, 2.0 * root], rel=1e-6)
        and mem[CT.JACOBIANS] == 1.0
    )
    expected = np.zeros((4, 4))
    expected[0, 0], expected[1, 0], expected[2, 2], expected[3, 3] = 2.0, 2.0, 2.0, 2.0
    assert found.reshape(4, 4) == pytest.approx(expected, abs=1e-6) and mem[CT.EVALUATIONS] == 5.0
    mem[CT.PASSIVE], asked[:] = 2.0, []
    assert J.numerical_jacobian(found, mem, rhs, None, np.empty(8)) == 0
    expected[:, 2:] = 0.0
    assert len(asked) == 2 and found.reshape(4, 4) == pytest.approx(expected, abs=1e-6)
    mem[CT.PASSIVE] = 0.0
    CT.block(mem, CT.ATOL)[:], start = 0.0, np.zeros(4)
    put(mem, Y_NEW=0.0, F_NEW=0.0)
    refuses = False
    asked[:] = []
    assert (
        J.numerical_jacobian(
            found, mem, of(lambda t, y: asked.append(y.copy()) or y), None, np.empty(8)
        )
        == 0
    )
    assert [a.max() for a in asked] == pytest.approx(
        [1e-10 * root] * 4
    )  # a state of nothing that no tolerance tells of
    assert J.numerical_jacobian(found, mem, lambda f, context, t, y: 6, None, np.empty(8)) == 6


def test_spectral_radius_is_estimated_from_two_growth_factors():
    """Of an oscillator, whose vectors shrink and grow in turns, as of a rotation; what dies out has none."""
    assert J.spectral_radius(np.array([0.0, 1.0, -49.0, 0.0]), 2, np.empty(4)) == pytest.approx(
        7.0, rel=1e-14
    )
    assert J.spectral_radius(np.array([0.0, 3.0, -3.0, 0.0]), 2, np.empty(4)) == pytest.approx(
        3.0, rel=1e-14
    )
    assert J.spectral_radius(np.diag([3.0, 50.0, 1.0]).ravel(), 3, np.empty(6)) == pytest.approx(
        50.0, rel=1e-9
    )
    assert J.spectral_radius(np.array([0.0, 1.0, 0.0, 0.0]), 2, np.empty(4)) == 0.0
