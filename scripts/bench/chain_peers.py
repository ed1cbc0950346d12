"""Other integrators of linear chains under piecewise linear forces: scipy expm and Radau, CVODE,
Runge-Kutta.

Each peer is used in its most favourable way: expm with one augmented matrix for both force
coefficients and a preallocated loop; the adaptive methods with a compiled right-hand side, banded
or sparse Jacobians (position and velocity of a mass stored side by side), and the knots of the
force as largest step.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.integrate import Radau
from scipy.linalg import expm
from scipy.signal import lsim
from scipy.sparse import csc_matrix


class Case(NamedTuple):
    """A chain at rest with forces at two coordinates, given at steps + 1 times."""

    mass: np.ndarray
    damping: np.ndarray
    stiffness: np.ndarray
    channels: tuple[int, ...]
    force: np.ndarray  # (steps + 1, channels)
    dt: float
    ratio: float

    @property
    def steps(self) -> int:
        return len(self.force) - 1


def first_order(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """Return A and B of the first-order system y' = A y + B f with y = (x, v)."""
    n = len(case.mass)
    A, B = np.zeros((2 * n, 2 * n)), np.zeros((2 * n, len(case.channels)))
    A[:n, n:] = np.eye(n)
    A[n:, :n], A[n:, n:] = -case.stiffness / case.mass[:, None], -case.damping / case.mass[:, None]
    for i, channel in enumerate(case.channels):
        B[n + channel, i] = 1.0 / case.mass[channel]
    return A, B


def exponential(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """Return D_0 and the force terms of every step, from the matrix exponential of the augmented
    system.
    """
    A, B = first_order(case)
    size, count = B.shape
    G = np.zeros((size + 2 * count, size + 2 * count))
    G[:size, :size], G[:size, size : size + count], G[size : size + count, size + count :] = (
        A * case.dt,
        B * case.dt,
        np.eye(count),
    )
    E = expm(G)
    first, second = E[:size, size : size + count].T, E[:size, size + count :].T
    return np.ascontiguousarray(E[:size, :size].T), case.force[:-1] @ first + np.diff(
        case.force, axis=0
    ) @ second


def by_expm(case: Case) -> np.ndarray:
    """Return (x, v) at all knots, computed by one product of matrix and vector per step."""
    D, driven = exponential(case)
    y = np.zeros((case.steps + 1, len(D)))
    for j in range(case.steps):
        y[j + 1] = y[j] @ D + driven[j]
    return y


def by_blocks(case: Case, block: int = 4) -> np.ndarray:
    """Return (x, v) at all knots, computed in blocks of several steps with powers of D_0."""
    D, driven = exponential(case)
    size, starts = len(D), range(0, case.steps - block + 1, block)
    y = np.zeros((case.steps + 1, size))
    far, inner = (
        np.linalg.matrix_power(D, block),
        driven[: len(starts) * block].reshape(-1, block, size),
    )
    sums = inner[:, 0]
    for i in range(1, block):
        sums = sums @ D + inner[:, i]
    for k, j in enumerate(starts):
        y[j + block] = y[j] @ far + sums[k]
    knots = y[: len(starts) * block : block]
    for i in range(1, block):
        knots = knots @ D + inner[:, i - 1]
        y[i : len(starts) * block : block] = knots
    for j in range(len(starts) * block, case.steps):
        y[j + 1] = y[j] @ D + driven[j]
    return y


def by_lsim(case: Case) -> np.ndarray:
    """Return (x, v) at all knots, computed by scipy.signal.lsim, a general function for the same
    task.
    """
    A, B = first_order(case)
    return lsim(
        (A, B, np.eye(len(A)), np.zeros((len(A), len(case.channels)))),
        case.force,
        case.dt * np.arange(case.steps + 1),
    )[1]


@cache
def compiled(width: int) -> tuple[Callable, Callable]:
    """Return the compiled right-hand side and the classical Runge-Kutta loop for bands of a
    half-width.
    """

    @njit
    def rate(out, y, t, start, dt, f0, f1, channels, band, damping, mass):
        """Write the rates in the order x_1, v_1, x_2, v_2, .. to `out`; `band` and `damping` hold
        diagonals (2 width + 1 per row).
        """
        n, s = len(mass), (t - start) / dt
        for i in range(n):
            a = 0.0
            for d in range(-width, width + 1):
                if 0 <= i + d < n:
                    a -= (
                        band[i, d + width] * y[2 * (i + d)]
                        + damping[i, d + width] * y[2 * (i + d) + 1]
                    )
            out[2 * i] = y[2 * i + 1]
            out[2 * i + 1] = a / mass[i]
        for k in range(len(channels)):
            i = channels[k]
            out[2 * i + 1] += (f0[k] + s * (f1[k] - f0[k])) / mass[i]

    @njit
    def march(result, force, dt, substeps, channels, band, damping, mass):
        """Integrate through all knots with a fixed number of Runge-Kutta substeps per knot
        interval.
        """
        size = 2 * len(mass)
        k, y, z = np.zeros((4, size)), np.zeros(size), np.zeros(size)
        h = dt / substeps
        for j in range(len(result) - 1):
            for i in range(substeps):
                t = j * dt + i * h
                for stage in range(4):
                    part = h * (0.0 if stage == 0 else 0.5 if stage < 3 else 1.0)
                    for m in range(size):
                        z[m] = y[m] + (part * k[stage - 1, m] if stage else 0.0)
                    rate(
                        k[stage],
                        z,
                        t + part,
                        j * dt,
                        dt,
                        force[j],
                        force[j + 1],
                        channels,
                        band,
                        damping,
                        mass,
                    )
                for m in range(size):
                    y[m] += h / 6.0 * (k[0, m] + 2.0 * k[1, m] + 2.0 * k[2, m] + k[3, m])
            result[j + 1] = y

    return rate, march


def diagonals(full: np.ndarray, width: int) -> np.ndarray:
    """Return a banded matrix as rows of 2 width + 1 entries."""
    n = len(full)
    band = np.zeros((n, 2 * width + 1))
    for d in range(-width, width + 1):
        i = np.arange(max(0, -d), min(n, n - d))
        band[i, d + width] = full[i, i + d]
    return band


def half_width(case: Case) -> int:
    """Return the number of diagonals of stiffness and damping on either side of the main diagonal."""
    rows, columns = np.nonzero((case.stiffness != 0) | (case.damping != 0))
    return int(np.abs(rows - columns).max(initial=0))


def right_side(case: Case, j: int) -> Callable:
    """Return the compiled right-hand side f(t, y, out) on knot interval j."""
    width = half_width(case)
    band, damping = diagonals(case.stiffness, width), diagonals(case.damping, width)
    start, f0, f1, channels = j * case.dt, case.force[j], case.force[j + 1], np.array(case.channels)

    rate, _ = compiled(width)

    def rhs(t, y, out):
        rate(out, y, t, start, case.dt, f0, f1, channels, band, damping, case.mass)

    return rhs


def returning(side: Callable) -> Callable:
    """Return the right-hand side in the form of scipy, which returns the rates in a new array."""

    def rhs(t, y):
        out = np.empty_like(y)
        side(t, y, out)
        return out

    return rhs


def jacobian(case: Case) -> np.ndarray:
    """Return the Jacobian of the first-order system in the interleaved order x_1, v_1, x_2, v_2,
    ...
    """
    A = first_order(case)[0]
    n = len(case.mass)
    order = np.arange(2 * n).reshape(2, n).T.reshape(-1)
    return A[np.ix_(order, order)]


def by_radau(case: Case, tolerance: float, knots: int) -> np.ndarray:
    """Return (x, v) at the first knots, computed by scipy's Radau; the step size is carried from
    one interval to the next.
    """
    n = len(case.mass)
    y, h, result = np.zeros(2 * n), None, [np.zeros(2 * n)]
    jac = csc_matrix(jacobian(case))
    for j in range(knots):
        start = j * case.dt
        stepper = Radau(
            returning(right_side(case, j)),
            start,
            y,
            start + case.dt,
            rtol=tolerance,
            atol=1e-3 * tolerance,
            first_step=h and min(h, case.dt),
            jac=jac,
        )
        while stepper.status == "running":
            stepper.step()
            h = stepper.step_size if stepper.status == "running" else h
        y = stepper.y
        result.append(y)
    return plain(np.array(result))


def by_cvode(case: Case, tolerance: float, knots: int) -> np.ndarray:
    """Return (x, v) at the first knots, computed by CVODE (BDF, banded Jacobian)."""
    from sksundae.cvode import CVODE

    J = jacobian(case)
    y, result = np.zeros(len(J)), [np.zeros(len(J))]

    def jac(t, y, yp, JJ):
        JJ[:] = J

    band = 2 * half_width(case) + 1
    options = {
        "jacfn": jac,
        "linsolver": "band",
        "lband": band,
        "uband": band,
        "rtol": tolerance,
        "atol": 1e-3 * tolerance,
        "max_num_steps": 10**7,
    }
    for j in range(knots):
        solver = CVODE(right_side(case, j), **options)
        y = solver.solve(np.array([j * case.dt, (j + 1) * case.dt]), y).y[-1]
        result.append(y)
    return plain(np.array(result))


def plain(y: np.ndarray) -> np.ndarray:
    """Return rows in the interleaved order x_1, v_1, ... as rows (x, v)."""
    return np.hstack((y[:, ::2], y[:, 1::2]))


def by_rk4(case: Case, tolerance: float, knots: int) -> np.ndarray:
    """Return (x, v) at the first knots, computed by compiled Runge-Kutta steps; the substep h
    follows from omega*h = (120 tolerance)^(1/4), at most 2.5 for stability.
    """
    h = min(2.5, (120.0 * tolerance) ** 0.25)
    result = np.zeros((knots + 1, 2 * len(case.mass)))
    substeps = int(np.ceil(0.1 * case.ratio / h))
    width = half_width(case)
    band, damping = diagonals(case.stiffness, width), diagonals(case.damping, width)
    compiled(width)[1](
        result, case.force, case.dt, substeps, np.array(case.channels), band, damping, case.mass
    )
    return plain(result)
