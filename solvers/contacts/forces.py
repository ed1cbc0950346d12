"""Contact forces at acceleration level, event indicators and mode changes.

The accelerations b without contact forces, with loops closed, are known; G x + b are those with the
contact forces x. An event watches the margin of each closed contact: the quantity that becomes
positive when it has to open or to start slipping ([SC24]: unilateral joints switched by the sign of
their force). With rigid bodies Coulomb's law has no solution, or several, if its own friction
accelerates a sliding contact along the normal (P. Painlevé, 1895): such states are refused.
"""

import math

from kinetree.solvers import layout as L
from kinetree.solvers.contacts.complementarity import NO_CONTACT_FORCE, solve_contacts
from kinetree.solvers.contacts.contact_jacobian import (
    FRICTION,
    REST_SPEED,
    contact_number,
    gap_of,
    row_acceleration,
    row_velocity,
    set_unit_direction,
)
from kinetree.solvers.contacts.contact_modes import (
    OPEN,
    SLIDE,
    SLIPS,
    STICKS,
    has_part,
    is_closed,
    slides,
    sticks,
)
from kinetree.solvers.contacts.responses import (
    apply_contact_forces,
    compute_mobility,
    list_rows,
    restore_elimination,
    save_elimination,
)
from kinetree.solvers.contacts.slip_directions import (
    FADED_SHARE,
    MARGIN_SAFETY,
    problem_scales,
    restrict_sliding_contacts,
    row_motion,
    unresisted_slip,
)
from kinetree.solvers.kernel import kernel
from kinetree.solvers.loops.constraint_force_response import carry
from kinetree.solvers.loops.constraint_residuals import increments

SINGULAR_SHARE = 1e-9  # part of its own mobility below which a sliding contact does not resist
FAINT_SPEED = (
    1e-9  # m/s: as fast as what opens or slips may be by the errors of the dense output alone
)
BAUMGARTE_RATE = 3.0  # for hosts that integrate themselves: as for loops
CONTACT_STATE, OUTPUTS_PER_CONTACT = (
    3,
    4,
)  # of c_out: contact state and how many numbers there are per contact
NORMAL_FORCE, FRICTION_FORCE, IMPULSE = 0, 1, 2


@kernel
def include_closed(model, ws):
    """Include the closed contacts and their friction in the contact problem; return the number of
    rows.
    """
    for k in range(model.c_law.size):
        ws.c_included[k] = 1.0 if is_closed(ws, k) else 0.0
        if ws.c_included[k] == 1.0:
            ws.c_mu[k] = (
                contact_number(model, ws, k, FRICTION)
                if model.c_row[k + 1] - model.c_row[k] == 3
                else 0.0
            )
            ws.c_base[k], ws.c_turned[k] = 0.0, 0.0
            ws.c_forced[k] = 1.0 if slides(ws, k) else 0.0
            if slides(ws, k):
                ws.c_friction[k] = SLIPS
                set_slip_direction(model, ws, k)
            elif (
                not abs(ws.c_slip[2 * k]) + abs(ws.c_slip[2 * k + 1]) <= 2.0
            ):  # a step that was tried too far has left no direction
                ws.c_friction[k] = STICKS
    return list_rows(model, ws)


@kernel
def set_slip_direction(model, ws, k):
    """Set the slip direction of contact k for friction: that of the velocity, or the stored one if
    the slip is new or has reversed.

    A velocity that is only round-off has no direction: FAINT_SPEED along the stored direction
    outweighs it.
    """
    r = model.c_row[k]
    ws.c_slip[2 * k], ws.c_slip[2 * k + 1] = ws.c_dir[2 * k], ws.c_dir[2 * k + 1]
    if model.c_row[k + 1] - r == 3:
        x, y = row_velocity(model, ws, r + 1), row_velocity(model, ws, r + 2)
        if x * ws.c_dir[2 * k] + y * ws.c_dir[2 * k + 1] > 0.0:
            set_unit_direction(
                ws.c_slip,
                k,
                x + FAINT_SPEED * ws.c_dir[2 * k],
                y + FAINT_SPEED * ws.c_dir[2 * k + 1],
            )


@kernel
def solve_contact_forces(model, ws):
    """Compute the contact forces and with them accelerations, loop multipliers and reactions;
    return the status.
    """
    for r in range(ws.c_lam.size):
        ws.c_x[r], ws.c_lam[r] = 0.0, 0.0
    count = include_closed(model, ws)
    status = 0
    if count > 0:
        status = solve_closed_contacts(model, ws, count)
    write_contact_outputs(model, ws)
    return status


@kernel
def solve_closed_contacts(model, ws, count):
    """Compute contact forces if any contact is closed; return the status."""
    for i in range(count):
        r = int(ws.c_at[i])
        ws.c_b[r], ws.c_pull[r] = row_acceleration(model, ws, r), 0.0
    ws.head.damped = 0.0
    if ws.head.stabilised != 0.0:
        add_baumgarte_terms(model, ws)
    if model.l_kind.size > 0:
        carry(model, ws)
        increments(model, ws, ws.c_increment)
    save_elimination(model, ws)
    status = compute_mobility(model, ws)
    restore_elimination(model, ws)
    if status == 0:
        restrict_sliding_contacts(model, ws, count)
        status = check_resistance(model, ws)
    if status == 0:
        status = solve_contacts(model, ws)
    if status != 0:
        return status
    measure_margins(model, ws, count)
    for i in range(count):
        r = int(ws.c_at[i])
        ws.c_lam[r] = ws.c_x[r]
    return apply_contact_forces(model, ws, count)


@kernel
def check_resistance(model, ws):
    """Return NO_CONTACT_FORCE if friction would drive a sliding contact into the surface, else 0."""
    n = model.c_value.size
    for k in range(model.c_law.size):
        if ws.c_included[k] == 1.0 and ws.c_forced[k] == 1.0 and ws.c_mu[k] > 0.0:
            r = model.c_row[k]
            own = ws.c_g[r * n + r]
            drawn = (
                ws.c_g[r * n + r + 1] * ws.c_slip[2 * k]
                + ws.c_g[r * n + r + 2] * ws.c_slip[2 * k + 1]
            )
            if not own - ws.c_mu[k] * drawn > SINGULAR_SHARE * own:
                ws.head.item = k
                return NO_CONTACT_FORCE
    return 0


@kernel
def add_baumgarte_terms(model, ws):
    """Add Baumgarte stabilisation terms to the rows of closed contacts, for hosts that integrate
    themselves.
    """
    fastest = 0.0
    for i in range(1, model.parent.size):
        at = i * L.ROW
        spin, bend = 0.0, 0.0
        for c in range(3):
            spin = max(spin, abs(ws.row[at + L.W_OM + c]))
            bend = max(bend, abs(ws.row[at + L.W_AL + c] + ws.row[at + L.W_DA + c]))
        fastest = max(fastest, spin * spin + bend)
    pull = BAUMGARTE_RATE * math.sqrt(fastest)
    for k in range(model.c_law.size):
        if ws.c_included[k] == 1.0:
            r = model.c_row[k]
            ws.c_pull[r] = 2.0 * pull * row_velocity(model, ws, r) + pull * pull * gap_of(
                model, ws, k
            )
            for s in range(r + 1, model.c_row[k + 1]):
                if not slides(ws, k):
                    ws.c_pull[s] = 2.0 * pull * row_velocity(model, ws, s)
            for s in range(r, model.c_row[k + 1]):
                ws.c_b[s] += ws.c_pull[s]


@kernel
def measure_margins(model, ws, count):
    """Compute the margins [m/s²] of contacts against opening and slipping; a positive margin means
    that the mode is violated.
    """
    n = model.c_value.size
    _, motion = problem_scales(ws, count, n)
    for k in range(model.c_law.size):
        if ws.c_included[k] == 1.0:
            r = model.c_row[k]
            x = ws.c_x[r]
            ws.c_margin[2 * k] = (
                row_motion(ws, r, count, n) - ws.c_g[r * n + r] * x - MARGIN_SAFETY * motion
            )
            ws.c_margin[2 * k + 1] = -1.0
            if model.c_row[k + 1] - r == 3 and not slides(ws, k) and x > 0.0:
                if ws.c_friction[k] == STICKS:
                    g = ws.c_g[(r + 1) * n + r + 1] + ws.c_g[(r + 2) * n + r + 2]
                    ws.c_margin[2 * k + 1] = (
                        math.hypot(ws.c_x[r + 1], ws.c_x[r + 2]) - ws.c_mu[k] * x
                    ) * g - MARGIN_SAFETY * motion
                    slip = unresisted_slip(ws, k, r, count, n) if ws.c_free_count[k] < 2.0 else 0.0
                    if (
                        slip > FADED_SHARE * MARGIN_SAFETY * motion
                        and slip - MARGIN_SAFETY * motion > ws.c_margin[2 * k + 1]
                    ):
                        ws.c_margin[2 * k + 1] = slip - MARGIN_SAFETY * motion
                        set_unit_direction(ws.c_slip, k, ws.c_drift[2 * k], ws.c_drift[2 * k + 1])
                    else:
                        ws.c_drift[2 * k], ws.c_drift[2 * k + 1] = 0.0, 0.0
                else:
                    slip = ws.c_slip[2 * k] * row_motion(ws, r + 1, count, n) + ws.c_slip[
                        2 * k + 1
                    ] * row_motion(ws, r + 2, count, n)
                    ws.c_margin[2 * k + 1] = slip - MARGIN_SAFETY * motion


@kernel
def write_contact_outputs(model, ws):
    """Write the output values of the contacts to their registers."""
    for k in range(model.c_law.size):
        r = model.c_row[k]
        ws.c_out[OUTPUTS_PER_CONTACT * k + NORMAL_FORCE] = ws.c_lam[r]
        ws.c_out[OUTPUTS_PER_CONTACT * k + FRICTION_FORCE] = (
            math.hypot(ws.c_lam[r + 1], ws.c_lam[r + 2]) if model.c_row[k + 1] - r == 3 else 0.0
        )
        ws.c_out[OUTPUTS_PER_CONTACT * k + CONTACT_STATE] = ws.c_mode[k]


@kernel
def write_indicators(model, ws):
    """Write the contact indicators to their registers: positive for a touch, an opening, a start of
    slip or a slip reversal.
    """
    for k in range(model.c_law.size):
        if is_closed(ws, k):
            ws.val[model.c_guard[2 * k]] = ws.c_margin[2 * k]
        else:
            ws.val[model.c_guard[2 * k]] = -gap_of(model, ws, k)
        if model.c_row[k + 1] - model.c_row[k] == 3:
            value = -1.0
            if slides(ws, k):
                value = -slip_speed(model, ws, k)
            elif is_closed(ws, k):
                value = ws.c_margin[2 * k + 1]
            ws.val[model.c_guard[2 * k + 1]] = value


@kernel
def slip_speed(model, ws, k):
    """Return the slip velocity [m/s] of contact k along its stored slip direction."""
    r = model.c_row[k]
    return (
        row_velocity(model, ws, r + 1) * ws.c_dir[2 * k]
        + row_velocity(model, ws, r + 2) * ws.c_dir[2 * k + 1]
    )


@kernel
def store_slip_directions(model, ws):
    """Store the current slip directions.

    After an event a slip may run slightly against its stored direction and return to it. If it
    grows against the stored direction instead, that is replaced by the direction of the velocity.
    """
    for k in range(model.c_law.size):
        if slides(ws, k) and model.c_row[k + 1] - model.c_row[k] == 3:
            if slip_speed(model, ws, k) < ws.c_along[k] < 0.0:
                set_unit_direction(
                    ws.c_dir,
                    k,
                    row_velocity(model, ws, model.c_row[k] + 1),
                    row_velocity(model, ws, model.c_row[k] + 2),
                )
            ws.c_along[k] = slip_speed(model, ws, k)
            set_slip_direction(model, ws, k)
            ws.c_dir[2 * k], ws.c_dir[2 * k + 1] = ws.c_slip[2 * k], ws.c_slip[2 * k + 1]
        else:
            ws.c_along[k] = 0.0


@kernel
def change_modes(model, ws):
    """Open the contacts, or let those slide, whose margins are positive; return whether any mode
    changed.
    """
    some = False
    for k in range(model.c_law.size):
        if is_closed(ws, k) and ws.c_margin[2 * k] > 0.0:
            ws.c_mode[k] = OPEN
            some = True
        elif (
            sticks(ws, k)
            and ws.c_margin[2 * k + 1] > 0.0
            and model.c_row[k + 1] - model.c_row[k] == 3
        ):
            ws.c_mode[k] = SLIDE
            ws.c_dir[2 * k], ws.c_dir[2 * k + 1] = ws.c_slip[2 * k], ws.c_slip[2 * k + 1]
            some = True
    return some


@kernel
def monitored_margin(model, ws, register):
    """Return the index of the contact margin that a guard's register holds, if that contact is
    closed (or, for slip, sticks); -1 for any other register.
    """
    found = -1
    for k in range(model.c_law.size):
        if is_closed(ws, k) and model.c_guard[2 * k] == register:
            found = 2 * k
        elif (
            model.c_row[k + 1] - model.c_row[k] == 3
            and sticks(ws, k)
            and model.c_guard[2 * k + 1] == register
        ):
            found = 2 * k + 1
    return found


@kernel
def monitors_resting_contact(model, ws, register):
    """Return whether a guard monitors a margin of a closed contact that does not slide."""
    which = monitored_margin(model, ws, register)
    return which >= 0 and sticks(ws, which // 2)


@kernel
def monitors_slow_separation(model, ws, register):
    """Return whether a guard monitors the gap of a contact that has just separated without a
    bounce.
    """
    found = False
    for k in range(model.c_law.size):
        if model.c_guard[2 * k] == register and not is_closed(ws, k) and has_part(ws, k):
            found = ws.c_rate[model.c_row[k]] <= contact_number(model, ws, k, REST_SPEED)
    return found


@kernel
def release_contact(model, ws, which, noise):
    """Open a contact, or let it slide, if its located margin is zero within `noise`; return whether
    the mode changed.
    """
    k = which // 2
    if ws.c_margin[which] < -noise:
        return False
    if which == 2 * k:
        ws.c_mode[k] = OPEN
        return True
    r = model.c_row[k]
    passes = set_unit_direction(ws.c_dir, k, ws.c_drift[2 * k], ws.c_drift[2 * k + 1]) > 0.0
    if not passes and not set_unit_direction(ws.c_dir, k, -ws.c_lam[r + 1], -ws.c_lam[r + 2]) > 0.0:
        return False
    ws.c_mode[k] = SLIDE
    return True


@kernel
def close_contact(ws, k, mode):
    """Close contact k in the given mode, assuming that it holds and sticks."""
    if not is_closed(ws, k):
        ws.c_hold[k], ws.c_friction[k] = 1.0, STICKS
    ws.c_mode[k] = mode
