"""Derived constants: body inertias about O_i, unit axes, constant rotations and the folded constant part of common joints.

Runs after every change of a parameter; everything here depends on registers of phase 0 only.
"""

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.vectors import add3, get3, mm, mv, put3, put6, put9, scale
from kinetree.solvers.elements.chosen import (
    constant_rotation,
    constant_shift,
    derive_element,
    is_constant,
)
from kinetree.solvers.expressions.evaluate import evaluate
from kinetree.solvers.kernel import kernel
from kinetree.solvers.linked_kernels import boundary
from kinetree.solvers.loops.planar_loops import find_planes


@kernel
def run_phase(model, ws, phase):
    """Evaluate the register program of one phase (`phase` 0: parameters)."""
    first = model.header.phase[phase]
    last = model.header.phase[phase + 1]
    if last > first:
        return evaluate(ws.val, model.code, first, last, model.tables, model.table_data)
    return 0


@boundary("solve")
def prepare(model, ws):
    """Evaluate the parameter program and derive all constants; overwrites ws.body and ws.elem."""
    status = run_phase(model, ws, 0)
    if status != 0:
        return status
    for i in range(model.parent.size):
        prepare_inertia(model, ws, i)
    for e in range(model.e_kind.size):
        prepare_element(model, ws, e)
    for i in range(1, model.parent.size):
        fold_constants(model, ws, i)
    for j in range(model.u_rotor.size):
        ws.rotor[j] = ws.val[model.u_rotor[j]] if model.u_rotor[j] >= 0 else 0.0
    for k in range(model.l_kind.size):
        ws.loop_rank[k] = model.l_rank[k]
    ws.head.factored = 0.0
    find_planes(model, ws)
    return 0


@kernel
def prepare_inertia(model, ws, i):
    """Compute mass, first moment h = m rc and inertia about the origin O_i (parallel-axis theorem)
    of body i.
    """
    at = i * L.BODY
    m = 0.0
    c = (0.0, 0.0, 0.0)
    j = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    if model.b_mass[i] >= 0:
        m = ws.val[model.b_mass[i]]
        c = get3(ws.val, model.b_com[i])
        k = model.b_inertia[i]
        j = (ws.val[k], ws.val[k + 3], ws.val[k + 4], ws.val[k + 1], ws.val[k + 5], ws.val[k + 2])
        if model.b_about[i] == 0:
            x, y, z = c
            s = (y * y + z * z, -x * y, -x * z, x * x + z * z, -y * z, x * x + y * y)
            j = (
                j[0] + m * s[0],
                j[1] + m * s[1],
                j[2] + m * s[2],
                j[3] + m * s[3],
                j[4] + m * s[4],
                j[5] + m * s[5],
            )
    ws.body[at + L.B_MASS] = m
    put3(ws.body, at + L.B_H, scale(m, c))
    put6(ws.body, at + L.B_J, j)


@kernel
def axis_code(a):
    """Return 1, 2, 3 for the positive coordinate axes, 0 for any other direction."""
    if a[1] == 0.0 and a[2] == 0.0 and a[0] > 0.0:
        return 1.0
    if a[0] == 0.0 and a[2] == 0.0 and a[1] > 0.0:
        return 2.0
    if a[0] == 0.0 and a[1] == 0.0 and a[2] > 0.0:
        return 3.0
    return 0.0


@kernel
def prepare_element(model, ws, e):
    """Compute the axis, the factor and the derived constants of joint element e."""
    at = e * L.ELEMENT
    put3(
        ws.elem,
        at + L.E_AXIS,
        get3(ws.val, model.e_axis[e]) if model.e_axis[e] >= 0 else (0.0, 0.0, 1.0),
    )
    ws.elem[at + L.E_FACTOR] = ws.val[model.e_factor[e]] if model.e_factor[e] >= 0 else 1.0
    derive_element(model, ws, e, 0)
    ws.elem_code[e] = axis_code(get3(ws.elem, at + L.E_AXIS))


UNIT = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@kernel
def fold_constants(model, ws, i):
    """Fold the leading constant elements of joint i into one rotation and one shift, and store the
    axis of the moving element.
    """
    at = i * L.BODY
    E = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    r = (0.0, 0.0, 0.0)
    a = (0.0, 0.0, 1.0)
    for e in range(model.e_at[i], model.e_at[i + 1]):
        if not is_constant(model.e_kind[e]):
            a = get3(ws.elem, e * L.ELEMENT + L.E_AXIS)
            break
        r = add3(r, mv(E, constant_shift(model, ws, e, 0)))
        E = mm(E, constant_rotation(model, ws, e, 0))
    put9(ws.body, at + L.B_E, E)
    put3(ws.body, at + L.B_R, r)
    put3(ws.body, at + L.B_AXIS, a)
    ws.body_code[2 * i] = axis_code(a)
    ws.body_code[2 * i + 1] = 1.0 if E == UNIT else 0.0
