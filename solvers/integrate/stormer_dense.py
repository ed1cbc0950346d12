"""Dense output of Stormer's method: the polynomial through the last five values of f, integrated
once for u and x and twice for q.

Quaternions are integrated once, like u. The polynomial is made continuously differentiable at the
start of the step; its error is of order h^6, like that of the method.
"""

from kinetree.solvers.integrate.controller import H_GIVEN, T_NEW, Y_NEW, Y_OLD, H, block, copy
from kinetree.solvers.integrate.dense_output import hermite
from kinetree.solvers.integrate.interface import Kernels
from kinetree.solvers.integrate.stormer import (
    HISTORY,
    SPEEDS,
    SUMMED,
    stormer_changed,
    stormer_restart,
    stormer_size,
    stormer_start,
    stormer_step,
)
from kinetree.solvers.kernel import kernel


@kernel
def differences_once(s):
    """Return the integrals of the backward-difference polynomials from 0 to s."""
    return (
        s,
        s * s / 2.0,
        s * s * (s / 3.0 + 0.5) / 2.0,
        s * s * (s * s / 4.0 + s + 1.0) / 6.0,
        s * s * (s * s * s / 5.0 + 1.5 * s * s + 11.0 / 3.0 * s + 3.0) / 24.0,
    )


@kernel
def differences_twice(s):
    """Return the double integrals of the backward-difference polynomials from 0 to s."""
    c = s * s * s
    return (
        s * s / 2.0,
        c / 6.0,
        c * (s / 12.0 + 1.0 / 6.0) / 2.0,
        c * (s * s / 20.0 + s / 4.0 + 1.0 / 3.0) / 6.0,
        c * (c / 30.0 + 0.3 * s * s + 11.0 / 12.0 * s + 1.0) / 24.0,
    )


@kernel
def to_ordinates(d):
    """Return the weights of f_n .. f_{n-4} that correspond to the weights d of the backward
    differences.
    """
    return (
        d[0] + d[1] + d[2] + d[3] + d[4],
        -(d[1] + 2.0 * d[2] + 3.0 * d[3] + 4.0 * d[4]),
        d[2] + 3.0 * d[3] + 6.0 * d[4],
        -(d[3] + 4.0 * d[4]),
        d[4],
    )


@kernel
def add_polynomial(out, mem, s, factor):
    """Add `factor` times the state at t_n + s h to `out`."""
    h, y, speeds = mem[H_GIVEN], block(mem, Y_NEW), block(mem, SPEEDS)
    a, b = to_ordinates(differences_once(s)), to_ordinates(differences_twice(s))
    f0, f1, f2, f3, f4 = (
        block(mem, HISTORY),
        block(mem, HISTORY + 1),
        block(mem, HISTORY + 2),
        block(mem, HISTORY + 3),
        block(mem, HISTORY + 4),
    )
    for i in range(len(y)):
        k = int(speeds[i])
        if k == 0:
            rates = a[0] * f0[i] + a[1] * f1[i] + a[2] * f2[i] + a[3] * f3[i] + a[4] * f4[i]
            out[i] += factor * (y[i] + h * rates)
        else:
            rates = b[0] * f0[k] + b[1] * f1[k] + b[2] * f2[k] + b[3] * f3[k] + b[4] * f4[k]
            out[i] += factor * (y[i] + s * h * y[k] + h * h * rates)


@kernel
def stormer_interpolate(out, mem, t):
    """Compute the state at t inside the last Stormer step by its dense output."""
    y_old, h, last = block(mem, Y_OLD), mem[H_GIVEN], mem[H]
    if last == 0.0:
        copy(out, block(mem, Y_NEW))
    elif mem[SUMMED] == 0.0:
        hermite(out, mem, t)
    else:
        s = (t - mem[T_NEW]) / last
        blend = s * s * (3.0 + 2.0 * s)
        for i in range(len(out)):
            out[i] = blend * y_old[i]
        add_polynomial(out, mem, s * last / h, 1.0)
        add_polynomial(out, mem, -last / h, -blend)


KERNELS = Kernels(
    stormer_size,
    stormer_start,
    stormer_restart,
    stormer_changed,
    stormer_restart,
    stormer_step,
    stormer_interpolate,
)
