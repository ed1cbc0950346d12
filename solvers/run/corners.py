"""Corners of time functions: velocity jumps and their effects on the motion.

Where the speed of a given motion jumps, finite impulses act in the driven joints alone, so that the momenta p = BᵀM v of the free coordinates are
continuous: M u⁺ = M u⁻ + AᵀM_b (v̂⁻ - v̂⁺), under loop constraints with Jᵀλ besides and J u⁺ + c⁺ = 0. A law is read a little before and a little
after its corner, so that rounding of the instant does not choose the side. Momenta as states of a run need no jump.
"""

import math

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.vectors import dot3, get3, put3, sub3
from kinetree.solvers.engine.derived_constants import run_phase
from kinetree.solvers.engine.evaluation import place
from kinetree.solvers.engine.kinematics import velocities
from kinetree.solvers.engine.modal_momenta import keep_modal_momenta
from kinetree.solvers.integrate import controller as C
from kinetree.solvers.kernel import kernel
from kinetree.solvers.linked_kernels import boundary
from kinetree.solvers.loops.constraint_projection import project
from kinetree.solvers.run.balances import energy_of_motion
from kinetree.solvers.run.contact_events import strike
from kinetree.solvers.run.derivatives import get_state, in_momenta, put_state
from kinetree.solvers.run.knots import near, next_knot
from kinetree.solvers.run.methods import turn
from kinetree.solvers.run.stage_change import put_momentum, solve_momenta
from kinetree.solvers.run.unit import load_states, refresh, structure

LITTLE = 1e-9  # relative: a smaller change of a velocity is the curvature of its law


@kernel
def side(knot, sign):
    """Return an instant just after (sign 1) or before (-1) a corner."""
    return knot + sign * near(knot)


@kernel
def look_after(ws, knot):
    """Have right-hand sides read the laws of time after the corner, and before no other."""
    ws.head.sided = 1.0
    ws.head.read_from = side(knot, 1.0)
    ws.head.read_until = math.inf


@boundary("state")
def place_at(model, ws, t):
    """Return poses and velocities with the laws of time at t."""
    status = place(model, ws, t, True)
    velocities(model, ws)
    return run_phase(model, ws, 2) if status == 0 and model.l_kind.size > 0 else status


@kernel
def keep_velocities(model, ws):
    """Velocities of all bodies, in the places of the reactions, and the rates of the couplings."""
    for i in range(1, model.parent.size):
        put3(ws.reaction, 6 * i, get3(ws.row, i * L.ROW + L.W_V))
        put3(ws.reaction, 6 * i + 3, get3(ws.row, i * L.ROW + L.W_OM))
    for g in range(model.l_kind.size):
        if model.l_kind[g] == L.Loop.COUPLING:
            ws.loop_b[model.l_row[g]] = ws.val[model.l_a[g] + 1]


@kernel
def changed_much(x, before):
    """Return whether a vector differs from its earlier value."""
    d = sub3(x, before)
    return dot3(d, d) > LITTLE * LITTLE * (dot3(x, x) + dot3(before, before))


@kernel
def speeds_jump(model, ws, knot):
    """Return whether prescribed motions change a velocity or coupling rate discontinuously at a
    corner.
    """
    found = place_at(model, ws, side(knot, -1.0)) != 0
    keep_velocities(model, ws)
    found = place_at(model, ws, side(knot, 1.0)) != 0 or found
    for i in range(1, model.parent.size):
        found = found or changed_much(get3(ws.row, i * L.ROW + L.W_V), get3(ws.reaction, 6 * i))
        found = found or changed_much(
            get3(ws.row, i * L.ROW + L.W_OM), get3(ws.reaction, 6 * i + 3)
        )
    for g in range(model.l_kind.size):
        if model.l_kind[g] == L.Loop.COUPLING:
            rate, before = ws.val[model.l_a[g] + 1], ws.loop_b[model.l_row[g]]
            found = found or abs(rate - before) > LITTLE * (abs(rate) + abs(before))
    return found


@kernel
def next_jump(model, ws, t, limit):
    """Return the first time after t, up to `limit`, at which velocities jump; infinity if there is
    none.
    """
    while True:
        knot = next_knot(model, ws, t, 1)
        if not knot <= limit:
            return math.inf
        if speeds_jump(model, ws, knot):
            return knot
        t = side(knot, 1.0)


@boundary("state")
def jump(model, ws, knot):
    """Change ws.u at a corner; needs q and u before it."""
    status = place_at(model, ws, side(knot, -1.0))
    keep_velocities(model, ws)
    for j in range(ws.u.size):
        ws.tau[j] = ws.rotor[j] * ws.u[j]  # rotors keep their momentum too
    keep_modal_momenta(model, ws)
    for j in range(ws.u.size):
        ws.u[j] = 0.0
    if status == 0:
        status = place_at(model, ws, side(knot, 1.0))
    for i in range(1, model.parent.size):
        put_momentum(model, ws, i, get3(ws.reaction, 6 * i), get3(ws.reaction, 6 * i + 3))
    if status == 0:
        status = solve_momenta(model, ws)
    if status == 0 and model.l_kind.size > 0:
        status = project(model, ws, side(knot, 1.0))
    if status == 0 and model.c_law.size > 0:
        status = strike(model, ws, side(knot, 1.0))
    return status


@kernel
def turn_corner(W, mem, model, ws):
    """Apply the corner at the end of the last step: velocity jumps, work of drives, restart of the
    method.
    """
    knot, y = W.knot, C.state_of(mem)
    W.knot = -math.inf
    W.turned = knot
    status = 0
    if next_knot(model, ws, side(knot, -2.0), 1) <= side(knot, 1.0):
        status = put_state(model, ws, side(knot, -1.0), y)
        if status == 0 and speeds_jump(model, ws, knot):
            status = carry_over(model, ws, knot, y)
    look_after(ws, knot)
    return status if status != 0 else turn(mem, (model, ws))


@kernel
def carry_over(model, ws, knot, y):
    """Carry the state y and its work across a corner with a velocity jump."""
    status = place_at(model, ws, side(knot, -1.0))
    energy = energy_of_motion(model, ws)
    if status == 0:
        status = (
            put_state(model, ws, side(knot, 1.0), y) if in_momenta(ws) else jump(model, ws, knot)
        )
    if status == 0:
        status = get_state(y, model, ws, side(knot, 1.0))
    if status == 0:
        status = place_at(model, ws, side(knot, 1.0))
    y[len(y) - 1] += energy_of_motion(model, ws) - energy
    return status


@kernel
def host_time(W, t):
    """Return the time at which time functions are read for a host: before an announced corner,
    after a passed one.
    """
    if abs(t - W.next) <= near(W.next):
        return side(W.next, -1.0)
    return side(W.turned, 1.0) if abs(t - W.turned) <= near(W.turned) else t


@kernel
def behind(W, t):
    """Return t, or the later side of a corner at t."""
    knot = W.next if abs(t - W.next) <= near(W.next) else W.turned
    return side(knot, 1.0) if abs(t - knot) <= near(knot) else t


@kernel
def pass_corner(I, F, W, t):
    """Model exchange: carry out the corner that was announced in `next` once t has reached it, and announce the next one."""
    model, ws = structure(I, F, W)
    status, knot = 0, W.next
    if t >= side(knot, -1.0):
        W.turned, W.next = knot, math.inf
        load_states(I, W, ws)
        if next_knot(model, ws, side(knot, -2.0), 1) <= side(knot, 1.0) and speeds_jump(
            model, ws, knot
        ):
            status = jump(model, ws, knot)
        if status == 0:
            status = refresh(I, F, W, host_time(W, t))
            W.time = t
    W.next = math.inf
    W.next = next_knot(model, ws, host_time(W, t), L.ANNOUNCED)
    return status
