"""Entry points for motion by a chosen form: what the integrators of `core` call through hooks. The form is head.form."""

from kinetree.solvers.kernel import entry
from kinetree.solvers.literal import form_dispatch
from kinetree.solvers.views import model_view, work_view


@entry
def form_speeds(ints, floats, work, option, t):
    """u of the state (q, p) by a Hamiltonian form."""
    return form_dispatch.form_speeds(model_view(ints, floats), work_view(ints, work), t)


@entry
def form_rates(ints, floats, work, option, t):
    """Return u̇, or ṗ after `form_speeds`, of the state whose loads are evaluated."""
    return form_dispatch.form_rates(model_view(ints, floats), work_view(ints, work), t)


@entry
def form_momenta(ints, floats, work, option, t):
    """p of the state (q, u)."""
    return form_dispatch.form_momenta(model_view(ints, floats), work_view(ints, work), t)
