"""Nonlinear model predictive control: a planned sequence of commands, improved by Gauss-Newton
steps at every sample.

One step (real-time iteration, M. Diehl et al., J. Process Control 12 (2002) 577): the plan of the
sample before is shifted, the trajectory is predicted and linearised along it, the states are
eliminated, and a quadratic program with bounds on commands, their rates and soft output limits is
solved. Objective over the horizon of N steps h, errors e, commands v, excess s over soft limits:

    Σ_k h (Σ w e² + Σ r (v - target)² + Σ d ((v_k - v_(k-1))/h)² + Σ c s²) + final
"""

import math

from kinetree.solvers.instance.actuator_probes import latch_actuators
from kinetree.solvers.instance.memory import clear_workspace
from kinetree.solvers.kernel import kernel
from kinetree.solvers.layout import Status
from kinetree.solvers.sampled.block_layout import (
    HIGH,
    LOW,
    PER_COMMAND,
    PER_ERROR,
    PER_LIMIT,
    RATE,
    RATE_WEIGHT,
    TARGET,
    TIMES,
    WEIGHT,
)
from kinetree.solvers.sampled.inner_model import (
    evaluate_inner,
    exponential,
    linearise,
    multiply,
    read_registers,
    take_registers,
)
from kinetree.solvers.sampled.quadratic_program import NOT_SOLVED, solve_program
from kinetree.solvers.views import model_view, predictive_at, work_view

LEAST_CURVATURE = 1e-12  # of the largest entry of the Hessian's diagonal, added to all
NONE = 1e300  # a bound that is none
SOFTEST = 1e-30  # least stiffness of a soft limit; a softer one is none


@kernel
def plan_commands(I, F, W, outer, block, t):
    """Improve the planned commands from the state of the outer model; write the first of them and
    the number of factorisations used. Return the status.
    """
    c = predictive_at(I[block.own :], 0)
    memory, ints = W[I.at_blocks + block.work :], I[block.ints :]
    model, ws = model_view(ints, F[block.floats :]), work_view(ints, memory[c.at_inner :])
    sizes, reads, gives = F[block.numbers :], I[block.reads :], I[block.gives :]
    first = memory[0] == 0.0
    if first:
        clear_workspace(model, ws, memory[c.at_inner :])
        memory[0] = 1.0
    status = take_registers(model, ws, outer.val, I[c.pairs :], c.copied, first)
    take_state(c, memory, outer, reads, sizes)
    for j in range(c.m):
        ws.val[I[c.commands + j]] = memory[c.at_last + j]
    if status == 0:
        status = evaluate_inner(memory[c.at_rates :], model, ws, t, memory[c.at_state :], sizes)
    latch_actuators(model, ws)
    delay = ws.val[I[c.settings + 2]]
    shift_plan(c, memory, ws.val[I[c.settings]] / ws.val[I[c.settings + 1]], first)
    work, count = 0, 0
    while status == 0 and count < c.passes:
        count += 1
        take_state(c, memory, outer, reads, sizes)
        if delay > 0.0:
            status = wait(I, c, memory, model, ws, t, delay, sizes)
        if status == 0:
            status = predict(I, c, memory, model, ws, t + delay, sizes)
        if status == 0:
            work = improve(c, memory, sizes[c.n + c.m :])
            status = check_plan(c, memory)
    mechanical = outer.q.size + outer.u.size
    if status == 0:
        for j in range(c.m):
            outer.x[gives[j] - mechanical] = memory[c.at_plan + j]
        outer.x[gives[c.m] - mechanical] = float(work)
    return status


@kernel
def take_state(c, memory, outer, reads, sizes):
    """Copy the state and the previous commands from the outer model."""
    for k in range(c.n):
        value = outer.val[reads[k]] / sizes[k] if reads[k] >= 0 else 0.0
        memory[c.at_state + k] = value
    for j in range(c.m):
        memory[c.at_last + j] = outer.val[reads[c.n + j]]


@kernel
def shift_plan(c, memory, part, first):
    """Shift the planned commands by a fraction of a step towards the present; the first plan
    repeats the previous commands.
    """
    m, N = c.m, c.horizon
    plan = memory[c.at_plan :]
    for k in range(N):
        for j in range(m):
            now, later = plan[k * m + j], plan[min(k + 1, N - 1) * m + j]
            plan[k * m + j] = (
                memory[c.at_last + j] if first else now + min(part, 1.0) * (later - now)
            )


@kernel
def set_commands(I, c, memory, ws, k):
    """Write the commands of step k to the inner model."""
    for j in range(c.m):
        ws.val[I[c.commands + j]] = memory[c.at_plan + k * c.m + j]


@kernel
def predict(I, c, memory, model, ws, t, sizes):
    """Predict the trajectory of the plan: outputs and settings at the end of every step, and
    derivatives of the outputs by the commands. Return the status.
    """
    n, m, N, no = c.n, c.m, c.horizon, c.errors + c.limits
    z = N * m
    state, rates, seen = memory[c.at_state :], memory[c.at_rates :], memory[c.at_seen :]
    outputs, X = I[c.outputs :], memory[c.at_X :]
    status = 0
    for i in range(n * z):
        X[i] = 0.0
    for k in range(N + 1):
        held = min(k, N - 1)
        set_commands(I, c, memory, ws, held)
        h = memory[c.at_settings + 1] if k > 0 else ws.val[I[c.settings + 1]]
        if status == 0:
            status = evaluate_inner(rates, model, ws, t + k * h, state, sizes)
        read_registers(memory[c.at_settings + k * c.set :], ws, I[c.settings :], c.set)
        if k > 0:
            read_registers(memory[c.at_values + (k - 1) * no :], ws, outputs, no)
        parts = c.parts if k < N else 1
        for part in range(parts):
            middle = t + (k + (part + 0.5) / parts) * h if k < N else t + k * h
            if status == 0:
                status = evaluate_inner(rates, model, ws, middle, state, sizes)
            read_registers(seen, ws, outputs, no)
            if status == 0:
                status = linearise(
                    memory[c.at_F :], memory[c.at_G :], memory[c.at_C :], memory[c.at_D :], rates, seen, model, ws, middle, state,
                    sizes, n, I[c.commands :], sizes[n:], m, outputs, no, False, memory[c.at_scratch :],
                )  # fmt: skip
            if part == 0 and k > 0:
                output_slopes(c, memory, k, held)
            if k < N:
                go_on(c, memory, k, h / parts)
        if status != 0:
            return status
    return status


@kernel
def wait(I, c, memory, model, ws, t, delay, sizes):
    """Predict the state over the delay of the commands, during which the previous commands act;
    return the status.
    """
    state, rates, seen = memory[c.at_state :], memory[c.at_rates :], memory[c.at_seen :]
    no, status = c.errors + c.limits, 0
    for j in range(c.m):
        ws.val[I[c.commands + j]] = memory[c.at_last + j]
    for part in range(c.parts):
        middle = t + delay * (part + 0.5) / c.parts
        if status == 0:
            status = evaluate_inner(rates, model, ws, middle, state, sizes)
        if status == 0:
            status = linearise(
                memory[c.at_F :], memory[c.at_G :], memory[c.at_C :], memory[c.at_D :], rates, seen, model, ws, middle, state,
                sizes, c.n, I[c.commands :], sizes[c.n :], c.m, I[c.outputs :], no, False, memory[c.at_scratch :],
            )  # fmt: skip
        if status == 0:
            exponential(memory[c.at_A :], memory[c.at_P :], memory[c.at_F :], c.n, delay / c.parts, memory[c.at_scratch :])  # fmt: skip
            add_motion(c, memory)
    return status


@kernel
def add_motion(c, memory):
    """Add the integral of the rates over a step, by the matrix P, to the state."""
    for i in range(c.n):
        moved = 0.0
        for l in range(c.n):
            moved += memory[c.at_P + i * c.n + l] * memory[c.at_rates + l]
        memory[c.at_state + i] += moved


@kernel
def output_slopes(c, memory, k, held):
    """Write the derivatives of the outputs at the end of step k by all commands: C X, plus D for
    the command `held` that acts directly.
    """
    m, no, z = c.m, c.errors + c.limits, c.horizon * c.m
    S = memory[c.at_S + (k - 1) * no * z :]
    multiply(S, memory[c.at_C :], memory[c.at_X :], no, c.n, z)
    for i in range(no):
        for j in range(m):
            S[i * z + held * m + j] += memory[c.at_D + i * m + j]


@kernel
def go_on(c, memory, k, h):
    """Advance the state and its derivatives by the commands over a time h within step k."""
    n, m, z = c.n, c.m, c.horizon * c.m
    A, P, B, X, other = memory[c.at_A :], memory[c.at_P :], memory[c.at_B :], memory[c.at_X :], memory[c.at_other :]  # fmt: skip
    exponential(A, P, memory[c.at_F :], n, h, memory[c.at_scratch :])
    multiply(B, P, memory[c.at_G :], n, n, m)
    multiply(other, A, X, n, n, z)
    for i in range(n * z):
        X[i] = other[i]
    for i in range(n):
        for j in range(m):
            X[i * z + k * m + j] += B[i * m + j]
    add_motion(c, memory)


@kernel
def improve(c, memory, terminal):
    """Solve the quadratic program about the plan and update the plan; return the number of
    factorisations, or NOT_SOLVED.
    """
    m, N = c.m, c.horizon
    z = N * m
    objective(c, memory, terminal)
    command_costs(c, memory)
    command_bounds(c, memory)
    limit_rows(c, memory)
    change, plan = memory[c.at_change :], memory[c.at_plan :]
    work = solve_program(
        change, memory[c.at_H :], memory[c.at_g :], memory[c.at_rows :], memory[c.at_bounds :], z, m, N * c.limits, memory[c.at_scratch :]
    )  # fmt: skip
    if work != NOT_SOLVED:
        for i in range(z):
            plan[i] += change[i]
    for j in range(m):
        hold_within(c, memory, j)
    return work


@kernel
def objective(c, memory, terminal):
    """Compute Hessian and gradient of the squared errors."""
    ne, no, N = c.errors, c.errors + c.limits, c.horizon
    z = N * c.m
    H, g = memory[c.at_H :], memory[c.at_g :]
    for i in range(z):
        g[i] = 0.0
        for j in range(z):
            H[i * z + j] = 0.0
    for k in range(1, N + 1):
        settings = memory[c.at_settings + k * c.set :]
        S, values = memory[c.at_S + (k - 1) * no * z :], memory[c.at_values + (k - 1) * no :]
        last = min((k + 1) * c.m, z)
        for e in range(ne):
            weight = settings[TIMES + PER_COMMAND * c.m + PER_ERROR * e] * settings[1]
            if k == N and c.terminal == 0:
                weight = settings[TIMES + PER_COMMAND * c.m + PER_ERROR * e + 1]
            if k == N and c.terminal == 1:
                for other in range(ne):
                    both = 0.5 * (terminal[e * ne + other] + terminal[other * ne + e])
                    add_square(H, g, S[e * z :], S[other * z :], both, values[other], z, last)
            else:
                add_square(H, g, S[e * z :], S[e * z :], weight, values[e], z, last)


@kernel
def add_square(H, g, a, b, weight, value, z, last):
    """Add weight a bᵀ to the Hessian and weight a value to the gradient; entries beyond `last` are
    zero.
    """
    if weight != 0.0:
        for i in range(last):
            part = weight * a[i]
            g[i] += part * value
            if part != 0.0:
                for j in range(last):
                    H[i * z + j] += part * b[j]


@kernel
def command_costs(c, memory):
    """Add the costs of commands and of their rates to Hessian and gradient."""
    m, N = c.m, c.horizon
    z = N * m
    H, g, plan = memory[c.at_H :], memory[c.at_g :], memory[c.at_plan :]
    h = memory[c.at_settings + 1]
    for k in range(N):
        for j in range(m):
            of_command = memory[c.at_settings + k * c.set + TIMES + PER_COMMAND * j :]
            i = k * m + j
            weight, changing = of_command[WEIGHT] * h, of_command[RATE_WEIGHT] / h
            H[i * z + i] += weight + changing
            g[i] += weight * (plan[i] - of_command[TARGET])
            before = plan[i - m] if k > 0 else memory[c.at_last + j]
            g[i] += changing * (plan[i] - before)
            if k > 0:
                H[(i - m) * z + i - m] += changing
                H[(i - m) * z + i] -= changing
                H[i * z + i - m] -= changing
                g[i - m] -= changing * (plan[i] - before)
    largest = 0.0
    for i in range(z):
        largest = max(largest, H[i * z + i])
    for i in range(z):
        H[i * z + i] += LEAST_CURVATURE * largest if largest > 0.0 else 1.0


@kernel
def bounds_at(c, memory, k, j):
    """Return the lower and upper bound of command j at step k, widened if the rate limit does not
    allow reaching them in time.
    """
    times, of_command = memory[c.at_settings :], memory[c.at_settings + k * c.set + TIMES + PER_COMMAND * j :]  # fmt: skip
    reach = of_command[RATE] * (times[0] + k * times[1])
    last = memory[c.at_last + j]
    low, high = of_command[LOW], of_command[HIGH]
    return min(low, last + reach), max(high, last - reach)


@kernel
def command_bounds(c, memory):
    """Write the bounds on the changes of commands and on their rates."""
    m, N, z = c.m, c.horizon, c.horizon * c.m
    R = 2 * z + N * c.limits
    bounds, plan = memory[c.at_bounds :], memory[c.at_plan :]
    for k in range(N):
        for j in range(m):
            i = k * m + j
            low, high = bounds_at(c, memory, k, j)
            bounds[i], bounds[R + i], bounds[2 * R + i] = low - plan[i], high - plan[i], 0.0
            rate = memory[c.at_settings + k * c.set + TIMES + PER_COMMAND * j + RATE]
            most = rate * memory[c.at_settings + (1 if k > 0 else 0)]
            change = plan[i] - (plan[i - m] if k > 0 else memory[c.at_last + j])
            bounds[z + i], bounds[R + z + i] = -most - change, most - change
            bounds[2 * R + z + i] = 0.0


@kernel
def limit_rows(c, memory):
    """Write the constraint rows and bounds of limited outputs."""
    N, no, nl, z = c.horizon, c.errors + c.limits, c.limits, c.horizon * c.m
    R = 2 * z + N * nl
    bounds, rows = memory[c.at_bounds :], memory[c.at_rows :]
    for k in range(1, N + 1):
        for l in range(nl):
            settings = memory[c.at_settings + k * c.set + TIMES + PER_COMMAND * c.m + PER_ERROR * c.errors + PER_LIMIT * l :]  # fmt: skip
            r, e = (k - 1) * nl + l, (k - 1) * no + c.errors + l
            value = memory[c.at_values + e]
            stiffness = settings[2] * memory[c.at_settings + 1]
            some = stiffness > SOFTEST
            bounds[2 * z + r] = settings[0] - value if some else -NONE
            bounds[R + 2 * z + r] = settings[1] - value if some else NONE
            bounds[2 * R + 2 * z + r] = 1.0 / stiffness if some else 0.0
            for i in range(z):
                rows[r * z + i] = memory[c.at_S + e * z + i]


@kernel
def hold_within(c, memory, j):
    """Clip the planned values of command j to its bounds and rate limit, which rounding may have
    violated.
    """
    before = memory[c.at_last + j]
    for k in range(c.horizon):
        low, high = bounds_at(c, memory, k, j)
        rate = memory[c.at_settings + k * c.set + TIMES + PER_COMMAND * j + RATE]
        most = rate * memory[c.at_settings + (1 if k > 0 else 0)]
        value = memory[c.at_plan + k * c.m + j]
        value = min(max(value, before - most), before + most)
        value = min(max(value, low), high)
        memory[c.at_plan + k * c.m + j] = value
        before = value


@kernel
def check_plan(c, memory):
    """Return NO_CONVERGENCE if the plan is not finite, else 0."""
    for i in range(c.horizon * c.m):
        if not math.isfinite(memory[c.at_plan + i]):
            return Status.NO_CONVERGENCE.value
    return 0
