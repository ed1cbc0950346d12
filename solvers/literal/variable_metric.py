"""ITR: M x = b by a variable-metric iteration that carries H ≈ M⁻¹ from one evaluation to the next
([Sh24] (2.29)).

x = Hb ; r = b − Mx ; s = Hr ; while r exceeds the tolerance: x += s ; r⁺ = b − Mx ; u = Hr⁺ ; y = r
− r⁺ ; H += uuᵀ/(uᵀy) ; s = (1 + uᵀr⁺/(uᵀy)) u ; r = r⁺. At most rank(ΔM) + 1 steps; monotone while
‖ΔM‖ < 1/‖H‖ (2.43). Without contraction the line-search form (2.33) is used, then a new
factorisation. M is multiplied by its rows of blocks (2.53) or, without forming it, by two sweeps,
AᵀTᵀ(MTAx) (2.54)-(2.55). Vectors of ws.itr: x, r, r⁺, s, u, square roots of M's diagonal.
"""

import math

from kinetree.solvers.algebra.vectors import get6, put6
from kinetree.solvers.kernel import kernel
from kinetree.solvers.literal.composite_bodies import composite_bodies, mass_rows
from kinetree.solvers.literal.mass_matrix_cholesky import factor_mass, multiply_mass, solve_mass
from kinetree.solvers.literal.newton_euler import body_mv, project, sweep_down, sweep_joints

TOLERANCE = 1e-15  # scaled residual at which the iteration stops: the backward error of a Cholesky factorisation
NOISE = 1e-11  # a scaled residual below this that shrinks no more is rounding
FLAT = 1e-10  # cosine of u and y below which an update would only add noise


@kernel
def vector(ws, k):
    """Return vector k of ws.itr."""
    n = ws.u.size
    return ws.itr[k * n : (k + 1) * n]


@kernel
def dot(a, b):
    """Return the scalar product a . b."""
    x = 0.0
    for k in range(a.size):
        x += a[k] * b[k]
    return x


@kernel
def multiply_metric(out, H, x):
    """Compute out = H x."""
    n = x.size
    for i in range(n):
        y = 0.0
        for j in range(n):
            y += H[i * n + j] * x[j]
        out[i] = y


@kernel
def add_dyad(H, u, factor):
    """Add factor u uᵀ to H."""
    n = u.size
    for i in range(n):
        x = factor * u[i]
        for j in range(n):
            H[i * n + j] += x * u[j]


@kernel
def multiply(out, model, ws, x):
    """Compute out = M x, with ws.Mr or by sweeps."""
    if ws.head.sweeps != 0.0:
        sweep_joints(ws.w, model, ws, x)
        for i in range(1, model.parent.size):
            put6(ws.Fs, 6 * i, body_mv(ws, i, get6(ws.w, 6 * i)))
        sweep_down(ws.Fs, model, ws)
        project(out, model, ws, ws.Fs)
        for s in range(out.size):
            out[s] += ws.rotor[s] * x[s]
    else:
        multiply_mass(out, model, ws, x)


@kernel
def residual(out, model, ws, b, x):
    """Compute out = b − Mx; return its largest component relative to √M_kk Σ √M_jj |x_j|, which
    bounds the rounding of component k.
    """
    multiply(out, model, ws, x)
    d = vector(ws, 5)
    size = 0.0
    worst = 0.0
    for k in range(b.size):
        out[k] = b[k] - out[k]
        size += d[k] * abs(x[k])
        worst = max(worst, abs(out[k]) / d[k])
        if not abs(out[k]) >= 0.0:
            return math.inf
    return worst / size if size > 0.0 else worst


@kernel
def refactor(model, ws):
    """Compute H = M⁻¹ from a new factorisation (left in ws.Mr); return the status."""
    n = ws.u.size
    composite_bodies(model, ws)
    mass_rows(model, ws)
    ws.head.held = 0.0
    status = factor_mass(model, ws)
    if status != 0:
        return status
    d = vector(ws, 5)
    for k in range(n):
        d[k] = math.sqrt(ws.diagonal[k])
        row = ws.Hq[k * n : (k + 1) * n]
        for j in range(n):
            row[j] = 1.0 if j == k else 0.0
        solve_mass(model, ws, row)
    for i in range(n):
        for j in range(i):
            x = 0.5 * (ws.Hq[i * n + j] + ws.Hq[j * n + i])
            ws.Hq[i * n + j] = x
            ws.Hq[j * n + i] = x
    ws.head.held = 1.0
    ws.head.refactored += 1.0
    return 0


@kernel
def solve_afresh(model, ws, b):
    """Factor M anew and compute x = M⁻¹b; return the status."""
    status = refactor(model, ws)
    if status == 0:
        x = vector(ws, 0)
        for k in range(b.size):
            x[k] = b[k]
        solve_mass(model, ws, x)
    return status


@kernel
def solve_iteratively(model, ws, b):
    """Solve M x = b by the variable-metric iteration; x is vector 0 of ws.itr, the iterations are
    counted. Return the status.
    """
    ws.head.iterations = 0.0
    if ws.head.held != 1.0:
        return solve_afresh(model, ws, b)
    goal = ws.head.itr_tolerance if ws.head.itr_tolerance > 0.0 else TOLERANCE
    multiply_metric(vector(ws, 0), ws.Hq, b)
    size = residual(vector(ws, 1), model, ws, b, vector(ws, 0))
    multiply_metric(vector(ws, 3), ws.Hq, vector(ws, 1))
    for _ in range(b.size + 2):
        if size <= goal:
            return 0
        before = size
        size = step(model, ws, b, before)
        ws.head.iterations += 1.0
        if size >= before:
            break
    if size <= NOISE:
        return 0
    ws.head.fallbacks += 1.0
    return search(model, ws, b, goal)


@kernel
def step(model, ws, b, before):
    """Make one step of (2.29) and return the scaled residual; a step that increases the residual is
    undone.
    """
    x = vector(ws, 0)
    r = vector(ws, 1)
    new = vector(ws, 2)
    s = vector(ws, 3)
    u = vector(ws, 4)
    for k in range(b.size):
        x[k] += s[k]
    size = residual(new, model, ws, b, x)
    if not size < before:
        for k in range(b.size):
            x[k] -= s[k]
        return before
    multiply_metric(u, ws.Hq, new)
    for k in range(b.size):
        r[k] -= new[k]  # y
    uy = dot(u, r)
    ur = dot(u, new)
    # uᵀy ≈ 0 leaves H; so does an update that would cost H its sign (1 + uᵀr⁺/uᵀy ≤ 0)
    update = (
        abs(uy) > FLAT * math.sqrt(dot(u, u) * dot(r, r))
        and uy + ur != 0.0
        and (uy > 0.0) == (uy + ur > 0.0)
    )
    if update:
        add_dyad(ws.Hq, u, 1.0 / uy)
    for k in range(b.size):
        s[k] = (1.0 + ur / uy) * u[k] if update else u[k]
        r[k] = new[k]
    return size


@kernel
def search(model, ws, b, goal):
    """Iterate by steps (2.33), each of the length that minimises ½xᵀMx − xᵀb; M is factored anew if
    they do not converge or H is no longer definite. Return the status.
    """
    x = vector(ws, 0)
    r = vector(ws, 1)
    y = vector(ws, 2)
    s = vector(ws, 3)
    v = vector(ws, 4)
    for _ in range(b.size + 2):
        size = residual(r, model, ws, b, x)
        if size <= goal:
            return 0
        multiply_metric(s, ws.Hq, r)
        multiply(y, model, ws, s)
        rs = dot(s, r)
        sy = dot(s, y)
        if not (rs > 0.0 and sy > 0.0):
            break
        ws.head.iterations += 1.0
        multiply_metric(v, ws.Hq, y)
        for k in range(b.size):  # λ s − H λ y, without the common factor λ
            v[k] = s[k] - v[k]
            x[k] += rs / sy * s[k]
        vy = dot(v, y)
        if abs(vy) > FLAT * math.sqrt(dot(v, v) * dot(y, y)):
            add_dyad(ws.Hq, v, 1.0 / vy)
    return solve_afresh(model, ws, b)
