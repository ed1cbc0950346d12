"""Finds the register or state that caused a failed evaluation."""

import math

from kinetree.solvers import layout as L
from kinetree.solvers.kernel import kernel
from kinetree.solvers.views import instruction_at, sensor_at

NOT_A_NUMBER, SINGULAR_JOINT, SINGULAR_BODY = (
    int(L.Status.NOT_A_NUMBER),
    int(L.Status.SINGULAR_JOINT),
    int(L.Status.SINGULAR_BODY),
)
NO_CONVERGENCE = int(L.Status.NO_CONVERGENCE)
LARGEST_SENSIBLE = (
    1e100  # squares of such states overflow, so that inertias and forces are no numbers any more
)
NO_REGISTER = -1.0  # every register is a finite number: a rate or an acceleration is not


@kernel
def find_cause(model, ws, status):
    """Return NOT_A_NUMBER, with the register (or NO_REGISTER) in head.item, if a non-finite value
    caused an apparent singularity; otherwise `status`.
    """
    if (
        status != NOT_A_NUMBER
        and status != SINGULAR_JOINT
        and status != SINGULAR_BODY
        and status != NO_CONVERGENCE
    ):
        return status
    found = lost_state(model, ws)
    if found == NO_REGISTER and status == NOT_A_NUMBER:
        found = find_bad_register(model, ws)
    elif found == NO_REGISTER:
        return status
    ws.head.item = found
    return NOT_A_NUMBER


@kernel
def first_lost(val, first, count):
    """Return the first of `count` registers whose value is not finite or is enormous, or NOBODY."""
    for k in range(first, first + count):
        if not abs(val[k]) < LARGEST_SENSIBLE:
            return float(k)
    return NO_REGISTER


@kernel
def lost_state(model, ws):
    """Return the register of the first coordinate, speed or state whose value is not finite or is
    enormous, or NO_REGISTER.
    """
    found = first_lost(ws.val, model.header.r_q, ws.q.size)
    if found == NO_REGISTER:
        found = first_lost(ws.val, model.header.r_u, ws.u.size)
    return found if found != NO_REGISTER else first_lost(ws.val, model.header.r_x, ws.x.size)


@kernel
def find_bad_register(model, ws):
    """Return the register of the first sensor or program result (time, states) whose value is not
    finite, or NO_REGISTER.
    """
    h = model.header
    for s in range(h.late_sensors):
        first = sensor_at(model.sensors, s).register
        count = 3 if sensor_at(model.sensors, s).axis == L.WHOLE else 1
        for register in range(first, first + count):
            if not math.isfinite(ws.val[register]):
                return float(register)
    for at in range(h.phase[1], h.phase[3]):
        register = instruction_at(model.code, at).dst
        if not math.isfinite(ws.val[register]):
            return float(register)
    return NO_REGISTER
