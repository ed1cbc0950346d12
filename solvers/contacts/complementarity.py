"""Complementarity problem of contact forces by principal pivoting (Murty), or projected
Gauss-Seidel.

For guessed modes (held or open; sticking or slipping in a direction) the rows are linear equations.
Modes that their solution contradicts are changed, all at once at first, later only the one of least
index (Murty's rule), until none is contradicted. If that does not terminate, projected Gauss-Seidel
sweeps find the modes. Redundant rows, such as those of four feet on a floor, are solved by a
proximal iteration that starts from zero forces. It gives the solution of least norm without a
selection of rows, so that forces depend on the state and not on earlier evaluations. Cost: the cube
of the number of rows, normally once; the first guess is the modes of the last evaluation.
"""

import math

from kinetree.solvers import layout as L
from kinetree.solvers.contacts.contact_modes import DRIVEN, SLIPS, STICKS
from kinetree.solvers.contacts.mode_equations import eliminate_rows, fill_equations
from kinetree.solvers.contacts.responses import list_rows
from kinetree.solvers.contacts.slip_directions import (
    NEGLIGIBLE_MOBILITY,
    problem_scales,
    row_motion,
)
from kinetree.solvers.kernel import kernel
from kinetree.solvers.linked_kernels import boundary

PROXIMAL_STEPS = 3  # of proximal steps; the error of regular systems falls by PROXIMAL in each
CONTRADICTION = (
    1e-11  # relative to the largest force or the largest motion: less contradicts nothing
)
TURN_TOLERANCE = 1e-12  # change of a direction of slip that counts as none
ROUNDS_AT_ONCE, MAX_ROUNDS = 12, 200
MAX_SWEEPS, SWEEP_TOLERANCE = 20000, 1e-14
NO_CONTACT_FORCE = int(L.Status.NO_CONTACT_FORCE)


@kernel
def solve_modes(model, ws, count, top):
    """Compute ws.c_x for the guessed modes; return False if they have no solution."""
    for i in range(count):
        ws.c_from[int(ws.c_at[i])] = 0.0
    for _ in range(PROXIMAL_STEPS):
        fill_equations(model, ws, count, top)
        if not eliminate_rows(ws, count):
            return False
        for i in range(count):
            r = int(ws.c_at[i])
            ws.c_x[r] = ws.c_h[i * (count + 1) + count]
            ws.c_from[r] = ws.c_x[r]
    return True


@kernel
def revise_modes(model, ws, count, motion, one):
    """Change the contact modes that the solution contradicts: all, or only the first (`one`).
    Return 1 + the index of the first changed contact, or 0.
    """
    n = model.c_value.size
    force = 0.0
    for i in range(count):
        force = max(force, abs(ws.c_x[int(ws.c_at[i])]))
    found = 0
    for k in range(model.c_law.size):
        if ws.c_included[k] == 1.0 and (found == 0 or not one):
            r = model.c_row[k]
            changed = False
            if ws.c_hold[k] == 1.0:
                if ws.c_x[r] - ws.c_base[k] < -CONTRADICTION * force:
                    ws.c_hold[k] = 0.0
                    changed = True
            elif row_motion(ws, r, count, n) < -CONTRADICTION * motion:
                ws.c_hold[k] = 1.0
                changed = True
            if (
                model.c_row[k + 1] - r == 3
                and ws.c_forced[k] == 0.0
                and ws.c_mu[k] > 0.0
                and not (changed and one)
            ):
                changed = revise_friction(ws, k, r, count, n, force, motion) or changed
            found = k + 1 if changed else found
    return found


@kernel
def revise_friction(ws, k, r, count, n, force, motion):
    """Change the friction mode of one contact if the solution contradicts it; return whether it was
    changed.
    """
    if ws.c_friction[k] == STICKS:
        size = math.hypot(ws.c_x[r + 1], ws.c_x[r + 2])
        if size > ws.c_mu[k] * ws.c_x[r] * (1.0 + CONTRADICTION) + CONTRADICTION * force:
            ws.c_friction[k], ws.c_turned[k] = SLIPS, 0.0
            ws.c_slip[2 * k] = -ws.c_x[r + 1] / size
            ws.c_slip[2 * k + 1] = -ws.c_x[r + 2] / size
            return True
        return False
    size = math.hypot(ws.c_x[r + 1], ws.c_x[r + 2])
    if not ws.c_x[r] > 0.0 or size == 0.0:
        return False
    x, y = -ws.c_x[r + 1] / size, -ws.c_x[r + 2] / size
    turned = abs(x - ws.c_slip[2 * k]) + abs(y - ws.c_slip[2 * k + 1]) > TURN_TOLERANCE
    if ws.c_friction[k] == DRIVEN:
        return turned or ws.c_turned[k] == 1.0
    if (
        x * row_motion(ws, r + 1, count, n) + y * row_motion(ws, r + 2, count, n)
        < -CONTRADICTION * motion
    ):
        ws.c_turned[k] += 1.0
        if ws.c_turned[k] > 1.0:  # it neither slips this way nor that
            ws.c_friction[k] = STICKS
        ws.c_slip[2 * k], ws.c_slip[2 * k + 1] = -x, -y
        return True
    ws.c_slip[2 * k], ws.c_slip[2 * k + 1] = x, y
    return turned


@boundary("solve")
def solve_contacts(model, ws):
    """Compute ws.c_x of the listed rows from ws.c_g, ws.c_b and the guessed modes ws.c_hold,
    ws.c_friction and ws.c_slip. Return NO_CONTACT_FORCE, with the contact in head.item, if there is
    no solution.
    """
    count = list_rows(model, ws)
    top, motion = problem_scales(ws, count, model.c_value.size)
    for turn in range(MAX_ROUNDS):
        if not solve_modes(model, ws, count, top):
            break
        if revise_modes(model, ws, count, motion, turn >= ROUNDS_AT_ONCE) == 0:
            return 0
    return solve_by_sweeps(model, ws, count, top, motion)


@kernel
def solve_by_sweeps(model, ws, count, top, motion):
    """Find the contact modes by projected Gauss-Seidel sweeps, then compute the forces for these
    modes; return the status.
    """
    worst = 0
    for i in range(count):
        ws.c_x[int(ws.c_at[i])] = 0.0
    change, force = 1.0, 0.0
    for _ in range(MAX_SWEEPS):
        change, force, worst = sweep(model, ws, count, top)
        if not change > SWEEP_TOLERANCE * force:
            break
    if change > 1e3 * SWEEP_TOLERANCE * force:
        ws.head.item = worst
        return NO_CONTACT_FORCE
    for i in range(count):
        ws.c_sum[int(ws.c_at[i])] = ws.c_x[int(ws.c_at[i])]
    if solve_modes(model, ws, count, top) and revise_modes(model, ws, count, motion, True) == 0:
        return 0
    for i in range(count):
        ws.c_x[int(ws.c_at[i])] = ws.c_sum[int(ws.c_at[i])]
    return 0


@kernel
def sweep(model, ws, count, top):
    """Make one Gauss-Seidel sweep; return largest change, largest force and the contact with the
    largest change.
    """
    n = model.c_value.size
    change, force, worst = 0.0, 0.0, 0
    for k in range(model.c_law.size):
        if ws.c_included[k] == 1.0:
            r = model.c_row[k]
            before = ws.c_x[r]
            g = ws.c_g[r * n + r]
            if g > NEGLIGIBLE_MOBILITY * top:
                ws.c_x[r] = max(ws.c_base[k], before - row_motion(ws, r, count, n) / g)
            moved = abs(ws.c_x[r] - before)
            ws.c_hold[k] = 1.0 if ws.c_x[r] > ws.c_base[k] else 0.0
            if model.c_row[k + 1] - r == 3 and ws.c_mu[k] > 0.0:
                moved = max(moved, sweep_friction(ws, k, r, count, n, top))
            force = max(force, abs(ws.c_x[r]))
            if moved > change:
                change, worst = moved, k
    return change, force, worst


@kernel
def sweep_friction(ws, k, r, count, n, top):
    """Update the friction force of one contact in a Gauss-Seidel sweep and return its change."""
    x, y = ws.c_x[r + 1], ws.c_x[r + 2]
    limit = ws.c_mu[k] * ws.c_x[r]
    if ws.c_forced[k] == 1.0:
        a, b = -limit * ws.c_slip[2 * k], -limit * ws.c_slip[2 * k + 1]
    else:
        g = ws.c_g[(r + 1) * n + r + 1] + ws.c_g[(r + 2) * n + r + 2]
        a = x - row_motion(ws, r + 1, count, n) / g if g > NEGLIGIBLE_MOBILITY * top else 0.0
        b = y - row_motion(ws, r + 2, count, n) / g if g > NEGLIGIBLE_MOBILITY * top else 0.0
        size = math.hypot(a, b)
        ws.c_friction[k] = STICKS
        if size > limit:
            ws.c_friction[k] = SLIPS
            ws.c_slip[2 * k], ws.c_slip[2 * k + 1] = -a / size, -b / size
            a, b = limit * a / size, limit * b / size
    ws.c_x[r + 1], ws.c_x[r + 2] = a, b
    return max(abs(a - x), abs(b - y))


@kernel
def guess_modes(model, ws, still):
    """Guess contact modes from the rates without forces: approaching contacts are held and stick,
    the others are open.
    """
    for k in range(model.c_law.size):
        if ws.c_included[k] == 1.0:
            ws.c_hold[k] = 1.0 if ws.c_b[model.c_row[k]] < -still else 0.0
            ws.c_friction[k], ws.c_turned[k], ws.c_forced[k], ws.c_base[k] = STICKS, 0.0, 0.0, 0.0
            for r in range(model.c_row[k], model.c_row[k + 1]):
                ws.c_x[r] = 0.0
