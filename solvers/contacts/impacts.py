"""Impacts with restitution (Newton, Poisson, energetic) and friction of all touching contacts.

Newton: 0 ≤ x ⊥ N u⁺ + e N u⁻ ≥ 0. Poisson: compression with e = 0 gives x_c, then expansion with x
≥ e x_c ⊥ N u⁺ ≥ 0. Energetic (W. J. Stronge, 1990): expansion with x ≥ k x_c, k such that its
normal work is e² times that of compression, each phase by the mean of its velocities. Friction:
|x_t| ≤ μ x_n, against the slip after the impact, or after either phase. e applies if the approach
is faster than the contact's rest speed; slower impacts are plastic. Newton's hypothesis with
friction may add energy (T. R. Kane, D. A. Levinson, 1985): then the impulses are scaled back
towards the plastic ones x_c until the work ½ xᵀ(w⁻ + w⁺) of all contacts is not positive.
Sequential impacts: the fastest approach is resolved alone and repeatedly, then all approaches below
the rest speed together.
"""

import math

from kinetree.solvers import layout as L
from kinetree.solvers.contacts.complementarity import guess_modes, solve_contacts
from kinetree.solvers.contacts.contact_jacobian import (
    FRICTION,
    REST_SPEED,
    RESTITUTION,
    contact_number,
    row_velocity,
    set_unit_direction,
    takes_part_in_impact,
)
from kinetree.solvers.contacts.contact_modes import (
    CLOSED_ON_TRIAL,
    NOT_INVOLVED,
    OPEN,
    SLIDE,
    STICK,
    TOUCHING,
    slides,
)
from kinetree.solvers.contacts.forces import IMPULSE, OUTPUTS_PER_CONTACT, close_contact
from kinetree.solvers.contacts.responses import (
    apply_rows,
    begin_response,
    compute_mobility,
    list_rows,
    respond_alone,
)
from kinetree.solvers.contacts.slip_directions import find_drifts, row_motion
from kinetree.solvers.kernel import kernel
from kinetree.solvers.linked_kernels import boundary
from kinetree.solvers.loops.constraint_projection import DAMPING, speed_scale
from kinetree.solvers.loops.minimum_norm_change import place_loops
from kinetree.solvers.loops.set_speeds import free_change

STILL_SPEED = 1e-9  # relative to the largest speed: slower ones are none
MAX_BLOWS = 10000  # of a sequence; it would end in itself
NEWTON, ENERGETIC = int(L.Restitution.NEWTON), int(L.Restitution.ENERGETIC)
MAX_ENERGETIC_TRIALS, ENERGETIC_TOLERANCE = (
    100,
    1e-14,
)  # for the shares of energetic contacts; relative


@kernel
def include_touching(model, ws):
    """Include the contacts that are closed or touch in the contact problem; return the number of
    rows.
    """
    for k in range(model.c_law.size):
        ws.c_included[k] = 1.0 if takes_part_in_impact(model, ws, k) else 0.0
        ws.c_impact[k] = TOUCHING if ws.c_included[k] == 1.0 else NOT_INVOLVED
        ws.c_mu[k] = (
            contact_number(model, ws, k, FRICTION)
            if model.c_row[k + 1] - model.c_row[k] == 3
            else 0.0
        )
    return list_rows(model, ws)


@kernel
def factor_at_position(model, ws):
    """Factor the elimination and the loop constraints at the current position; return the status."""
    ws.head.damped = 1.0
    for r in range(ws.loop_r.size):
        ws.loop_r[r] = 0.0
    return free_change(model, ws, DAMPING, 0)


@boundary("state")
def apply_impulses(model, ws, t):
    """Change the speeds ws.u by the impulses of all touching contacts and set their modes; return
    the status.
    """
    status = place_loops(model, ws, t)
    if status != 0:
        return status
    count = include_touching(model, ws)
    if count == 0:
        return 0
    status = factor_at_position(model, ws)
    if status == 0:
        status = compute_mobility(model, ws)
    for i in range(count):
        r = int(ws.c_at[i])
        ws.c_rate[r] = row_velocity(model, ws, r)
        ws.c_total[r] = 0.0
    if status == 0 and model.header.sequence == 1:
        status = solve_sequentially(model, ws)
    if status == 0:
        status = solve_simultaneously(model, ws)
    if status != 0:
        return status
    count = include_all_touching(model, ws)
    begin_response(model, ws)
    apply_rows(model, ws, ws.c_total, count)
    status = respond_alone(model, ws)
    for j in range(ws.u.size):
        ws.u[j] += ws.udot[j]
    set_modes_after_impact(model, ws)
    return status


@kernel
def include_all_touching(model, ws):
    """Include all touching contacts in the contact problem again; return the number of rows."""
    for k in range(model.c_law.size):
        ws.c_included[k] = 1.0 if ws.c_impact[k] == TOUCHING else 0.0
    return list_rows(model, ws)


@kernel
def solve_sequentially(model, ws):
    """Compute impacts one contact at a time, the fastest approach first; return the status."""
    for _ in range(MAX_BLOWS):
        fastest, found = 0.0, -1
        for k in range(model.c_law.size):
            approach = -ws.c_rate[model.c_row[k]] if ws.c_impact[k] == TOUCHING else 0.0
            if approach > fastest and approach > contact_number(model, ws, k, REST_SPEED):
                fastest, found = approach, k
        if found < 0:
            break
        for k in range(model.c_law.size):
            ws.c_included[k] = 1.0 if k == found else 0.0
        status = solve_simultaneously(model, ws)
        if status != 0:
            return status
    include_all_touching(model, ws)
    return 0


@kernel
def effective_restitution(model, ws, k):
    """Return the coefficient of restitution of contact k at its current approach speed."""
    e = contact_number(model, ws, k, RESTITUTION)
    return e if -ws.c_rate[model.c_row[k]] > contact_number(model, ws, k, REST_SPEED) else 0.0


@kernel
def solve_simultaneously(model, ws):
    """Compute the impulses of all included contacts at once and add them to ws.c_total; return the
    status.
    """
    count = list_rows(model, ws)
    bounces, phases = False, False
    for k in range(model.c_law.size):
        ws.c_bounce[k] = effective_restitution(model, ws, k) if ws.c_included[k] == 1.0 else 0.0
        bounces = bounces or ws.c_bounce[k] > 0.0
        phases = phases or (ws.c_bounce[k] > 0.0 and model.c_law[k] != NEWTON)
    for i in range(count):
        r = int(ws.c_at[i])
        ws.c_b[r] = ws.c_rate[r]
    find_drifts(model, ws, count)
    guess_modes(model, ws, STILL_SPEED * speed_scale(ws))
    status = solve_contacts(model, ws)
    for i in range(count):
        r = int(ws.c_at[i])
        ws.c_plastic[r] = ws.c_x[r]
    if status == 0 and bounces:
        status = (
            solve_expansion(model, ws, count) if phases else solve_newton_rebound(model, ws, count)
        )
        if status == 0:
            limit_energy(model, ws, count)
    accumulate_impulses(model, ws, count)
    return status


@kernel
def add_newton_rebound(model, ws):
    """Add e w⁻ to the right-hand side of contacts with Newton's hypothesis, so that w⁺ + e w⁻
    replaces w⁺.
    """
    for k in range(model.c_law.size):
        if ws.c_included[k] == 1.0 and model.c_law[k] == NEWTON:
            r = model.c_row[k]
            ws.c_b[r] += ws.c_bounce[k] * ws.c_rate[r]


@kernel
def solve_newton_rebound(model, ws, count):
    """Compute the impulses of Newton's hypothesis, all in one step."""
    add_newton_rebound(model, ws)
    guess_modes(model, ws, STILL_SPEED * speed_scale(ws))
    return solve_contacts(model, ws)


@kernel
def solve_expansion(model, ws, count):
    """Compute the impulses of the expansion phase after compression."""
    n = model.c_value.size
    for i in range(count):
        r = int(ws.c_at[i])
        for j in range(count):
            s = int(ws.c_at[j])
            ws.c_b[r] += ws.c_g[r * n + s] * ws.c_plastic[s]
    add_newton_rebound(model, ws)
    for k in range(model.c_law.size):
        ws.c_share[k] = ws.c_bounce[k]
    status = 0
    for _ in range(MAX_ENERGETIC_TRIALS):
        guess_modes(model, ws, STILL_SPEED * speed_scale(ws))
        for k in range(model.c_law.size):
            if ws.c_included[k] == 1.0 and model.c_law[k] != NEWTON:
                ws.c_base[k] = ws.c_share[k] * ws.c_plastic[model.c_row[k]]
        status = solve_contacts(model, ws)
        if status != 0 or match_energetic_work(model, ws, count):
            break
    for i in range(count):
        r = int(ws.c_at[i])
        ws.c_x[r] += ws.c_plastic[r]
    return status


@kernel
def match_energetic_work(model, ws, count):
    """Return whether every contact with energetic restitution returns its share of work; otherwise
    correct its factor k.
    """
    n = model.c_value.size
    done = True
    for k in range(model.c_law.size):
        r = model.c_row[k]
        if (
            ws.c_included[k] == 1.0
            and model.c_law[k] == ENERGETIC
            and ws.c_bounce[k] > 0.0
            and ws.c_plastic[r] > 0.0
        ):
            stored = -(ws.c_rate[r] + ws.c_b[r]) * ws.c_plastic[r]
            given = (ws.c_b[r] + row_motion(ws, r, count, n)) * ws.c_x[r]
            if stored > 0.0 and given > 0.0:
                change = ws.c_bounce[k] * math.sqrt(stored / given)
                ws.c_share[k] *= change
                done = done and abs(change - 1.0) <= ENERGETIC_TOLERANCE
    return done


@kernel
def limit_energy(model, ws, count):
    """Scale the impulses back towards the plastic ones until the contacts do no positive work: c +
    b s + a s² ≤ 0.
    """
    n = model.c_value.size
    a, b, c = 0.0, 0.0, 0.0
    for i in range(count):
        r = int(ws.c_at[i])
        p, d = ws.c_plastic[r], ws.c_x[r] - ws.c_plastic[r]
        from_p, from_d = 0.0, 0.0
        for j in range(count):
            s = int(ws.c_at[j])
            from_p += ws.c_g[r * n + s] * ws.c_plastic[s]
            from_d += ws.c_g[r * n + s] * (ws.c_x[s] - ws.c_plastic[s])
        a += 0.5 * d * from_d
        b += d * (ws.c_rate[r] + from_p)
        c += p * (ws.c_rate[r] + 0.5 * from_p)
    if a + b + c > 0.0 and a > 0.0:
        way = min(1.0, max(0.0, (math.sqrt(max(0.0, b * b - 4.0 * a * c)) - b) / (2.0 * a)))
        for i in range(count):
            r = int(ws.c_at[i])
            ws.c_x[r] = ws.c_plastic[r] + way * (ws.c_x[r] - ws.c_plastic[r])


@kernel
def accumulate_impulses(model, ws, count):
    """Add the impulses to the totals and update the rates of all touching contacts."""
    n = model.c_value.size
    for k in range(model.c_law.size):
        if ws.c_impact[k] == TOUCHING:
            for r in range(model.c_row[k], model.c_row[k + 1]):
                for j in range(count):
                    s = int(ws.c_at[j])
                    ws.c_rate[r] += ws.c_g[r * n + s] * ws.c_x[s]
    for i in range(count):
        r = int(ws.c_at[i])
        ws.c_total[r] += ws.c_x[r]


@kernel
def set_modes_after_impact(model, ws):
    """Close the contacts that do not separate after an impact, tentatively if they separate slowly."""
    still = STILL_SPEED * speed_scale(ws)
    for k in range(model.c_law.size):
        r = model.c_row[k]
        if ws.c_impact[k] != TOUCHING:
            continue
        if ws.c_total[r] > 0.0:
            ws.c_out[OUTPUTS_PER_CONTACT * k + IMPULSE] = ws.c_total[r]
        ws.c_impact[k] = CLOSED_ON_TRIAL if ws.c_rate[r] > still else TOUCHING
        if ws.c_rate[r] > max(still, contact_number(model, ws, k, REST_SPEED)):
            ws.c_mode[k] = OPEN
        elif model.c_row[k + 1] - r == 1:
            close_contact(ws, k, STICK)
        else:
            set_slip_after_impact(model, ws, k, still)


@kernel
def slip_after_impact(ws, r):
    """Return the slip velocity (two components) after the impacts of a contact whose rows begin at
    r.
    """
    return math.hypot(ws.c_rate[r + 1], ws.c_rate[r + 2])


@kernel
def set_slip_after_impact(model, ws, k, still):
    """Set whether a contact with friction sticks or slides after an impact."""
    r = model.c_row[k]
    x, y = ws.c_rate[r + 1], ws.c_rate[r + 2]
    slip = slip_after_impact(ws, r)
    along = x * ws.c_dir[2 * k] + y * ws.c_dir[2 * k + 1]
    driven = ws.c_drift[2 * k] != 0.0 or ws.c_drift[2 * k + 1] != 0.0
    turned = (
        slides(ws, k)
        and not driven
        and along <= still
        and slip <= contact_number(model, ws, k, REST_SPEED)
    )
    if slip <= still or turned:
        close_contact(ws, k, STICK)
    else:
        close_contact(ws, k, SLIDE)
        set_unit_direction(ws.c_dir, k, x, y)
