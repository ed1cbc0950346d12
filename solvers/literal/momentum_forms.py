"""Predicate on form codes: whether a form is Hamiltonian."""

from kinetree.solvers.kernel import kernel
from kinetree.solvers.literal.kinds import FORMS

CODES = tuple(form.code for form in FORMS if form.momenta)


@kernel
def has_momenta(form):
    """Return whether runs by the form with this code use momenta (q, p)."""
    for code in CODES:
        if form == code:
            return True
    return False
