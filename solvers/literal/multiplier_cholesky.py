"""Block Cholesky factor H = LᵀL of the matrix of joint multipliers, from the last row up, which
gives no fill-in ([Sh24] (2.24), (2.26), theorem 2.6).

Row i has blocks for κ_i, the siblings before i and i itself; they are stored in ws.Hr as a dense
strip with h_col[i] + m_i columns. The last sum of (2.26) must have λ_j, not μ_j.
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
def order(model, i):
    """Return the number of constraint rows of joint i, m_i = 6 − n_i."""
    return 6 - (model.u_at[i + 1] - model.u_at[i])


@kernel
def factor_multipliers(model, ws):
    """Overwrite ws.Hr by its factor L; scratch: ws.diagonal. Return the status."""
    for i in range(1, model.parent.size):
        width = model.h_col[i] + order(model, i)
        for r in range(order(model, i)):
            ws.diagonal[6 * i + r] = ws.Hr[model.h_at[i] + r * width + model.h_col[i] + r]
    for i in range(model.parent.size - 1, 0, -1):
        m = order(model, i)
        width = model.h_col[i] + m
        at = model.h_at[i]
        col = model.h_col[i]
        if m == 0:
            continue
        if not factor_rows(ws.Hr, at, width, m, col) or not diagonal_ok(
            ws.Hr, at, width, m, col, ws.diagonal, 6 * i
        ):
            ws.head.item = i
            return L.Status.SINGULAR_BODY.value
        k = model.parent[i]
        if k == 0:
            continue
        mk = order(model, k)
        downdate(
            ws.Hr, at, width, m, 0, 0, model.h_at[k] + model.h_col[k], model.h_col[k] + mk, mk, 0
        )
        for c in range(model.child_at[k], model.child_at[k + 1]):
            j = model.child[c]
            if j == i:
                break
            mj = order(model, j)
            downdate(
                ws.Hr,
                at,
                width,
                m,
                model.h_col[j],
                0,
                model.h_at[j],
                model.h_col[j] + mj,
                mj,
                model.h_col[j],
            )
    return 0


@kernel
def solve_multipliers(model, ws):
    """Overwrite the multipliers λ by H⁻¹ λ with the factor in ws.Hr; λ_i is at 6 i of ws.lam."""
    for i in range(model.parent.size - 1, 0, -1):
        m = order(model, i)
        width = model.h_col[i] + m
        at = model.h_at[i]
        solve_upper(ws.Hr, at + model.h_col[i], width, m, ws.lam, 6 * i)
        k = model.parent[i]
        if k == 0:
            continue
        scatter(ws.Hr, at, width, m, ws.lam, 6 * i, ws.lam, 6 * k, order(model, k))
        for c in range(model.child_at[k], model.child_at[k + 1]):
            j = model.child[c]
            if j == i:
                break
            scatter(
                ws.Hr, at + model.h_col[j], width, m, ws.lam, 6 * i, ws.lam, 6 * j, order(model, j)
            )
    for i in range(1, model.parent.size):
        m = order(model, i)
        width = model.h_col[i] + m
        at = model.h_at[i]
        k = model.parent[i]
        if k > 0:
            gather(ws.Hr, at, width, m, ws.lam, 6 * k, ws.lam, 6 * i, order(model, k))
            for c in range(model.child_at[k], model.child_at[k + 1]):
                j = model.child[c]
                if j == i:
                    break
                gather(
                    ws.Hr,
                    at + model.h_col[j],
                    width,
                    m,
                    ws.lam,
                    6 * j,
                    ws.lam,
                    6 * i,
                    order(model, j),
                )
        solve_lower(ws.Hr, at + model.h_col[i], width, m, ws.lam, 6 * i)
