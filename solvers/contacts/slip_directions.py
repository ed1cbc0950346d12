"""Slip directions of closed contacts that joints leave free, and prescribed motion across them.

Perpendicular to a free slip direction the joints already prevent slip, so that a friction row there would be redundant with the normal constraint.
"""

import math

from kinetree.solvers.contacts.contact_jacobian import ACROSS_SHARE, CRAWL_SPEED, row_velocity
from kinetree.solvers.contacts.contact_modes import DRIVEN, STICKS
from kinetree.solvers.kernel import kernel

NEGLIGIBLE_MOBILITY = 1e-13  # relative to the largest diagonal: such a row moves nothing
ASIDE_SHARE = 0.1  # part across the way of the direction kept: more is no error
MARGIN_SAFETY = 1e-9  # relative to the largest acceleration: less than this neither opens a contact nor lets it slide
FADED_SHARE = 0.1  # of MARGIN_SAFETY: slower unresisted slips are roundings, no margins
# relative to the mobility along the plane: less of it is left by the normal row only by rounding, or
# as loops give way in impacts
DEPENDENT_SHARE = 1e-6


@kernel
def problem_scales(ws, count, n):
    """Return the largest diagonal element of G and the largest |b| of the listed rows."""
    top, motion = 0.0, 0.0
    for i in range(count):
        r = int(ws.c_at[i])
        top = max(top, ws.c_g[r * n + r])
        motion = max(motion, abs(ws.c_b[r]))
    return top, motion


@kernel
def row_motion(ws, r, count, n):
    """Return the motion along row r under the current contact forces: b + G x."""
    total = ws.c_b[r]
    for j in range(count):
        s = int(ws.c_at[j])
        total += ws.c_g[r * n + s] * ws.c_x[s]
    return total


@kernel
def mobility_along(ws, r, n, x, y):
    """Return the mobility along (x, y): the motion along it per unit force, for tangential rows
    that begin at r.
    """
    return (
        x * x * ws.c_g[r * n + r]
        + x * y * (ws.c_g[r * n + r + 1] + ws.c_g[(r + 1) * n + r])
        + y * y * ws.c_g[(r + 1) * n + r + 1]
    )


@kernel
def free_slip_directions(ws, r, n, top, held):
    """Return the number of free slip directions of a contact, and the direction if there is exactly
    one.

    Free are the directions in which the tangential mobility G_t, or G_t - G_tn G_nt / G_n if the
    gap is held, is not zero. A point guided on a curve has none if the curve crosses the tangent
    plane.
    """
    g, a, c = ws.c_g[r * n + r], ws.c_g[(r + 1) * n + r + 1], ws.c_g[(r + 2) * n + r + 2]
    b = 0.5 * (ws.c_g[(r + 1) * n + r + 2] + ws.c_g[(r + 2) * n + r + 1])
    if not g > NEGLIGIBLE_MOBILITY * top:
        return 2, 0.0, 0.0
    nothing = max(DEPENDENT_SHARE * (a + c), NEGLIGIBLE_MOBILITY * top)
    if held:
        a -= ws.c_g[(r + 1) * n + r] * ws.c_g[r * n + r + 1] / g
        b -= (
            0.5
            * (
                ws.c_g[(r + 1) * n + r] * ws.c_g[r * n + r + 2]
                + ws.c_g[(r + 2) * n + r] * ws.c_g[r * n + r + 1]
            )
            / g
        )
        c -= ws.c_g[(r + 2) * n + r] * ws.c_g[r * n + r + 2] / g
    mean, half = 0.5 * (a + c), 0.5 * (a - c)
    spread = math.hypot(half, b)
    if mean - spread > nothing:
        return 2, 0.0, 0.0
    if not mean + spread > nothing:
        return 0, 0.0, 0.0
    x, y = (half + spread, b) if half > 0.0 else (b, spread - half)
    size = math.hypot(x, y)
    return 1, x / size, y / size


@kernel
def find_slip_directions(model, ws, count):
    """Compute the free slip directions of the included contacts."""
    n = model.c_value.size
    top, _ = problem_scales(ws, count, n)
    for k in range(model.c_law.size):
        if ws.c_included[k] == 1.0 and model.c_row[k + 1] - model.c_row[k] == 3:
            ways, x, y = free_slip_directions(ws, model.c_row[k], n, top, True)
            ws.c_free_count[k], ws.c_free_slip[2 * k], ws.c_free_slip[2 * k + 1] = ways, x, y
            ws.c_drift[2 * k], ws.c_drift[2 * k + 1] = 0.0, 0.0


@kernel
def find_drifts(model, ws, count):
    """Compute the slip velocities that prescribed motions force on contacts across their free slip
    directions.
    """
    n = model.c_value.size
    _, motion = problem_scales(ws, count, n)
    for k in range(model.c_law.size):
        if (
            ws.c_included[k] == 1.0
            and model.c_row[k + 1] - model.c_row[k] == 3
            and ws.c_free_count[k] < 2.0
        ):
            find_drift(
                ws,
                k,
                model.c_row[k],
                n,
                ws.c_b[model.c_row[k]],
                ACROSS_SHARE * motion + CRAWL_SPEED,
            )


@kernel
def find_drift(ws, k, r, n, closing, least):
    """Compute the slip velocity that prescribed motions force on contact k across its free slip
    direction.
    """
    along = closing / ws.c_g[r * n + r]
    u, v = (
        ws.c_b[r + 1] - ws.c_g[(r + 1) * n + r] * along,
        ws.c_b[r + 2] - ws.c_g[(r + 2) * n + r] * along,
    )
    passing = u * ws.c_free_slip[2 * k] + v * ws.c_free_slip[2 * k + 1]
    u, v = u - passing * ws.c_free_slip[2 * k], v - passing * ws.c_free_slip[2 * k + 1]
    counts = math.hypot(u, v) > least
    ws.c_drift[2 * k], ws.c_drift[2 * k + 1] = (u, v) if counts else (0.0, 0.0)


@kernel
def present_slip_directions(model, ws, k, n, top):
    """Return the free slip directions of contact k for its current mode."""
    if ws.c_hold[k] == 1.0:
        return int(ws.c_free_count[k]), ws.c_free_slip[2 * k], ws.c_free_slip[2 * k + 1]
    return free_slip_directions(ws, model.c_row[k], n, top, False)


@kernel
def prescribed_cross_speed(ws, k, ways, x, y):
    """Return the prescribed speed of contact k across its single free slip direction (`ways` 1), or
    of all slip if none is free (0); 0 if there is none.
    """
    u, v = ws.c_drift[2 * k], ws.c_drift[2 * k + 1]
    size = math.hypot(u, v)
    across = 0.0 if ways == 2 else size if ways == 0 else x * v - y * u
    return across if abs(across) > ACROSS_SHARE * size else 0.0


@kernel
def align_slip(ws, k, x, y):
    """Set the slip direction of contact k to its free direction (x, y), in the sense nearer to the
    present one.
    """
    along = 1.0 if x * ws.c_slip[2 * k] + y * ws.c_slip[2 * k + 1] >= 0.0 else -1.0
    ws.c_slip[2 * k], ws.c_slip[2 * k + 1] = along * x, along * y


@kernel
def restrict_sliding_contacts(model, ws, count):
    """Restrict sliding contacts that have one free slip direction to it; slip across it is
    integration error unless prescribed motion causes it.

    A prescribed motion may drive slip across the free direction: friction then opposes the velocity
    as it is, or, if that slip is just beginning, the one it is about to have.
    """
    n = model.c_value.size
    _, motion = problem_scales(ws, count, n)
    for k in range(model.c_law.size):
        if (
            ws.c_included[k] == 1.0
            and ws.c_forced[k] == 1.0
            and model.c_row[k + 1] - model.c_row[k] == 3
            and ws.c_free_count[k] == 1.0
        ):
            r, x, y = model.c_row[k], ws.c_free_slip[2 * k], ws.c_free_slip[2 * k + 1]
            u, v = row_velocity(model, ws, r + 1), row_velocity(model, ws, r + 2)
            if abs(x * ws.c_dir[2 * k + 1] - y * ws.c_dir[2 * k]) > ASIDE_SHARE:
                if math.hypot(u, v) <= CRAWL_SPEED:
                    find_drift(ws, k, r, n, ws.c_b[r] - ws.c_pull[r], ACROSS_SHARE * motion)
                    ws.c_forced[k] = 0.0
                    ws.c_friction[k] = (
                        DRIVEN
                        if ws.c_drift[2 * k] != 0.0 or ws.c_drift[2 * k + 1] != 0.0
                        else STICKS
                    )
            elif abs(x * v - y * u) <= ACROSS_SHARE * math.hypot(u, v) + CRAWL_SPEED:
                align_slip(ws, k, x, y)


@kernel
def unresisted_slip(ws, k, r, count, n):
    """Return the rate of slip [m/s²] that no force can prevent, across the slip direction of
    contact k; the direction is stored in ws.c_drift.

    It occurs where a prescribed motion begins to drag the contact, or where a rolling contact is
    about to get a free slip direction.
    """
    along = (row_motion(ws, r, count, n) - ws.c_pull[r]) / ws.c_g[r * n + r]
    x = row_motion(ws, r + 1, count, n) - ws.c_pull[r + 1] - ws.c_g[(r + 1) * n + r] * along
    y = row_motion(ws, r + 2, count, n) - ws.c_pull[r + 2] - ws.c_g[(r + 2) * n + r] * along
    if ws.c_free_count[k] == 1.0:
        a, b = ws.c_free_slip[2 * k], ws.c_free_slip[2 * k + 1]
        x, y = (a * y - b * x) * -b, (a * y - b * x) * a
    ws.c_drift[2 * k], ws.c_drift[2 * k + 1] = x, y
    return math.hypot(x, y)
