"""Entry points of a simulation unit (an FMU instance): reset, start, advance, and further calls of
hosts. Arguments are the unit's memory blocks.
"""

import math

from kinetree.solvers.contacts.mode_changes import initialise_contacts
from kinetree.solvers.engine.derived_constants import prepare
from kinetree.solvers.events.guard_state import (
    arm_guards,
    forget_conditions,
    locator_size,
    mark_contacts_evaluated,
    save_signs,
)
from kinetree.solvers.events.model_exchange import (
    close_host_state,
    continue_from,
    evaluate_closed_guards,
    forget_noted_step,
    handle_host_events,
    leave_event_mode,
    mark_located_by_host,
    note_step,
    refresh_for_host,
)
from kinetree.solvers.instance.actuator_probes import latch_actuators
from kinetree.solvers.instance.integrators import memory_size
from kinetree.solvers.instance.memory import (
    initialise_workspace,
    load_states,
    normalise_quaternions,
    open_energy_balance,
    refresh,
    structure,
)
from kinetree.solvers.instance.time_breakpoints import host_time
from kinetree.solvers.kernel import entry, kernel
from kinetree.solvers.loops.assembly import assemble
from kinetree.solvers.run.advance import advance
from kinetree.solvers.run.breakpoint_jumps import pass_host_breakpoint
from kinetree.solvers.views import floats_view, unit_ints, unit_work

BUDGET = 1e6  # steps of one advance, unless the caller allows more
CLOSE_LOOPS, LOCATE, NOTE, LOOK, GO_ON, LEAVE = -1, 2, 3, 4, 5, 6  # options of unit_event


@entry
def unit_sizes(ints, floats, work, option, t):
    """Compute the memory sizes of integrator `option` and of its root finder; `work` holds the
    numbers of states and guards.
    """
    sizes = floats_view(work)
    states, guards = int(sizes[0]), int(sizes[1])
    sizes[0] = memory_size(option, states)
    sizes[1] = locator_size(guards, states)
    return 0


@entry
def unit_reset(ints, floats, work, option, t):
    """Reset an instance to stage 0, initial registers and default options."""
    I, F, W = unit_ints(ints), floats_view(floats), unit_work(work)
    for k in range(I.work_size):
        W[k] = 0.0
    W.relative = 1e-8
    W.absolute = 1e-10
    W.step = 1e-3
    W.refresh = 1.0
    W.budget = BUDGET
    W.knot = W.turned = -math.inf
    W.next = math.inf
    forget_noted_step(W)
    initialise_workspace(I, F, W)
    return 0


@kernel
def close_all(model, ws, t):
    """Close loops and find the closed contacts before a run starts; return the status."""
    status = assemble(model, ws, t) if model.l_kind.size > 0 else 0
    return initialise_contacts(model, ws, t) if status == 0 and model.c_law.size > 0 else status


@entry
def unit_start(ints, floats, work, option, t):
    """Initialise constants, inputs and states, close loops and evaluate; option 1 keeps the present
    state.
    """
    I, F, W = unit_ints(ints), floats_view(floats), unit_work(work)
    model, ws = structure(I, F, W)
    if option == 0:
        ws.val[1 + I.parameters + I.inputs] = t
        ws.val[2 + I.parameters + I.inputs] = t
    status = prepare(model, ws)
    if status != 0:
        return status
    for k in range(I.inputs):
        if option == 0:
            given = ws.val[
                I.start_inputs + k
            ]  # not a number: the host has not set any, and the description has an expression
            ws.val[1 + I.parameters + k] = ws.val[I.preset_inputs + k] if given != given else given
    if option == 0:
        for k in range(ws.q.size):
            ws.q[k] = ws.val[I.start_q + k]
        for k in range(ws.u.size):
            ws.u[k] = ws.val[I.start_u + k]
        for k in range(ws.x.size):
            ws.x[k] = ws.val[I.start_x + k]
    normalise_quaternions(model, ws)
    status = close_all(model, ws, t)
    W.started = 0.0
    W.knot = W.turned = -math.inf
    W.next = math.inf
    forget_noted_step(W)
    W.pending = 0.0
    forget_conditions(I, W)
    mark_contacts_evaluated(I, W, model)
    if status == 0:
        status = refresh(I, F, W, t)
    if status == 0 and model.header.latches > 0:
        latch_actuators(model, ws)
        status = refresh(I, F, W, t)
    W.work = 0.0
    W.energy_residual = 0.0
    open_energy_balance(I, F, W)
    W.status = status
    arm_guards(I, W, model, ws)
    return status


@entry
def unit_prepare(ints, floats, work, option, t):
    """Recompute derived constants after a change of parameters; the state is kept."""
    I, F, W = unit_ints(ints), floats_view(floats), unit_work(work)
    model, ws = structure(I, F, W)
    residual = W.energy_residual
    if W.started != 0.0:
        save_signs(I, W, model)
    status = prepare(model, ws)
    if status == 0 and model.c_law.size > 0:
        status = initialise_contacts(model, ws, W.time)
    if status == 0:
        status = refresh(I, F, W, W.time)
    W.energy_residual = residual
    open_energy_balance(I, F, W)
    W.started = 0.0
    return status


@entry
def unit_refresh(ints, floats, work, option, t):
    """Evaluate the current state and update the columns, for instance after inputs changed."""
    return refresh(unit_ints(ints), floats_view(floats), unit_work(work), t)


@entry
def unit_advance(ints, floats, work, option, t):
    """Integrate to time t. Option bit 0: stop at the first event; bit 1: stop before and after
    every event; bit 2: run only while the event log has room.
    """
    return advance(unit_ints(ints), floats_view(floats), unit_work(work), t, option)


@entry
def unit_derivatives(ints, floats, work, option, t):
    """Model exchange: compute state derivatives, outputs and event indicators; open loops are
    stabilised (Baumgarte).
    """
    I, F, W = unit_ints(ints), floats_view(floats), unit_work(work)
    model, ws = structure(I, F, W)
    load_states(I, W, ws)
    ws.head.stabilised = 1.0
    status = refresh_for_host(I, F, W, host_time(W, t))
    ws.head.stabilised = 0.0
    W.time = t
    return status


@entry
def unit_corner(ints, floats, work, option, t):
    """Model exchange: if t has reached the breakpoint of the time functions announced in `next`,
    apply it and announce the next one.
    """
    return pass_host_breakpoint(unit_ints(ints), floats_view(floats), unit_work(work), t)


@entry
def unit_event(ints, floats, work, option, t):
    """Model exchange: execute events at t. Option 0: all with positive indicators, 1: those that
    were armed.

    Calls before that: 2: mark the events that the host has located, -1: close the loops, 4:
    evaluate the guards alone, with loops closed. Calls about the host's steps: 3: note a completed
    step, 5: the host continues from, or returns to, t, 6: event mode ends.
    """
    if option == LOOK:
        return evaluate_closed_guards(unit_ints(ints), floats_view(floats), unit_work(work), t)
    if option == NOTE:
        return note_step(unit_ints(ints), floats_view(floats), unit_work(work), t)
    if option == GO_ON:
        return continue_from(unit_ints(ints), floats_view(floats), unit_work(work), t)
    if option == LEAVE:
        return leave_event_mode(unit_ints(ints), floats_view(floats), unit_work(work), t)
    if option == LOCATE:
        return mark_located_by_host(unit_ints(ints), floats_view(floats), unit_work(work))
    if option == CLOSE_LOOPS:
        return close_host_state(unit_ints(ints), floats_view(floats), unit_work(work), t)
    return handle_host_events(unit_ints(ints), floats_view(floats), unit_work(work), t, option)
