"""Entry points of the literal forms. `option` is the method, a number of layout.Method; sixteen added to it asks for the reactions too."""

from kinetree.solvers.forms.composite import composite_bodies, mass_rows
from kinetree.solvers.forms.dispatch import literal_accelerations, literal_reactions, literal_speeds
from kinetree.solvers.forms.momentum_rates import momentum_rates
from kinetree.solvers.forms.newton_euler import inverse_dynamics as newton_euler
from kinetree.solvers.forms.newton_euler import momenta as carried
from kinetree.solvers.forms.path_rows import mass_matrix as spread_rows
from kinetree.solvers.kernel import entry
from kinetree.solvers.tree.dynamics import load, set_registers
from kinetree.solvers.tree.literal import active_forces, literal_kinematics, literal_positions, literal_velocities
from kinetree.solvers.views import model_view, work_view


@entry
def literal(ints, floats, work, option, t):
    """u̇ of the state in q, u, x by one of the literal Lagrangian forms."""
    model = model_view(ints, floats)
    ws = work_view(ints, work)
    status = load(model, ws, t)
    if status == 0:
        status = literal_kinematics(model, ws)
    if status == 0:
        status = literal_accelerations(model, ws, option % 16)
    if status == 0 and option >= 16:
        status = literal_reactions(model, ws, option % 16)
    return status


@entry
def literal_repeat(ints, floats, work, option, t):
    """Accelerations by method option % 16 alone, option // 16 times on evaluated kinematics: what benchmarks time."""
    model = model_view(ints, floats)
    ws = work_view(ints, work)
    status = 0
    for _ in range(option // 16):
        status = literal_accelerations(model, ws, option % 16)
    return status


@entry
def hamilton(ints, floats, work, option, t):
    """u and ṗ of the state in q, p, x by one of the momentum forms; the loads are those at the speeds found."""
    model = model_view(ints, floats)
    ws = work_view(ints, work)
    status = set_registers(model, ws, t)
    if status == 0:
        status = literal_positions(model, ws)
    if status == 0:
        status = literal_speeds(model, ws, option)
    if status == 0:
        status = load(model, ws, t)
    if status == 0:
        literal_velocities(model, ws)
        active_forces(model, ws)
        status = momentum_rates(model, ws)
    return status


@entry
def momenta(ints, floats, work, option, t):
    """p = BᵀMv of the state in q, u."""
    model = model_view(ints, floats)
    ws = work_view(ints, work)
    status = set_registers(model, ws, t)
    if status == 0:
        status = literal_positions(model, ws)
    if status == 0:
        literal_velocities(model, ws)
        status = carried(model, ws)
    return status


@entry
def mass_matrix(ints, floats, work, option, t):
    """The mass matrix at q, full, in Mq."""
    model = model_view(ints, floats)
    ws = work_view(ints, work)
    status = set_registers(model, ws, t)
    if status == 0:
        status = literal_positions(model, ws)
    if status == 0:
        composite_bodies(model, ws)
        mass_rows(model, ws)
        status = spread_rows(model, ws)
    return status


@entry
def inverse_dynamics(ints, floats, work, option, t):
    """Generalised forces (in Q) that are needed, besides the applied ones, for the rates in udot; reactions with them."""
    model = model_view(ints, floats)
    ws = work_view(ints, work)
    status = load(model, ws, t)
    if status == 0:
        status = literal_kinematics(model, ws)
    if status == 0:
        status = newton_euler(model, ws)
    return status
