"""Measured quantities of points, bodies and joints, written to their registers."""

import math
from collections.abc import Callable, Sequence
from importlib import import_module

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.vectors import dot3, get3, get9, mtv, put3
from kinetree.solvers.kernel import kernel
from kinetree.solvers.sensors.kinds import KINDS, Kind
from kinetree.solvers.views import sensor_at


def one_of(kinds: Sequence[Kind]) -> Callable:
    """Return a kernel (model, ws, s) that dispatches by the kind of sensor s."""
    first, *others = kinds
    module, function = first.kernel.split(".")
    this, code = getattr(import_module(f"kinetree.solvers.sensors.{module}"), function), first.code
    if not others:
        return this
    rest = one_of(others)

    @kernel
    def call(model, ws, s):
        return this(model, ws, s) if s.kind == code else rest(model, ws, s)

    return call


VECTORS = sum(1 << kind.code for kind in KINDS if kind.vector)
vector_of = one_of([kind for kind in KINDS if kind.vector])
number_of = one_of([kind for kind in KINDS if not kind.vector])


@kernel
def measure(model, ws, first, last):
    """Evaluate sensors first..last-1 into their registers; those from header.late_sensors on may
    need accelerations.
    """
    v = get3(ws.row, L.W_P)
    known = -1  # the sensor that v, a vector, was measured for
    for k in range(first, last):
        s = sensor_at(model.sensors, k)
        if VECTORS >> s.kind & 1 == 0:
            ws.val[s.register] = number_of(model, ws, s)
        else:
            if known < 0 or not same_vector(s, sensor_at(model.sensors, known)):
                v = vector(model, ws, s)
                known = k
            if s.axis == L.WHOLE:
                put3(ws.val, s.register, v)
            else:
                ws.val[s.register] = pick(v, s.axis)
    return 0


@kernel
def same_vector(s, other):
    """Return whether two sensors read components of the same vector."""
    at_one_point = (
        s.a == other.a
        and s.point_a == other.point_a
        and s.b == other.b
        and s.point_b == other.point_b
    )
    return s.kind == other.kind and at_one_point and s.frame == other.frame


@kernel
def vector(model, ws, s):
    """Return the vector of which a sensor reads a component, in the sensor's frame."""
    v = vector_of(model, ws, s)
    if s.frame == 1:
        body = (
            s.b if s.point_b == 1 else s.a
        )  # the child of a joint that the tree uses from its child to its parent
        v = mtv(get9(ws.row, body * L.ROW + L.W_R), v)
    return v


@kernel
def pick(v, axis):
    """Return component 0-2 of a vector, or its length (3)."""
    if axis == 0:
        return v[0]
    if axis == 1:
        return v[1]
    if axis == 2:
        return v[2]
    return math.sqrt(dot3(v, v))
