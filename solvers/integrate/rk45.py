"""Runge-Kutta pair 5(4) of J. R. Dormand and P. J. Prince (1980) with PI step-size control, dense
output of order 4 and a stiffness estimate.

Six evaluations per accepted step (the last stage is the first of the next step). Step-size control,
dense output and the estimate |f(y7) - f(y6)| / |y7 - y6| of the dominant eigenvalue after E.
Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, II.4 to II.6, and II,
IV.2.
"""

import math

from kinetree.solvers.integrate import controller as CT
from kinetree.solvers.integrate.interface import Kernels
from kinetree.solvers.kernel import kernel

C = (0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0)
A2 = (1 / 5, 0.0, 0.0, 0.0, 0.0)
A3 = (3 / 40, 9 / 40, 0.0, 0.0, 0.0)
A4 = (44 / 45, -56 / 15, 32 / 9, 0.0, 0.0)
A5 = (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729, 0.0)
A6 = (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656)
B = (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84)
E = (
    71 / 57600,
    0.0,
    -71 / 16695,
    71 / 1920,
    -17253 / 339200,
    22 / 525,
    -1 / 40,
)  # B minus the weights of order 4
D = (  # dense output, Hairer's table
    -12715105075 / 11282082432,
    0.0,
    87487479700 / 32700410799,
    -10690763975 / 1880347072,
    701980252875 / 199316789632,
    -1453857185 / 822651844,
    69997945 / 29380423,
)
BETA = 0.04  # weight of the previous error
SAFETY, SHRINK, GROW = 0.9, 0.2, 10.0
STABLE = 3.25  # h * eigenvalue at the border of the stability region

LAST_ERROR = CT.OWN
K2, K3, K4, K5, K6, K7, STAGE, LAST, DENSE_4 = range(
    CT.BLOCKS, CT.BLOCKS + 9
)  # LAST: argument of k6


@kernel
def rk45_size(n):
    """Return the length of the memory `mem` of the RK45 method for n states."""
    return CT.HEADER + (CT.BLOCKS + 9) * n


@kernel
def rk45_start(mem, rhs, context, t, y):
    """Start the RK45 method at (t, y); return the status."""
    CT.begin(mem, t, y)
    return rk45_restart(mem, rhs, context)


@kernel
def rk45_restart(mem, rhs, context):
    """Restart the RK45 method at T_NEW with the state in Y_NEW: the first step is chosen anew,
    error history is discarded.
    """
    CT.forget(mem)
    mem[CT.ORDER] = 5.0
    mem[LAST_ERROR] = 1e-4
    status = rk45_changed(mem, rhs, context)
    if status == 0:
        mem[CT.H_NEXT] = CT.first_step(
            mem, rhs, context, 5, CT.block(mem, STAGE), CT.block(mem, K2)
        )
    return status


@kernel
def rk45_changed(mem, rhs, context):
    """Evaluate f again after Y_NEW was changed; return the status."""
    return CT.evaluate(
        CT.block(mem, CT.F_NEW), mem, rhs, context, mem[CT.T_NEW], CT.block(mem, CT.Y_NEW)
    )


@kernel
def combine(mem, out, h, weights, k1):
    """Set out = y + h sum weights_j k_j of the first five stages."""
    y, k2, k3, k4, k5 = (
        CT.block(mem, CT.Y_NEW),
        CT.block(mem, K2),
        CT.block(mem, K3),
        CT.block(mem, K4),
        CT.block(mem, K5),
    )
    w1, w2, w3, w4, w5 = weights[0], weights[1], weights[2], weights[3], weights[4]
    for i in range(len(y)):
        out[i] = y[i] + h * (w1 * k1[i] + w2 * k2[i] + w3 * k3[i] + w4 * k4[i] + w5 * k5[i])


@kernel
def clear_stages(mem):
    """Set the stages to zero."""
    for j in range(K2, K6 + 1):
        k = CT.block(mem, j)
        for i in range(len(k)):
            k[i] = 0.0


@kernel
def stages(mem, rhs, context, h):
    """Evaluate k2..k6; the solution of order 5 is left in STAGE, the argument of k6 in LAST."""
    t, k1, stage = mem[CT.T_NEW], CT.block(mem, CT.F_NEW), CT.block(mem, STAGE)
    weights = (A2, A3, A4, A5)
    for j in range(4):
        combine(mem, stage, h, weights[j], k1)
        status = CT.evaluate(CT.block(mem, K2 + j), mem, rhs, context, t + C[j + 1] * h, stage)
        if status != 0:
            return status
    last = CT.block(mem, LAST)
    combine(mem, last, h, A6, k1)
    k6 = CT.block(mem, K6)
    status = CT.evaluate(k6, mem, rhs, context, t + h, last)
    combine(mem, stage, h, B, k1)
    for i in range(len(stage)):
        stage[i] += h * B[5] * k6[i]
    return status


@kernel
def error_of(mem, h, k7):
    """Return the weighted norm of the difference of the solutions of order 5 and 4."""
    k1, e, k3, k4, k5, k6 = (
        CT.block(mem, CT.F_NEW),
        CT.block(mem, K2),
        CT.block(mem, K3),
        CT.block(mem, K4),
        CT.block(mem, K5),
        CT.block(mem, K6),
    )
    for i in range(len(k1)):
        e[i] = h * (
            E[0] * k1[i] + E[2] * k3[i] + E[3] * k4[i] + E[4] * k5[i] + E[5] * k6[i] + E[6] * k7[i]
        )
    return CT.norm(mem, e, CT.block(mem, CT.Y_NEW), CT.block(mem, STAGE))


@kernel
def estimate_stiffness(mem, h, k7):
    """Estimate the dominant eigenvalue from the two evaluations at t + h and count steps at the
    stability limit.
    """
    mem[CT.LIPSCHITZ] = CT.steepness(
        k7, CT.block(mem, K6), CT.block(mem, STAGE), CT.block(mem, LAST)
    )
    CT.count_stiff(mem, h * mem[CT.LIPSCHITZ] > STABLE)


@kernel
def commit(mem, t, h, k7):
    """Make STAGE and k7 the new state and rate; DENSE_4 becomes the last coefficient of the dense output."""
    y_old, y, f_old, f = (
        CT.block(mem, CT.Y_OLD),
        CT.block(mem, CT.Y_NEW),
        CT.block(mem, CT.F_OLD),
        CT.block(mem, CT.F_NEW),
    )
    k3, k4, k5, k6, d, stage = (
        CT.block(mem, K3),
        CT.block(mem, K4),
        CT.block(mem, K5),
        CT.block(mem, K6),
        CT.block(mem, DENSE_4),
        CT.block(mem, STAGE),
    )
    for i in range(len(y)):
        d[i] = h * (
            D[0] * f[i] + D[2] * k3[i] + D[3] * k4[i] + D[4] * k5[i] + D[5] * k6[i] + D[6] * k7[i]
        )
    CT.copy(y_old, y)
    CT.copy(f_old, f)
    CT.copy(y, stage)
    CT.copy(f, k7)
    CT.accept(mem, t, h)


@kernel
def rk45_step(mem, rhs, context, t_limit):
    """Make one accepted step of the RK45 method; return the status."""
    k7, wanted = CT.block(mem, K7), mem[CT.H_NEXT]
    h, failed = CT.limited(mem, wanted, t_limit), CT.STEP_TOO_SMALL
    for attempt in range(CT.MAX_REJECTIONS):
        if CT.too_small(mem[CT.T_NEW], h):
            break
        t_end = CT.end_time(mem, h, t_limit)
        status = stages(mem, rhs, context, h)
        if status == 0:
            status = CT.evaluate(k7, mem, rhs, context, t_end, CT.block(mem, STAGE))
        error = error_of(mem, h, k7) if status == 0 else math.inf
        if error <= 1.0:
            factor = SAFETY * mem[LAST_ERROR] ** BETA / max(error, 1e-10) ** (0.2 - 0.75 * BETA)
            h_next = h * min(max(factor, SHRINK), 1.0 if attempt > 0 else GROW)
            # a step that a limit cut short says nothing against the step planned before
            mem[CT.H_NEXT] = max(h_next, wanted) if attempt == 0 and h < wanted else h_next
            mem[LAST_ERROR] = max(error, 1e-4)
            estimate_stiffness(mem, h, k7)
            commit(mem, t_end, h, k7)
            return CT.OK
        mem[CT.REJECTED] += 1.0
        failed = status if status != 0 else CT.STEP_TOO_SMALL
        h *= max(SHRINK, SAFETY / error ** (0.2 - 0.75 * BETA)) if error < math.inf else SHRINK
        clear_stages(mem)
    return failed


@kernel
def rk45_interpolate(out, mem, t):
    """Compute the state at t inside the last RK45 step by its dense output of order 4."""
    y_old, y_new, f_old, f_new, d = (
        CT.block(mem, CT.Y_OLD),
        CT.block(mem, CT.Y_NEW),
        CT.block(mem, CT.F_OLD),
        CT.block(mem, CT.F_NEW),
        CT.block(mem, DENSE_4),
    )
    h = mem[CT.H]
    if h == 0.0:
        CT.copy(out, y_new)
        return
    s = (t - mem[CT.T_OLD]) / h
    r = 1.0 - s
    for i in range(len(y_new)):
        rise = y_new[i] - y_old[i]
        bow = h * f_old[i] - rise
        out[i] = y_old[i] + s * (rise + r * (bow + s * (rise - h * f_new[i] - bow + r * d[i])))


KERNELS = Kernels(
    rk45_size, rk45_start, rk45_restart, rk45_changed, rk45_changed, rk45_step, rk45_interpolate
)
