"""A joint as a sequence of elements, in body axes: G_i, rho_i, the tangent columns A_i, v̂_i and their rates ([Sh24] 1.1-1.14).

The elements are taken from the child towards the parent: `G` and `s` then lead from the frame after an element to the child's frame, so each
column is carried once, and its rate follows from the relative velocity of the part already passed: ȧ = Ωᵀ-product of that velocity with a.
"""

from kinetree.solvers.algebra.vectors import add3, mm, mv, put3, put6, put9, transpose
from kinetree.solvers.elements.chosen import (
    element_columns,
    element_rates,
    element_rotation,
    element_shift,
)
from kinetree.solvers.elements.single import UNIT, ZERO, ZERO6
from kinetree.solvers.kernel import kernel


@kernel
def place_joint(model, ws, i):
    """Compute G, rho, A, vh (rotation, position, tangent columns, prescribed velocity) of joint i
    and the columns of its elements.
    """
    for k in range(6 * model.u_at[i], 6 * model.u_at[i + 1]):
        ws.A[k] = 0.0
    put6(ws.vh, 6 * i, ZERO6)
    G = UNIT
    s = ZERO
    for e in range(model.e_at[i + 1] - 1, model.e_at[i] - 1, -1):
        element_columns(model, ws, e, (i, G, s))
        r = element_rotation(model, ws, e, 0)
        G = mm(G, transpose(r))
        s = add3(element_shift(model, ws, e, 0), mv(r, s))
    put9(ws.G, 9 * i, G)
    put3(ws.rho, 3 * i, s)


@kernel
def joint_rates(model, ws, i):
    """Compute the column rates Adot of joint i; return its relative velocity Aq̇ + v̂ and the part
    Ȧq̇ + dv̂/dt of its relative acceleration.
    """
    for k in range(6 * model.u_at[i], 6 * model.u_at[i + 1]):
        ws.Adot[k] = 0.0
    v = ZERO6
    a = ZERO6
    for e in range(model.e_at[i + 1] - 1, model.e_at[i] - 1, -1):
        v, a = element_rates(model, ws, e, (v, a))
    return v, a
