"""Selection and start of the integrator at the beginning of a stage, and automatic switching
between methods.
"""

import math

from kinetree.solvers.events.event_handling import start_event_location
from kinetree.solvers.instance.derivatives import get_state, in_momenta, put_state
from kinetree.solvers.instance.integrators import KIND, is_fixed, start
from kinetree.solvers.instance.time_breakpoints import read_after_breakpoint
from kinetree.solvers.integrate import controller as C
from kinetree.solvers.integrate.kinds import AUTO, CODES, INTERRUPTED, SMOOTH, STIFF
from kinetree.solvers.integrate.stormer import SPEEDS
from kinetree.solvers.kernel import kernel
from kinetree.solvers.run.input_changes import apply_input_jump, store_inputs

ADAMS, RK45, RADAU = CODES[SMOOTH], CODES[INTERRUPTED], CODES[STIFF]
STORMER = CODES["stormer"]


@kernel
def start_stage(I, W, model, ws, mem):
    """Start integrator and root finder at the current state; return EVENT if an event is due there
    already.
    """
    kind = I.integrator
    if kind == AUTO:
        kind = RK45 if I.inputs > 0 and W.soft == 0.0 else ADAMS
    status = 0
    if model.header.followed > 0:
        status, work = apply_input_jump(model, ws, W.time)
        W.work += work
    if status == 0:
        status = set_integrator(I, W, model, ws, mem, kind)
    context = (model, ws)
    if model.header.knots > 0:
        read_after_breakpoint(ws, W.turned)
    if status == 0:
        status = start(mem, context, W.time, scratch_state(I, W, int(mem[C.N])))
    W.started = 1.0
    W.knot = -math.inf
    store_inputs(I, W, ws)
    return start_event_location(I, W, model, ws, mem) if status == 0 else status


@kernel
def scratch_state(I, W, n):
    """Return scratch memory for one state."""
    return W[I.at_scratch : I.at_scratch + n]


@kernel
def set_integrator(I, W, model, ws, mem, kind):
    """Set the options of an integrator and copy the current state to its scratch memory."""
    n = ws.q.size + ws.u.size + ws.x.size + 1
    y = scratch_state(I, W, n)
    status = get_state(y, model, ws, W.time)
    y[n - 1] = W.work
    fixed = is_fixed(kind)
    C.set_options(mem, n, W.relative, W.absolute, W.step if fixed else 0.0, W.largest_step)
    # the work of the loads is a book entry: it must not decide about steps
    C.block(mem, C.ATOL)[n - 1] = 1e30
    mem[C.NQ] = ws.q.size
    mem[C.PASSIVE] = 1.0  # the work of the loads
    mem[C.NU] = (
        ws.u.size if not in_momenta(ws) else -1.0
    )  # momenta are not the rates of the coordinates
    mem[C.REFRESH] = W.refresh
    mem[KIND] = kind
    if kind == STORMER:  # coordinates of balls and free joints are no integrals of speeds
        speeds = C.block(mem, SPEEDS)
        for i in range(speeds.size):
            speeds[i] = 0.0
        for j in range(ws.u.size):
            if model.u_q[j] >= 0:
                speeds[model.u_q[j]] = ws.q.size + j
    ws.head.on_constraints = 0.0  # until a step of radau ends far from the loop constraints
    W.kind = kind
    return status


@kernel
def maybe_switch_method(I, W, mem, context):
    """Switch to Radau when stability limits an explicit method, and back when the solution has
    become smooth; return the status.
    """
    kind = int(mem[KIND])
    other = kind
    if kind != RADAU and C.is_stiff(mem):
        other = RADAU
    elif kind == RADAU and C.is_smooth(mem):
        other = RK45 if I.inputs > 0 and W.soft == 0.0 else ADAMS
    if other == kind:
        return 0
    model, ws = context
    y = C.state_of(mem)
    t, last = C.time_of(mem), C.step_of(mem)
    W.work = y[len(y) - 1]
    W.time = t
    status = put_state(model, ws, t, y)
    if status == 0:
        status = set_integrator(I, W, model, ws, mem, other)
    mem[C.HARD] = 1.0 - W.soft
    mem[C.H_GIVEN] = last
    if status == 0:
        status = start(mem, context, t, scratch_state(I, W, int(mem[C.N])))
    mem[C.H_GIVEN] = 0.0  # later restarts choose their first step
    return status
