"""The smallest change of speeds, or of coordinates, that takes a residual of the constraint rows away: Δ = -W Jᵀ (J W Jᵀ + damping)⁻¹ r.

W is the inverse mass matrix, so that a correction does the least work, or the diagonal of `loop_weight`. The damping keeps directions that the
constraints barely see, as near singular positions, from being pushed by rounding.
"""

import math

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.rotations import quaternion_matrix
from kinetree.solvers.algebra.vectors import add_to3, get3, mtv, mv, put3, sub3
from kinetree.solvers.engine.dec import accelerate_all, eliminate_all
from kinetree.solvers.engine.evaluation import place
from kinetree.solvers.engine.kinematics import velocities
from kinetree.solvers.engine.prepare import run_phase
from kinetree.solvers.kernel import kernel
from kinetree.solvers.loops.envelope import factor, form_gram
from kinetree.solvers.loops.ghosts import lend, repay
from kinetree.solvers.loops.residual import velocity_residual
from kinetree.solvers.loops.response import along, forget_bias, yield_to
from kinetree.solvers.loops.rows import spread_rows
from kinetree.solvers.loops.substitution import solve_factor


@kernel
def place_loops(model, ws, t):
    """Positions, velocities and registers of the state in ws.q, ws.u that the constraint rows need."""
    status = place(model, ws, t, True)
    velocities(model, ws)
    if status == 0 and model.l_k[model.l_kind.size] + model.l_arm.size > 0:
        status = run_phase(model, ws, 2)
    return status


@kernel
def least_change(model, ws, damping, inertia, use):
    """Write the change that takes ws.loop_r away to ws.udot; `inertia`: least in kinetic energy, else by ws.loop_weight; `use`: rows of `factor`."""
    if inertia:
        lend(model, ws)
        status = eliminate_all(model, ws)
        if status != 0:
            return status
    spread_rows(model, ws, L.MASSES if inertia else L.WEIGHTS)
    form_gram(model, ws)
    factor(model, ws, damping, use)
    if inertia:
        answer_residual(model, ws)
        return repay(model, ws) if model.ghosts.size > 0 else 0
    solve_residual(model, ws)
    gather_change(model, ws)
    return 0


@kernel
def solve_residual(model, ws):
    """Multipliers that take ws.loop_r away, by the factor that is there."""
    for r in range(ws.loop_lam.size):
        ws.loop_lam[r] = -ws.loop_r[r]
    solve_factor(model, ws, ws.loop_lam)


@kernel
def answer_residual(model, ws):
    """The change of least kinetic energy that takes ws.loop_r away in ws.udot, by the rows, the factor and the elimination that are there."""
    solve_residual(model, ws)
    forget_bias(model, ws)
    yield_to(model, ws)
    accelerate_all(model, ws)


@kernel
def row_rates(model, ws, t):
    """Fill ws.loop_r with J u of ws.u: without the rates that time, states and inputs give the rows."""
    place_loops(model, ws, t)
    velocity_residual(model, ws)
    for r in range(ws.loop_r.size):
        ws.loop_d[r] = ws.loop_r[r]
    for j in range(ws.u.size):
        ws.u[j] = -ws.u[j]
    place_loops(model, ws, t)
    velocity_residual(model, ws)
    for r in range(ws.loop_r.size):
        ws.loop_r[r] = 0.5 * (ws.loop_d[r] - ws.loop_r[r])
    for j in range(ws.u.size):
        ws.u[j] = -ws.u[j]


@kernel
def gather_change(model, ws):
    """ws.udot = W Jᵀ λ for the weights of ws.loop_weight."""
    for j in range(ws.udot.size):
        ws.udot[j] = 0.0
    for g in range(model.l_kind.size):
        own = model.l_row[g]
        for e in range(model.l_at[g], model.l_at[g + 1]):
            first = model.u_at[model.l_body[e]]
            rows = model.l_row[g + 1] - own
            for k in range(model.u_at[model.l_body[e] + 1] - first):
                ws.udot[first + k] += along(ws, model.l_x[e] + rows * k, own, rows)


@kernel
def retract(model, ws, change, scale):
    """Move ws.q by scale times a change in the directions of the speeds."""
    for j in range(model.u_q.size):
        if model.u_q[j] >= 0:
            ws.q[model.u_q[j]] += scale * change[j]
    for e in range(model.e_kind.size):
        k = model.e_q[e]
        j = model.e_u[e]
        if model.e_kind[e] == L.Element.BALL or model.e_kind[e] == L.Element.BALL_BACK:
            turn_quaternion(ws.q, k, change[j], change[j + 1], change[j + 2], scale)
        elif model.e_kind[e] == L.Element.FREE:
            R = quaternion_matrix(ws.q[k + 3], ws.q[k + 4], ws.q[k + 5], ws.q[k + 6])
            x, y, z = mv(R, get3(change, j))
            add_to3(ws.q, k, (scale * x, scale * y, scale * z))
            turn_quaternion(ws.q, k + 3, change[j + 3], change[j + 4], change[j + 5], scale)


@kernel
def departure(model, ws, q, out):
    """What leads from the coordinates q to ws.q, in the directions of the speeds: the inverse of `retract`."""
    for j in range(model.u_q.size):
        if model.u_q[j] >= 0:
            out[j] = ws.q[model.u_q[j]] - q[model.u_q[j]]
    for e in range(model.e_kind.size):
        k = model.e_q[e]
        j = model.e_u[e]
        if model.e_kind[e] == L.Element.BALL or model.e_kind[e] == L.Element.BALL_BACK:
            put3(out, j, turn_between(q, ws.q, k))
        elif model.e_kind[e] == L.Element.FREE:
            R = quaternion_matrix(q[k + 3], q[k + 4], q[k + 5], q[k + 6])
            put3(out, j, mtv(R, sub3(get3(ws.q, k), get3(q, k))))
            put3(out, j + 3, turn_between(q, ws.q, k + 3))


@kernel
def turn_between(a, b, k):
    """Rotation vector, in child axes, from the quaternion at a[k] to the one at b[k]."""
    x = a[k] * b[k + 1] - b[k] * a[k + 1] - (a[k + 2] * b[k + 3] - a[k + 3] * b[k + 2])
    y = a[k] * b[k + 2] - b[k] * a[k + 2] - (a[k + 3] * b[k + 1] - a[k + 1] * b[k + 3])
    z = a[k] * b[k + 3] - b[k] * a[k + 3] - (a[k + 1] * b[k + 2] - a[k + 2] * b[k + 1])
    w = a[k] * b[k] + a[k + 1] * b[k + 1] + a[k + 2] * b[k + 2] + a[k + 3] * b[k + 3]
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    s = math.sqrt(x * x + y * y + z * z)
    factor = 2.0 * math.atan2(s, w) / s if s > 1e-12 else 2.0
    return (factor * x, factor * y, factor * z)


@kernel
def turn_quaternion(q, k, x, y, z, scale):
    """Multiply the quaternion at k by the rotation with vector scale * (x, y, z) in child axes; its length becomes 1."""
    half = 0.5 * scale * math.sqrt(x * x + y * y + z * z)
    s = 0.5 * scale
    if half > 1e-8:
        s *= math.sin(half) / half
    c = math.cos(half)
    x *= s
    y *= s
    z *= s
    qw, qx, qy, qz = q[k], q[k + 1], q[k + 2], q[k + 3]
    q[k] = c * qw - x * qx - y * qy - z * qz
    q[k + 1] = c * qx + x * qw + z * qy - y * qz
    q[k + 2] = c * qy + y * qw + x * qz - z * qx
    q[k + 3] = c * qz + z * qw + y * qx - x * qy
    length = math.sqrt(q[k] * q[k] + q[k + 1] * q[k + 1] + q[k + 2] * q[k + 2] + q[k + 3] * q[k + 3])
    for i in range(4):
        q[k + i] /= length
