"""A joint as a sequence of elements, in body axes: G_i, rho_i, the tangent columns A_i, v̂_i and their rates ([Sh24] 1.1-1.14).

The elements are taken from the child towards the parent: `G` and `s` then lead from the frame after an element to the child's frame, so each
column is carried once, and its rate follows from the relative velocity of the part already passed: ȧ = Ωᵀ-product of that velocity with a.
"""

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.rotations import quaternion_matrix, rotation
from kinetree.solvers.algebra.spatial import axpy6, join, motion_cross
from kinetree.solvers.algebra.vectors import add3, add_to6, cross, get3, get6, get9, mm, mv, put3, put6, put9, scale, transpose
from kinetree.solvers.engine.element_kinds import has_quaternion, is_constant, is_given
from kinetree.solvers.kernel import kernel

ZERO = (0.0, 0.0, 0.0)
ZERO6 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
UNIT = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@kernel
def element_rotation(model, ws, e):
    """Rotation of element e: components before it from components after it."""
    kind = model.e_kind[e]
    at = e * L.ELEMENT
    k = model.e_q[e]
    if kind == L.Element.ROTATE:
        return get9(ws.elem, at + L.E_MATRIX)
    if kind == L.Element.ROTATE_Q:
        return rotation(get3(ws.elem, at + L.E_AXIS), ws.elem[at + L.E_FACTOR] * ws.q[k])
    if kind == L.Element.ROTATE_T:
        return rotation(get3(ws.elem, at + L.E_AXIS), ws.val[model.e_amount[e]])
    if kind == L.Element.BALL:
        return quaternion_matrix(ws.q[k], ws.q[k + 1], ws.q[k + 2], ws.q[k + 3])
    if kind == L.Element.BALL_BACK:
        return transpose(quaternion_matrix(ws.q[k], ws.q[k + 1], ws.q[k + 2], ws.q[k + 3]))
    if kind == L.Element.FREE:
        return quaternion_matrix(ws.q[k + 3], ws.q[k + 4], ws.q[k + 5], ws.q[k + 6])
    return UNIT


@kernel
def element_shift(model, ws, e):
    """Shift of element e, components before it."""
    kind = model.e_kind[e]
    at = e * L.ELEMENT
    axis = get3(ws.elem, at + L.E_AXIS)
    if kind == L.Element.SHIFT:
        return axis
    if kind == L.Element.SHIFT_Q:
        return scale(ws.elem[at + L.E_FACTOR] * ws.q[model.e_q[e]], axis)
    if kind == L.Element.SHIFT_T:
        return scale(ws.val[model.e_amount[e]], axis)
    if kind == L.Element.FREE:
        return get3(ws.q, model.e_q[e])
    return ZERO


@kernel
def place_joint(model, ws, i):
    """Fill G, rho, A, vh of joint i and the columns of its elements."""
    for k in range(6 * model.u_at[i], 6 * model.u_at[i + 1]):
        ws.A[k] = 0.0
    put6(ws.vh, 6 * i, ZERO6)
    G = UNIT
    s = ZERO
    for e in range(model.e_at[i + 1] - 1, model.e_at[i] - 1, -1):
        kind = model.e_kind[e]
        if has_quaternion(kind):
            B = G
            if kind == L.Element.BALL_BACK:  # speeds in the axes before the element, of opposite sense
                B = scale9(-1.0, mm(G, transpose(element_rotation(model, ws, e))))
            put_ball_columns(ws, model.e_u[e], kind == L.Element.FREE, B, mv(G, s))
        elif not is_constant(kind):
            add_column(model, ws, e, i, G, s)
        r = element_rotation(model, ws, e)
        G = mm(G, transpose(r))
        s = add3(element_shift(model, ws, e), mv(r, s))
    put9(ws.G, 9 * i, G)
    put3(ws.rho, 3 * i, s)


@kernel
def add_column(model, ws, e, i, G, s):
    """Column of an element along or about an axis; G and s lead from the frame after it to the child's frame."""
    at = e * L.ELEMENT
    kind = model.e_kind[e]
    a = get3(ws.elem, at + L.E_AXIS)
    given = is_given(kind)
    if not given:
        a = scale(ws.elem[at + L.E_FACTOR], a)
    if kind == L.Element.ROTATE_Q or kind == L.Element.ROTATE_T:
        c = join(mv(G, cross(a, s)), mv(G, a))
    else:
        c = join(mv(G, a), ZERO)
    put6(ws.ecol, 6 * e, c)
    if given:
        add_to6(ws.vh, 6 * i, axpy6(ws.val[model.e_amount[e] + 1], c, ZERO6))
    else:
        add_to6(ws.A, 6 * model.e_u[e], c)


@kernel
def put_ball_columns(ws, u, free, G, arm):
    """Columns of quaternion joints: unit velocities (free only) and unit angular velocities in axes G; arm from the element to the child's origin."""
    for k in range(3):
        g = (G[k], G[3 + k], G[6 + k])
        if free:
            put6(ws.A, 6 * (u + k), join(g, ZERO))
            put6(ws.A, 6 * (u + 3 + k), join(cross(g, arm), g))
        else:
            put6(ws.A, 6 * (u + k), join(cross(g, arm), g))


@kernel
def scale9(s, m):
    """s M."""
    return (s * m[0], s * m[1], s * m[2], s * m[3], s * m[4], s * m[5], s * m[6], s * m[7], s * m[8])


@kernel
def joint_rates(model, ws, i):
    """Fill Adot of joint i; return its relative velocity Aq̇ + v̂ and the part Ȧq̇ + dv̂/dt of its relative acceleration."""
    for k in range(6 * model.u_at[i], 6 * model.u_at[i + 1]):
        ws.Adot[k] = 0.0
    v = ZERO6
    a = ZERO6
    for e in range(model.e_at[i + 1] - 1, model.e_at[i] - 1, -1):
        kind = model.e_kind[e]
        if has_quaternion(kind):
            first = model.e_u[e]
            v, a = ball_rates(ws, first, first + (6 if kind == L.Element.FREE else 3), kind == L.Element.BALL_BACK, v, a)
        elif not is_constant(kind):
            c = get6(ws.ecol, 6 * e)
            d = motion_cross(neg6(v), c)
            if is_given(kind):
                given = model.e_amount[e]
                rate = ws.val[given + 1]
                a = axpy6(ws.val[given + 2], c, a)
            else:
                rate = ws.u[model.e_u[e]]
                add_to6(ws.Adot, 6 * model.e_u[e], d)
            a = axpy6(rate, d, a)
            v = axpy6(rate, c, v)
    return v, a


@kernel
def ball_rates(ws, first, end, back, v, a):
    """Rates of the columns of a quaternion joint, which all turn with the part of the joint after it, and with itself when it is used backwards."""
    v1 = v
    for k in range(first, end):
        v1 = axpy6(ws.u[k], get6(ws.A, 6 * k), v1)
    turning = v1 if back else v
    for k in range(first, end):
        d = motion_cross(neg6(turning), get6(ws.A, 6 * k))
        put6(ws.Adot, 6 * k, d)
        a = axpy6(ws.u[k], d, a)
    return v1, a


@kernel
def neg6(a):
    """-a."""
    return (-a[0], -a[1], -a[2], -a[3], -a[4], -a[5])
