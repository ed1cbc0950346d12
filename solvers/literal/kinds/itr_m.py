"""ITR-M: variable-metric iteration with the mass matrix formed explicitly."""

from kinetree.solvers.literal.kinds import MASS, Form

FORM = Form("ITR-M", code=4, kernel="itr_m.itr_m", needs=MASS, iterated=True, place=4)
