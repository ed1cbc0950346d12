"""Excitation within a step as a polynomial: f(t) = sum_k beta_k theta^(k-1), theta = (t_{j+1} -
t)/dt in 0..1, so that b_k dt^k D_k = dt beta_k D_k.

Shapes: constant (one value per step), linear (values at both ends), parabolic (a third value in the
middle) and spline (cubic through the nodes, end slopes from five nodes).
"""

from collections.abc import Callable
from math import comb

import numpy as np

from kinetree.solvers.chain.coefficients import ChainError

SHAPES = {"constant": 1, "linear": 2, "parabolic": 3, "spline": 4}


def samples(
    force, channels: int, dt: float, start_time: float, steps: int, shape: str | None
) -> tuple[np.ndarray, str]:
    """Return node values (rows = nodes) and the shape: from a function of time, an array of node
    values or one constant row.
    """
    if callable(force):
        shape = shape or "parabolic"
        nodes = {"constant": steps, "parabolic": 2 * steps + 1}.get(shape, steps + 1)
        at = start_time + dt * (np.arange(nodes) + (0.5 if shape == "constant" else 0.0)) / (
            2 if shape == "parabolic" else 1
        )
        values = np.array([np.atleast_1d(np.asarray(force(t), dtype=float)) for t in at]).reshape(
            nodes, -1
        )
    else:
        values = np.asarray(force, dtype=float)
        if values.ndim < 2 and values.size == channels and shape in (None, "constant"):
            shape, values = "constant", np.broadcast_to(values.reshape(-1), (steps, channels))
        elif values.ndim == 1:
            values = values[:, None]
    shape = shape or {steps: "constant", steps + 1: "linear", 2 * steps + 1: "parabolic"}.get(
        len(values)
    )
    nodes = {
        "constant": steps,
        "linear": steps + 1,
        "spline": steps + 1,
        "parabolic": 2 * steps + 1,
    }.get(shape)
    if nodes is None or len(values) != nodes or values.ndim != 2:
        rows = (
            f"{steps} (constant), {steps + 1} (linear, spline) or {2 * steps + 1} (parabolic) rows"
        )
        raise ChainError(f"force: expected a function or {rows}, got shape {values.shape}")
    if not np.isfinite(values).all():
        raise ChainError("force: contains NaN or infinity")
    return values, shape


def coefficients(values: np.ndarray, shape: str) -> np.ndarray:
    """Return the polynomial coefficients beta (steps, p, channels) of all steps from node values of
    the excitation.
    """
    if shape == "constant":
        return values[:, None, :]
    if shape == "parabolic":
        before, middle, after = values[:-2:2], values[1::2], values[2::2]
        return np.stack(
            (after, -3 * after + 4 * middle - before, 2 * (after - 2 * middle + before)), axis=1
        )
    before, after = values[:-1], values[1:]
    if shape == "linear" or len(values) < 5:
        return np.stack((after, before - after), axis=1)
    slope = slopes(values)
    s0, s1 = slope[:-1], slope[1:]
    return np.stack(
        (after, -s1, 3 * (before - after) + 2 * s1 + s0, 2 * (after - before) - s1 - s0), axis=1
    )


def part(beta: np.ndarray, begin: float, size: float) -> np.ndarray:
    """Return beta (p, channels) of the part of a step from `begin` to `begin + size` (fractions of
    the step): theta = 1 - begin - size + size*theta'.
    """
    p, rest = len(beta), 1.0 - begin - size
    shift = np.array(
        [
            [comb(k, i) * rest ** (k - i) * size**i if i <= k else 0.0 for k in range(p)]
            for i in range(p)
        ]
    )
    return shift @ beta


def slopes(values: np.ndarray) -> np.ndarray:
    """Return the derivatives per step of the cubic spline at the nodes: s_{i-1} + 4 s_i + s_{i+1} =
    3 (f_{i+1} - f_{i-1}).
    """
    ends = np.array([-25.0, 48.0, -36.0, 16.0, -3.0]) / 12.0
    slope = np.empty_like(values)
    slope[0], slope[-1] = ends @ values[:5], -ends @ values[:-6:-1]
    right = 3.0 * (values[2:] - values[:-2])
    right[0] -= slope[0]
    right[-1] -= slope[-1]
    pivots = np.empty(len(right))
    pivots[0] = 4.0
    for i in range(1, len(right)):
        pivots[i] = 4.0 - 1.0 / pivots[i - 1]
        right[i] -= right[i - 1] / pivots[i - 1]
    slope[-2] = right[-1] / pivots[-1]
    for i in range(len(right) - 2, -1, -1):
        slope[i + 1] = (right[i] - slope[i + 2]) / pivots[i]
    return slope


def largest_step(
    force: Callable,
    start_time: float,
    stop_time: float,
    tolerance: float,
    shape: str = "parabolic",
    finest: int = 4096,
) -> float:
    """Return the largest step (stop_time - start_time)/2^i at which the interpolated force has at
    most the (absolute) error `tolerance` at the quarter points of every step.
    """
    steps = 4
    while steps <= finest:
        dt = (stop_time - start_time) / steps
        values, _ = samples(force, 0, dt, start_time, steps, shape)
        beta = coefficients(values, shape)
        worst = 0.0
        for theta in (0.25, 0.75):
            exact = np.array(
                [np.atleast_1d(force(start_time + dt * (j + 1 - theta))) for j in range(steps)]
            )
            powers = theta ** np.arange(beta.shape[1])
            worst = max(worst, float(np.abs(np.tensordot(powers, beta, (0, 1)) - exact).max()))
        if worst <= tolerance:
            return dt
        steps *= 2
    raise ChainError(f"force: {finest} {shape} pieces do not follow it within {tolerance:g}")
