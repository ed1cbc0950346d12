"""The quadratic program of predictive control against all active sets of small problems, and its optimality conditions on larger ones."""

from itertools import product

import numpy as np
import pytest

from kinetree.models.trace.symbolic_kernels import PlainKernels
from kinetree.solvers.sampled import quadratic_program as Q

NONE = 1e300
KERNELS = PlainKernels(symbolic=False)  # as plain Python: compiling them takes longer
solve_program = KERNELS.kernel("sampled.quadratic_program", "solve_program")
program_scratch = KERNELS.kernel("sampled.quadratic_program", "program_scratch")


def solve(H, g, rows, low, high, compliance, m=1):
    n, p = g.size, len(rows)
    z, scratch = np.zeros(n), np.zeros(program_scratch(n, p))
    dense = rows.ravel().copy() if p else np.zeros(1)
    bounds = np.concatenate((low, high, compliance))
    count = solve_program(z, H.ravel().copy(), g.copy(), dense, bounds, n, m, p, scratch)
    return z, count


def coefficients(n, m, rows):
    """Return the coefficients of all rows: bounds, limits of change, dense rows."""
    return np.vstack((np.eye(n), np.eye(n) - np.eye(n, k=-m), rows))


def enumerated(H, g, A, low, high):
    """Return the best of the points that all choices of active bounds give: brute force."""
    best, found = np.inf, None
    for choice in product((0, -1, 1), repeat=len(A)):
        active = np.flatnonzero(choice)
        if active.size > len(g):
            continue
        E = A[active]
        e = np.where(np.array(choice)[active] < 0, low[active], high[active])
        if not np.isfinite(e).all() or np.abs(e).max(initial=0.0) > 1e100:
            continue
        K = np.block([[H, E.T], [E, np.zeros((active.size, active.size))]])
        if np.linalg.matrix_rank(K) < len(K):
            continue
        z = np.linalg.solve(K, np.concatenate((-g, e)))[: len(g)]
        if ((A @ z >= low - 1e-9) & (A @ z <= high + 1e-9)).all():
            value = 0.5 * z @ H @ z + g @ z
            if value < best:
                best, found = value, z
    return found


def problem(rng, n, m, p):
    root = rng.normal(size=(n, n))
    low = np.concatenate(
        (-rng.uniform(0.1, 1, n), -rng.uniform(0.3, 0.6, n), -rng.uniform(0.2, 1, p))
    )
    high = np.concatenate(
        (rng.uniform(0.1, 1, n), rng.uniform(0.3, 0.6, n), rng.uniform(0.2, 1, p))
    )
    return root @ root.T + 0.1 * np.eye(n), 4.0 * rng.normal(size=n), rng.normal(size=(p, n)), low, high  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_quadratic_program_finds_best_active_set(seed: int):
    H, g, rows, low, high = problem(np.random.default_rng(seed), 2, 1, 1)
    z, count = solve(H, g, rows, low, high, np.zeros(low.size))
    assert count > 0
    assert z == pytest.approx(enumerated(H, g, coefficients(2, 1, rows), low, high), abs=1e-8)


def test_quadratic_program_without_active_bounds_is_exact():
    H, g, rows, low, high = problem(np.random.default_rng(5), 6, 2, 3)
    z, count = solve(H, g, rows, low - 100.0, high + 100.0, np.zeros(low.size), 2)
    assert count == 1
    assert z == pytest.approx(-np.linalg.solve(H, g), rel=1e-11)


@pytest.mark.parametrize("soft", [0.0, 1e-2])
def test_quadratic_program_satisfies_optimality_conditions(soft: float):
    """The gradient is a combination of active rows with multipliers of the right signs; soft rows are exceeded by compliance times multiplier."""
    n, m, p = 14, 2, 6
    H, g, rows, low, high = problem(np.random.default_rng(11), n, m, p)
    compliance = np.concatenate((np.zeros(2 * n), np.full(p, soft)))
    z, count = solve(H, g, rows, low, high, compliance, m)
    assert 1 < count < Q.MAX_ITERATIONS
    A = coefficients(n, m, rows)
    A[n : n + m] = np.eye(n)[:m]
    value = A @ z
    hard = compliance == 0.0
    assert (value[hard] >= low[hard] - 1e-8).all() and (value[hard] <= high[hard] + 1e-8).all()
    push = np.zeros(
        len(A)
    )  # of soft rows from what they are exceeded by, of hard ones by least squares
    if soft:
        push[~hard] = (np.maximum(low - value, 0.0) - np.maximum(value - high, 0.0))[~hard] / soft
    active = hard & (np.minimum(value - low, high - value) < 1e-6)
    rest = H @ z + g - A[~hard].T @ push[~hard]
    push[active], *_ = np.linalg.lstsq(A[active].T, rest, rcond=None)
    assert A[active].T @ push[active] == pytest.approx(rest, abs=1e-5 * np.abs(g).max())
    at_low = (value - low < high - value)[active]
    assert (np.where(at_low, push[active], -push[active]) > -1e-5).all()


def test_indefinite_quadratic_program_is_refused():
    z, count = solve(-np.eye(2), np.ones(2), np.zeros((0, 2)), np.full(4, -NONE), np.full(4, NONE), np.zeros(4))  # fmt: skip
    assert count == Q.NOT_SOLVED
