"""Stormer's method of order 6 with fixed step for q'' = f(t, q, q') [Sh24]: one evaluation per
step, two with the corrector.

Summed form on S1 = sum f, S2 = sum S1: q_{n+1} = h^2 (S2_n + sum b_j f_{n-j}), u_{n+1} = h (S1_n +
sum a_j f_{n-j}), j = 0..4. First-order states use the Adams formula of u, of the same order. So do
coordinates whose rates are not speeds, such as quaternions, for which q' = q o (0, u)/2 at every
step. Rounding errors do not accumulate as in the unsummed form. y = (q, u, x). The first step spans
4 h and uses extrapolation. Coefficients: P. Henrici, Discrete Variable Methods in Ordinary
Differential Equations, 1962, chapters 5 and 6.
"""

import math

from kinetree.solvers.integrate import controller as CT
from kinetree.solvers.integrate.extrapolation import GBS_END, extrapolated
from kinetree.solvers.kernel import kernel

PAST = 5  # values of f in a formula


def ordinates(differences: tuple[float, ...]) -> tuple[float, ...]:
    """Return the weights of f_n, f_{n-1}, ... that correspond to given weights of the backward
    differences of f_n.
    """
    return tuple(
        (-1) ** j * sum(c * math.comb(m, j) for m, c in enumerate(differences) if m >= j)
        for j in range(len(differences))
    )


ADAMS_BASHFORTH = ordinates((1 / 2, 5 / 12, 3 / 8, 251 / 720, 95 / 288))
ADAMS_MOULTON = ordinates((-1 / 2, -1 / 12, -1 / 24, -19 / 720, -3 / 160))
STORMER = ordinates((1 / 12, 1 / 12, 19 / 240, 3 / 40, 863 / 12096))
COWELL = ordinates((1 / 12, 0.0, -1 / 240, -1 / 240, -221 / 60480))

SUMMED = CT.OWN  # 1: history and sums are valid, the last step was one of the formula
KNOWN = CT.OWN + 1  # values in the history, at distances of H_GIVEN
SUMS = GBS_END  # S2 in the places of q, S1 in those of u and x
HISTORY = SUMS + 1  # f_n .. f_{n-4}
SPEEDS = (
    HISTORY + PAST
)  # place in y of the speed that is the rate of a state; 0: none, an Adams formula


@kernel
def stormer_size(n):
    """Return the length of the memory `mem` of Stormer's method for n states."""
    return CT.HEADER + (SPEEDS + 1) * n


@kernel
def stormer_start(mem, rhs, context, t, y):
    """Start Stormer's method at (t, y) with step H_GIVEN; NQ, NU and, where it differs, SPEEDS must
    have been set.
    """
    nq, nu, speeds = int(mem[CT.NQ]), int(mem[CT.NU]), CT.block(mem, SPEEDS)
    if nu < 0 or nq < nu:
        return CT.INCONSISTENT
    if nq == nu:
        for i in range(len(y)):
            speeds[i] = nq + i if i < nq else 0.0
    CT.begin(mem, t, y)
    mem[CT.ORDER] = 6.0
    return stormer_restart(mem, rhs, context)


@kernel
def stormer_restart(mem, rhs, context):
    """Restart Stormer's method at T_NEW with the state in Y_NEW: the next step is a starting step
    over 4 h.
    """
    CT.forget(mem)
    CT.anchor_grid(mem)
    mem[SUMMED] = 0.0
    mem[KNOWN] = 1.0
    return stormer_changed(mem, rhs, context)


@kernel
def stormer_changed(mem, rhs, context):
    """Refresh f and the sums after a small change of Y_NEW."""
    f = CT.block(mem, CT.F_NEW)
    status = CT.evaluate(f, mem, rhs, context, mem[CT.T_NEW], CT.block(mem, CT.Y_NEW))
    CT.copy(CT.block(mem, HISTORY), f)
    if status == 0 and mem[SUMMED] == 1.0:
        begin_sums(mem)
    return status


@kernel
def weighted_past(mem, weights, i):
    """Return the sum of weights_j f_{n-j} for component i."""
    at, n = CT.HEADER + HISTORY * int(mem[CT.N]) + i, int(mem[CT.N])
    total = 0.0
    for j in range(PAST):
        total += weights[j] * mem[at + j * n]
    return total


@kernel
def begin_sums(mem):
    """Compute the sums at t_n with which the implicit formulas reproduce q_n and u_n."""
    h, y, sums = mem[CT.H_GIVEN], CT.block(mem, CT.Y_NEW), CT.block(mem, SUMS)
    speeds = CT.block(mem, SPEEDS)
    for i in range(len(y) - 1, -1, -1):  # speeds stand behind coordinates: theirs are found first
        k = int(speeds[i])
        if k == 0:
            sums[i] = y[i] / h - weighted_past(mem, ADAMS_MOULTON, i)
        else:
            sums[i] = y[i] / (h * h) - weighted_past(mem, COWELL, k) + sums[k]


@kernel
def shift_history(mem, f):
    """Make f the newest entry of the history of rates."""
    for j in range(PAST - 1, 0, -1):
        CT.copy(CT.block(mem, HISTORY + j), CT.block(mem, HISTORY + j - 1))
    CT.copy(CT.block(mem, HISTORY), f)


@kernel
def add_to_sums(mem, f):
    """Advance the sums S1, S2 of the summed form by the newest f."""
    sums, speeds = CT.block(mem, SUMS), CT.block(mem, SPEEDS)
    for i in range(len(f) - 1, -1, -1):
        k = int(speeds[i])
        sums[i] += f[i] if k == 0 else sums[k]


@kernel
def replace_newest(mem, f):
    """Replace the newest f in history and sums."""
    sums, newest, speeds = CT.block(mem, SUMS), CT.block(mem, HISTORY), CT.block(mem, SPEEDS)
    for i in range(len(f)):
        k = int(speeds[i])
        if k == 0:
            k = i
        sums[i] += f[k] - newest[k]
    CT.copy(newest, f)


@kernel
def explicit_formula(mem, y):
    """Predict the state at t_{n+1} by the explicit formula from the history at t_n."""
    h, sums, speeds = mem[CT.H_GIVEN], CT.block(mem, SUMS), CT.block(mem, SPEEDS)
    for i in range(len(y)):
        k = int(speeds[i])
        if k == 0:
            y[i] = h * (sums[i] + weighted_past(mem, ADAMS_BASHFORTH, i))
        else:
            y[i] = h * h * (sums[i] + weighted_past(mem, STORMER, k))


@kernel
def implicit_formula(mem, y):
    """Compute the state at t_n by the implicit formula from sums and history including f_n."""
    h, sums, speeds = mem[CT.H_GIVEN], CT.block(mem, SUMS), CT.block(mem, SPEEDS)
    for i in range(len(y)):
        k = int(speeds[i])
        if k == 0:
            y[i] = h * (sums[i] + weighted_past(mem, ADAMS_MOULTON, i))
        else:
            y[i] = h * h * (sums[i] - sums[k] + weighted_past(mem, COWELL, k))


@kernel
def stormer_step(mem, rhs, context, t_limit):
    """Make one step of size H_GIVEN, or a starting step of 4 H_GIVEN; return the status."""
    hard, t, h = mem[CT.HARD] == 1.0, mem[CT.T_NEW], mem[CT.H_GIVEN]
    if mem[KNOWN] == 1.0 and not (hard and t + (PAST - 1) * h > t_limit + 1e-9 * h):
        return start_block(mem, rhs, context)
    t_end = CT.grid_time(mem, t_limit)
    if mem[SUMMED] == 0.0 or t_end - t < h * (1.0 - 1e-8):
        return single_step(mem, rhs, context, t_end)
    y, f = CT.block(mem, CT.Y_NEW), CT.block(mem, CT.F_NEW)
    CT.copy(CT.block(mem, CT.Y_OLD), y)
    CT.copy(CT.block(mem, CT.F_OLD), f)
    explicit_formula(mem, y)
    status = CT.evaluate(f, mem, rhs, context, t_end, y)
    if status != 0:
        return give_up(mem, status)
    shift_history(mem, f)
    add_to_sums(mem, f)
    if mem[CT.CORRECT] == 1.0:
        implicit_formula(mem, y)
        status = CT.evaluate(f, mem, rhs, context, t_end, y)
        if status != 0:
            return give_up(mem, status)
        replace_newest(mem, f)
    CT.accept(mem, t_end, h)
    CT.advance_grid(mem, t_end)
    return status


@kernel
def give_up(mem, status):
    """Return to the start of a step that failed, so that the method starts anew; return `status`."""
    CT.copy(CT.block(mem, CT.Y_NEW), CT.block(mem, CT.Y_OLD))
    CT.copy(CT.block(mem, CT.F_NEW), CT.block(mem, CT.F_OLD))
    CT.copy(CT.block(mem, HISTORY), CT.block(mem, CT.F_OLD))
    mem[SUMMED] = 0.0
    mem[KNOWN] = 1.0
    return status


@kernel
def single_step(mem, rhs, context, t_end):
    """Make one step to t_end by extrapolation; steps of full size extend the history until it is
    complete.
    """
    t, y, f, h = mem[CT.T_NEW], CT.block(mem, CT.Y_NEW), CT.block(mem, CT.F_NEW), mem[CT.H_GIVEN]
    CT.copy(CT.block(mem, CT.Y_OLD), y)
    CT.copy(CT.block(mem, CT.F_OLD), f)
    mem[SUMMED] = 0.0
    status = extrapolated(y, mem, rhs, context, t, t_end - t)
    if status == 0:
        status = CT.evaluate(f, mem, rhs, context, t_end, y)
    if status != 0:
        return give_up(mem, status)
    CT.accept(mem, t_end, t_end - t)
    CT.advance_grid(mem, t_end)
    mem[KNOWN] = mem[KNOWN] + 1.0 if abs(t_end - t - h) < 1e-8 * h else 1.0
    shift_history(mem, f)
    if mem[KNOWN] == PAST:
        begin_sums(mem)
        mem[SUMMED] = 1.0
    return status


@kernel
def start_block(mem, rhs, context):
    """Fill the history by four extrapolation steps; return the status."""
    t, h, y, f = mem[CT.T_NEW], mem[CT.H_GIVEN], CT.block(mem, CT.Y_NEW), CT.block(mem, CT.F_NEW)
    CT.copy(CT.block(mem, CT.Y_OLD), y)
    CT.copy(CT.block(mem, CT.F_OLD), f)
    for j in range(1, PAST):
        status = extrapolated(y, mem, rhs, context, t + (j - 1) * h, h)
        if status == 0:
            status = CT.evaluate(f, mem, rhs, context, t + j * h, y)
        if status != 0:
            return give_up(mem, status)
        shift_history(mem, f)
    begin_sums(mem)
    mem[KNOWN] = PAST
    mem[SUMMED] = 1.0
    mem[CT.GRID_COUNT] += PAST - 2
    CT.accept(mem, mem[CT.GRID_START] + (PAST - 1) * h, (PAST - 1) * h)
    CT.advance_grid(mem, mem[CT.T_NEW])
    return 0
