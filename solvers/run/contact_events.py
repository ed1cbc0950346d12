"""Contacts at an instant: impulses, then which contacts are closed, stick or slide as the motion goes on."""

from kinetree.solvers import layout as L
from kinetree.solvers.boundary import boundary
from kinetree.solvers.contacts.forces import change_modes
from kinetree.solvers.contacts.impacts import any_slow, collide, let_go
from kinetree.solvers.contacts.projection import keep_closed
from kinetree.solvers.contacts.rows import DEEP, OPEN, gap_of
from kinetree.solvers.engine.evaluation import load
from kinetree.solvers.kernel import kernel
from kinetree.solvers.loops.least_change import place_loops
from kinetree.solvers.loops.solve import accelerations_of

PENETRATES = int(L.Status.PENETRATES)


@kernel
def evaluate(model, ws, t):
    """Accelerations and contact forces."""
    status = load(model, ws, t)
    return accelerations_of(model, ws) if status == 0 else status


@boundary("state")
def strike(model, ws, t):
    """Impulses of all contacts that touch, and the states in which they go on."""
    status = collide(model, ws, t)
    if status == 0 and any_slow(ws):
        status = evaluate(model, ws, t)
        let_go(model, ws)
    if status == 0:
        status = keep_closed(model, ws, t)
    return settle(model, ws, t) if status == 0 else status


@kernel
def settle(model, ws, t):
    """Change states of contacts until the forces contradict none."""
    status = 0
    for _ in range(3 * model.c_law.size + 1):
        if status == 0:
            status = evaluate(model, ws, t)
        if status != 0 or not change_modes(model, ws):
            break
    return status


@kernel
def touch(model, ws, t):
    """Where a motion begins: what touches is found, approaches are impacts; PENETRATES, item the contact, where bodies overlap."""
    for k in range(ws.c_mode.size):
        ws.c_mode[k] = OPEN
    status = place_loops(model, ws, t)
    for k in range(ws.c_mode.size):
        if status == 0 and gap_of(model, ws, k) < -DEEP:
            ws.head.item = k
            status = PENETRATES
    return strike(model, ws, t) if status == 0 else status
