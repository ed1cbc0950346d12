"""Adams method of fixed step and order 1 to 8 for real time: two evaluations per step, four while
fewer than four past rates are known.

Predict by Adams-Bashforth of order k, evaluate, correct by Adams-Moulton of order k + 1, evaluate.
The order follows error estimates from the backward differences of f: it rises for smooth solutions
and falls where stability or a kink requires it. The first steps use the classical Runge-Kutta
method. E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, III.1; L. F.
Shampine, M. K. Gordon, 1975, chapter 6.
"""

from kinetree.solvers.integrate import controller as CT
from kinetree.solvers.integrate.dense_output import hermite
from kinetree.solvers.integrate.interface import Kernels
from kinetree.solvers.integrate.rk4 import K2, STAGE, runge_kutta
from kinetree.solvers.kernel import kernel

MOST, FIRST = 8, 4  # order; rates from which on differences are used
# integrals of the backward differences over the next step: Adams-Bashforth; differences of neighbours are the errors of Adams-Moulton
GAMMA = (
    1.0,
    1 / 2,
    5 / 12,
    3 / 8,
    251 / 720,
    95 / 288,
    19087 / 60480,
    5257 / 17280,
    1070017 / 3628800,
)
KNOWN, SPACING = (
    CT.OWN,
    CT.OWN + 1,
)  # rates at equal distances that the differences hold, and that distance
PREDICTED = STAGE
DIFFERENCES = STAGE + 1  # of f: MOST + 1 blocks; F_PREDICTED, then MISMATCH
F_PREDICTED = K2
MISMATCH = K2 + 1
SAME = 1e-6  # of the step: distances on the grid t_start + k h differ by rounding only


@kernel
def adams_fixed_size(n):
    """Return the length of the memory `mem` of the fixed-step Adams method for n states."""
    return CT.HEADER + (DIFFERENCES + MOST + 1) * n


@kernel
def adams_fixed_start(mem, rhs, context, t, y):
    """Start the fixed-step Adams method at (t, y) with step H_GIVEN; return the status."""
    CT.begin(mem, t, y)
    return adams_fixed_restart(mem, rhs, context)


@kernel
def adams_fixed_restart(mem, rhs, context):
    """Restart the fixed-step Adams method at T_NEW with the state in Y_NEW; return the status."""
    CT.forget(mem)
    CT.anchor_grid(mem)
    return adams_fixed_turn(mem, rhs, context)


@kernel
def adams_fixed_turn(mem, rhs, context):
    """Continue after a breakpoint on the unchanged time grid with order one; return the status."""
    mem[KNOWN] = 0.0
    mem[CT.ORDER] = FIRST
    status = CT.evaluate(
        CT.block(mem, CT.F_NEW), mem, rhs, context, mem[CT.T_NEW], CT.block(mem, CT.Y_NEW)
    )
    if status == 0:
        remember(mem, 0.0)
    return status


@kernel
def adams_fixed_changed(mem, rhs, context):
    """Refresh f after a small change of Y_NEW: a change of the newest f enters every difference
    equally.
    """
    f, old = CT.block(mem, CT.F_NEW), CT.block(mem, MISMATCH)
    CT.copy(old, f)
    status = CT.evaluate(f, mem, rhs, context, mem[CT.T_NEW], CT.block(mem, CT.Y_NEW))
    for j in range(int(mem[KNOWN])):
        difference = CT.block(mem, DIFFERENCES + j)
        for i in range(len(f)):
            difference[i] += f[i] - old[i]
    return status


@kernel
def remember(mem, h):
    """Add the rates at the end of a step of size h to the backward differences; a different step
    size restarts them.
    """
    known = int(mem[KNOWN])
    if known > 1 and abs(h - mem[SPACING]) > SAME * h:
        known = 0
    mem[SPACING] = h
    f = CT.block(mem, CT.F_NEW)
    last = min(known, MOST)
    for i in range(len(f)):
        new = f[i]
        for j in range(last + 1):
            at = CT.HEADER + (DIFFERENCES + j) * len(f) + i
            old = mem[at]
            mem[at] = new
            new -= old
    mem[KNOWN] = last + 1.0


@kernel
def adams_fixed_step(mem, rhs, context, t_limit):
    """Make one step of size H_GIVEN with the fixed-step Adams method; return the status."""
    t_end = CT.grid_time(mem, t_limit)
    h = t_end - mem[CT.T_NEW]
    if mem[KNOWN] >= FIRST and abs(h - mem[SPACING]) <= SAME * h:
        status = multistep(mem, rhs, context, h, t_end)
    else:
        status = runge_kutta(mem, rhs, context, h, t_end)
    if status != 0:
        return status
    y_old, y, f_old, f = (
        CT.block(mem, CT.Y_OLD),
        CT.block(mem, CT.Y_NEW),
        CT.block(mem, CT.F_OLD),
        CT.block(mem, CT.F_NEW),
    )
    CT.copy(y_old, y)
    CT.copy(f_old, f)
    CT.copy(y, CT.block(mem, STAGE))
    CT.accept(mem, t_end, h)
    CT.advance_grid(mem, t_end)
    status = CT.evaluate_end(f, mem, rhs, context, t_end, y)
    remember(mem, h)
    return status


@kernel
def multistep(mem, rhs, context, h, t_end):
    """Compute the new state by predictor and corrector into STAGE, and choose the next order;
    return the status.
    """
    order, y, stage = int(mem[CT.ORDER]), CT.block(mem, CT.Y_NEW), CT.block(mem, STAGE)
    f, mismatch = CT.block(mem, F_PREDICTED), CT.block(mem, MISMATCH)
    for i in range(len(y)):
        total, foreseen = 0.0, 0.0
        for j in range(order - 1, -1, -1):  # small ones first
            difference = mem[CT.HEADER + (DIFFERENCES + j) * len(y) + i]
            total += GAMMA[j] * difference
            foreseen += difference
        stage[i] = y[i] + h * total
        mismatch[i] = foreseen
    status = CT.evaluate(f, mem, rhs, context, t_end, stage)
    if status != 0:
        return status
    for i in range(len(y)):
        mismatch[i] = f[i] - mismatch[i]
        stage[i] += h * GAMMA[order] * mismatch[i]
    choose_order(mem, order, h)
    return 0


@kernel
def choose_order(mem, order, h):
    """Change the order by at most one to that with the smallest error estimate."""
    y, mismatch, e = CT.block(mem, CT.Y_NEW), CT.block(mem, MISMATCH), CT.block(mem, F_PREDICTED)
    same = (GAMMA[order - 1] - GAMMA[order]) * CT.norm(mem, mismatch, y, y)
    best, wanted = same, order
    if order > 1:
        below = CT.block(mem, DIFFERENCES + order - 1)
        for i in range(len(y)):
            e[i] = mismatch[i] + below[i]
        error = (GAMMA[order - 2] - GAMMA[order - 1]) * CT.norm(mem, e, y, y)
        if error <= best:
            best, wanted = error, order - 1
    if order < MOST and mem[KNOWN] > order + 1.0:
        above = CT.block(mem, DIFFERENCES + order)
        for i in range(len(y)):
            e[i] = mismatch[i] - above[i]
        if (GAMMA[order] - GAMMA[order + 1]) * CT.norm(mem, e, y, y) < best:
            wanted = order + 1
    mem[CT.ORDER] = wanted


@kernel
def adams_fixed_interpolate(out, mem, t):
    """Compute the state at t inside the last step by the interpolating polynomial of f."""
    hermite(out, mem, t)


KERNELS = Kernels(
    adams_fixed_size,
    adams_fixed_start,
    adams_fixed_restart,
    adams_fixed_changed,
    adams_fixed_turn,
    adams_fixed_step,
    adams_fixed_interpolate,
)
