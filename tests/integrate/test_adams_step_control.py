"""What the Adams methods decide, case by case: errors, order and size of the next step, rejections, stiffness; of variable step and of fixed step."""

import math
from types import ModuleType

import numpy as np
import pytest

from kinetree.models.trace.symbolic_kernels import PlainKernels

KERNELS = PlainKernels(symbolic=False)
CT = KERNELS.module("kinetree.solvers.integrate.controller")
AC = KERNELS.module("kinetree.solvers.integrate.adams_coefficients")
AD = KERNELS.module("kinetree.solvers.integrate.adams_differences")
A = KERNELS.module("kinetree.solvers.integrate.adams")
F = KERNELS.module("kinetree.solvers.integrate.adams_fixed")
MOULTON = (1.0, 1 / 2, 1 / 12, 1 / 24, 19 / 720, 3 / 160, 863 / 60480, 275 / 24192, 33953 / 3628800)


def memory(
    method: ModuleType = A,
    n: int = 1,
    rtol: float = 0.0,
    atol: float = 1.0,
    h: float = 0.0,
    **header: float,
) -> np.ndarray:
    """Blocks of zeros, tolerances of 1."""
    mem = np.empty(method.adams_size(n) if method is A else method.adams_fixed_size(n))
    CT.set_options(mem, n, rtol, atol, h, 0.0)
    mem[CT.RTOL] = rtol
    for name, value in header.items():
        mem[next(getattr(module, name) for module in (CT, AC, method) if hasattr(module, name))] = (
            value
        )
    return mem


def put(mem: np.ndarray, **blocks: float | list[float]) -> np.ndarray:
    for name, value in blocks.items():
        at = (
            AC.PHI + int(name[4:])
            if name.startswith("PHI_")
            else F.DIFFERENCES + int(name[2:])
            if name.startswith("D_")
            else None
        )
        CT.block(
            mem,
            at
            if at is not None
            else next(getattr(module, name) for module in (CT, AC, F) if hasattr(module, name)),
        )[:] = value
    return mem


@pytest.mark.parametrize("k", [1, 2, 3, 6, 12])
def test_adams_estimates_errors_of_neighbouring_orders(k: int):
    """|g_k - g_(k+1)| h |d|, at least gamma*_k h |d|, and gamma*_m sigma_(m+1) h |d + phi_(m+1)| of orders k, k - 1, k - 2; d = f - phi_1."""
    mem = put(
        memory(n=2, rtol=0.5, WANTED_ORDER=k),
        Y_NEW=[2.0, -4.0],
        PREDICTED=[-6.0, 1.0],
        F_PREDICTED=[3.0, 5.0],
        PHI_1=[1.0, 2.0],
    )
    g, sigma, rng = AC.table(mem, AC.INTEGRAL), AC.table(mem, AC.SIGMA), np.random.default_rng(k)
    g[:], sigma[:] = rng.normal(size=(2, AC.TABLE))
    for j in range(2, k + 1):
        put(mem, **{f"PHI_{j}": [0.5 * j, -0.25 * j]})
    d, weight = np.array([2.0, 3.0]), 1.0 / (1.0 + 0.5 * np.array([6.0, 4.0]))

    def size(extra: np.ndarray | float) -> float:
        return float(np.sqrt(np.mean(((d + extra) * weight) ** 2)))

    phi = {
        j: np.array([1.0, 2.0]) if j == 1 else np.array([0.5 * j, -0.25 * j]) for j in range(1, 13)
    }
    lower = 0.1 * sigma[k] * AD.GAMMA[k - 1] * size(phi[k]) if k >= 2 else 0.0
    lowest = 0.1 * sigma[k - 1] * AD.GAMMA[k - 2] * size(phi[k - 1]) if k >= 3 else 0.0
    expected = (
        0.1 * max(abs(g[k] - g[k + 1]), AD.GAMMA[k]) * size(0.0),
        0.1 * sigma[k + 1] * AD.GAMMA[k] * size(0.0),
        lower,
        lowest,
    )
    assert AD.errors(mem, 0.1) == pytest.approx(expected, rel=1e-13)
    g[k + 1] = g[k]  # as after much longer steps
    assert AD.errors(mem, 0.1)[0] == pytest.approx(0.1 * AD.GAMMA[k] * size(0.0), rel=1e-13)
    mem[CT.N] = 0
    assert AD.errors(mem, 0.1) == (0.0, 0.0, 0.0, 0.0)


def chosen(
    k: int,
    error: float,
    lower: float,
    k_low: int,
    higher: float = 0.0,
    *,
    rising: float = 0.0,
    constant: float = 13.0,
) -> tuple[int, float, bool]:
    """Order, error and whether the start goes on; `higher`: error of order k + 1 for steps of 0.1."""
    mem = memory(WANTED_ORDER=k, RISING=rising, CONSTANT=constant)
    if k <= 12:
        put(mem, **{f"PHI_{k + 2}": higher / (0.1 * AD.GAMMA[k + 1])})
    order, found = AD.select_order(mem, 0.1, error, lower, k_low)
    return order, pytest.approx(found, rel=1e-12), mem[AC.RISING] == 1.0


def test_adams_selects_next_order_by_errors():
    # the start: one order more with every step, until a lower order does better or the highest is reached
    assert chosen(4, 0.3, 0.2, 4, rising=1.0) == (5, 0.0, True)
    assert chosen(4, 0.3, 0.2, 3, rising=1.0) == (3, 0.2, False)
    assert chosen(12, 0.3, 0.4, 12, 0.1, rising=1.0) == (12, 0.3, False)
    # then down where the errors said so, and up only after k + 1 equal steps
    assert chosen(4, 0.3, 0.2, 3) == (3, 0.2, False)
    assert chosen(4, 0.3, 0.4, 4, 0.1, constant=4.0) == (4, 0.3, False)
    assert chosen(4, 0.3, 0.4, 4, 0.1, constant=5.0) == (5, 0.1, False)
    assert chosen(4, 0.3, 0.4, 4, 0.3) == chosen(4, 0.3, 0.4, 4, 0.5) == (4, 0.3, False)
    assert chosen(4, 0.3, 0.1, 4, 0.2) == (3, 0.1, False) and chosen(
        4, 0.3, 0.2, 4, 0.2 * (1 + 1e-9)
    ) == (3, 0.2, False)
    assert chosen(4, 0.3, 0.3, 4, 0.5) == (3, 0.3, False) and chosen(4, 0.3, 0.25, 4, 0.2) == (
        5,
        0.2,
        False,
    )
    assert chosen(12, 0.3, 0.4, 12, 0.1) == (12, 0.3, False) and chosen(11, 0.3, 0.4, 11, 0.1) == (
        12,
        0.1,
        False,
    )
    # from order 1 up only where that halves the error
    assert chosen(1, 0.3, 0.0, 1, 0.14) == (2, 0.14, False) and chosen(1, 0.3, 0.0, 1, 0.16) == (
        1,
        0.3,
        False,
    )
    assert chosen(1, 0.3, 0.0, 1, 0.14, constant=1.0) == (1, 0.3, False)


def test_adams_selects_next_step_size_by_error():
    """Twice where the error of that, 2^(k+1) times as large, is half a tolerance; else kept, or cut so that half a tolerance is left."""
    rising, mem = memory(RISING=1.0), memory(RISING=0.0)
    assert AD.next_step(rising, 0.1, 9.0, 3) == 0.2
    assert (
        AD.next_step(mem, 0.1, 0.5 / 16, 3) == 0.2 and AD.next_step(mem, 0.1, 0.501 / 16, 3) == 0.1
    )
    assert AD.next_step(mem, 0.1, 0.5 / 8, 2) == 0.2 and AD.next_step(mem, 0.1, 0.5, 3) == 0.1
    assert AD.next_step(mem, 0.1, 0.55, 3) == pytest.approx(
        0.09
    )  # a reduction is worth a tenth at least
    assert AD.next_step(mem, 0.1, 1.0, 3) == pytest.approx(0.1 * 0.5**0.25) and AD.next_step(
        mem, 0.1, 1.0, 1
    ) == pytest.approx(0.1 * 0.5**0.5)
    assert AD.next_step(mem, 0.1, 9.0, 1) == pytest.approx(0.05)


def test_adams_restarts_with_order_one_after_three_rejections():
    def rejected(attempt: int, error: float, k_low: int = 4) -> tuple[float, float]:
        mem = memory(WANTED_ORDER=1.0, REJECTED=2.0, CONSTANT=3.0, RISING=1.0)
        AC.table(mem, AC.BETA)[1] = 1.0
        h = A.reject(mem, 0.1, attempt, error, k_low)
        assert mem[CT.REJECTED] == 3.0 and mem[AC.CONSTANT] == 0.0 and mem[AC.RISING] == 0.0
        return mem[AC.WANTED_ORDER], h

    assert [rejected(attempt, 100.0) for attempt in (0, 1, 2)] == [
        (4.0, 0.05),
        (4.0, 0.05),
        (1.0, 0.05),
    ]
    assert (
        rejected(3, 1.9) == rejected(3, 2.0) == rejected(3, math.inf) == (1.0, 0.05)
    )  # a quarter of the error is half a tolerance
    assert rejected(3, 8.0) == (1.0, pytest.approx(0.1 * 0.25)) and rejected(9, 1e9) == (
        1.0,
        pytest.approx(1e-4),
    )


class Refusing:
    """y' = rate y, refused beyond a time, counted."""

    def __init__(self, rate: float = 0.0, after: float = math.inf):
        self.rate, self.after = rate, after

    def __call__(self, f: np.ndarray, context: object, t: float, y: np.ndarray) -> int:
        f[:] = 1.0 + self.rate * y
        return 7 if t > self.after else 0


def test_limited_step_keeps_planned_step_size():
    """The plan is kept, but for what is more than twice the step that was made."""
    for limit, expected in ((0.75, 1.0), (0.25, 0.5), (3.0, 2.0)):
        mem = memory(HARD=1.0)
        assert A.adams_start(mem, Refusing(), None, 0.0, np.zeros(1)) == 0
        mem[CT.H_NEXT] = 1.0
        assert A.adams_step(mem, Refusing(), None, limit) == 0
        assert (
            mem[CT.T_NEW] == min(limit, 1.0)
            and mem[CT.H_NEXT] == pytest.approx(max(expected, 2.0 * mem[CT.H]))
            and mem[CT.ORDER] == 1.0
        )
    for planned, made in (
        (1.0, 0.25),
        (0.3, 0.25),
    ):  # without a start that doubles: no more than twice the step, no less than it deserves
        mem = memory(HARD=1.0)
        A.adams_start(mem, Refusing(1.0), None, 0.0, np.zeros(1))
        mem[CT.H_NEXT], mem[AC.RISING], mem[CT.ATOL + CT.HEADER] = planned, 0.0, 0.2
        assert A.adams_step(mem, Refusing(1.0), None, made) == 0
        assert mem[CT.H_NEXT] == pytest.approx(min(planned, 2.0 * made))


def test_step_size_failure_keeps_state_and_reports():
    mem = memory()
    assert A.adams_start(mem, Refusing(), None, 0.0, np.zeros(1)) == 0
    mem[CT.H_NEXT] = 1.0
    before = CT.block(mem, AC.PHI + 1).copy(), CT.block(mem, CT.Y_NEW).copy()
    assert A.adams_step(mem, Refusing(after=-1.0), None, 9.0) == 7
    assert (
        mem[CT.REJECTED] == CT.MAX_REJECTIONS
        and mem[CT.H_NEXT] == 0.5**CT.MAX_REJECTIONS
        and mem[CT.T_NEW] == 0.0
    )
    assert (CT.block(mem, AC.PHI + 1) == before[0]).all() and (
        CT.block(mem, CT.Y_NEW) == before[1]
    ).all()
    mem[CT.T_OLD], mem[CT.T_NEW], mem[CT.H_NEXT] = 1.0, 1.0, 1.0
    assert A.adams_step(mem, Refusing(after=1.0), None, 9.0) == 7 and mem[CT.H_NEXT] == 2.0**-50
    mem[CT.H_NEXT] = 1e-17
    assert A.adams_step(mem, Refusing(), None, 9.0) == CT.STEP_TOO_SMALL and mem[CT.T_NEW] == 1.0


def test_stiffness_is_detected_from_two_evaluations():
    """Rate 7 between them; held back are steps of order up to 5, past the start, of more than a fifth of the time that this rate gives."""

    def told(
        order: float = 5.0, h: float = 0.03, rising: float = 0.0, moved: float = 0.5
    ) -> tuple[float, float]:
        mem = memory(n=2, rtol=0.5, LIPSCHITZ=3.0, ORDER=order, RISING=rising, STIFF=0.0)
        put(
            mem,
            Y_NEW=[2.0, -2.0],
            PREDICTED=[2.0 - moved, -2.0],
            F_NEW=[1.0, 0.0],
            F_PREDICTED=[1.0 - 7.0 * moved, 0.0],
        )
        A.estimate_stiffness(mem, h)
        return pytest.approx(mem[CT.LIPSCHITZ]), mem[CT.STIFF]

    assert told() == (7.0, 1.0) and told(order=6.0) == told(rising=1.0) == told(h=0.028) == (
        7.0,
        0.0,
    )
    assert (
        told(moved=2.9e-4)[0] == 7.0 and told(moved=2.7e-4)[0] == 3.0
    )  # (moved/2)² is less than 1e-8 for each state: rounding


def test_small_state_changes_enter_all_backward_differences():
    """Those that the last order left valid; after a start there is one. The lost digits of the sum are none of the new state's."""
    for fresh, order, known in ((0.0, 3.0, 5), (1.0, 3.0, 1)):
        mem = put(
            memory(FRESH=fresh, ORDER=order, LATE=0.0, DENSE=1.0, LIPSCHITZ=9.0),
            Y_NEW=4.0,
            F_NEW=2.0,
            SUM_ERROR=1e-9,
        )
        for j in range(1, 9):
            put(mem, **{f"PHI_{j}": float(j)})
        assert A.adams_changed(mem, Refusing(0.5), None) == 0
        assert [CT.block(mem, AC.PHI + j)[0] - j for j in range(1, 9)] == [1.0] * known + [0.0] * (
            8 - known
        )
        assert (
            CT.block(mem, CT.F_NEW)[0] == 3.0
            and CT.block(mem, AC.SUM_ERROR)[0] == 0.0
            and mem[CT.DENSE] == 0.0
            and mem[CT.LIPSCHITZ] == 9.0
        )
    assert A.adams_changed(memory(), Refusing(after=-1.0), None) == 7
    for fresh, known in (
        (0.0, 3.0),
        (1.0, 9.0),
    ):  # the rates at the end of a step come late: so does what they say of stiffness
        mem = put(
            memory(FRESH=fresh, ORDER=1.0, LATE=1.0, LIPSCHITZ=9.0),
            Y_NEW=4.0,
            PREDICTED=3.0,
            F_NEW=0.0,
        )
        assert A.adams_changed(mem, Refusing(0.5), None) == 0
        assert mem[CT.LIPSCHITZ] == pytest.approx(known)


# -- fixed step --------------------------------------------------------------------------------------------------------------------------------
def test_fixed_step_differences_match_equally_spaced_rates():
    """Nine rates at most; another distance begins with the newest one, but for what rounding makes of it."""
    mem, rates = memory(F, n=2, KNOWN=0.0), np.random.default_rng(2).normal(size=(12, 2))
    for number, rate in enumerate(rates):
        put(mem, F_NEW=rate)
        F.remember(mem, 0.1 if number else 0.0)
        known = min(number + 1, 9)
        assert mem[F.KNOWN] == known and mem[F.SPACING] == (0.1 if number else 0.0)
        for j in range(known):
            assert CT.block(mem, F.DIFFERENCES + j) == pytest.approx(
                np.diff(rates[: number + 1], j, axis=0)[-1], abs=1e-12
            )
    for h, known in (
        (0.1 * (1 + 0.9e-6), 9),
        (0.1 * (1 - 0.9e-6), 9),
        (0.1 * (1 + 1.1e-6), 1),
        (0.1 * (1 - 1.1e-6), 1),
    ):
        mem[F.KNOWN], mem[F.SPACING] = 9.0, 0.1
        F.remember(mem, h)
        assert mem[F.KNOWN] == known
    mem[F.KNOWN], mem[F.SPACING] = 1.0, 0.5  # a single rate has no distance yet
    F.remember(mem, 0.1)
    assert mem[F.KNOWN] == 2.0


@pytest.mark.parametrize("order", range(1, 9))
def test_fixed_step_adams_integrates_polynomials_exactly(order: int):
    """The predictor of order k those of degree k - 1, the corrector one degree more; the mismatch of the foreseen rate is the difference k."""
    rate = np.polynomial.Polynomial(np.random.default_rng(order).normal(size=order + 1))
    mem = put(
        memory(F, KNOWN=9.0, ORDER=float(order), T_NEW=0.0),
        Y_NEW=2.0,
        **{f"D_{k}": 0.0 for k in range(9)},
    )
    past = [rate(-0.1 * j) for j in range(9)]
    for j in range(9):
        put(mem, **{f"D_{j}": float(np.diff(past[::-1], j)[-1])})
    seen = []

    def rhs(f: np.ndarray, context: object, t: float, y: np.ndarray) -> int:
        seen.append((t, y[0]))
        f[:] = rate(t)
        return 0

    assert F.multistep(mem, rhs, None, 0.1, 0.1) == 0
    exact = 2.0 + rate.integ()(0.1)
    ((t, predicted),) = seen
    last = (
        math.factorial(order) * 0.1**order * rate.coef[order]
    )  # the difference k of the rates, the same everywhere
    assert t == 0.1 and predicted == pytest.approx(exact - 0.1 * F.GAMMA[order] * last, abs=1e-14)
    assert CT.block(mem, F.STAGE)[0] == pytest.approx(exact, abs=1e-14) and CT.block(
        mem, F.MISMATCH
    )[0] == pytest.approx(last, abs=1e-13)
    assert F.multistep(mem, Refusing(after=0.0), None, 0.1, 0.1) == 7


def ordered(order: int, same: float, below: float, above: float, known: float = 9.0) -> float:
    """The order chosen by given errors per step of this order and its neighbours; the weights of a state are 2 + 0.5 |y|."""
    mem = put(memory(F, rtol=0.5, atol=2.0, KNOWN=known), Y_NEW=-4.0)
    mismatch = 4.0 * same / MOULTON[order]
    if order > 1:
        put(mem, **{f"D_{order - 1}": 4.0 * below / MOULTON[order - 1] - mismatch})
    if order < 8:
        put(mem, **{f"D_{order}": mismatch - 4.0 * above / MOULTON[order + 1]})
    CT.block(mem, F.MISMATCH)[:] = mismatch
    F.choose_order(mem, order, 0.1)
    return mem[CT.ORDER]


@pytest.mark.parametrize("order", [1, 2, 5, 7, 8])
def test_fixed_adams_chooses_order_of_least_error(order: int):
    """The error of order k is gamma*_k times the difference k of the rates, at the end of the step; no difference beyond what is known is asked."""
    tiny, lower, higher = 1e-6, max(order - 1, 1), min(order + 1, 8)
    assert ordered(order, 0.2, 0.3, 0.3) == ordered(order, 0.2, 0.2 + tiny, 0.2 + tiny) == order
    assert ordered(order, 0.2, 0.2 - tiny, 0.3) == ordered(order, 0.2, 0.1, 0.2 + tiny) == lower
    assert ordered(order, 0.2, 0.1, 0.1 + tiny) == (lower if order > 1 else higher)
    assert ordered(order, 0.2, 0.3, 0.2 - tiny) == higher and ordered(
        order, 0.2, 0.1, 0.1 - tiny
    ) == (higher if order < 8 else lower)
    assert (
        ordered(order, 0.2, 0.3, 0.1, known=order + 1.0) == order
        and ordered(order, 0.2, 0.3, 0.1, known=order + 2.0) == higher
    )


def test_discontinuity_keeps_only_the_newest_rate():
    """The grid goes on; a restart lays a new one."""
    mem = put(
        memory(F, h=0.1, KNOWN=7.0, ORDER=8.0, T_NEW=3.0, GRID_START=1.0, GRID_COUNT=20.0),
        Y_NEW=4.0,
        D_0=9.0,
        D_1=8.0,
    )
    assert F.adams_fixed_turn(mem, Refusing(0.5), None) == 0
    assert (mem[F.KNOWN], mem[CT.ORDER], mem[CT.GRID_COUNT], CT.block(mem, F.DIFFERENCES)[0]) == (
        1.0,
        4.0,
        20.0,
        3.0,
    )
    assert F.adams_fixed_restart(mem, Refusing(0.5), None) == 0 and (
        mem[CT.GRID_START],
        mem[CT.GRID_COUNT],
        mem[F.KNOWN],
    ) == (3.0, 0.0, 1.0)
    assert F.adams_fixed_turn(mem, Refusing(after=0.0), None) == 7 and mem[F.KNOWN] == 0.0
