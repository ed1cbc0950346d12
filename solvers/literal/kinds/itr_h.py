"""ITR-H: variable-metric iteration in momenta."""

from kinetree.solvers.literal.kinds import MASS, Form

FORM = Form(
    "ITR-H", code=11, kernel="itr_h.itr_h", needs=MASS, momenta=True, iterated=True, place=3
)
