"""Kernels on rows of a flat array stored one after another: weighted sums of rows, sums of products
along a row, columns across three rows.
"""

from kinetree.solvers.kernel import kernel


@kernel
def add_row(out, to, factor, numbers, row, n):
    """Add `factor` times the n values from index `row` of `numbers` to `out` from index `to` on."""
    for k in range(n):
        out[to + k] += factor * numbers[row + k]


@kernel
def copy_row(out, to, one, numbers, row, n):
    """Copy n values from index `row` of `numbers` to `out` from index `to` on; `one` is 1 in the
    number type of the workspace.
    """
    for k in range(n):
        out[to + k] = one * numbers[row + k]


@kernel
def weighted(out, to, factors, first, rows, numbers, start, n):
    """Add the weighted sum of `rows` rows of n values to `out`; four rows are added per pass over
    `out`.
    """
    a = 0
    while a + 4 <= rows:
        one, two = factors[first + a], factors[first + a + 1]
        three, four = factors[first + a + 2], factors[first + a + 3]
        r = start + n * a
        for k in range(n):
            out[to + k] += (one * numbers[r + k] + two * numbers[r + n + k]) + (
                three * numbers[r + 2 * n + k] + four * numbers[r + 3 * n + k]
            )
        a += 4
    while a < rows:
        add_row(out, to, factors[first + a], numbers, start + n * a, n)
        a += 1


@kernel
def add_three(out, to, factors, numbers, row, stride, n):
    """Add the weighted sum of three rows of n values, which begin `stride` elements apart, to
    `out`.
    """
    x, y, z = factors
    for k in range(n):
        out[to + k] += (
            x * numbers[row + k] + y * numbers[row + stride + k] + z * numbers[row + 2 * stride + k]
        )


@kernel
def sum_along(values, at, factors, first, n):
    """Return the sum of the products of n values and n factors."""
    total = 0.0 * factors[first]
    for k in range(n):
        total += values[at + k] * factors[first + k]
    return total


@kernel
def three_along(values, at, stride, factors, first, n):
    """Return three sums of products: n values of each of three rows `stride` apart, times n
    factors.
    """
    return (
        sum_along(values, at, factors, first, n),
        sum_along(values, at + stride, factors, first, n),
        sum_along(values, at + 2 * stride, factors, first, n),
    )


@kernel
def column_of(values, at, n):
    """Return the three values at distances 0, n and 2n from index `at`: one column across three
    rows.
    """
    return (values[at], values[at + n], values[at + 2 * n])


@kernel
def put_column(values, at, n, x):
    """Write the three components of x at distances 0, n and 2n from index `at`."""
    values[at], values[at + n], values[at + 2 * n] = x
