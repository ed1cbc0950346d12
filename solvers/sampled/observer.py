"""An extended Kalman filter over the inner model: predicts from sample to sample, corrects by
measurements, and writes estimates with their standard deviations.

The inner model is a unit of its own (`unit_layout.py`) that goes through the stages of the
mechanism; its events and its integrator are not used. The estimate is (y, w): the scaled state of
the present stage and estimated registers w (parameters, unknown inputs, biases of sensors), each
divided by its scale. Derivatives are central differences at the predicted state. The transition
over a period is that of the linearised equations (`inner_model.exponential`); measurements are
processed sequentially. Inputs and commands are those held since the sample before.

With closed loops and quaternions y lies on a manifold: the state is projected onto it (`project`,
unit quaternions) after every change, and the covariance in its tangent space: P -> T P Tᵀ with the
Jacobian T of the projection. To first order this is the multiplicative Kalman filter for rotations.
"""

import math

from kinetree.solvers.engine.derived_constants import prepare
from kinetree.solvers.instance.actuator_probes import latch_actuators
from kinetree.solvers.instance.derivatives import coordinate_rates
from kinetree.solvers.instance.memory import (
    initialise_workspace,
    normalise_quaternions,
    structure,
)
from kinetree.solvers.kernel import kernel
from kinetree.solvers.loops.assembly import assemble
from kinetree.solvers.loops.constraint_projection import project
from kinetree.solvers.sampled.inner_model import (
    CENTRAL,
    evaluate_inner,
    exponential,
    linearise,
    makes_constants,
    multiply,
    put_inner,
    put_number,
    read_registers,
    take_inner,
    take_registers,
)
from kinetree.solvers.views import observer_at, unit_ints, unit_work

FINITE = 1e100  # a larger estimate has diverged


@kernel
def inner_unit(I, F, memory, block, c):
    """Return the three memory blocks of the unit that is the inner model of an observer."""
    return unit_ints(I[block.ints :]), F[block.floats :], unit_work(memory[c.at_inner :])


@kernel
def estimate(I, F, W, outer, block, t):
    """Advance the estimate to the current sample and write estimates, standard deviations and the
    squared innovation; return the status.
    """
    c = observer_at(I[block.own :], 0)
    memory = W[I.at_blocks + block.work :]
    numbers = F[block.numbers :]
    sizes, starts = numbers, numbers[c.n + c.w :]
    Ii, Fi, Wi = inner_unit(I, F, memory, block, c)
    first = memory[0] == 0.0
    if first:
        for k in range(Ii.work_size):
            Wi[k] = 0.0
        Wi.stage = W.stage
        initialise_workspace(Ii, Fi, Wi)
    model, ws = structure(Ii, Fi, Wi)
    status = take_registers(model, ws, outer.val, I[c.pairs :], c.copied, first)
    if status == 0 and first:
        status = begin_estimate(I, c, memory, outer, model, ws, t, starts, sizes)
        memory[0] = 1.0
    elif status == 0:
        status = put_estimated(I, c, memory, model, ws, sizes, False)
        if status == 0:
            status = go_to_sample(I, c, memory, model, ws, t, starts, sizes)
    if status == 0:
        status = evaluate_inner(memory[c.at_rates :], model, ws, t, memory[c.at_state :], sizes)
    if status == 0 and first:
        latch_actuators(model, ws)
        status = evaluate_inner(memory[c.at_rates :], model, ws, t, memory[c.at_state :], sizes)
    read_registers(memory[c.at_seen :], ws, I[c.outputs :], c.outputs_count)
    if status == 0:
        status = find_slopes(I, c, memory, model, ws, t, sizes, c.outputs_count)
    if status == 0:
        status = correct(I, c, memory, outer, I[block.reads :], model, ws, t, starts, sizes)
    if status == 0:
        status = write_estimates(I, c, memory, outer, I[block.gives :], model, ws, t, sizes)
    return status


@kernel
def begin_estimate(I, c, memory, outer, model, ws, t, starts, sizes):
    """Write the initial estimate and its covariance; return the status. A start value is that of
    the outer mechanism or a given number; standard deviations follow in `starts`.
    """
    n, w = c.n, c.w
    state = memory[c.at_state :]
    for k in range(n + w):
        register = I[c.starts + k]
        state[k] = (outer.val[register] if register >= 0 else starts[k]) / sizes[k]
    for k in range((n + w) * (n + w)):
        memory[c.at_covariance + k] = 0.0
    for k in range(n + w):
        deviation = starts[n + w + k] / sizes[k]
        memory[c.at_covariance + k * (n + w) + k] = deviation * deviation
    status = put_estimated(I, c, memory, model, ws, sizes, True)
    put_inner(ws, state, sizes)
    normalise_quaternions(model, ws)
    if status == 0 and model.l_kind.size > 0:
        status = assemble(model, ws, t)
    take_inner(state, ws, sizes)
    return restrict_covariance(I, c, memory, model, ws, t, sizes) if status == 0 else status


@kernel
def put_estimated(I, c, memory, model, ws, sizes, always):
    """Write the estimated registers to the inner model; derive constants if one of them is a
    parameter, or `always`. Return the status.
    """
    changed = always
    for k in range(c.w):
        register = I[c.estimated + k]
        value = memory[c.at_state + c.n + k] * sizes[c.n + k]
        if ws.val[register] != value:
            ws.val[register] = value
            changed = changed or makes_constants(model, register)
    return prepare(model, ws) if changed else 0


@kernel
def find_slopes(I, c, memory, model, ws, t, sizes, count):
    """Compute the Jacobians of the rates (F, G) and of `count` outputs (C, D) by the scaled state
    and the scaled estimated registers; return the status.
    """
    n, w = c.n, c.w
    status = linearise(
        memory[c.at_F :], memory[c.at_G :], memory[c.at_C :], memory[c.at_D :], memory[c.at_rates :], memory[c.at_seen :],
        model, ws, t, memory[c.at_state :], sizes, n, I[c.estimated :], sizes[n:], w, I[c.outputs :], count, True,
        memory[c.at_scratch :],
    )  # fmt: skip
    for k in range(w):
        for i in range(n):
            memory[c.at_G + i * w + k] *= sizes[n + k]
        for i in range(count):
            memory[c.at_D + i * w + k] *= sizes[n + k]
    return status


@kernel
def has_manifold(model):
    """Return whether closed loops or quaternions constrain the entries of a state."""
    return model.l_kind.size > 0 or model.header.own_tangents > 0


@kernel
def restore(out, model, ws, t, y, sizes):
    """Write to `out` the scaled state nearest to y that has unit quaternions and closed loops;
    return the status.
    """
    put_inner(ws, y, sizes)
    normalise_quaternions(model, ws)
    status = project(model, ws, t) if model.l_kind.size > 0 else 0
    take_inner(out, ws, sizes)
    return status


@kernel
def restrict_covariance(I, c, memory, model, ws, t, sizes):
    """Project the estimate onto the manifold of its loops and quaternions, and the covariance onto
    the tangent space there; return the status.
    """
    if not has_manifold(model):
        return 0
    n, N = c.n, c.n + c.w
    state, whole = memory[c.at_state :], memory[c.at_whole :]
    above, below = memory[c.at_scratch :], memory[c.at_scratch + n :]
    status = restore(state, model, ws, t, state, sizes)
    for j in range(N):
        register = I[c.estimated + max(j - n, 0)]
        kept = state[j] if j < n else ws.val[register]
        h = CENTRAL * (max(1.0, abs(kept)) if j < n else sizes[j])
        for i in range(N):
            whole[i * N + j] = 1.0 if i == j else 0.0
        if status == 0:
            status = put_number(model, ws, state, j, n, register, kept + h)
        if status == 0:
            status = restore(above, model, ws, t, state, sizes)
        if status == 0:
            status = put_number(model, ws, state, j, n, register, kept - h)
        if status == 0:
            status = restore(below, model, ws, t, state, sizes)
        if status == 0:
            status = put_number(model, ws, state, j, n, register, kept)
        step = 2.0 * h if j < n else 2.0 * CENTRAL
        for i in range(n):
            whole[i * N + j] = (above[i] - below[i]) / step
    move_covariance(c, memory, N, N)
    return status


@kernel
def move_covariance(c, memory, rows, columns):
    """Replace the covariance P by M P Mᵀ; M, rows by columns, is in the memory part `whole`."""
    whole, other, covariance = memory[c.at_whole :], memory[c.at_other :], memory[c.at_covariance :]
    multiply(other, whole, covariance, rows, columns, columns)
    for i in range(rows):
        for k in range(i + 1):
            total = 0.0
            for l in range(columns):
                total += other[i * columns + l] * whole[k * columns + l]
            covariance[i * rows + k] = total
    for i in range(rows):
        for k in range(i):
            covariance[k * rows + i] = covariance[i * rows + k]


@kernel
def go_to_sample(I, c, memory, model, ws, t, starts, sizes):
    """Advance estimate and covariance over the time since the sample before, with the Jacobians
    computed there; return the status.
    """
    n, w = c.n, c.w
    N = n + w
    h = t - memory[c.at_time]
    rates, state = memory[c.at_rates :], memory[c.at_state :]
    status = evaluate_inner(rates, model, ws, t - 0.5 * h, state, sizes)
    A, P, B = memory[c.at_A :], memory[c.at_P :], memory[c.at_B :]
    exponential(A, P, memory[c.at_F :], n, h, memory[c.at_scratch :])
    multiply(B, P, memory[c.at_G :], n, n, w)
    for i in range(n):
        moved = 0.0
        for k in range(n):
            moved += P[i * n + k] * rates[k]
        memory[c.at_moved + i] = moved
    for i in range(n):
        state[i] += memory[c.at_moved + i]
    whole = memory[c.at_whole :]
    for i in range(N):
        for k in range(N):
            value = 1.0 if i == k else 0.0
            if i < n:
                value = A[i * n + k] if k < n else B[i * w + k - n]
            whole[i * N + k] = value
    move_covariance(c, memory, N, N)
    add_noise(c, memory, model, ws, h, starts[2 * N :], sizes)
    memory[c.at_time] = t
    return restrict_covariance(I, c, memory, model, ws, t, sizes) if status == 0 else status


@kernel
def add_noise(c, memory, model, ws, h, densities, sizes):
    """Add the process noise over the time h: white noise on the rates of speeds and states, random
    walks of the estimated registers.
    """
    N, nq, nu = c.n + c.w, ws.q.size, ws.u.size
    covariance, rates = memory[c.at_covariance :], memory[c.at_moved :]
    for k in range(N):
        size = densities[k] / sizes[k]
        covariance[k * N + k] += size * size * h
    put_inner(ws, memory[c.at_state :], sizes)
    for j in range(nu):
        density, speed = densities[nq + j], nq + j
        if density == 0.0:
            continue
        for k in range(nu):
            ws.u[k] = 1.0 if k == j else 0.0
        for k in range(nq):
            rates[k] = 0.0
        coordinate_rates(rates, model, ws)
        for i in range(nq):
            if rates[i] == 0.0:
                continue
            place = density * rates[i] / sizes[i]
            for k in range(nq):
                covariance[i * N + k] += place * density * rates[k] / sizes[k] * h * h * h / 3.0
            both = place * density / sizes[speed] * h * h / 2.0
            covariance[i * N + speed] += both
            covariance[speed * N + i] += both


@kernel
def correct(I, c, memory, outer, reads, model, ws, t, starts, sizes):
    """Correct the estimate by the finite measurements of the sample, one after another; return the
    status.
    """
    n, w = c.n, c.w
    N = n + w
    covariance, change, gain, row = memory[c.at_covariance :], memory[c.at_change :], memory[c.at_gain :], memory[c.at_row :]  # fmt: skip
    noise = starts[3 * N :]
    squared, count = 0.0, 0
    for k in range(N):
        change[k] = 0.0
    for i in range(c.readings):
        value = outer.val[reads[i]] if reads[i] >= 0 else math.nan
        if not (abs(value) < FINITE and abs(memory[c.at_seen + i]) < FINITE):
            continue
        residual = value - memory[c.at_seen + i]
        for k in range(N):
            row[k] = memory[c.at_C + i * n + k] if k < n else memory[c.at_D + i * w + k - n]
            residual -= row[k] * change[k]
        expected = noise[i] * noise[i]
        for k in range(N):
            total = 0.0
            for l in range(N):
                total += covariance[k * N + l] * row[l]
            gain[k] = total
            expected += row[k] * total
        if not expected > 0.0:
            continue
        squared += residual * residual / expected
        count += 1
        for k in range(N):
            change[k] += gain[k] / expected * residual
            for l in range(k + 1):
                reduced = covariance[k * N + l] - gain[k] * gain[l] / expected
                covariance[k * N + l] = reduced
                covariance[l * N + k] = reduced
    for k in range(N):
        memory[c.at_state + k] += change[k]
    limits = starts[3 * N + c.readings :]
    for k in range(w):
        value = memory[c.at_state + n + k] * sizes[n + k]
        value = min(max(value, limits[2 * k]), limits[2 * k + 1])
        memory[c.at_state + n + k] = value / sizes[n + k]
    memory[c.at_squared] = squared / count if count > 0 else 0.0
    memory[c.at_time] = t
    state = memory[c.at_state :]
    status = put_estimated(I, c, memory, model, ws, sizes, False)
    if status == 0 and has_manifold(model):
        status = restore(state, model, ws, t, state, sizes)
    return evaluate_inner(memory[c.at_rates :], model, ws, t, state, sizes) if status == 0 else status  # fmt: skip


@kernel
def write_estimates(I, c, memory, outer, gives, model, ws, t, sizes):
    """Write estimates, their standard deviations and the mean squared innovation; return
    NO_CONVERGENCE if one is not finite.

    States that the current stage does not have keep their last estimate.
    """
    n, w = c.n, c.w
    N, mechanical = n + w, outer.q.size + outer.u.size
    covariance, row = memory[c.at_covariance :], memory[c.at_row :]
    status = 0
    for i in range(c.outputs_count - c.readings):
        e = c.readings + i
        if I[c.outputs + e] < 0:
            continue
        value = ws.val[I[c.outputs + e]]
        for k in range(N):
            row[k] = memory[c.at_C + e * n + k] if k < n else memory[c.at_D + e * w + k - n]
        variance = 0.0
        for k in range(N):
            for l in range(N):
                variance += row[k] * covariance[k * N + l] * row[l]
        outer.x[gives[2 * i] - mechanical] = value
        outer.x[gives[2 * i + 1] - mechanical] = math.sqrt(max(variance, 0.0))
        if not abs(value) < FINITE:
            status = 4
    outer.x[gives[2 * (c.outputs_count - c.readings)] - mechanical] = memory[c.at_squared]
    return status
