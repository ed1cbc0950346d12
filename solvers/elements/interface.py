"""The set of kernels that every joint element provides, with signature (model, ws, e, argument)."""

from collections.abc import Callable
from typing import NamedTuple


class Kernels(NamedTuple):
    """The kernels of one kind of joint element; e is the element's index, the fourth argument
    stands in brackets.
    """

    derive: (
        Callable  # constants, after a parameter has changed: ws.elem holds axis and factor as given
    )
    rotation: Callable  # returns components before the element from components after it
    shift: Callable  # returns it in components before it
    walk: Callable  # (at) moves the running frame in the row at `at`, ground axes, and fills the columns of its speeds
    columns: Callable  # (i, G, s) the same columns in body axes; G and s lead from after the element to the frame of body i
    rates: Callable  # (v, a) returns relative velocity and acceleration of what comes after it, with its own; fills Ȧ of its columns
    plane: Callable  # (n) returns a normal in axes after it, and whether the element keeps it
    # of those whose speeds are not the derivatives of their coordinates
    q_rates: Callable  # (ydot) rates of its coordinates from its speeds
    retract: Callable  # (change, scale) moves its coordinates by scale times a change in the directions of its speeds
    departure: Callable  # (q, out) the change that leads from q to ws.q, the inverse of `retract`
    unify: Callable  # brings coordinates that are bound to one another to what they must be
