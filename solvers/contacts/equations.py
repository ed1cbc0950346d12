"""Linear equations of contact rows for guessed states, and which ways to slip a closed contact has.

Rows that hold and stick have no motion; what slips has friction against a direction, which turns to that of the motion. Friction acts along the ways
alone in which a contact can slip while its gap holds: across them nothing tends to slip, and rows there would say again what the normal row says.
"""

import math

from kinetree.solvers.contacts.rows import rate_of_row
from kinetree.solvers.kernel import kernel

STICKS, SLIPS = 1.0, 2.0  # ws.c_rub
PROXIMAL = 1e-8  # part of the diagonal that keeps forces small
NOTHING = 1e-13  # relative to the largest diagonal: such a row moves nothing
ACROSS, CRAWL = 1e-4, 1e-6  # of the speed, and m/s: as far the velocity of a step that is tried may lie across the only way
DEPENDENT = 1e-6  # relative to the response along the plane: less of it is left by the normal row only by rounding, or as loops give way in impacts


@kernel
def scales(ws, count, n):
    """Largest diagonal, and largest motion b, of the rows listed."""
    top, motion = 0.0, 0.0
    for i in range(count):
        r = int(ws.c_at[i])
        top = max(top, ws.c_g[r * n + r])
        motion = max(motion, abs(ws.c_b[r]))
    return top, motion


@kernel
def motion_of(ws, r, count, n):
    """w of row r."""
    total = ws.c_b[r]
    for j in range(count):
        s = int(ws.c_at[j])
        total += ws.c_g[r * n + s] * ws.c_x[s]
    return total


@kernel
def fill_row(ws, i, count, n, top):
    """Equation w = 0 of listed row i, with the proximal term, divided by its diagonal; a row that moves nothing has no force."""
    r = int(ws.c_at[i])
    g = ws.c_g[r * n + r]
    width = count + 1
    if not g > NOTHING * top:
        ws.c_h[i * width + i] = 1.0
        return
    for j in range(count):
        ws.c_h[i * width + j] = ws.c_g[r * n + int(ws.c_at[j])] / g
    ws.c_h[i * width + i] += PROXIMAL
    ws.c_h[i * width + count] = PROXIMAL * ws.c_from[r] - ws.c_b[r] / g


@kernel
def fill(model, ws, count, top):
    """Equations of all rows listed for the guessed states."""
    n, width = model.c_value.size, count + 1
    for c in range(count * width):
        ws.c_h[c] = 0.0
    for k in range(model.c_law.size):
        if ws.c_take[k] != 1.0:
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
                ways, x, y = ways_of(ws, model.c_row[k], n, top) if ws.c_hold[k] == 1.0 else (2, 0.0, 0.0)
                if ways == 2 and ws.c_rub[k] == STICKS:
                    fill_row(ws, i + 1, count, n, top)
                    fill_row(ws, i + 2, count, n, top)
                elif ways == 2:
                    fill_slip(ws, k, i, count, n, top)
                else:
                    fill_along(ws, k, i, count, n, ways, x, y)


@kernel
def ways_of(ws, r, n, top):
    """Directions that the slip of a contact has while its gap, row r, holds: how many, and the one where there is one.

    They are those in which something is left of G_t - G_tn G_nt / G_n. A point on one curve has none if the curve crosses the plane of touch.
    """
    g, a, c = ws.c_g[r * n + r], ws.c_g[(r + 1) * n + r + 1], ws.c_g[(r + 2) * n + r + 2]
    b = 0.5 * (ws.c_g[(r + 1) * n + r + 2] + ws.c_g[(r + 2) * n + r + 1])
    if not g > NOTHING * top:
        return 2, 0.0, 0.0
    nothing = max(DEPENDENT * (a + c), NOTHING * top)
    a -= ws.c_g[(r + 1) * n + r] * ws.c_g[r * n + r + 1] / g
    b -= 0.5 * (ws.c_g[(r + 1) * n + r] * ws.c_g[r * n + r + 2] + ws.c_g[(r + 2) * n + r] * ws.c_g[r * n + r + 1]) / g
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
def turn_into_way(ws, k, x, y):
    """The slip of contact k goes along its way (x, y), in the sense in which it is nearer."""
    along = 1.0 if x * ws.c_slip[2 * k] + y * ws.c_slip[2 * k + 1] >= 0.0 else -1.0
    ws.c_slip[2 * k], ws.c_slip[2 * k + 1] = along * x, along * y


@kernel
def response_along(ws, r, n, x, y):
    """Motion along (x, y) by a unit force along it, of a plane whose rows begin at r."""
    return x * x * ws.c_g[r * n + r] + x * y * (ws.c_g[r * n + r + 1] + ws.c_g[(r + 1) * n + r]) + y * y * ws.c_g[(r + 1) * n + r + 1]


@kernel
def fill_along(ws, k, i, count, n, ways, x, y):
    """Friction of a contact that can slip along (x, y) only, or not at all: none acts across the way, as nothing tends to slip there."""
    width, r = count + 1, int(ws.c_at[i]) + 1
    first, second = (i + 1) * width, (i + 2) * width
    ws.c_h[second + i + 1], ws.c_h[second + i + 2] = -y, x
    if ways == 0:
        ws.c_rub[k] = STICKS
        ws.c_h[first + i + 1], ws.c_h[second + i + 2] = 1.0, 1.0
    elif ws.c_rub[k] == STICKS:
        g = response_along(ws, r, n, x, y)
        for j in range(count):
            s = int(ws.c_at[j])
            ws.c_h[first + j] = (x * ws.c_g[r * n + s] + y * ws.c_g[(r + 1) * n + s]) / g
        ws.c_h[first + i + 1] += PROXIMAL * x
        ws.c_h[first + i + 2] += PROXIMAL * y
        ws.c_h[first + count] = PROXIMAL * (x * ws.c_from[r] + y * ws.c_from[r + 1]) - (x * ws.c_b[r] + y * ws.c_b[r + 1]) / g
    else:
        turn_into_way(ws, k, x, y)
        ws.c_h[first + i + 1], ws.c_h[first + i + 2], ws.c_h[first + i] = ws.c_slip[2 * k], ws.c_slip[2 * k + 1], ws.c_mu[k]


@kernel
def fill_slip(ws, k, i, count, n, top):
    """Slip whose direction is not known: x_t d = -μ x_n, and no motion across d where it turns to x_t, e w_t + (e x_t) (d w_t)/(μ x_n) = 0."""
    width, r = count + 1, int(ws.c_at[i]) + 1
    x, y = ws.c_slip[2 * k], ws.c_slip[2 * k + 1]
    first, second = (i + 1) * width, (i + 2) * width
    ws.c_h[first + i + 1], ws.c_h[first + i + 2], ws.c_h[first + i] = x, y, ws.c_mu[k]
    g = response_along(ws, r, n, -y, x)
    if not g > NOTHING * top:
        ws.c_h[second + i + 1], ws.c_h[second + i + 2] = -y, x
        return
    for j in range(count):
        s = int(ws.c_at[j])
        ws.c_h[second + j] = (x * ws.c_g[(r + 1) * n + s] - y * ws.c_g[r * n + s]) / g
    ws.c_h[second + count] = -(x * ws.c_b[r + 1] - y * ws.c_b[r]) / g
    slip = x * motion_of(ws, r, count, n) + y * motion_of(ws, r + 1, count, n)
    if slip > 0.0 and ws.c_x[r - 1] > 0.0:
        pull = slip / (ws.c_mu[k] * ws.c_x[r - 1] * g)
        ws.c_h[second + i + 1] -= pull * y
        ws.c_h[second + i + 2] += pull * x


@kernel
def eliminate_rows(ws, count):
    """Solve the equations by elimination with row pivots; the solution stands in the last column. False where there is no pivot."""
    width = count + 1
    for p in range(count):
        best = p
        for i in range(p + 1, count):
            if abs(ws.c_h[i * width + p]) > abs(ws.c_h[best * width + p]):
                best = i
        if not abs(ws.c_h[best * width + p]) > 0.01 * PROXIMAL:
            return False
        for j in range(p, width):
            ws.c_h[p * width + j], ws.c_h[best * width + j] = ws.c_h[best * width + j], ws.c_h[p * width + j]
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


@kernel
def slide_along_ways(model, ws, count):
    """A sliding contact that can slip along one way only does so along that, if its velocity across is but an error of the step that is tried.

    What a given motion drives across the way is none: friction is against the velocity as it is.
    """
    n = model.c_value.size
    top, _ = scales(ws, count, n)
    for k in range(model.c_law.size):
        if ws.c_take[k] == 1.0 and ws.c_forced[k] == 1.0 and model.c_row[k + 1] - model.c_row[k] == 3:
            r = model.c_row[k]
            ways, x, y = ways_of(ws, r, n, top)
            u, v = rate_of_row(model, ws, r + 1), rate_of_row(model, ws, r + 2)
            if ways == 1 and abs(x * v - y * u) <= ACROSS * math.hypot(u, v) + CRAWL:
                turn_into_way(ws, k, x, y)


@kernel
def passing_slip(ws, k, r, count, n):
    """Rate of a slip that nothing holds, which gets its direction; what pulls for a host is left out.

    A point that moves on and at this instant does not slip, as one plane rolls on the other, has no way to slip now and has one in a moment.
    """
    along = (motion_of(ws, r, count, n) - ws.c_pull[r]) / ws.c_g[r * n + r]
    x = motion_of(ws, r + 1, count, n) - ws.c_pull[r + 1] - ws.c_g[(r + 1) * n + r] * along
    y = motion_of(ws, r + 2, count, n) - ws.c_pull[r + 2] - ws.c_g[(r + 2) * n + r] * along
    size = math.hypot(x, y)
    if size > 0.0:
        ws.c_slip[2 * k], ws.c_slip[2 * k + 1] = x / size, y / size
    return size
