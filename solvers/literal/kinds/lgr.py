"""LGR: Lagrange multipliers of the joints; reactions are computed together with the accelerations."""

from kinetree.solvers.literal.kinds import SIBLING, Form

FORM = Form("LGR", code=3, kernel="lgr.lgr", needs=SIBLING, reactions="", place=3)
