"""Radau IIA method of order 5 for stiff systems: simplified Newton iteration, predictive step-size
control; dense output in `radau_dense`.

L-stable. The Jacobian is reused while the iteration converges fast, the factors while the step size
hardly changes. E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, IV.8 (RADAU5).
"""

import math

from kinetree.solvers.integrate import controller as CT
from kinetree.solvers.integrate.interface import Kernels
from kinetree.solvers.integrate.jacobian import numerical_jacobian, spectral_radius
from kinetree.solvers.integrate.linear_solver import solve
from kinetree.solvers.integrate.radau_dense import radau_refined, store
from kinetree.solvers.integrate.radau_newton import (
    C1,
    C2,
    FACTOR_H,
    FORESEEN,
    G1,
    G2,
    G3,
    ITERATIONS,
    JACOBIAN,
    JACOBIAN_AGE,
    KEEP_JACOBIAN,
    LAST_ACCEPTED_H,
    LAST_ERROR,
    NOT_MEASURED,
    QUALITY,
    REAL,
    ROOT6,
    SCRATCH,
    STAGE,
    THETA,
    USED,
    WEIGHT,
    Z1,
    Z2,
    Z3,
    factorise,
    iterate,
    matrix,
    memory_size,
    trial_of,
    weigh,
)
from kinetree.solvers.kernel import kernel

E1, E2, E3 = (
    -(13.0 + 7.0 * ROOT6) / 3.0,
    (-13.0 + 7.0 * ROOT6) / 3.0,
    -1.0 / 3.0,
)  # embedded error estimate
SAFETY, SHRINK, GROW = 0.9, 0.2, 8.0
NODES = 0.0182  # largest |s (s - C1) (s - C2) (s - 1)| on [0, 1]
SMOOTH_RATE = (
    1.0  # h times the spectral radius of the Jacobian up to which an explicit method is cheaper
)
KEEP_STEP = 1.2  # growth up to which the step, and with it the factors, are kept


@kernel
def radau_size(n):
    """Return the length of the memory `mem` of the Radau method for n states."""
    return memory_size(n)


@kernel
def radau_start(mem, rhs, context, t, y):
    """Start the Radau method at (t, y); return the status."""
    CT.begin(mem, t, y)
    return radau_restart(mem, rhs, context)


@kernel
def radau_restart(mem, rhs, context):
    """Restart the Radau method at T_NEW with the state in Y_NEW: the first step is chosen anew,
    Jacobian and history are discarded.
    """
    CT.forget(mem)
    mem[CT.ORDER] = 5.0
    mem[FACTOR_H] = 0.0
    mem[JACOBIAN_AGE] = -1.0
    mem[QUALITY] = NOT_MEASURED
    mem[LAST_ACCEPTED_H] = 0.0
    status = CT.evaluate(
        CT.block(mem, CT.F_NEW), mem, rhs, context, mem[CT.T_NEW], CT.block(mem, CT.Y_NEW)
    )
    if status == 0:
        mem[CT.H_NEXT] = CT.first_step(
            mem, rhs, context, 3, CT.block(mem, STAGE), CT.block(mem, SCRATCH)
        )
    return status


@kernel
def radau_changed(mem, rhs, context):
    """Refresh f after a small change of Y_NEW; Jacobian, factors and history are kept."""
    return CT.evaluate(
        CT.block(mem, CT.F_NEW), mem, rhs, context, mem[CT.T_NEW], CT.block(mem, CT.Y_NEW)
    )


@kernel
def radau_step(mem, rhs, context, t_limit):
    """Make one accepted Radau step with a numerical Jacobian; return the status."""
    return radau_step_with(mem, rhs, numerical_jacobian, context, t_limit)


@kernel
def radau_step_with(mem, rhs, jacobian, context, t_limit):
    """Make one accepted Radau step; jacobian(J, mem, rhs, context, trial) fills df/dy. Return the
    status.
    """
    wanted, failed = mem[CT.H_NEXT], CT.STEP_TOO_SMALL
    h = CT.limited(mem, wanted, t_limit)
    weigh(mem)
    for attempt in range(CT.MAX_REJECTIONS):
        if CT.too_small(mem[CT.T_NEW], h):
            break
        status = prepare(mem, rhs, jacobian, context, h)
        if status > 0:
            return status
        factor = 0.5
        if status == 0:
            status, factor = iterate(mem, rhs, context, h)
            if status != 0 and mem[JACOBIAN_AGE] > 0.0:
                mem[JACOBIAN_AGE] = -1.0
        if status == 0:
            error = max(
                error_of(mem, rhs, context, h, mem[CT.FRESH] == 1.0 or attempt > 0),
                dense_error(mem, h),
            )
            factor = step_factor(mem, h, error)
            if error < 1.0:
                t_end = CT.end_time(mem, h, t_limit)
                return finish(
                    mem,
                    rhs,
                    context,
                    t_end,
                    h,
                    wanted if attempt == 0 else 0.0,
                    min(factor, 1.0) if attempt > 0 else factor,
                    error,
                )
            if mem[CT.FRESH] == 1.0:
                factor = 0.1
        mem[CT.REJECTED] += 1.0
        failed = status if status > 0 else CT.STEP_TOO_SMALL
        h *= factor
    return failed


@kernel
def prepare(mem, rhs, jacobian, context, h):
    """Update Jacobian and factors for step size h if they are outdated; return the status, -1 if a
    matrix is singular.
    """
    if mem[JACOBIAN_AGE] < 0.0:
        status = jacobian(matrix(mem, JACOBIAN), mem, rhs, context, trial_of(mem))
        if status != 0:
            return status
        mem[JACOBIAN_AGE] = 0.0
        mem[FACTOR_H] = 0.0
        mem[CT.LIPSCHITZ] = spectral_radius(matrix(mem, JACOBIAN), int(mem[CT.N]), trial_of(mem))
    if mem[FACTOR_H] != h and factorise(mem, h) != 0:
        mem[FACTOR_H] = 0.0
        return -1
    return 0


@kernel
def error_of(mem, rhs, context, h, careful):
    """Return the weighted norm of the embedded error (left in G1), filtered by the real system;
    after a first or rejected step (`careful`) filtered once more through f.
    """
    z1, z2, z3, f, e, stage = (
        CT.block(mem, Z1),
        CT.block(mem, Z2),
        CT.block(mem, Z3),
        CT.block(mem, CT.F_NEW),
        CT.block(mem, G1),
        CT.block(mem, STAGE),
    )
    y, g, n = CT.block(mem, CT.Y_NEW), CT.block(mem, G2), len(CT.block(mem, Z1))
    for i in range(n):
        g[i] = (E1 * z1[i] + E2 * z2[i] + E3 * z3[i]) / h
        e[i] = g[i] + f[i]
    solve(matrix(mem, REAL), CT.block(mem, WEIGHT + 1), n, e)
    error = weighted(mem, e)
    if error >= 1.0 and careful:
        for i in range(n):
            stage[i] = y[i] + e[i]
        if CT.evaluate(e, mem, rhs, context, mem[CT.T_NEW], stage) != 0:
            return error
        for i in range(n):
            e[i] += g[i]
        solve(matrix(mem, REAL), CT.block(mem, WEIGHT + 1), n, e)
        error = weighted(mem, e)
    return error if error < math.inf else math.inf


@kernel
def dense_error(mem, h):
    """Return the interpolation error inside the step.

    It matters for solutions that stiff forces tie to a prescribed motion, since their step ends are
    exact whatever the step size. The polynomials of the last two steps are cubic; their errors are
    in proportion to the products of the distances to their four nodes.
    """
    if mem[CT.FRESH] == 1.0:
        return 0.0
    miss, z3, foreseen, r = (
        CT.block(mem, G3),
        CT.block(mem, Z3),
        CT.block(mem, FORESEEN),
        h / mem[CT.H],
    )
    for i in range(len(miss)):
        miss[i] = z3[i] - foreseen[i]
    return weighted(mem, miss) * NODES * r**4 / (r * (r + 1.0) * (r + 1.0 - C1) * (r + 1.0 - C2))


@kernel
def weighted(mem, e):
    """Return the root mean square of an error vector e relative to the tolerances."""
    weight, total = CT.block(mem, WEIGHT), 0.0
    for i in range(len(e)):
        total += (e[i] * weight[i]) ** 2
    return max(math.sqrt(total / max(len(e), 1)), 1e-10)


@kernel
def step_factor(mem, h, error):
    """Return the ratio of the next step size to this one: from the error, the number of iterations
    and, after an accepted step, the trend of errors (Gustafsson).
    """
    safety = min(SAFETY, SAFETY * (1.0 + 2.0 * ITERATIONS) / (mem[USED] + 2.0 * ITERATIONS))
    quotient = error**0.25 / safety
    if error < 1.0 and mem[LAST_ACCEPTED_H] > 0.0:
        trend = mem[LAST_ACCEPTED_H] / h * (error * error / mem[LAST_ERROR]) ** 0.25 / SAFETY
        quotient = max(quotient, trend)
    return 1.0 / max(1.0 / GROW, min(1.0 / SHRINK, quotient))


@kernel
def finish(mem, rhs, context, t_end, h, wanted, factor, error):
    """Complete an accepted step, store its polynomial and choose the next step size."""
    y, y_old, f, f_old, z3 = (
        CT.block(mem, CT.Y_NEW),
        CT.block(mem, CT.Y_OLD),
        CT.block(mem, CT.F_NEW),
        CT.block(mem, CT.F_OLD),
        CT.block(mem, Z3),
    )
    store(mem, h)
    CT.copy(y_old, y)
    CT.copy(f_old, f)
    for i in range(len(y)):
        y[i] += z3[i]
    mem[CT.SMOOTH] = mem[CT.SMOOTH] + 1.0 if h * mem[CT.LIPSCHITZ] < SMOOTH_RATE else 0.0
    mem[LAST_ACCEPTED_H] = h
    mem[LAST_ERROR] = max(error, 1e-2)
    mem[JACOBIAN_AGE] = mem[JACOBIAN_AGE] + 1.0 if mem[THETA] <= KEEP_JACOBIAN else -1.0
    # factors are worth more than a slightly longer step
    planned = h if mem[JACOBIAN_AGE] > 0.0 and 1.0 <= factor <= KEEP_STEP else factor * h
    # a step that a limit cut short says nothing against the step planned before
    mem[CT.H_NEXT] = max(planned, wanted) if h < wanted else planned
    CT.accept(mem, t_end, h)
    return CT.evaluate(f, mem, rhs, context, t_end, y)


@kernel
def radau_turn(mem, rhs, context):
    """Continue after a breakpoint; Jacobian and factors are kept."""
    mem[CT.FRESH] = 1.0
    return radau_changed(mem, rhs, context)


KERNELS = Kernels(
    radau_size, radau_start, radau_restart, radau_changed, radau_turn, radau_step, radau_refined
)
