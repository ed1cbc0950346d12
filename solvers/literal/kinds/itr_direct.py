"""ITR-DIRECT: variable-metric iteration that updates factors of the mass matrix."""

from kinetree.solvers.literal.kinds import MASS, Form

FORM = Form(
    "ITR-DIRECT", code=6, kernel="itr_direct.itr_direct", needs=MASS, iterated=True, place=6
)
