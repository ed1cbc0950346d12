"""Block Cholesky factor M = LᵀL of the mass matrix, from the last row up, which gives no fill-in
([Sh24] (2.23), theorem 2.5).

Row i has blocks only for the joints on the path 0 -> i; they are stored in ws.Mr as a dense strip
with eta_i columns.
"""

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.small_triangular import (
    diagonal_ok,
    downdate,
    factor_rows,
    gather,
    scatter,
    solve_lower,
    solve_upper,
)
from kinetree.solvers.kernel import kernel


@kernel
def factor_mass(model, ws):
    """Overwrite the mass matrix ws.Mr by L; scratch: ws.diagonal. Return the status."""
    for i in range(1, model.parent.size):
        n = model.u_at[i + 1] - model.u_at[i]
        for r in range(n):
            ws.diagonal[model.u_at[i] + r] = ws.Mr[
                model.m_at[i] + r * model.eta[i] + model.eta[i] - n + r
            ]
    for i in range(model.parent.size - 1, 0, -1):
        n = model.u_at[i + 1] - model.u_at[i]
        width = model.eta[i]
        at = model.m_at[i]
        if n == 0:
            continue
        if not factor_rows(ws.Mr, at, width, n, width - n) or not diagonal_ok(
            ws.Mr, at, width, n, width - n, ws.diagonal, model.u_at[i]
        ):
            ws.head.item = i
            return L.Status.SINGULAR_JOINT.value
        j = model.parent[i]
        while j > 0:
            nj = model.u_at[j + 1] - model.u_at[j]
            col = model.eta[j] - nj
            downdate(ws.Mr, at, width, n, col, 0, model.m_at[j], model.eta[j], nj, col)
            j = model.parent[j]
    return 0


@kernel
def solve_mass(model, ws, x):
    """Overwrite x by M⁻¹ x with the factor in ws.Mr."""
    for i in range(model.parent.size - 1, 0, -1):
        n = model.u_at[i + 1] - model.u_at[i]
        width = model.eta[i]
        at = model.m_at[i]
        solve_upper(ws.Mr, at + width - n, width, n, x, model.u_at[i])
        j = model.parent[i]
        while j > 0 and n > 0:
            nj = model.u_at[j + 1] - model.u_at[j]
            scatter(ws.Mr, at + model.eta[j] - nj, width, n, x, model.u_at[i], x, model.u_at[j], nj)
            j = model.parent[j]
    for i in range(1, model.parent.size):
        n = model.u_at[i + 1] - model.u_at[i]
        width = model.eta[i]
        at = model.m_at[i]
        j = model.parent[i]
        while j > 0 and n > 0:
            nj = model.u_at[j + 1] - model.u_at[j]
            gather(ws.Mr, at + model.eta[j] - nj, width, n, x, model.u_at[j], x, model.u_at[i], nj)
            j = model.parent[j]
        solve_lower(ws.Mr, at + width - n, width, n, x, model.u_at[i])


@kernel
def multiply_mass(out, model, ws, x):
    """Compute out = M x with M (not its factor) in ws.Mr."""
    for s in range(out.size):
        out[s] = 0.0
    for i in range(1, model.parent.size):
        n = model.u_at[i + 1] - model.u_at[i]
        at = model.m_at[i]
        j = i
        while j > 0 and n > 0:
            nj = model.u_at[j + 1] - model.u_at[j]
            if nj > 0:
                add_block_product(
                    out,
                    ws.Mr,
                    at + model.eta[j] - nj,
                    model.eta[i],
                    n,
                    0 if i == j else nj,
                    x,
                    model.u_at[i],
                    model.u_at[j],
                )
            j = model.parent[j]


@kernel
def add_block_product(out, M, at, stride, n, nj, x, ui, uj):
    """Add M_ij x_j to out_i and M_ijᵀ x_i to out_j; for a diagonal block (lower triangle only) nj
    is 0.
    """
    for r in range(n):
        for c in range(nj if nj > 0 else r):
            m = M[at + r * stride + c]
            out[ui + r] += m * x[uj + c]
            out[uj + c] += m * x[ui + r]
        if nj == 0:
            out[ui + r] += M[at + r * stride + r] * x[ui + r]


@kernel
def mass_matrix(model, ws):
    """Copy ws.Mr (not its factor) to the full symmetric matrix ws.Mq."""
    n = ws.u.size
    for k in range(n * n):
        ws.Mq[k] = 0.0
    for i in range(1, model.parent.size):
        rows = model.u_at[i + 1] - model.u_at[i]
        j = i
        while j > 0:
            nj = model.u_at[j + 1] - model.u_at[j]
            for r in range(rows):
                for c in range(nj if i != j else r + 1):
                    x = ws.Mr[model.m_at[i] + r * model.eta[i] + model.eta[j] - nj + c]
                    ws.Mq[(model.u_at[i] + r) * n + model.u_at[j] + c] = x
                    ws.Mq[(model.u_at[j] + c) * n + model.u_at[i] + r] = x
            j = model.parent[j]
    return 0


@kernel
def solve_forces(model, ws):
    """Compute ws.udot from the mass matrix in ws.Mr, which is factored in place, and the right-hand
    side ws.Q; return the status.
    """
    status = factor_mass(model, ws)
    if status == 0:
        for s in range(ws.udot.size):
            ws.udot[s] = ws.Q[s]
        solve_mass(model, ws, ws.udot)
    return status
