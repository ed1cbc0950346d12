"""ITR-DIRECT: variant of ITR-M that carries the approximation A_k ≈ M itself, as LDLᵀ, with
rank-one updates ([Sh24] (2.46)).

A_{k+1} = A_k + (y − A_ks)(y − A_ks)ᵀ/((y − A_ks)ᵀs) with y − A_ks = −r⁺, so A_{k+1} = A_k −
r⁺r⁺ᵀ/(r⁺ᵀs); the iterates equal those of ITR-M. L (unit lower triangular, below the diagonal) and D
are stored in ws.Hq; if an element of D changes its sign, M is factored anew.
"""

import math

from kinetree.solvers.kernel import kernel
from kinetree.solvers.literal.composite_bodies import (
    composite_bodies,
    generalized_forces,
    mass_rows,
)
from kinetree.solvers.literal.mass_matrix_cholesky import factor_mass, mass_matrix, solve_mass
from kinetree.solvers.literal.variable_metric import FLAT, NOISE, TOLERANCE, dot, residual, vector


@kernel
def itr_direct(model, ws):
    """Compute ws.udot by ITR-DIRECT from evaluated kinematics; ws.Hq and ws.itr are kept as the
    start of the next evaluation. Return the status.
    """
    composite_bodies(model, ws)
    mass_rows(model, ws)
    generalized_forces(model, ws)
    ws.head.sweeps = 0.0
    status = solve_directly(model, ws, ws.Q)
    x = vector(ws, 0)
    for s in range(ws.udot.size):
        ws.udot[s] = x[s]
    return status


@kernel
def solve_directly(model, ws, b):
    """Compute x = M⁻¹b in vector 0 of ws.itr, with M in ws.Mr; return the status."""
    ws.head.iterations = 0.0
    if ws.head.held != 2.0:
        return start_factors(model, ws, b)
    goal = ws.head.itr_tolerance if ws.head.itr_tolerance > 0.0 else TOLERANCE
    x = vector(ws, 0)
    r = vector(ws, 1)
    s = vector(ws, 3)
    for k in range(b.size):
        x[k] = b[k]
    solve_factors(ws.Hq, x)
    size = residual(r, model, ws, b, x)
    for _ in range(b.size + 2):
        if size <= goal:
            return 0
        for k in range(b.size):
            s[k] = r[k]
        solve_factors(ws.Hq, s)
        for k in range(b.size):
            x[k] += s[k]
        before = size
        size = residual(r, model, ws, b, x)
        ws.head.iterations += 1.0
        if not size < before:
            break
        rs = dot(r, s)
        if abs(rs) > FLAT * math.sqrt(dot(r, r) * dot(s, s)) and not update_factors(
            ws.Hq, r, vector(ws, 4), -1.0 / rs
        ):
            break
    if size <= NOISE:
        return 0
    return start_factors(model, ws, b)


@kernel
def start_factors(model, ws, b):
    """Factor M = LDLᵀ into ws.Hq and solve for b; M in ws.Mr is overwritten by its own factor.
    Return the status.
    """
    n = b.size
    composite_bodies(model, ws)
    mass_rows(model, ws)
    mass_matrix(model, ws)
    ws.head.held = 0.0
    status = factor_mass(model, ws)
    if status != 0:
        return status
    x = vector(ws, 0)
    d = vector(ws, 5)
    for i in range(n):
        d[i] = math.sqrt(ws.diagonal[i])
        x[i] = b[i]
        for j in range(i + 1):
            y = ws.Mq[i * n + j]
            for k in range(j):
                y -= ws.Hq[i * n + k] * ws.Hq[j * n + k] * ws.Hq[k * n + k]
            ws.Hq[i * n + j] = y if i == j else y / ws.Hq[j * n + j]
    solve_mass(model, ws, x)
    ws.head.held = 2.0
    ws.head.refactored += 1.0
    return 0


@kernel
def solve_factors(H, x):
    """Overwrite x by (LDLᵀ)⁻¹ x."""
    n = x.size
    for i in range(n):
        for j in range(i):
            x[i] -= H[i * n + j] * x[j]
    for i in range(n - 1, -1, -1):
        x[i] /= H[i * n + i]
        for j in range(i + 1, n):
            x[i] -= H[j * n + i] * x[j]


@kernel
def update_factors(H, z, w, factor):
    """Update LDLᵀ + factor zzᵀ in place (Gill, Golub, Murray and Saunders 1974, method C1); return
    False if D changes its sign. Scratch: w.
    """
    n = z.size
    for k in range(n):
        w[k] = z[k]
    for j in range(n):
        p = w[j]
        d = H[j * n + j] + factor * p * p
        if not d > 0.0:
            return False
        beta = factor * p / d
        factor *= H[j * n + j] / d
        H[j * n + j] = d
        for r in range(j + 1, n):
            w[r] -= p * H[r * n + j]
            H[r * n + j] += beta * w[r]
    return True
