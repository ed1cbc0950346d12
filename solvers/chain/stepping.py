"""March through many steps with constant D_0: the only work that is repeated, 8n^2 flops per step, 8n(2w + 2) in a band of half-width w.

The four blocks of D_0 are packed in the order of use: rows k, k + 1 of p and Y for the strains, then of u and YT for the velocities, `length` elements each
from column start[k]. The march is bound by the memory that streams past: 32n(2w + 2) bytes per step.
"""

import numpy as np

from kinetree.solvers.chain.band import Band, dense, diagonals
from kinetree.solvers.kernel import entry, kernel

VECTOR = 16  # elements: lengths are multiples of it, so that no loop has a remainder


def pack(p: Band, u: Band, Y: Band, YT: Band, n: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Packed blocks, first columns and length of the rows."""
    width = max(a.width for a in (p, u, Y, YT))
    pairs, padded = (n + 1) // 2, -(-n // VECTOR) * VECTOR
    length = min(padded, -(-(2 * width + 2) // VECTOR) * VECTOR)
    start = np.clip(2 * np.arange(pairs) - width, 0, padded - length)
    packed = np.zeros((pairs, 2, 2, 2, length))  # pair, strains or velocities, row of the pair, e or v
    for a, place in ((p, (0, 0)), (Y, (0, 1)), (u, (1, 0)), (YT, (1, 1))):
        if a.is_dense:
            full = np.zeros((2 * pairs, padded))
            full[:n, :n] = dense(a, n)
            for row in range(2):
                packed[:, place[0], row, place[1]] = full[row::2][np.arange(pairs)[:, None], start[:, None] + np.arange(length)]
            continue
        rows = diagonals(a, n)
        for row in range(2):
            k = np.arange(row, n, 2)
            columns = k[:, None] + np.arange(-a.width, a.width + 1)
            inside = (columns >= 0) & (columns < n)
            where = np.nonzero(inside)
            packed[where[0], place[0], row, place[1], (columns - start[: len(k), None])[inside]] = rows[k][inside]
    return packed.reshape(-1), start, length


@kernel
def add_pair(e, v, o, packed, r, length, e0, v0, e1, v1):
    """Contribution of two rows to e and v; offsets unsigned."""
    r1 = r + length
    r2 = r1 + length
    r3 = r2 + length
    r4 = r3 + length
    r5 = r4 + length
    r6 = r5 + length
    r7 = r6 + length
    for j in range(length):
        e[o + j] += e0 * packed[r + j] + v0 * packed[r1 + j] + e1 * packed[r2 + j] + v1 * packed[r3 + j]
        v[o + j] += v0 * packed[r4 + j] - e0 * packed[r5 + j] + v1 * packed[r6 + j] - e1 * packed[r7 + j]


@entry
def march(E, V, Z, packed, start, length, c_e, c_v, e, v, n, free, steps):
    """E, V, Z (steps + 1 rows): row 0 the start, the others hold the excitation's part and receive the motion; e, v scratch."""
    size = np.uintp(length)
    for step in range(steps):
        a, b = step * n, (step + 1) * n
        for i in range(n):
            e[i] = E[a + i] + E[b + i]
            v[i] = V[a + i] + V[b + i]
        for i in range((n + 1) // 2):
            k = a + 2 * i
            e1, v1 = (E[k + 1], V[k + 1]) if 2 * i + 1 < n else (0.0, 0.0)
            add_pair(e, v, np.uintp(start[i]), packed, np.uintp(8 * length * i), size, E[k], V[k], e1, v1)
        for f in range(free):
            z = Z[step * free + f]
            for i in range(n):
                z += E[a + i] * c_e[i * free + f] + V[a + i] * c_v[i * free + f]
            Z[(step + 1) * free + f] += z
        for i in range(n):
            E[b + i] = e[i]
            V[b + i] = v[i]


@entry
def positions(X, E, Z, B, inverse, width, number, n, free, rows):
    """X (rows x n) from strains E = X B, last coordinate first; B columns (width each, below the diagonal) times inverse = 1/diagonal."""
    for row in range(rows):
        o = row * n
        for k in range(n - 1, -1, -1):
            if number[k] >= 0:
                X[o + k] = Z[row * free + number[k]]
                continue
            x = E[o + k] * inverse[k]
            for d in range(1, min(width, n - 1 - k) + 1):
                x -= X[o + k + d] * B[k * width + d - 1]
            X[o + k] = x
