"""LU factors with partial pivoting of real and complex matrices stored flat, row by row; complex
ones as real and imaginary parts.

Cost 2/3 n^3 (complex: four times that) and 2 n^2 per solution. All inner loops run along rows. Zero
multipliers are skipped.

A row with at most one element besides its diagonal serves as its own pivot row without a search.
The coordinates of a mechanism have such rows, since their rates are the speeds: a matrix of half
the size in the speeds remains, an eighth of the work. A state whose rate depends on nothing also
has one: nothing is eliminated from it, there is no fill-in, and a constant state keeps its bits.
"""

from kinetree.solvers.kernel import kernel

TRUSTED = 1e-4  # of its neighbour, up from which a diagonal is a pivot without a search


@kernel
def factor(a, pivots, n):
    """Overwrite a by its LU factors and `pivots` by the row exchanges; return 1 if a is singular,
    else 0.

    A row that is its own pivot has -1 - (its one column) as exchange; the diagonals of the others
    are inverted.
    """
    for k in range(n):
        pivot_row = a[k * n : (k + 1) * n]
        first = only(pivot_row, n, k)
        last = max(first, k) + 1 if first != k else k
        pivots[k] = -1.0 - first
        if first < 0:
            best, p = abs(pivot_row[k]), k
            for i in range(k + 1, n):
                if abs(a[i * n + k]) > best:
                    best, p = abs(a[i * n + k]), i
            pivots[k] = p
            if not best > 0.0:
                return 1
            if p != k:
                exchange(pivot_row, a[p * n : (p + 1) * n])
            first, last = k + 1, reach(pivot_row, n)
        inverse = 1.0 / pivot_row[k]
        if pivots[k] >= 0.0:
            pivot_row[k] = inverse
        for i in range(k + 1, n):
            row = a[i * n : (i + 1) * n]
            if row[k] != 0.0:
                m = row[k] * inverse
                row[k] = m
                for j in range(first, last):
                    row[j] -= m * pivot_row[j]
    return 0


@kernel
def only(row, n, k):
    """Return the one column right of the diagonal in which row k has an element; k if it has none;
    -1 if it has more or its diagonal is small.
    """
    found = k
    for j in range(n):
        if row[j] != 0.0 and j != k:
            if j < k or found > k:
                return -1
            found = j
    return found if row[k] != 0.0 and abs(row[k]) >= TRUSTED * abs(row[found]) else -1


@kernel
def reach(row, n):
    """Return the length of the row without trailing zeros."""
    while row[n - 1] == 0.0:
        n -= 1
    return n


@kernel
def exchange(a, b):
    """Exchange two rows of a matrix."""
    for j in range(len(a)):
        a[j], b[j] = b[j], a[j]


@kernel
def less(total, row, b, first, last):
    """Return total - sum of row[j] b[j], first <= j < last, accumulated in four independent sums."""
    w, x, y = 0.0, 0.0, 0.0
    whole = first + (last - first) // 4 * 4
    for j in range(first, whole, 4):
        total -= row[j] * b[j]
        w += row[j + 1] * b[j + 1]
        x += row[j + 2] * b[j + 2]
        y += row[j + 3] * b[j + 3]
    for j in range(whole, last):
        total -= row[j] * b[j]
    return total - (w + x + y)


@kernel
def solve(a, pivots, n, b):
    """Solve a x = b for n unknowns: overwrite b with x; `a` and `pivots` come from `factor`."""
    for i in range(n):
        p = int(pivots[i])
        if p > i:
            b[i], b[p] = b[p], b[i]
    for i in range(n):
        if pivots[i] >= 0.0:
            b[i] = less(b[i], a[i * n : (i + 1) * n], b, 0, i)
    for i in range(n - 1, -1, -1):
        row = a[i * n : (i + 1) * n]
        if pivots[i] >= 0.0:
            b[i] = less(b[i], row, b, i + 1, n) * row[i]
        else:
            j = -1 - int(pivots[i])
            b[i] = (b[i] - row[j] * b[j] if j > i else b[i]) / row[i]


@kernel
def factor_complex(re, im, pivots, n):
    """Factor the complex matrix re + i im like `factor`, choosing pivots by |re| + |im|; return 1
    if it is singular, else 0.
    """
    for k in range(n):
        pivot_re, pivot_im = re[k * n : (k + 1) * n], im[k * n : (k + 1) * n]
        first = only_complex(pivot_re, pivot_im, n, k)
        last = max(first, k) + 1 if first != k else k
        pivots[k] = -1.0 - first
        if first < 0:
            p = largest(re, im, n, k)
            pivots[k] = p
            if p < 0:
                return 1
            if p != k:
                exchange(pivot_re, re[p * n : (p + 1) * n])
                exchange(pivot_im, im[p * n : (p + 1) * n])
            first, last = k + 1, reach_complex(pivot_re, pivot_im, n)
        c, s = reciprocal(pivot_re[k], pivot_im[k])
        pivot_re[k], pivot_im[k] = c, s
        for i in range(k + 1, n):
            row_re, row_im = re[i * n : (i + 1) * n], im[i * n : (i + 1) * n]
            x, y = row_re[k], row_im[k]
            if x != 0.0 or y != 0.0:
                x, y = x * c - y * s, x * s + y * c
                row_re[k], row_im[k] = x, y
                for j in range(first, last):
                    u, v = pivot_re[j], pivot_im[j]
                    row_re[j] -= x * u - y * v
                    row_im[j] -= x * v + y * u
    return 0


@kernel
def only_complex(re, im, n, k):
    """Return the one column right of the diagonal in which complex row k has an element, like
    `only`.
    """
    found = k
    for j in range(n):
        if (re[j] != 0.0 or im[j] != 0.0) and j != k:
            if j < k or found > k:
                return -1
            found = j
    diagonal = abs(re[k]) + abs(im[k])
    return (
        found if diagonal > 0.0 and diagonal >= TRUSTED * (abs(re[found]) + abs(im[found])) else -1
    )


@kernel
def largest(re, im, n, k):
    """Return the row from k on with the largest element in column k; -1 if all are zero."""
    best, p = 0.0, -1
    for i in range(k, n):
        size = abs(re[i * n + k]) + abs(im[i * n + k])
        if size > best:
            best, p = size, i
    return p


@kernel
def reach_complex(re, im, n):
    """Return the length of complex row k without trailing zeros."""
    while re[n - 1] == 0.0 and im[n - 1] == 0.0:
        n -= 1
    return n


@kernel
def reciprocal(x, y):
    """Return 1/(x + i y) without overflow of the squares (R. L. Smith, 1962)."""
    if abs(x) >= abs(y):
        r = y / x
        d = 1.0 / (x + y * r)
        return d, -r * d
    r = x / y
    d = 1.0 / (x * r + y)
    return r * d, -d


@kernel
def less_complex(x, y, row_re, row_im, b, c, first, last):
    """Return x + i y minus the sum of (row_re + i row_im)[j] (b + i c)[j], first <= j < last."""
    u, v = 0.0, 0.0
    for j in range(first, last):
        x -= row_re[j] * b[j]
        y -= row_re[j] * c[j]
        u += row_im[j] * c[j]
        v -= row_im[j] * b[j]
    return x + u, y + v


@kernel
def solve_complex(re, im, pivots, n, b, c):
    """Solve for one complex right-hand side: overwrite b + i c with the solution; re, im and pivots
    come from `factor_complex`.
    """
    for i in range(n):
        p = int(pivots[i])
        if p > i:
            b[i], b[p] = b[p], b[i]
            c[i], c[p] = c[p], c[i]
    for i in range(n):
        if pivots[i] >= 0.0:
            b[i], c[i] = less_complex(
                b[i], c[i], re[i * n : (i + 1) * n], im[i * n : (i + 1) * n], b, c, 0, i
            )
    for i in range(n - 1, -1, -1):
        row_re, row_im, x, y = re[i * n : (i + 1) * n], im[i * n : (i + 1) * n], b[i], c[i]
        j = -1 - int(pivots[i])
        if j < 0:
            x, y = less_complex(x, y, row_re, row_im, b, c, i + 1, n)
        elif j > i:
            x, y = x - row_re[j] * b[j] + row_im[j] * c[j], y - row_re[j] * c[j] - row_im[j] * b[j]
        b[i], c[i] = x * row_re[i] - y * row_im[i], x * row_im[i] + y * row_re[i]
