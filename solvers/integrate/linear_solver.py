"""LU factors with partial pivoting of real and complex matrices stored flat, row by row; complex ones as real and imaginary part.

Cost 2/3 n^3 (complex: four times that) and 2 n^2 per solution. All inner loops run along rows. Zero multipliers are skipped.

A row with nothing beside its diagonal, that of a state whose rate depends on nothing, is its own pivot whatever stands below: nothing is
eliminated from it, nothing fills in, and a state that rests keeps its bits.
"""

from kinetree.solvers.kernel import kernel


@kernel
def factor(a, pivots, n):
    """Overwrite a with its factors and pivots with the row exchanges; returns 1 if a is singular, else 0."""
    for k in range(n):
        best, p = abs(a[k * n + k]), k
        if not alone(a, n, k):
            for i in range(k + 1, n):
                if abs(a[i * n + k]) > best:
                    best, p = abs(a[i * n + k]), i
        pivots[k] = p
        if not best > 0.0:
            return 1
        pivot_row = a[k * n : (k + 1) * n]
        exchange(pivot_row, a[p * n : (p + 1) * n])
        inverse = 1.0 / pivot_row[k]
        for i in range(k + 1, n):
            row = a[i * n : (i + 1) * n]
            m = row[k] * inverse
            row[k] = m
            if m != 0.0:
                for j in range(k + 1, n):
                    row[j] -= m * pivot_row[j]
    return 0


@kernel
def alone(a, n, k):
    """Whether row k has nothing but its diagonal."""
    for j in range(n):
        if (a[k * n + j] != 0.0) != (j == k):
            return False
    return True


@kernel
def exchange(a, b):
    """Exchange two rows."""
    for j in range(len(a)):
        a[j], b[j] = b[j], a[j]


@kernel
def solve(a, pivots, n, b):
    """Overwrite b with the solution; a and pivots from `factor`."""
    for i in range(n):
        p = int(pivots[i])
        b[i], b[p] = b[p], b[i]
    for i in range(n):
        total, row = b[i], a[i * n : (i + 1) * n]
        for j in range(i):
            total -= row[j] * b[j]
        b[i] = total
    for i in range(n - 1, -1, -1):
        total, row = b[i], a[i * n : (i + 1) * n]
        for j in range(i + 1, n):
            total -= row[j] * b[j]
        b[i] = total / row[i]


@kernel
def factor_complex(re, im, pivots, n):
    """As `factor` for re + i im; pivots by |re| + |im|."""
    for k in range(n):
        best, p = abs(re[k * n + k]) + abs(im[k * n + k]), k
        if not alone_complex(re, im, n, k):
            for i in range(k + 1, n):
                size = abs(re[i * n + k]) + abs(im[i * n + k])
                if size > best:
                    best, p = size, i
        pivots[k] = p
        if not best > 0.0:
            return 1
        pivot_re, pivot_im = re[k * n : (k + 1) * n], im[k * n : (k + 1) * n]
        exchange(pivot_re, re[p * n : (p + 1) * n])
        exchange(pivot_im, im[p * n : (p + 1) * n])
        c, s = reciprocal(pivot_re[k], pivot_im[k])
        for i in range(k + 1, n):
            row_re, row_im = re[i * n : (i + 1) * n], im[i * n : (i + 1) * n]
            x, y = row_re[k], row_im[k]
            x, y = x * c - y * s, x * s + y * c
            row_re[k] = x
            row_im[k] = y
            if x != 0.0 or y != 0.0:
                for j in range(k + 1, n):
                    row_re[j] -= x * pivot_re[j] - y * pivot_im[j]
                    row_im[j] -= x * pivot_im[j] + y * pivot_re[j]
    return 0


@kernel
def alone_complex(re, im, n, k):
    """Whether row k has nothing but its diagonal."""
    for j in range(n):
        if (re[k * n + j] != 0.0 or im[k * n + j] != 0.0) != (j == k):
            return False
    return True


@kernel
def reciprocal(x, y):
    """1/(x + i y) without overflow of the squares (R. L. Smith, 1962)."""
    if abs(x) >= abs(y):
        r = y / x
        d = x + y * r
        return 1.0 / d, -r / d
    r = x / y
    d = x * r + y
    return r / d, -1.0 / d


@kernel
def solve_complex(re, im, pivots, n, b, c):
    """Overwrite b + i c with the solution; re, im and pivots from `factor_complex`."""
    for i in range(n):
        p = int(pivots[i])
        b[i], b[p] = b[p], b[i]
        c[i], c[p] = c[p], c[i]
    for i in range(n):
        x, y, row_re, row_im = b[i], c[i], re[i * n : (i + 1) * n], im[i * n : (i + 1) * n]
        for j in range(i):
            x -= row_re[j] * b[j] - row_im[j] * c[j]
            y -= row_re[j] * c[j] + row_im[j] * b[j]
        b[i] = x
        c[i] = y
    for i in range(n - 1, -1, -1):
        x, y, row_re, row_im = b[i], c[i], re[i * n : (i + 1) * n], im[i * n : (i + 1) * n]
        for j in range(i + 1, n):
            x -= row_re[j] * b[j] - row_im[j] * c[j]
            y -= row_re[j] * c[j] + row_im[j] * b[j]
        u, v = reciprocal(row_re[i], row_im[i])
        b[i] = x * u - y * v
        c[i] = x * v + y * u
