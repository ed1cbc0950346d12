"""Joints of any kind, evaluated element by element (`solvers/elements`).

The row of the body serves as the running frame on the path from the parent; equations (1.13),
(1.14) in ground axes as in `motion`.
"""

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.vectors import add_to3, cross, get3, get9, put3, put9
from kinetree.solvers.elements.chosen import walk_element
from kinetree.solvers.kernel import kernel

ZERO = (0.0, 0.0, 0.0)


@kernel
def move_general(model, ws, i):
    """Compute the motion of body i element by element; the row of body i serves as the running
    frame.
    """
    at = i * L.ROW
    parent = model.parent[i] * L.ROW
    put9(ws.row, at + L.W_R, get9(ws.row, parent + L.W_R))
    put3(ws.row, at + L.W_D, ZERO)
    put3(ws.row, at + L.W_OM, get3(ws.row, parent + L.W_OM))
    put3(ws.row, at + L.W_AL, get3(ws.row, parent + L.W_AL))
    put3(ws.row, at + L.W_A0, get3(ws.row, parent + L.W_A0))
    put3(ws.row, at + L.W_VH, ZERO)
    put3(ws.row, at + L.W_VH + 3, ZERO)
    for j in range(model.u_at[i], model.u_at[i + 1]):
        put3(ws.col, j * L.COLUMN + L.C_L, ZERO)
        put3(ws.col, j * L.COLUMN + L.C_A, ZERO)
    for e in range(model.e_at[i], model.e_at[i + 1]):
        walk_element(model, ws, e, at)
    close_joint(model, ws, i)


@kernel
def close_joint(model, ws, i):
    """Refer the linear parts of the columns and of the prescribed motion to O_i: l + a × d."""
    at = i * L.ROW
    d = get3(ws.row, at + L.W_D)
    add_to3(ws.row, at + L.W_VH + 3, cross(get3(ws.row, at + L.W_VH), d))
    for j in range(model.u_at[i], model.u_at[i + 1]):
        c = j * L.COLUMN
        if model.u_kind[j] == L.Column.ROTATION:
            put3(ws.col, c + L.C_L, ZERO)
        else:
            add_to3(ws.col, c + L.C_L, cross(get3(ws.col, c + L.C_A), d))
