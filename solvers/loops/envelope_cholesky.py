"""Pivoted Cholesky factor of G = J M⁻¹ Jᵀ in envelope storage, one block per pair of groups with a
common body on their paths.

Groups are eliminated in order, rows inside a group by largest pivot; a row whose pivot is rounding
noise, or exceeds the group's rank, is redundant: it is dropped and its multiplier is zero. Groups
of two or three rows with clearly nonzero pivots keep their own order (`block2_factor`,
`block3_factor`). Products run over the bodies that two groups share, which are listed. Cost: linear
in the number of groups for a bounded envelope. Diagonals of factors hold reciprocals.
"""

import math

from kinetree.solvers import layout as L
from kinetree.solvers.kernel import kernel
from kinetree.solvers.loops.block2_factor import (
    add_products_of_twos,
    divide_two,
    factor_two,
    square_of_two,
    subtract_twos,
)
from kinetree.solvers.loops.block3_factor import (
    EVEN,
    add_products_of_threes,
    divide_three,
    factor_three,
    square_of_three,
    subtract_threes,
)

# squared sine of the angle to the rows before it below which a row is redundant: rounding of G (1e-16) and the square of drift (1e-18) are smaller
REDUNDANT = 1e-12
# part of the largest diagonal below which the diagonal of a whole group is noise
NOTHING = 1e-14
# rows to be factored: all; those that hold positions; all within the ranks found when the mechanism was assembled
ALL, PLACING, MOVING = 0, 1, 2


@kernel
def rows_in(model, k):
    """Return the number of constraint rows of group k."""
    return model.l_row[k + 1] - model.l_row[k]


@kernel
def block_at(model, k, m):
    """Return the index of block (k, m) in the envelope storage."""
    return model.l_env[k] + rows_in(model, k) * (model.l_row[m] - model.l_row[model.l_first[k]])


@kernel
def form_gram(model, ws):
    """Compute the lower blocks ws.loop_g = Xᵀ Z and the scale of their diagonal."""
    for k in range(model.l_kind.size):
        for m in range(model.l_first[k], k):
            add_shared(model, ws, k, m)
        rows = rows_in(model, k)
        first = model.l_x[model.l_at[k]] if model.l_at[k] < model.l_at[k + 1] else 0
        if rows == 3:
            square_of_three(ws, block_at(model, k, k), first, model.l_columns[k])
        elif rows == 2:
            square_of_two(ws, block_at(model, k, k), first, model.l_columns[k])
        else:
            square(ws, block_at(model, k, k), first, model.l_columns[k], rows)
    measure_diagonal(model, ws)


@kernel
def square(ws, at, first, columns, rows):
    """Compute the lower half of a diagonal block."""
    for c in range(rows * rows):
        ws.loop_g[at + c] = 0.0
    if rows % 3 == 0:
        add_products_of_threes(ws, at, first, rows, first, rows, columns)
        return
    for k in range(first, first + rows * columns, rows):
        for r in range(rows):
            for c in range(r + 1):
                ws.loop_g[at + r * rows + c] += ws.loop_z[k + r] * ws.loop_x[k + c]


@kernel
def add_shared(model, ws, k, m):
    """Compute block (k, m) of the Gram matrix: products over the bodies on the paths of both
    groups.
    """
    at = block_at(model, k, m)
    rows, cols = rows_in(model, k), rows_in(model, m)
    for c in range(rows * cols):
        ws.loop_g[at + c] = 0.0
    block = model.l_block[k] + m - model.l_first[k]
    for p in range(model.l_shared_at[block], model.l_shared_at[block + 1]):
        a, b = model.l_x[model.l_shared[2 * p]], model.l_x[model.l_shared[2 * p + 1]]
        i = model.l_body[model.l_shared[2 * p]]
        speeds = model.u_at[i + 1] - model.u_at[i]
        if rows % 3 == 0 and cols % 3 == 0:
            add_products_of_threes(ws, at, a, rows, b, cols, speeds)
            continue
        if rows == 2 and cols == 2:
            add_products_of_twos(ws, at, a, b, speeds)
            continue
        for j in range(speeds):
            for r in range(rows):
                for c in range(cols):
                    ws.loop_g[at + r * cols + c] += (
                        ws.loop_z[a + rows * j + r] * ws.loop_x[b + cols * j + c]
                    )


@kernel
def measure_diagonal(model, ws):
    """Compute the largest diagonal element per group, separately for translations and rotations,
    bounded below by the rounding noise.
    """
    top = 0.0
    spin = 0.0
    for k in range(model.l_kind.size):
        rows = rows_in(model, k)
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
def scale_of(model, ws, k, r):
    """Return the scale (largest diagonal element of its kind) of row r of group k."""
    return ws.loop_scale[2 * k + model.l_part[model.l_row[k] + r] // 3]


@kernel
def largest_rank(model, ws, k, rows, use):
    """Return the number of rows of group k that may be kept for `use`."""
    if use == MOVING:
        return int(ws.loop_rank[k])
    return rows if use == ALL or model.l_level[k] == L.POSITIONS else 0


@kernel
def factor(model, ws, damping, use):
    """Overwrite ws.loop_g by the Cholesky factor of G + damping * scale for the rows of `use`: ALL,
    PLACING or MOVING.

    Returns the smallest squared sine of the angle between a kept row and those before it, 0 when a group does not reach its rank.
    """
    clear = 1.0
    for k in range(model.l_kind.size):
        rows = rows_in(model, k)
        at = block_at(model, k, k)
        for m in range(model.l_first[k], k):
            eliminate_block(model, ws, k, m, rows)
            subtract(model, ws, at, block_at(model, k, m), rows, block_at(model, k, m), rows, m)
        for r in range(rows):
            ws.loop_g[at + r * rows + r] += damping * scale_of(model, ws, k, r)
        clear = min(
            clear, factor_group(model, ws, k, rows, at, largest_rank(model, ws, k, rows, use))
        )
    return clear


@kernel
def subtract(model, ws, at, a, rows, b, cols, m):
    """Subtract the product of two factor blocks, over the columns of group m, from the block at
    index `at`.
    """
    width, kept = rows_in(model, m), int(ws.loop_found[m])
    if rows == 3 and cols == 3 and width == 3 and kept == 3:
        subtract_threes(ws, at, a, b)
        return
    if rows == 2 and cols == 2 and width == 2 and kept == 2:
        subtract_twos(ws, at, a, b)
        return
    for r in range(rows):
        for c in range(cols):
            x = 0.0
            for j in range(kept):
                x += ws.loop_g[a + r * width + j] * ws.loop_g[b + c * width + j]
            ws.loop_g[at + r * cols + c] -= x


@kernel
def eliminate_block(model, ws, k, m, rows):
    """Compute block (k, m) of the factor from the matrix block, earlier columns and the factor of
    group m.
    """
    at = block_at(model, k, m)
    cols, rank = rows_in(model, m), int(ws.loop_found[m])
    diagonal = block_at(model, m, m)
    for q in range(max(model.l_first[k], model.l_first[m]), m):
        subtract(model, ws, at, block_at(model, k, q), rows, block_at(model, m, q), cols, q)
    if rows == cols and ws.loop_even[m] != 0.0:
        if rows == 3:
            divide_three(ws, at, diagonal)
        else:
            divide_two(ws, at, diagonal)
        return
    for r in range(rows):
        for c in range(cols):
            ws.loop_b[c] = ws.loop_g[at + r * cols + c]
        for c in range(rank):
            p = int(ws.loop_pivot[model.l_row[m] + c])
            x = ws.loop_b[p]
            for j in range(c):
                x -= ws.loop_g[at + r * cols + j] * ws.loop_g[diagonal + p * cols + j]
            ws.loop_g[at + r * cols + c] = x * ws.loop_g[diagonal + p * cols + c]


@kernel
def factor_group(model, ws, k, rows, at, limit):
    """Factor the diagonal block of group k with at most `limit` pivots; return the smallest squared
    sine, 0 if rank deficient.
    """
    ws.loop_even[k] = 0.0
    if rows == 3 and limit == 3:
        clear = factor_three(
            ws,
            at,
            (scale_of(model, ws, k, 0), scale_of(model, ws, k, 1), scale_of(model, ws, k, 2)),
        )
        if clear > 0.0:
            ws.loop_even[k] = 1.0
            ws.loop_found[k] = 3.0
            for r in range(3):
                ws.loop_pivot[model.l_row[k] + r] = r
            return clear
    elif rows == 2 and limit == 2:
        clear = factor_two(ws, at, scale_of(model, ws, k, 0), scale_of(model, ws, k, 1))
        if clear > 0.0:
            ws.loop_even[k] = 1.0
            ws.loop_found[k] = 2.0
            ws.loop_pivot[model.l_row[k]] = 0
            ws.loop_pivot[model.l_row[k] + 1] = 1
            return clear
    elif rows == limit:
        clear = factor_in_order(model, ws, k, rows, at)
        if clear > 0.0:
            return clear
    return factor_by_pivots(model, ws, k, rows, at, limit)


@kernel
def factor_in_order(model, ws, k, rows, at):
    """Factor a diagonal block, whose pivots are all clearly nonzero, in the order of its rows;
    return the smallest relative pivot, or 0 if left unchanged.
    """
    S = ws.small
    clear = 1.0
    for r in range(rows):
        for c in range(r):
            x = ws.loop_g[at + r * rows + c]
            for j in range(c):
                x -= S[r * rows + j] * S[c * rows + j]
            S[r * rows + c] = x * S[c * rows + c]
        d, scale = ws.loop_g[at + r * rows + r], scale_of(model, ws, k, r)
        for j in range(r):
            d -= S[r * rows + j] * S[r * rows + j]
        if not d > EVEN * scale:
            return 0.0
        clear = min(clear, d / scale)
        S[r * rows + r] = 1.0 / math.sqrt(d)
    for r in range(rows):
        ws.loop_pivot[model.l_row[k] + r] = r
        for c in range(r + 1):
            ws.loop_g[at + r * rows + c] = S[r * rows + c]
    ws.loop_found[k] = rows
    return clear


@kernel
def factor_by_pivots(model, ws, k, rows, at, limit):
    """Factor the diagonal block by largest pivots, relative to the scale of its rows; return the
    smallest squared sine.

    The remaining matrix is kept in the lower triangle of `small`; column c of the factor belongs to
    the c-th pivot, its rows keep their order.
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
            scale = scale_of(model, ws, k, r)
            if S[36 + r] == 1.0 and S[r * rows + r] > best * scale:
                best = S[r * rows + r] / scale
                p = r
        if p < 0:
            clear = 0.0
            break
        clear = min(clear, best)
        S[36 + p] = 0.0
        ws.loop_pivot[pivots + rank] = p
        d = 1.0 / math.sqrt(S[p * rows + p])
        for r in range(rows):
            ws.loop_g[at + r * rows + rank] = (
                d if r == p else (S[r * rows + p] * d if S[36 + r] == 1.0 else 0.0)
            )
        take_column(ws, rows, at, rank)
        rank += 1
    ws.loop_found[k] = rank
    return clear


@kernel
def take_column(ws, rows, at, rank):
    """Subtract the outer product of a new factor column from the remaining matrix."""
    S = ws.small
    for r in range(rows):
        if S[36 + r] == 1.0:
            for c in range(rows):
                if S[36 + c] == 1.0:
                    S[r * rows + c] -= (
                        ws.loop_g[at + r * rows + rank] * ws.loop_g[at + c * rows + rank]
                    )
