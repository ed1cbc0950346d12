"""Exact derivatives of a mechanism, used by all analyses.

`Slopes` gives the Jacobian with rows (a, ẋ, outputs) and columns (y, v, x, w). Rows: accelerations
of the independent speeds, rates of the first-order states, chosen registers. Columns: local
coordinates (models/system/local_coordinates.py), independent speeds, states and inputs, along the
constraints (`tangents`). Derivatives are exact to rounding, by dual numbers in eight directions per
evaluation, O(N) each. At a kink of a law they are those of one side. If a derivative is not finite
(an infinitely steep law), or kernels run as plain Python, finite differences are used
(`finite_differences`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from kinetree.models.analysis.constrained_tangents import Tangents, allowed_tangents
from kinetree.models.analysis.finite_differences import DIFFERENCE_STEP, automatic_differences
from kinetree.models.engine.entry_points import pointer_entry
from kinetree.models.engine.flat_blocks import model_fields
from kinetree.models.engine.status import check_status
from kinetree.models.system.local_coordinates import Chart, Evaluation
from kinetree.solvers.layout import DUAL_STRIDE

if TYPE_CHECKING:
    from kinetree.models.engine.instance import Instance

LARGE_STEP = 1e3  # inputs and states mostly enter linearly, and small changes of large forces would drown in roundoff


class SlopeCall:
    """A prepared call of the entry point `slopes` on the memory blocks of an instance."""

    def __init__(self, instance: Instance, entry: Callable[..., int]):
        c, ws = instance.compiled, instance.ws
        self.compiled, self.head = c, ws.head
        self.n, self.nx = ws.u.size, ws.x.size
        self.plan, wide = plan_of(instance), instance.wide(DUAL_STRIDE)
        self.blocks = (
            instance.ints,
            c.floats,
            instance.work,
            wide,
        )  # addresses alone would not keep them alive
        self.call = partial(entry, *(block.ctypes.data for block in self.blocks))
        self.plan_at = self.plan.ctypes.data
        ends = np.cumsum([0, ws.q.size, self.n, self.n, self.nx, len(c.inputs)]).tolist()
        self.parts = [slice(*pair) for pair in pairwise(ends)]

    def __call__(self, t: float, registers: Sequence[int] | None) -> np.ndarray:
        if registers is None:
            chosen, count, width = 0, -1, self.n
        else:
            wanted = np.asarray(registers, dtype=np.int64)
            chosen, count, width = wanted.ctypes.data, wanted.size, self.n + self.nx + wanted.size
        found = np.empty((len(self.plan), width))
        if found.size:
            status = self.call(t, self.plan_at, chosen, count, found.ctypes.data)
            if status != 0:
                check_status(status, self.head, self.compiled)
        return found.T


def slope_call(instance: Instance) -> SlopeCall | None:
    """Return the prepared call of an instance; None if kernels run as plain Python."""
    if instance.slope_call is None:
        entry = pointer_entry("slopes")
        instance.slope_call = None if entry is None else SlopeCall(instance, entry)
    return instance.slope_call


def dual_slopes(
    instance: Instance, t: float, registers: Sequence[int] | None = None
) -> np.ndarray | None:
    """Return the Jacobian of u̇ (and ẋ, registers) by q, u, forces, x, inputs at an instance's
    state.

    Its accelerations must have been computed just before. None if kernels run as plain Python.
    """
    call = slope_call(instance)
    return None if call is None else call(t, registers)


def plan_of(instance: Instance) -> np.ndarray:
    """Return the step plan: all directions of differentiation with the first body each moves,
    sorted by joints.
    """
    ws, model = instance.ws, model_fields(instance.ints, instance.compiled.floats)
    nq, nu, bodies = ws.q.size, ws.u.size, model.parent.size
    places = [
        (k, 1) for k in range(nq + 2 * nu, nq + 2 * nu + ws.x.size + len(instance.compiled.inputs))
    ]
    for i in range(1, bodies):
        places += [(k, i) for k in range(model.q_at[i], model.q_at[i + 1])]
        places += [(nq + j, i) for j in range(model.u_at[i], model.u_at[i + 1])]
    places += [(nq + nu + j, bodies) for j in range(nu)]
    return np.array(places, dtype=np.int64).reshape(-1, 2)


class Slopes:
    """Derivatives about one state: a local chart, the independent speeds v, the states x, the
    inputs of the evaluation.

    By default the tangent directions have as many positions as speeds, and nothing depends on
    states and inputs.
    """

    def __init__(
        self, evaluation: Evaluation, chart: Chart, v: np.ndarray, x: np.ndarray, registers: Sequence[int] = (), along: Tangents | None = None,
        u: np.ndarray | None = None,
    ):  # fmt: skip
        self.evaluation, self.chart, self.v, self.x, self.registers = (
            evaluation,
            chart,
            v,
            x,
            list(registers),
        )
        self.u = chart.T @ v if u is None else u
        self._along = along
        self.exact = False

    @property
    def along(self) -> Tangents:
        """Return the tangent directions along which the state may change."""
        if self._along is None:
            self._along = allowed_tangents(self.evaluation, self.chart, self.u, self.x)
        return self._along

    def matrix(self) -> np.ndarray:
        """Return the Jacobian of (a, ẋ, registers) by (y, v, x, w)."""
        found = self.by_duals()
        self.exact = found is not None
        return self.by_differences() if found is None else found

    def by_duals(self) -> np.ndarray | None:
        """Return exact derivatives, or None if they are not available."""
        evaluation, chart, along = self.evaluation, self.chart, self.along
        evaluation.call(
            "accelerations", chart.q, self.u, self.x
        )  # names the body if there is no solution
        raw = dual_slopes(evaluation.instance, evaluation.t, self.registers)
        if raw is None:
            return None
        nq, n, nx = chart.q.size, evaluation.system.n, self.x.size
        by_q, by_u, _, by_x, by_w = np.split(raw, np.cumsum([nq, n, n, nx]), axis=1)
        with np.errstate(
            invalid="ignore"
        ):  # a law without end to its steepness: by differences then
            found = by_q @ chart.rates() @ along.places + by_u @ along.speeds
            found[:, along.coordinates.size + along.independent.size :] += np.hstack((by_x, by_w))
        found = found[[*chart.independent, *range(n, raw.shape[0])]]
        return found if np.isfinite(found).all() else None

    def by_differences(self) -> np.ndarray:
        """Return derivatives by finite differences."""
        z = np.concatenate((self.x, self.evaluation.inputs))
        p, nx = self.along.places.shape[1] - z.size, self.x.size

        def response(change: np.ndarray) -> np.ndarray:
            return self.response(change, z[:nx] + change[p : p + nx], z[nx:] + change[p + nx :])

        first = self.along.coordinates.size
        sizes = np.concatenate(
            (
                np.ones(first),
                np.maximum(1.0, np.abs(self.v)),
                LARGE_STEP * np.maximum(1.0, np.abs(z)),
            )
        )
        return automatic_differences(response, np.zeros(p + z.size), DIFFERENCE_STEP * sizes)

    def response(self, change: np.ndarray, x: np.ndarray, inputs: np.ndarray) -> np.ndarray:
        """Return independent accelerations, rates of the states and registers after a change along
        the tangent directions.
        """
        place, ws = (
            self.chart.moved(self.chart.q, self.along.places @ change),
            self.evaluation.instance.ws,
        )
        self.evaluation.call(
            "outputs" if self.registers else "accelerations",
            place,
            self.u + self.along.speeds @ change,
            x,
            inputs,
        )
        return np.concatenate((ws.udot[self.chart.independent], ws.xdot, ws.val[self.registers]))


def derivatives_of(instance: Instance, t: float) -> list[np.ndarray]:
    """Return the derivatives of u̇ by q, u, forces, states and inputs at an evaluated instance."""
    call = slope_call(instance)
    if call is None:
        raise RuntimeError("derivatives need compiled kernels: unset NUMBA_DISABLE_JIT")
    raw = call(t, None)
    return [raw[:, part] for part in call.parts]
