"""Applied loads: every force element adds to the wrenches about O_i (ground axes) or to the generalised forces.

The values are registers: spring, damper, contact and drive laws are register programs, so that only the geometry is left to do here.
"""

import math

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.lane_select import select
from kinetree.solvers.algebra.vectors import add_to3, cross, dot3, get3, get9, mv, neg3, scale, sub3
from kinetree.solvers.kernel import kernel
from kinetree.solvers.sensors.points import arm, point_position
from kinetree.solvers.views import force_at


@kernel
def loads(model, ws):
    """Add all force records to ws.wrench and ws.tau."""
    ws.head.wrench = 0.0
    count = model.header.forces
    spatial = False
    for k in range(count):
        spatial = spatial or force_at(model.forces, k).kind != L.Force.COORDINATE
    if spatial:
        ws.head.wrench = 1.0
        for k in range(ws.wrench.size):
            ws.wrench[k] = 0.0
    for k in range(count):
        add_load(ws, force_at(model.forces, k))
    return 0


@kernel
def add_load(ws, f):
    """Add force record f to the wrenches of its bodies or to the generalised forces."""
    if f.kind == L.Force.COORDINATE:
        ws.tau[f.speed] += ws.val[f.value]
    elif f.kind == L.Force.LINE:
        add_line(ws, f.a, f.point_a, f.b, f.point_b, ws.val[f.value])
    else:
        force = turned(ws, f.a, f.force, f.frame)
        moment = turned(ws, f.a, f.moment, f.frame)
        add_wrench(ws, f.a, arm(ws, f.a, f.point_a), force, moment)
        if f.kind == L.Force.PAIR:  # the opposite acts on b at the same place of space
            here = point_position(ws, f.a, f.point_a)
            add_wrench(
                ws, f.b, sub3(here, get3(ws.row, f.b * L.ROW + L.W_P)), neg3(force), neg3(moment)
            )


@kernel
def turned(ws, body, register, frame):
    """Return a vector in ground axes from three registers that hold it in ground (`frame` 0) or
    body axes (1).
    """
    if register < 0:
        return (0.0, 0.0, 0.0)
    v = get3(ws.val, register)
    if frame == 1:
        return mv(get9(ws.row, body * L.ROW + L.W_R), v)
    return v


@kernel
def add_wrench(ws, body, r, force, moment):
    """Add a force at the point r from O_i, and a moment, to the wrench of a body."""
    add_to3(ws.wrench, 6 * body, force)
    add_to3(ws.wrench, 6 * body + 3, cross(r, force))
    add_to3(ws.wrench, 6 * body + 3, moment)


@kernel
def add_line(ws, a, point_a, b, point_b, value):
    """Add a force along the line between two points, positive if it pushes them apart; coinciding
    points get no force.
    """
    r = sub3(point_position(ws, b, point_b), point_position(ws, a, point_a))
    length = math.sqrt(dot3(r, r))
    push = scale(select(length > 0.0, value / length, 0.0), r)
    zero = (0.0, 0.0, 0.0)
    add_wrench(ws, b, arm(ws, b, point_b), push, zero)
    add_wrench(ws, a, arm(ws, a, point_a), neg3(push), zero)
