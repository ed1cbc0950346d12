"""Dispatch over the literal forms for motion by one of them, the form of number head.form (`layout.Method`).

A Lagrangian run has y = (q, u, x) and needs `form_rates` alone. A Hamiltonian run has y = (q, p, x): `form_speeds` finds the speeds of a state,
the loads follow at these speeds, and `form_rates` gives ṗ.
"""

from kinetree.solvers.kernel import kernel
from kinetree.solvers.layout import Method
from kinetree.solvers.literal import newton_euler
from kinetree.solvers.literal.abm import abm
from kinetree.solvers.literal.abm_h import abm_h
from kinetree.solvers.literal.cbm import cbm
from kinetree.solvers.literal.cbm_h import cbm_h
from kinetree.solvers.literal.dec_h import dec_h
from kinetree.solvers.literal.drt import drt
from kinetree.solvers.literal.frames import active_forces, literal_kinematics, literal_place, literal_velocities
from kinetree.solvers.literal.itr_direct import itr_direct
from kinetree.solvers.literal.itr_g import itr_g
from kinetree.solvers.literal.itr_h import itr_h
from kinetree.solvers.literal.itr_m import itr_m
from kinetree.solvers.literal.lgr import lgr
from kinetree.solvers.literal.lgr_h import lgr_h
from kinetree.solvers.literal.momentum_rates import momentum_rates


@kernel
def form_speeds(model, ws, t):
    """Fill ws.u, and ws.v and ws.ps for the rates, from ws.q and ws.p."""
    status = literal_place(model, ws, t)
    if status != 0:
        return status
    form = int(ws.head.form)
    if form == Method.CBM_H:
        return cbm_h(model, ws)
    if form == Method.LGR_H:
        return lgr_h(model, ws)
    if form == Method.ITR_H:
        return itr_h(model, ws)
    if form == Method.ABM_H:
        return abm_h(model, ws)
    return dec_h(model, ws)


@kernel
def form_rates(model, ws, t):
    """Fill ws.udot from the state and its loads; ws.pdot in a Hamiltonian run."""
    form = int(ws.head.form)
    if form >= Method.DEC_H:
        literal_velocities(model, ws)
        active_forces(model, ws)
        return momentum_rates(model, ws)
    status = literal_kinematics(model, ws)
    if status != 0:
        return status
    if form == Method.DRT:
        return drt(model, ws)
    if form == Method.CBM:
        return cbm(model, ws)
    if form == Method.LGR:
        return lgr(model, ws)
    if form == Method.ITR_M:
        return itr_m(model, ws)
    if form == Method.ITR_G:
        return itr_g(model, ws)
    if form == Method.ITR_DIRECT:
        return itr_direct(model, ws)
    return abm(model, ws)


@kernel
def form_momenta(model, ws, t):
    """Fill ws.p from ws.q and ws.u: p = BᵀMv."""
    status = literal_place(model, ws, t)
    if status == 0:
        literal_velocities(model, ws)
        status = newton_euler.momenta(model, ws)
    return status
