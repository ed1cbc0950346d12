"""Matrices of bars of brick elements with eight nodes and incompatible modes, for tests of reduced bodies."""

import numpy as np
import scipy.sparse as sp


def bar(
    length: float, wide: float, high: float, counts, young: float, poisson: float, density: float
):
    """Stiffness, mass, nodes (N, 3) of a bar along x from the origin, its axis through the middle."""
    nx, ny, nz = counts
    axes = (
        np.linspace(0, length, nx + 1),
        np.linspace(-wide / 2, wide / 2, ny + 1),
        np.linspace(-high / 2, high / 2, nz + 1),
    )
    nodes = np.array([(x, y, z) for x in axes[0] for y in axes[1] for z in axes[2]])

    def number(i, j, k):
        return (i * (ny + 1) + j) * (nz + 1) + k

    corners = [
        (0, 0, 0),
        (1, 0, 0),
        (1, 1, 0),
        (0, 1, 0),
        (0, 0, 1),
        (1, 0, 1),
        (1, 1, 1),
        (0, 1, 1),
    ]
    signs = 2.0 * np.array(corners) - 1.0
    half = 0.5 * np.array([length / nx, wide / ny, high / nz])
    lam, mu = young * poisson / ((1 + poisson) * (1 - 2 * poisson)), young / (2 * (1 + poisson))
    D = np.diag([2 * mu] * 3 + [mu] * 3)
    D[:3, :3] += lam
    g = 1 / np.sqrt(3.0)
    K, M = np.zeros((33, 33)), np.zeros((8, 8))
    volume = float(np.prod(half))
    for point in ((a, b, c) for a in (-g, g) for b in (-g, g) for c in (-g, g)):
        p = np.array(point)
        N = np.prod(1 + signs * p, axis=1) / 8
        slopes = [
            signs[:, k] * np.prod(1 + np.delete(signs * p, k, axis=1), axis=1) / 8 / half[k]
            for k in range(3)
        ]
        slopes = np.array(
            [
                np.concatenate((slopes[k], -2 * p[k] / half[k] * (np.arange(3) == k)))
                for k in range(3)
            ]
        )
        B = np.zeros((6, 33))
        B[0, 0::3], B[1, 1::3], B[2, 2::3] = slopes
        B[3, 0::3], B[3, 1::3] = slopes[1], slopes[0]
        B[4, 1::3], B[4, 2::3] = slopes[2], slopes[1]
        B[5, 0::3], B[5, 2::3] = slopes[2], slopes[0]
        K += volume * B.T @ D @ B
        M += volume * density * np.outer(N, N)
    K = K[:24, :24] - K[:24, 24:] @ np.linalg.solve(K[24:, 24:], K[24:, :24])
    size = 3 * len(nodes)
    k, m = sp.lil_array((size, size)), sp.lil_array((size, size))
    for i in range(nx):
        for j in range(ny):
            for l in range(nz):
                place = [number(i + a, j + b, l + c) for a, b, c in corners]
                dofs = np.array([3 * s + axis for s in place for axis in range(3)])
                k[np.ix_(dofs, dofs)] += K
                m[np.ix_(dofs, dofs)] += np.kron(M, np.eye(3))
    return k.tocsc(), m.tocsc(), nodes
