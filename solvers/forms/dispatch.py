"""The literal forms by their number (layout.Method); DEC itself is the fast engine of `forms/dec.py` and is not among them."""

from kinetree.solvers import layout as L
from kinetree.solvers.forms.abm import abm, abm_reactions
from kinetree.solvers.forms.abm_h import abm_h
from kinetree.solvers.forms.cbm import cbm
from kinetree.solvers.forms.cbm_h import cbm_h
from kinetree.solvers.forms.dec_h import dec_h
from kinetree.solvers.forms.drt import drt
from kinetree.solvers.forms.itr_direct import itr_direct
from kinetree.solvers.forms.itr_g import itr_g
from kinetree.solvers.forms.itr_h import itr_h
from kinetree.solvers.forms.itr_m import itr_m
from kinetree.solvers.forms.lgr import lgr
from kinetree.solvers.forms.lgr_h import lgr_h
from kinetree.solvers.forms.newton_euler import reactions
from kinetree.solvers.kernel import kernel


@kernel
def literal_accelerations(model, ws, method):
    """Fill ws.udot from evaluated literal kinematics."""
    if method == L.Method.DRT:
        return drt(model, ws)
    if method == L.Method.CBM:
        return cbm(model, ws)
    if method == L.Method.LGR:
        return lgr(model, ws)
    if method == L.Method.ITR_M:
        return itr_m(model, ws)
    if method == L.Method.ITR_G:
        return itr_g(model, ws)
    if method == L.Method.ITR_DIRECT:
        return itr_direct(model, ws)
    return abm(model, ws)


@kernel
def literal_reactions(model, ws, method):
    """Fill ws.reaction after `literal_accelerations` of the same method, each form in its own way."""
    if method == L.Method.LGR:
        return 0  # R = Zλ came with the accelerations
    if method == L.Method.ABM:
        return abm_reactions(model, ws)
    return reactions(model, ws)


@kernel
def literal_speeds(model, ws, method):
    """Fill ws.u, ws.v and ws.ps from ws.p and evaluated literal positions."""
    if method == L.Method.CBM_H:
        return cbm_h(model, ws)
    if method == L.Method.LGR_H:
        return lgr_h(model, ws)
    if method == L.Method.ITR_H:
        return itr_h(model, ws)
    if method == L.Method.ABM_H:
        return abm_h(model, ws)
    return dec_h(model, ws)
