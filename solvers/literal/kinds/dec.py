"""DEC: LᵀDL decomposition of the equations of motion, leaves to root; the default engine."""

from kinetree.solvers.literal.kinds import Form

FORM = Form("DEC", code=0, place=7)
