"""The mechanism as a system of first-order equations: y = (q, u, x, work of all loads), context =
(model, ws).

A run by a Hamiltonian form has y = (q, p, x, work); ws.u always holds the speeds. The literal forms
are in a library of their own, called through hooks.
"""

from kinetree.solvers.contacts.contact_modes import any_closed
from kinetree.solvers.contacts.forces import write_indicators
from kinetree.solvers.contacts.projection import project_constraints
from kinetree.solvers.elements.chosen import element_q_rates, has_own_tangent
from kinetree.solvers.engine.evaluation import finish, load, look, move_inputs
from kinetree.solvers.engine.kinematics import velocities
from kinetree.solvers.engine.reactions import reactions
from kinetree.solvers.instance.balances import load_power
from kinetree.solvers.kernel import kernel
from kinetree.solvers.linked_kernels import boundary, call_own, hook
from kinetree.solvers.literal.momentum_forms import has_momenta
from kinetree.solvers.loops.constrained_accelerations import accelerations_of
from kinetree.solvers.views import guard_at

CHOSEN = "kinetree.solvers.literal.form_dispatch"
form_speeds = hook(CHOSEN, "form_speeds")  # ws.u from ws.q, ws.p
form_rates = hook(
    CHOSEN, "form_rates"
)  # ws.udot, or ws.pdot after form_speeds, of the evaluated state
form_momenta = hook(CHOSEN, "form_momenta")  # ws.p from ws.q, ws.u


@kernel
def in_momenta(ws):
    """Return whether the state of the run has momenta, (q, p), instead of speeds."""
    return has_momenta(ws.head.form)


@kernel
def put_state(model, ws, t, y):
    """Copy the state vector y to q, u, x; momenta are converted to speeds by the form of the run.
    Return the status.
    """
    nq = ws.q.size
    nu = ws.u.size
    middle = ws.p if in_momenta(ws) else ws.u
    for k in range(nq):
        ws.q[k] = y[k]
    for k in range(nu):
        middle[k] = y[nq + k]
    for k in range(ws.x.size):
        ws.x[k] = y[nq + nu + k]
    return form_speeds(model, ws, t) if in_momenta(ws) else 0


@kernel
def get_state(y, model, ws, t):
    """Copy q, u, x to y, or q, p, x with the momenta of these speeds; return the status."""
    nq = ws.q.size
    nu = ws.u.size
    status = form_momenta(model, ws, t) if in_momenta(ws) else 0
    middle = ws.p if in_momenta(ws) else ws.u
    for k in range(nq):
        y[k] = ws.q[k]
    for k in range(nu):
        y[nq + k] = middle[k]
    for k in range(ws.x.size):
        y[nq + nu + k] = ws.x[k]
    return status


@kernel
def coordinate_rates(ydot, model, ws):
    """Compute the rates of the coordinates: the speeds, or half the quaternion times the angular
    velocity.
    """
    for j in range(ws.u.size):
        if model.u_q[j] >= 0:
            ydot[model.u_q[j]] = ws.u[j]
    if model.header.own_tangents > 0:
        for e in range(model.e_kind.size):
            if has_own_tangent(model.e_kind[e]):
                element_q_rates(model, ws, e, ydot)


@kernel
def velocities_if_given(model, ws):
    """Compute body velocities if the power of prescribed motions needs them."""
    if model.header.given == 1:
        velocities(model, ws)


@kernel
def needs_engine(model, ws):
    """Return whether the rates need the default engine in addition to the literal form of the run."""
    return ws.head.form == 0.0 or ws.x.size > 0 or model.header.given == 1


@kernel
def rates_by_form(ydot, model, ws, t):
    """Compute the rates of the speeds or momenta by the literal form of the run; return the status."""
    status = form_rates(model, ws, t)
    rate = ws.pdot if in_momenta(ws) else ws.udot
    for j in range(ws.u.size):
        ydot[ws.q.size + j] = rate[j]
    return status


@kernel
def derivatives(ydot, context, t, y):
    """Compute the right-hand side ydot of y = (q, u, x, work) for the integrators; return the
    status.
    """
    model, ws = context
    return rates(ydot, model, ws, t, y)


@kernel
def sided_time(ws, t):
    """Return the time at which functions of time are read: in the last stage of a step that ends at
    a breakpoint just before it, afterwards just after it.
    """
    return t if ws.head.sided == 0.0 else min(max(t, ws.head.read_from), ws.head.read_until)


@boundary("rates")
def rates(ydot, model, ws, t, y):
    """Compute the rates ydot of the state y, or of its projection onto the loop constraints if
    `on_constraints` is set; return the status.
    """
    t = sided_time(ws, t)
    status = put_state(model, ws, t, y)
    if model.header.own != 0 and specialised_rates(ydot, model, ws, t, y):
        return 0
    if ws.head.on_constraints != 0.0:
        project_constraints(model, ws, t)
    if status == 0:
        status = load(model, ws, t)
    if status == 0 and needs_engine(model, ws):
        status = accelerations_of(model, ws)
    if status != 0:
        return status
    coordinate_rates(ydot, model, ws)
    nq = ws.q.size
    nu = ws.u.size
    for j in range(nu):
        ydot[nq + j] = ws.udot[j]
    if model.header.forces == 0:
        velocities_if_given(model, ws)
    ydot[nq + nu + ws.x.size] = load_power(model, ws)
    if ws.x.size > 0:
        if model.header.reactions == 1:
            reactions(model, ws)
        status = finish(model, ws)
        for k in range(ws.x.size):
            ydot[nq + nu + k] = ws.xdot[k]
    return rates_by_form(ydot, model, ws, t) if status == 0 and ws.head.form != 0.0 else status


@kernel
def event_indicators(out, context, t, y):
    """Compute all event indicators at a state; positive means true."""
    model, ws = context
    return indicators_of_state(out, model, ws, t, y)


@boundary("rates")
def indicators_of_state(out, model, ws, t, y):
    """Compute the guards at the state y, from kinematics alone unless one needs accelerations;
    return the status.
    """
    status = put_state(model, ws, t, y)
    if status == 0:
        status = evaluate_guards(model, ws, t)
    read_guards(out, model, ws)
    return status


@kernel
def evaluate_guards(model, ws, t):
    """Compute the registers of all guards at the state in ws.q, ws.u, ws.x; return the status."""
    late = model.header.late_guards == 1 or any_closed(ws)
    status = load(model, ws, t) if late else look(model, ws, t)
    if status == 0 and late:
        status = accelerations_of(model, ws)
        if status == 0:
            if model.header.reactions == 1:
                reactions(model, ws)
            status = finish(model, ws)
    write_indicators(model, ws)
    return status


@kernel
def read_guards(out, model, ws):
    """Copy the values of the guards from their registers to `out`."""
    for k in range(model.header.guards):
        out[k] = ws.val[guard_at(model.guards, k).register]


@kernel
def specialised_rates(ydot, model, ws, t, y):
    """Compute the rates by code specialised for the mechanism; return whether that was possible."""
    if ws.head.form != 0.0 or ws.head.on_constraints != 0.0:
        return False
    if ws.head.sloped != 0.0:
        move_inputs(model, ws, t - ws.head.given_at)
    return call_own(model.header.own, t, y, ws.val, ydot) == 0
