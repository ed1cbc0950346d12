"""Planar loops: wrenches of two forces and one moment about the plane's normal instead of six
components.

A loop is planar if its rows are those of a plane and every joint on its paths rotates about the
normal or translates perpendicular to it. This is tested whenever constants are derived, so that a
parameter that tilts an axis makes the loop spatial.
"""

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.vectors import add_to3, axpy3, dot3, get3, put3, scale
from kinetree.solvers.elements.chosen import element_plane
from kinetree.solvers.kernel import kernel


@kernel
def find_planes(model, ws):
    """Determine ws.loop_plane of all groups: 1, 2, 3 for a plane normal to the ground's x, y, z
    axis, else 0.
    """
    for g in range(model.l_kind.size):
        ws.loop_plane[g] = 0.0
        own_axes = model.l_kind[g] == L.Loop.WELD and model.l_axes[g] == 0
        if own_axes and model.l_row[g + 1] - model.l_row[g] == 3:
            axis = model.l_part[model.l_row[g] + 2] - 3
            if axis >= 0 and parts_of_plane(model, g, axis) and stays_in_plane(model, ws, g, axis):
                ws.loop_plane[g] = axis + 1.0


@kernel
def parts_of_plane(model, g, axis):
    """Return whether the two other constraint rows of group g are the translations perpendicular to
    the axis.
    """
    first, second = model.l_part[model.l_row[g]], model.l_part[model.l_row[g] + 1]
    return second < 3 and first != axis and second != axis


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
