"""Backward pass over the steps of `forwards`: derivatives of a result by the state before them, by
given values, and by the start time of the step grid.
"""

from kinetree.models.gradients import adjoint_layout as A
from kinetree.models.gradients.forward_steps import (
    GAMMA,
    LOST,
    RK4,
    SLOTS,
    add,
    back,
    copy,
    jacobian,
    part,
    rates,
    sees_ints,
    sees_work,
    shifted,
)
from kinetree.models.gradients.kernel_cache import kept
from kinetree.solvers.integrate.linear_solver import solve
from kinetree.solvers.kernel import kernel


@kernel
def backwards(I, W):
    """Propagate adjoints from the end of step `highest` - 1 back to the start of step `lowest`;
    return the status.
    """
    n, status = I.n, 0
    for m in range(int(W.highest) - int(W.lowest)):
        k = int(W.highest) - 1 - m
        at, anchor = I.at_path + SLOTS * n * k, W[I.at_anchors + k]
        t, t_end = W[I.at_times + k], W[I.at_times + k + 1]
        by_begin, by_size, by_end = 0.0, 0.0, 0.0
        if I.close != 0:
            copy(part(W, I.at_pair, 1, n), part(W, I.at_adjoint, 0, n))
            status, by_end = back(I, W, I.open, t_end, part(W, at, 4, n))
            copy(part(W, I.at_adjoint, 0, n), part(W, I.at_out, 0, n))
        if status == 0 and I.method == RK4:
            status, by_begin, by_size = rk4_back(I, W, at, t, t_end - t, anchor != A.FIXED)
        elif status == 0:
            status, by_begin, by_size = rosenbrock_back(I, W, at, t, t_end - t, anchor != A.FIXED)
        if status != 0:
            return status
        if anchor == A.MOVING:
            W.shift += by_begin + by_end
        elif anchor == A.ENDING:
            W.shift += by_begin - by_size
    return status


@kernel
def stage_back(I, W, t, y):
    """Write products with the derivatives of one evaluation to `out` and compute the next adjoint."""
    status, by_time = back(I, W, I.back, t, y)
    add(part(W, I.at_scratch, 0, I.n), 1.0, part(W, I.at_out, 0, I.n))
    return status, by_time


@kernel
def factors(I, W, a, b):
    """Compute a adjoint + b out, the adjoint factors of the stage before."""
    n = I.n
    w, adjoint, out = part(W, I.at_pair, 1, n), part(W, I.at_adjoint, 0, n), part(W, I.at_out, 0, n)
    for i in range(n):
        w[i] = a * adjoint[i] + b * out[i]


@kernel
def rk4_back(I, W, at, t, h, timed):
    """Propagate adjoints through one RK4 step; if `timed`, also compute derivatives by start time
    and step size.
    """
    n, by_begin, by_size = I.n, 0.0, 0.0
    new, k = part(W, I.at_scratch, 0, n), part(W, I.at_scratch, 1, n)
    copy(new, part(W, I.at_adjoint, 0, n))
    status = 0
    for stage in range(3, -1, -1):
        node = 0.5 if 0 < stage < 3 else float(stage // 3)
        share = 1.0 / 3.0 if 0 < stage < 3 else 1.0 / 6.0
        after = (
            0.0 if stage == 3 else 1.0 if stage == 2 else 0.5
        )  # weight of this evaluation in the argument of the next
        if timed and status == 0:
            status = rates(I, W, k, t + node * h, part(W, at, stage, n))
            by_size += share * along(part(W, I.at_adjoint, 0, n), k) + (
                after * along(part(W, I.at_out, 0, n), k) if stage < 3 else 0.0
            )
        factors(I, W, h * share, h * after if stage < 3 else 0.0)
        if status == 0:
            status, by_time = stage_back(I, W, t + node * h, part(W, at, stage, n))
            by_begin += by_time
            by_size += node * by_time
    copy(part(W, I.at_adjoint, 0, n), new)
    return status, by_begin, by_size


@kernel
def along(a, b):
    """Return the scalar product of a and b."""
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@kernel
def rosenbrock_back(I, W, at, t, h, timed):
    """Propagate adjoints through one linearly implicit step, including the derivatives of its
    Jacobian.
    """
    n = I.n
    y, y2, k1, k2 = part(W, at, 0, n), part(W, at, 1, n), part(W, at, 2, n), part(W, at, 3, n)
    new, f, v1, v2 = (
        part(W, I.at_scratch, 0, n),
        part(W, I.at_scratch, 1, n),
        part(W, I.at_scratch, 2, n),
        part(W, I.at_scratch, 3, n),
    )
    old = part(W, I.at_adjoint, 0, n)
    matrix, pivots = part(W, I.at_matrices, 1, n * n), part(W, I.at_scratch, 7, n)
    status = rates(I, W, f, t, y)
    if status == 0:
        status = jacobian(I, W, t, y, f)
    if status != 0 or shifted(I, W, h, True) != 0:
        return status if status != 0 else LOST, 0.0, 0.0
    copy(new, old)
    copy(v2, old)
    scaled(v2, 0.5 * h)
    solve(matrix, pivots, n, v2)
    copy(part(W, I.at_pair, 1, n), v2)
    status, by_end = stage_back(I, W, t + h, y2)
    second = part(W, I.at_out, 0, n)
    by_size = 1.5 * along(old, k1) + 0.5 * along(old, k2) + along(second, k1) + by_end
    for i in range(n):
        v1[i] = 1.5 * h * old[i] - 2.0 * v2[i] + h * second[i]
    solve(matrix, pivots, n, v1)
    copy(part(W, I.at_pair, 1, n), v1)
    if status == 0:
        status, by_begin = stage_back(I, W, t, y)
        by_begin += by_end
    if status == 0:
        status, by_time, by_more = bent(I, W, t, y, h, v1, k1)
        by_begin, by_size = by_begin + by_time, by_size + by_more
    if status == 0:
        status, by_time, by_more = bent(I, W, t, y, h, v2, k2)
        by_begin, by_size = by_begin + by_time, by_size + by_more
    copy(old, new)
    return status, by_begin, by_size


@kernel
def scaled(a, factor):
    """Multiply a vector by a factor in place."""
    for i in range(len(a)):
        a[i] *= factor


@kernel
def bent(I, W, t, y, h, v, k):
    """Add the derivatives of γ h vᵀ J k by state and given values; return those by time and by h,
    with the status.
    """
    n, J = I.n, part(W, I.at_matrices, 0, I.n * I.n)
    w, direction = part(W, I.at_pair, 1, n), part(W, I.at_pair, 2, n)
    by_size = 0.0
    for i in range(n):
        w[i] = GAMMA * h * v[i]
        direction[i] = k[i]
        by_size += GAMMA * v[i] * along(J[i * n : i * n + n], k)
    status, by_time = back(I, W, I.bend, t, y)
    add(part(W, I.at_scratch, 0, n), 1.0, part(W, I.at_out, 0, n))
    return status, by_time, by_size


@kept
def go_backwards(ints, work):
    """Propagate adjoints backwards through some steps of a block (entry point)."""
    return backwards(sees_ints(ints), sees_work(work))
