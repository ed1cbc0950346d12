"""Stormer's method of order 6 with fixed step for q'' = f(t, q, q') [Sh24]: one evaluation per step, two with the corrector.

Summed form on S1 = sum f, S2 = sum S1: q_{n+1} = h^2 (S2_n + sum b_j f_{n-j}), u_{n+1} = h (S1_n + sum a_j f_{n-j}), j = 0..4; first-order
states go with the Adams formula of u. Rounding does not accumulate as in the unsummed form. y = (q, u, x), q' = u. The first step spans 4 h
and is made by extrapolation. Coefficients: P. Henrici, Discrete Variable Methods in Ordinary Differential Equations, 1962, chapters 5 and 6.
"""

import math

from kinetree.solvers.integrate.controller import (
    CORRECT,
    F_NEW,
    F_OLD,
    GRID_COUNT,
    GRID_START,
    H_GIVEN,
    HARD,
    HEADER,
    INCONSISTENT,
    NQ,
    NU,
    ORDER,
    OWN,
    T_NEW,
    Y_NEW,
    Y_OLD,
    N,
    accept,
    advance_grid,
    anchor_grid,
    begin,
    block,
    copy,
    evaluate,
    forget,
    grid_time,
)
from kinetree.solvers.integrate.extrapolation import GBS_END, extrapolated
from kinetree.solvers.kernel import kernel

PAST = 5  # values of f in a formula


def ordinates(differences: tuple[float, ...]) -> tuple[float, ...]:
    """Weights of f_n, f_{n-1}, ... from the coefficients of the backward differences of f_n."""
    return tuple((-1) ** j * sum(c * math.comb(m, j) for m, c in enumerate(differences) if m >= j) for j in range(len(differences)))


ADAMS_BASHFORTH = ordinates((1 / 2, 5 / 12, 3 / 8, 251 / 720, 95 / 288))
ADAMS_MOULTON = ordinates((-1 / 2, -1 / 12, -1 / 24, -19 / 720, -3 / 160))
STORMER = ordinates((1 / 12, 1 / 12, 19 / 240, 3 / 40, 863 / 12096))
COWELL = ordinates((1 / 12, 0.0, -1 / 240, -1 / 240, -221 / 60480))

SUMMED = OWN  # 1: history and sums are valid, the last step was one of the formula
KNOWN = OWN + 1  # values in the history, at distances of H_GIVEN
SUMS = GBS_END  # S2 in the places of q, S1 in those of u and x
HISTORY = SUMS + 1  # f_n .. f_{n-4}


@kernel
def stormer_size(n):
    """Length of `mem`."""
    return HEADER + (HISTORY + PAST) * n


@kernel
def stormer_start(mem, rhs, context, t, y):
    """Begin at (t, y) with step H_GIVEN; NQ and NU are set before and equal."""
    if mem[NQ] != mem[NU]:
        return INCONSISTENT
    begin(mem, t, y)
    mem[ORDER] = 6.0
    return stormer_restart(mem, rhs, context)


@kernel
def stormer_restart(mem, rhs, context):
    """Begin anew at T_NEW with the state in Y_NEW: the next step is the start over 4 h."""
    forget(mem)
    anchor_grid(mem)
    mem[SUMMED] = 0.0
    mem[KNOWN] = 1.0
    return stormer_changed(mem, rhs, context)


@kernel
def stormer_changed(mem, rhs, context):
    """Refresh f and the sums after Y_NEW was changed a little."""
    f = block(mem, F_NEW)
    status = evaluate(f, mem, rhs, context, mem[T_NEW], block(mem, Y_NEW))
    copy(block(mem, HISTORY), f)
    if status == 0 and mem[SUMMED] == 1.0:
        begin_sums(mem)
    return status


@kernel
def weighted_past(mem, weights, i):
    """Sum of weights_j f_{n-j} of component i."""
    at, n = HEADER + HISTORY * int(mem[N]) + i, int(mem[N])
    total = 0.0
    for j in range(PAST):
        total += weights[j] * mem[at + j * n]
    return total


@kernel
def begin_sums(mem):
    """Find the sums at t_n that reproduce q_n and u_n by the implicit formulas."""
    nq, h, y, sums = int(mem[NQ]), mem[H_GIVEN], block(mem, Y_NEW), block(mem, SUMS)
    for i in range(nq, len(y)):
        sums[i] = y[i] / h - weighted_past(mem, ADAMS_MOULTON, i)
    for i in range(nq):
        sums[i] = y[i] / (h * h) - weighted_past(mem, COWELL, nq + i) + sums[nq + i]


@kernel
def shift_history(mem, f):
    """Make f the newest value of the history."""
    for j in range(PAST - 1, 0, -1):
        copy(block(mem, HISTORY + j), block(mem, HISTORY + j - 1))
    copy(block(mem, HISTORY), f)


@kernel
def add_to_sums(mem, f):
    """Advance the sums by the newest f."""
    nq, sums = int(mem[NQ]), block(mem, SUMS)
    for i in range(nq, len(f)):
        sums[i] += f[i]
    for i in range(nq):
        sums[i] += sums[nq + i]


@kernel
def replace_newest(mem, f):
    """Exchange the newest f in history and sums."""
    nq, sums, newest = int(mem[NQ]), block(mem, SUMS), block(mem, HISTORY)
    for i in range(nq, len(f)):
        sums[i] += f[i] - newest[i]
    for i in range(nq):
        sums[i] += f[nq + i] - newest[nq + i]
    copy(newest, f)


@kernel
def explicit_formula(mem, y):
    """State at t_{n+1} from what is known at t_n."""
    nq, h, sums = int(mem[NQ]), mem[H_GIVEN], block(mem, SUMS)
    for i in range(nq, len(y)):
        y[i] = h * (sums[i] + weighted_past(mem, ADAMS_BASHFORTH, i))
    for i in range(nq):
        y[i] = h * h * (sums[i] + weighted_past(mem, STORMER, nq + i))


@kernel
def implicit_formula(mem, y):
    """State at t_n from sums and history that contain f_n."""
    nq, h, sums = int(mem[NQ]), mem[H_GIVEN], block(mem, SUMS)
    for i in range(nq, len(y)):
        y[i] = h * (sums[i] + weighted_past(mem, ADAMS_MOULTON, i))
    for i in range(nq):
        y[i] = h * h * (sums[i] - sums[nq + i] + weighted_past(mem, COWELL, nq + i))


@kernel
def stormer_step(mem, rhs, context, t_limit):
    """One step of size H_GIVEN, after a start one of 4 H_GIVEN; a shorter one before a hard limit needs a new start."""
    hard, t, h = mem[HARD] == 1.0, mem[T_NEW], mem[H_GIVEN]
    if mem[KNOWN] == 1.0 and not (hard and t + (PAST - 1) * h > t_limit + 1e-9 * h):
        return start_block(mem, rhs, context)
    t_end = grid_time(mem, t_limit)
    if mem[SUMMED] == 0.0 or t_end - t < h * (1.0 - 1e-8):
        return single_step(mem, rhs, context, t_end)
    y, f = block(mem, Y_NEW), block(mem, F_NEW)
    copy(block(mem, Y_OLD), y)
    copy(block(mem, F_OLD), f)
    explicit_formula(mem, y)
    status = evaluate(f, mem, rhs, context, t_end, y)
    if status != 0:
        return give_up(mem, status)
    shift_history(mem, f)
    add_to_sums(mem, f)
    if mem[CORRECT] == 1.0:
        implicit_formula(mem, y)
        status = evaluate(f, mem, rhs, context, t_end, y)
        if status != 0:
            return give_up(mem, status)
        replace_newest(mem, f)
    accept(mem, t_end, h)
    advance_grid(mem, t_end)
    return status


@kernel
def give_up(mem, status):
    """Return to the start of a step that failed; a new start follows."""
    copy(block(mem, Y_NEW), block(mem, Y_OLD))
    copy(block(mem, F_NEW), block(mem, F_OLD))
    copy(block(mem, HISTORY), block(mem, F_OLD))
    mem[SUMMED] = 0.0
    mem[KNOWN] = 1.0
    return status


@kernel
def single_step(mem, rhs, context, t_end):
    """Step to t_end by extrapolation; whole steps add to the history until it is complete."""
    t, y, f, h = mem[T_NEW], block(mem, Y_NEW), block(mem, F_NEW), mem[H_GIVEN]
    copy(block(mem, Y_OLD), y)
    copy(block(mem, F_OLD), f)
    mem[SUMMED] = 0.0
    status = extrapolated(y, mem, rhs, context, t, t_end - t)
    if status == 0:
        status = evaluate(f, mem, rhs, context, t_end, y)
    if status != 0:
        return give_up(mem, status)
    accept(mem, t_end, t_end - t)
    advance_grid(mem, t_end)
    mem[KNOWN] = mem[KNOWN] + 1.0 if abs(t_end - t - h) < 1e-8 * h else 1.0
    shift_history(mem, f)
    if mem[KNOWN] == PAST:
        begin_sums(mem)
        mem[SUMMED] = 1.0
    return status


@kernel
def start_block(mem, rhs, context):
    """Fill history and sums by four steps of extrapolation, taken as one step of 4 h."""
    t, h, y, f = mem[T_NEW], mem[H_GIVEN], block(mem, Y_NEW), block(mem, F_NEW)
    copy(block(mem, Y_OLD), y)
    copy(block(mem, F_OLD), f)
    for j in range(1, PAST):
        status = extrapolated(y, mem, rhs, context, t + (j - 1) * h, h)
        if status == 0:
            status = evaluate(f, mem, rhs, context, t + j * h, y)
        if status != 0:
            return give_up(mem, status)
        shift_history(mem, f)
    begin_sums(mem)
    mem[KNOWN] = PAST
    mem[SUMMED] = 1.0
    mem[GRID_COUNT] += PAST - 2
    accept(mem, mem[GRID_START] + (PAST - 1) * h, (PAST - 1) * h)
    advance_grid(mem, mem[T_NEW])
    return 0
