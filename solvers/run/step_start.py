"""Actuators of outside drives: numbers held from the beginning of a communication step on, and effective masses.

The told stiffness acts on the travel since the beginning of the step, so that length and speed there are latched. The effective mass along an
actuator is 1/(J M⁻¹ Jᵀ): the inverse of the acceleration that a unit force adds, measured by one more evaluation per actuator.
"""

from kinetree.solvers import layout as L
from kinetree.solvers.engine.evaluation import finish, load
from kinetree.solvers.kernel import kernel
from kinetree.solvers.loops.solve import accelerations_of


@kernel
def latch(model, ws):
    """Copy the source register of every latch to its destination."""
    for k in range(0, model.latches.size, L.LATCH):
        ws.val[model.latches[k + 1]] = ws.val[model.latches[k]]


@kernel
def probe(model, ws, t):
    """Acceleration under one more unit of force, kept in the result register of every probe."""
    status = 0
    for k in range(0, model.probes.size, L.PROBE):
        ws.val[model.probes[k]] = 1.0
        if status == 0:
            status = load(model, ws, t)
        if status == 0:
            status = accelerations_of(model, ws)
        if status == 0:
            status = finish(model, ws)
        ws.val[model.probes[k]] = 0.0
        ws.val[model.probes[k + 2]] = ws.val[model.probes[k + 1]]
    return status


@kernel
def weigh(model, ws):
    """Effective masses from the accelerations with the unit of force and, now, without it."""
    for k in range(0, model.probes.size, L.PROBE):
        ws.val[model.probes[k + 2]] = 1.0 / (ws.val[model.probes[k + 2]] - ws.val[model.probes[k + 1]])
