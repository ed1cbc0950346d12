"""LGR-H: Lagrange multipliers of the joints, in momenta."""

from kinetree.solvers.literal.kinds import SIBLING, Form

FORM = Form("LGR-H", code=10, kernel="lgr_h.lgr_h", needs=SIBLING, momenta=True, place=2)
