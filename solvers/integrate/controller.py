"""Memory and step-size control shared by all integrators.

The complete state of a method is one flat array `mem`: a header (offsets below), blocks of n
values, then data of the method. Copying `mem` copies the integrator bit for bit. Errors are
measured by rms(e_i / (atol_i + rtol*max(|y_old_i|, |y_new_i|))) and accepted if <= 1. Time runs
forward only. Step-size control after E. Hairer, G. Wanner, Solving Ordinary Differential Equations
II, IV.2 and IV.8.
"""

import math

from kinetree.solvers.kernel import kernel
from kinetree.solvers.layout import Status

# kernels see plain integers
OK, NOT_A_NUMBER, STEP_TOO_SMALL = (
    int(Status.OK),
    int(Status.NOT_A_NUMBER),
    int(Status.STEP_TOO_SMALL),
)
NO_CONVERGENCE, TOO_MANY_STEPS = int(Status.NO_CONVERGENCE), int(Status.TOO_MANY_STEPS)
INCONSISTENT, CHATTERING, EVENT = (
    int(Status.INCONSISTENT),
    int(Status.CHATTERING),
    int(Status.EVENT),
)

HEADER = 64
# options, written by `set_options`; a driver may change them between steps
N = 0  # number of states
RTOL = 1
H_MAX = 2
HARD = 3  # 1: no step may end after the t_limit given to a step
H_GIVEN = 4  # first step of a variable step method (0: chosen), step of a fixed step method
# state of every method
T_OLD, T_NEW = 5, 6  # ends of the last accepted step
H = 7  # T_NEW - T_OLD as used by the formulas
H_NEXT = 8  # step the method would like to take next
ORDER = 9  # order used in the last step
FRESH = 10  # 1: nothing is known about the past (after start or restart)
STEPS, EVALUATIONS, REJECTED, FACTORISATIONS, JACOBIANS = 11, 12, 13, 14, 15
DENSE = 16  # 1: `interpolate` has prepared what it needs for the last step
STIFF, SMOOTH = 17, 18  # successive steps that looked stiff, that did not
LIPSCHITZ = 19  # estimate of the largest |df/dy| along the error, 1/s
# options of single methods
NQ, NU = 20, 21  # y = (q, u, x): numbers of coordinates and speeds (stormer, semi_implicit)
REFRESH = 22  # steps between two Jacobians (semi_implicit); 0: explicit, no Jacobian
CORRECT = 23  # 1: one corrector pass after the explicit step (stormer)
PASSIVE = 26  # states at the end of y on which no rate depends: no columns of Jacobians are evaluated for them
LATE = 27  # 1: the state is changed at the end of every step, so that rates there are left to `changed`, which then always follows
GRID_START, GRID_COUNT = (
    24,
    25,
)  # fixed step methods: time of the last (re)start and steps since then
OWN = 32  # offsets from here on belong to the method

ATOL, Y_OLD, Y_NEW, F_OLD, F_NEW = range(5)  # blocks common to all methods
BLOCKS = 5

TINY_STEP = 4 * 2.220446049250313e-16  # relative to |t|: below this time does not advance
MIN_RTOL = 1e-14  # 45 ulp: below this rounding decides about steps
MIN_ATOL = 1e-20  # keeps the weight of a state that is exactly zero finite
STIFF_STEPS, SMOOTH_STEPS = 25, 10  # successive steps that make a verdict
MAX_REJECTIONS = 60  # in one step; 2^-60 of any sensible step is nothing


@kernel
def block(mem, j):
    """Return the view of block j of `mem`."""
    n = int(mem[N])
    return mem[HEADER + j * n : HEADER + (j + 1) * n]


@kernel
def set_options(mem, n, rtol, atol, h, h_max):
    """Write problem size and tolerances before a start and clear `mem`: h = 0 lets the method
    choose its first step, h_max = 0 means no bound.
    """
    for i in range(len(mem)):
        mem[i] = 0.0
    mem[N] = n
    mem[RTOL] = max(rtol, MIN_RTOL)
    mem[H_GIVEN] = h
    mem[H_MAX] = h_max if h_max > 0.0 else math.inf
    weights = block(mem, ATOL)
    for i in range(n):
        weights[i] = max(atol, MIN_ATOL)


@kernel
def time_of(mem):
    """Return the time reached by the last accepted step."""
    return mem[T_NEW]


@kernel
def step_of(mem):
    """Return the size of the last accepted step."""
    return mem[H]


@kernel
def state_of(mem):
    """Return the view of the state at the end of the last accepted step. If it is overwritten,
    `changed` or `restart` of the method must follow.
    """
    return block(mem, Y_NEW)


@kernel
def begin(mem, t, y):
    """Set the start state and clear counters and history."""
    mem[T_OLD] = t
    mem[T_NEW] = t
    for i in range(STEPS, JACOBIANS + 1):
        mem[i] = 0.0
    y_old = block(mem, Y_OLD)
    y_new = block(mem, Y_NEW)
    for i in range(len(y_new)):
        y_new[i] = y[i]
        y_old[i] = y[i]
    forget(mem)


@kernel
def forget(mem):
    """Discard the history of the method: the last step can no longer be interpolated."""
    mem[T_OLD] = mem[T_NEW]
    mem[H] = 0.0
    mem[FRESH] = 1.0
    mem[DENSE] = 0.0
    mem[STIFF] = 0.0
    mem[SMOOTH] = 0.0
    copy(block(mem, Y_OLD), block(mem, Y_NEW))


@kernel
def cut(mem, t, y):
    """End the last step at a time t inside it with state y, as after an event; `restart` must
    follow.
    """
    mem[T_NEW] = t
    copy(block(mem, Y_NEW), y)


@kernel
def copy(to, source):
    """Copy the elements of a vector."""
    for i in range(len(to)):
        to[i] = source[i]


@kernel
def evaluate(f, mem, rhs, context, t, y):
    """Evaluate and count the right-hand side; return the status, NOT_A_NUMBER for non-finite rates."""
    mem[EVALUATIONS] += 1.0
    status = rhs(f, context, t, y)
    if status != 0:
        return status
    total = 0.0
    for i in range(len(f)):
        total += 0.0 * f[i]
    return OK if total == 0.0 else NOT_A_NUMBER


@kernel
def evaluate_end(f, mem, rhs, context, t, y):
    """Evaluate the rates at the end of a step, unless `changed` follows and evaluates them anyway."""
    return OK if mem[LATE] != 0.0 else evaluate(f, mem, rhs, context, t, y)


@kernel
def norm(mem, e, y_a, y_b):
    """Return the weighted root mean square of e; the weights use the larger of |y_a|, |y_b|."""
    rtol = mem[RTOL]
    atol = block(mem, ATOL)
    total = 0.0
    for i in range(len(e)):
        r = e[i] / (atol[i] + rtol * max(abs(y_a[i]), abs(y_b[i])))
        total += r * r
    return math.sqrt(total / max(len(e), 1))


@kernel
def is_stiff(mem):
    """Return whether stability, not accuracy, limited the last steps of an explicit method."""
    return mem[STIFF] >= STIFF_STEPS


@kernel
def is_smooth(mem):
    """Return whether the last Radau steps were smooth enough for an explicit method."""
    return mem[SMOOTH] >= SMOOTH_STEPS


@kernel
def first_step(mem, rhs, context, order, y_try, f_try):
    """Return the first step size, estimated from the rate in block F_NEW; overwrites y_try, f_try."""
    if mem[H_GIVEN] > 0.0:
        return min(mem[H_GIVEN], mem[H_MAX])
    y, f = block(mem, Y_NEW), block(mem, F_NEW)
    size, rate = norm(mem, y, y, y), norm(mem, f, y, y)
    # a state below its tolerance, as where a motion passes through rest, says nothing about the scale of the motion
    h = 0.01 * size / rate if size > 1.0 and rate > 1e-5 else 1e-6
    h = min(h, mem[H_MAX])
    for i in range(len(y)):
        y_try[i] = y[i] + h * f[i]
    status = evaluate(f_try, mem, rhs, context, mem[T_NEW] + h, y_try)
    if status != 0:
        return 0.01 * h
    for i in range(len(y)):
        f_try[i] -= f[i]
    curvature = norm(mem, f_try, y, y) / h
    largest = max(rate, curvature)
    h_order = max(1e-6, 1e-3 * h) if largest <= 1e-15 else (0.01 / largest) ** (1.0 / (order + 1))
    return min(100.0 * h, h_order, mem[H_MAX])


@kernel
def limited(mem, h, t_limit):
    """Return the step size limited by H_MAX and a hard time limit."""
    h = min(h, mem[H_MAX])
    if mem[HARD] == 1.0:
        rest = t_limit - mem[T_NEW]
        if h >= rest * (1.0 - 1e-10):
            h = rest
        elif 2.0 * h > rest:
            h = 0.5 * rest
    return h


@kernel
def end_time(mem, h, t_limit):
    """Return the end time of a step, exactly t_limit if it was limited."""
    return t_limit if mem[HARD] == 1.0 and h == t_limit - mem[T_NEW] else mem[T_NEW] + h


@kernel
def too_small(t, h):
    """Return whether a step is NaN or too small to advance time."""
    return not h > TINY_STEP * abs(t)


@kernel
def accept(mem, t, h):
    """Make the end of the step its new start and t its end; the caller fills Y_OLD, Y_NEW and the
    rates.
    """
    mem[T_OLD] = mem[T_NEW]
    mem[T_NEW] = t
    mem[H] = h
    mem[STEPS] += 1.0
    mem[FRESH] = 0.0
    mem[DENSE] = 0.0


@kernel
def anchor_grid(mem):
    """Let the grid of fixed steps start at T_NEW."""
    mem[GRID_START] = mem[T_NEW]
    mem[GRID_COUNT] = 0.0
    mem[H_NEXT] = mem[H_GIVEN]


@kernel
def grid_time(mem, t_limit):
    """Return the end of the next fixed step, or t_limit if that is earlier."""
    t = mem[GRID_START] + (mem[GRID_COUNT] + 1.0) * mem[H_GIVEN]
    if mem[HARD] == 1.0 and t > t_limit - 1e-9 * mem[H_GIVEN]:
        t = t_limit
    return t


@kernel
def advance_grid(mem, t):
    """Count the step that ended at t; if t is not on the grid, start a new grid there."""
    mem[GRID_COUNT] += 1.0
    if abs(t - (mem[GRID_START] + mem[GRID_COUNT] * mem[H_GIVEN])) > 1e-8 * mem[H_GIVEN]:
        anchor_grid(mem)


@kernel
def steepness(k_last, k_before, y_last, y_before):
    """Return an estimate of the dominant eigenvalue [1/s] from the rates at two states at one
    instant; 0 if the states are equal.
    """
    above, below = 0.0, 0.0
    for i in range(len(k_last)):
        above += (k_last[i] - k_before[i]) ** 2
        below += (y_last[i] - y_before[i]) ** 2
    return math.sqrt(above / below) if below > 0.0 else 0.0


@kernel
def count_stiff(mem, held):
    """Count a step limited by stability (`held`); six other steps in a row reset the count."""
    if held:
        mem[STIFF] += 1.0
        mem[SMOOTH] = 0.0
    else:
        mem[SMOOTH] += 1.0
        if mem[SMOOTH] >= 6.0:
            mem[STIFF] = 0.0
