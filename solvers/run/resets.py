"""Event actions: states and parameters event by event, coordinates and speeds together."""

import math

from kinetree.solvers.engine.derived_constants import prepare
from kinetree.solvers.kernel import kernel
from kinetree.solvers.layout import Guard
from kinetree.solvers.loops.set_speeds import settle
from kinetree.solvers.run.event_memory import guard_part
from kinetree.solvers.run.unit import normalise_quaternions, refresh, structure
from kinetree.solvers.sampled.run_block import block_of, run_block
from kinetree.solvers.views import action_at, guard_at


@kernel
def apply_actions(I, F, W, kind):
    """Execute the marked guards of one kind; registers hold the state before."""
    model, ws = structure(I, F, W)
    fired = guard_part(W, model, I.at_fired)
    status, fresh, parameters = 0, True, False
    for k in range(fired.size):
        if fired[k] != 0.0 and guard_at(model.guards, k).kind == kind and status == 0:
            if not fresh:
                status = refresh(I, F, W, W.time)
            if status != 0:
                break
            if I.blocks > 0 and kind == Guard.RESET:
                status = run_sampled_block(I, F, W, guard_at(model.guards, k).event)
            if status != 0:
                break
            changed = assign_values(model, ws, k)
            fresh = changed == 0
            if changed & 2:
                status = prepare(model, ws)
                parameters = True
    if status == 0:
        status = set_coordinates_and_speeds(I, W, model, ws, kind, parameters)
    if status != 0:
        W.item = ws.head.item
    return status


@kernel
def run_sampled_block(I, F, W, event):
    """Carry out the sampled block of an event, if it has one, and evaluate what it gives."""
    block = block_of(I, event, int(W.stage))
    if block < 0:
        return 0
    W.sampled = block
    status = run_block(I, F, W, W.time)
    return refresh(I, F, W, W.time) if status == 0 else status


@kernel
def assign_values(model, ws, k):
    """Read all values of guard k, then write its states (1) and parameters (2); return what was
    written.
    """
    first, count = guard_at(model.guards, k).action, guard_at(model.guards, k).actions
    for a in range(first, first + count):
        ws.new_value[a] = ws.val[action_at(model.actions, a).value]
    changed = 0
    mechanical = ws.q.size + ws.u.size
    for a in range(first, first + count):
        entry = action_at(model.actions, a).entry
        if entry < 0:
            ws.val[action_at(model.actions, a).parameter] = ws.new_value[a]
            changed |= 2
        elif entry >= mechanical:
            ws.x[entry - mechanical] = ws.new_value[a]
            changed |= 1
    return changed


@kernel
def set_coordinates_and_speeds(I, W, model, ws, kind, parameters):
    """Change coordinates and speeds as the marked guards of one kind request."""
    fired = guard_part(W, model, I.at_fired)
    for k in range(ws.set_mark.size):
        ws.set_mark[k] = 0.0
        ws.set_hold[k] = 0.0
    for k in range(ws.set_q.size):
        ws.set_q[k] = math.nan
    asked = False
    for k in range(fired.size):
        if fired[k] != 0.0 and guard_at(model.guards, k).kind == kind:
            first = guard_at(model.guards, k).action
            for a in range(first, first + guard_at(model.guards, k).actions):
                asked = (
                    note_requested_value(
                        model, ws, action_at(model.actions, a).entry, ws.new_value[a]
                    )
                    or asked
                )
    if not asked and not (parameters and model.l_kind.size > 0):
        return 0
    if write_set_coordinates(model, ws):
        normalise_quaternions(model, ws)
        for k in range(ws.set_q.size):
            ws.set_q[k] = ws.q[k] if not math.isnan(ws.set_q[k]) else math.nan
    return settle(model, ws, W.time)


@kernel
def write_set_coordinates(model, ws):
    """Write the set coordinates; return whether there are any."""
    some = False
    for k in range(ws.set_q.size):
        if not math.isnan(ws.set_q[k]):
            ws.q[k] = ws.set_q[k]
            some = True
    return some


@kernel
def note_requested_value(model, ws, entry, value):
    """Note the value that an action gives a coordinate or a speed; False where it gives something else."""
    if entry < 0 or entry >= ws.q.size + ws.u.size:
        return False
    if entry >= ws.q.size:
        for k in range(model.set_speed.size):
            if model.set_speed[k] == entry - ws.q.size:
                ws.set_mark[k] = 1.0
                ws.set_to[k] = value
        return True
    ws.set_q[entry] = value
    for k in range(model.set_speed.size):
        j = model.set_speed[k]
        i = model.u_body[j]
        own = model.u_q[j] == entry
        whole = (
            model.u_q[j] < 0 and model.q_at[i] <= entry < model.q_at[i + 1]
        )  # a joint with a quaternion is kept as a whole
        if own or whole:
            ws.set_hold[k] = 1.0
    return True
