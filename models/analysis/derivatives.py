"""Slopes of the accelerations, exact to rounding: one evaluation on dual numbers gives eight directions, O(N) each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kinetree.models.run.engine import pointer_entry
from kinetree.models.run.instance import Numbers
from kinetree.models.run.status import check_status
from kinetree.solvers.layout import DUAL_STRIDE

if TYPE_CHECKING:
    from kinetree.models.system.system import System


class Derivatives(NamedTuple):
    """∂u̇ by everything it depends on, one row per speed."""

    q: np.ndarray  # (n, coordinates); a quaternion counts as four numbers of any length
    u: np.ndarray  # (n, n)
    tau: np.ndarray  # (n, n): the inverse of the mass matrix, on closed loops what the constraints leave of it
    states: np.ndarray  # (n, first-order states)
    inputs: np.ndarray  # (n, inputs)


def derivatives(system: System, t: float, q: Numbers, u: Numbers, inputs: Mapping[str, float] | None, tau, loads) -> Derivatives:
    """See `System.derivatives`."""
    slopes = pointer_entry("slopes")
    if slopes is None:
        raise RuntimeError("derivatives need compiled kernels: unset NUMBA_DISABLE_JIT")
    instance, c = system._fast, system.compiled
    instance.set_state(q, u, inputs, loads, tau)
    instance.call("accelerations", 0, t)  # names the body if there is no solution
    ends = np.cumsum([len(c.coordinates), system.n, system.n, len(c.states), len(c.inputs)])
    found = np.empty((int(ends[-1]), system.n))
    wide = instance.wide(DUAL_STRIDE)
    blocks = (instance.ints.ctypes.data, c.floats.ctypes.data, instance.work.ctypes.data, wide.ctypes.data)
    check_status(slopes(*blocks, t, 0, -1, found.ctypes.data), instance.ws.head, c)
    instance.keep(DUAL_STRIDE, wide)
    return Derivatives(*(part.T.copy() for part in np.split(found, ends[:-1])))
