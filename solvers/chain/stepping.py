"""March through many steps with constant D_0: the only work that is repeated, 8n^2 flops per step (8n(2w + 1) in a band of half-width w)."""

from kinetree.solvers.kernel import entry


@entry
def march(E, V, Z, p, u, Y, YT, base, stride, width, c_e, c_v, n, free, steps):
    """E, V, Z (steps + 1 rows): row 0 the start, the others hold the excitation's part and receive the motion; four bands of one layout."""
    for step in range(steps):
        a, b = step * n, (step + 1) * n
        for i in range(n):
            E[b + i] += E[a + i]
            V[b + i] += V[a + i]
        k = 0
        while k + 1 < n:
            e0, v0, e1, v1 = E[a + k], V[a + k], E[a + k + 1], V[a + k + 1]
            r, s = base + k * stride, base + (k + 1) * stride
            for j in range(max(0, k - width), min(n - 1, k + 1 + width) + 1):
                E[b + j] += e0 * p[r + j] + v0 * Y[r + j] + e1 * p[s + j] + v1 * Y[s + j]
                V[b + j] += v0 * u[r + j] - e0 * YT[r + j] + v1 * u[s + j] - e1 * YT[s + j]
            k += 2
        if k < n:
            e0, v0 = E[a + k], V[a + k]
            r = base + k * stride
            for j in range(max(0, k - width), n):
                E[b + j] += e0 * p[r + j] + v0 * Y[r + j]
                V[b + j] += v0 * u[r + j] - e0 * YT[r + j]
        for f in range(free):
            z = Z[step * free + f]
            for i in range(n):
                z += E[a + i] * c_e[i * free + f] + V[a + i] * c_v[i * free + f]
            Z[(step + 1) * free + f] += z


@entry
def positions(X, E, Z, B, B_base, B_stride, B_width, number, n, free, rows):
    """X (rows x n) from strains, E = X B, last coordinate first; number[k] = index of free coordinate k or -1."""
    for row in range(rows):
        o = row * n
        for k in range(n - 1, -1, -1):
            if number[k] >= 0:
                X[o + k] = Z[row * free + number[k]]
                continue
            x = E[o + k]
            for j in range(k + 1, min(n, k + B_width + 1)):
                x -= X[o + j] * B[B_base + j * B_stride + k]
            X[o + k] = x / B[B_base + k * B_stride + k]
