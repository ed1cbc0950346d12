"""Observers (Kalman filters) at the end of a stage: their inner model changes its structure as the
mechanism does, and the covariance is transformed.

The Jacobian of the new state by the old one, and by the estimated parameters, is computed by
central differences of the structure change: there speeds follow from momenta, coordinates of
released bodies from poses (`stage_change.py`).
"""

from kinetree.solvers.events.stage_change import change_structure
from kinetree.solvers.instance.actuator_probes import latch_actuators
from kinetree.solvers.instance.memory import refresh, structure
from kinetree.solvers.kernel import kernel
from kinetree.solvers.layout import Status
from kinetree.solvers.sampled.block_layout import OBSERVER_BLOCK
from kinetree.solvers.sampled.inner_model import (
    CENTRAL,
    evaluate_inner,
    put_inner,
    put_number,
    take_inner,
    take_registers,
)
from kinetree.solvers.sampled.observer import (
    find_slopes,
    go_to_sample,
    inner_unit,
    move_covariance,
    put_estimated,
    restrict_covariance,
)
from kinetree.solvers.sampled.run_block import block_of
from kinetree.solvers.views import block_at, observer_at


@kernel
def end_observed_stage(I, F, W, ws, t):
    """Carry all started observers over the end of the current stage, before the mechanism leaves
    it; return the status.
    """
    for k in range(I.blocks):
        block = block_at(I[I.block_records :], k)
        if block.kind == OBSERVER_BLOCK and block.stage == int(W.stage):
            after = block_of(I, block.event, int(W.stage) + 1)
            if after >= 0 and W[I.at_blocks + block.work] != 0.0:
                status = follow_stage(I, F, W, ws, block, block_at(I[I.block_records :], after), t)
                if status != 0:
                    ws.head.item = k
                    return Status.ESTIMATE_FAILED.value
    return 0


@kernel
def follow_stage(I, F, W, outer, block, after, t):
    """Predict an estimate up to the end of its stage, transform it to the next stage, and compute
    derivatives there; return the status.
    """
    c, d = observer_at(I[block.own :], 0), observer_at(I[after.own :], 0)
    memory, numbers = W[I.at_blocks + block.work :], F[block.numbers :]
    Ii, Fi, Wi = inner_unit(I, F, memory, block, c)
    model, ws = structure(Ii, Fi, Wi)
    status = take_registers(model, ws, outer.val, I[c.pairs :], c.copied, False)
    if status == 0:
        status = put_estimated(I, c, memory, model, ws, numbers, False)
    if status == 0:
        status = go_to_sample(I, c, memory, model, ws, t, numbers[c.n + c.w :], numbers)
    sizes = F[after.numbers :]
    if status == 0:
        status = change_estimate(I, c, d, memory, Ii, Fi, Wi, t, numbers, sizes)
    model, ws = structure(Ii, Fi, Wi)
    rates, state = memory[d.at_rates :], memory[d.at_state :]
    if status == 0:
        status = put_estimated(I, d, memory, model, ws, sizes, True)
    if status == 0:
        status = restrict_covariance(I, d, memory, model, ws, t, sizes)
    if status == 0:
        status = evaluate_inner(rates, model, ws, t, state, sizes)
    if status == 0:
        latch_actuators(model, ws)
        status = evaluate_inner(rates, model, ws, t, state, sizes)
    return find_slopes(I, d, memory, model, ws, t, sizes, 0) if status == 0 else status


@kernel
def change_estimate(I, c, d, memory, Ii, Fi, Wi, t, sizes, new_sizes):
    """Change the structure of the inner model and write the new state with its covariance; return
    the status.
    """
    n, rows = c.n, d.n
    N = n + c.w
    kept, state, whole = memory[c.at_kept :], memory[c.at_state :], memory[c.at_whole :]
    above, below = memory[c.at_scratch :], memory[c.at_scratch + rows :]
    for k in range(Ii.work_size):
        kept[k] = Wi[k]
    status = 0
    for j in range(N):
        register, step = I[c.estimated + max(j - n, 0)], CENTRAL * sizes[j]
        value = state[j] if j < n else state[j] * sizes[j]
        h = CENTRAL * max(1.0, abs(value)) if j < n else step
        if status == 0:
            status = enter_stage(above, I, c, memory, Ii, Fi, Wi, t, j, register, value + h, sizes, new_sizes)  # fmt: skip
        if status == 0:
            status = enter_stage(below, I, c, memory, Ii, Fi, Wi, t, j, register, value - h, sizes, new_sizes)  # fmt: skip
        if j < n:
            state[j] = value
        distance = 2.0 * h if j < n else 2.0 * CENTRAL
        for i in range(rows):
            whole[i * N + j] = (above[i] - below[i]) / distance
        for i in range(d.w):
            same = I[d.origins + i] == j
            whole[(rows + i) * N + j] = sizes[j] / new_sizes[rows + i] if same else 0.0
    if status == 0:
        register = I[c.estimated]
        status = enter_stage(above, I, c, memory, Ii, Fi, Wi, t, 0, register, state[0], sizes, new_sizes)  # fmt: skip
    for k in range(d.w):
        origin = I[d.origins + k]
        below[k] = state[origin] * sizes[origin] / new_sizes[rows + k]
    for i in range(rows):
        state[i] = above[i]
    for k in range(d.w):
        state[rows + k] = below[k]
    move_covariance(c, memory, rows + d.w, N)
    return status


@kernel
def enter_stage(
    out, I, c, memory, Ii, Fi, Wi, t, j, register, value, sizes, new_sizes
):  # fmt: skip
    """Write the scaled state of the next stage that results if entry j of the estimate has the
    given value; return the status.
    """
    kept, state = memory[c.at_kept :], memory[c.at_state :]
    for k in range(Ii.work_size):
        Wi[k] = kept[k]
    model, ws = structure(Ii, Fi, Wi)
    status = put_number(model, ws, state, j, c.n, register, value)
    put_inner(ws, state, sizes)
    if status == 0:
        status = refresh(Ii, Fi, Wi, t)
    if status == 0:
        status = change_structure(Ii, Fi, Wi, t)
    _, after = structure(Ii, Fi, Wi)
    take_inner(out, after, new_sizes)
    return status
