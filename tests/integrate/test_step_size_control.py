"""What all integrators share, kernel by kernel on numbers worked out by hand: options, ends of steps, norms, limits, the grid of fixed steps."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from kinetree.models.trace.symbolic_kernels import PlainKernels
from kinetree.solvers.layout import Status

CT = PlainKernels(symbolic=False).module("kinetree.solvers.integrate.controller")
SIZE = 2
EPS = 2.220446049250313e-16


def memory(**header: float) -> np.ndarray:
    """Memory of two states, every number another one, so that each change of it shows."""
    mem = 1000.5 + np.arange(CT.HEADER + CT.BLOCKS * SIZE, dtype=float)
    mem[CT.N] = SIZE
    for name, value in header.items():
        mem[getattr(CT, name)] = value
    return mem


def changed(mem: np.ndarray, function: Callable, *arguments: object) -> dict[str, object]:
    """What a kernel writes: numbers of the header and blocks, by name."""
    before = mem.copy()
    function(mem, *arguments)
    names = {
        value: name
        for name, value in vars(CT).items()
        if isinstance(value, int) and name not in (*BLOCKS, *NO_PLACES)
    }
    found: dict[str, object] = {
        names[k]: mem[k] for k in np.flatnonzero(mem[: CT.HEADER] != before[: CT.HEADER])
    }
    for name in BLOCKS:
        if (CT.block(mem, getattr(CT, name)) != CT.block(before, getattr(CT, name))).any():
            found[name] = CT.block(mem, getattr(CT, name)).tolist()
    return found


BLOCKS = ("ATOL", "Y_OLD", "Y_NEW", "F_OLD", "F_NEW")
NO_PLACES = (
    "OK", "NOT_A_NUMBER", "STEP_TOO_SMALL", "NO_CONVERGENCE", "TOO_MANY_STEPS", "INCONSISTENT", "CHATTERING", "EVENT", "HEADER", "BLOCKS", "OWN",
    "STIFF_STEPS", "SMOOTH_STEPS", "MAX_REJECTIONS",
)  # fmt: skip


def test_integrator_blocks_follow_the_header():
    mem = memory()
    assert (
        CT.block(mem, 0).tolist() == mem[CT.HEADER : CT.HEADER + 2].tolist()
        and CT.block(mem, 3).tolist() == mem[CT.HEADER + 6 :][:2].tolist()
    )
    assert len({getattr(CT, name) for name in BLOCKS}) == CT.BLOCKS and CT.OWN < CT.HEADER
    places = [
        value
        for name, value in vars(CT).items()
        if isinstance(value, int) and name not in (*BLOCKS, *NO_PLACES)
    ]
    assert len(places) == len(set(places)) and all(0 <= place < CT.OWN for place in places)


def test_setting_options_clears_integrator_memory():
    """Tolerances stay above rounding: 45 units in the last place, and a weight that is finite where a state is zero; no largest step is none."""
    mem = memory()
    CT.set_options(mem, 2, 1e-3, 1e-4, 0.5, 2.0)
    expected = np.zeros(mem.size)
    expected[[CT.N, CT.RTOL, CT.H_GIVEN, CT.H_MAX]] = 2, 1e-3, 0.5, 2.0
    expected[CT.HEADER : CT.HEADER + 2] = 1e-4
    assert mem.tolist() == expected.tolist()
    for h_max in (0.0, -1.0):
        CT.set_options(mem, 2, 0.0, 0.0, 0.0, h_max)
        assert (
            mem[CT.H_MAX] == math.inf
            and mem[CT.RTOL] == pytest.approx(45 * EPS, rel=2e-3, abs=0.0)
            and CT.block(mem, CT.ATOL).tolist() == [1e-20] * 2
        )
    CT.set_options(mem, 2, 2e-14, 2e-20, 0.0, 1e-9)
    assert (
        mem[CT.H_MAX] == 1e-9
        and mem[CT.RTOL] == 2e-14
        and CT.block(mem, CT.ATOL).tolist() == [2e-20] * 2
    )


def test_start_clears_counters_and_history_and_restart_only_history():
    past = {"T_OLD": 3.0, "H": 0.0, "FRESH": 1.0, "DENSE": 0.0, "STIFF": 0.0, "SMOOTH": 0.0}
    counts = dict.fromkeys(("STEPS", "EVALUATIONS", "REJECTED", "FACTORISATIONS", "JACOBIANS"), 0.0)
    y = np.array([7.0, -8.0])
    assert changed(memory(), CT.begin, 3.0, y) == {
        **past,
        **counts,
        "T_NEW": 3.0,
        "Y_OLD": [7.0, -8.0],
        "Y_NEW": [7.0, -8.0],
    }
    mem = memory(T_NEW=3.0)
    CT.block(mem, CT.Y_NEW)[:] = y
    assert changed(mem, CT.forget) == {**past, "Y_OLD": [7.0, -8.0]}


def test_step_ends_advance_and_are_cut_back():
    mem = memory(T_NEW=3.0, STEPS=4.0)
    assert changed(mem, CT.accept, 3.5, 0.25) == {
        "T_OLD": 3.0,
        "T_NEW": 3.5,
        "H": 0.25,
        "STEPS": 5.0,
        "FRESH": 0.0,
        "DENSE": 0.0,
    }
    assert changed(mem, CT.cut, 3.125, np.array([1.0, 2.0])) == {
        "T_NEW": 3.125,
        "Y_NEW": [1.0, 2.0],
    }
    assert (
        CT.time_of(mem) == 3.125
        and CT.step_of(mem) == 0.25
        and CT.state_of(mem).tolist() == [1.0, 2.0]
    )


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "rate, status",
    [
        (2.0, 0),
        (math.nan, Status.NOT_A_NUMBER),
        (math.inf, Status.NOT_A_NUMBER),
        (-math.inf, Status.NOT_A_NUMBER),
    ],
)
def test_evaluations_are_counted_and_checked(rate: float, status: int):
    def rhs(f: np.ndarray, context: int, t: float, y: np.ndarray) -> int:
        f[:] = t + y[0], context * rate
        return refused

    f, y = np.zeros(2), np.array([0.5, 0.0])
    mem, refused = memory(EVALUATIONS=6.0, LATE=0.0), 0
    assert (
        CT.evaluate(f, mem, rhs, 3, 2.0, y) == status and mem[CT.EVALUATIONS] == 7.0 and f[0] == 2.5
    )
    assert CT.evaluate_end(f, mem, rhs, 3, 2.0, y) == status and mem[CT.EVALUATIONS] == 8.0
    refused = 5  # whatever the rates are then
    assert CT.evaluate(f, mem, rhs, 3, 2.0, y) == 5 and mem[CT.EVALUATIONS] == 9.0
    mem[CT.LATE] = 1.0
    assert CT.evaluate_end(f, mem, rhs, 3, 2.0, y) == 0 and mem[CT.EVALUATIONS] == 9.0


def test_error_norm_uses_larger_of_both_states():
    mem = memory(RTOL=0.5)
    CT.block(mem, CT.ATOL)[:] = 1.0, 2.0
    e, a, b = np.array([3.0, -4.0]), np.array([-4.0, 1.0]), np.array([2.0, -12.0])
    assert (
        CT.norm(mem, e, a, b)
        == CT.norm(mem, e, b, a)
        == pytest.approx(math.sqrt(((3 / (1 + 2)) ** 2 + (4 / (2 + 6)) ** 2) / 2), rel=1e-15)
    )
    assert CT.norm(memory(N=0), e[:0], a[:0], b[:0]) == 0.0


def test_stiffness_verdict_needs_enough_steps():
    for count, said in ((24.0, False), (25.0, True)):
        assert CT.is_stiff(memory(STIFF=count)) == said
    for count, said in ((9.0, False), (10.0, True)):
        assert CT.is_smooth(memory(SMOOTH=count)) == said


def test_stiffness_count_resets_after_six_steps():
    mem = memory(STIFF=7.0, SMOOTH=5.0)
    assert changed(mem, CT.count_stiff, True) == {"STIFF": 8.0, "SMOOTH": 0.0}
    for k in range(1, 6):
        assert changed(mem, CT.count_stiff, False) == {"SMOOTH": float(k)}
    assert changed(mem, CT.count_stiff, False) == {"SMOOTH": 6.0, "STIFF": 0.0}
    assert changed(mem, CT.count_stiff, False) == {"SMOOTH": 7.0}


def first(
    order: int,
    y: float,
    f: float,
    rise: float,
    *,
    refuses: bool = False,
    h_given: float = 0.0,
    h_max: float = math.inf,
) -> float:
    """First step of y' = f + rise (y - y_0)/f + rise (t - t_0), atol 1 and rtol 0: the rate changes by 2 rise h in the trial step."""
    mem, y_try, f_try = (
        memory(N=1, RTOL=0.0, T_NEW=3.0, H_GIVEN=h_given, H_MAX=h_max),
        np.full(1, np.nan),
        np.full(1, np.nan),
    )
    CT.block(mem, CT.ATOL)[:], CT.block(mem, CT.Y_NEW)[:], CT.block(mem, CT.F_NEW)[:] = 1.0, y, f

    def rhs(out: np.ndarray, context: object, t: float, state: np.ndarray) -> int:
        out[0] = f + rise * ((state[0] - y) / (f or 1.0) + t - 3.0)
        return 9 if refuses else 0

    return CT.first_step(mem, rhs, None, order, y_try, f_try)


def test_first_step_size_follows_rates_and_curvature():
    """A hundredth of the time in which the state would change by itself, then (0.01/curvature)^(1/(order + 1)), at most a hundred times the trial."""
    rough = 1e-7  # the curvature is a difference of rates over a step of 1e-6, or more
    assert first(1, 4.0, 2.0, 50.0) == pytest.approx(math.sqrt(0.01 / 100.0), rel=rough)
    assert first(3, 4.0, 2.0, 50.0) == pytest.approx((0.01 / 100.0) ** 0.25, rel=rough)
    assert first(1, 4.0, 2.0, 0.5) == pytest.approx(
        math.sqrt(0.01 / 2.0), rel=rough
    )  # the rate is more than the curvature
    assert first(1, 40.0, 2000.0, 0.5) == pytest.approx(math.sqrt(0.01 / 2000.0), rel=rough)
    assert first(5, 4.0, 200.0, 0.5) == pytest.approx(
        100 * 0.01 * 4.0 / 200.0
    )  # a hundred times the trial step
    assert first(1, 4.0, 2.0, 50.0, h_max=1e-3) == 1e-3
    assert (
        first(1, 4.0, 2.0, 50.0, h_given=0.3) == 0.3
        and first(1, 4.0, 2.0, 50.0, h_given=0.3, h_max=0.2) == 0.2
    )


def test_first_step_of_nearly_constant_motion():
    """A state within its tolerance, or a rate of nothing, tell no time: the trial step is 1e-6 then."""
    for y, f in ((1.0, 2.0), (4.0, 1e-5), (0.0, 2.0)):
        assert first(1, y, f, 0.5) == pytest.approx(1e-4) and first(
            1, y, f, 0.5, refuses=True
        ) == pytest.approx(1e-8)
    assert first(1, 1.5, 2.0, 0.5, refuses=True) == pytest.approx(
        1e-2 * 1e-2 * 1.5 / 2.0
    )  # a hundredth where the trial has no rate
    assert first(1, 4.0, 2.0, 0.5, refuses=True, h_max=1e-3) == pytest.approx(1e-5)
    assert first(1, 4.0, 0.0, 0.0) == pytest.approx(1e-6)  # nothing happens
    assert first(1, 4.0, 1e-15, 0.0) == pytest.approx(1e-6) and first(
        1, 4.0, 3e-15, 0.0
    ) == pytest.approx(1e-4)


def test_steps_before_a_hard_limit_have_equal_size():
    soft, hard = memory(T_NEW=3.0, H_MAX=0.75, HARD=0.0), memory(T_NEW=3.0, H_MAX=0.75, HARD=1.0)
    assert (
        [CT.limited(soft, h, 3.5) for h in (0.5, 2.0)]
        == [0.5, 0.75]
        == [CT.limited(hard, h, 9.0) for h in (0.5, 2.0)]
    )
    steps = {
        0.625: 0.5,
        0.5: 0.5,
        0.5 - 1e-11: 0.5,
        0.5 - 1e-9: 0.25,
        0.375: 0.25,
        0.2500001: 0.25,
        0.25: 0.25,
        0.125: 0.125,
    }
    assert {h: CT.limited(hard, h, 3.5) for h in steps} == steps
    assert (
        CT.limited(hard, 0.5 - 0.5 * 0.75e-10, 3.5) == 0.5
        and CT.limited(hard, 0.5 - 0.5 * 1.25e-10, 3.5) == 0.25
    )


def test_hard_limit_is_reached_exactly():
    """Also where the sum of time and step is rounded away from it."""
    limit = 1e16 + 2.0
    soft, hard, rest = memory(T_NEW=1.0, HARD=0.0), memory(T_NEW=1.0, HARD=1.0), limit - 1.0
    assert CT.end_time(hard, rest, limit) == limit != 1.0 + rest == CT.end_time(soft, rest, limit)
    assert CT.end_time(hard, 0.75, limit) == CT.end_time(soft, 0.75, limit) == 1.75


def test_steps_below_four_time_roundings_are_too_small():
    for t in (2.0, -2.0):
        assert [CT.too_small(t, h) for h in (math.nan, -1.0, 0.0, 8.0 * EPS, 8.5 * EPS, 1.0)] == [
            True
        ] * 4 + [False] * 2
    assert CT.too_small(0.0, 0.0) and not CT.too_small(0.0, 1e-300)


def test_fixed_steps_lie_on_a_grid():
    mem = memory(T_NEW=3.0, H_GIVEN=0.5, HARD=0.0)
    assert changed(mem, CT.anchor_grid) == {"GRID_START": 3.0, "GRID_COUNT": 0.0, "H_NEXT": 0.5}
    assert CT.grid_time(mem, 3.25) == 3.5
    mem[CT.GRID_COUNT] = 4.0
    assert CT.grid_time(mem, 3.25) == 5.5
    mem[CT.HARD] = 1.0
    for limit, end in (
        (5.25, 5.25),
        (5.5, 5.5),
        (5.75, 5.5),
        (5.5 + 0.25e-9, 5.5 + 0.25e-9),
        (5.5 + 0.45e-9, 5.5 + 0.45e-9),
        (5.5 + 0.6e-9, 5.5),
    ):
        assert CT.grid_time(mem, limit) == end


def test_fixed_grid_restarts_off_grid():
    for off, new in (
        (0.0, False),
        (0.45e-8, False),
        (-0.45e-8, False),
        (0.55e-8, True),
        (-0.55e-8, True),
        (0.1, True),
    ):
        mem = memory(H_GIVEN=0.5, GRID_START=3.0, GRID_COUNT=4.0, T_NEW=5.5 + off)
        expected = (
            {"GRID_START": 5.5 + off, "GRID_COUNT": 0.0, "H_NEXT": 0.5}
            if new
            else {"GRID_COUNT": 5.0}
        )
        assert changed(mem, CT.advance_grid, 5.5 + off) == expected


def test_dominant_eigenvalue_is_estimated_by_difference_quotient():
    k, y = (
        (np.array([1.0, 2.0]), np.array([4.0, -2.0])),
        (np.array([0.5, 0.0]), np.array([0.5, 0.5])),
    )
    assert CT.steepness(*k, *y) == pytest.approx(10.0) and CT.steepness(*k, y[0], y[0]) == 0.0
