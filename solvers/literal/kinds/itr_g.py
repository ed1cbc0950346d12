"""ITR-G: variable-metric iteration that multiplies by the mass matrix through two sweeps over the
tree.
"""

from kinetree.solvers.literal.kinds import MASS, Form

FORM = Form("ITR-G", code=5, kernel="itr_g.itr_g", needs=MASS, iterated=True, place=5)
