"""Classical Runge-Kutta method of order 4 with fixed step: four evaluations per step, one of them
shared with the dense output.

Steps start at t_start + k h, so that rounding of the time does not accumulate; the last step before
a hard limit is shortened.
"""

from kinetree.solvers.integrate import controller as CT
from kinetree.solvers.integrate.dense_output import hermite
from kinetree.solvers.integrate.interface import Kernels
from kinetree.solvers.kernel import kernel

K2, K3, K4, STAGE = range(CT.BLOCKS, CT.BLOCKS + 4)


@kernel
def rk4_size(n):
    """Return the length of the memory `mem` of the RK4 method for n states."""
    return CT.HEADER + (CT.BLOCKS + 4) * n


@kernel
def rk4_start(mem, rhs, context, t, y):
    """Start the RK4 method at (t, y) with step H_GIVEN; return the status."""
    CT.begin(mem, t, y)
    mem[CT.ORDER] = 4.0
    return rk4_restart(mem, rhs, context)


@kernel
def rk4_restart(mem, rhs, context):
    """Restart the RK4 method at T_NEW with the state in Y_NEW; return the status."""
    CT.forget(mem)
    CT.anchor_grid(mem)
    return rk4_changed(mem, rhs, context)


@kernel
def rk4_changed(mem, rhs, context):
    """Evaluate f again after Y_NEW was changed; return the status."""
    return CT.evaluate(
        CT.block(mem, CT.F_NEW), mem, rhs, context, mem[CT.T_NEW], CT.block(mem, CT.Y_NEW)
    )


@kernel
def rk4_step(mem, rhs, context, t_limit):
    """Make one RK4 step of size H_GIVEN; return the status."""
    t_end = CT.grid_time(mem, t_limit)
    h = t_end - mem[CT.T_NEW]
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
    return CT.evaluate_end(f, mem, rhs, context, t_end, y)


@kernel
def runge_kutta(mem, rhs, context, h, t_end):
    """Compute the state after a step of size h into STAGE with three evaluations (F_NEW is known);
    return the status.
    """
    t, y, f, stage = (
        mem[CT.T_NEW],
        CT.block(mem, CT.Y_NEW),
        CT.block(mem, CT.F_NEW),
        CT.block(mem, STAGE),
    )
    k2, k3, k4 = CT.block(mem, K2), CT.block(mem, K3), CT.block(mem, K4)
    for i in range(len(y)):
        stage[i] = y[i] + 0.5 * h * f[i]
    status = CT.evaluate(k2, mem, rhs, context, t + 0.5 * h, stage)
    if status != 0:
        return status
    for i in range(len(y)):
        stage[i] = y[i] + 0.5 * h * k2[i]
    status = CT.evaluate(k3, mem, rhs, context, t + 0.5 * h, stage)
    if status != 0:
        return status
    for i in range(len(y)):
        stage[i] = y[i] + h * k3[i]
    status = CT.evaluate(k4, mem, rhs, context, t_end, stage)
    if status != 0:
        return status
    for i in range(len(y)):
        stage[i] = y[i] + h / 6.0 * (f[i] + 2.0 * (k2[i] + k3[i]) + k4[i])
    return 0


@kernel
def rk4_interpolate(out, mem, t):
    """Compute the state at t inside the last step by cubic Hermite interpolation."""
    hermite(out, mem, t)


KERNELS = Kernels(
    rk4_size, rk4_start, rk4_restart, rk4_changed, rk4_changed, rk4_step, rk4_interpolate
)
