"""The model inside a sampled block: one structure of a mechanism in memory of its own, with its
rates and their Jacobian.

States y = (q, u, x) are divided by `sizes`, so that matrices are well scaled. Rates are dy/dt =
f(y, v, t) with commands v, inputs of the model. Over a step h with constant v the linearised
equations are solved exactly (exponential Rosenbrock-Euler method: exact for linear equations,
otherwise of second order, stable for any stiffness):

    y(t + h) = y + h phi(h F) f,   A = exp(h F),   B = h phi(h F) G,   phi(Z) = (exp(Z) - 1)/Z,   F = df/dy, G = df/dv

Functions of time are evaluated in the middle of the step.
"""

import math

from kinetree.solvers.engine.derived_constants import prepare
from kinetree.solvers.engine.evaluation import finish, load, tell
from kinetree.solvers.engine.kinematics import velocities
from kinetree.solvers.engine.reactions import reactions
from kinetree.solvers.instance.derivatives import coordinate_rates
from kinetree.solvers.kernel import kernel
from kinetree.solvers.loops.constrained_accelerations import accelerations_of

DIFFERENCE = 1e-7  # step of one-sided differences, of the size of a number
CENTRAL = 5e-6  # step to both sides
LONGEST_STEP = 0.25  # of h F in one series; longer steps are halved until they are shorter
LEAST_TERM = 1e-17


@kernel
def makes_constants(model, register):
    """Return whether constants depend on a register: a parameter, locked coordinate or start time,
    but not an input or state.
    """
    inputs = model.header.r_inputs
    is_input = inputs <= register and register < inputs + model.header.inputs
    return register < model.header.r_q and not is_input


@kernel
def take_registers(model, ws, outer, pairs, count, first):
    """Copy parameters, inputs and locked coordinates from the outer model; derive constants again
    if parameters changed or at the `first` call. Return the status.
    """
    changed = first
    for k in range(count):
        value, inside = outer[pairs[2 * k]], pairs[2 * k + 1]
        if ws.val[inside] != value:
            ws.val[inside] = value
            changed = changed or makes_constants(model, inside)
    return prepare(model, ws) if changed else 0


@kernel
def put_inner(ws, y, sizes):
    """Copy a scaled state to q, u, x of the inner model."""
    nq, nu = ws.q.size, ws.u.size
    for k in range(nq):
        ws.q[k] = y[k] * sizes[k]
    for k in range(nu):
        ws.u[k] = y[nq + k] * sizes[nq + k]
    for k in range(ws.x.size):
        ws.x[k] = y[nq + nu + k] * sizes[nq + nu + k]


@kernel
def take_inner(y, ws, sizes):
    """Copy q, u, x of the inner model to a scaled state."""
    nq, nu = ws.q.size, ws.u.size
    for k in range(nq):
        y[k] = ws.q[k] / sizes[k]
    for k in range(nu):
        y[nq + k] = ws.u[k] / sizes[nq + k]
    for k in range(ws.x.size):
        y[nq + nu + k] = ws.x[k] / sizes[nq + nu + k]


@kernel
def evaluate_inner(f, model, ws, t, y, sizes):
    """Compute the scaled rates f at the scaled state y; outputs are left in their registers. Return
    the status.
    """
    put_inner(ws, y, sizes)
    status = load(model, ws, t)
    if status == 0:
        status = accelerations_of(model, ws)
    if status == 0:
        if model.header.reactions == 1:
            reactions(model, ws)
        velocities(model, ws)
        status = finish(model, ws)
        tell(model, ws)
        coordinate_rates(f, model, ws)
    nq, nu = ws.q.size, ws.u.size
    for k in range(nu):
        f[nq + k] = ws.udot[k]
    for k in range(ws.x.size):
        f[nq + nu + k] = ws.xdot[k]
    for k in range(nq + nu + ws.x.size):
        f[k] /= sizes[k]
    return status


@kernel
def read_registers(out, ws, registers, count):
    """Copy `count` registers to `out`; NaN for a register that does not exist (-1)."""
    for k in range(count):
        out[k] = ws.val[registers[k]] if registers[k] >= 0 else math.nan


@kernel
def put_number(model, ws, y, j, n, register, value):
    """Write entry j of the state or, from n on, a register, and derive constants again if they
    depend on it; return the status.
    """
    if j < n:
        y[j] = value
        return 0
    ws.val[register] = value
    return prepare(model, ws) if makes_constants(model, register) else 0


@kernel
def write_slopes(by_state, by_registers, j, n, m, above, below, h, count):
    """Write column j of a Jacobian, the derivatives of `count` values by state j or, from n on, by
    a register, from the values `above` and `below` at distance h.
    """
    for i in range(count):
        slope = (above[i] - below[i]) / h
        if j < n:
            by_state[i * n + j] = slope
        else:
            by_registers[i * m + j - n] = slope


@kernel
def linearise(
    F,
    G,
    C,
    D,
    f,
    out,
    model,
    ws,
    t,
    y,
    sizes,
    n,
    registers,
    register_sizes,
    m,
    outputs,
    count,
    central,
    scratch,
):
    """Compute the Jacobians of rates and outputs by the scaled state (F, C) and by registers (G, D)
    at the state of `f` and `out`; return the status.

    One-sided differences use f and out, `central` ones do not. Rows of F, G are rates, rows of C, D
    outputs (a list of registers). `scratch` holds 2 (n + count) numbers.
    """
    above, seen = scratch, scratch[n:]
    below, other = scratch[n + count :], scratch[2 * n + count :]
    for i in range(n):
        below[i] = f[i]
    for i in range(count):
        other[i] = out[i]
    status = 0
    for j in range(n + m):
        register = registers[max(j - n, 0)]
        kept = y[j] if j < n else ws.val[register]
        size = max(1.0, abs(y[j])) if j < n else register_sizes[j - n]
        h = (CENTRAL if central else DIFFERENCE) * size
        if central:
            status = max(status, put_number(model, ws, y, j, n, register, kept - h))
            status = max(status, evaluate_inner(below, model, ws, t, y, sizes))
            read_registers(other, ws, outputs, count)
        status = max(status, put_number(model, ws, y, j, n, register, kept + h))
        status = max(status, evaluate_inner(above, model, ws, t, y, sizes))
        read_registers(seen, ws, outputs, count)
        status = max(status, put_number(model, ws, y, j, n, register, kept))
        if status != 0:
            return status
        h = 2.0 * h if central else h
        write_slopes(F, G, j, n, m, above, below, h, n)
        write_slopes(C, D, j, n, m, seen, other, h, count)
    return status


@kernel
def multiply(out, A, B, rows, inner, columns):
    """Compute out = A B, where A is rows by inner and B inner by columns."""
    for i in range(rows):
        for j in range(columns):
            out[i * columns + j] = 0.0
        for k in range(inner):
            a = A[i * inner + k]
            if a != 0.0:
                for j in range(columns):
                    out[i * columns + j] += a * B[k * columns + j]


@kernel
def exponential(A, P, F, n, h, scratch):
    """Compute A = exp(h F) and P = h phi(h F); `scratch` holds 2 n n numbers."""
    largest = 0.0
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += abs(F[i * n + j])
        largest = max(largest, total)
    halvings, s = 0, h
    while largest * s > LONGEST_STEP and halvings < 60:
        s *= 0.5
        halvings += 1
    term, other = scratch, scratch[n * n :]
    for k in range(n * n):
        term[k], P[k] = 0.0, 0.0
    for i in range(n):
        term[i * n + i], P[i * n + i] = s, s
    size, order = s, 1.0
    while size > LEAST_TERM * s and order < 30.0:  # terms s (s F)^(k-1)/k!
        order += 1.0
        multiply(other, term, F, n, n, n)
        size = 0.0
        for i in range(n * n):
            term[i] = other[i] * s / order
            P[i] += term[i]
            size = max(size, abs(term[i]))
    multiply(A, P, F, n, n, n)
    for i in range(n):
        A[i * n + i] += 1.0
    for _ in range(halvings):  # P(2 h) = P + A P, A(2 h) = A A
        multiply(other, A, P, n, n, n)
        for i in range(n * n):
            P[i] += other[i]
        multiply(other, A, A, n, n, n)
        for i in range(n * n):
            A[i] = other[i]
