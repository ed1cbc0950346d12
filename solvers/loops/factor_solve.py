"""Forward and back substitution by row groups with the factor of `envelope_cholesky`."""

from kinetree.solvers.kernel import kernel
from kinetree.solvers.loops.block2_factor import back_two, lower_two, pass_two, upper_two
from kinetree.solvers.loops.block3_factor import back_three, lower_three, pass_three, upper_three
from kinetree.solvers.loops.envelope_cholesky import block_at, rows_in


@kernel
def solve_factor(model, ws, x):
    """Solve G y = x in the kept rows and overwrite x by y; dropped rows get 0. Scratch: ws.loop_b."""
    for k in range(model.l_kind.size):
        rows = rows_in(model, k)
        own = model.l_row[k]
        for m in range(model.l_first[k], k):
            at = block_at(model, k, m)
            cols = rows_in(model, m)
            if rows == cols and ws.loop_even[m] != 0.0:
                if rows == 3:
                    pass_three(ws, x, own, at, model.l_row[m])
                else:
                    pass_two(ws, x, own, at, model.l_row[m])
                continue
            for r in range(rows):
                for j in range(int(ws.loop_found[m])):
                    x[own + r] -= ws.loop_g[at + r * cols + j] * ws.loop_b[model.l_row[m] + j]
        at = block_at(model, k, k)
        if ws.loop_even[k] != 0.0:
            if rows == 3:
                lower_three(ws, x, own, at)
            else:
                lower_two(ws, x, own, at)
            continue
        for c in range(int(ws.loop_found[k])):
            p = int(ws.loop_pivot[own + c])
            z = x[own + p]
            for j in range(c):
                z -= ws.loop_g[at + p * rows + j] * ws.loop_b[own + j]
            ws.loop_b[own + c] = z * ws.loop_g[at + p * rows + c]
    solve_transposed(model, ws, x)


@kernel
def solve_transposed(model, ws, x):
    """Perform the back substitution of `solve_factor` with the transposed factor, last group first."""
    for k in range(model.l_kind.size - 1, -1, -1):
        rows = rows_in(model, k)
        own = model.l_row[k]
        at = block_at(model, k, k)
        if ws.loop_even[k] != 0.0:
            if rows == 3:
                upper_three(ws, x, own, at)
            else:
                upper_two(ws, x, own, at)
        else:
            solve_by_pivots(ws, x, own, at, rows, int(ws.loop_found[k]))
        for m in range(model.l_first[k], k):
            block = block_at(model, k, m)
            cols = rows_in(model, m)
            if rows == cols and ws.loop_even[m] != 0.0:
                if rows == 3:
                    back_three(ws, x, own, block, model.l_row[m])
                else:
                    back_two(ws, x, own, block, model.l_row[m])
                continue
            for j in range(int(ws.loop_found[m])):
                for r in range(rows):
                    ws.loop_b[model.l_row[m] + j] -= ws.loop_g[block + r * cols + j] * x[own + r]


@kernel
def solve_by_pivots(ws, x, own, at, rows, rank):
    """Back-substitute one group whose rows were factored in pivot order: x = L⁻ᵀ ws.loop_b."""
    for r in range(rows):
        x[own + r] = 0.0
    for c in range(rank - 1, -1, -1):
        p = int(ws.loop_pivot[own + c])
        z = ws.loop_b[own + c]
        for j in range(c + 1, rank):
            q = int(ws.loop_pivot[own + j])
            z -= ws.loop_g[at + q * rows + c] * x[own + q]
        x[own + p] = z * ws.loop_g[at + p * rows + c]
