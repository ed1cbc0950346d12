"""Tables of one and two variables: linear, or cubic splines with continuous second derivatives.

Value = a y_i + b y_(i+1) + c y''_i + d y''_(i+1) on the cell [x_i, x_(i+1)] with a = 1 - s, b = s,
c = (a³ - a) h²/6, d = (b³ - b) h²/6; a table of two variables takes such weights along both axes.
Outside the grid a table is constant or continues along its tangent. Data of a table: x, (y,)
values; a cubic one adds second derivatives: along x, and for two variables also along y and along
both.
"""

from kinetree.solvers.kernel import kernel
from kinetree.solvers.views import table_at


@kernel
def cell(data, at, n, x):
    """Return the cell i with grid[i] <= x < grid[i+1] by bisection; the first and the last cell
    extend outwards without limit.
    """
    low = 0
    high = n - 1
    while high - low > 1:
        middle = (low + high) >> 1
        if x >= data[at + middle]:
            low = middle
        else:
            high = middle
    return low


@kernel
def weights(x0, x1, cubic, x, order):
    """Return the weights a, b, c, d of cell values and second derivatives for the derivative of
    given order (0 to 3) at x.
    """
    h = x1 - x0
    b = (x - x0) / h
    a = 1.0 - b
    k = h * h / 6.0 if cubic else 0.0
    if order == 0:
        return a, b, k * (a * a * a - a), k * (b * b * b - b)
    if order == 1:
        return -1.0 / h, 1.0 / h, k / h * (1.0 - 3.0 * a * a), k / h * (3.0 * b * b - 1.0)
    if order == 2:
        return 0.0, 0.0, 6.0 * k / (h * h) * a, 6.0 * k / (h * h) * b
    return 0.0, 0.0, -6.0 * k / (h * h * h), 6.0 * k / (h * h * h)


@kernel
def weights_anywhere(x0, x1, first, last, cubic, extrapolate, x, order):
    """Return the interpolation weights on the cell x0..x1, with x clamped or extrapolated outside
    the grid first..last.
    """
    if first <= x <= last or x != x:
        return weights(x0, x1, cubic, x, order)
    edge = first if x < first else last
    if order == 0 and extrapolate:
        a, b, c, d = weights(x0, x1, cubic, edge, 0)
        da, db, dc, dd = weights(x0, x1, cubic, edge, 1)
        out = x - edge
        return a + out * da, b + out * db, c + out * dc, d + out * dd
    if order == 0 or (order == 1 and extrapolate):
        return weights(x0, x1, cubic, edge, order)
    return 0.0, 0.0, 0.0, 0.0


@kernel
def lookup1(tables, data, k, x, order):
    """Return the value or the derivative (order 1 to 3) of table k of one variable at x."""
    table = table_at(tables, k)
    cubic = table.kind == 1
    extrapolate = table.outside == 1
    n = table.nx
    at = table.data
    i = cell(data, at, n, x)
    a, b, c, d = weights_anywhere(
        data[at + i], data[at + i + 1], data[at], data[at + n - 1], cubic, extrapolate, x, order
    )
    y = at + n + i
    value = a * data[y] + b * data[y + 1]
    return value + c * data[y + n] + d * data[y + n + 1] if cubic else value


@kernel
def lookup2(tables, data, k, x, y, order_x, order_y):
    """Return the value or a partial derivative (orders order_x, order_y) of table k of two
    variables at x, y.
    """
    table = table_at(tables, k)
    cubic = table.kind == 1
    extrapolate = table.outside == 1
    nx, ny = table.nx, table.ny
    at = table.data
    grid = at + nx
    i = cell(data, at, nx, x)
    j = cell(data, grid, ny, y)
    wx = weights_anywhere(
        data[at + i], data[at + i + 1], data[at], data[at + nx - 1], cubic, extrapolate, x, order_x
    )
    wy = weights_anywhere(
        data[grid + j],
        data[grid + j + 1],
        data[grid],
        data[grid + ny - 1],
        cubic,
        extrapolate,
        y,
        order_y,
    )
    values = grid + ny + i * ny + j
    size = nx * ny
    value = patch(data, values, ny, wx[0], wx[1], wy[0], wy[1])
    if cubic:
        value += patch(data, values + size, ny, wx[2], wx[3], wy[0], wy[1])
        value += patch(data, values + 2 * size, ny, wx[0], wx[1], wy[2], wy[3])
        value += patch(data, values + 3 * size, ny, wx[2], wx[3], wy[2], wy[3])
    return value


@kernel
def patch(data, at, ny, a, b, c, d):
    """Return the sum of the values at the four corners of a cell, rows weighted by a, b and columns
    by c, d.
    """
    return a * (c * data[at] + d * data[at + 1]) + b * (c * data[at + ny] + d * data[at + ny + 1])
