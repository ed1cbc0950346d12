"""A dense convex quadratic program with bounds, limits of change and soft limits, by a primal-dual interior-point method.

Minimise z·H z/2 + g·z + Σ s_r²/(2 c_r) subject to low_r <= a_r·z + s_r <= high_r. Rows r, R = 2 n + p of them:

    r < n             bounds of z_r: a_r picks z_r
    n <= r < 2 n      limits of change: z_j - z_(j-m), j = r - n; of the first m numbers z_j alone
    2 n <= r          dense rows a_r of `rows` (p by n)

c_r = 0 is a hard row (s_r = 0). Bounds beyond +-NO_BOUND are none. H must be positive definite. All is scaled: numbers by the diagonal
of H, rows to length 1, the objective by its gradient. Predictor and corrector of S. Mehrotra (SIAM J. Optim. 2 (1992) 575); at most
MAX_ITERATIONS factorisations, so that the time is bounded.
"""

import math

from kinetree.solvers.kernel import kernel

NO_BOUND = 1e29
MAX_ITERATIONS = 40
GAP = 1e-12  # mean complementarity at the end, of scaled numbers
FULL_STEP = 0.9  # a last step of this length leaves no more than rounding of gradients and rows
COARSE_GAP = 1e-7  # a solution that the last iteration leaves is taken up to this
NARROWEST = 1e-9  # of scaled numbers: half the least width of a row
NOT_SOLVED = -1
TO_BOUNDARY = 0.9995  # part of the way to the nearest bound that a step takes
# parts of the table of rows in the scratch: bounds, compliance, coefficients of sparse rows; distances to both bounds and their
# multipliers, and how these change; weight in the normal matrix, and right-hand side
LOW, HIGH, SOFT, FIRST, SECOND = 0, 1, 2, 3, 4
BELOW, ABOVE, PUSH_UP, PUSH_DOWN = 5, 6, 7, 8
D_BELOW, D_ABOVE, D_UP, D_DOWN, WEIGHT, RIGHT = 9, 10, 11, 12, 13, 14
ROW_PARTS = 15


@kernel
def program_scratch(n, p):
    """Return the scratch length for a program with n variables and p dense rows."""
    return n * n + 4 * n + ROW_PARTS * (2 * n + p)


@kernel
def solve_program(z, H, g, rows, bounds, n, m, p, scratch):
    """Write the solution to z and return the number of factorisations, or NOT_SOLVED.

    `bounds` holds low, high and compliance of all rows consecutively. H, g and rows are
    overwritten.
    """
    R = 2 * n + p
    factors, table = scratch, scratch[n * n + 4 * n :]
    scale, residual, step = (
        scratch[n * n :],
        scratch[n * n + n :],
        scratch[n * n + 2 * n :],
    )
    size = scale_program(H, g, rows, bounds, n, m, p, scale, table)
    for k in range(n * n):
        factors[k] = H[k]
    if not factor(factors, n):
        return NOT_SOLVED
    for k in range(n):
        z[k] = -g[k]
    solve_factored(factors, n, z)
    found = 1 if inside(z, rows, table, n, m, R) else 0
    if found == 0:
        begin(z, rows, table, n, m, R)
        gap = gap_now(table, R)
    count, length = 1, 0.0
    while found == 0 and count < MAX_ITERATIONS:
        count += 1
        find_residual(residual, z, H, g, rows, table, n, m, R)
        normal_matrix(factors, H, rows, table, n, m, R)
        if not factor(factors, n):
            break
        find_step(step, residual, factors, z, rows, table, n, m, R, 0.0, 0.0)
        after = gap_after(table, R, longest_step(table, R, 1.0))
        centre = gap * (after / gap) ** 3
        find_step(step, residual, factors, z, rows, table, n, m, R, centre, 1.0)
        length = longest_step(table, R, TO_BOUNDARY)
        take_step(z, step, table, n, R, length)
        gap = gap_now(table, R)
        if gap < GAP and length > FULL_STEP:
            found = count
    for k in range(n):
        z[k] *= scale[k] * size
    if found > 0:
        return found
    return count if gap < COARSE_GAP else NOT_SOLVED


@kernel
def scale_program(H, g, rows, bounds, n, m, p, scale, table):
    """Scale variables, rows and objective in place; return the factor by which variables are
    divided in addition.
    """
    size, R = 0.0, 2 * n + p
    for k in range(n):
        scale[k] = 1.0 / math.sqrt(H[k * n + k]) if H[k * n + k] > 0.0 else 1.0
        g[k] *= scale[k]
        size = max(size, abs(g[k]))
    size = size if size > 0.0 else 1.0
    for k in range(n):
        g[k] /= size
        for j in range(n):
            H[k * n + j] *= scale[k] * scale[j]
    for r in range(R):
        length = 0.0
        table[FIRST * R + r], table[SECOND * R + r] = 1.0, 0.0
        if r < n:
            length = scale[r]
        elif r < n + m:
            length = scale[r - n]
        elif r < 2 * n:
            first, second = scale[r - n], scale[r - n - m]
            length = math.sqrt(first * first + second * second)
            table[FIRST * R + r], table[SECOND * R + r] = first / length, -second / length
        else:
            at = (r - 2 * n) * n
            for k in range(n):
                rows[at + k] *= scale[k]
                length += rows[at + k] * rows[at + k]
            length = math.sqrt(length)
            for k in range(n):
                rows[at + k] /= length if length > 0.0 else 1.0
        low, high = bounds[r], bounds[R + r]
        none = length == 0.0
        low = -math.inf if none or low <= -NO_BOUND else low / (length * size)
        high = math.inf if none or high >= NO_BOUND else high / (length * size)
        if high - low < 2.0 * NARROWEST:
            middle = 0.5 * (low + high)
            low, high = middle - NARROWEST, middle + NARROWEST
        table[LOW * R + r], table[HIGH * R + r] = low, high
        table[SOFT * R + r] = bounds[2 * R + r] / (length * length) if length > 0.0 else 0.0
    return size


@kernel
def factor(A, n):
    """Replace the lower triangle of A by its Cholesky factor; return False if A is not positive
    definite.
    """
    for j in range(n):
        d = A[j * n + j]
        for k in range(j):
            d -= A[j * n + k] * A[j * n + k]
        if not d > 1e-15:
            return False
        d = math.sqrt(d)
        A[j * n + j] = d
        for i in range(j + 1, n):
            s = A[i * n + j]
            for k in range(j):
                s -= A[i * n + k] * A[j * n + k]
            A[i * n + j] = s / d
    return True


@kernel
def solve_factored(L, n, x):
    """Solve L Lᵀ x = b in place."""
    for i in range(n):
        s = x[i]
        for k in range(i):
            s -= L[i * n + k] * x[k]
        x[i] = s / L[i * n + i]
    for i in range(n - 1, -1, -1):
        x[i] /= L[i * n + i]
        for k in range(i):
            x[k] -= L[i * n + k] * x[i]


@kernel
def row_value(r, z, rows, table, n, m, R):
    """Return the constraint value a_r·z of row r."""
    if r < n:
        return z[r]
    if r < 2 * n:
        j = r - n
        value = table[FIRST * R + r] * z[j]
        return value if j < m else value + table[SECOND * R + r] * z[j - m]
    at, value = (r - 2 * n) * n, 0.0
    for k in range(n):
        value += rows[at + k] * z[k]
    return value


@kernel
def add_row(out, factor_of_row, r, rows, table, n, m, R):
    """Add factor_of_row times a_r to `out`."""
    if r < n:
        out[r] += factor_of_row
    elif r < 2 * n:
        j = r - n
        out[j] += table[FIRST * R + r] * factor_of_row
        if j >= m:
            out[j - m] += table[SECOND * R + r] * factor_of_row
    else:
        at = (r - 2 * n) * n
        for k in range(n):
            out[k] += rows[at + k] * factor_of_row


@kernel
def inside(z, rows, table, n, m, R):
    """Return whether z lies within all bounds."""
    for r in range(R):
        value = row_value(r, z, rows, table, n, m, R)
        if value < table[LOW * R + r] or value > table[HIGH * R + r]:
            return False
    return True


@kernel
def begin(z, rows, table, n, m, R):
    """Clip z to its own bounds and choose initial slacks (distances to bounds) and multipliers of
    all rows.
    """
    for k in range(n):
        z[k] = min(max(z[k], table[LOW * R + k]), table[HIGH * R + k])
    for r in range(R):
        value = row_value(r, z, rows, table, n, m, R)
        low, high = table[LOW * R + r], table[HIGH * R + r]
        below, above = max(value - low, 1.0), max(high - value, 1.0)
        table[BELOW * R + r], table[ABOVE * R + r] = below, above
        table[PUSH_UP * R + r] = 1.0 / below if low > -math.inf else 0.0
        table[PUSH_DOWN * R + r] = 1.0 / above if high < math.inf else 0.0


@kernel
def gap_now(table, R):
    """Return the mean complementarity product of slacks and multipliers."""
    return gap_after(table, R, -1.0)


@kernel
def gap_after(table, R, step):
    """Return the mean complementarity product after a step; a negative step stands for none."""
    total, count = 0.0, 0.0
    t = max(step, 0.0)
    for r in range(R):
        if table[LOW * R + r] > -math.inf:
            change = table[D_BELOW * R + r], table[D_UP * R + r]
            moved = step > 0.0
            distance = table[BELOW * R + r] + (t * change[0] if moved else 0.0)
            total += distance * (table[PUSH_UP * R + r] + (t * change[1] if moved else 0.0))
            count += 1.0
        if table[HIGH * R + r] < math.inf:
            change = table[D_ABOVE * R + r], table[D_DOWN * R + r]
            moved = step > 0.0
            distance = table[ABOVE * R + r] + (t * change[0] if moved else 0.0)
            total += distance * (table[PUSH_DOWN * R + r] + (t * change[1] if moved else 0.0))
            count += 1.0
    return total / count if count > 0.0 else 0.0


@kernel
def find_residual(out, z, H, g, rows, table, n, m, R):
    """Compute the gradient of the Lagrangian."""
    for i in range(n):
        s = g[i]
        for k in range(n):
            s += H[i * n + k] * z[k]
        out[i] = s
    for r in range(R):
        push = table[PUSH_UP * R + r] - table[PUSH_DOWN * R + r]
        if push != 0.0:
            add_row(out, -push, r, rows, table, n, m, R)


@kernel
def soft_value(r, z, rows, table, n, m, R):
    """Return the relaxed constraint value a_r·z + s_r of row r, with its slack s_r."""
    push = table[PUSH_UP * R + r] - table[PUSH_DOWN * R + r]
    return row_value(r, z, rows, table, n, m, R) + table[SOFT * R + r] * push


@kernel
def normal_matrix(out, H, rows, table, n, m, R):
    """Compute the lower triangle of H + Aᵀ W A with the weights W of the rows."""
    for i in range(n):
        for k in range(i + 1):
            out[i * n + k] = H[i * n + k]
    for r in range(R):
        weight = table[PUSH_UP * R + r] / table[BELOW * R + r]
        weight += table[PUSH_DOWN * R + r] / table[ABOVE * R + r]
        weight /= 1.0 + table[SOFT * R + r] * weight
        table[WEIGHT * R + r] = weight
        if weight == 0.0:
            continue
        if r < n:
            out[r * n + r] += weight
        elif r < 2 * n:
            j = r - n
            first, second = table[FIRST * R + r], table[SECOND * R + r]
            out[j * n + j] += weight * first * first
            if j >= m:
                out[j * n + j - m] += weight * first * second
                out[(j - m) * n + j - m] += weight * second * second
        else:
            at = (r - 2 * n) * n
            for i in range(n):
                part = weight * rows[at + i]
                if part != 0.0:
                    for k in range(i + 1):
                        out[i * n + k] += part * rows[at + k]


@kernel
def find_step(step, residual, factors, z, rows, table, n, m, R, centre, second):
    """Compute the Newton step towards complementarity products equal to `centre`.

    `second` = 1 adds the second-order correction, the products of the changes in the table.
    """
    for k in range(n):
        step[k] = -residual[k]
    for r in range(R):
        up, down = table[PUSH_UP * R + r], table[PUSH_DOWN * R + r]
        right, value = 0.0, soft_value(r, z, rows, table, n, m, R)
        below, above = table[BELOW * R + r], table[ABOVE * R + r]
        weight = 0.0
        if table[LOW * R + r] > -math.inf:
            want = centre - below * up - second * table[D_BELOW * R + r] * table[D_UP * R + r]
            right += (want - up * (value - table[LOW * R + r] - below)) / below
            weight += up / below
            table[D_UP * R + r] = want
        if table[HIGH * R + r] < math.inf:
            want = centre - above * down - second * table[D_ABOVE * R + r] * table[D_DOWN * R + r]
            right -= (want - down * (table[HIGH * R + r] - value - above)) / above
            weight += down / above
            table[D_DOWN * R + r] = want
        table[RIGHT * R + r] = right / (1.0 + table[SOFT * R + r] * weight)
        if table[RIGHT * R + r] != 0.0:
            add_row(step, table[RIGHT * R + r], r, rows, table, n, m, R)
    solve_factored(factors, n, step)
    for r in range(R):
        moved = row_value(r, step, rows, table, n, m, R)
        value = soft_value(r, z, rows, table, n, m, R)
        change = table[RIGHT * R + r] - table[WEIGHT * R + r] * moved
        moved += table[SOFT * R + r] * change
        below, above = table[BELOW * R + r], table[ABOVE * R + r]
        if table[LOW * R + r] > -math.inf:
            table[D_BELOW * R + r] = moved + value - table[LOW * R + r] - below
            want = table[D_UP * R + r] - table[PUSH_UP * R + r] * table[D_BELOW * R + r]
            table[D_UP * R + r] = want / below
        if table[HIGH * R + r] < math.inf:
            table[D_ABOVE * R + r] = -moved + table[HIGH * R + r] - value - above
            want = table[D_DOWN * R + r] - table[PUSH_DOWN * R + r] * table[D_ABOVE * R + r]
            table[D_DOWN * R + r] = want / above


@kernel
def longest_step(table, R, part):
    """Return the largest step, at most 1, that keeps slacks and multipliers positive; `part` is the
    fraction of the distance to the boundary.
    """
    step = 1.0
    for r in range(R):
        if table[LOW * R + r] > -math.inf:
            step = bounded(step, table[BELOW * R + r], table[D_BELOW * R + r], part)
            step = bounded(step, table[PUSH_UP * R + r], table[D_UP * R + r], part)
        if table[HIGH * R + r] < math.inf:
            step = bounded(step, table[ABOVE * R + r], table[D_ABOVE * R + r], part)
            step = bounded(step, table[PUSH_DOWN * R + r], table[D_DOWN * R + r], part)
    return step


@kernel
def bounded(step, value, change, part):
    """Return the step, shortened if it would make a positive value negative."""
    return min(step, -part * value / change) if change < 0.0 else step


@kernel
def take_step(z, step, table, n, R, length):
    """Move variables, slacks and multipliers by `length` times the step."""
    for k in range(n):
        z[k] += length * step[k]
    for r in range(R):
        if table[LOW * R + r] > -math.inf:
            table[BELOW * R + r] += length * table[D_BELOW * R + r]
            table[PUSH_UP * R + r] += length * table[D_UP * R + r]
        if table[HIGH * R + r] < math.inf:
            table[ABOVE * R + r] += length * table[D_ABOVE * R + r]
            table[PUSH_DOWN * R + r] += length * table[D_DOWN * R + r]
