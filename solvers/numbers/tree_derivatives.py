"""Derivatives of the accelerations of a tree, without a second elimination: M u̇ = f holds along
every direction, hence

    M δu̇ = δf − (δM) u̇

where the right-hand side is the derivative of the residual force at fixed u̇. It needs kinematics
and loads in duals for the bodies that move along the direction, and one sweep each way, on
derivatives alone, with the factors that the elimination of the plain numbers has left in `ws`.

The rows of `duals` contain the total accelerations in W_AL and W_A0, and the effect of δu̇ in the
derivatives of W_DA and W_DB.
"""

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.vectors import (
    add3,
    add_to3,
    cross,
    dot3,
    get3,
    get6,
    get9,
    mtv,
    mv,
    put3,
    put6,
    put9,
    scale,
    sub3,
    sv,
)
from kinetree.solvers.engine.kinematics import move, start_inertia
from kinetree.solvers.kernel import inline, kernel
from kinetree.solvers.loops.constraint_jacobian import free_blocks
from kinetree.solvers.numbers.primitive_operations import dual_of, lanes_of, slopes_of


@inline
def slopes3(a):
    """Return the derivatives of a vector of duals."""
    return (slopes_of(a[0]), slopes_of(a[1]), slopes_of(a[2]))


@inline
def rise3(a):
    """Return a vector of duals with zero values and the given derivatives."""
    return (
        dual_of(0.0, lanes_of(a[0])),
        dual_of(0.0, lanes_of(a[1])),
        dual_of(0.0, lanes_of(a[2])),
    )


@kernel
def move_from(model, ws, duals, first):
    """Compute kinematics with u̇ and the inertia forces of the bodies from `first` on; earlier
    bodies get zero forces.
    """
    for i in range(1, first):
        put3(duals.row, i * L.ROW + L.W_N, (0.0, 0.0, 0.0))
        put3(duals.row, i * L.ROW + L.W_F, (0.0, 0.0, 0.0))
    for i in range(first, model.parent.size):
        at = i * L.ROW
        move(model, duals, i)
        for j in range(model.u_at[i], model.u_at[i + 1]):
            add_to3(
                duals.row, at + L.W_AL, scale(ws.udot[j], get3(duals.col, j * L.COLUMN + L.C_A))
            )
            add_to3(
                duals.row, at + L.W_A0, scale(ws.udot[j], get3(duals.col, j * L.COLUMN + L.C_L))
            )
        start_inertia(duals, i)


@kernel
def solve_slopes(model, ws, duals, first):
    """Compute the derivatives of u̇; bodies before `first` do not move along these directions."""
    for i in range(model.parent.size - 1, 0, -1):
        if i >= first:
            yield_body(model, ws, duals, duals, i)
        else:
            yield_body(model, ws, duals, ws, i)
    for i in range(1, model.parent.size):
        follow(model, ws, duals, i)


@kernel
def yield_body(model, ws, duals, frame, i):
    """Eliminate joint i for the derivatives of the residual forces and pass the rest to the parent;
    `frame` gives axes and distances.
    """
    at = i * L.ROW
    j = model.u_at[i]
    n = get3(duals.row, at + L.W_N)
    f = get3(duals.row, at + L.W_F)
    if model.joint[i] == L.Joint.SPHERICAL:
        torque = mv(get9(frame.row, at + L.W_R), get3(duals.tau, j))
        g = sv(get6(ws.row, at + L.W_INV), slopes3(sub3(torque, n)))
        put3(duals.col, j * L.COLUMN + L.C_UN, rise3(g))
        n, f = torque, add3(f, rise3(mtv(get9(ws.row, at + L.W_H), g)))
    elif model.joint[i] == L.Joint.FREE:
        R = get9(frame.row, at + L.W_R)
        force, torque = mv(R, get3(duals.tau, j)), mv(R, get3(duals.tau, j + 3))
        K, HK, Q = free_blocks(ws, at)
        df = slopes3(sub3(force, f))
        da = sv(Q, sub3(slopes3(sub3(torque, n)), mv(HK, df)))
        put3(duals.row, at + L.W_DA, rise3(da))
        put3(duals.row, at + L.W_DB, rise3(sv(K, sub3(df, mtv(get9(ws.row, at + L.W_H), da)))))
        n, f = torque, force
    else:
        for k in range(model.u_at[i + 1] - 1, j - 1, -1):
            c = k * L.COLUMN
            left = (
                duals.tau[k]
                - dot3(get3(frame.col, c + L.C_A), n)
                - dot3(get3(frame.col, c + L.C_L), f)
            )
            s = ws.col[c + L.C_INV] * slopes_of(left)
            duals.col[c + L.C_G] = dual_of(0.0, lanes_of(s))
            n = add3(n, rise3(scale(s, get3(ws.col, c + L.C_UN))))
            f = add3(f, rise3(scale(s, get3(ws.col, c + L.C_UF))))
    p = model.parent[i] * L.ROW
    if p > 0:
        add_to3(duals.row, p + L.W_N, add3(n, cross(get3(frame.row, at + L.W_D), f)))
        add_to3(duals.row, p + L.W_F, f)


@kernel
def follow(model, ws, duals, i):
    """Compute the derivatives of u̇ of joint i and of the acceleration at its origin O_i (sweep
    from the root).
    """
    at = i * L.ROW
    p = model.parent[i] * L.ROW
    j = model.u_at[i]
    da = slopes3(get3(duals.row, p + L.W_DA))
    db = add3(slopes3(get3(duals.row, p + L.W_DB)), cross(da, get3(ws.row, at + L.W_D)))
    if model.joint[i] == L.Joint.SPHERICAL:
        turned = sub3(
            slopes3(get3(duals.col, j * L.COLUMN + L.C_UN)),
            sv(get6(ws.row, at + L.W_INV), mv(get9(ws.row, at + L.W_H), db)),
        )
        put_rates(ws, duals, j, mtv(get9(ws.row, at + L.W_R), sub3(turned, da)))
        da = turned
    elif model.joint[i] == L.Joint.FREE:
        R = get9(ws.row, at + L.W_R)
        own_a, own_b = slopes3(get3(duals.row, at + L.W_DA)), slopes3(get3(duals.row, at + L.W_DB))
        put_rates(ws, duals, j, mtv(R, sub3(own_b, db)))
        put_rates(ws, duals, j + 3, mtv(R, sub3(own_a, da)))
        da, db = own_a, own_b
    else:
        for k in range(j, model.u_at[i + 1]):
            c = k * L.COLUMN
            r = slopes_of(duals.col[c + L.C_G]) - ws.col[c + L.C_INV] * (
                dot3(get3(ws.col, c + L.C_UN), da) + dot3(get3(ws.col, c + L.C_UF), db)
            )
            duals.udot[k] = dual_of(ws.udot[k], lanes_of(r))
            da = add3(da, scale(r, get3(ws.col, c + L.C_A)))
            db = add3(db, scale(r, get3(ws.col, c + L.C_L)))
    put3(duals.row, at + L.W_DA, rise3(da))
    put3(duals.row, at + L.W_DB, rise3(db))


@inline
def put_rates(ws, duals, j, slopes):
    """Write the derivatives of three speed rates u̇ from j on, with their values."""
    duals.udot[j] = dual_of(ws.udot[j], lanes_of(slopes[0]))
    duals.udot[j + 1] = dual_of(ws.udot[j + 1], lanes_of(slopes[1]))
    duals.udot[j + 2] = dual_of(ws.udot[j + 2], lanes_of(slopes[2]))


@kernel
def take_inertias(model, ws, duals):
    """Copy articulated inertias from the plain workspace to the duals, for the reactions."""
    for i in range(1, model.parent.size):
        at = i * L.ROW
        put6(duals.row, at + L.W_J, get6(ws.row, at + L.W_J))
        put9(duals.row, at + L.W_H, get9(ws.row, at + L.W_H))
        put6(duals.row, at + L.W_M, get6(ws.row, at + L.W_M))
