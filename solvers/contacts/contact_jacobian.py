"""Constraint rows of contacts: gap, slip, and their derivatives.

Registers hold the value of every row, its rate and the velocity-dependent part of its second
derivative. Arms say how the rate depends on the velocities of points and the angular velocities of
bodies. Rows are built like those of couplings (`models/compilation/coupling_rates.py`), but act
only while the contact is closed.
"""

import math

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.vectors import add_to3, dot3, get3, scale
from kinetree.solvers.contacts.contact_modes import is_closed, is_located
from kinetree.solvers.kernel import kernel
from kinetree.solvers.loops.constraint_projection import reach
from kinetree.solvers.loops.constraint_residuals import accelerations_along, arm_wrench
from kinetree.solvers.views import arm_at

RESTITUTION, FRICTION, REST_SPEED = 0, 1, 2  # of the three registers of a contact
TOUCH_GAP = 1e-10  # m: gaps up to this are none
LOCATED_GAP = 1e-3  # of the reach: as far closing loops may take a contact from the touch that has been located
ACROSS_SHARE, CRAWL_SPEED = (
    1e-4,
    1e-6,
)  # of the speed, and m/s: slower is an error of the step that is tried, or of loops that give way
OVERLAP_TOLERANCE = 1e-6  # m: overlap that is taken as rounding of what was given


@kernel
def contact_number(model, ws, k, which):
    """Return a parameter of contact k, selected by `which`: coefficient of restitution, friction
    coefficient or rest speed [m/s].
    """
    return ws.val[model.c_number[3 * k + which]]


@kernel
def gap_of(model, ws, k):
    """Return the gap [m] of contact k along its normal; the state program must have been evaluated."""
    return ws.val[model.c_value[model.c_row[k]]]


@kernel
def takes_part_in_impact(model, ws, k):
    """Return whether contact k takes part in an impact."""
    gap = gap_of(model, ws, k)
    return (
        is_closed(ws, k)
        or gap <= TOUCH_GAP
        or (is_located(ws, k) and gap <= LOCATED_GAP * reach(model, ws))
    )


@kernel
def row_velocity(model, ws, r):
    """Return the velocity along row r [m/s]; the state program must have been evaluated."""
    return ws.val[model.c_value[r] + 1]


@kernel
def set_unit_direction(directions, k, x, y):
    """Set direction k to the unit vector of (x, y) unless that is zero; return the magnitude of (x,
    y).
    """
    size = math.hypot(x, y)
    if size > 0.0:
        directions[2 * k], directions[2 * k + 1] = x / size, y / size
    return size


@kernel
def row_acceleration(model, ws, r):
    """Return the acceleration along row r [m/s²]; accelerations must have been computed."""
    return ws.val[model.c_value[r] + 2] + accelerations_along(
        model, ws, model.c_arm_at[r], model.c_arm_at[r + 1], True
    )


@kernel
def row_increment(model, ws, r):
    """Return the acceleration along row r that the increments in the workspace cause."""
    total = 0.0
    for k in range(model.c_arm_at[r], model.c_arm_at[r + 1]):
        one = arm_at(model.l_arm, k)
        f, n = arm_wrench(ws, one)
        row = one.body * L.ROW
        total += dot3(f, get3(ws.row, row + L.W_DB)) + dot3(n, get3(ws.row, row + L.W_DA))
    return total


@kernel
def add_row_wrenches(model, ws, r, x):
    """Add the wrenches that a multiplier x of row r exerts on the bodies to ws.push."""
    for k in range(model.c_arm_at[r], model.c_arm_at[r + 1]):
        one = arm_at(model.l_arm, k)
        f, n = arm_wrench(ws, one)
        add_to3(ws.push, 6 * one.body, scale(x, f))
        add_to3(ws.push, 6 * one.body + 3, scale(x, n))


@kernel
def contact_power(model, ws):
    """Return the power [W] of the contact forces, which is that of friction at sliding contacts;
    accelerations must have been computed.
    """
    total = 0.0
    for k in range(model.c_law.size):
        if is_closed(ws, k):
            for r in range(model.c_row[k], model.c_row[k + 1]):
                total += ws.c_lam[r] * row_velocity(model, ws, r)
    return total
