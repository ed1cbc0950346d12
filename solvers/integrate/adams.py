"""Adams method of variable step and order 1 to 12, predict-evaluate-correct-evaluate with local
extrapolation: two evaluations per step.

f is represented by modified divided differences phi_i = psi_1 ... psi_{i-1} f[t_n, ..., t_{n-i+1}],
psi_i = t_n - t_{n-i}, so that a step of any size costs one pass over them. Algorithm of L. F.
Shampine, M. K. Gordon, Computer Solution of Ordinary Differential Equations, 1975, chapters 5, 6
and 10 (subroutine STEP of DEABM), with compensated sums of y in twice the working precision and a
dense output that is continuously differentiable.
"""

import math

from kinetree.solvers.integrate import controller as CT
from kinetree.solvers.integrate.adams_coefficients import (
    CONSTANT,
    DENSE_INTEGRAL,
    F_PREDICTED,
    INTEGRAL,
    LAST_H,
    MISMATCH,
    PHI,
    PREDICTED,
    PSI,
    RISING,
    SUM_ERROR,
    SUM_ERROR_TRIAL,
    WANTED_ORDER,
    W,
    coefficients,
    integrals_to,
    memory_size,
    table,
)
from kinetree.solvers.integrate.adams_differences import (
    errors,
    next_step,
    predict,
    select_order,
    take_back,
    update_differences,
)
from kinetree.solvers.integrate.interface import Kernels
from kinetree.solvers.kernel import kernel

STIFF_ORDER, STIFF_RATE = (
    5,
    0.2,
)  # order up to which, and h*LIPSCHITZ from which on, stability may limit the step


@kernel
def adams_size(n):
    """Return the length of the memory `mem` of the Adams method for n states."""
    return memory_size(n)


@kernel
def adams_start(mem, rhs, context, t, y):
    """Start the Adams method at (t, y); return the status."""
    CT.begin(mem, t, y)
    return adams_restart(mem, rhs, context)


@kernel
def adams_restart(mem, rhs, context):
    """Restart the Adams method at T_NEW with the state in Y_NEW and order 1; return the status."""
    CT.forget(mem)
    f, phi_1, phi_2, lost = (
        CT.block(mem, CT.F_NEW),
        CT.block(mem, PHI + 1),
        CT.block(mem, PHI + 2),
        CT.block(mem, SUM_ERROR),
    )
    status = CT.evaluate(f, mem, rhs, context, mem[CT.T_NEW], CT.block(mem, CT.Y_NEW))
    if status != 0:
        return status
    for i in range(len(f)):
        phi_1[i] = f[i]
        phi_2[i] = 0.0
        lost[i] = 0.0
    mem[CT.H_NEXT] = CT.first_step(
        mem, rhs, context, 1, CT.block(mem, PREDICTED), CT.block(mem, F_PREDICTED)
    )
    mem[WANTED_ORDER] = 1.0
    mem[CT.ORDER] = 0.0
    mem[LAST_H] = 0.0
    mem[CONSTANT] = 0.0
    mem[RISING] = 1.0
    return CT.OK


@kernel
def estimate_stiffness(mem, h):
    """Estimate the dominant eigenvalue from the two evaluations of the step and count steps that stability seems to limit."""
    y, p, f, fp, atol = (
        CT.block(mem, CT.Y_NEW),
        CT.block(mem, PREDICTED),
        CT.block(mem, CT.F_NEW),
        CT.block(mem, F_PREDICTED),
        CT.block(mem, CT.ATOL),
    )
    above, below = 0.0, 0.0
    for i in range(len(y)):
        weight = 1.0 / (atol[i] + mem[CT.RTOL] * abs(y[i]))
        above += (weight * (f[i] - fp[i])) ** 2
        below += (weight * (y[i] - p[i])) ** 2
    if below > 1e-8 * len(y):  # less is rounding
        mem[CT.LIPSCHITZ] = math.sqrt(above / below)
    CT.count_stiff(
        mem,
        mem[CT.ORDER] <= STIFF_ORDER and h * mem[CT.LIPSCHITZ] > STIFF_RATE and mem[RISING] == 0.0,
    )


@kernel
def adams_changed(mem, rhs, context):
    """Refresh f and its differences after a small change of Y_NEW: a change of the newest f enters
    every difference equally.
    """
    f, trial, lost = CT.block(mem, CT.F_NEW), CT.block(mem, F_PREDICTED), CT.block(mem, SUM_ERROR)
    status = CT.evaluate(trial, mem, rhs, context, mem[CT.T_NEW], CT.block(mem, CT.Y_NEW))
    if status != 0:
        return status
    last = 1 if mem[CT.FRESH] == 1.0 else int(mem[CT.ORDER]) + 2
    for j in range(1, last + 1):
        phi = CT.block(mem, PHI + j)
        for i in range(len(f)):
            phi[i] += trial[i] - f[i]
    if mem[CT.LATE] != 0.0 and mem[CT.FRESH] == 0.0:
        estimate_stiffness(mem, mem[CT.H])
    CT.copy(f, trial)
    for i in range(len(f)):
        lost[i] = 0.0
    mem[CT.DENSE] = 0.0
    return CT.OK


@kernel
def correct(mem, rhs, context, t_end, h):
    """Correct y with one order more than the prediction and evaluate again, unless that is left to
    `changed`. Y_OLD and F_OLD keep the start of the step.
    """
    y, y_old, f, f_old = (
        CT.block(mem, CT.Y_NEW),
        CT.block(mem, CT.Y_OLD),
        CT.block(mem, CT.F_NEW),
        CT.block(mem, CT.F_OLD),
    )
    p, fp, phi_1 = CT.block(mem, PREDICTED), CT.block(mem, F_PREDICTED), CT.block(mem, PHI + 1)
    lost, lost_trial = CT.block(mem, SUM_ERROR), CT.block(mem, SUM_ERROR_TRIAL)
    weight = h * table(mem, INTEGRAL)[int(mem[WANTED_ORDER]) + 1]
    CT.copy(y_old, y)
    CT.copy(f_old, f)
    for i in range(len(y)):
        y[i] = p[i] + (weight * (fp[i] - phi_1[i]) - lost_trial[i])
    if mem[CT.LATE] != 0.0:
        CT.copy(f, fp)
    status = CT.evaluate_end(f, mem, rhs, context, t_end, y)
    if status != 0:
        CT.copy(y, y_old)
        CT.copy(f, f_old)
        return status
    for i in range(len(y)):
        rise = weight * (fp[i] - phi_1[i]) - lost_trial[i]
        lost[i] = (y[i] - p[i]) - rise
    return status


@kernel
def adams_step(mem, rhs, context, t_limit):
    """Make one accepted step of the Adams method; return the status."""
    wanted, failed = mem[CT.H_NEXT], CT.STEP_TOO_SMALL
    h = CT.limited(mem, wanted, t_limit)
    for attempt in range(CT.MAX_REJECTIONS):
        if CT.too_small(mem[CT.T_NEW], h):
            break
        t_end = CT.end_time(mem, h, t_limit)
        coefficients(mem, h)
        predict(mem, h)
        k_low, estimate = int(mem[WANTED_ORDER]), math.inf
        status = CT.evaluate(
            CT.block(mem, F_PREDICTED), mem, rhs, context, t_end, CT.block(mem, PREDICTED)
        )
        if status == 0:
            error, estimate, lower, lowest = errors(mem, h)
            k = k_low
            if k > 2 and max(lower, lowest) <= estimate or k == 2 and lower <= 0.5 * estimate:
                k_low = k - 1
            if error <= 1.0:
                status = correct(mem, rhs, context, t_end, h)
                if status == 0:
                    finish(mem, t_end, h, wanted if attempt == 0 else 0.0, estimate, lower, k_low)
                    return status
        failed = status if status != 0 else failed
        h = reject(mem, h, attempt, estimate, k_low)
    mem[CT.H_NEXT] = h
    return failed


@kernel
def finish(mem, t_end, h, wanted, estimate, lower, k_low):
    """Complete an accepted step and choose order and size of the next."""
    update_differences(mem)
    k_next, error = select_order(mem, h, estimate, lower, k_low)
    h_next = next_step(mem, h, error, k_next)
    mem[CT.ORDER] = mem[WANTED_ORDER]
    mem[LAST_H] = h
    mem[WANTED_ORDER] = k_next
    # a step that a limit cut short says nothing against the step planned before
    mem[CT.H_NEXT] = max(h_next, min(wanted, 2.0 * h)) if h < wanted else h_next
    CT.accept(mem, t_end, h)
    if mem[CT.LATE] == 0.0:
        estimate_stiffness(mem, h)


@kernel
def reject(mem, h, attempt, error, k_low):
    """Return to the start of a rejected step and return the new size: half of it; after three
    failures the order becomes 1.
    """
    take_back(mem, h)
    mem[RISING] = 0.0
    mem[CT.REJECTED] += 1.0
    mem[WANTED_ORDER] = k_low if attempt < 2 else 1
    mem[CONSTANT] = 0.0
    factor = 0.5
    if attempt > 2 and 0.5 < 0.25 * error and error < math.inf:
        factor = max(math.sqrt(0.5 / error), 1e-3)
    return factor * h


@kernel
def adams_interpolate(out, mem, t):
    """Compute the state at t inside the last step by the interpolating polynomial."""
    y_old, y, gap, h = (
        CT.block(mem, CT.Y_OLD),
        CT.block(mem, CT.Y_NEW),
        CT.block(mem, MISMATCH),
        mem[CT.H],
    )
    if h == 0.0:
        CT.copy(out, y)
        return
    if mem[CT.DENSE] == 0.0:
        polynomial(gap, mem, -h)
        for i in range(len(gap)):
            gap[i] = y_old[i] - gap[i]
        mem[CT.DENSE] = 1.0
    polynomial(out, mem, t - mem[CT.T_NEW])
    s = (t - mem[CT.T_OLD]) / h
    blend = (1.0 - s) * (1.0 - s) * (1.0 + 2.0 * s)
    for i in range(len(out)):
        out[i] += blend * gap[i]


@kernel
def polynomial(out, mem, distance):
    """Integrate the interpolating polynomial of f from Y_NEW over `distance`; the result goes to
    `out`.
    """
    order = int(mem[CT.ORDER]) + 1
    g, y = table(mem, DENSE_INTEGRAL), CT.block(mem, CT.Y_NEW)
    integrals_to(g, table(mem, W), table(mem, PSI), order, distance)
    for i in range(len(out)):
        out[i] = 0.0
    for j in range(order, 0, -1):
        phi, weight = CT.block(mem, PHI + j), g[j]
        for i in range(len(out)):
            out[i] += weight * phi[i]
    for i in range(len(out)):
        out[i] = y[i] + distance * out[i]


KERNELS = Kernels(
    adams_size,
    adams_start,
    adams_restart,
    adams_changed,
    adams_restart,
    adams_step,
    adams_interpolate,
)
