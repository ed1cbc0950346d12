"""Residuals of the constraint rows at position, velocity and acceleration level ([SC24] Psi = 0, C
θ' = 0, C θ" + C' θ' = 0).

A weld compares a twin body with its original: difference of the origins and rotation vector of the
relative attitude, then differences of twists and of accelerations. A ball compares its positions on
two bodies, a hinge and a Cardan joint their rotations too (`closing_turns`). All use ground axes, or
the axes of the body that carries the loop if rows vanish in these, such as the out-of-plane rows of
a linkage on a moving body. For a coupling, registers hold its value, its rate and its second
derivative at u̇ = 0; a coupling of speeds has no residual at position level.
"""

import math

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.rotations import quaternion_of
from kinetree.solvers.algebra.vectors import (
    add3,
    axpy3,
    cross,
    dot3,
    get3,
    get9,
    mm,
    mtv,
    mv,
    put3,
    scale,
    sub3,
    transpose,
)
from kinetree.solvers.kernel import inline, kernel
from kinetree.solvers.loops.closing_turns import (
    along_turns,
    held_turns,
    turned_apart,
    turns_at_rest,
)
from kinetree.solvers.sensors.points import arm, point_position, point_velocity
from kinetree.solvers.views import arm_at

NONE = (0.0, 0.0, 0.0)


@kernel
def rotation_vector(R):
    """Return the rotation vector (axis times angle, at most pi) of a rotation matrix."""
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
    """Store those components of the residual of a weld or ball that have rows."""
    put_rows_of(model, ws, g, linear, angular, ws.loop_r)


@kernel
def put_rows_of(model, ws, g, linear, angular, out):
    """Write two vectors in ground axes to `out` as the rows of a weld, in the axes of its rows. The
    angular components of joints without twins are given along the directions that they hold.
    """
    if model.l_axes[g] > 0:
        R = get9(ws.row, model.l_axes[g] * L.ROW + L.W_R)
        linear = mtv(R, linear)
        if model.l_kind[g] == L.Loop.WELD:
            angular = mtv(R, angular)
    put3(ws.small, 0, linear)
    put3(ws.small, 3, angular)
    for r in range(model.l_row[g], model.l_row[g + 1]):
        out[r] = ws.small[model.l_part[r]]


@kernel
def vectors_of_rows(model, ws, g, values):
    """Return the two vectors in ground axes, linear and angular, that numbers per row stand for."""
    put3(ws.small, 0, NONE)
    put3(ws.small, 3, NONE)
    for r in range(model.l_row[g], model.l_row[g + 1]):
        ws.small[model.l_part[r]] = values[r]
    linear, angular = get3(ws.small, 0), get3(ws.small, 3)
    if model.l_axes[g] > 0:
        R = get9(ws.row, model.l_axes[g] * L.ROW + L.W_R)
        linear = mv(R, linear)
        if model.l_kind[g] == L.Loop.WELD:
            angular = mv(R, angular)
    if model.l_kind[g] == L.Loop.HINGE or model.l_kind[g] == L.Loop.CARDAN:
        one, two = held_turns(model, ws, g)
        angular = axpy3(angular[0], one, scale(angular[1], two))
    return linear, angular


@kernel
def axis_of_row(model, ws, g, part):
    """Return the direction of component `part` of a weld, or of a force in a joint without a twin, in
    ground axes.
    """
    k = part % 3
    if model.l_axes[g] > 0:
        at = model.l_axes[g] * L.ROW + L.W_R + k
        return (ws.row[at], ws.row[at + 3], ws.row[at + 6])
    return (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)


@kernel
def note_opening(ws, g, linear, angular):
    """Store the largest residual component of group g, including components without a row."""
    x = max(abs(linear[0]), abs(angular[0]))
    y = max(abs(linear[1]), abs(angular[1]))
    z = max(abs(linear[2]), abs(angular[2]))
    ws.loop_open[g] = max(x, max(y, z))


@kernel
def position_residual(model, ws):
    """Compute ws.loop_r from positions; `velocities` and the state program must have run."""
    for g in range(model.l_kind.size):
        r = model.l_row[g]
        if model.l_kind[g] == L.Loop.COUPLING:
            ws.loop_r[r] = ws.val[model.l_a[g]] if model.l_level[g] == L.POSITIONS else 0.0
            ws.loop_open[g] = abs(ws.loop_r[r])
        elif model.l_kind[g] != L.Loop.WELD:
            a, b = model.l_a[g], model.l_b[g]
            p = sub3(
                point_position(ws, b, model.l_point[2 * g + 1]),
                point_position(ws, a, model.l_point[2 * g]),
            )
            turn = turned_apart(model, ws, g)
            keep_rows(model, ws, g, p, turn)
            note_opening(ws, g, p, turn)
        else:
            a = model.l_a[g] * L.ROW
            b = model.l_b[g] * L.ROW
            p = sub3(get3(ws.row, b + L.W_P), get3(ws.row, a + L.W_P))
            turn = rotation_vector(mm(get9(ws.row, b + L.W_R), transpose(get9(ws.row, a + L.W_R))))
            keep_rows(model, ws, g, p, turn)
            note_opening(ws, g, p, turn)


@kernel
def velocity_residual(model, ws):
    """Compute ws.loop_r from velocities; `velocities` and the state program must have run."""
    for g in range(model.l_kind.size):
        r = model.l_row[g]
        if model.l_kind[g] == L.Loop.COUPLING:
            ws.loop_r[r] = ws.val[model.l_a[g] + 1]
            ws.loop_open[g] = abs(ws.loop_r[r])
        elif model.l_kind[g] != L.Loop.WELD:
            a, b = model.l_a[g], model.l_b[g]
            v = sub3(
                point_velocity(ws, b, model.l_point[2 * g + 1]),
                point_velocity(ws, a, model.l_point[2 * g]),
            )
            om = difference(ws, a * L.ROW + L.W_OM, b * L.ROW + L.W_OM)
            om = along_turns(model, ws, g, om)
            keep_rows(model, ws, g, v, om)
            note_opening(ws, g, v, om)
        else:
            a = model.l_a[g] * L.ROW
            b = model.l_b[g] * L.ROW
            v = sub3(get3(ws.row, b + L.W_V), get3(ws.row, a + L.W_V))
            om = sub3(get3(ws.row, b + L.W_OM), get3(ws.row, a + L.W_OM))
            keep_rows(model, ws, g, v, om)
            note_opening(ws, g, v, om)


@kernel
def acceleration_residual(model, ws):
    """Compute ws.loop_r from accelerations; `dec` must have run."""
    for g in range(model.l_kind.size):
        r = model.l_row[g]
        if model.l_kind[g] == L.Loop.COUPLING:
            ws.loop_r[r] = (
                ws.val[model.l_a[g] + 2]
                + along_speeds(model, ws, g, ws.udot)
                + along_arms(model, ws, g, True)
            )
        elif model.l_kind[g] != L.Loop.WELD:
            r_a, r_b = ball_arms(model, ws, g)
            a, b = model.l_a[g] * L.ROW, model.l_b[g] * L.ROW
            w = sub3(increment_at(ws, b, r_b), increment_at(ws, a, r_a))
            turning = along_turns(model, ws, g, difference(ws, a + L.W_DA, b + L.W_DA))
            turning = add3(turns_at_rest(model, ws, g), turning)
            keep_rows(model, ws, g, add3(ball_at_rest(model, ws, g), w), turning)
        else:
            a = model.l_a[g] * L.ROW
            b = model.l_b[g] * L.ROW
            w = sub3(
                acceleration(ws, b + L.W_A0, b + L.W_DB), acceleration(ws, a + L.W_A0, a + L.W_DB)
            )
            keep_rows(
                model,
                ws,
                g,
                w,
                sub3(
                    acceleration(ws, b + L.W_AL, b + L.W_DA),
                    acceleration(ws, a + L.W_AL, a + L.W_DA),
                ),
            )


@kernel
def residual_at_rest(model, ws):
    """Compute ws.loop_r from accelerations at u̇ = 0; `motion` must have run."""
    for g in range(model.l_kind.size):
        if model.l_kind[g] == L.Loop.COUPLING:
            ws.loop_r[model.l_row[g]] = ws.val[model.l_a[g] + 2] + along_arms(model, ws, g, False)
        elif model.l_kind[g] != L.Loop.WELD:
            rest, turning = ball_at_rest(model, ws, g), turns_at_rest(model, ws, g)
            keep_rows(model, ws, g, rest, turning)
        else:
            a = model.l_a[g] * L.ROW
            b = model.l_b[g] * L.ROW
            keep_rows(
                model,
                ws,
                g,
                difference(ws, a + L.W_A0, b + L.W_A0),
                difference(ws, a + L.W_AL, b + L.W_AL),
            )


@kernel
def ball_arms(model, ws, g):
    """Return the vectors from the origins of bodies a and b to the point at which group g closes."""
    return (
        arm(ws, model.l_a[g], model.l_point[2 * g]),
        arm(ws, model.l_b[g], model.l_point[2 * g + 1]),
    )


@kernel
def ball_at_rest(model, ws, g):
    """Return the acceleration at u̇ = 0 of the closing point on body b relative to that on body a."""
    r_a, r_b = ball_arms(model, ws, g)
    a, b = model.l_a[g] * L.ROW, model.l_b[g] * L.ROW
    return sub3(rest_at(ws, b, r_b), rest_at(ws, a, r_a))


@inline
def rest_at(ws, row, r):
    """Return the acceleration at u̇ = 0 of the body's point at distance r from its origin."""
    om = get3(ws.row, row + L.W_OM)
    return add3(
        get3(ws.row, row + L.W_A0),
        add3(cross(get3(ws.row, row + L.W_AL), r), cross(om, cross(om, r))),
    )


@inline
def increment_at(ws, row, r):
    """Return the increment of acceleration of the body's point at distance r from its origin."""
    return add3(get3(ws.row, row + L.W_DB), cross(get3(ws.row, row + L.W_DA), r))


@kernel
def difference(ws, a, b):
    """Return the vector stored at offset b of the body rows minus the one at offset a."""
    return sub3(get3(ws.row, b), get3(ws.row, a))


@kernel
def along_speeds(model, ws, g, rates):
    """Return the sum over the speeds of the derivative of coupling g times the given rate."""
    total = 0.0
    for k in range(model.l_k[g], model.l_k[g + 1]):
        total += ws.val[model.l_slope[k]] * rates[model.l_speed[k]]
    return total


@kernel
def along_arms(model, ws, g, moving):
    """Return the derivatives of coupling g by point velocities and angular velocities, times their
    accelerations (`moving`) or those at u̇ = 0.
    """
    return accelerations_along(model, ws, model.l_arm_at[g], model.l_arm_at[g + 1], moving)


@kernel
def accelerations_along(model, ws, first, last, moving):
    """Return derivatives by point velocities and angular velocities times accelerations, for arms
    first..last-1 of one row.
    """
    total = 0.0
    for k in range(first, last):
        one = arm_at(model.l_arm, k)
        row = one.body * L.ROW
        r = arm(ws, one.body, one.point)
        om = get3(ws.row, row + L.W_OM)
        al = acceleration(ws, row + L.W_AL, row + L.W_DA) if moving else get3(ws.row, row + L.W_AL)
        a = acceleration(ws, row + L.W_A0, row + L.W_DB) if moving else get3(ws.row, row + L.W_A0)
        a = add3(
            add3(a, get3(ws.val, model.header.gravity)), add3(cross(al, r), cross(om, cross(om, r)))
        )
        total += dot3(get3(ws.val, one.by_velocity), a) + dot3(get3(ws.val, one.by_spin), al)
    return total


@kernel
def arm_wrench(ws, one):
    """Return force and moment about O_i that an arm exerts on its body for a multiplier of 1."""
    f = get3(ws.val, one.by_velocity)
    return f, add3(get3(ws.val, one.by_spin), cross(arm(ws, one.body, one.point), f))


@kernel
def increments(model, ws, out):
    """Compute out = J u̇ from the increments of acceleration."""
    for g in range(model.l_kind.size):
        r = model.l_row[g]
        if model.l_kind[g] == L.Loop.COUPLING:
            total = along_speeds(model, ws, g, ws.udot)
            for k in range(model.l_arm_at[g], model.l_arm_at[g + 1]):
                one = arm_at(model.l_arm, k)
                f, n = arm_wrench(ws, one)
                row = one.body * L.ROW
                total += dot3(f, get3(ws.row, row + L.W_DB)) + dot3(n, get3(ws.row, row + L.W_DA))
            out[r] = total
        elif model.l_kind[g] != L.Loop.WELD:
            r_a, r_b = ball_arms(model, ws, g)
            a, b = model.l_a[g] * L.ROW, model.l_b[g] * L.ROW
            w = sub3(increment_at(ws, b, r_b), increment_at(ws, a, r_a))
            turning = along_turns(model, ws, g, difference(ws, a + L.W_DA, b + L.W_DA))
            put_rows_of(model, ws, g, w, turning, out)
        else:
            a = model.l_a[g] * L.ROW
            b = model.l_b[g] * L.ROW
            put_rows_of(
                model,
                ws,
                g,
                difference(ws, a + L.W_DB, b + L.W_DB),
                difference(ws, a + L.W_DA, b + L.W_DA),
                out,
            )


@kernel
def power_of_couplings(model, ws):
    """Return the power [W] of the constraint forces of couplings, after the accelerations: nonzero
    if they depend on time, states or inputs.
    """
    total = 0.0
    for g in range(model.l_kind.size):
        if model.l_kind[g] == L.Loop.COUPLING:
            moved = along_speeds(model, ws, g, ws.u)
            for k in range(model.l_arm_at[g], model.l_arm_at[g + 1]):
                one = arm_at(model.l_arm, k)
                f, n = arm_wrench(ws, one)
                row = one.body * L.ROW
                moved += dot3(f, get3(ws.row, row + L.W_V)) + dot3(n, get3(ws.row, row + L.W_OM))
            total += ws.loop_lam[model.l_row[g]] * moved
    return total


@kernel
def acceleration(ws, at_rest, increment):
    """Return the acceleration at u̇ = 0 plus its increment, component by component."""
    return add3(get3(ws.row, at_rest), get3(ws.row, increment))


@kernel
def largest(model, ws):
    """Return the largest residual; head.item becomes its row."""
    worst = 0.0
    for r in range(ws.loop_r.size):
        x = abs(ws.loop_r[r])
        if not x <= worst:
            worst = x
            ws.head.item = r
    return worst


@kernel
def opening(ws):
    """Return the largest component of all loop residuals, including those without a row because
    they vanish in general position.
    """
    worst = 0.0
    for g in range(ws.loop_open.size):
        if not ws.loop_open[g] <= worst:
            worst = ws.loop_open[g]
    return worst


@kernel
def norm_squared(ws):
    """Return the sum of squares of the residual ws.loop_r."""
    total = 0.0
    for r in range(ws.loop_r.size):
        total += ws.loop_r[r] * ws.loop_r[r]
    return total
