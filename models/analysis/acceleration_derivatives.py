"""Derivatives of accelerations, exact to rounding: one evaluation with dual numbers gives eight
directions, O(N) each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kinetree.models.analysis.exact_derivatives import derivatives_of
from kinetree.models.engine.instance import Numbers

if TYPE_CHECKING:
    from kinetree.models.system.system import System


class Derivatives(NamedTuple):
    """Partial derivatives of the accelerations u̇, one row per speed."""

    q: np.ndarray  # (n, coordinates); a quaternion counts as four numbers of any length
    u: np.ndarray  # (n, n)
    tau: (
        np.ndarray
    )  # (n, n): the inverse of the mass matrix, on closed loops what the constraints leave of it
    states: np.ndarray  # (n, first-order states)
    inputs: np.ndarray  # (n, inputs)


def derivatives(
    system: System, t: float, q: Numbers, u: Numbers, inputs: Mapping[str, float] | None, tau, loads
) -> Derivatives:
    """Return the partial derivatives of u̇ at a state; arguments as in `System.derivatives`."""
    instance = system._fast
    if loads is None:
        instance.solve(t, q, u, inputs, tau)  # names the body if there is no solution
    else:
        instance.set_state(q, u, inputs, loads, tau)
        instance.call("accelerations", 0, t)
    instance.finite(t, "accelerations", instance.ws.udot, system.speeds)
    found = Derivatives(*derivatives_of(instance, t))
    for name, values in found._asdict().items():
        instance.finite(t, f"slopes of accelerations by {name}", values, system.speeds)
    return found
