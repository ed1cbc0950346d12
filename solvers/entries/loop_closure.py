"""Entry points for closed loops: assembly, projection, residuals."""

from kinetree.solvers.kernel import entry
from kinetree.solvers.loops.assembly import assemble as assemble_loops
from kinetree.solvers.loops.constraint_projection import project as project_loops
from kinetree.solvers.loops.constraint_residuals import position_residual, velocity_residual
from kinetree.solvers.loops.minimum_norm_change import place_loops
from kinetree.solvers.views import model_view, work_view


@entry
def assemble(ints, floats, work, option, t):
    """Assemble the closed loops from the guesses in q and u; return INCONSISTENT, with the worst
    row in head.item, if they cannot be closed.
    """
    return assemble_loops(model_view(ints, floats), work_view(ints, work), t)


@entry
def project(ints, floats, work, option, t):
    """Project q and u onto the constraints by a minimum-norm correction."""
    return project_loops(model_view(ints, floats), work_view(ints, work), t)


@entry
def constraints(ints, floats, work, option, t):
    """Compute the residual of the constraint rows in loop_r: positions (option 0) or velocities
    (1).
    """
    model = model_view(ints, floats)
    ws = work_view(ints, work)
    status = place_loops(model, ws, t)
    if option == 0:
        position_residual(model, ws)
    else:
        velocity_residual(model, ws)
    return status
