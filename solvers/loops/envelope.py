"""Pivoted Cholesky factor of G = J M⁻¹ Jᵀ in envelope storage, one block per pair of groups that meet on some path.

Groups are eliminated in order, rows inside a group by largest pivot; a row whose pivot is noise, or beyond the group's rank, is redundant: it is
dropped and its multiplier is zero. Cost: linear in the number of groups for a bounded envelope.
"""

import math

from kinetree.solvers import layout as L
from kinetree.solvers.kernel import kernel

# squared sine of the angle to the rows before it below which a row is redundant: rounding of G (1e-16) and the square of drift (1e-18) are smaller
REDUNDANT = 1e-12
# part of the largest diagonal below which the diagonal of a whole group is noise
NOTHING = 1e-14
# rows to be factored: all; those that hold positions; all within the ranks found when the mechanism was assembled
ALL, PLACING, MOVING = 0, 1, 2


@kernel
def block_at(model, k, m):
    """Start of block (k, m) of the envelope."""
    rows = model.l_row[k + 1] - model.l_row[k]
    return model.l_env[k] + rows * (model.l_row[m] - model.l_row[model.l_first[k]])


@kernel
def form_gram(model, ws):
    """ws.loop_g = Yᵀ Y, lower blocks, and the sizes of its diagonal."""
    for k in range(model.l_kind.size):
        for m in range(model.l_first[k], k + 1):
            add_products(model, ws, k, m)
    measure_diagonal(model, ws)


@kernel
def add_products(model, ws, k, m):
    """Block (k, m): products over the bodies that both groups have on their paths."""
    at = block_at(model, k, m)
    rows = model.l_row[k + 1] - model.l_row[k]
    cols = model.l_row[m + 1] - model.l_row[m]
    for c in range(rows * cols):
        ws.loop_g[at + c] = 0.0
    e = model.l_at[k]
    f = model.l_at[m]
    while e < model.l_at[k + 1] and f < model.l_at[m + 1]:
        if model.l_body[e] < model.l_body[f]:
            e += 1
        elif model.l_body[e] > model.l_body[f]:
            f += 1
        else:
            i = model.l_body[e]
            n = model.u_at[i + 1] - model.u_at[i]
            for r in range(rows):
                a = model.l_y[e] + r * n
                for c in range(cols if k != m else r + 1):
                    b = model.l_y[f] + c * n
                    x = 0.0
                    for j in range(n):
                        x += ws.loop_y[a + j] * ws.loop_y[b + j]
                    ws.loop_g[at + r * cols + c] += x
            e += 1
            f += 1


@kernel
def measure_diagonal(model, ws):
    """Largest diagonal per group, of position rows and of rotation rows; lifted above the noise of the whole: rows of nothing are redundant."""
    top = 0.0
    spin = 0.0
    for k in range(model.l_kind.size):
        rows = model.l_row[k + 1] - model.l_row[k]
        at = block_at(model, k, k)
        ws.loop_scale[2 * k] = 0.0
        ws.loop_scale[2 * k + 1] = 0.0
        for r in range(rows):
            half = 2 * k + model.l_part[model.l_row[k] + r] // 3
            ws.loop_scale[half] = max(ws.loop_scale[half], ws.loop_g[at + r * rows + r])
        top = max(top, ws.loop_scale[2 * k])
        spin = max(spin, ws.loop_scale[2 * k + 1])
    for k in range(model.l_kind.size):
        ws.loop_scale[2 * k] = max(ws.loop_scale[2 * k], NOTHING * (top + spin))
        ws.loop_scale[2 * k + 1] = max(ws.loop_scale[2 * k + 1], NOTHING * (top + spin))


@kernel
def largest_rank(model, ws, k, rows, use):
    """How many rows of group k may be kept."""
    if use == MOVING:
        return int(ws.loop_rank[k])
    return rows if use == ALL or model.l_level[k] == L.POSITIONS else 0


@kernel
def factor(model, ws, damping, use):
    """Overwrite ws.loop_g by the factor of G + damping * scale of the rows that `use` tells: ALL, PLACING or MOVING.

    Returns the smallest squared sine of the angle between a kept row and those before it, 0 when a group does not reach its rank.
    """
    clear = 1.0
    for k in range(model.l_kind.size):
        rows = model.l_row[k + 1] - model.l_row[k]
        first = model.l_first[k]
        for m in range(first, k):
            eliminate_block(model, ws, k, m, first, rows)
        at = block_at(model, k, k)
        for m in range(first, k):
            b = block_at(model, k, m)
            cols = model.l_row[m + 1] - model.l_row[m]
            kept = int(ws.loop_found[m])
            for r in range(rows):
                for c in range(r + 1):
                    x = 0.0
                    for j in range(kept):
                        x += ws.loop_g[b + r * cols + j] * ws.loop_g[b + c * cols + j]
                    ws.loop_g[at + r * rows + c] -= x
        for r in range(rows):
            ws.loop_g[at + r * rows + r] += damping * ws.loop_scale[2 * k + model.l_part[model.l_row[k] + r] // 3]
        clear = min(clear, factor_group(model, ws, k, rows, at, largest_rank(model, ws, k, rows, use)))
    return clear


@kernel
def eliminate_block(model, ws, k, m, first, rows):
    """Block (k, m) of the factor: A_km minus the products of earlier columns, times the inverse transposed factor of group m."""
    at = block_at(model, k, m)
    cols = model.l_row[m + 1] - model.l_row[m]
    diagonal = block_at(model, m, m)
    for q in range(max(first, model.l_first[m]), m):
        a = block_at(model, k, q)
        b = block_at(model, m, q)
        width = model.l_row[q + 1] - model.l_row[q]
        kept = int(ws.loop_found[q])
        for r in range(rows):
            for c in range(cols):
                x = 0.0
                for j in range(kept):
                    x += ws.loop_g[a + r * width + j] * ws.loop_g[b + c * width + j]
                ws.loop_g[at + r * cols + c] -= x
    rank = int(ws.loop_found[m])
    for r in range(rows):
        for c in range(cols):
            ws.loop_b[c] = ws.loop_g[at + r * cols + c]
        for c in range(rank):
            p = int(ws.loop_pivot[model.l_row[m] + c])
            x = ws.loop_b[p]
            for j in range(c):
                x -= ws.loop_g[at + r * cols + j] * ws.loop_g[diagonal + p * cols + j]
            ws.loop_g[at + r * cols + c] = x / ws.loop_g[diagonal + p * cols + c]


@kernel
def factor_group(model, ws, k, rows, at, limit):
    """Factor the diagonal block by largest pivots, relative to the scale of its rows.

    The rest of the matrix is kept in the lower triangle of `small`; column c of the factor belongs to the c-th pivot, its rows keep their order.
    """
    pivots = model.l_row[k]
    S = ws.small
    for r in range(rows):
        S[36 + r] = 1.0
        for c in range(r + 1):
            S[r * rows + c] = ws.loop_g[at + r * rows + c]
            S[c * rows + r] = S[r * rows + c]
    rank = 0
    clear = 1.0
    while rank < limit:
        p = -1
        best = REDUNDANT
        for r in range(rows):
            scale = ws.loop_scale[2 * k + model.l_part[pivots + r] // 3]
            if S[36 + r] == 1.0 and S[r * rows + r] > best * scale:
                best = S[r * rows + r] / scale
                p = r
        if p < 0:
            clear = 0.0
            break
        clear = min(clear, best)
        S[36 + p] = 0.0
        ws.loop_pivot[pivots + rank] = p
        d = math.sqrt(S[p * rows + p])
        for r in range(rows):
            ws.loop_g[at + r * rows + rank] = d if r == p else (S[r * rows + p] / d if S[36 + r] == 1.0 else 0.0)
        for r in range(rows):
            if S[36 + r] == 1.0:
                for c in range(rows):
                    if S[36 + c] == 1.0:
                        S[r * rows + c] -= ws.loop_g[at + r * rows + rank] * ws.loop_g[at + c * rows + rank]
        rank += 1
    ws.loop_found[k] = rank
    return clear


@kernel
def solve_factor(model, ws, x):
    """x <- solution of G x = x in the kept rows, zero in the others; scratch: ws.loop_b."""
    for k in range(model.l_kind.size):
        rows = model.l_row[k + 1] - model.l_row[k]
        own = model.l_row[k]
        for m in range(model.l_first[k], k):
            at = block_at(model, k, m)
            cols = model.l_row[m + 1] - model.l_row[m]
            for r in range(rows):
                for j in range(int(ws.loop_found[m])):
                    x[own + r] -= ws.loop_g[at + r * cols + j] * ws.loop_b[model.l_row[m] + j]
        at = block_at(model, k, k)
        for c in range(int(ws.loop_found[k])):
            p = int(ws.loop_pivot[own + c])
            z = x[own + p]
            for j in range(c):
                z -= ws.loop_g[at + p * rows + j] * ws.loop_b[own + j]
            ws.loop_b[own + c] = z / ws.loop_g[at + p * rows + c]
    solve_transposed(model, ws, x)


@kernel
def solve_transposed(model, ws, x):
    """Second half of `solve_factor`, last group first."""
    for k in range(model.l_kind.size - 1, -1, -1):
        rows = model.l_row[k + 1] - model.l_row[k]
        own = model.l_row[k]
        at = block_at(model, k, k)
        rank = int(ws.loop_found[k])
        for r in range(rows):
            x[own + r] = 0.0
        for c in range(rank - 1, -1, -1):
            p = int(ws.loop_pivot[own + c])
            z = ws.loop_b[own + c]
            for j in range(c + 1, rank):
                q = int(ws.loop_pivot[own + j])
                z -= ws.loop_g[at + q * rows + c] * x[own + q]
            x[own + p] = z / ws.loop_g[at + p * rows + c]
        for m in range(model.l_first[k], k):
            block = block_at(model, k, m)
            cols = model.l_row[m + 1] - model.l_row[m]
            for j in range(int(ws.loop_found[m])):
                for r in range(rows):
                    ws.loop_b[model.l_row[m] + j] -= ws.loop_g[block + r * cols + j] * x[own + r]
