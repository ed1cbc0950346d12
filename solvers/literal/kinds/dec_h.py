"""DEC-H: LᵀDL decomposition of the momentum equations."""

from kinetree.solvers.literal.kinds import Form

FORM = Form("DEC-H", code=8, kernel="dec_h.dec_h", momenta=True, place=5)
