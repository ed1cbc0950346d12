"""Dense output of one-step methods by cubic Hermite polynomials, and a loop of any method over
given output times.

Cubic on (y_old, f_old, y_new, f_new): error h^4 y''''/384, global order 4 for methods of order >=
3.
"""

from kinetree.solvers.integrate import controller as CT
from kinetree.solvers.kernel import kernel


@kernel
def hermite(out, mem, t):
    """Compute the state at t inside the last step by cubic Hermite interpolation."""
    y_old, y_new, f_old, f_new = (
        CT.block(mem, CT.Y_OLD),
        CT.block(mem, CT.Y_NEW),
        CT.block(mem, CT.F_OLD),
        CT.block(mem, CT.F_NEW),
    )
    h = mem[CT.H]
    if h == 0.0:
        CT.copy(out, y_new)
        return
    s = (t - mem[CT.T_OLD]) / h
    r = s - 1.0
    for i in range(len(y_new)):
        rise = y_new[i] - y_old[i]
        out[i] = (
            y_new[i]
            + r * rise
            + s * r * ((1.0 - 2.0 * s) * rise + h * (r * f_old[i] + s * f_new[i]))
        )


@kernel
def sample(out, times, start, step, interpolate, mem, rhs, context, t, y, max_steps):
    """Integrate from (t, y) and write the state at the ascending `times` to the rows of flat `out`;
    options must have been set in `mem`. Return the status.
    """
    n = len(y)
    status = start(mem, rhs, context, t, y)
    if status != 0:
        return status
    for k in range(len(times)):
        while mem[CT.T_NEW] < times[k]:
            if mem[CT.STEPS] >= max_steps:
                return CT.TOO_MANY_STEPS
            status = step(mem, rhs, context, times[len(times) - 1])
            if status != 0:
                return status
        row = out[k * n : (k + 1) * n]
        if times[k] == mem[CT.T_NEW]:
            CT.copy(row, CT.state_of(mem))
        else:
            interpolate(row, mem, times[k])
    return CT.OK
