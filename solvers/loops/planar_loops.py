"""Planar loops: wrenches of two forces and one moment about the plane's normal instead of six
components.

A loop is planar if its rows are those of a plane (three of a weld, two of a joint without a twin)
and every joint on its paths rotates about the normal or translates perpendicular to it. This is
tested whenever constants are derived, so that a parameter that tilts an axis makes the loop spatial.
"""

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.vectors import add_to3, axpy3, dot3, get3, put3, scale
from kinetree.solvers.elements.chosen import element_plane
from kinetree.solvers.kernel import kernel
from kinetree.solvers.loops.constraint_residuals import ball_arms


@kernel
def find_planes(model, ws):
    """Determine ws.loop_plane of all groups: 1, 2, 3 for a plane normal to the ground's x, y, z
    axis, else 0.
    """
    for g in range(model.l_kind.size):
        ws.loop_plane[g] = 0.0
        axis = normal_of_rows(model, g)
        if axis >= 0 and stays_in_plane(model, ws, g, axis):
            ws.loop_plane[g] = axis + 1.0


@kernel
def normal_of_rows(model, g):
    """Return 0, 1, 2 for rows of a plane across the ground's x, y, z: two translations, with the
    rotation of a weld; else -1.
    """
    if model.l_kind[g] == L.Loop.COUPLING or model.l_axes[g] != 0:
        return -1
    rows = model.l_row[g + 1] - model.l_row[g]
    if rows != (3 if model.l_kind[g] == L.Loop.WELD else 2):
        return -1
    first, second = model.l_part[model.l_row[g]], model.l_part[model.l_row[g] + 1]
    if first > 2 or second > 2:
        return -1
    axis = 3 - first - second
    if rows == 3 and model.l_part[model.l_row[g] + 2] != axis + 3:
        return -1
    return axis


@kernel
def stays_in_plane(model, ws, g, axis):
    """Return whether all joints on the paths of a group preserve the plane normal to a ground axis
    (1, 2, 3 for x, y, z).
    """
    for e in range(model.l_at[g], model.l_at[g + 1]):
        up = model.l_up[e]
        n = (1.0 if axis == 0 else 0.0, 1.0 if axis == 1 else 0.0, 1.0 if axis == 2 else 0.0)
        if up >= 0:
            n = get3(ws.loop_w, 36 * up)
        i = model.l_body[e]
        if model.joint[i] == L.Joint.MODES or model.joint[i] == L.Joint.FACE:
            return False
        for k in range(model.e_at[i], model.e_at[i + 1]):
            n, kept = element_plane(model, ws, k, n)
            if not kept:
                return False
        put3(ws.loop_w, 36 * e, n)
    return True


@kernel
def spread_in_plane(model, ws, g, axis, metric):
    """Compute X and Z of the constraint rows of a planar loop, as `constraint_jacobian.spread_rows`
    does for spatial ones.
    """
    first = model.l_at[g]
    last = model.l_at[g + 1]
    if model.l_kind[g] != L.Loop.WELD:
        spread_point(model, ws, g, axis, metric)
        return
    for e in range(first, last):
        for k in range(36 * e, 36 * e + 9):
            ws.loop_w[k] = 0.0
    for r in range(3):
        part = model.l_part[model.l_row[g] + r]
        k = 3 * r + (2 if part >= 3 else (part - axis + 2) % 3)
        ws.loop_w[36 * (last - 1) + k] = 1.0
        if model.l_from[g] >= 0:
            ws.loop_w[36 * model.l_from[g] + k] -= 1.0
    for e in range(last - 1, first - 1, -1):
        plane_entry(model, ws, g, e, axis, metric)


@kernel
def spread_point(model, ws, g, axis, metric):
    """Compute the two rows of a planar group that closes at a point."""
    for e in range(model.l_at[g], model.l_at[g + 1]):
        put3(ws.loop_w, 36 * e, (0.0, 0.0, 0.0))
        put3(ws.loop_w, 36 * e + 3, (0.0, 0.0, 0.0))
    r_a, r_b = ball_arms(model, ws, g)
    put3(ws.small, 0, r_a)
    put3(ws.small, 3, r_b)
    one, two = (axis + 1) % 3, (axis + 2) % 3
    for r in range(2):
        first = model.l_part[model.l_row[g] + r] == one
        along = 3 * r if first else 3 * r + 1
        if model.l_into[g] >= 0:
            w = 36 * model.l_into[g]
            ws.loop_w[w + along] += 1.0
            ws.loop_w[w + 3 * r + 2] += -ws.small[3 + two] if first else ws.small[3 + one]
        if model.l_from[g] >= 0:
            w = 36 * model.l_from[g]
            ws.loop_w[w + along] -= 1.0
            ws.loop_w[w + 3 * r + 2] -= -ws.small[two] if first else ws.small[one]
    for e in range(model.l_at[g + 1] - 1, model.l_at[g] - 1, -1):
        plane_entry_of_two(model, ws, g, e, axis, metric)


@kernel
def plane_entry_of_two(model, ws, g, e, axis, metric):
    """Compute the rows of one body on the path: two forces and one moment, two rows at once."""
    i = model.l_body[e]
    one, two = (axis + 1) % 3, (axis + 2) % 3
    w, own = 36 * e, model.l_row[g]
    p, q = get3(ws.loop_w, w), get3(ws.loop_w, w + 3)
    for j in range(model.u_at[i + 1] - 1, model.u_at[i] - 1, -1):
        c, at = j * L.COLUMN, model.l_x[e] + 2 * (j - model.u_at[i])
        a = (ws.col[c + L.C_L + one], ws.col[c + L.C_L + two], ws.col[c + L.C_A + axis])
        x, y = dot3(a, p), dot3(a, q)
        inv = ws.loop_weight[j] if metric == L.WEIGHTS else ws.col[c + L.C_INV]
        ws.loop_x[at] = x
        ws.loop_x[at + 1] = y
        ws.loop_z[at] = inv * x
        ws.loop_z[at + 1] = inv * y
        if metric != L.WEIGHTS:
            v = (ws.col[c + L.C_UF + one], ws.col[c + L.C_UF + two], ws.col[c + L.C_UN + axis])
            p, q = axpy3(-inv * x, v, p), axpy3(-inv * y, v, q)
        if metric == L.MOTION:
            ws.loop_r[own] += ws.col[c + L.C_G] * x
            ws.loop_r[own + 1] += ws.col[c + L.C_G] * y
    up = model.l_up[e]
    if up >= 0:
        d = (ws.row[i * L.ROW + L.W_D + one], ws.row[i * L.ROW + L.W_D + two])
        hand_up(ws, 36 * up, p, d)
        hand_up(ws, 36 * up + 3, q, d)


@kernel
def plane_entry(model, ws, g, e, axis, metric):
    """Compute X and Z of the three rows (two forces and one moment) of a planar loop at one body on
    its path.
    """
    i = model.l_body[e]
    one, two = (axis + 1) % 3, (axis + 2) % 3
    w, own = 36 * e, model.l_row[g]
    p, q, s = get3(ws.loop_w, w), get3(ws.loop_w, w + 3), get3(ws.loop_w, w + 6)
    for j in range(model.u_at[i + 1] - 1, model.u_at[i] - 1, -1):
        c, at = j * L.COLUMN, model.l_x[e] + 3 * (j - model.u_at[i])
        a = (ws.col[c + L.C_L + one], ws.col[c + L.C_L + two], ws.col[c + L.C_A + axis])
        x = (dot3(a, p), dot3(a, q), dot3(a, s))
        z = scale(ws.loop_weight[j] if metric == L.WEIGHTS else ws.col[c + L.C_INV], x)
        put3(ws.loop_x, at, x)
        put3(ws.loop_z, at, z)
        if metric != L.WEIGHTS:
            v = (ws.col[c + L.C_UF + one], ws.col[c + L.C_UF + two], ws.col[c + L.C_UN + axis])
            p, q, s = axpy3(-z[0], v, p), axpy3(-z[1], v, q), axpy3(-z[2], v, s)
        if metric == L.MOTION:
            add_to3(ws.loop_r, own, scale(ws.col[c + L.C_G], x))
    up = model.l_up[e]
    if up >= 0:
        d = (ws.row[i * L.ROW + L.W_D + one], ws.row[i * L.ROW + L.W_D + two])
        hand_up(ws, 36 * up, p, d)
        hand_up(ws, 36 * up + 3, q, d)
        hand_up(ws, 36 * up + 6, s, d)


@kernel
def hand_up(ws, to, w, d):
    """Add a planar wrench, referred to the predecessor's origin."""
    add_to3(ws.loop_w, to, (w[0], w[1], w[2] + (d[0] * w[1] - d[1] * w[0])))
