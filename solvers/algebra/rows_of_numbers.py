"""Rows of numbers that stand side by side in a field: sums of rows times factors, sums along a row, columns across three rows."""

from kinetree.solvers.kernel import kernel


@kernel
def add_row(out, to, factor, numbers, row, n):
    """Add a factor times n numbers from place `row` on to those of `out` from `to` on."""
    for k in range(n):
        out[to + k] += factor * numbers[row + k]


@kernel
def copy_row(out, to, one, numbers, row, n):
    """Write n numbers, times `one` of the numbers of the workspace."""
    for k in range(n):
        out[to + k] = one * numbers[row + k]


@kernel
def weighted(out, to, factors, first, rows, numbers, start, n):
    """Add the sum of rows of n numbers, each times its factor, four at a time: `out` is read and written that often."""
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
    """Add three rows `stride` apart, each times its factor."""
    x, y, z = factors
    for k in range(n):
        out[to + k] += (
            x * numbers[row + k] + y * numbers[row + stride + k] + z * numbers[row + 2 * stride + k]
        )


@kernel
def sum_along(values, at, factors, first, n):
    """Sum of n products."""
    total = 0.0 * factors[first]
    for k in range(n):
        total += values[at + k] * factors[first + k]
    return total


@kernel
def three_along(values, at, stride, factors, first, n):
    """Sums of n products of three rows."""
    return (
        sum_along(values, at, factors, first, n),
        sum_along(values, at + stride, factors, first, n),
        sum_along(values, at + 2 * stride, factors, first, n),
    )


@kernel
def column_of(values, at, n):
    """Three numbers n apart."""
    return (values[at], values[at + n], values[at + 2 * n])


@kernel
def put_column(values, at, n, x):
    """Write three numbers n apart."""
    values[at], values[at + n], values[at + 2 * n] = x
