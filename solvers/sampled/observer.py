"""An extended Kalman filter over the inner model: predicts from sample to sample, corrects by readings, and writes estimates with their deviations.

The estimate is (y, w): the scaled state of the inner model and estimated registers w (parameters, unknown inputs, biases of sensors), each divided
by its size. Slopes are central differences at the predicted state; the transition over a period is that of the linearised equations
(`inner_model.exponential`), readings are taken in one after another. Inputs and commands are those held since the sample before.
"""

import math

from kinetree.solvers.engine.derived_constants import prepare
from kinetree.solvers.instance.actuator_probes import latch_actuators
from kinetree.solvers.kernel import kernel
from kinetree.solvers.sampled.inner_model import (
    evaluate_inner,
    exponential,
    lay_out_inner,
    linearise,
    multiply,
    read_registers,
    take_registers,
)
from kinetree.solvers.views import model_view, observer_at, work_view

FINITE = 1e100  # a larger estimate has diverged


@kernel
def estimate(I, F, W, outer, block, t):
    """Go on with the estimate to the present sample and write estimates, deviations and the innovation squared. Return a status."""
    c = observer_at(I[block.own :], 0)
    memory, ints = W[I.at_blocks + block.work :], I[block.ints :]
    model, ws = model_view(ints, F[block.floats :]), work_view(ints, memory[c.at_inner :])
    numbers = F[block.numbers :]
    sizes, starts = numbers, numbers[c.n + c.w :]
    first = memory[0] == 0.0
    if first:
        lay_out_inner(model, ws, memory[c.at_inner :])
        begin_estimate(c, memory, starts, sizes)
        memory[0] = 1.0
    status = take_registers(model, ws, outer.val, I[c.pairs :], c.copied, first)
    if status == 0:
        status = put_estimated(I, c, memory, model, ws, sizes, first)
    if status == 0 and not first:
        status = go_to_sample(I, c, memory, model, ws, t, starts, sizes)
    if status == 0:
        status = evaluate_inner(memory[c.at_rates :], model, ws, t, memory[c.at_state :], sizes)
    if status == 0 and first:
        latch_actuators(model, ws)
        status = evaluate_inner(memory[c.at_rates :], model, ws, t, memory[c.at_state :], sizes)
    outputs = I[c.outputs :]
    read_registers(memory[c.at_seen :], ws, outputs, c.outputs_count)
    if status == 0:
        status = linearise(
            memory[c.at_F :], memory[c.at_G :], memory[c.at_C :], memory[c.at_D :], memory[c.at_rates :], memory[c.at_seen :],
            model, ws, t, memory[c.at_state :], sizes, c.n, I[c.estimated :], sizes[c.n :], c.w, outputs, c.outputs_count, True,
            memory[c.at_scratch :],
        )  # fmt: skip
    if status == 0:
        status = correct(I, c, memory, outer, I[block.reads :], model, ws, t, starts, sizes)
    if status == 0:
        status = write_estimates(I, c, memory, outer, I[block.gives :], model, ws, t, sizes)
    return status


@kernel
def begin_estimate(c, memory, starts, sizes):
    """Write the first estimate and its covariance: starts and standard deviations follow one another in `starts`."""
    n, w = c.n, c.w
    for k in range(n + w):
        memory[c.at_state + k] = starts[k] / sizes[k]
    for k in range((n + w) * (n + w)):
        memory[c.at_covariance + k] = 0.0
    for k in range(n + w):
        deviation = starts[n + w + k] / sizes[k]
        memory[c.at_covariance + k * (n + w) + k] = deviation * deviation


@kernel
def put_estimated(I, c, memory, model, ws, sizes, always):
    """Write the estimated registers to the inner model and derive constants where one is a parameter, or `always`."""
    changed = always
    for k in range(c.w):
        register = I[c.estimated + k]
        value = memory[c.at_state + c.n + k] * sizes[c.n + k]
        if ws.val[register] != value:
            ws.val[register] = value
            changed = changed or model.header.inputs == 0 or register < model.header.r_inputs
    return prepare(model, ws) if changed else 0


@kernel
def go_to_sample(I, c, memory, model, ws, t, starts, sizes):
    """Move estimate and covariance over the time since the sample before, by the slopes that were found there."""
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
    whole, other, covariance = memory[c.at_whole :], memory[c.at_other :], memory[c.at_covariance :]
    for i in range(N):
        for k in range(N):
            value = 1.0 if i == k else 0.0
            if i < n:
                value = A[i * n + k] if k < n else B[i * w + k - n]
            whole[i * N + k] = value
    multiply(other, whole, covariance, N, N, N)
    for i in range(N):
        for k in range(i + 1):
            total = 0.0
            for l in range(N):
                total += other[i * N + l] * whole[k * N + l]
            covariance[i * N + k] = total
            covariance[k * N + i] = total
    add_noise(c, memory, model, ws, h, starts[2 * N :], sizes)
    return status


@kernel
def add_noise(c, memory, model, ws, h, densities, sizes):
    """Add the noise of the time h: white on the rates of speeds and states, random walks of what is estimated besides."""
    N, nq, nu = c.n + c.w, ws.q.size, ws.u.size
    covariance = memory[c.at_covariance :]
    for k in range(N):
        size = densities[k] / sizes[k]
        covariance[k * N + k] += size * size * h
        j = k - nq
        if 0 <= j < nu and model.u_q[j] >= 0:
            q = model.u_q[j]
            place = densities[k] / sizes[q]
            covariance[q * N + q] += place * place * h * h * h / 3.0
            both = place * size * h * h / 2.0
            covariance[q * N + k] += both
            covariance[k * N + q] += both


@kernel
def correct(I, c, memory, outer, reads, model, ws, t, starts, sizes):
    """Take in the readings of the sample that are numbers, one after another."""
    n, w = c.n, c.w
    N = n + w
    covariance, change, gain, row = memory[c.at_covariance :], memory[c.at_change :], memory[c.at_gain :], memory[c.at_row :]  # fmt: skip
    noise = starts[3 * N :]
    squared, count = 0.0, 0
    for k in range(N):
        change[k] = 0.0
    for i in range(c.readings):
        value = outer.val[reads[i]]
        if not abs(value) < FINITE:
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
    status = put_estimated(I, c, memory, model, ws, sizes, False)
    return evaluate_inner(memory[c.at_rates :], model, ws, t, memory[c.at_state :], sizes) if status == 0 else status  # fmt: skip


@kernel
def write_estimates(I, c, memory, outer, gives, model, ws, t, sizes):
    """Write estimates, their standard deviations, and the mean squared innovation; NO_CONVERGENCE where one is no number."""
    n, w = c.n, c.w
    N, mechanical = n + w, outer.q.size + outer.u.size
    covariance, row = memory[c.at_covariance :], memory[c.at_row :]
    status = 0
    for i in range(c.outputs_count - c.readings):
        e = c.readings + i
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
            status = 1
    outer.x[gives[2 * (c.outputs_count - c.readings)] - mechanical] = memory[c.at_squared]
    return status
