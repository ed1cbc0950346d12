"""Fixed-step methods with a fixed cost per step, for real time.

REFRESH = k > 0: Rosenbrock method ROS2 of order 2, L-stable, two evaluations per step, Jacobian and
factors recomputed every k steps; it keeps order 2 with any outdated Jacobian. J. G. Verwer, E. J.
Spee, J. G. Blom, W. Hundsdorfer, SIAM J. Sci. Comput. 20 (1999) 1456. REFRESH = 0: symplectic Euler
method of order 1, u first, then q with the new u; y = (q, u, x).
"""

import math

from kinetree.solvers.integrate import controller as CT
from kinetree.solvers.integrate.dense_output import hermite
from kinetree.solvers.integrate.interface import Kernels
from kinetree.solvers.integrate.jacobian import numerical_jacobian
from kinetree.solvers.integrate.linear_solver import factor, solve
from kinetree.solvers.kernel import kernel

GAMMA = 1.0 - math.sqrt(0.5)
AGE, FACTOR_H = (
    CT.OWN,
    CT.OWN + 1,
)  # steps since the Jacobian was evaluated; step the factors belong to, 0: none
K1, K2, STAGE, SCRATCH, PIVOTS = range(CT.BLOCKS, CT.BLOCKS + 5)
MATRICES_AT = PIVOTS + 1


@kernel
def semi_implicit_size(n):
    """Return the length of the memory `mem` of the semi-implicit methods for n states."""
    return CT.HEADER + MATRICES_AT * n + 2 * n * n


@kernel
def semi_implicit_start(mem, rhs, context, t, y):
    """Start at (t, y) with step H_GIVEN; REFRESH, NQ and NU must have been set. Return the status."""
    CT.begin(mem, t, y)
    mem[CT.ORDER] = 2.0 if mem[CT.REFRESH] > 0.0 else 1.0
    return semi_implicit_restart(mem, rhs, context)


@kernel
def semi_implicit_restart(mem, rhs, context):
    """Restart at T_NEW with the state in Y_NEW and a new Jacobian; return the status."""
    CT.forget(mem)
    CT.anchor_grid(mem)
    mem[AGE] = mem[CT.REFRESH]
    return semi_implicit_changed(mem, rhs, context)


@kernel
def semi_implicit_changed(mem, rhs, context):
    """Evaluate f again after Y_NEW was changed; return the status."""
    return CT.evaluate(
        CT.block(mem, CT.F_NEW), mem, rhs, context, mem[CT.T_NEW], CT.block(mem, CT.Y_NEW)
    )


@kernel
def matrix(mem, j):
    """Return the view of the Jacobian (j = 0) or of its factors (j = 1)."""
    n = int(mem[CT.N])
    at = CT.HEADER + MATRICES_AT * n + j * n * n
    return mem[at : at + n * n]


@kernel
def factorise(mem, h):
    """Factor I - gamma h J; return 1 if it is singular, else 0."""
    n, jacobian, a = int(mem[CT.N]), matrix(mem, 0), matrix(mem, 1)
    for i in range(n * n):
        a[i] = -GAMMA * h * jacobian[i]
    for i in range(n):
        a[i * n + i] += 1.0
    mem[FACTOR_H] = h
    mem[CT.FACTORISATIONS] += 1.0
    return factor(a, CT.block(mem, PIVOTS), n)


@kernel
def refresh(mem, rhs, context, h):
    """Recompute Jacobian and factors if they are due; return the status."""
    n = int(mem[CT.N])
    if mem[AGE] >= mem[CT.REFRESH]:
        at = CT.HEADER + STAGE * n
        status = numerical_jacobian(matrix(mem, 0), mem, rhs, context, mem[at : at + 2 * n])
        if status != 0:
            return status
        mem[AGE] = 0.0
        mem[FACTOR_H] = 0.0
    mem[AGE] += 1.0
    # steps on the grid t_start + k h differ by rounding only
    if abs(h - mem[FACTOR_H]) > 1e-6 * h and factorise(mem, h) != 0:
        return CT.NO_CONVERGENCE
    return 0


@kernel
def semi_implicit_step(mem, rhs, context, t_limit):
    """Make one step of size H_GIVEN with ROS2 or symplectic Euler; return the status."""
    t_end = CT.grid_time(mem, t_limit)
    h = t_end - mem[CT.T_NEW]
    y_old, y, f_old, f = (
        CT.block(mem, CT.Y_OLD),
        CT.block(mem, CT.Y_NEW),
        CT.block(mem, CT.F_OLD),
        CT.block(mem, CT.F_NEW),
    )
    if mem[CT.REFRESH] > 0.0:
        status = rosenbrock(mem, rhs, context, h)
    else:
        status = symplectic(mem, rhs, context, h)
    if status != 0:
        return status
    CT.copy(y_old, y)
    CT.copy(f_old, f)
    CT.copy(y, CT.block(mem, STAGE))
    CT.accept(mem, t_end, h)
    CT.advance_grid(mem, t_end)
    return CT.evaluate(f, mem, rhs, context, t_end, y)


@kernel
def rosenbrock(mem, rhs, context, h):
    """Compute the new state of one Rosenbrock step (ROS2) into STAGE; return the status."""
    status = refresh(mem, rhs, context, h)
    if status != 0:
        return status
    y, f, k1, k2, stage = (
        CT.block(mem, CT.Y_NEW),
        CT.block(mem, CT.F_NEW),
        CT.block(mem, K1),
        CT.block(mem, K2),
        CT.block(mem, STAGE),
    )
    n = len(y)
    CT.copy(k1, f)
    solve(matrix(mem, 1), CT.block(mem, PIVOTS), n, k1)
    for i in range(n):
        stage[i] = y[i] + h * k1[i]
    status = CT.evaluate(k2, mem, rhs, context, mem[CT.T_NEW] + h, stage)
    if status != 0:
        return status
    for i in range(n):
        k2[i] -= 2.0 * k1[i]
    solve(matrix(mem, 1), CT.block(mem, PIVOTS), n, k2)
    for i in range(n):
        stage[i] = y[i] + h * (1.5 * k1[i] + 0.5 * k2[i])
    return 0


@kernel
def symplectic(mem, rhs, context, h):
    """Compute the new state of one symplectic Euler step into STAGE; return the status."""
    y, f, rate, stage, nq, nu = (
        CT.block(mem, CT.Y_NEW),
        CT.block(mem, CT.F_NEW),
        CT.block(mem, K1),
        CT.block(mem, STAGE),
        int(mem[CT.NQ]),
        int(mem[CT.NU]),
    )
    for i in range(len(y)):
        stage[i] = y[i] + h * f[i] if i >= nq else y[i]
    if nq == nu:
        for i in range(nq):
            stage[i] += h * stage[nq + i]
        return 0
    status = CT.evaluate(
        rate, mem, rhs, context, mem[CT.T_NEW], stage
    )  # q' of quaternions depends on q and u
    for i in range(nq):
        stage[i] += h * rate[i]
    return status


@kernel
def semi_implicit_interpolate(out, mem, t):
    """Compute the state at t inside the last step by cubic Hermite interpolation."""
    hermite(out, mem, t)


KERNELS = Kernels(
    semi_implicit_size,
    semi_implicit_start,
    semi_implicit_restart,
    semi_implicit_changed,
    semi_implicit_changed,
    semi_implicit_step,
    semi_implicit_interpolate,
)
