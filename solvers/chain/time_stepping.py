"""Time stepping with constant D_0: 8n^2 flops per step, 8n(2w + 2) in a band of half-width w.

The four blocks of D_0 are packed in the order of use: rows k, k + 1 of p and Y for the strains,
then of u and YT for the velocities, `length` elements each from column start[k]. Speed is limited
by memory bandwidth: 32n(2w + 2) bytes per step.
"""

import numpy as np

from kinetree.solvers.chain.band_kernels import add_row
from kinetree.solvers.chain.band_matrices import Band
from kinetree.solvers.kernel import entry, kernel

VECTOR = 16  # elements: lengths are multiples of it, so that no loop has a remainder


def pack(p: Band, u: Band, Y: Band, YT: Band, n: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the packed blocks, the first column of each row and the common length of the rows."""
    width = max(a.width for a in (p, u, Y, YT))
    pairs, padded = (n + 1) // 2, -(-n // VECTOR) * VECTOR
    length = min(padded, -(-(2 * width + 2) // VECTOR) * VECTOR)
    start = np.clip(2 * np.arange(pairs) - width, 0, padded - length)
    packed = np.zeros(8 * pairs * length)
    for place, a in ((0, p), (1, Y), (4, u), (5, YT)):
        copy_rows(packed, start, length, place, *a, n)
    return packed, start, length


@entry
def copy_rows(packed, start, length, place, a, base, stride, width, n):
    """Copy the rows of one block to their places in the packed array."""
    for k in range(n):
        first, last = max(0, k - width), min(n - 1, k + width)
        o = (8 * (k // 2) + place + 2 * (k % 2)) * length + first - start[k // 2]
        add_row(
            packed,
            np.uintp(o),
            a,
            np.uintp(base + k * stride + first),
            np.uintp(last - first + 1),
            1.0,
        )


@kernel
def add_pair(e, v, o, packed, r, length, e0, v0, e1, v1):
    """Add the contribution of two packed rows to e and v."""
    r1 = r + length
    r2 = r1 + length
    r3 = r2 + length
    r4 = r3 + length
    r5 = r4 + length
    r6 = r5 + length
    r7 = r6 + length
    for j in range(length):
        e[o + j] += (
            e0 * packed[r + j] + v0 * packed[r1 + j] + e1 * packed[r2 + j] + v1 * packed[r3 + j]
        )
        v[o + j] += (
            v0 * packed[r4 + j] - e0 * packed[r5 + j] + v1 * packed[r6 + j] - e1 * packed[r7 + j]
        )


@entry
def march(E, V, Z, packed, start, length, c_e, c_v, e, v, n, free, steps):
    """Compute E, V, Z (steps + 1 rows) in place: row 0 holds the start; the others hold the
    excitation and receive the solution.
    """
    size = np.uintp(length)
    for step in range(steps):
        a, b = step * n, (step + 1) * n
        for i in range(n):
            e[i] = E[a + i] + E[b + i]
            v[i] = V[a + i] + V[b + i]
        for i in range((n + 1) // 2):
            k = a + 2 * i
            e1, v1 = (E[k + 1], V[k + 1]) if 2 * i + 1 < n else (0.0, 0.0)
            add_pair(
                e, v, np.uintp(start[i]), packed, np.uintp(8 * length * i), size, E[k], V[k], e1, v1
            )
        for f in range(free):
            z = Z[step * free + f]
            for i in range(n):
                z += E[a + i] * c_e[i * free + f] + V[a + i] * c_v[i * free + f]
            Z[(step + 1) * free + f] += z
        for i in range(n):
            E[b + i] = e[i]
            V[b + i] = v[i]


@kernel
def four_positions(X, E, Z, B, inverse, width, number, n, free, row):
    """Compute four rows of positions at once, so that their chains of dependent operations overlap."""
    o0 = row * n
    o1, o2, o3 = o0 + n, o0 + 2 * n, o0 + 3 * n
    for k in range(n - 1, -1, -1):
        if number[k] >= 0:
            for i in range(4):
                X[o0 + i * n + k] = Z[(row + i) * free + number[k]]
            continue
        s = inverse[k]
        x0, x1, x2, x3 = E[o0 + k] * s, E[o1 + k] * s, E[o2 + k] * s, E[o3 + k] * s
        for d in range(1, min(width, n - 1 - k) + 1):
            b, j = B[k * width + d - 1], k + d
            x0, x1, x2, x3 = (
                x0 - X[o0 + j] * b,
                x1 - X[o1 + j] * b,
                x2 - X[o2 + j] * b,
                x3 - X[o3 + j] * b,
            )
        X[o0 + k], X[o1 + k], X[o2 + k], X[o3 + k] = x0, x1, x2, x3


@entry
def positions(X, E, Z, B, inverse, width, number, n, free, rows):
    """Compute positions X (a multiple of four rows of n) from strains E = X B by back substitution.
    B holds the columns below the diagonal times inverse = 1/diagonal.
    """
    for row in range(0, rows, 4):
        four_positions(X, E, Z, B, inverse, width, number, n, free, row)
