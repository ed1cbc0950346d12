"""Entry points of gradients of runs: over a block of steps, and back. Ints and work are those of `adjoint_layout`."""

from kinetree.solvers.integrate.adjoint import forwards
from kinetree.solvers.integrate.adjoint_back import backwards
from kinetree.solvers.kernel import entry
from kinetree.solvers.views import adjoint_ints, adjoint_work


@entry
def adjoint_forwards(ints, floats, work, option, t):
    """Steps of a block, kept for the way back."""
    return forwards(adjoint_ints(ints), adjoint_work(work))


@entry
def adjoint_backwards(ints, floats, work, option, t):
    """The way back over some of the steps of a block."""
    return backwards(adjoint_ints(ints), adjoint_work(work))
