"""Breakpoints: the times at which functions of time have kinks or jumps.

An integrator that has enlarged its step during a long rest could miss a short command. Between
breakpoints the argument of each function is linear in time, so that its value and rate give the
next breakpoint. Nonlinear arguments, as in sin(t) > 0.5, have no breakpoints.
"""

import math

from kinetree.solvers import layout as L
from kinetree.solvers.engine.evaluation import set_registers
from kinetree.solvers.kernel import kernel
from kinetree.solvers.views import knot_at, table_at

SAME_TIME, TIME_SCALE_AT_ZERO = (
    1e-12,
    1e-3,
)  # breakpoints closer than this, relative to time or to this time [s], are one


@kernel
def time_tolerance(t):
    """Return the time difference [s] within which two instants near t are treated as equal."""
    return SAME_TIME * max(abs(t), TIME_SCALE_AT_ZERO) if math.isfinite(t) else 0.0


@kernel
def next_breakpoint(model, ws, t, of_motion):
    """Return the time of the first breakpoint after t, or infinity. of_motion = 1: only breakpoints
    of prescribed motions; ANNOUNCED: also those of events.
    """
    first = math.inf
    if set_registers(model, ws, t) != 0:
        return first
    for k in range(model.header.knots):
        knot = knot_at(model.knots, k)
        x, pace, detail = ws.val[knot.argument], ws.val[knot.pace], knot.detail
        kind = knot.kind
        closest = abs(pace) * time_tolerance(t)
        if pace == 0.0 or not math.isfinite(x) or knot.motion < of_motion:
            continue
        if kind == L.Knot.ZERO:
            way = -x
        elif kind == L.Knot.MULTIPLE:
            way = distance_to_multiple(x, pace, ws.val[detail], closest)
        else:
            way = distance_to_grid(model, kind, x, pace, detail, closest)
        if way * pace > 0.0 and abs(way) > closest:
            first = min(first, t + way / pace)
    return first


@kernel
def distance_to_multiple(x, pace, spacing, closest):
    """Return the distance of x, moving at `pace`, to the next multiple of `spacing`; 0 if there is
    none farther than `closest`.
    """
    if not abs(spacing) > 0.0:
        return 0.0
    n = math.floor(x / spacing)
    forward = pace * spacing > 0.0
    way = (n + 1.0 if forward else n) * spacing - x
    return way if abs(way) > closest else (n + 2.0 if forward else n - 1.0) * spacing - x


@kernel
def distance_to_grid(model, kind, x, pace, table, closest):
    """Return the distance of x, moving at `pace`, to the next grid point of a table; 0 if there is
    none farther than `closest`.
    """
    record = table_at(model.tables, table)
    at = record.data
    count = record.nx
    if kind == L.Knot.TABLE_Y:
        at += count
        count = record.ny
    low, high = (
        -1,
        count,
    )  # grid[low] <= x + closest < grid[high], or for falling x grid[low] < x - closest <= grid[high]
    limit = x + closest if pace > 0.0 else x - closest
    while high - low > 1:
        middle = (low + high) >> 1
        value = model.table_data[at + middle]
        if value < limit or (value == limit and pace > 0.0):
            low = middle
        else:
            high = middle
    if pace > 0.0:
        return model.table_data[at + high] - x if high < count else 0.0
    return model.table_data[at + low] - x if low >= 0 else 0.0


@kernel
def breakpoint_side(knot, sign):
    """Return the time just after (sign 1) or just before (-1) a breakpoint."""
    return knot + sign * time_tolerance(knot)


@kernel
def read_after_breakpoint(ws, knot):
    """Set the time at which right-hand sides read functions of time to just after a breakpoint."""
    ws.head.sided = 1.0
    ws.head.read_from = breakpoint_side(knot, 1.0)
    ws.head.read_until = math.inf


@kernel
def host_time(W, t):
    """Return the time at which time functions are read for a host: just before an announced
    breakpoint, just after a passed one.
    """
    if abs(t - W.next) <= time_tolerance(W.next):
        return breakpoint_side(W.next, -1.0)
    return breakpoint_side(W.turned, 1.0) if abs(t - W.turned) <= time_tolerance(W.turned) else t


@kernel
def later_side(W, t):
    """Return t, or the time just after it if t is a breakpoint."""
    knot = W.next if abs(t - W.next) <= time_tolerance(W.next) else W.turned
    return breakpoint_side(knot, 1.0) if abs(t - knot) <= time_tolerance(knot) else t
