"""ABM-H: articulated-body method in momenta."""

from kinetree.solvers.literal.kinds import Form

FORM = Form("ABM-H", code=12, kernel="abm_h.abm_h", momenta=True, place=4)
