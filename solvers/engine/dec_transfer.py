"""Transfer between a body and its parent: articulated inertia and bias towards the root,
accelerations away from it.
"""

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.vectors import (
    add3,
    add6,
    add9,
    add_to3,
    add_to6,
    add_to9,
    cross,
    full,
    get3,
    skew_mm,
    transpose,
)
from kinetree.solvers.kernel import inline

# smallest pivot D_j relative to the largest entry of its inertia that still counts as inertia
SINGULAR = 1e-14


@inline
def hand_over(model, ws, i, J, H, M, N, F):
    """Refer the remaining inertia and bias of body i to the parent's origin, C_jᵀ H_j C_j and C_jᵀ
    h_j, and add them to the parent.
    """
    p = model.parent[i] * L.ROW
    d = get3(ws.row, i * L.ROW + L.W_D)
    G = add9(H, skew_mm(d, full(M)))
    X = skew_mm(d, transpose(G))
    Y = skew_mm(d, transpose(H))
    J = add6(J, (X[0] + Y[0], X[1] + Y[3], X[2] + Y[6], X[4] + Y[4], X[5] + Y[7], X[8] + Y[8]))
    add_to6(ws.row, p + L.W_J, J)
    add_to9(ws.row, p + L.W_H, G)
    add_to6(ws.row, p + L.W_M, M)
    add_to3(ws.row, p + L.W_N, add3(N, cross(d, F)))
    add_to3(ws.row, p + L.W_F, F)


@inline
def carried(model, ws, i):
    """Return the parent's increments of angular and linear acceleration, carried to O_i."""
    p = model.parent[i] * L.ROW
    da = get3(ws.row, p + L.W_DA)
    return da, add3(get3(ws.row, p + L.W_DB), cross(da, get3(ws.row, i * L.ROW + L.W_D)))
