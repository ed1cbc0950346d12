"""Contact modes (open, sticking, sliding), participation in an impact, and friction modes of a
contact problem.

This module owns the codes, stored as floats that kernels compare with, and the predicates on them.
"""

from kinetree.solvers.kernel import kernel
from kinetree.solvers.layout import Contact, Friction, Impact

OPEN, STICK, SLIDE = int(Contact.OPEN), int(Contact.STICK), int(Contact.SLIDE)
NOT_INVOLVED, TOUCHING = float(Impact.NONE), float(Impact.TOUCHING)
CLOSED_ON_TRIAL, LOCATED = float(Impact.CLOSED_ON_TRIAL), float(Impact.LOCATED)
OVERRUN, SLIP_KEPT = float(Impact.OVERRUN), float(Impact.SLIP_KEPT)
STICKS, SLIPS, DRIVEN = float(Friction.STICKS), float(Friction.SLIPS), float(Friction.DRIVEN)


@kernel
def is_closed(ws, k):
    """Return whether contact k is closed."""
    return ws.c_mode[k] != OPEN


@kernel
def any_closed(ws):
    """Return whether any contact is closed."""
    found = False
    for k in range(ws.c_mode.size):
        found = found or is_closed(ws, k)
    return found


@kernel
def sticks(ws, k):
    """Return whether contact k is closed and sticks."""
    return ws.c_mode[k] == STICK


@kernel
def slides(ws, k):
    """Return whether contact k is sliding."""
    return ws.c_mode[k] == SLIDE


@kernel
def has_part(ws, k):
    """Return whether contact k takes part in the current impact."""
    return ws.c_impact[k] != NOT_INVOLVED


@kernel
def is_located(ws, k):
    """Return whether the start of contact k has been located: by an event, or by a host that has
    stepped over it.
    """
    return ws.c_impact[k] == LOCATED or ws.c_impact[k] == OVERRUN


@kernel
def any_overrun(ws):
    """Return whether a host has stepped over the start of any contact."""
    found = False
    for k in range(ws.c_mode.size):
        found = found or ws.c_impact[k] == OVERRUN
    return found
