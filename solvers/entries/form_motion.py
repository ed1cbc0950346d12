"""Entry points with which the integrators of `core` run a chosen literal form through hooks. The
form is head.form.
"""

from kinetree.solvers.kernel import entry
from kinetree.solvers.literal import form_dispatch
from kinetree.solvers.views import model_view, work_view


@entry
def form_speeds(ints, floats, work, option, t):
    """Compute u from the state (q, p) by a Hamiltonian form."""
    return form_dispatch.form_speeds(model_view(ints, floats), work_view(ints, work), t)


@entry
def form_rates(ints, floats, work, option, t):
    """Compute u̇, or ṗ after `form_speeds`, of a state whose loads have been evaluated."""
    return form_dispatch.form_rates(model_view(ints, floats), work_view(ints, work), t)


@entry
def form_momenta(ints, floats, work, option, t):
    """Compute p from the state (q, u)."""
    return form_dispatch.form_momenta(model_view(ints, floats), work_view(ints, work), t)
