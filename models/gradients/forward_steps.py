"""Discrete adjoints of the fixed-step methods: forward steps as `rk4` and `semi_implicit` make
them, and backward steps with transposed Jacobians.

Right-hand side and derivatives are straight-line functions given by addresses, all int32 (t, pair,
given, out):

    rates  pair = y         out = f                    back   pair = (y, w)     out = wᵀ ∂f/∂(y, t, given)
    bend   pair = (y, w, v) out = ∂(wᵀ J v)/∂(y, t, given)
    close  pair = y         out = P(y) on the loops        open   pair = (y, w)     out = wᵀ ∂P/∂(y, t, given)
    stand  pair = y         out = sides of the conditions of laws (`saltation.py`)
"""

import math
from collections.abc import Callable
from typing import Any, cast

from kinetree.models.gradients import adjoint_layout as A
from kinetree.models.gradients.kernel_cache import kept
from kinetree.solvers.integrate.kinds import CODES
from kinetree.solvers.integrate.linear_solver import factor, solve
from kinetree.solvers.kernel import kernel
from kinetree.solvers.layout import Status
from kinetree.solvers.linked_kernels import call_own
from kinetree.solvers.views import whole

RK4 = CODES["rk4"]
GAMMA = 1.0 - math.sqrt(0.5)
DIFFERENCE = 1.5e-8  # of a state: step of the Jacobian, which the method does not need exactly
LOST = int(Status.NO_CONVERGENCE)
SLOTS = 5
# as kernels call them: an intrinsic of numba is written with the context of the compiler before its arguments
own: Callable[[int, float, Any, Any, Any], int] = cast(Any, call_own)
sees_ints: Callable[[Any], Any] = cast(Any, whole(A.ADJOINT))
sees_work: Callable[[Any], Any] = cast(Any, whole(A.ADJOINT_HEAD))


@kernel
def part(W, at, k, n):
    """Return the view of vector k of n values stored at index `at`."""
    return W[at + k * n : at + (k + 1) * n]


@kernel
def copy(to, source):
    """Copy a vector."""
    for i in range(len(to)):
        to[i] = source[i]


@kernel
def add(to, scale, what):
    """Add scale times `what` to `to`."""
    for i in range(len(to)):
        to[i] += scale * what[i]


@kernel
def give_inputs(I, W, t):
    """Write the values of the inputs at time t."""
    for k in range(I.inputs if I.curved != 0 else 0):
        total, s = 0.0, t - W.origin
        for m in range(5, -1, -1):
            total = total * s + W[I.at_curves + 6 * k + m]
        W[I.at_given + k] = total


@kernel
def input_rates(I, W, t, slopes):
    """Return the time derivative that varying inputs cause."""
    found = 0.0
    for k in range(I.inputs if I.curved != 0 else 0):
        total, s = 0.0, t - W.origin
        for m in range(5, 0, -1):
            total = total * s + m * W[I.at_curves + 6 * k + m]
        found += slopes[k] * total
    return found


@kernel
def rates(I, W, out, t, y):
    """Compute the right-hand side f(t, y) into `out`; return the status."""
    give_inputs(I, W, t)
    return own(I.rates, t, y, part(W, I.at_given, 0, I.given), out)


@kernel
def back(I, W, address, t, y):
    """Compute products with transposed derivatives at (t, y); return the status and the derivative
    by t.
    """
    n = I.n
    give_inputs(I, W, t)
    copy(part(W, I.at_pair, 0, n), y)
    out = W[I.at_out : I.at_out + n + 1 + I.given]
    status = own(address, t, W[I.at_pair : I.at_pair + 3 * n], part(W, I.at_given, 0, I.given), out)
    slopes = W[I.at_out + n + 1 : I.at_out + n + 1 + I.given]
    add(part(W, I.at_slopes, 0, I.given), 1.0, slopes)
    return status, out[n] + input_rates(I, W, t, slopes)


@kernel
def end_of_step(I, W):
    """Return the end of the next step, and how that time depends on the start of the grid."""
    t = W.base + (W.counted + 1.0) * W.step
    target = W[I.at_targets + int(W.next)]
    if t > target - 1e-9 * W.step:
        return target, A.ENDING if W.moves != 0.0 else A.FIXED
    return t, A.MOVING if W.moves != 0.0 else A.FIXED


@kernel
def advance_grid(I, W, t):
    """Count the step that ended at t in the step grid."""
    W.counted += 1.0
    if abs(t - (W.base + W.counted * W.step)) > 1e-8 * W.step:
        W.base, W.counted, W.moves = t, 0.0, 0.0
    if (
        t == W[I.at_targets + int(W.next)]
    ):  # behind it steps begin at the target, however near to it the old grid lies
        W.next += 1.0
        W.moves = 0.0
    W.time = t


@kernel
def forwards(I, W):
    """Make steps until the block is full, all targets are reached, or `stop`; the states are
    stored. Return the status.
    """
    n, k, status = I.n, 0, 0
    W[I.at_times] = W.time
    while status == 0 and k < I.capacity and int(W.next) < I.targets and W.time < W.stop:
        t = W.time
        t_end, anchor = end_of_step(I, W)
        W[I.at_anchors + k] = anchor
        at = I.at_path + SLOTS * n * k
        status = (
            rk4_on(I, W, at, t, t_end) if I.method == RK4 else rosenbrock_on(I, W, at, t, t_end)
        )
        if status == 0:
            status = closed(I, W, t_end, part(W, at, 4, n), part(W, at, SLOTS, n))
        advance_grid(I, W, t_end)
        k += 1
        W[I.at_times + k] = t_end
    W.steps = k
    return status


@kernel
def closed(I, W, t, y, new):
    """Project the state after a step onto the loops; return the status."""
    if I.close == 0:
        copy(new, y)
        return 0
    give_inputs(I, W, t)
    return own(I.close, t, y, part(W, I.at_given, 0, I.given), new)


@kernel
def rk4_on(I, W, at, t, t_end):
    """Make one RK4 step and store its stage arguments and the new state; return the status."""
    n, h = I.n, t_end - t
    y, y2, y3, y4, new = (
        part(W, at, 0, n),
        part(W, at, 1, n),
        part(W, at, 2, n),
        part(W, at, 3, n),
        part(W, at, 4, n),
    )
    k = part(W, I.at_scratch, 0, n)
    status = rates(I, W, k, t, y)
    for i in range(n):
        y2[i] = y[i] + 0.5 * h * k[i]
        new[i] = y[i] + h / 6.0 * k[i]
    if status == 0:
        status = rates(I, W, k, t + 0.5 * h, y2)
    for i in range(n):
        y3[i] = y[i] + 0.5 * h * k[i]
        new[i] += h / 3.0 * k[i]
    if status == 0:
        status = rates(I, W, k, t + 0.5 * h, y3)
    for i in range(n):
        y4[i] = y[i] + h * k[i]
        new[i] += h / 3.0 * k[i]
    if status == 0:
        status = rates(I, W, k, t_end, y4)
    add(new, h / 6.0, k)
    return status


@kernel
def rosenbrock_on(I, W, at, t, t_end):
    """Make one linearly implicit step and store its stages and the new state; return the status."""
    n, h = I.n, t_end - t
    y, y2, k1, k2, new = (
        part(W, at, 0, n),
        part(W, at, 1, n),
        part(W, at, 2, n),
        part(W, at, 3, n),
        part(W, at, 4, n),
    )
    matrix, pivots = part(W, I.at_matrices, 1, n * n), part(W, I.at_scratch, 7, n)
    status = rates(I, W, k1, t, y)
    if status == 0:
        status = jacobian(I, W, t, y, k1)
    if status != 0 or shifted(I, W, h, False) != 0:
        return status if status != 0 else LOST
    solve(matrix, pivots, n, k1)
    copy(y2, y)
    add(y2, h, k1)
    status = rates(I, W, k2, t_end, y2)
    add(k2, -2.0, k1)
    solve(matrix, pivots, n, k2)
    copy(new, y)
    add(new, 1.5 * h, k1)
    add(new, 0.5 * h, k2)
    return status


@kernel
def jacobian(I, W, t, y, f):
    """Compute ∂f/∂y by finite differences; return the status."""
    n, status = I.n, 0
    moved, other, J = (
        part(W, I.at_scratch, 5, n),
        part(W, I.at_scratch, 6, n),
        part(W, I.at_matrices, 0, n * n),
    )
    copy(moved, y)
    for j in range(n):
        moved[j] = y[j] + DIFFERENCE * max(1.0, abs(y[j]))
        if status == 0:
            status = rates(I, W, other, t, moved)
        for i in range(n):
            J[i * n + j] = (other[i] - f[i]) / (moved[j] - y[j])
        moved[j] = y[j]
    return status


@kernel
def shifted(I, W, h, transposed):
    """Compute the factors of I - γ h J or of its transpose; return 1 if singular, else 0."""
    n, J, a = I.n, part(W, I.at_matrices, 0, I.n * I.n), part(W, I.at_matrices, 1, I.n * I.n)
    for i in range(n):
        for j in range(n):
            a[i * n + j] = (1.0 if i == j else 0.0) - GAMMA * h * (
                J[j * n + i] if transposed else J[i * n + j]
            )
    return factor(a, part(W, I.at_scratch, 7, n), n)


@kept
def go_forwards(ints, work):
    """Make the forward steps of a block and store them for the adjoint (entry point)."""
    return forwards(sees_ints(ints), sees_work(work))


@kernel
def crossings(I, W):
    """List the steps of a block over which a condition in a law changes its truth value; return the
    status.
    """
    n, m, count, status = I.n, I.sides, 0, 0
    for k in range(int(W.steps) + 1):
        t = W[I.at_times + k]
        new, old = part(W, I.at_sides, k % 2, m), part(W, I.at_sides, (k + 1) % 2, m)
        give_inputs(I, W, t)
        if status == 0:
            y = part(W, I.at_path + SLOTS * n * k, 0, n)
            status = own(I.stand, t, y, part(W, I.at_given, 0, I.given), new)
        differ = False
        for i in range(m):
            differ = differ or new[i] != old[i]
        if k > 0 and differ:
            W[I.at_crossed + count] = k - 1
            count += 1
    W.crossings = count
    return status


@kept
def find_crossings(ints, work):
    """List the steps of a block over which a condition in a law changes its truth value; return the
    status.
    """
    return crossings(sees_ints(ints), sees_work(work))
