"""Tangent directions of the constraints: how dependent positions and speeds change with independent
ones, states and inputs.

Position rows g(q, x, w, t) = 0 allow δ = T_p y plus the changes that x and w cause; all rows, J u +
d(q, x, w, t) = 0, give J δu = -∂(J u + d)/∂(q, x, w): T v plus the change that the rotation of the
rows requires. Blades and rolling bodies restrict speeds only: for moving ones there are more
independent positions y than speeds v (J. I. Neimark, N. A. Fufaev, Dynamics of Nonholonomic
Systems, 1972). About an equilibrium y along the allowed speeds suffices. Derivatives are
differences of the row residuals, which are smooth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.linalg import qr

from kinetree.models.analysis.finite_differences import DIFFERENCE_STEP, automatic_differences
from kinetree.models.engine.flat_blocks import model_fields
from kinetree.solvers import layout as L

if TYPE_CHECKING:
    from kinetree.models.system.local_coordinates import Chart, Evaluation

MET = 1e-5  # part of what the turning rows ask for that no speeds give, where they contradict each other


class Tangents(NamedTuple):
    """Derivatives of the local coordinates δ of all speeds, and of the speeds, by the independent
    variables (y, v, x, w).
    """

    places: np.ndarray
    speeds: np.ndarray
    coordinates: np.ndarray  # speeds whose local coordinates are y
    independent: np.ndarray  # speeds that are v
    by_rates: np.ndarray  # changes of the speeds by the rates of the inputs that rows follow

    @property
    def driven(self) -> bool:
        """Return whether states or inputs change positions through velocity constraints."""
        return bool(self.speeds[:, self.coordinates.size + self.independent.size :].any())


def tangents(
    evaluation: Evaluation, chart: Chart, u: np.ndarray, x: np.ndarray, every_place: bool = False
) -> Tangents:
    """Return the tangent directions at a state that satisfies the constraints."""
    if not chart.system.compiled.loops:
        return unconstrained_tangents(chart, x.size + evaluation.inputs.size)
    rows = ConstraintRows(evaluation, chart, u, x)
    T, chosen = rows.place_tangent() if every_place else (chart.T, chart.independent)
    following = dependent_changes(rows.J[rows.positions], chosen, rows.by_values())
    turned = dependent_changes(rows.J, chart.independent, rows.turning(np.hstack((T, following))))
    return assembled_tangents(
        chart,
        T,
        chosen,
        following,
        turned,
        dependent_changes(rows.J, chart.independent, rows.by_rates()),
    )


def allowed_tangents(
    evaluation: Evaluation, chart: Chart, u: np.ndarray, x: np.ndarray
) -> Tangents:
    """Return the tangent directions with positions along the allowed speeds, at given states and
    inputs.
    """
    others = x.size + evaluation.inputs.size
    if not (chart.system.compiled.loops and u.any()):
        return unconstrained_tangents(chart, others)
    rows, nothing = ConstraintRows(evaluation, chart, u, x), np.zeros((u.size, others))
    turned = dependent_changes(
        rows.J, chart.independent, rows.turning(np.hstack((chart.T, nothing)))
    )
    turned[:, chart.independent.size :] = 0.0
    return assembled_tangents(chart, chart.T, chart.independent, nothing, turned)


def unconstrained_tangents(chart: Chart, others: int) -> Tangents:
    """Return the tangent directions of an unconstrained system without quaternions."""
    nothing = np.zeros((chart.system.n, others))
    return assembled_tangents(
        chart, chart.T, chart.independent, nothing, np.hstack((0.0 * chart.T, nothing))
    )


def assembled_tangents(
    chart: Chart,
    T: np.ndarray,
    chosen: np.ndarray,
    following: np.ndarray,
    turned: np.ndarray,
    by_rates: np.ndarray | None = None,
) -> Tangents:
    """Return the tangent directions with all columns: positions, speeds, states and inputs."""
    n, p = T.shape
    places = np.hstack((T, 0.0 * chart.T, following))
    speeds = np.hstack((turned[:, :p], chart.T, turned[:, p:]))
    return Tangents(
        places,
        speeds,
        chosen,
        chart.independent,
        np.zeros((n, 0)) if by_rates is None else by_rates,
    )


class ConstraintRows:
    """The constraint rows at a state: their Jacobian J and the derivatives of their residuals."""

    def __init__(self, evaluation: Evaluation, chart: Chart, u: np.ndarray, x: np.ndarray):
        self.evaluation, self.chart, self.u, self.x = evaluation, chart, u, x
        fields = model_fields(chart.system.compiled.ints, chart.system.compiled.floats)
        self.positions = np.repeat(fields.l_level == L.POSITIONS, np.diff(fields.l_row))
        still = self.residual(1, chart.q, np.zeros(u.size))
        self.J = np.column_stack(
            [self.residual(1, chart.q, column) - still for column in np.eye(u.size)]
        )  # residuals of speeds are linear in them

    def residual(
        self,
        level: int,
        q: np.ndarray,
        u: np.ndarray,
        x: np.ndarray | None = None,
        inputs: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return the residuals of all rows at position (`level` 0) or velocity level (1)."""
        return self.evaluation.residuals(level, q, u, self.x if x is None else x, inputs)

    def place_tangent(self) -> tuple[np.ndarray, np.ndarray]:
        """Return a basis of the directions that the position rows allow, and the speeds whose local
        coordinates serve as independent ones.
        """
        J = self.J[self.positions]
        J = J / np.maximum(np.linalg.norm(J, axis=1, keepdims=True), 1e-300)
        free = self.chart.system.position_freedoms
        basis = np.linalg.svd(J)[2][self.u.size - free :].T if len(J) else np.eye(self.u.size)
        _, order = qr(basis.T, mode="r", pivoting=True)  # type: ignore[misc]
        chosen = np.sort(order[:free])
        T = np.linalg.solve(basis[chosen].T, basis.T).T
        T[chosen] = np.eye(free)
        return T, chosen

    def by_values(self) -> np.ndarray:
        """Return the derivatives of the position rows by states and inputs."""
        nx = self.x.size

        def response(values: np.ndarray) -> np.ndarray:
            return self.residual(0, self.chart.q, self.u, values[:nx], values[nx:])[self.positions]

        values = np.concatenate((self.x, self.evaluation.inputs))
        return automatic_differences(
            response, values, DIFFERENCE_STEP * np.maximum(1.0, np.abs(values))
        )

    def turning(self, places: np.ndarray) -> np.ndarray:
        """Return the derivatives of the row rates at fixed speeds by y, states and inputs; `places`
        are the position directions.
        """
        nx, beside = self.x.size, np.concatenate((self.x, self.evaluation.inputs))
        p = places.shape[1] - beside.size

        def response(z: np.ndarray) -> np.ndarray:
            values = beside + z[p:]
            return self.residual(
                1, self.chart.moved(self.chart.q, places @ z), self.u, values[:nx], values[nx:]
            )

        steps = DIFFERENCE_STEP * np.concatenate((np.ones(p), np.maximum(1.0, np.abs(beside))))
        return automatic_differences(response, np.zeros(places.shape[1]), steps)

    def by_rates(self) -> np.ndarray:
        """Return the derivatives of the constraint row rates by time derivatives of the inputs."""
        columns, still = [], self.residual(1, self.chart.q, self.u)
        for k in self.evaluation.rated:
            with self.evaluation.moving_input(k, rate=1.0):
                columns.append(self.residual(1, self.chart.q, self.u) - still)
        return np.array(columns).reshape(-1, still.size).T


def dependent_changes(J: np.ndarray, independent: np.ndarray, change: np.ndarray) -> np.ndarray:
    """Return the changes of the dependent variables that compensate a change of the rows."""
    n = J.shape[1]
    dependent = np.setdiff1d(np.arange(n), independent)
    found = np.zeros((n, change.shape[1]))
    if dependent.size and change.any():
        found[dependent] = np.linalg.lstsq(J[:, dependent], -change, rcond=None)[0]
        left = np.abs(J @ found + change).max(initial=0.0)
        if left > MET * np.abs(change).max():
            raise ValueError(
                "no small motions here: constraint rows that depend on each other at this position contradict each other beside it"
            )
    return found
