"""Factors and solutions of radau's matrices on small cases: pivots that are taken and left, sums of every length, numbers near overflow."""

import numpy as np
import pytest

from kinetree.models.trace.symbolic_kernels import PlainKernels

LU = PlainKernels(symbolic=False).module("kinetree.solvers.integrate.linear_solver")


def solved(a: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, list[float]]:
    """Solution of a y = a x by real factors, and their pivots."""
    n = len(x)
    lu, pivots, b = a.ravel().copy(), np.full(n, np.nan), a @ x
    assert LU.factor(lu, pivots, n) == 0
    LU.solve(lu, pivots, n, b)
    return b, pivots.tolist()


def solved_complex(a: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, list[float]]:
    n, b = len(x), a @ x
    re, im, pivots, u, v = (
        a.real.ravel().copy(),
        a.imag.ravel().copy(),
        np.full(n, np.nan),
        b.real.copy(),
        b.imag.copy(),
    )
    assert LU.factor_complex(re, im, pivots, n) == 0
    LU.solve_complex(re, im, pivots, n, u, v)
    return u + 1j * v, pivots.tolist()


# patterns of 0 and 1 with the pivots they ask for: row numbers after a search, -1 - column where a row is its own pivot
CASES = {
    "diagonal": ([[2, 0], [0, 3]], [-1, -2]),
    "one beside": ([[2, 1, 0], [0, 3, 0], [4, 5, 6]], [-2, -2, 2]),
    "far beside": ([[2, 0, 0, 1], [0, 3, 1, 0], [4, 5, 6, 0], [1, 1, 0, 7]], [-4, -3, 2, 3]),
    "two beside": ([[2, 1, 1], [0, 3, 0], [1, 1, 4]], [0, -2, 2]),
    "left of it": ([[2, 1, 1], [1, 3, 0], [1, 1, 4]], [0, 1, 2]),
    "exchanged": ([[1, 2, 3], [4, 5, 6], [7, 8, 1]], [2, 2, 2]),
    "no diagonal": ([[0, 2], [3, 4]], [1, -2]),
    "small diagonal": ([[0.9e-4, 1, 0], [5, 1, 1], [1, 1, 8]], [1, 1, 2]),
    "large enough": ([[1.1e-4, 1, 0], [5, 1, 1], [1, 1, 8]], [-2, 1, 2]),
    "negative": ([[-2, 0, 1], [-9, 0.5, 1], [8, 1, 1]], [-3, 2, 2]),
    "zeros at the end": ([[1, 2, 3, 0], [3, 1, 1, 0], [1, 1, 5, 0], [2, 1, 1, 3]], [1, 1, 2, 3]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_pivots_of_small_matrices_match_reference(name: str):
    """The same of real matrices and of complex ones; the solution is right to the condition of the matrix, 1e5 at most."""
    rows, expected = CASES[name]
    a = np.array(rows, dtype=float)
    x = np.arange(1.0, len(a) + 1.0)
    found, pivots = solved(a, x)
    assert found == pytest.approx(x, rel=1e-10) and pivots == expected
    found, pivots = solved_complex(a * (0.6 + 0.8j), x * (1.0 - 2.0j))
    assert found == pytest.approx(x * (1.0 - 2.0j), rel=1e-10) and pivots == expected
    found, pivots = solved_complex(a * 1j, x * (1.0 - 2.0j))
    assert found == pytest.approx(x * (1.0 - 2.0j), rel=1e-10) and pivots == expected


def test_largest_column_entry_is_the_pivot():
    """Of complex numbers by the sum of both parts; of equal ones the first."""
    re, im = (
        np.array([[1.0, 2.0, 0.0], [-3.0, 1.0, 0.0], [2.0, 1.0, 4.0]]),
        np.array([[0.0, 1.0, 1.0], [0.0, 1.0, 0.0], [-1.5, 2.0, 1.0]]),
    )
    assert (
        LU.largest(re.ravel(), im.ravel(), 3, 0) == 2
        and LU.largest(re.ravel(), 0 * im.ravel(), 3, 0) == 1
    )
    assert (
        LU.largest(re.ravel(), im.ravel(), 3, 1) == 2
        and LU.largest(np.ones(9), np.ones(9), 3, 1) == 1
    )
    assert LU.largest(0 * re.ravel(), 0 * im.ravel(), 3, 0) == -1


def test_singular_matrices_are_reported():
    for rows in ([[0, 0], [1, 2]], [[0, 1], [0, 2]], [[1, 2, 3], [2, 4, 6], [1, 0, 1]]):
        a = np.array(rows, dtype=float)
        assert LU.factor(a.ravel().copy(), np.zeros(len(a)), len(a)) == 1
        assert LU.factor_complex(a.ravel().copy(), a.ravel().copy(), np.zeros(len(a)), len(a)) == 1


@pytest.mark.parametrize("first", [0, 2])
def test_dot_products_of_every_length_match_reference(first: int):
    row, b = (
        np.array([2.0 ** (k % 5) + k for k in range(16)]),
        np.array([1.0 + (k * k) % 7 for k in range(16)]),
    )
    re, im, u, v = row, row[::-1].copy(), b, b[::-1].copy()
    for last in range(first, 16):
        part = slice(first, last)
        assert LU.less(100.0, row, b, first, last) == 100.0 - row[part] @ b[part]
        z = 3.0 + 4.0j - (re + 1j * im)[part] @ (u + 1j * v)[part]
        assert LU.less_complex(3.0, 4.0, re, im, u, v, first, last) == (z.real, z.imag)


def test_linear_solver_skips_trailing_zeros():
    assert [
        LU.reach(np.array(row), 4) for row in ([1.0, 2, 3, 4], [1.0, 0, 3, 0], [1.0, 0, 0, 0])
    ] == [4, 3, 1]
    zero = np.zeros(4)
    assert (
        LU.reach_complex(np.array([1.0, 0, 0, 0]), np.array([0.0, 0, 2, 0]), 4)
        == 3
        == LU.reach_complex(np.array([1.0, 0, 3, 0]), zero, 4)
    )


def test_reciprocals_neither_overflow_nor_lose_a_part():
    for z in (
        3.0 + 4.0j,
        4.0 + 3.0j,
        -2.0 + 2.0j,
        5.0j,
        7.0 + 0.0j,
        1e-200 - 3e-200j,
        -3e200 + 1e200j,
    ):
        assert complex(*LU.reciprocal(z.real, z.imag)) == pytest.approx(1.0 / z, rel=1e-15)
