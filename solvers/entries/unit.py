"""Entry points of a unit: reset, start, advance, and what hosts need besides. Arguments are the unit's blocks."""

import math

from kinetree.solvers import layout as L
from kinetree.solvers import unit_layout as U
from kinetree.solvers.engine.prepare import prepare
from kinetree.solvers.integrate import controller as C
from kinetree.solvers.kernel import entry
from kinetree.solvers.loops.assembly import assemble
from kinetree.solvers.run.advance import advance
from kinetree.solvers.run.contact_events import touch
from kinetree.solvers.run.corners import host_time, pass_corner
from kinetree.solvers.run.event_actions import close_again, happen_by_guards
from kinetree.solvers.run.event_memory import arm, keep_signs
from kinetree.solvers.run.step_start import latch
from kinetree.solvers.run.unit import lay_out, load_states, locator, memory, open_books, refresh, structure, unit_quaternions
from kinetree.solvers.views import floats_view, ints_view

BUDGET = 1e6  # steps of one advance, unless the caller allows more
CLOSE_LOOPS = -1  # option of unit_event


@entry
def unit_reset(ints, floats, work, option, t):
    """A fresh instance: stage 0, registers at their image, default options."""
    I, F, W = ints_view(ints), floats_view(floats), floats_view(work)
    for k in range(I[U.U_SIZES + 2]):
        W[k] = 0.0
    W[U.V_RELATIVE] = 1e-8
    W[U.V_ABSOLUTE] = 1e-10
    W[U.V_STEP] = 1e-3
    W[U.V_REFRESH] = 1.0
    W[U.V_BUDGET] = BUDGET
    W[U.V_KNOT] = W[U.V_TURNED] = -math.inf
    W[U.V_NEXT] = math.inf
    lay_out(I, F, W)
    return 0


@entry
def unit_start(ints, floats, work, option, t):
    """Constants, inputs and state from their registers, loops closed, columns evaluated. Option 1: keep the state that is there."""
    I, F, W = ints_view(ints), floats_view(floats), floats_view(work)
    model, ws = structure(I, F, W)
    status = prepare(model, ws)
    if status != 0:
        return status
    for k in range(I[U.U_INPUTS]):
        if option == 0:
            given = ws.val[I[U.U_START_INPUTS] + k]  # not a number: the host has not set any, and the description has an expression
            ws.val[1 + I[U.U_PARAMETERS] + k] = ws.val[I[U.U_PRESET_INPUTS] + k] if given != given else given
    if option == 0:
        for k in range(ws.q.size):
            ws.q[k] = ws.val[I[U.U_START_Q] + k]
        for k in range(ws.u.size):
            ws.u[k] = ws.val[I[U.U_START_U] + k]
        for k in range(ws.x.size):
            ws.x[k] = ws.val[I[U.U_START_X] + k]
        ws.val[1 + I[U.U_PARAMETERS] + I[U.U_INPUTS]] = t
    unit_quaternions(model, ws)
    if model.l_kind.size > 0:
        status = assemble(model, ws, t)
    if status == 0 and model.c_law.size > 0:
        status = touch(model, ws, t)
    W[U.V_STARTED] = 0.0
    W[U.V_KNOT] = W[U.V_TURNED] = -math.inf
    W[U.V_NEXT] = math.inf
    W[U.V_PENDING] = 0.0
    for k in range(2 * I[U.U_EVENT_NAMES]):
        W[I[U.U_AT_TRUTH] + k] = 0.0
    if status == 0:
        status = refresh(I, F, W, t)
    if status == 0 and model.latches.size > 0:
        latch(model, ws)
        status = refresh(I, F, W, t)
    W[U.V_WORK] = 0.0
    W[U.V_ENERGY_RESIDUAL] = 0.0
    open_books(I, F, W)
    W[U.V_STATUS] = status
    arm(I, W, model, ws)
    return status


@entry
def unit_prepare(ints, floats, work, option, t):
    """After a parameter changed: constants anew, state kept."""
    I, F, W = ints_view(ints), floats_view(floats), floats_view(work)
    model, ws = structure(I, F, W)
    residual = W[U.V_ENERGY_RESIDUAL]
    if W[U.V_STARTED] != 0.0:
        keep_signs(I, W, model, locator(I, W, model.guards.size // L.GUARD, int(memory(I, W)[C.N])))
    status = prepare(model, ws)
    if status == 0 and model.c_law.size > 0:
        status = touch(model, ws, W[U.V_TIME])
    if status == 0:
        status = refresh(I, F, W, W[U.V_TIME])
    W[U.V_ENERGY_RESIDUAL] = residual
    open_books(I, F, W)
    W[U.V_STARTED] = 0.0
    return status


@entry
def unit_refresh(ints, floats, work, option, t):
    """Columns of the present state, for instance after inputs changed."""
    return refresh(ints_view(ints), floats_view(floats), floats_view(work), t)


@entry
def unit_advance(ints, floats, work, option, t):
    """Integrate to t. Option bit 0: return at the first event; bit 1: before and after every event, bit 2: while the log holds all new events."""
    return advance(ints_view(ints), floats_view(floats), floats_view(work), t, option)


@entry
def unit_derivatives(ints, floats, work, option, t):
    """Model exchange: rates of the states of the union, columns and guards at the states given there; open loops are pulled closed."""
    I, F, W = ints_view(ints), floats_view(floats), floats_view(work)
    model, ws = structure(I, F, W)
    load_states(I, W, ws)
    ws.head[L.K_STABILISED] = 1.0
    status = refresh(I, F, W, host_time(W, t))
    ws.head[L.K_STABILISED] = 0.0
    W[U.V_TIME] = t
    return status


@entry
def unit_corner(ints, floats, work, option, t):
    """Model exchange: carry out the corner of the laws of time announced in V_NEXT if t has reached it, and announce the next one."""
    return pass_corner(ints_view(ints), floats_view(floats), floats_view(work), t)


@entry
def unit_event(ints, floats, work, option, t):
    """Model exchange: carry out what the guards ask for at t; option 0: all positive ones, 1: those armed, -1: close the loops."""
    if option == CLOSE_LOOPS:
        return close_again(ints_view(ints), floats_view(floats), floats_view(work), t)
    return happen_by_guards(ints_view(ints), floats_view(floats), floats_view(work), t, option)
