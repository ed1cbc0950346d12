"""Entry points for one evaluation of the mechanism."""

from kinetree.solvers import layout as L
from kinetree.solvers.engine.derived_constants import prepare as prepare_constants
from kinetree.solvers.engine.energy import kinetic, potential
from kinetree.solvers.engine.evaluation import finish, load, tell
from kinetree.solvers.engine.kinematics import velocities
from kinetree.solvers.engine.reactions import reactions as dec_reactions
from kinetree.solvers.kernel import entry, kernel
from kinetree.solvers.loops.constrained_accelerations import accelerations_of
from kinetree.solvers.views import model_view, work_view


@entry
def prepare(ints, floats, work, option, t):
    """Derive all constants from the parameter registers; return the status."""
    return prepare_constants(model_view(ints, floats), work_view(ints, work))


@entry
def accelerations(ints, floats, work, option, t):
    """Compute u̇ and ẋ of the state in q, u, x; with option 1 only if that state is finite."""
    model = model_view(ints, floats)
    ws = work_view(ints, work)
    if option == 1 and not finite(ws):
        return L.Status.NOT_A_NUMBER
    status = load(model, ws, t)
    if status != 0:
        return status
    status = accelerations_of(model, ws)
    if status != 0:
        return status
    return finish(model, ws)


@kernel
def finite(ws):
    """Return whether all coordinates and speeds are finite."""
    total = 0.0
    for k in range(ws.q.size):
        total += 0.0 * ws.q[k]
    for k in range(ws.u.size):
        total += 0.0 * ws.u[k]
    return total == 0.0


@entry
def outputs(ints, floats, work, option, t):
    """Compute everything that a result can contain: accelerations, reactions, outputs and energies."""
    model = model_view(ints, floats)
    ws = work_view(ints, work)
    status = load(model, ws, t)
    if status == 0:
        status = accelerations_of(model, ws)
    if status == 0:
        dec_reactions(model, ws)
        velocities(model, ws)
        ws.head.kinetic = kinetic(model, ws)
        ws.head.potential = potential(model, ws)
        status = finish(model, ws)
        tell(model, ws)
    return status


@entry
def repeat(ints, floats, work, option, t):
    """Evaluate kinematics and accelerations `option` times, for benchmarks; return the status."""
    model = model_view(ints, floats)
    ws = work_view(ints, work)
    status = 0
    for _ in range(option):
        status = load(model, ws, t)
        status = accelerations_of(model, ws)
    return status
