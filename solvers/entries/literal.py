"""Entry points of the literal forms.

Lagrangian: `literal_state`, then the entry of a form (u̇ in udot), then `literal_reactions` when wanted.
Hamiltonian: `literal_places`, then the entry of a momentum form (u, v, p* from p), then `literal_rates` (ṗ in pdot).
Entries of forms solve `option` times, once for 0: what benchmarks time.
"""

from kinetree.solvers.engine.evaluation import load
from kinetree.solvers.kernel import entry
from kinetree.solvers.layout import Method
from kinetree.solvers.literal import abm as abm_form
from kinetree.solvers.literal import abm_h as abm_h_form
from kinetree.solvers.literal import cbm as cbm_form
from kinetree.solvers.literal import cbm_h as cbm_h_form
from kinetree.solvers.literal import dec_h as dec_h_form
from kinetree.solvers.literal import drt as drt_form
from kinetree.solvers.literal import itr_direct as itr_direct_form
from kinetree.solvers.literal import itr_g as itr_g_form
from kinetree.solvers.literal import itr_h as itr_h_form
from kinetree.solvers.literal import itr_m as itr_m_form
from kinetree.solvers.literal import lgr as lgr_form
from kinetree.solvers.literal import lgr_h as lgr_h_form
from kinetree.solvers.literal import newton_euler
from kinetree.solvers.literal.chosen import form_momenta
from kinetree.solvers.literal.composite import composite_bodies, mass_rows
from kinetree.solvers.literal.frames import active_forces, literal_kinematics, literal_place, literal_velocities
from kinetree.solvers.literal.momentum_rates import momentum_rates
from kinetree.solvers.literal.path_rows import mass_matrix as spread_rows
from kinetree.solvers.views import model_view, work_view


@entry
def literal_state(ints, floats, work, option, t):
    """Literal kinematics and forces of the state in q, u, x."""
    model = model_view(ints, floats)
    ws = work_view(ints, work)
    status = load(model, ws, t)
    if status == 0:
        status = literal_kinematics(model, ws)
    return status


@entry
def literal_places(ints, floats, work, option, t):
    """Literal kinematics of the position q."""
    return literal_place(model_view(ints, floats), work_view(ints, work), t)


@entry
def literal_reactions(ints, floats, work, option, t):
    """Reactions by the Lagrangian form of number `option` (layout.Method), whose accelerations are there."""
    model = model_view(ints, floats)
    ws = work_view(ints, work)
    if option == Method.LGR:
        return 0  # R = Zλ came with the accelerations
    status = abm_form.abm_reactions(model, ws) if option == Method.ABM else newton_euler.reactions(model, ws)
    return newton_euler.take_off_rotors(model, ws) if status == 0 else status


@entry
def literal_rates(ints, floats, work, option, t):
    """ṗ after a momentum form; the loads are those at the speeds it found."""
    model = model_view(ints, floats)
    ws = work_view(ints, work)
    status = load(model, ws, t)
    if status == 0:
        literal_velocities(model, ws)
        active_forces(model, ws)
        status = momentum_rates(model, ws)
    return status


@entry
def momenta(ints, floats, work, option, t):
    """p = BᵀMv of the state in q, u."""
    return form_momenta(model_view(ints, floats), work_view(ints, work), t)


@entry
def mass_matrix(ints, floats, work, option, t):
    """The mass matrix at q, full, in Mq."""
    model = model_view(ints, floats)
    ws = work_view(ints, work)
    status = literal_place(model, ws, t)
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
        status = newton_euler.inverse_dynamics(model, ws)
    return status


@entry
def drt(ints, floats, work, option, t):
    """DRT on evaluated literal kinematics."""
    model = model_view(ints, floats)
    ws = work_view(ints, work)
    status = drt_form.drt(model, ws)
    for _ in range(1, option):
        status = drt_form.drt(model, ws)
    return status


@entry
def cbm(ints, floats, work, option, t):
    """CBM on evaluated literal kinematics."""
    model = model_view(ints, floats)
    ws = work_view(ints, work)
    status = cbm_form.cbm(model, ws)
    for _ in range(1, option):
        status = cbm_form.cbm(model, ws)
    return status


@entry
def lgr(ints, floats, work, option, t):
    """LGR on evaluated literal kinematics."""
    model = model_view(ints, floats)
    ws = work_view(ints, work)
    status = lgr_form.lgr(model, ws)
    for _ in range(1, option):
        status = lgr_form.lgr(model, ws)
    return status


@entry
def itr_m(ints, floats, work, option, t):
    """ITR-M on evaluated literal kinematics."""
    model = model_view(ints, floats)
    ws = work_view(ints, work)
    status = itr_m_form.itr_m(model, ws)
    for _ in range(1, option):
        status = itr_m_form.itr_m(model, ws)
    return status


@entry
def itr_g(ints, floats, work, option, t):
    """ITR-G on evaluated literal kinematics."""
    model = model_view(ints, floats)
    ws = work_view(ints, work)
    status = itr_g_form.itr_g(model, ws)
    for _ in range(1, option):
        status = itr_g_form.itr_g(model, ws)
    return status


@entry
def itr_direct(ints, floats, work, option, t):
    """ITR-DIRECT on evaluated literal kinematics."""
    model = model_view(ints, floats)
    ws = work_view(ints, work)
    status = itr_direct_form.itr_direct(model, ws)
    for _ in range(1, option):
        status = itr_direct_form.itr_direct(model, ws)
    return status


@entry
def abm(ints, floats, work, option, t):
    """ABM on evaluated literal kinematics."""
    model = model_view(ints, floats)
    ws = work_view(ints, work)
    status = abm_form.abm(model, ws)
    for _ in range(1, option):
        status = abm_form.abm(model, ws)
    return status


@entry
def dec_h(ints, floats, work, option, t):
    """DEC-H on evaluated literal kinematics."""
    model = model_view(ints, floats)
    ws = work_view(ints, work)
    status = dec_h_form.dec_h(model, ws)
    for _ in range(1, option):
        status = dec_h_form.dec_h(model, ws)
    return status


@entry
def cbm_h(ints, floats, work, option, t):
    """CBM-H on evaluated literal kinematics."""
    model = model_view(ints, floats)
    ws = work_view(ints, work)
    status = cbm_h_form.cbm_h(model, ws)
    for _ in range(1, option):
        status = cbm_h_form.cbm_h(model, ws)
    return status


@entry
def lgr_h(ints, floats, work, option, t):
    """LGR-H on evaluated literal kinematics."""
    model = model_view(ints, floats)
    ws = work_view(ints, work)
    status = lgr_h_form.lgr_h(model, ws)
    for _ in range(1, option):
        status = lgr_h_form.lgr_h(model, ws)
    return status


@entry
def itr_h(ints, floats, work, option, t):
    """ITR-H on evaluated literal kinematics."""
    model = model_view(ints, floats)
    ws = work_view(ints, work)
    status = itr_h_form.itr_h(model, ws)
    for _ in range(1, option):
        status = itr_h_form.itr_h(model, ws)
    return status


@entry
def abm_h(ints, floats, work, option, t):
    """ABM-H on evaluated literal kinematics."""
    model = model_view(ints, floats)
    ws = work_view(ints, work)
    status = abm_h_form.abm_h(model, ws)
    for _ in range(1, option):
        status = abm_h_form.abm_h(model, ws)
    return status
