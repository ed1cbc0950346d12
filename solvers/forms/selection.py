"""Calls a form by its number in layout.Method."""

from kinetree.solvers.forms.abm import abm
from kinetree.solvers.forms.abm_h import abm_h
from kinetree.solvers.forms.cbm import cbm
from kinetree.solvers.forms.cbm_h import cbm_h
from kinetree.solvers.forms.dec_h import dec_h
from kinetree.solvers.forms.drt import drt
from kinetree.solvers.forms.itr_g import itr_g
from kinetree.solvers.forms.itr_h import itr_h
from kinetree.solvers.forms.itr_m import itr_m
from kinetree.solvers.forms.lgr import lgr
from kinetree.solvers.forms.lgr_h import lgr_h
from kinetree.solvers.kernel import kernel
from kinetree.solvers.layout import Method


@kernel
def solve_lagrange(model, ws, method):
    """Fill ws.udot from evaluated kinematics by a Lagrangian form."""
    if method == Method.DRT:
        return drt(model, ws)
    if method == Method.CBM:
        return cbm(model, ws)
    if method == Method.LGR:
        return lgr(model, ws)
    if method == Method.ITR_M:
        return itr_m(model, ws)
    if method == Method.ITR_G:
        return itr_g(model, ws)
    return abm(model, ws)


@kernel
def solve_momenta(model, ws, method):
    """Fill ws.u, ws.v, ws.ps from evaluated positions and ws.p by a Hamiltonian form."""
    if method == Method.CBM_H:
        return cbm_h(model, ws)
    if method == Method.LGR_H:
        return lgr_h(model, ws)
    if method == Method.ITR_H:
        return itr_h(model, ws)
    if method == Method.ABM_H:
        return abm_h(model, ws)
    return dec_h(model, ws)
