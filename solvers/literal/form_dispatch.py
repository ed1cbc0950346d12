"""Dispatch over the literal forms for runs that use one of them: the form with code head.form
(`layout.Method`).

A Lagrangian run has y = (q, u, x) and needs only `form_rates`. A Hamiltonian run has y = (q, p, x):
`form_speeds` computes the speeds of a state, the loads are evaluated at these speeds, and
`form_rates` gives ṗ.
"""

from collections.abc import Callable, Sequence
from importlib import import_module

from kinetree.solvers.kernel import kernel
from kinetree.solvers.literal import newton_euler
from kinetree.solvers.literal.body_axes_kinematics import (
    active_forces,
    literal_kinematics,
    literal_place,
    literal_velocities,
)
from kinetree.solvers.literal.kinds import LITERAL, Form
from kinetree.solvers.literal.momentum_forms import has_momenta
from kinetree.solvers.literal.momentum_rates import momentum_rates


def kernel_of(path: str) -> Callable:
    """Return a kernel of this folder, given as module.function."""
    module, function = path.split(".")
    return getattr(import_module(f"kinetree.solvers.literal.{module}"), function)


def one_of(forms: Sequence[Form]) -> Callable:
    """Return a kernel (model, ws, form) -> status that dispatches by the code of the form."""
    first, *others = forms
    this, code = kernel_of(first.kernel), first.code
    if not others:

        @kernel
        def last(model, ws, form):
            return this(model, ws)

        return last
    rest = one_of(others)

    @kernel
    def call(model, ws, form):
        return this(model, ws) if form == code else rest(model, ws, form)

    return call


lagrangian = one_of([form for form in LITERAL if not form.momenta])
hamiltonian = one_of([form for form in LITERAL if form.momenta])


@kernel
def form_speeds(model, ws, t):
    """Compute ws.u, and ws.v and ws.ps for the rates, from ws.q and ws.p; return the status."""
    status = literal_place(model, ws, t)
    if status != 0:
        return status
    return hamiltonian(model, ws, int(ws.head.form))


@kernel
def form_rates(model, ws, t):
    """Compute ws.udot (in a Hamiltonian run ws.pdot) from the state and its loads; return the
    status.
    """
    form = int(ws.head.form)
    if has_momenta(form):
        literal_velocities(model, ws)
        active_forces(model, ws)
        return momentum_rates(model, ws)
    status = literal_kinematics(model, ws)
    if status != 0:
        return status
    return lagrangian(model, ws, form)


@kernel
def form_momenta(model, ws, t):
    """Compute the momenta ws.p = BᵀMv from ws.q and ws.u; return the status."""
    status = literal_place(model, ws, t)
    if status == 0:
        literal_velocities(model, ws)
        status = newton_euler.momenta(model, ws)
    return status
