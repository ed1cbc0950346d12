"""ITR-G, iterated by sweeps."""

from kinetree.solvers.literal.kinds import MASS, Form

FORM = Form("ITR-G", code=5, kernel="itr_g.itr_g", needs=MASS, iterated=True, place=5)
