"""Entry points of the literal forms; option = layout.Method."""

from kinetree.solvers.forms.composite import composite_bodies, mass_rows
from kinetree.solvers.forms.momentum_rates import momentum_rates
from kinetree.solvers.forms.newton_euler import inverse_dynamics as forces_for_rates
from kinetree.solvers.forms.newton_euler import momenta as momenta_of
from kinetree.solvers.forms.newton_euler import reactions
from kinetree.solvers.forms.path_rows import mass_matrix as spread_mass
from kinetree.solvers.forms.selection import solve_lagrange, solve_momenta
from kinetree.solvers.kernel import entry
from kinetree.solvers.tree.dynamics import load, set_registers
from kinetree.solvers.tree.literal import active_forces, literal_kinematics, literal_positions, literal_velocities
from kinetree.solvers.views import model_view, work_view


@entry
def by_method(ints, floats, work, option, t):
    """u̇ and reactions by a Lagrangian form."""
    model = model_view(ints, floats)
    ws = work_view(ints, work)
    status = load(model, ws, t)
    if status == 0:
        status = literal_kinematics(model, ws)
    if status == 0:
        status = solve_lagrange(model, ws, option)
    if status == 0:
        status = reactions(model, ws)
    return status


@entry
def repeat_method(ints, floats, work, option, t):
    """Evaluate kinematics and u̇ by the form option % 16, option // 16 times: what benchmarks time."""
    model = model_view(ints, floats)
    ws = work_view(ints, work)
    status = 0
    for _ in range(option // 16):
        status = load(model, ws, t)
        status = literal_kinematics(model, ws)
        status = solve_lagrange(model, ws, option % 16)
    return status


@entry
def hamilton(ints, floats, work, option, t):
    """u and ṗ of the state in q, p by a Hamiltonian form."""
    model = model_view(ints, floats)
    ws = work_view(ints, work)
    status = set_registers(model, ws, t)
    if status == 0:
        status = literal_positions(model, ws)
    if status == 0:
        status = solve_momenta(model, ws, option)
    if status == 0:
        status = load(model, ws, t)  # forces may depend on the speeds that are known now
    if status == 0:
        literal_velocities(model, ws)
        active_forces(model, ws)
        status = momentum_rates(model, ws)
    return status


@entry
def momenta(ints, floats, work, option, t):
    """p of the state in q, u."""
    model = model_view(ints, floats)
    ws = work_view(ints, work)
    status = set_registers(model, ws, t)
    if status == 0:
        status = literal_positions(model, ws)
    if status == 0:
        literal_velocities(model, ws)
        status = momenta_of(model, ws)
    return status


@entry
def mass_matrix(ints, floats, work, option, t):
    """Full symmetric mass matrix in Mq."""
    model = model_view(ints, floats)
    ws = work_view(ints, work)
    status = set_registers(model, ws, t)
    if status == 0:
        status = literal_positions(model, ws)
    if status == 0:
        composite_bodies(model, ws)
        mass_rows(model, ws)
        status = spread_mass(model, ws)
    return status


@entry
def inverse_dynamics(ints, floats, work, option, t):
    """Generalised forces Q that the rates in udot need besides the applied ones."""
    model = model_view(ints, floats)
    ws = work_view(ints, work)
    status = load(model, ws, t)
    if status == 0:
        status = literal_kinematics(model, ws)
    if status == 0:
        status = forces_for_rates(model, ws)
    return status
