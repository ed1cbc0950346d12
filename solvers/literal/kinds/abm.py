"""ABM: articulated-body method."""

from kinetree.solvers.literal.kinds import Form

FORM = Form("ABM", code=7, kernel="abm.abm", reactions="abm.abm_reactions", place=6)
