"""Joint reactions of the default engine, R_i = M*_i w_i - F*_i, in body axes at O_i; the part
A(AᵀA)⁻¹τ of applied joint forces is removed.
"""

import math

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.lane_select import select
from kinetree.solvers.algebra.vectors import (
    add3,
    dot3,
    get3,
    get6,
    get9,
    mtv,
    mv,
    put3,
    scale,
    sub3,
    sv,
)
from kinetree.solvers.kernel import kernel
from kinetree.solvers.linked_kernels import boundary
from kinetree.solvers.loops.constraint_force_response import carry


@boundary("solve")
def reactions(model, ws):
    """Out-of-line version of `react` for plain numbers (no SIMD lanes or duals)."""
    return react(model, ws)


@kernel
def react(model, ws):
    """Fill ws.reaction after `dec`, or after the closed loops have been solved."""
    if model.l_kind.size > 0:
        carry(model, ws)
    for i in range(1, model.parent.size):
        at = i * L.ROW
        da = get3(ws.row, at + L.W_DA)
        db = get3(ws.row, at + L.W_DB)
        H = get9(ws.row, at + L.W_H)
        n = add3(add3(sv(get6(ws.row, at + L.W_J), da), mv(H, db)), get3(ws.row, at + L.W_N))
        f = add3(add3(mtv(H, da), sv(get6(ws.row, at + L.W_M), db)), get3(ws.row, at + L.W_F))
        if model.joint[i] != L.Joint.MODES:
            f, n = take_off_drive(model, ws, i, f, n)
        R = get9(ws.row, at + L.W_R)
        put3(ws.reaction, 6 * i, mtv(R, f))
        put3(ws.reaction, 6 * i + 3, mtv(R, n))
    return 0


@kernel
def take_off_drive(model, ws, i, f, n):
    """Project the wrench (f, n) off the tangent columns of joint i (modified Gram-Schmidt on copies
    in ws.small).

    Along the columns the wrench is the applied joint force alone, so what remains is the constraint reaction with Aᵀ R = 0.
    """
    first = model.u_at[i]
    count = model.u_at[i + 1] - first
    for k in range(count):
        c = (first + k) * L.COLUMN
        el = get3(ws.col, c + L.C_L)
        a = get3(ws.col, c + L.C_A)
        for m in range(k):
            bl = get3(ws.small, 6 * m)
            ba = get3(ws.small, 6 * m + 3)
            s = -(dot3(el, bl) + dot3(a, ba))
            el = add3(el, scale(s, bl))
            a = add3(a, scale(s, ba))
        norm = dot3(el, el) + dot3(a, a)
        s = select(norm > 0.0, 1.0 / math.sqrt(norm), 1.0)
        el = scale(s, el)
        a = scale(s, a)
        put3(ws.small, 6 * k, el)
        put3(ws.small, 6 * k + 3, a)
        share = dot3(el, f) + dot3(a, n)
        f = sub3(f, scale(share, el))
        n = sub3(n, scale(share, a))
    return (f, n)
