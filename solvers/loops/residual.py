"""Residuals of the constraint rows at position, velocity and acceleration level ([SC24] Psi = 0, C θ' = 0, C θ" + C' θ' = 0).

A weld compares a twin with its original: difference of the origins and rotation vector of the relative attitude, then differences of twists and of
accelerations, all in ground axes. A coupling has its value and derivatives in registers.
"""

import math

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.rotations import quaternion_of
from kinetree.solvers.algebra.vectors import add3, get3, get9, mm, put3, sub3, transpose
from kinetree.solvers.kernel import kernel


@kernel
def rotation_vector(R):
    """Axis times angle of a rotation matrix, angle up to pi."""
    w, x, y, z = quaternion_of(R)
    s = math.sqrt(x * x + y * y + z * z)
    if s < 1e-8:
        k = 2.0 if w > 0.0 else -2.0
    else:
        k = 2.0 * math.atan2(s, abs(w)) / s
        if w < 0.0:
            k = -k
    return (k * x, k * y, k * z)


@kernel
def keep_rows(model, ws, g, linear, angular):
    """Store the components of a weld's residual that have rows."""
    put3(ws.small, 0, linear)
    put3(ws.small, 3, angular)
    for r in range(model.l_row[g], model.l_row[g + 1]):
        ws.loop_r[r] = ws.small[model.l_part[r]]


@kernel
def position_residual(model, ws):
    """Fill ws.loop_r from positions; needs `velocities` and the state program."""
    for g in range(model.l_kind.size):
        r = model.l_row[g]
        if model.l_kind[g] == L.Loop.COUPLING:
            ws.loop_r[r] = ws.val[model.l_a[g]]
        else:
            a = model.l_a[g] * L.ROW
            b = model.l_b[g] * L.ROW
            p = sub3(get3(ws.row, b + L.W_P), get3(ws.row, a + L.W_P))
            keep_rows(model, ws, g, p, rotation_vector(mm(get9(ws.row, b + L.W_R), transpose(get9(ws.row, a + L.W_R)))))


@kernel
def velocity_residual(model, ws):
    """Fill ws.loop_r from velocities; needs `velocities` and the state program."""
    for g in range(model.l_kind.size):
        r = model.l_row[g]
        if model.l_kind[g] == L.Loop.COUPLING:
            ws.loop_r[r] = ws.val[model.l_a[g] + 1]
        else:
            a = model.l_a[g] * L.ROW
            b = model.l_b[g] * L.ROW
            v = sub3(get3(ws.row, b + L.W_V), get3(ws.row, a + L.W_V))
            keep_rows(model, ws, g, v, sub3(get3(ws.row, b + L.W_OM), get3(ws.row, a + L.W_OM)))


@kernel
def acceleration_residual(model, ws):
    """Fill ws.loop_r from accelerations; needs `dec`."""
    for g in range(model.l_kind.size):
        r = model.l_row[g]
        if model.l_kind[g] == L.Loop.COUPLING:
            total = ws.val[model.l_a[g] + 2]
            for k in range(model.l_k[g], model.l_k[g + 1]):
                total += ws.val[model.l_slope[k]] * ws.udot[model.l_speed[k]]
            ws.loop_r[r] = total
        else:
            a = model.l_a[g] * L.ROW
            b = model.l_b[g] * L.ROW
            w = sub3(acceleration(ws, b + L.W_A0, b + L.W_DB), acceleration(ws, a + L.W_A0, a + L.W_DB))
            keep_rows(model, ws, g, w, sub3(acceleration(ws, b + L.W_AL, b + L.W_DA), acceleration(ws, a + L.W_AL, a + L.W_DA)))


@kernel
def acceleration(ws, at_rest, increment):
    """Acceleration at u̇ = 0 plus its increment."""
    return add3(get3(ws.row, at_rest), get3(ws.row, increment))


@kernel
def largest(model, ws):
    """Largest residual; head[K_ITEM] is its row."""
    worst = 0.0
    for r in range(ws.loop_r.size):
        x = abs(ws.loop_r[r])
        if not x <= worst:
            worst = x
            ws.head[L.K_ITEM] = r
    return worst


@kernel
def norm_squared(ws):
    """Sum of squares of the residual."""
    total = 0.0
    for r in range(ws.loop_r.size):
        total += ws.loop_r[r] * ws.loop_r[r]
    return total
