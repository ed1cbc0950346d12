"""Störmer's formulas, extrapolation, ROS2, symplectic Euler and the pairs of Runge and Kutta on cases that are exact or worked out by hand."""

import math

import numpy as np
import pytest
from numpy.polynomial import Polynomial

from kinetree.models.trace.symbolic_kernels import PlainKernels
from kinetree.solvers.integrate.kinds.tsit5 import INTEGRATOR
from kinetree.solvers.integrate.tableau import Tableau
from kinetree.solvers.layout import Status

KERNELS = PlainKernels(symbolic=False)
CT, G, S, SD, I, RK, X = (
    KERNELS.module(f"kinetree.solvers.integrate.{name}")
    for name in (
        "controller",
        "extrapolation",
        "stormer",
        "stormer_dense",
        "semi_implicit",
        "rk45",
        "explicit",
    )
)


def memory(
    size: int, n: int = 1, h: float = 0.1, rtol: float = 1e-6, **header: float
) -> np.ndarray:
    mem = np.empty(size)
    CT.set_options(mem, n, rtol, rtol, h, 0.0)
    for name, value in header.items():
        mem[next(getattr(module, name) for module in (CT, S, I) if hasattr(module, name))] = value
    return mem


class Rates:
    """Rates by a function of time and state, refused where the time is in `refused`; what was asked is kept."""

    def __init__(self, function, refused: float = math.inf):
        self.function, self.refused, self.asked = function, refused, []

    def __call__(self, f: np.ndarray, context: object, t: float, y: np.ndarray) -> int:
        self.asked.append(t)
        f[:] = self.function(t, y)
        return 8 if t > self.refused else 0


def coefficients(implicit: bool, twice: bool, count: int) -> list[float]:
    """Of backward differences of f at the new end (implicit) or at the last one: (-t/ln(1 - t))^(1 or 2), over 1 - t for explicit formulas."""
    log = Polynomial([0.0, *(1.0 / k for k in range(1, count + 2))])  # -ln(1 - t)
    series = [1.0]
    over = Polynomial(log.coef[1:])
    for m in range(1, count):
        series.append(-sum(series[j] * over.coef[m - j] for j in range(m)))
    if twice:
        series = [sum(series[j] * series[m - j] for j in range(m + 1)) for m in range(count)]
    return series if implicit else list(np.cumsum(series))


def test_stormer_coefficients_match_generating_functions():
    """Without the terms that the sums take over: S1 the first of Adams, S2 the first two of Störmer and Cowell."""
    for found, implicit, twice, skipped in (
        (S.ADAMS_BASHFORTH, False, False, 1),
        (S.ADAMS_MOULTON, True, False, 1),
    ):
        expected = coefficients(implicit, twice, 6)[skipped:]
        assert pytest.approx(S.ordinates(tuple(expected)), rel=1e-12) == found
    # f_n with S2_n instead of S2_(n-1): the term of the first difference of Störmer is none, the one of Cowell is -1 and in the sum
    assert (
        pytest.approx(S.ordinates(tuple(coefficients(False, True, 7)[2:])), rel=1e-11) == S.STORMER
    )
    assert pytest.approx(S.ordinates(tuple(coefficients(True, True, 7)[2:])), abs=1e-13) == S.COWELL


def test_stormer_ordinate_form_matches_difference_form():
    values = np.array([3.0, -1.0, 4.0, 1.0, -5.0])  # newest first
    d = (0.3, 0.2, -0.7, 0.5, 0.9)
    expected = sum(c * np.diff(values[::-1], m)[-1] for m, c in enumerate(d))
    assert (
        np.dot(S.ordinates(d), values)
        == pytest.approx(expected)
        == np.dot(SD.to_ordinates(d), values)
    )


def test_stormer_dense_output_matches_integrals():
    """Of s (s + 1) ... (s + m - 1)/m!, once and twice, from 0."""
    basis = [
        Polynomial.fromroots([-float(j) for j in range(m)]) / math.factorial(m)
        if m
        else Polynomial([1.0])
        for m in range(5)
    ]
    for s in (-4.0, -0.3, 0.0, 0.7, 1.0):
        assert SD.differences_once(s) == pytest.approx([b.integ()(s) for b in basis], abs=1e-13)
        assert SD.differences_twice(s) == pytest.approx([b.integ(2)(s) for b in basis], abs=1e-12)


FORCE = Polynomial([1.0, -2.0, 0.5, 3.0, -1.0])


@pytest.mark.parametrize("correct", [0.0, 1.0])
def test_stormer_is_exact_for_forces_of_degree_four(correct: float):
    """q, u and a state of first order; at ends of steps and inside, through the start, a shorter step before a hard limit, and a new history."""
    speed, place, first = FORCE.integ(), FORCE.integ(2), FORCE.integ() + 2.0
    rates = Rates(lambda t, y: [y[1], FORCE(t), FORCE(t)])
    mem, out = memory(S.stormer_size(3), 3, 0.1, NQ=1.0, NU=1.0, CORRECT=correct), np.empty(3)
    assert (
        S.stormer_start(mem, rates, None, 0.0, np.array([0.0, 0.0, 2.0])) == 0
        and mem[CT.ORDER] == 6.0
    )
    SD.stormer_interpolate(out, mem, 0.0)
    assert out.tolist() == [0.0, 0.0, 2.0]

    def step(limit: float, end: float, hard: float = 1.0, evaluations: int | None = None) -> None:
        mem[CT.HARD], before = hard, len(rates.asked)
        assert S.stormer_step(mem, rates, None, limit) == 0 and mem[CT.T_NEW] == pytest.approx(
            end, abs=1e-15
        )
        assert evaluations is None or len(rates.asked) - before == evaluations
        for part in (0.0, 0.3, 1.0):
            t = mem[CT.T_OLD] + part * (mem[CT.T_NEW] - mem[CT.T_OLD])
            SD.stormer_interpolate(out, mem, t)
            cubic = mem[S.SUMMED] == 0.0 and 0.0 < part < 1.0
            assert out == pytest.approx(
                [place(t), speed(t), first(t)], abs=1e-3 if cubic else 1e-12
            )

    once = 2 if correct else 1
    step(9.0, 0.4, 0.0, 4 * 17)
    for k in range(5, 9):
        step(9.0, 0.1 * k, 0.0, once)
    step(0.85, 0.85)
    assert mem[S.SUMMED] == 0.0 and mem[S.KNOWN] == 1.0
    step(
        1.24, 0.95
    )  # not enough room for a start of four steps: one at a time, until the history is full
    step(1.24, 1.05)
    step(1.24, 1.15)
    assert mem[S.KNOWN] == 4.0
    step(1.24, 1.24)
    assert mem[S.KNOWN] == 1.0
    step(9.0, 1.64, evaluations=4 * 17)
    step(2.04, 1.74, evaluations=once)


def test_stormer_restarts_after_a_failure():
    rates = Rates(lambda t, y: [y[1], -y[0]], refused=0.75)
    mem = memory(S.stormer_size(2), 2, 0.1, NQ=1.0, NU=1.0)
    S.stormer_start(mem, rates, None, 0.0, np.array([1.0, 0.0]))
    for _ in range(4):
        assert S.stormer_step(mem, rates, None, 9.0) == 0
    assert mem[S.SUMMED] == 1.0
    before = CT.block(mem, CT.Y_NEW).copy(), CT.block(mem, CT.F_NEW).copy()
    assert S.stormer_step(mem, rates, None, 9.0) == 8 and mem[CT.T_NEW] == pytest.approx(0.7)
    assert (
        (CT.block(mem, CT.Y_NEW) == before[0]).all()
        and (CT.block(mem, CT.F_NEW) == before[1]).all()
        and mem[S.SUMMED] == 0.0
    )
    assert (
        S.stormer_start(
            memory(S.stormer_size(2), 2, NQ=1.0, NU=-1.0), rates, None, 0.0, np.zeros(2)
        )
        == Status.INCONSISTENT
    )


def test_small_state_change_enters_stormer_sums():
    """The motion goes on from the state that stands there: free flight with another speed."""
    rates = Rates(lambda t, y: [y[1], -9.8])
    mem = memory(S.stormer_size(2), 2, 0.1, NQ=1.0, NU=1.0)
    S.stormer_start(mem, rates, None, 0.0, np.array([0.0, 3.0]))
    S.stormer_step(mem, rates, None, 9.0)
    t, y = mem[CT.T_NEW], CT.block(mem, CT.Y_NEW)
    y[:] += [0.25, 0.5]
    q, u = y
    assert S.stormer_changed(mem, rates, None) == 0 and S.stormer_step(mem, rates, None, 9.0) == 0
    d = mem[CT.T_NEW] - t
    assert y == pytest.approx([q + u * d - 4.9 * d * d, u - 9.8 * d], abs=1e-12)


def test_extrapolation_method_has_order_eight():
    """y' = y: the error of a step falls as h^9; polynomials of degree 7 in time are met. The four rules ask 1 + 3 + 5 + 7 rates."""
    errors = []
    for h in (0.8, 0.4):
        mem, rates, y = memory(CT.HEADER + G.GBS_END, 1), Rates(lambda t, y: y), np.ones(1)
        CT.block(mem, CT.F_NEW)[:] = 1.0
        assert G.extrapolated(y, mem, rates, None, 0.0, h) == 0 and len(rates.asked) == 16
        errors.append(abs(y[0] - math.exp(h)))
    assert math.log2(errors[0] / errors[1]) == pytest.approx(9.0, abs=0.4)
    rate = Polynomial([1.0, -2.0, 0.5, 3.0, -1.0, 2.0, 1.0])
    rates, y = Rates(lambda t, y: rate(t)), np.zeros(1)
    CT.block(mem, CT.F_NEW)[:] = rate(0.5)
    assert G.extrapolated(y, mem, rates, None, 0.5, 0.4) == 0 and y[0] == pytest.approx(
        rate.integ()(0.9) - rate.integ()(0.5), abs=1e-14
    )
    assert G.extrapolated(y, mem, Rates(lambda t, y: t, refused=0.6), None, 0.5, 0.4) == 8


# -- methods of fixed cost -----------------------------------------------------------------------------------------------------------------------
def test_ros2_step_matches_formula():
    """y' = L y + b: both stages by dense algebra; L-stable: what is infinitely stiff is gone after a step. The Jacobian serves REFRESH steps."""
    L, b, y, h, g = (
        np.array([[-1.0, 2.0], [0.5, -30.0]]),
        np.array([1.0, 2.0]),
        np.array([1.0, -1.0]),
        0.1,
        1.0 - math.sqrt(0.5),
    )
    rates = Rates(lambda t, y: L @ y + b)
    mem = memory(I.semi_implicit_size(2), 2, h, REFRESH=3.0)
    assert I.semi_implicit_start(mem, rates, None, 0.0, y) == 0 and mem[CT.ORDER] == 2.0
    W = np.linalg.inv(np.eye(2) - g * h * L)
    for number in range(7):
        assert (
            mem[CT.JACOBIANS] == (number + 2) // 3 and mem[CT.FACTORISATIONS] == mem[CT.JACOBIANS]
        )
        k1 = W @ (L @ y + b)
        k2 = W @ (L @ (y + h * k1) + b - 2.0 * k1)
        y = y + 1.5 * h * k1 + 0.5 * h * k2
        assert I.semi_implicit_step(mem, rates, None, 9.0) == 0
        assert CT.block(mem, CT.Y_NEW) == pytest.approx(y, rel=1e-6) and mem[
            CT.T_NEW
        ] == pytest.approx(h * (number + 1))
    mem[CT.HARD] = 1.0
    factors = mem[CT.FACTORISATIONS]
    assert (
        I.semi_implicit_step(mem, rates, None, mem[CT.T_NEW] + 0.05) == 0
        and mem[CT.FACTORISATIONS] == factors + 1
    )
    stiff = Rates(lambda t, y: -1e12 * (y - 1.0))
    mem = memory(I.semi_implicit_size(1), 1, h, REFRESH=1.0)
    I.semi_implicit_start(mem, stiff, None, 0.0, np.zeros(1))
    assert I.semi_implicit_step(mem, stiff, None, 9.0) == 0 and CT.block(mem, CT.Y_NEW)[
        0
    ] == pytest.approx(1.0, abs=1e-6)
    mem[CT.T_NEW] = 0.0
    asked = Rates(lambda t, y: [t])
    I.semi_implicit_start(mem, asked, None, 2.0, np.zeros(1))
    I.semi_implicit_step(mem, asked, None, 9.0)
    assert asked.asked == pytest.approx([2.0, 2.0, 2.1, 2.1])
    for late, status in ((2.05, 8), (-9.0, 8)):
        I.semi_implicit_start(mem, Rates(lambda t, y: [t]), None, 2.0, np.zeros(1))
        assert (
            I.semi_implicit_step(mem, Rates(lambda t, y: [t], refused=late), None, 9.0) == status
            and mem[CT.T_NEW] == 2.0
        )
    I.matrix(mem, 0)[:], mem[I.AGE], mem[I.FACTOR_H] = math.nan, 0.0, 0.0
    assert I.semi_implicit_step(mem, asked, None, 9.0) == Status.NO_CONVERGENCE


@pytest.mark.parametrize("nu", [2, 1])
def test_symplectic_euler_step_matches_formula(nu: int):
    """Speeds first, then coordinates by their rates at the new speeds: those themselves, or what the rates say where there are fewer."""
    y = np.array([1.0, 2.0, 3.0, 4.0, 5.0][: 3 + nu])
    rates = Rates(lambda t, y: np.array([y[2], 10.0 * y[2], *([-y[0]] * nu), t + 1.0]))
    mem = memory(I.semi_implicit_size(3 + nu), 3 + nu, 0.1, REFRESH=0.0, NQ=2.0, NU=float(nu))
    assert (
        I.semi_implicit_start(mem, rates, None, 0.0, y) == 0
        and mem[CT.ORDER] == 1.0
        and I.semi_implicit_step(mem, rates, None, 9.0) == 0
    )
    u = y[2 : 2 + nu] - 0.1 * y[0]
    q = y[:2] + 0.1 * (u if nu == 2 else u[0] * np.array([1.0, 10.0]))
    assert (
        CT.block(mem, CT.Y_NEW) == pytest.approx([*q, *u, y[-1] + 0.1]) and mem[CT.JACOBIANS] == 0.0
    )


# -- explicit pairs --------------------------------------------------------------------------------------------------------------------------------
def hermite_weights() -> tuple[tuple[float, ...], ...]:
    """Dense weights of Dormand and Prince: Hairer's form, expanded in powers of the part of the step."""
    s, r = Polynomial([0.0, 1.0]), Polynomial([1.0, -1.0])
    b = (*RK.B, 0.0)
    rows = []
    for j in range(7):
        first, last = float(j == 0), float(j == 6)
        bow = first - b[j]
        rows.append(s * (b[j] + r * (bow + s * (b[j] - last - bow + r * RK.D[j]))))
    return tuple(tuple(np.pad(row.coef, (0, 5 - len(row.coef)))[1:]) for row in rows)


def test_dormand_prince_table_satisfies_order_conditions():
    a = (
        (),
        *(tuple(row[:k]) for k, row in enumerate((RK.A2, RK.A3, RK.A4, RK.A5, RK.A6), start=1)),
        RK.B,
    )
    table = Tableau(
        order=5,
        lower=4,
        dense=4,
        stages=7,
        c=(*RK.C, 1.0),
        a=a,
        error=RK.E,
        weights=hermite_weights(),
    )
    assert all(defect < 1e-13 for defect in table.defects().values()), table.defects()
    assert all(not any(row[k:]) for k, row in enumerate((RK.A2, RK.A3, RK.A4, RK.A5), start=1))
    assert (
        table.stability() == pytest.approx(3.3, abs=0.05)
        and pytest.approx(table.stability(), rel=0.02) == RK.STABLE
    )


PAIR = X.explicit(INTEGRATOR.tableau)
PAIRS = {"rk45": (RK.KERNELS, RK.LAST_ERROR), "tsit5": (PAIR, X.LAST_ERROR)}


@pytest.mark.parametrize("name", PAIRS)
def test_explicit_step_size_control_matches_formula(name: str):
    """h 0.9 |last|^0.04 / |error|^0.17, between a fifth and ten times; after a rejection no growth, and what a limit cut keeps its plan."""
    kernels, last_error = PAIRS[name]

    def one(
        error: float, limit: float = 9.0, last: float = 1e-4, refused: float = math.inf
    ) -> np.ndarray:
        """One step of 0.1 whose error, known from a step of wide tolerances, is scaled to `error`."""
        tolerance = 1e3
        for _ in range(2):
            mem = memory(kernels.size(1), 1, 0.1, HARD=1.0)
            mem[CT.RTOL], CT.block(mem, CT.ATOL)[:] = 0.0, tolerance
            rates = Rates(lambda t, y: 3.0 * np.cos(3.0 * t) - 5.0 * y, refused)
            assert (
                kernels.start(mem, rates, None, 0.0, np.ones(1)) == 0
                and mem[CT.H_NEXT] == 0.1
                and mem[last_error] == 1e-4
            )
            mem[last_error] = last
            if tolerance == 1e3:
                found = float(measured(kernels, mem.copy(), rates, limit))
                tolerance = found / error
        assert kernels.step(mem, rates, None, limit) == 0
        return mem

    mem = one(0.5)
    assert (
        mem[last_error] == pytest.approx(0.5, rel=1e-6)
        and mem[CT.REJECTED] == 0.0
        and mem[CT.LIPSCHITZ] == pytest.approx(5.0, rel=1e-6)
    )
    assert mem[CT.H_NEXT] == pytest.approx(0.1 * 0.9 * 1e-4**0.04 / 0.5**0.17, rel=1e-6)
    assert one(0.5, last=0.3)[CT.H_NEXT] == pytest.approx(
        0.1 * 0.9 * 0.3**0.04 / 0.5**0.17, rel=1e-6
    )
    mem = one(1e-7)
    assert mem[last_error] == 1e-4 and mem[CT.H_NEXT] == pytest.approx(
        0.1 * 0.9 * 1e-4**0.04 / 1e-7**0.17, rel=1e-6
    )
    assert one(1e-9)[CT.H_NEXT] == pytest.approx(1.0)
    mem = one(2.0)
    assert mem[CT.REJECTED] == 1.0 and mem[CT.H] == pytest.approx(0.1 * 0.9 / 2.0**0.17, rel=1e-6)
    mem = one(1e9)
    assert mem[CT.REJECTED] > 2 and mem[CT.H] < 0.1 * 0.2**2
    assert (
        one(0.5, limit=0.05)[CT.H_NEXT] == pytest.approx(0.1)
        and one(0.5, limit=0.05)[CT.T_NEW] == 0.05
    )
    mem = one(0.01, refused=0.05)
    assert (
        mem[CT.H] == pytest.approx(0.02)
        and mem[CT.REJECTED] == 1.0
        and mem[CT.H_NEXT] == pytest.approx(0.02)
    )


def measured(kernels, mem: np.ndarray, rates: Rates, limit: float) -> float:
    """Error of the step, noted where the method measures it, in units of the state."""
    reached, CT.block(mem, CT.ATOL)[:] = rates.refused, 1e3
    rates.refused = math.inf
    low = mem.copy()
    seen: list[float] = []
    norm = CT.norm

    def noted(*arguments) -> float:
        seen.append(norm(*arguments))
        return seen[-1]

    CT.norm = noted
    try:
        kernels.step(low, rates, None, limit)
    finally:
        CT.norm, rates.refused = norm, reached
    return 1e3 * seen[-1]
