"""Breakpoints of time functions: velocity jumps and their effects on the motion.

Where the speed of a given motion jumps, finite impulses act only in the driven joints, so that the
momenta p = BᵀM v of the free coordinates are continuous: M u⁺ = M u⁻ + AᵀM_b (v̂⁻ - v̂⁺); with
loops Jᵀλ is added and J u⁺ + c⁺ = 0. A time function is evaluated a little before and a little
after its breakpoint, so that rounding of the instant does not decide the side. Runs with momenta as
states need no jump.
"""

import math

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.vectors import dot3, get3, put3, sub3
from kinetree.solvers.contacts.mode_changes import apply_impacts
from kinetree.solvers.engine.derived_constants import run_phase
from kinetree.solvers.engine.evaluation import place
from kinetree.solvers.engine.kinematics import velocities
from kinetree.solvers.engine.modal_momenta import keep_modal_momenta
from kinetree.solvers.events.stage_change import put_momentum, solve_momenta
from kinetree.solvers.instance.balances import energy_of_motion
from kinetree.solvers.instance.derivatives import get_state, in_momenta, put_state
from kinetree.solvers.instance.integrators import turn
from kinetree.solvers.instance.memory import load_states, refresh, structure
from kinetree.solvers.instance.time_breakpoints import (
    breakpoint_side,
    host_time,
    next_breakpoint,
    read_after_breakpoint,
)
from kinetree.solvers.integrate import controller as C
from kinetree.solvers.kernel import kernel
from kinetree.solvers.linked_kernels import boundary
from kinetree.solvers.loops.constraint_projection import project

NEGLIGIBLE_JUMP = 1e-9  # relative: a smaller change of a velocity is the curvature of its law


@boundary("state")
def evaluate_motion_at(model, ws, t):
    """Compute poses and velocities with the functions of time evaluated at t; return the status."""
    status = place(model, ws, t, True)
    velocities(model, ws)
    return run_phase(model, ws, 2) if status == 0 and model.l_kind.size > 0 else status


@kernel
def save_velocities(model, ws):
    """Store the velocities of all bodies in the memory of the reactions, and the coupling rates."""
    for i in range(1, model.parent.size):
        put3(ws.reaction, 6 * i, get3(ws.row, i * L.ROW + L.W_V))
        put3(ws.reaction, 6 * i + 3, get3(ws.row, i * L.ROW + L.W_OM))
    for g in range(model.l_kind.size):
        if model.l_kind[g] == L.Loop.COUPLING:
            ws.loop_b[model.l_row[g]] = ws.val[model.l_a[g] + 1]


@kernel
def differs(x, before):
    """Return whether a vector differs from its earlier value by more than rounding."""
    d = sub3(x, before)
    return dot3(d, d) > NEGLIGIBLE_JUMP * NEGLIGIBLE_JUMP * (dot3(x, x) + dot3(before, before))


@kernel
def speeds_jump(model, ws, knot):
    """Return whether prescribed motions change a velocity or coupling rate discontinuously at a
    breakpoint.
    """
    found = evaluate_motion_at(model, ws, breakpoint_side(knot, -1.0)) != 0
    save_velocities(model, ws)
    found = evaluate_motion_at(model, ws, breakpoint_side(knot, 1.0)) != 0 or found
    for i in range(1, model.parent.size):
        found = found or differs(get3(ws.row, i * L.ROW + L.W_V), get3(ws.reaction, 6 * i))
        found = found or differs(get3(ws.row, i * L.ROW + L.W_OM), get3(ws.reaction, 6 * i + 3))
    for g in range(model.l_kind.size):
        if model.l_kind[g] == L.Loop.COUPLING:
            rate, before = ws.val[model.l_a[g] + 1], ws.loop_b[model.l_row[g]]
            found = found or abs(rate - before) > NEGLIGIBLE_JUMP * (abs(rate) + abs(before))
    return found


@kernel
def next_velocity_jump(model, ws, t, limit):
    """Return the first time after t, up to `limit`, at which velocities jump; infinity if there is
    none.
    """
    while True:
        knot = next_breakpoint(model, ws, t, 1)
        if not knot <= limit:
            return math.inf
        if speeds_jump(model, ws, knot):
            return knot
        t = breakpoint_side(knot, 1.0)


@boundary("state")
def apply_velocity_jump(model, ws, knot):
    """Change ws.u by the velocity jump at a breakpoint; q and u must be those before it. Return the
    status.
    """
    status = evaluate_motion_at(model, ws, breakpoint_side(knot, -1.0))
    save_velocities(model, ws)
    for j in range(ws.u.size):
        ws.tau[j] = ws.rotor[j] * ws.u[j]  # rotors keep their momentum too
    keep_modal_momenta(model, ws)
    for j in range(ws.u.size):
        ws.u[j] = 0.0
    if status == 0:
        status = evaluate_motion_at(model, ws, breakpoint_side(knot, 1.0))
    for i in range(1, model.parent.size):
        put_momentum(model, ws, i, get3(ws.reaction, 6 * i), get3(ws.reaction, 6 * i + 3))
    if status == 0:
        status = solve_momenta(model, ws)
    if status == 0 and model.l_kind.size > 0:
        status = project(model, ws, breakpoint_side(knot, 1.0))
    if status == 0 and model.c_law.size > 0:
        status = apply_impacts(model, ws, breakpoint_side(knot, 1.0))
    return status


@kernel
def pass_breakpoint(W, mem, model, ws):
    """Pass the breakpoint at the end of the last step: velocity jumps, work of prescribed motions,
    restart of the method. Return the status.
    """
    knot, y = W.knot, C.state_of(mem)
    W.knot = -math.inf
    W.turned = knot
    status = 0
    if next_breakpoint(model, ws, breakpoint_side(knot, -2.0), 1) <= breakpoint_side(knot, 1.0):
        status = put_state(model, ws, breakpoint_side(knot, -1.0), y)
        if status == 0 and speeds_jump(model, ws, knot):
            status = carry_state_across(model, ws, knot, y)
    read_after_breakpoint(ws, knot)
    return status if status != 0 else turn(mem, (model, ws))


@kernel
def carry_state_across(model, ws, knot, y):
    """Change the state y and its work by the velocity jump at a breakpoint; return the status."""
    status = evaluate_motion_at(model, ws, breakpoint_side(knot, -1.0))
    energy = energy_of_motion(model, ws)
    if status == 0:
        status = (
            put_state(model, ws, breakpoint_side(knot, 1.0), y)
            if in_momenta(ws)
            else apply_velocity_jump(model, ws, knot)
        )
    if status == 0:
        status = get_state(y, model, ws, breakpoint_side(knot, 1.0))
    if status == 0:
        status = evaluate_motion_at(model, ws, breakpoint_side(knot, 1.0))
    y[len(y) - 1] += energy_of_motion(model, ws) - energy
    return status


@kernel
def pass_host_breakpoint(I, F, W, t):
    """Model exchange: apply the breakpoint announced to the host once t has reached it, and
    announce the next one; return the status.
    """
    model, ws = structure(I, F, W)
    status, knot = 0, W.next
    if t >= breakpoint_side(knot, -1.0):
        W.turned, W.next = knot, math.inf
        load_states(I, W, ws)
        if next_breakpoint(model, ws, breakpoint_side(knot, -2.0), 1) <= breakpoint_side(
            knot, 1.0
        ) and speeds_jump(model, ws, knot):
            status = apply_velocity_jump(model, ws, knot)
        if status == 0:
            status = refresh(I, F, W, host_time(W, t))
            W.time = t
    W.next = math.inf
    W.next = next_breakpoint(model, ws, host_time(W, t), L.ANNOUNCED)
    return status
