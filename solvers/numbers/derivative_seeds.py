"""Directions of differentiation: coordinates, speeds, forces along the speeds, first-order states,
inputs, numbered consecutively.

A plan lists them in the order in which they are processed, WIDTH at a time, each with the first
body that moves with it.
"""

from kinetree.solvers.kernel import kernel
from kinetree.solvers.layout import WIDTH
from kinetree.solvers.numbers.primitive_operations import (
    dual_of,
    lane,
    lanes_of,
    slopes_of,
    with_lane,
)


@kernel
def directions_of(model, ws):
    """Return the number of directions of differentiation."""
    return ws.q.size + 2 * ws.u.size + ws.x.size + model.header.inputs


@kernel
def plant(model, ws, duals, k, slopes):
    """Copy the variable of direction k from the plain workspace to the duals, with the given
    derivatives.
    """
    nq, nu, nx = ws.q.size, ws.u.size, ws.x.size
    if k < nq:
        duals.q[k] = dual_of(ws.q[k], slopes)
    elif k < nq + nu:
        duals.u[k - nq] = dual_of(ws.u[k - nq], slopes)
    elif k < nq + 2 * nu:
        duals.added[k - nq - nu] = dual_of(ws.added[k - nq - nu], slopes)
    elif k < nq + 2 * nu + nx:
        duals.x[k - nq - 2 * nu] = dual_of(ws.x[k - nq - 2 * nu], slopes)
    else:
        r = model.header.r_inputs + k - nq - 2 * nu - nx
        duals.val[r] = dual_of(ws.val[r], slopes)


@kernel
def plant_all(model, ws, duals):
    """Copy all variables of differentiation from the plain workspace to the duals, with zero
    derivatives.
    """
    for k in range(directions_of(model, ws)):
        plant(model, ws, duals, k, lanes_of(0.0))


@kernel
def sow(model, ws, duals, plan, at, left):
    """Set unit derivatives for the WIDTH directions from index `at` of the plan on; return the
    first body that they move.
    """
    first = model.parent.size
    for n in range(min(left, WIDTH)):
        plant(model, ws, duals, plan[2 * (at + n)], with_lane(lanes_of(0.0), n, 1.0))
        first = min(first, plan[2 * (at + n) + 1])
    return first


@kernel
def weed(model, ws, duals, plan, at):
    """Reset the derivatives along the WIDTH directions from index `at` of the plan on."""
    for n in range(WIDTH):
        plant(model, ws, duals, plan[2 * (at + n)], lanes_of(0.0))


@kernel
def reap(rows, width, k, plan, at, left, dual):
    """Write the derivatives of a dual to column k of the rows of these directions."""
    slopes = slopes_of(dual)
    for n in range(min(left, WIDTH)):
        rows[plan[2 * (at + n)] * width + k] = lane(slopes, n)
