"""Entry points of the literal forms.

Lagrangian: `literal_state`, then the entry of a form (u̇ in udot), then `literal_reactions` if
wanted. Hamiltonian: `literal_places`, then the entry of a momentum form (u, v, p* from p), then
`literal_rates` (ṗ in pdot). The entry of a form solves `option` times (0: once), which benchmarks
use for timing.
"""

from collections.abc import Callable, Sequence

from kinetree.solvers.engine.evaluation import load
from kinetree.solvers.kernel import entry, kernel
from kinetree.solvers.literal import newton_euler
from kinetree.solvers.literal.body_axes_kinematics import (
    active_forces,
    literal_kinematics,
    literal_place,
    literal_velocities,
)
from kinetree.solvers.literal.composite_bodies import composite_bodies, mass_rows
from kinetree.solvers.literal.form_dispatch import form_momenta, kernel_of
from kinetree.solvers.literal.kinds import LITERAL, Form
from kinetree.solvers.literal.mass_matrix_cholesky import mass_matrix as spread_rows
from kinetree.solvers.literal.momentum_rates import momentum_rates
from kinetree.solvers.views import model_view, work_view


@entry
def literal_state(ints, floats, work, option, t):
    """Compute kinematics and forces in the literal formulation for the state q, u, x."""
    model = model_view(ints, floats)
    ws = work_view(ints, work)
    status = load(model, ws, t)
    if status == 0:
        status = literal_kinematics(model, ws)
    return status


@entry
def literal_places(ints, floats, work, option, t):
    """Compute kinematics in the literal formulation for the position q."""
    return literal_place(model_view(ints, floats), work_view(ints, work), t)


KEPT = tuple(
    form.code for form in LITERAL if not form.reactions
)  # reactions that come with the accelerations
FINDERS = tuple(
    dict.fromkeys(form.reactions for form in LITERAL if form.reactions and not form.momenta)
)


def one_finder(paths: Sequence[str]) -> Callable:
    """Return a kernel (model, ws, form) -> status that computes joint reactions by the form with
    that code.
    """
    first, *others = paths
    this, codes = kernel_of(first), tuple(form.code for form in LITERAL if form.reactions == first)

    if not others:

        @kernel
        def last(model, ws, form):
            return this(model, ws)

        return last
    rest = one_finder(others)

    @kernel
    def call(model, ws, form):
        for code in codes:
            if form == code:
                return this(model, ws)
        return rest(model, ws, form)

    return call


find_reactions = one_finder(sorted(FINDERS))


@entry
def literal_reactions(ints, floats, work, option, t):
    """Compute joint reactions by the Lagrangian form with code `option` (layout.Method), after its
    accelerations.
    """
    model = model_view(ints, floats)
    ws = work_view(ints, work)
    for code in KEPT:
        if option == code:
            return 0
    status = find_reactions(model, ws, option)
    return newton_euler.take_off_rotors(model, ws) if status == 0 else status


@entry
def literal_rates(ints, floats, work, option, t):
    """Compute ṗ after a momentum form, with the loads evaluated at the speeds from that form."""
    model = model_view(ints, floats)
    ws = work_view(ints, work)
    status = load(model, ws, t)
    if status == 0:
        literal_velocities(model, ws)
        active_forces(model, ws)
        status = momentum_rates(model, ws)
    return status


@entry
def momenta(ints, floats, work, option, t):
    """Compute the momenta p = BᵀMv of the state q, u."""
    return form_momenta(model_view(ints, floats), work_view(ints, work), t)


@entry
def mass_matrix(ints, floats, work, option, t):
    """Compute the full mass matrix at position q in Mq."""
    model = model_view(ints, floats)
    ws = work_view(ints, work)
    status = literal_place(model, ws, t)
    if status == 0:
        composite_bodies(model, ws)
        mass_rows(model, ws)
        status = spread_rows(model, ws)
    return status


@entry
def inverse_dynamics(ints, floats, work, option, t):
    """Compute the generalised forces (in Q) that the accelerations udot require, and the reactions."""
    model = model_view(ints, floats)
    ws = work_view(ints, work)
    status = load(model, ws, t)
    if status == 0:
        status = literal_kinematics(model, ws)
    if status == 0:
        status = newton_euler.inverse_dynamics(model, ws)
    return status


def repeated(form: Form) -> Callable:
    """Return the entry point of a form; it needs literal kinematics and solves `option` times."""
    solve = kernel_of(form.kernel)

    def solved(ints, floats, work, option, t):
        model = model_view(ints, floats)
        ws = work_view(ints, work)
        status = solve(model, ws)
        for _ in range(1, option):
            status = solve(model, ws)
        return status

    solved.__name__ = solved.__qualname__ = form.entry
    return entry(solved)


globals().update({form.entry: repeated(form) for form in LITERAL})
