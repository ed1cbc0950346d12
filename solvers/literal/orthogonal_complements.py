"""Orthogonal complement Z_i of the tangent columns and their pseudo-inverse, by Householder
reflections of A_i ([Sh24] 1.8).

Works for any joint with linearly independent columns; otherwise the joint is reported as singular.
"""

import math

from kinetree.solvers import layout as L
from kinetree.solvers.kernel import kernel

RANK = 1e-12  # a column this much shorter than itself after the reflections depends on the others


@kernel
def complement(model, ws, i):
    """Compute the rows of ws.Z (complement) and ws.Ap (pseudo-inverse) of joint i; scratch: ws.Y of
    body i. Return the status.
    """
    first = model.u_at[i]
    n = model.u_at[i + 1] - first
    R = 36 * i
    Q = 36 * i
    for k in range(36):
        ws.Z[Q + k] = 1.0 if k % 7 == 0 else 0.0
    for k in range(6 * n):
        ws.Y[R + k] = ws.A[6 * first + k]
    for k in range(n):
        if not reflect(ws, k, n, R, Q):
            ws.head.item = i
            return L.Status.SINGULAR_JOINT.value
    for k in range(n - 1, -1, -1):  # R Ap = first n rows of Q
        for c in range(6):
            x = ws.Z[Q + 6 * k + c]
            for j in range(k + 1, n):
                x -= ws.Y[R + 6 * j + k] * ws.Ap[6 * (first + j) + c]
            ws.Ap[6 * (first + k) + c] = x / ws.Y[R + 6 * k + k]
    return 0


@kernel
def reflect(ws, k, n, R, Q):
    """Apply a Householder reflection to column k and to all rows of Q; return False if the column
    vanishes.
    """
    whole = 0.0
    rest = 0.0
    for r in range(6):
        x = ws.Y[R + 6 * k + r]
        whole += x * x
        if r >= k:
            rest += x * x
    if not rest > RANK * RANK * whole:
        return False
    x = ws.Y[R + 6 * k + k]
    pivot = -math.copysign(math.sqrt(rest), x)
    ws.Y[R + 6 * k + k] = x - pivot
    beta = 1.0 / (pivot * (pivot - x))
    for c in range(k + 1, n):
        mirror(ws.Y, R + 6 * c, 1, ws.Y, R + 6 * k, k, beta)
    for c in range(6):
        mirror(ws.Z, Q + c, 6, ws.Y, R + 6 * k, k, beta)
    ws.Y[R + 6 * k + k] = pivot
    return True


@kernel
def mirror(x, at, stride, v, iv, k, beta):
    """Subtract beta v (v . x) from x (one Householder reflection), over the components from k on."""
    s = 0.0
    for r in range(k, 6):
        s += v[iv + r] * x[at + r * stride]
    s *= beta
    for r in range(k, 6):
        x[at + r * stride] -= s * v[iv + r]
