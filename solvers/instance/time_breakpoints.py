"""Times at which functions of time have breakpoints.

An integrator that has grown its step in a long rest would not see a short command at all. Between breakpoints every argument runs evenly, so that
value and rate of the argument tell when the next one comes; what runs unevenly (sin(t) > 0.5) has no knots.
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
    """Return the time difference within which two instants are equal."""
    return SAME_TIME * max(abs(t), TIME_SCALE_AT_ZERO) if math.isfinite(t) else 0.0


@kernel
def next_breakpoint(model, ws, t, of_motion):
    """Return the instant of the first breakpoint after t, of_motion = 1: of the first on which given
    motions depend, ANNOUNCED: also of events; infinity: none.
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
    """Return the distance of x to the next multiple of the spacing, or 0."""
    if not abs(spacing) > 0.0:
        return 0.0
    n = math.floor(x / spacing)
    forward = pace * spacing > 0.0
    way = (n + 1.0 if forward else n) * spacing - x
    return way if abs(way) > closest else (n + 2.0 if forward else n - 1.0) * spacing - x


@kernel
def distance_to_grid(model, kind, x, pace, table, closest):
    """Return the distance of x to the next grid point of a table, or 0."""
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
    """Return an instant just after (sign 1) or before (-1) a breakpoint."""
    return knot + sign * time_tolerance(knot)


@kernel
def read_after_breakpoint(ws, knot):
    """Set the instants at which right-hand sides read functions of time: after the breakpoint."""
    ws.head.sided = 1.0
    ws.head.read_from = breakpoint_side(knot, 1.0)
    ws.head.read_until = math.inf


@kernel
def host_time(W, t):
    """Return the time at which time functions are read for a host: before an announced breakpoint,
    after a passed one.
    """
    if abs(t - W.next) <= time_tolerance(W.next):
        return breakpoint_side(W.next, -1.0)
    return breakpoint_side(W.turned, 1.0) if abs(t - W.turned) <= time_tolerance(W.turned) else t


@kernel
def later_side(W, t):
    """Return t, or the later side of a breakpoint at t."""
    knot = W.next if abs(t - W.next) <= time_tolerance(W.next) else W.turned
    return breakpoint_side(knot, 1.0) if abs(t - knot) <= time_tolerance(knot) else t
