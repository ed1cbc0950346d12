"""The Adams method piece by piece: tables on uneven grids against integrals of polynomials, differences against divided ones."""

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.polynomial import Polynomial

from kinetree.models.trace.symbolic_kernels import PlainKernels

KERNELS = PlainKernels(symbolic=False)
CT = KERNELS.module("kinetree.solvers.integrate.controller")
AC = KERNELS.module("kinetree.solvers.integrate.adams_coefficients")
AD = KERNELS.module("kinetree.solvers.integrate.adams_differences")
A = KERNELS.module("kinetree.solvers.integrate.adams")
NODES, WEIGHTS = (
    np.polynomial.legendre.leggauss(7)[k] / 2 + (0.5, 0.0)[k] for k in range(2)
)  # on [0, 1]


def memory(
    n: int = 1, rtol: float = 0.0, atol: float = 1.0, h: float = 0.0, **header: float
) -> np.ndarray:
    mem = np.empty(A.adams_size(n))
    CT.set_options(mem, n, rtol, atol, h, 0.0)
    mem[CT.RTOL] = rtol
    for name, value in header.items():
        mem[getattr(CT, name, None) or getattr(AC, name)] = value
    return mem


def integrals(past: list[float], h: float, order: int) -> np.ndarray:
    """Of c_1 ... c_order over the step: products over the newest i - 1 points, 1 at the end of the step each; by Gauss, exact to degree 13."""
    before = np.array([past[-1] - past[-i] for i in range(1, order)])[:, None]
    factors = (NODES[None] * h + before) / (h + before)
    return np.vstack((np.ones((1, 7)), np.cumprod(factors, axis=0))) @ WEIGHTS


def gamma(implicit: bool, count: int) -> list[Fraction]:
    """Coefficients of -t/ln(1 - t), or of the same over 1 - t: Adams-Moulton, Adams-Bashforth."""
    found: list[Fraction] = []
    for m in range(count):
        found.append(
            (0 if implicit and m else 1)
            - sum((found[m - j] * Fraction(1, j + 1) for j in range(1, m + 1)), Fraction(0))
        )
    return found


def test_adams_error_constants_match_generating_function():
    assert pytest.approx([float(abs(g)) for g in gamma(True, 14)], rel=1e-15) == AD.GAMMA
    fixed = KERNELS.module("kinetree.solvers.integrate.adams_fixed")
    assert pytest.approx([float(g) for g in gamma(False, 9)], rel=1e-15) == fixed.GAMMA


@pytest.mark.parametrize("seed", range(6))
def test_adams_tables_match_integrals_on_grid(seed: int):
    """Steps that double with rising order, then of any size that is sometimes kept: every table, whatever was taken over from the step before."""
    rng = np.random.default_rng(seed)
    mem, past, h, rising = memory(WANTED_ORDER=1.0), [0.0], 0.01, int(rng.integers(2, 12))
    equal = 0
    for number in range(45):
        k, last = int(mem[AC.WANTED_ORDER]), mem[AC.LAST_H]
        AC.coefficients(mem, h)
        same = int(mem[AC.CONSTANT])
        equal = (
            1 if h != last else equal + 1 if equal <= mem[CT.ORDER] else equal
        )  # beyond the order they change nothing more
        assert same == equal
        psi = [past[-1] + h - past[-i] for i in range(1, k + 1)]
        psi_before = [past[-1] - past[-1 - i] for i in range(1, k)]
        assert AC.table(mem, AC.PSI)[1 : k + 1] == pytest.approx(psi, rel=1e-12)
        assert AC.table(mem, AC.BETA)[1 : k + 1] == pytest.approx(
            np.cumprod([1.0, *np.divide(psi[:-1], psi_before)]), rel=1e-11
        )
        assert AC.table(mem, AC.SIGMA)[1 : k + 2] == pytest.approx(
            np.cumprod([1.0, *(np.arange(1, k + 1) * h / psi)]), rel=1e-11
        )
        assert AC.table(mem, AC.INTEGRAL)[1 : k + 2] == pytest.approx(
            integrals(past, h, k + 1), rel=1e-9
        )
        past.append(past[-1] + h)
        mem[CT.ORDER], mem[AC.LAST_H] = k, h
        if number < rising:
            mem[AC.WANTED_ORDER], h = k + 1, 2.0 * h
        else:
            up = k + 1 <= same and k < AC.MAX_ORDER
            mem[AC.WANTED_ORDER] = max(
                1, k + int(rng.choice([-1, 0, 0, 1] if up else [-1, 0, 0, 0]))
            )
            h *= float(rng.choice([1.0, 1.0, 1.0, 1.0, 0.6, 2.0, 0.9]))


def motion(t: float) -> float:
    return math.exp(-t) + math.sin(2.0 * t)


class Rates:
    """Rates that depend on time alone; some calls are refused."""

    def __init__(self, function, refused: tuple[int, ...] = ()):
        self.function, self.refused, self.calls = function, refused, 0

    def __call__(self, f: np.ndarray, context: object, t: float, y: np.ndarray) -> int:
        self.calls += 1
        f[:] = self.function(t)
        return 7 if self.calls in self.refused else 0


def modified_differences(past: list[float], count: int, function) -> list[float]:
    """phi_i = psi_1 ... psi_{i-1} f[t_n, ..., t_{n-i+1}]."""
    rows = [[function(t) for t in past]]
    for j in range(1, count):
        rows.append(
            [
                (b - a) / (past[i + j] - past[i])
                for i, (a, b) in enumerate(zip(rows[-1][:-1], rows[-1][1:], strict=True))
            ]
        )
    return [
        float(rows[i][-1] * np.prod([past[-1] - past[-1 - m] for m in range(1, i + 1)]))
        for i in range(count)
    ]


@pytest.mark.parametrize("refused", [(), (9, 26, 27, 40)], ids=["as planned", "refused at times"])
def test_adams_differences_match_rates(refused: tuple[int, ...]):
    """Whatever sizes and orders the steps had, and after steps that were taken back."""
    rates, past = Rates(motion, refused), [0.0]
    mem = memory(rtol=1e-9, atol=1e-9)
    assert A.adams_start(mem, rates, None, 0.0, np.array([0.3])) == 0
    orders = set()
    for _ in range(60):
        assert A.adams_step(mem, rates, None, 1e9) == 0
        past.append(mem[CT.T_NEW])
        k = int(mem[CT.ORDER])
        orders.add(k)
        expected = modified_differences(past, min(k + 1, len(past)), motion)
        assert [CT.block(mem, AC.PHI + j)[0] for j in range(1, len(expected) + 1)] == pytest.approx(
            expected, abs=1e-12
        )
        exact = 0.3 + 1.0 - math.exp(-past[-1]) + (1.0 - math.cos(2.0 * past[-1])) / 2.0
        assert CT.block(mem, CT.Y_NEW)[0] == pytest.approx(exact, abs=1e-7)
    assert max(orders) > 6 and mem[CT.REJECTED] >= len(refused)


def test_adams_dense_output_integrates_rate_polynomial():
    """Rates of a degree below the order are met everywhere in the step, to rounding, with the sums of the state kept to twice the precision."""
    rate = Polynomial([1.0, -2.0, 3.0, 0.5])
    rates, mem, out = Rates(rate), memory(rtol=1e-6, atol=1e-6), np.empty(1)
    assert A.adams_start(mem, rates, None, 0.0, np.array([2.0])) == 0
    A.adams_interpolate(out, mem, 0.0)
    assert out[0] == 2.0
    for _ in range(12):
        assert A.adams_step(mem, rates, None, 1e9) == 0
        if mem[CT.ORDER] >= 3:  # the newest four rates
            start, size = CT.block(mem, CT.Y_OLD)[0], abs(CT.block(mem, CT.Y_NEW)[0])
            for s in (0.0, 0.2, 0.7, 1.0):
                t = mem[CT.T_OLD] + s * mem[CT.H]
                A.adams_interpolate(out, mem, t)
                assert out[0] == pytest.approx(
                    start + rate.integ()(t) - rate.integ()(mem[CT.T_OLD]),
                    abs=1e-13 * max(size, 1.0),
                )
            CT.block(mem, CT.Y_OLD)[0], mem[CT.DENSE] = (
                start + 0.5,
                0.0,
            )  # a gap at the old end is closed on the way, with its derivative
            A.adams_interpolate(out, mem, mem[CT.T_OLD] + 0.25 * mem[CT.H])
            assert out[0] - start == pytest.approx(
                rate.integ()(t - 0.75 * mem[CT.H])
                - rate.integ()(mem[CT.T_OLD])
                + 0.5 * 0.75**2 * 1.5,
                abs=1e-12,
            )
    assert mem[CT.ORDER] >= 4


def test_adams_state_sums_are_compensated():
    """Four hundred steps that each round a sum of 1e6 by up to half a unit: what is lost comes back, and the sum is theirs to one unit."""
    rates, mem = Rates(lambda t: 0.1), memory(rtol=1e-6, atol=1e-6)
    CT.begin(mem, 0.0, np.array([1e6]))
    A.adams_restart(mem, rates, None)
    for _ in range(400):
        mem[CT.H_NEXT], mem[AC.RISING] = 0.003, 0.0
        A.adams_step(mem, rates, None, 1e9)
    assert CT.block(mem, CT.Y_NEW)[0] - 1e6 == pytest.approx(
        0.1 * 400 * 0.003, abs=1.2e-10
    )  # half a unit in the last place of 1e6


def test_late_rates_change_no_step_decision():
    """Where the state is changed after every step its rates are evaluated then: on rates of time alone the same sizes, orders and states."""
    runs = []
    for late in (0.0, 1.0):
        mem, rates, seen = memory(rtol=1e-7, atol=1e-7, LATE=late), Rates(motion), []
        assert A.adams_start(mem, rates, None, 0.0, np.array([0.3])) == 0
        for _ in range(40):
            assert A.adams_step(mem, rates, None, 1e9) == 0
            assert late == 0.0 or A.adams_changed(mem, rates, None) == 0
            seen.append((mem[CT.T_NEW], mem[CT.ORDER], CT.block(mem, CT.Y_NEW)[0]))
        runs.append(np.array(seen))
    assert runs[0][:, :2] == pytest.approx(runs[1][:, :2], rel=1e-9) and runs[0][
        :, 2
    ] == pytest.approx(runs[1][:, 2], abs=1e-9)


def test_adams_restart_clears_history():
    rates, mem, out = Rates(motion), memory(rtol=1e-6, atol=1e-6), np.empty(1)
    A.adams_start(mem, rates, None, 0.0, np.array([0.3]))
    for _ in range(9):
        A.adams_step(mem, rates, None, 1e9)
    CT.block(mem, CT.Y_NEW)[:] = 5.0
    assert A.adams_restart(mem, rates, None) == 0
    fresh = {
        "FRESH": 1.0,
        "H": 0.0,
        "ORDER": 0.0,
        "WANTED_ORDER": 1.0,
        "LAST_H": 0.0,
        "CONSTANT": 0.0,
        "RISING": 1.0,
        "T_OLD": mem[CT.T_NEW],
    }
    assert {name: mem[getattr(CT, name, None) or getattr(AC, name)] for name in fresh} == fresh
    assert (
        CT.block(mem, AC.PHI + 1)[0] == motion(mem[CT.T_NEW])
        and CT.block(mem, AC.PHI + 2)[0] == CT.block(mem, AC.SUM_ERROR)[0] == 0.0
    )
    A.adams_interpolate(out, mem, mem[CT.T_NEW])
    assert out[0] == 5.0
    assert A.adams_restart(mem, Rates(motion, (1,)), None) == 7


@pytest.mark.parametrize("tolerance", [1e-8, 1e-10])
def test_force_jump_error_is_a_few_tolerances(
    tolerance: float,
):
    """y' = 4 cos 4t + J where s = t - corner > 0. A step of h over the jump may err by h J/2 and is told as gamma*_k h J/√2 or more, k <= 12:
    1/(√2 gamma*_12) = 135 of its tolerances, up to 3 here. Its own coefficient, g_k - g_(k+1), is next to nothing after much longer steps."""
    worst = 0.0
    for seed in range(14, 24):
        rng = np.random.default_rng(seed)
        corner, jump, mem = (
            float(rng.uniform(1.2, 2.8)),
            float(rng.choice([-1, 1]) * 10 ** rng.uniform(-2, 1)),
            np.zeros(A.adams_size(2)),
        )

        def rates(f, context, t, y, jump=jump):
            f[0], f[1] = 1.0, 4.0 * math.cos(4.0 * t) + (jump if y[0] > 0.0 else 0.0)
            return 0

        CT.set_options(mem, 2, tolerance, tolerance, 0.0, 0.0)
        status = A.adams_start(mem, rates, None, 0.0, np.array([-corner, 0.0]))
        while status == 0 and mem[CT.T_NEW] < 3.0:
            status = A.adams_step(mem, rates, None, 3.0)
        t = float(mem[CT.T_NEW])
        worst = max(
            worst,
            abs(CT.block(mem, CT.Y_NEW)[1] - math.sin(4.0 * t) - jump * (t - corner)) / tolerance,
        )
        assert status == 0
    assert worst < 400.0
