"""Classical Runge-Kutta method of order 4 with fixed step: four evaluations per step, one of them shared with the dense output.

A step starts at t_start + k h, so that time never drifts; the last step before a hard limit is shortened.
"""

from kinetree.solvers.integrate.controller import (
    BLOCKS,
    F_NEW,
    F_OLD,
    HEADER,
    ORDER,
    T_NEW,
    Y_NEW,
    Y_OLD,
    accept,
    advance_grid,
    anchor_grid,
    begin,
    block,
    copy,
    evaluate,
    forget,
    grid_time,
)
from kinetree.solvers.integrate.dense_output import hermite
from kinetree.solvers.integrate.interface import Kernels
from kinetree.solvers.kernel import kernel

K2, K3, K4, STAGE = range(BLOCKS, BLOCKS + 4)


@kernel
def rk4_size(n):
    """Length of `mem`."""
    return HEADER + (BLOCKS + 4) * n


@kernel
def rk4_start(mem, rhs, context, t, y):
    """Begin at (t, y) with step H_GIVEN."""
    begin(mem, t, y)
    mem[ORDER] = 4.0
    return rk4_restart(mem, rhs, context)


@kernel
def rk4_restart(mem, rhs, context):
    """Begin anew at T_NEW with the state in Y_NEW."""
    forget(mem)
    anchor_grid(mem)
    return rk4_changed(mem, rhs, context)


@kernel
def rk4_changed(mem, rhs, context):
    """Refresh f after Y_NEW was changed."""
    return evaluate(block(mem, F_NEW), mem, rhs, context, mem[T_NEW], block(mem, Y_NEW))


@kernel
def rk4_step(mem, rhs, context, t_limit):
    """One step of size H_GIVEN."""
    t, t_end = mem[T_NEW], grid_time(mem, t_limit)
    h = t_end - t
    y_old, y, f_old, f = block(mem, Y_OLD), block(mem, Y_NEW), block(mem, F_OLD), block(mem, F_NEW)
    k2, k3, k4, stage = block(mem, K2), block(mem, K3), block(mem, K4), block(mem, STAGE)
    for i in range(len(y)):
        stage[i] = y[i] + 0.5 * h * f[i]
    status = evaluate(k2, mem, rhs, context, t + 0.5 * h, stage)
    if status != 0:
        return status
    for i in range(len(y)):
        stage[i] = y[i] + 0.5 * h * k2[i]
    status = evaluate(k3, mem, rhs, context, t + 0.5 * h, stage)
    if status != 0:
        return status
    for i in range(len(y)):
        stage[i] = y[i] + h * k3[i]
    status = evaluate(k4, mem, rhs, context, t_end, stage)
    if status != 0:
        return status
    copy(y_old, y)
    copy(f_old, f)
    for i in range(len(y)):
        y[i] += h / 6.0 * (f_old[i] + 2.0 * (k2[i] + k3[i]) + k4[i])
    accept(mem, t_end, h)
    advance_grid(mem, t_end)
    return evaluate(f, mem, rhs, context, t_end, y)


@kernel
def rk4_interpolate(out, mem, t):
    """State at t inside the last step."""
    hermite(out, mem, t)


KERNELS = Kernels(rk4_size, rk4_start, rk4_restart, rk4_changed, rk4_changed, rk4_step, rk4_interpolate)
