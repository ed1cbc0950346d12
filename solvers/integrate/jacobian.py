"""Jacobian df/dy by forward differences: one evaluation for each state that the rates depend on.

The increment of y_j is sqrt(eps) times the largest of |y_j|, its change |h f_j| in a step and
atol_j/rtol, below which y_j does not matter; it has the sign of f_j.
"""

import math

from kinetree.solvers.integrate.controller import (
    ATOL,
    F_NEW,
    H_NEXT,
    JACOBIANS,
    PASSIVE,
    RTOL,
    T_NEW,
    Y_NEW,
    block,
    evaluate,
)
from kinetree.solvers.kernel import kernel

ROOT_EPS = 1.4901161193847656e-08
SMALLEST = 1e-10  # magnitude assumed for a state that is zero and has no absolute tolerance
POWERS = 6  # products with the Jacobian for the estimate of its spectral radius


@kernel
def numerical_jacobian(jacobian, mem, rhs, context, trial):
    """Compute the Jacobian df/dy (n x n, row by row) at T_NEW, Y_NEW, F_NEW by forward differences;
    overwrites trial (2n). Return the status.
    """
    y, f, atol = block(mem, Y_NEW), block(mem, F_NEW), block(mem, ATOL)
    n = len(y)
    y_trial, f_trial = trial[:n], trial[n : 2 * n]
    mem[JACOBIANS] += 1.0
    for i in range(n):
        y_trial[i] = y[i]
    active = n - int(mem[PASSIVE])
    for i in range(n):
        for j in range(active, n):
            jacobian[i * n + j] = 0.0
    for j in range(active):
        size = max(abs(y[j]), abs(mem[H_NEXT] * f[j]), atol[j] / mem[RTOL], SMALLEST)
        y_trial[j] = y[j] + math.copysign(ROOT_EPS * size, f[j])
        status = evaluate(f_trial, mem, rhs, context, mem[T_NEW], y_trial)
        if status != 0:
            y_trial[j] = y[j] - math.copysign(ROOT_EPS * size, f[j])
            status = evaluate(f_trial, mem, rhs, context, mem[T_NEW], y_trial)
            if status != 0:
                return status
        inverse = 1.0 / (y_trial[j] - y[j])
        for i in range(n):
            jacobian[i * n + j] = (f_trial[i] - f[i]) * inverse
        y_trial[j] = y[j]
    return 0


@kernel
def spectral_radius(jacobian, n, trial):
    """Estimate the largest |eigenvalue| by power iteration with the Jacobian, from the last two
    growth factors; overwrites trial (2n).
    """
    a, b = trial[:n], trial[n : 2 * n]
    for i in range(n):
        a[i] = 1.0 + 0.37 * (i % 5)
    growth, last = 0.0, 0.0
    for _ in range(POWERS):
        above, below = 0.0, 0.0
        for i in range(n):
            total, row = 0.0, jacobian[i * n : (i + 1) * n]
            for j in range(n):
                total += row[j] * a[j]
            b[i] = total
            above += total * total
            below += a[i] * a[i]
        last = growth
        growth = math.sqrt(above / below)
        if growth == 0.0:
            return 0.0
        for i in range(n):
            a[i] = b[i] / growth
    return math.sqrt(growth * last)
