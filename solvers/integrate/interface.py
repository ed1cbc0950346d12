"""The set of kernels that every integrator provides."""

from collections.abc import Callable
from typing import NamedTuple


class Kernels(NamedTuple):
    """The kernels of one method; `rhs(ydot, context, t, y) -> status` is an argument of all that
    evaluate the right-hand side.
    """

    size: Callable  # (n): length of the memory
    start: Callable  # (mem, rhs, context, t, y): begin at (t, y)
    restart: Callable  # (mem, rhs, context): begin anew with the state in Y_NEW
    changed: Callable  # (mem, rhs, context): Y_NEW was changed a little
    turn: Callable  # (mem, rhs, context): the right-hand side has a corner at T_NEW
    step: Callable  # (mem, rhs, context, t_limit): one accepted step
    interpolate: Callable  # (out, mem, t): state inside the last step
