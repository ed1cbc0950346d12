"""Responses of the constrained system to contact forces.

Every row takes one response of O(N), as in `loops.set_speeds`. Responses overwrite the bias of the
elimination. It is therefore saved and restored, so that contact forces are applied to the original
elimination and reactions and loop multipliers include them.
"""

from kinetree.solvers import layout as L
from kinetree.solvers.contacts.contact_jacobian import add_row_wrenches, row_increment
from kinetree.solvers.contacts.slip_directions import find_slip_directions
from kinetree.solvers.kernel import kernel
from kinetree.solvers.linked_kernels import boundary
from kinetree.solvers.loops.constraint_force_response import (
    forget_bias,
    place_multipliers,
    push_nothing,
    respond,
)
from kinetree.solvers.loops.constraint_residuals import increments
from kinetree.solvers.loops.factor_solve import solve_factor
from kinetree.solvers.loops.massless_bodies import forget_debts, repay

KEPT_BODY, KEPT_SPEED = 12, 4  # numbers kept per body: W_N, W_F, W_DA, W_DB; per speed: C_UN, C_G


@kernel
def list_rows(model, ws):
    """List the constraint rows of the included contacts in ws.c_at and return their number."""
    count = 0
    for k in range(model.c_law.size):
        ws.c_begin[k] = count
        if ws.c_included[k] == 1.0:
            for r in range(model.c_row[k], model.c_row[k + 1]):
                ws.c_at[count] = r
                count += 1
    return count


@kernel
def respond_closed(model, ws):
    """Add the response of closed loops to ws.push.

    Damped factors leave an error in the loop constraints that is relative to the damping and to the
    condition of the rows; a second correction squares that error.
    """
    respond(model, ws)
    for _ in range(0 if model.l_kind.size == 0 else 2 if ws.head.damped == 1.0 else 1):
        increments(model, ws, ws.loop_lam)
        for r in range(ws.loop_lam.size):
            ws.loop_lam[r] = ws.c_goal[r] - ws.loop_lam[r]
        solve_factor(model, ws, ws.loop_lam)
        place_multipliers(model, ws)
        respond(model, ws)


@kernel
def begin_response(model, ws):
    """Clear the increments and loads before a response is computed."""
    forget_bias(model, ws)
    push_nothing(ws)
    for r in range(ws.c_goal.size):
        ws.c_goal[r] = 0.0


@boundary("solve")
def respond_alone(model, ws):
    """Compute the response to ws.push after `begin_response`; the proximal inertia of massless
    bodies is removed again.
    """
    respond_closed(model, ws)
    if model.ghosts.size > 0:
        forget_debts(ws)
        return repay(model, ws)
    return 0


@boundary("solve")
def compute_mobility(model, ws):
    """Compute the mobility matrix G (response of each listed row to a unit force on each) and the
    free slip directions.
    """
    n, count = model.c_value.size, list_rows(model, ws)
    status = 0
    for i in range(count):
        r = int(ws.c_at[i])
        begin_response(model, ws)
        add_row_wrenches(model, ws, r, 1.0)
        found = respond_alone(model, ws)
        status = found if status == 0 else status
        for j in range(count):
            s = int(ws.c_at[j])
            ws.c_g[s * n + r] = row_increment(model, ws, s)
    find_slip_directions(model, ws, count)
    return status


@kernel
def apply_rows(model, ws, x, count):
    """Apply the contact forces or impulses x of the listed rows to ws.push."""
    push_nothing(ws)
    for i in range(count):
        r = int(ws.c_at[i])
        add_row_wrenches(model, ws, r, x[r])


@kernel
def save_elimination(model, ws):
    """Save those results of the tree elimination that contact responses overwrite."""
    bodies = model.parent.size
    for i in range(bodies):
        at = i * L.ROW
        for c in range(6):
            ws.c_kept[KEPT_BODY * i + c] = ws.row[at + L.W_N + c]
            ws.c_kept[KEPT_BODY * i + 6 + c] = ws.row[at + L.W_DA + c]
    for j in range(ws.u.size):
        to = KEPT_BODY * bodies + KEPT_SPEED * j
        for c in range(3):
            ws.c_kept[to + c] = ws.col[j * L.COLUMN + L.C_UN + c]
        ws.c_kept[to + 3] = ws.col[j * L.COLUMN + L.C_G]
    to = KEPT_BODY * bodies + KEPT_SPEED * ws.u.size
    for c in range(ws.ghost_w.size):
        ws.c_kept[to + c] = ws.ghost_w[c]
    for r in range(ws.loop_lam.size):
        ws.c_multiplier[r] = ws.loop_lam[r]


@kernel
def restore_elimination(model, ws):
    """Restore the saved results of the tree elimination."""
    bodies = model.parent.size
    for i in range(bodies):
        at = i * L.ROW
        for c in range(6):
            ws.row[at + L.W_N + c] = ws.c_kept[KEPT_BODY * i + c]
            ws.row[at + L.W_DA + c] = ws.c_kept[KEPT_BODY * i + 6 + c]
    for j in range(ws.u.size):
        to = KEPT_BODY * bodies + KEPT_SPEED * j
        for c in range(3):
            ws.col[j * L.COLUMN + L.C_UN + c] = ws.c_kept[to + c]
        ws.col[j * L.COLUMN + L.C_G] = ws.c_kept[to + 3]
    to = KEPT_BODY * bodies + KEPT_SPEED * ws.u.size
    for c in range(ws.ghost_w.size):
        ws.ghost_w[c] = ws.c_kept[to + c]


@kernel
def apply_contact_forces(model, ws, count):
    """Apply the contact forces of the listed rows to the restored elimination."""
    for r in range(ws.c_goal.size):
        ws.c_goal[r] = ws.c_increment[r]
    apply_rows(model, ws, ws.c_lam, count)
    respond_closed(model, ws)
    for r in range(ws.loop_lam.size):
        ws.loop_lam[r] += ws.c_multiplier[r]
    return repay(model, ws) if model.ghosts.size > 0 else 0
