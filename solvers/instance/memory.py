"""Memory of a simulation unit: structures, workspace, evaluation for hosts.

I: the integer block of the unit, F: its constants, W: its working memory (see `unit_layout.py`).
"""

import math

from kinetree.solvers import unit_layout as U
from kinetree.solvers.contacts.forces import write_indicators
from kinetree.solvers.elements.chosen import has_own_tangent, unify_element
from kinetree.solvers.engine.energy import kinetic, potential
from kinetree.solvers.engine.evaluation import finish, load, tell
from kinetree.solvers.engine.kinematics import velocities
from kinetree.solvers.engine.reactions import reactions
from kinetree.solvers.instance.actuator_probes import compute_effective_masses, probe_actuators
from kinetree.solvers.instance.balances import energy_of_motion
from kinetree.solvers.instance.derivatives import coordinate_rates
from kinetree.solvers.instance.failures import find_cause
from kinetree.solvers.kernel import kernel
from kinetree.solvers.linked_kernels import boundary
from kinetree.solvers.loops.constrained_accelerations import accelerations_of
from kinetree.solvers.loops.constraint_residuals import opening, position_residual
from kinetree.solvers.views import guard_at, locator_view, model_view, stage_at, work_view

STAGES = U.UNIT.size  # where the records of the stages begin


@kernel
def stage_record(I, W):
    """Return the STAGE record of the current stage."""
    return stage_at(I[STAGES:], int(W.stage))


@kernel
def structure(I, F, W):
    """Return the model and the workspace of the current stage."""
    stage = stage_record(I, W)
    ints = I[stage.ints :]
    return model_view(ints, F[stage.floats :]), work_view(ints, W[I.at_workspace :])


@kernel
def integrator_memory(I, W):
    """Return the memory of the integrator."""
    return W[I.at_memory : I.at_memory + I.memory]


@kernel
def locator_memory(I, W):
    """Return the memory of the root finder: record LOCATOR and what follows it."""
    return locator_view(W[I.at_locator : I.at_locator + I.locator])


@kernel
def initialise_workspace(I, F, W):
    """Initialise the workspace of the present stage: registers at start values, loads 0, the rest
    NaN.
    """
    model, ws = structure(I, F, W)
    clear_workspace(model, ws, W[I.at_workspace :])
    ws.head.form = I.form


@kernel
def clear_workspace(model, ws, work):
    """Set the registers of a workspace to start values; state, loads and contacts to 0; the rest to
    NaN.
    """
    for k in range(model.header.work_size):
        work[k] = math.nan
    for k in range(ws.head.size):
        ws.head[k] = 0.0
    for k in range(ws.val.size):
        ws.val[k] = model.val0[k]
    clear(ws.q)
    clear(ws.u)
    clear(ws.x)
    clear(ws.p)
    clear(ws.tau)
    clear(ws.added)
    clear(ws.extra)
    clear(ws.wrench)
    clear(ws.reaction)
    clear(ws.c_mode)
    clear(ws.c_dir)
    clear(ws.c_along)
    clear(ws.c_lam)
    clear(ws.c_out)


@kernel
def clear(field):
    """Set all elements of a field to zero."""
    for k in range(field.size):
        field[k] = 0.0


@boundary("unit")
def refresh(I, F, W, t):
    """Evaluate the current state and fill columns, energies, residuals and guards; return the
    status.
    """
    model, ws = structure(I, F, W)
    status = probe_actuators(model, ws, t)
    if status == 0:
        status = load(model, ws, t)
    if status == 0:
        status = accelerations_of(model, ws)
    if status == 0:
        reactions(model, ws)
        velocities(model, ws)
        status = finish(model, ws)
        tell(model, ws)
        compute_effective_masses(model, ws)
        write_indicators(model, ws)
        W.energy = kinetic(model, ws) + potential(model, ws)
        W.energy_residual = energy_of_motion(model, ws) - W.energy_start - W.work
        W.constraint_residual = 0.0
        if model.l_kind.size > 0:
            position_residual(model, ws)
            W.constraint_residual = opening(ws)
    W.time = t
    if status == 0:
        coordinate_rates(ws.ydot, model, ws)
        publish(I, W, model, ws)
    else:
        status = find_cause(model, ws, status)
        W.item = ws.head.item
    return status


@kernel
def publish(I, W, model, ws):
    """Copy registers to columns, guards, and the states of the union over all stages with their
    rates.
    """
    stage = stage_record(I, W)
    map_at = stage.columns
    for k in range(I.columns):
        if I[map_at + k] >= 0:
            W[I.at_columns + k] = ws.val[I[map_at + k]]
    for k in range(model.header.guards):
        W[I.at_guards + k] = ws.val[guard_at(model.guards, k).register]
    save_states(I, W, ws)
    map_at = stage.states
    for k in range(I.states):
        W[I.at_rates + k] = state_rate(ws, I[map_at + k])


@kernel
def save_states(I, W, ws):
    """Copy q, u, x to the states of the union over all stages."""
    map_at = stage_record(I, W).states
    for k in range(I.states):
        if I[map_at + k] >= 0:
            W[I.at_states + k] = state_entry(ws, I[map_at + k])


@kernel
def state_entry(ws, k):
    """Return entry k of (q, u, x)."""
    if k < ws.q.size:
        return ws.q[k]
    if k < ws.q.size + ws.u.size:
        return ws.u[k - ws.q.size]
    return ws.x[k - ws.q.size - ws.u.size]


@kernel
def set_state_entry(ws, k, value):
    """Set entry k of (q, u, x) to a value."""
    if k < ws.q.size:
        ws.q[k] = value
    elif k < ws.q.size + ws.u.size:
        ws.u[k - ws.q.size] = value
    else:
        ws.x[k - ws.q.size - ws.u.size] = value


@kernel
def load_states(I, W, ws):
    """Copy the states of the union over all stages to q, u, x."""
    map_at = stage_record(I, W).states
    for k in range(I.states):
        if I[map_at + k] >= 0:
            set_state_entry(ws, I[map_at + k], W[I.at_states + k])


@kernel
def open_energy_balance(I, F, W):
    """Restart the energy balance at the current state without a jump in its residual."""
    model, ws = structure(I, F, W)
    W.energy_start = energy_of_motion(model, ws) - W.work - W.energy_residual


@kernel
def state_rate(ws, k):
    """Return the time derivative of entry k of (q, u, x); 0 for a state that the current structure
    does not have.
    """
    if k < 0:
        return 0.0
    if k < ws.q.size:
        return ws.ydot[k]
    if k < ws.q.size + ws.u.size:
        return ws.udot[k - ws.q.size]
    return ws.xdot[k - ws.q.size - ws.u.size]


@kernel
def normalise_quaternions(model, ws):
    """Normalise the quaternions of the start state."""
    for e in range(model.e_kind.size):
        if has_own_tangent(model.e_kind[e]):
            unify_element(model, ws, e, 0)
