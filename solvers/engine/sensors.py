"""Measured quantities of points and bodies, written to their registers."""

import math

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.choose import select
from kinetree.solvers.algebra.rotations import quaternion_of
from kinetree.solvers.algebra.vectors import add3, cross, dot3, get3, get9, mtv, mv, neg3, sub3
from kinetree.solvers.engine.energy import kinetic, potential
from kinetree.solvers.kernel import kernel
from kinetree.solvers.views import sensor_at


@kernel
def arm(ws, body, register):
    """Vector from O_i to a point given in body axes, in ground axes."""
    if register < 0:
        return (0.0, 0.0, 0.0)
    return mv(get9(ws.row, body * L.ROW + L.W_R), get3(ws.val, register))


@kernel
def point_position(ws, body, register):
    """Position of a point of a body."""
    return add3(get3(ws.row, body * L.ROW + L.W_P), arm(ws, body, register))


@kernel
def point_velocity(ws, body, register):
    """Velocity of a point of a body."""
    at = body * L.ROW
    return add3(get3(ws.row, at + L.W_V), cross(get3(ws.row, at + L.W_OM), arm(ws, body, register)))


@kernel
def point_acceleration(model, ws, body, register):
    """Acceleration of a point of a body after the accelerations are known."""
    at = body * L.ROW
    r = arm(ws, body, register)
    om = get3(ws.row, at + L.W_OM)
    al = add3(get3(ws.row, at + L.W_AL), get3(ws.row, at + L.W_DA))
    a = add3(get3(ws.row, at + L.W_A0), get3(ws.row, at + L.W_DB))
    return add3(add3(a, get3(ws.val, model.header.gravity)), add3(cross(al, r), cross(om, cross(om, r))))


@kernel
def vector_quantity(model, ws, kind, a, point):
    """Vector quantities in ground axes."""
    if kind == L.Sensor.POSITION:
        return point_position(ws, a, point)
    if kind == L.Sensor.VELOCITY:
        return point_velocity(ws, a, point)
    if kind == L.Sensor.ANGULAR_VELOCITY:
        return get3(ws.row, a * L.ROW + L.W_OM)
    if kind == L.Sensor.ACCELERATION:
        return point_acceleration(model, ws, a, point)
    return add3(get3(ws.row, a * L.ROW + L.W_AL), get3(ws.row, a * L.ROW + L.W_DA))


@kernel
def reaction_on_child(ws, kind, a, child, turned):
    """Reaction of joint a on its child about the child's origin, ground axes; `turned`: the tree uses the joint from its child to its parent."""
    R = get9(ws.row, a * L.ROW + L.W_R)
    f = mv(R, get3(ws.reaction, 6 * a))
    n = mv(R, get3(ws.reaction, 6 * a + 3))
    if turned:
        r = sub3(get3(ws.row, a * L.ROW + L.W_P), get3(ws.row, child * L.ROW + L.W_P))
        n = sub3(neg3(n), cross(r, f))
        f = neg3(f)
    if kind == L.Sensor.REACTION_FORCE:
        return f
    return n


@kernel
def pick(v, axis):
    """Component 0-2 of a vector, or its length (3)."""
    if axis == 0:
        return v[0]
    if axis == 1:
        return v[1]
    if axis == 2:
        return v[2]
    return math.sqrt(dot3(v, v))


@kernel
def pick_quaternion(m, axis):
    """Component w, x, y, z (0-3) of the quaternion of a rotation matrix."""
    w, x, y, z = quaternion_of(m)
    if axis == 0:
        return w
    if axis == 1:
        return x
    if axis == 2:
        return y
    return z


@kernel
def distance(ws, s):
    """Distance of two points and its rate."""
    r = sub3(point_position(ws, s.b, s.point_b), point_position(ws, s.a, s.point_a))
    length = math.sqrt(dot3(r, r))
    v = sub3(point_velocity(ws, s.b, s.point_b), point_velocity(ws, s.a, s.point_a))
    return (length, select(length > 0.0, dot3(r, v) / length, math.sqrt(dot3(v, v))))


@kernel
def energy(model, ws, kind):
    """Kinetic, potential or total energy."""
    if kind == L.Sensor.KINETIC_ENERGY:
        return kinetic(model, ws)
    if kind == L.Sensor.POTENTIAL_ENERGY:
        return potential(model, ws)
    return kinetic(model, ws) + potential(model, ws)


@kernel
def multiplier(model, ws, number):
    """Generalised force of one row of the couplings; 0 where the structure has no such row."""
    found = 0.0
    for g in range(model.l_kind.size):
        if model.l_kind[g] == L.Loop.COUPLING and model.l_b[g] == number:
            found = ws.loop_lam[model.l_row[g]]
    return found


@kernel
def measure(model, ws, first, last):
    """Write sensors first..last-1; those from header.late_sensors on may need accelerations (and reactions)."""
    v = get3(ws.row, L.W_P)
    known = -1  # the sensor that v, a vector, was measured for
    for k in range(first, last):
        s = sensor_at(model.sensors, k)
        if s.kind == L.Sensor.DISTANCE:
            ws.val[s.register] = distance(ws, s)[0]
        elif s.kind == L.Sensor.DISTANCE_RATE:
            ws.val[s.register] = distance(ws, s)[1]
        elif s.kind == L.Sensor.ORIENTATION:
            ws.val[s.register] = pick_quaternion(get9(ws.row, s.a * L.ROW + L.W_R), s.axis)
        elif s.kind == L.Sensor.SPEED_RATE:
            ws.val[s.register] = ws.udot[s.a]
        elif s.kind == L.Sensor.MULTIPLIER:
            ws.val[s.register] = multiplier(model, ws, s.a)
        elif s.kind == L.Sensor.CONTACT:
            ws.val[s.register] = ws.c_out[4 * s.a + s.axis]
        elif s.kind == L.Sensor.KINETIC_ENERGY or s.kind == L.Sensor.POTENTIAL_ENERGY or s.kind == L.Sensor.ENERGY:
            ws.val[s.register] = energy(model, ws, s.kind)
        else:
            if known < 0 or not same_vector(s, sensor_at(model.sensors, known)):
                v = vector(model, ws, s)
                known = k
            ws.val[s.register] = pick(v, s.axis)
    return 0


@kernel
def same_vector(s, other):
    """Whether two sensors tell parts of one vector."""
    at_one_point = s.a == other.a and s.point_a == other.point_a and s.b == other.b and s.point_b == other.point_b
    return s.kind == other.kind and at_one_point and s.frame == other.frame


@kernel
def vector(model, ws, s):
    """The vector of which a sensor tells a part, in its frame."""
    body = s.a
    if s.kind == L.Sensor.REACTION_FORCE or s.kind == L.Sensor.REACTION_MOMENT:
        v = reaction_on_child(ws, s.kind, body, s.b, s.point_b == 1)
        if s.point_b == 1:
            body = s.b
    else:
        v = vector_quantity(model, ws, s.kind, body, s.point_a)
    if s.frame == 1:
        v = mtv(get9(ws.row, body * L.ROW + L.W_R), v)
    return v
