"""Change of structure at the end of a stage: poses are kept, coordinates converted, speeds follow
from momenta.

M u = Bᵀ M (v_before - v̂) is solved by the default engine with the momenta as loads: a release
leaves velocities unchanged, a lock acts as a plastic impact.
"""

from kinetree.solvers import layout as L
from kinetree.solvers import unit_layout as U
from kinetree.solvers.algebra.rotations import quaternion_of
from kinetree.solvers.algebra.vectors import (
    add3,
    cross,
    get3,
    get9,
    mtv,
    neg3,
    put3,
    put9,
    scale,
    sub3,
    sv,
)
from kinetree.solvers.contacts.mode_changes import initialise_contacts
from kinetree.solvers.engine.dec import accelerate, eliminate
from kinetree.solvers.engine.derived_constants import prepare
from kinetree.solvers.engine.evaluation import set_registers
from kinetree.solvers.engine.kinematics import inertia_of, motion, velocities
from kinetree.solvers.engine.modal_momenta import keep_modal_momenta, put_modal_momentum
from kinetree.solvers.events.guard_state import mark_contacts_evaluated
from kinetree.solvers.instance.memory import (
    initialise_workspace,
    load_states,
    save_states,
    stage_record,
    structure,
)
from kinetree.solvers.kernel import kernel
from kinetree.solvers.linked_kernels import boundary
from kinetree.solvers.loops.constraint_projection import project
from kinetree.solvers.loops.constraint_rank import survey_ranks
from kinetree.solvers.loops.massless_bodies import lend
from kinetree.solvers.views import locked_at, transition_at, unit_body_at

ZERO = (0.0, 0.0, 0.0)
TRANSITION, UNIT_BODY = U.TRANSITION.size, U.UNIT_BODY.size


@kernel
def save_bodies(I, W, ws):
    """Store pose and velocity of every body of the current structure; `velocities` must have run."""
    map_at = stage_record(I, W).bodies
    for g in range(I.bodies):
        i = I[map_at + g]
        if i >= 0:
            body = unit_body_at(W[I.at_bodies :], g)
            at = i * L.ROW
            put3(body.position, 0, get3(ws.row, at + L.W_P))
            put3(body.velocity, 0, get3(ws.row, at + L.W_V))
            put3(body.spin, 0, get3(ws.row, at + L.W_OM))
            put9(body.rotation, 0, get9(ws.row, at + L.W_R))


@kernel
def save_registers(I, W, ws):
    """Save parameters, inputs and run start after the stored bodies, since laying out the next
    structure clears them.
    """
    to = I.at_bodies + UNIT_BODY * I.bodies
    for r in range(3 + I.parameters + I.inputs):
        W[to + r] = ws.val[r]


@kernel
def restore_registers(I, W, model, ws, transition):
    """Restore parameters and inputs, apply the values that the transition sets, and set locked
    coordinates.
    """
    at = I.at_bodies + UNIT_BODY * I.bodies
    begin = 1 + I.parameters + I.inputs
    for r in range(begin):
        ws.val[r] = W[at + r]
    ws.val[begin] = W.time  # the new stage begins now
    ws.val[begin + 1] = W[at + begin + 1]  # the run began when it did
    entry = transition + TRANSITION
    change = transition_at(I[transition:], 0)
    for _ in range(change.set):
        ws.val[I[entry]] = model.val0[I[entry]]
        entry += 1
    entry += change.freed
    for k in range(change.locked):
        locked = locked_at(I[entry:], k)
        ws.val[locked.register] = W[I.at_states + locked.state]


@kernel
def place_released_bodies(I, W, model, ws, transition):
    """Compute the free-joint coordinates of released bodies from their poses."""
    change = transition_at(I[transition:], 0)
    entry = transition + TRANSITION + change.set
    map_at = stage_record(I, W).bodies
    for _ in range(change.freed):
        g = I[entry]
        entry += 1
        i = I[map_at + g]
        body = unit_body_at(W[I.at_bodies :], g)
        R = get9(body.rotation, 0)
        k = model.q_at[i]
        put3(ws.q, k, get3(body.position, 0))
        w, x, y, z = quaternion_of(R)
        ws.q[k + 3] = w
        put3(ws.q, k + 4, (x, y, z))
        put3(ws.u, model.u_at[i], mtv(R, get3(body.velocity, 0)))
        put3(ws.u, model.u_at[i] + 3, mtv(R, get3(body.spin, 0)))


@kernel
def balance_momenta(I, W, model, ws, t):
    """Compute the speeds of the new structure from the momenta of its bodies before, and of the
    rotors of joints that remain; return the status.
    """
    for j in range(ws.u.size):
        ws.tau[j] = ws.rotor[j] * ws.u[j]
    keep_modal_momenta(model, ws)
    for j in range(ws.u.size):
        ws.u[j] = 0.0
    status = set_registers(model, ws, t)
    motion(model, ws, True)
    velocities(model, ws)
    map_at = stage_record(I, W).bodies
    for g in range(I.bodies):
        i = I[map_at + g]
        if i > 0 and not is_twin(model, i):
            body = unit_body_at(W[I.at_bodies :], g)
            velocity, spin = get3(body.velocity, 0), get3(body.spin, 0)
            put_momentum(model, ws, i, velocity, spin)
            for k in range(
                model.l_kind.size
            ):  # the twins of a body that loops cut move with it, also those that the structure before had not
                if model.l_kind[k] == L.Loop.WELD and model.l_a[k] == i:
                    put_momentum(model, ws, model.l_b[k], velocity, spin)
    for k in range(model.l_kind.size):
        if model.l_kind[k] == L.Loop.WELD and model.l_a[k] == 0:
            put_momentum(model, ws, model.l_b[k], ZERO, ZERO)
    return solve_momenta(model, ws) if status == 0 else status


@kernel
def is_twin(model, i):
    """Return whether body i is the twin (second half) of a body cut by a loop."""
    for k in range(model.l_kind.size):
        if model.l_kind[k] == L.Loop.WELD and model.l_b[k] == i:
            return True
    return False


@kernel
def solve_momenta(model, ws):
    """Compute the speeds of the tree from the momenta that `put_momentum` has stored."""
    status = 0
    lend(model, ws)
    for i in range(model.parent.size - 1, 0, -1):
        if status == 0:
            status = eliminate(model, ws, i)
    for i in range(1, model.parent.size):
        if status == 0:
            accelerate(model, ws, i)
    for j in range(ws.u.size):
        ws.u[j] = ws.udot[j]
    return status


@kernel
def put_momentum(model, ws, i, v_before, om_before):
    """Store minus the momentum M (v_before - v̂) about O_i as the bias of body i, so that the
    elimination yields speeds.
    """
    at = i * L.ROW
    if model.joint[i] == L.Joint.MODES:
        v = sub3(v_before, get3(ws.row, at + L.W_V))
        put_modal_momentum(model, ws, i, v, sub3(om_before, get3(ws.row, at + L.W_OM)))
        return
    m, h, J = inertia_of(ws, i)
    v = sub3(v_before, get3(ws.row, at + L.W_V))
    om = sub3(om_before, get3(ws.row, at + L.W_OM))
    put3(ws.row, at + L.W_F, neg3(add3(scale(m, v), cross(om, h))))
    put3(ws.row, at + L.W_N, neg3(add3(sv(J, om), cross(h, v))))


@boundary("unit")
def change_structure(I, F, W, t):
    """Leave the current stage for the next one; the state must have been evaluated at t
    (`refresh`). Return the status.
    """
    _, before = structure(I, F, W)
    save_states(I, W, before)
    save_bodies(I, W, before)
    save_registers(I, W, before)
    W.stage += 1.0
    W.started = 0.0
    initialise_workspace(I, F, W)
    model, ws = structure(I, F, W)
    transition = stage_record(I, W).transition
    restore_registers(I, W, model, ws, transition)
    status = prepare(model, ws)
    load_states(I, W, ws)
    place_released_bodies(I, W, model, ws, transition)
    if status == 0 and transition_at(I[transition:], 0).jump == 1:
        status = balance_momenta(I, W, model, ws, t)
    if status == 0 and model.l_kind.size > 0:
        status = project(model, ws, t)
        if status == 0:
            status = survey_ranks(model, ws, t)
    if status == 0 and model.c_law.size > 0:
        status = initialise_contacts(model, ws, t)
        mark_contacts_evaluated(I, W, model)
    return status
