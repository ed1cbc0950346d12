"""The one service for slopes: everything here that needs derivatives of a mechanism asks for them here.

`Slopes` gives the rows (a, ẋ, outputs) by the columns (y, v, x, w): accelerations of the independent speeds, rates of the first-order states and
chosen registers, by local coordinates (models/system/chart.py), independent speeds, states and inputs. They are exact to rounding, by dual numbers in
eight directions an evaluation, O(N) each. Where a law has a corner they are those of one side. Where a slope is not finite (a law that is infinitely
steep), or kernels run in plain Python, differences of fourth order stand in, whose step is shortened until the second and the fourth order agree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from kinetree.models.compilation.blocks import model_fields
from kinetree.models.run.engine import pointer_entry
from kinetree.models.run.status import check_status
from kinetree.models.system.chart import Chart, Evaluation
from kinetree.solvers.layout import DUAL_STRIDE

if TYPE_CHECKING:
    from kinetree.models.run.instance import Instance

STEP = 1e-3  # m, rad, m/s, rad/s: fifth root of the unit roundoff
LARGE = 1e3  # inputs and states mostly enter linearly, and small changes of large forces would drown in roundoff
FINER = (1.0, 0.1, 1e-2, 1e-3)  # factors of the step that are tried in turn
AGREE = 1e-5  # relative difference of the orders at which the fourth order is good to about its square


class SlopeCall:
    """The entry `slopes` on the blocks of an instance, prepared once."""

    def __init__(self, instance: Instance, entry: Callable[..., int]):
        c, ws = instance.compiled, instance.ws
        self.compiled, self.head = c, ws.head
        self.n, self.nx = ws.u.size, ws.x.size
        self.plan, wide = plan_of(instance), instance.wide(DUAL_STRIDE)
        self.blocks = instance.ints, c.floats, instance.work, wide  # addresses alone would not keep them alive
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
    """The prepared call of an instance; None where kernels run in plain Python."""
    if instance.slope_call is None:
        entry = pointer_entry("slopes")
        instance.slope_call = None if entry is None else SlopeCall(instance, entry)
    return instance.slope_call


def dual_slopes(instance: Instance, t: float, registers: Sequence[int] | None = None) -> np.ndarray | None:
    """Rows u̇ (and, unless `registers` is None, ẋ and registers) by columns q, u, forces along u, x, inputs at the state an instance holds.

    Its accelerations must have been asked for just before. None where kernels run in plain Python.
    """
    call = slope_call(instance)
    return None if call is None else call(t, registers)


def plan_of(instance: Instance) -> np.ndarray:
    """The plan of `solvers/numbers/seeds.py`: all directions, each with the first body that moves; joint by joint, what moves late comes late."""
    ws, model = instance.ws, model_fields(instance.ints, instance.compiled.floats)
    nq, nu, bodies = ws.q.size, ws.u.size, model.parent.size
    places = [(k, 1) for k in range(nq + 2 * nu, nq + 2 * nu + ws.x.size + len(instance.compiled.inputs))]
    for i in range(1, bodies):
        places += [(k, i) for k in range(model.q_at[i], model.q_at[i + 1])]
        places += [(nq + j, i) for j in range(model.u_at[i], model.u_at[i + 1])]
    places += [(nq + nu + j, bodies) for j in range(nu)]
    return np.array(places, dtype=np.int64).reshape(-1, 2)


class Slopes:
    """Derivatives about one state of a chart: its place, the independent speeds v, the states x, the inputs of the evaluation."""

    def __init__(self, evaluation: Evaluation, chart: Chart, v: np.ndarray, x: np.ndarray, registers: Sequence[int] = ()):
        self.evaluation, self.chart, self.v, self.x, self.registers = evaluation, chart, v, x, list(registers)
        self.exact = False

    def matrix(self) -> np.ndarray:
        """Rows (a, ẋ, registers) by columns (y, v, x, w)."""
        found = self.by_duals()
        self.exact = found is not None
        return self.by_differences() if found is None else found

    def by_duals(self) -> np.ndarray | None:
        """Exact slopes; None where there are none."""
        evaluation, chart = self.evaluation, self.chart
        evaluation.call("accelerations", chart.q, chart.T @ self.v, self.x)  # names the body if there is no solution
        raw = dual_slopes(evaluation.instance, evaluation.t, self.registers)
        if raw is None:
            return None
        nq, n, nx = chart.q.size, evaluation.system.n, self.x.size
        by_q, by_u, _, by_x, by_w = np.split(raw, np.cumsum([nq, n, n, nx]), axis=1)
        with np.errstate(invalid="ignore"):  # a law without end to its steepness: by differences then
            by_y = by_q @ chart.rates() @ chart.T
        if evaluation.system.compiled.loops and self.v.any():
            by_y += by_u @ self.turning()
        rows = [*chart.independent, *range(n, raw.shape[0])]
        found = np.hstack((by_y, by_u @ chart.T, by_x, by_w))[rows]
        return found if np.isfinite(found).all() else None

    def turning(self) -> np.ndarray:
        """∂u/∂y in a moving closed loop: the tangent turns with the position."""
        chart = self.chart
        y = np.zeros(chart.independent.size)
        return differences(lambda y: chart.speeds(chart.position(y), self.v), y, np.full(y.size, STEP))

    def by_differences(self) -> np.ndarray:
        """The fallback."""
        f, nx = self.v.size, self.x.size
        z = np.concatenate((np.zeros(f), self.v, self.x, self.evaluation.inputs))
        steps = STEP * np.maximum(1.0, np.abs(z))
        steps[:f] = STEP
        steps[2 * f :] *= LARGE
        independent, ws = self.chart.independent, self.evaluation.instance.ws

        def response(z: np.ndarray) -> np.ndarray:
            place = self.chart.position(z[:f]) if z[:f].any() else self.chart.q
            speeds = self.chart.speeds(place, z[f : 2 * f])
            self.evaluation.call("outputs" if self.registers else "accelerations", place, speeds, z[2 * f : 2 * f + nx], z[2 * f + nx :])
            return np.concatenate((ws.udot[independent], ws.xdot, ws.val[self.registers]))

        return differences(response, z, steps)


def differences(function: Callable[[np.ndarray], np.ndarray], z: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """Matrix of derivatives; every column takes the first step at which second and fourth order agree, or where they agree best."""
    columns = [column(function, z, k, steps[k]) for k in range(z.size)]
    return np.column_stack(columns) if columns else np.zeros((function(z).size, 0))


def column(function: Callable[[np.ndarray], np.ndarray], z: np.ndarray, k: int, step: float) -> np.ndarray:
    """Derivatives by one number."""
    best, least = np.zeros(0), np.inf
    for factor in FINER:
        h = (z[k] + step * factor) - z[k]  # exactly representable
        near, far = (0.5 * (at(function, z, k, r * h) - at(function, z, k, -r * h)) / h for r in (1, 2))
        fourth = (4.0 * near - 0.5 * far) / 3.0
        top = np.abs(fourth).max(initial=0.0)
        apart = np.abs(fourth - near).max(initial=0.0) / top if top > 0.0 else 0.0
        if apart < least:
            best, least = fourth, apart
        if least <= AGREE:
            break
    return best


def at(function: Callable[[np.ndarray], np.ndarray], z: np.ndarray, k: int, change: float) -> np.ndarray:
    """The function with one number changed."""
    moved = z.copy()
    moved[k] += change
    return function(moved)


def bounded_differences(
    function: Callable[[np.ndarray], np.ndarray], z: np.ndarray, steps: np.ndarray, low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """Central differences of whole runs, two a column; at a bound towards the inside."""
    columns = []
    for k in range(z.size):
        ends = [z.copy(), z.copy()]
        ends[0][k], ends[1][k] = max(z[k] - steps[k], low[k]), min(z[k] + steps[k], high[k])
        columns.append((function(ends[1]) - function(ends[0])) / (ends[1][k] - ends[0][k]))
    return np.column_stack(columns)


def derivatives_of(instance: Instance, t: float) -> list[np.ndarray]:
    """∂u̇ by q, u, forces along u, states and inputs, at the state of which an instance holds the accelerations."""
    call = slope_call(instance)
    if call is None:
        raise RuntimeError("derivatives need compiled kernels: unset NUMBA_DISABLE_JIT")
    raw = call(t, None)
    return [raw[:, part] for part in call.parts]
