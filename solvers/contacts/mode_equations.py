"""Linear equations of contact rows for guessed modes.

Rows that hold or stick have zero relative acceleration (or velocity, at an impact). At slipping
contacts friction acts against the slip direction, which is updated to that of the motion. Friction
acts only along the free slip directions (`slip_directions`), unless a prescribed motion drags the
contact across them: then it opposes the whole slip.
"""

import math

from kinetree.solvers.contacts.contact_modes import DRIVEN, SLIPS, STICKS
from kinetree.solvers.contacts.slip_directions import (
    NEGLIGIBLE_MOBILITY,
    align_slip,
    mobility_along,
    prescribed_cross_speed,
    present_slip_directions,
    row_motion,
)
from kinetree.solvers.kernel import kernel

PROXIMAL = 1e-8  # part of the diagonal that keeps forces small


@kernel
def fill_row(ws, i, count, n, top):
    """Fill the equation w = 0 of listed row i, with the proximal term and scaled by its diagonal
    element.
    """
    r = int(ws.c_at[i])
    g = ws.c_g[r * n + r]
    width = count + 1
    if not g > NEGLIGIBLE_MOBILITY * top:
        ws.c_h[i * width + i] = 1.0
        return
    for j in range(count):
        ws.c_h[i * width + j] = ws.c_g[r * n + int(ws.c_at[j])] / g
    ws.c_h[i * width + i] += PROXIMAL
    ws.c_h[i * width + count] = PROXIMAL * ws.c_from[r] - ws.c_b[r] / g


@kernel
def fill_equations(model, ws, count, top):
    """Fill the equations of all listed rows for the current modes."""
    n, width = model.c_value.size, count + 1
    for c in range(count * width):
        ws.c_h[c] = 0.0
    for k in range(model.c_law.size):
        if ws.c_included[k] != 1.0:
            continue
        i = int(ws.c_begin[k])
        if ws.c_hold[k] == 1.0:
            fill_row(ws, i, count, n, top)
        else:
            ws.c_h[i * width + i] = 1.0
            ws.c_h[i * width + count] = ws.c_base[k]
        if model.c_row[k + 1] - model.c_row[k] == 3:
            idle = ws.c_mu[k] == 0.0 or (ws.c_hold[k] != 1.0 and ws.c_base[k] == 0.0)
            if ws.c_forced[k] == 1.0 or idle:
                for c in range(2):
                    t = i + 1 + c
                    ws.c_h[t * width + t] = 1.0
                    ws.c_h[t * width + i] = 0.0 if idle else ws.c_mu[k] * ws.c_slip[2 * k + c]
            else:
                ways, x, y = present_slip_directions(model, ws, k, n, top)
                across = prescribed_cross_speed(ws, k, ways, x, y)
                if across == 0.0 and ws.c_friction[k] == DRIVEN:
                    ws.c_friction[k] = SLIPS
                if across != 0.0:
                    fill_driven(ws, k, i, count, n, ways, x, y, across)
                elif ways == 2 and ws.c_friction[k] == STICKS:
                    fill_row(ws, i + 1, count, n, top)
                    fill_row(ws, i + 2, count, n, top)
                elif ways == 2:
                    fill_slip(ws, k, i, count, n, top)
                else:
                    fill_along(ws, k, i, count, n, ways, x, y)


@kernel
def fill_along(ws, k, i, count, n, ways, x, y):
    """Fill the friction equations of a contact with one free slip direction (x, y) or none."""
    width, r = count + 1, int(ws.c_at[i]) + 1
    first, second = (i + 1) * width, (i + 2) * width
    ws.c_h[second + i + 1], ws.c_h[second + i + 2] = -y, x
    if ways == 0:
        ws.c_friction[k] = STICKS
        ws.c_h[first + i + 1], ws.c_h[second + i + 2] = 1.0, 1.0
    elif ws.c_friction[k] == STICKS:
        g = mobility_along(ws, r, n, x, y)
        for j in range(count):
            s = int(ws.c_at[j])
            ws.c_h[first + j] = (x * ws.c_g[r * n + s] + y * ws.c_g[(r + 1) * n + s]) / g
        ws.c_h[first + i + 1] += PROXIMAL * x
        ws.c_h[first + i + 2] += PROXIMAL * y
        ws.c_h[first + count] = (
            PROXIMAL * (x * ws.c_from[r] + y * ws.c_from[r + 1])
            - (x * ws.c_b[r] + y * ws.c_b[r + 1]) / g
        )
    else:
        align_slip(ws, k, x, y)
        ws.c_h[first + i + 1], ws.c_h[first + i + 2], ws.c_h[first + i] = (
            ws.c_slip[2 * k],
            ws.c_slip[2 * k + 1],
            ws.c_mu[k],
        )


@kernel
def fill_driven(ws, k, i, count, n, ways, x, y, across):
    """Fill the friction equations of a contact that is dragged across its slip direction: x_t = -μ
    x_n d, d = (s, p)/√(s² + p²).

    Newton's iteration for s starts where the slip along the direction is zero: from there it does
    not overshoot. It starts there again if other contacts reverse the slip.
    """
    width, r = count + 1, int(ws.c_at[i]) + 1
    first, second = (i + 1) * width, (i + 2) * width
    p, moves = abs(across), ways == 1
    if not moves:
        x, y = ws.c_drift[2 * k + 1] / p, -ws.c_drift[2 * k] / p
    e, f = (-y, x) if across > 0.0 or not moves else (y, -x)
    c, slip = x * ws.c_slip[2 * k] + y * ws.c_slip[2 * k + 1], 0.0
    if ws.c_friction[k] == DRIVEN and moves:
        slip = x * row_motion(ws, r, count, n) + y * row_motion(ws, r + 1, count, n)
        slip = 0.0 if slip * c < -NEGLIGIBLE_MOBILITY * abs(slip) else slip
    c, d = slip / math.hypot(slip, p), p / math.hypot(slip, p)
    ws.c_friction[k], ws.c_slip[2 * k], ws.c_slip[2 * k + 1] = DRIVEN, c * x + d * e, c * y + d * f
    ws.c_h[first + i + 1], ws.c_h[first + i + 2], ws.c_h[first + i] = (
        ws.c_slip[2 * k],
        ws.c_slip[2 * k + 1],
        ws.c_mu[k],
    )
    bend, g = ws.c_mu[k] * ws.c_x[r - 1] * d * d / p, mobility_along(ws, r, n, x, y)
    share = 1.0 / (1.0 + bend * g) if moves and bend > 0.0 else 1.0
    ws.c_turned[k] = (
        1.0 if moves and not bend > 0.0 else 0.0
    )  # a direction that was kept tells nothing yet
    for j in range(count if moves else 0):
        s = int(ws.c_at[j])
        ws.c_h[second + j] = (
            (1.0 - share) * (x * ws.c_g[r * n + s] + y * ws.c_g[(r + 1) * n + s]) / g
        )
    if moves:
        ws.c_h[second + count] = (1.0 - share) * (slip - x * ws.c_b[r] - y * ws.c_b[r + 1]) / g
    ws.c_h[second + i + 1] += share * (d * x - c * e)
    ws.c_h[second + i + 2] += share * (d * y - c * f)


@kernel
def fill_slip(ws, k, i, count, n, top):
    """Fill the friction equations of a slip of unknown direction (one Newton step for the
    direction).
    """
    width, r = count + 1, int(ws.c_at[i]) + 1
    x, y = ws.c_slip[2 * k], ws.c_slip[2 * k + 1]
    first, second = (i + 1) * width, (i + 2) * width
    ws.c_h[first + i + 1], ws.c_h[first + i + 2], ws.c_h[first + i] = x, y, ws.c_mu[k]
    g = mobility_along(ws, r, n, -y, x)
    if not g > NEGLIGIBLE_MOBILITY * top:
        ws.c_h[second + i + 1], ws.c_h[second + i + 2] = -y, x
        return
    for j in range(count):
        s = int(ws.c_at[j])
        ws.c_h[second + j] = (x * ws.c_g[(r + 1) * n + s] - y * ws.c_g[r * n + s]) / g
    ws.c_h[second + count] = -(x * ws.c_b[r + 1] - y * ws.c_b[r]) / g
    slip = x * row_motion(ws, r, count, n) + y * row_motion(ws, r + 1, count, n)
    if slip > 0.0 and ws.c_x[r - 1] > 0.0:
        pull = slip / (ws.c_mu[k] * ws.c_x[r - 1] * g)
        ws.c_h[second + i + 1] -= pull * y
        ws.c_h[second + i + 2] += pull * x


@kernel
def eliminate_rows(ws, count):
    """Solve the equations by elimination with pivoting; the solution replaces the last column.
    Return False if singular.
    """
    width = count + 1
    for p in range(count):
        best = p
        for i in range(p + 1, count):
            if abs(ws.c_h[i * width + p]) > abs(ws.c_h[best * width + p]):
                best = i
        if not abs(ws.c_h[best * width + p]) > 0.01 * PROXIMAL:
            return False
        for j in range(p, width):
            ws.c_h[p * width + j], ws.c_h[best * width + j] = (
                ws.c_h[best * width + j],
                ws.c_h[p * width + j],
            )
        for i in range(p + 1, count):
            f = ws.c_h[i * width + p] / ws.c_h[p * width + p]
            if f != 0.0:
                for j in range(p + 1, width):
                    ws.c_h[i * width + j] -= f * ws.c_h[p * width + j]
    for p in range(count - 1, -1, -1):
        x = ws.c_h[p * width + count]
        for j in range(p + 1, count):
            x -= ws.c_h[p * width + j] * ws.c_h[j * width + count]
        ws.c_h[p * width + count] = x / ws.c_h[p * width + p]
    return True
