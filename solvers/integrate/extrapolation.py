"""One step of order 8 by the extrapolated midpoint rule (Gragg) with 16 evaluations.

Used to start multistep methods and, as their fallback, just before a hard time limit.
"""

from kinetree.solvers.integrate.controller import BLOCKS, F_NEW, block, copy, evaluate
from kinetree.solvers.kernel import kernel

COLUMNS = 4
BEFORE, NOW, RATE, ROWS = range(BLOCKS, BLOCKS + 4)
GBS_END = ROWS + COLUMNS  # first block a method may use for itself


@kernel
def midpoint(row, mem, rhs, context, t, y, h, substeps):
    """Compute the modified midpoint rule from (t, y) over h in the given number of substeps into
    `row`.
    """
    before, now, rate, f = block(mem, BEFORE), block(mem, NOW), block(mem, RATE), block(mem, F_NEW)
    d = h / substeps
    for i in range(len(y)):
        before[i] = y[i]
        now[i] = y[i] + d * f[i]
    for m in range(1, substeps):
        status = evaluate(rate, mem, rhs, context, t + m * d, now)
        if status != 0:
            return status
        for i in range(len(y)):
            after = before[i] + 2.0 * d * rate[i]
            before[i] = now[i]
            now[i] = after
    copy(row, now)
    return 0


@kernel
def extrapolated(y, mem, rhs, context, t, h):
    """Advance y from t by h with the extrapolated midpoint rule; F_NEW must hold the rate at (t,
    y). Return the status.
    """
    for k in range(COLUMNS):
        status = midpoint(block(mem, ROWS + k), mem, rhs, context, t, y, h, 2 * (k + 1))
        if status != 0:
            return status
        for j in range(k - 1, -1, -1):  # Aitken-Neville: row j becomes the value of column k - j
            ratio = ((k + 1) / (j + 1)) ** 2
            row, finer = block(mem, ROWS + j), block(mem, ROWS + j + 1)
            for i in range(len(y)):
                row[i] = finer[i] + (finer[i] - row[i]) / (ratio - 1.0)
    copy(y, block(mem, ROWS))
    return 0
