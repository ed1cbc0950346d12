"""Dense output of one-step methods by Hermite polynomials, and the run of any method over a list of output times.

Cubic on (y_old, f_old, y_new, f_new): error h^4 y''''/384, order 4 globally for methods of order >= 3.
"""

from kinetree.solvers.integrate.controller import F_NEW, F_OLD, OK, STEPS, T_NEW, T_OLD, TOO_MANY_STEPS, Y_NEW, Y_OLD, H, block, copy, state_of
from kinetree.solvers.kernel import kernel


@kernel
def hermite(out, mem, t):
    """State at t inside the last step, cubic Hermite polynomial."""
    y_old, y_new, f_old, f_new = block(mem, Y_OLD), block(mem, Y_NEW), block(mem, F_OLD), block(mem, F_NEW)
    h = mem[H]
    if h == 0.0:
        copy(out, y_new)
        return
    s = (t - mem[T_OLD]) / h
    r = s - 1.0
    for i in range(len(y_new)):
        rise = y_new[i] - y_old[i]
        out[i] = y_new[i] + r * rise + s * r * ((1.0 - 2.0 * s) * rise + h * (r * f_old[i] + s * f_new[i]))


@kernel
def sample(out, times, start, step, interpolate, mem, rhs, context, t, y, max_steps):
    """Integrate from (t, y) and write the state at the ascending `times` to the rows of flat `out`; options are set in `mem` before."""
    n = len(y)
    status = start(mem, rhs, context, t, y)
    if status != 0:
        return status
    for k in range(len(times)):
        while mem[T_NEW] < times[k]:
            if mem[STEPS] >= max_steps:
                return TOO_MANY_STEPS
            status = step(mem, rhs, context, times[len(times) - 1])
            if status != 0:
                return status
        row = out[k * n : (k + 1) * n]
        if times[k] == mem[T_NEW]:
            copy(row, state_of(mem))
        else:
            interpolate(row, mem, times[k])
    return OK
