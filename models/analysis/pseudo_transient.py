"""Pseudo-transient continuation: the equilibrium to which the damped motion itself leads.

Implicit Euler steps (1/h - A) Δz = ż of z = (y, v, x) with exact Jacobian A follow the motion for
short h, suppress its oscillations, and become Newton steps as h grows: tenfold if the linearised
step was accurate, a quarter if it was not. Slow states (leaking pressures, integrators) and laws
with kinks (valves at their centre) are followed to where they settle, which need not be the nearest
equilibrium.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinetree.models.analysis.exact_derivatives import Slopes
from kinetree.models.analysis.nominal_values import state_sizes
from kinetree.models.engine.status import EvaluationError
from kinetree.models.system.local_coordinates import Chart

if TYPE_CHECKING:
    from kinetree.models.analysis.statics import Search

FIRST, LONGEST, SHORTEST = 1e-3, 1e9, 1e-9  # steps in s
MAX_STEP = 0.3  # m or rad per step, part of its size per step for a state
WRONG, RIGHT = 0.5, 0.1  # what the linearised step leaves of itself
GROWTH, FALL = 10.0, 4.0
MAX_STEPS = 400
STILL = 1e-6  # m/s, rad/s


def relax(search: Search) -> bool:
    """Move an equilibrium search along the damped motion; return whether it came close to
    equilibrium.
    """
    v, h = np.zeros(0), FIRST
    for _ in range(MAX_STEPS):
        search.settle()
        v = v if v.size == search.f else np.zeros(search.f)
        if search.size < search.close and np.abs(v).max(initial=0.0) < STILL:
            return True
        rate, J = state_rates(search, search.chart, v, search.x), rate_slopes(search, v)
        while True:
            step = np.linalg.solve(np.eye(rate.size) / h - J, rate)
            moved = trial_step(search, v, step)
            left = (
                np.inf
                if moved is None
                else step_error(search, state_rates(search, *moved[1:]) - step / h, step, h)
            )
            if left <= WRONG or h < SHORTEST:
                break
            h /= FALL
        if moved is None:
            return False
        search.q, search.x, v = moved[0], moved[3], moved[2]
        if left <= RIGHT:
            h = min(h * GROWTH, LONGEST)
    return False


def polish_iterations(search: Search, iterations: int) -> int | None:
    """Iterate by full Newton steps, from near an equilibrium of any kind; return the number of
    iterations, or None if the residual does not become small.
    """
    for k in range(iterations):
        search.settle()
        if search.size == 0.0 or not search.polish():
            if not search.firm:
                return k if search.size < search.close else None
            search.firm = False
    return None


def state_rates(search: Search, chart: Chart, v: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return the rates ż at the position of a local chart."""
    n = search.system.n
    found = search.evaluation.rates(chart.q, chart.T @ v, x)
    states = np.where(search.firm & search.settling, 0.0, found[n:])
    return np.concatenate((v, found[:n][chart.independent], states))


def rate_slopes(search: Search, v: np.ndarray, x: np.ndarray | None = None) -> np.ndarray:
    """Return the Jacobian A of the rates at the position of the search, for its states or other
    ones.
    """
    f, nx = search.f, search.x.size
    A = np.zeros((2 * f + nx, 2 * f + nx))
    A[:f, f : 2 * f] = np.eye(f)
    A[f:] = Slopes(search.evaluation, search.chart, v, search.x if x is None else x).matrix()[
        :, : 2 * f + nx
    ]
    if search.firm:
        A[2 * f + np.flatnonzero(search.settling)] = 0.0
    return A


def trial_step(
    search: Search, v: np.ndarray, step: np.ndarray
) -> tuple[np.ndarray, Chart, np.ndarray, np.ndarray] | None:
    """Return position, chart, speeds and states after a step; None if the step is too long or
    cannot be evaluated.
    """
    f = search.f
    if not np.isfinite(step).all():
        return None
    sizes = state_sizes(search.system, search.x)
    if (
        np.abs(search.chart.T @ step[:f]).max(initial=0.0) > MAX_STEP
        or (np.abs(step[2 * f :]) > MAX_STEP * sizes).any()
    ):
        return None
    try:
        q, x = search.moved(np.concatenate((step[:f], step[2 * f :])))
        chart = Chart(search.system, search.t, q)
        return (q, chart, v + step[f : 2 * f], x) if chart.independent.size == f else None
    except EvaluationError:
        return None


def step_error(search: Search, wrong: np.ndarray, step: np.ndarray, h: float) -> float:
    """Return the relative error of the linearised step, states scaled by their sizes."""
    f = search.f
    speed = max(
        float(np.abs(step[f : 2 * f]).max(initial=0.0)),
        float(np.abs(step[:f]).max(initial=0.0)) / h,
    )
    sizes = np.concatenate(
        (np.ones(f), np.full(f, max(1.0, speed)), state_sizes(search.system, search.x))
    )
    size = float(np.abs(step / sizes).max(initial=0.0))
    return float(np.abs(h * wrong / sizes).max(initial=0.0)) / size if size > 0.0 else 0.0
