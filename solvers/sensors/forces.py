"""Sensors of joint reactions and of the forces of couplings and contacts."""

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.vectors import cross, get3, get9, mv, neg3, sub3
from kinetree.solvers.kernel import kernel


@kernel
def reaction(ws, s):
    """Return force and moment, about its origin and in ground axes, that joint a exerts on its
    child. point_b is 1 if the tree uses the joint from its child, body b, to its parent.
    """
    R = get9(ws.row, s.a * L.ROW + L.W_R)
    f = mv(R, get3(ws.reaction, 6 * s.a))
    n = mv(R, get3(ws.reaction, 6 * s.a + 3))
    if s.point_b == 1:
        r = sub3(get3(ws.row, s.a * L.ROW + L.W_P), get3(ws.row, s.b * L.ROW + L.W_P))
        n = sub3(neg3(n), cross(r, f))
        f = neg3(f)
    return f, n


@kernel
def reaction_force(model, ws, s):
    """Return the force [N] that a joint transmits to its child."""
    return reaction(ws, s)[0]


@kernel
def reaction_moment(model, ws, s):
    """Return the moment [N.m] that a joint transmits to its child."""
    return reaction(ws, s)[1]


@kernel
def multiplier(model, ws, s):
    """Return the multiplier (generalised force) of one coupling row; 0 if the current structure has
    no such row.
    """
    found = 0.0
    for g in range(model.l_kind.size):
        if model.l_kind[g] == L.Loop.COUPLING and model.l_b[g] == s.a:
            found = ws.loop_lam[model.l_row[g]]
    return found


@kernel
def contact(model, ws, s):
    """Return one output of a contact: gap, force or slip component."""
    return ws.c_out[4 * s.a + s.axis]
