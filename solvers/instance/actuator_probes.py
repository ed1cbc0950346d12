"""Start of a communication step: latched actuator values and effective masses.

In the scheme `told` the drive's stiffness acts on the travel since the beginning of the
communication step, so length and speed at that instant are latched. The effective mass along an
actuator is 1/(J M⁻¹ Jᵀ): the inverse of the acceleration that a unit force adds, computed by one
more evaluation per actuator.
"""

from kinetree.solvers.engine.evaluation import finish, load
from kinetree.solvers.kernel import kernel
from kinetree.solvers.loops.constrained_accelerations import accelerations_of
from kinetree.solvers.views import latch_at, probe_at


@kernel
def latch_actuators(model, ws):
    """Copy the source register of every latch (a value held over a communication step) to its
    destination.
    """
    for k in range(model.header.latches):
        one = latch_at(model.latches, k)
        ws.val[one.kept] = ws.val[one.source]


@kernel
def probe_actuators(model, ws, t):
    """Compute, for every actuator probe, the acceleration that an additional unit force causes;
    return the status.
    """
    status = 0
    for k in range(model.header.probes):
        one = probe_at(model.probes, k)
        ws.val[one.force] = 1.0
        if status == 0:
            status = load(model, ws, t)
        if status == 0:
            status = accelerations_of(model, ws)
        if status == 0:
            status = finish(model, ws)
        ws.val[one.force] = 0.0
        ws.val[one.mass] = ws.val[one.acceleration]
    return status


@kernel
def compute_effective_masses(model, ws):
    """Compute the effective masses [kg] from the accelerations with the unit forces and those
    without, evaluated now.
    """
    for k in range(model.header.probes):
        one = probe_at(model.probes, k)
        ws.val[one.mass] = 1.0 / (ws.val[one.mass] - ws.val[one.acceleration])
