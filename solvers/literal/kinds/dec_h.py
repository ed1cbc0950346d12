"""DEC-H, decomposed, in momenta."""

from kinetree.solvers.literal.kinds import Form

FORM = Form("DEC-H", code=8, kernel="dec_h.dec_h", momenta=True, place=5)
