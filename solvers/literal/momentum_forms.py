"""Which forms are Hamiltonian, as a kernel."""

from kinetree.solvers.kernel import kernel
from kinetree.solvers.literal.kinds import FORMS

CODES = tuple(form.code for form in FORMS if form.momenta)


@kernel
def has_momenta(form):
    """Whether runs by the form of this code are in (q, p)."""
    for code in CODES:
        if form == code:
            return True
    return False
