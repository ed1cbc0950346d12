"""Lookup tables as piecewise polynomials, evaluated by selections. One additional cell on either
side continues the table outside its grid.

On the cell that begins at x_i, with d = x - x_i, a table of one variable is the sum of c_m d^m; one
of two variables the sum of c_mn d^m e^n.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from kinetree.models.trace.symbol import select, symbolic
from kinetree.solvers.layout import Op
from kinetree.solvers.model_records import TABLE


class Axis:
    """Cells along one axis of a table: their start points, the grid points, and the map to
    coefficients.

    The map takes (f_i, f_i+1, f_i'', f_i+1''). Where a grid has a point twice (monotone tables),
    the empty cell in between is left out.
    """

    def __init__(self, grid: Sequence[float] | np.ndarray, cubic: bool, extrapolate: bool):
        every = np.diff(np.asarray(grid, dtype=float))
        full = np.flatnonzero(every > 0.0)
        self.grid = [float(grid[0]), *(float(grid[k + 1]) for k in full.tolist())]
        h = every[full]
        k = 1.0 if cubic else 0.0
        maps = [
            np.array(
                [
                    [1, 0, 0, 0],
                    [-1 / s, 1 / s, -s / 3 * k, -s / 6 * k],
                    [0, 0, k / 2, 0],
                    [0, 0, -k / (6 * s), k / (6 * s)],
                ]
            )
            for s in h
        ]
        first, last = np.zeros((4, 4)), np.zeros((4, 4))
        first[0, 0] = last[0, 1] = 1.0
        if extrapolate:
            first[1] = maps[0][1]
            s = h[-1]
            last[1] = [-1 / s, 1 / s, s / 6 * k, s / 3 * k]
        self.maps = [first, *maps, last]
        self.left = [0, *map(int, full), len(every) - 1]
        self.origin = [self.grid[0], *self.grid[:-1], self.grid[-1]]

    def cell(self, x: float) -> int:
        """Return the cell of x; 0 is below the grid, the last one above it."""
        if x < self.grid[0]:
            return 0
        if x > self.grid[-1]:
            return len(self.maps) - 1
        return min(bisect_right(self.grid, x), len(self.grid) - 1)


class Piecewise:
    """A table, or a derivative of one: coefficients[cell], or coefficients[cell of x, cell of y],
    four along each axis.
    """

    def __init__(self, axes: Sequence[Axis], coefficients: np.ndarray):
        self.axes = list(axes)
        self.coefficients = coefficients

    def value(self, *arguments: float) -> float:
        """Return the value of the table at plain numbers."""
        if any(x != x for x in arguments):
            return float("nan")
        cells = tuple(axis.cell(x) for axis, x in zip(self.axes, arguments, strict=True))
        c = self.coefficients[cells]
        for axis, cell, x in reversed(list(zip(self.axes, cells, arguments, strict=True))):
            d = x - axis.origin[cell]
            c = ((c[..., 3] * d + c[..., 2]) * d + c[..., 1]) * d + c[..., 0]
        return float(c)

    @cached_property
    def derivatives(self) -> list[Piecewise]:
        """Return the partial derivatives of the table, axis by axis."""
        found, count = [], len(self.axes)
        for k in range(count):
            c = np.moveaxis(np.zeros_like(self.coefficients), count + k, -1)
            c[..., :3] = np.moveaxis(self.coefficients, count + k, -1)[..., 1:] * [1.0, 2.0, 3.0]
            found.append(Piecewise(self.axes, np.moveaxis(c, -1, count + k)))
        return found


def piecewise(tables: Sequence[int], data: Sequence[float], k: int) -> Piecewise:
    """Return table k of a compiled model as piecewise polynomials."""
    table = TABLE.of(tables, TABLE.size * k)
    cubic, extrapolate, nx, ny, at = (
        table.kind == 1,
        table.outside == 1,
        table.nx,
        table.ny,
        table.data,
    )
    numbers = np.asarray(data, dtype=float)
    x = Axis(numbers[at : at + nx], cubic, extrapolate)
    if ny == 0:
        y, z = (
            numbers[at + nx : at + 2 * nx],
            numbers[at + 2 * nx : at + 3 * nx] if cubic else np.zeros(nx),
        )
        rows = [m @ [y[i], y[i + 1], z[i], z[i + 1]] for m, i in zip(x.maps, x.left, strict=True)]
        return Piecewise([x], np.array(rows))
    other = Axis(numbers[at + nx : at + nx + ny], cubic, extrapolate)
    size, first = nx * ny, at + nx + ny
    blocks = [
        numbers[first + b * size : first + (b + 1) * size].reshape(nx, ny)
        if cubic or b == 0
        else np.zeros((nx, ny))
        for b in range(4)
    ]
    f, fx, fy, fxy = blocks
    found = np.zeros((len(x.maps), len(other.maps), 4, 4))
    for a, (ma, i) in enumerate(zip(x.maps, x.left, strict=True)):
        for b, (mb, j) in enumerate(zip(other.maps, other.left, strict=True)):
            here = slice(i, i + 2), slice(j, j + 2)
            corner = np.block([[f[here], fy[here]], [fx[here], fxy[here]]])
            found[a, b] = ma @ corner @ mb.T
    return Piecewise([x, other], found)


ORDERS = {
    Op.TABLE1: (),
    Op.TABLE1_D: (0,),
    Op.TABLE1_DD: (0, 0),
    Op.TABLE2: (),
    Op.TABLE2_DX: (0,),
    Op.TABLE2_DY: (1,),
}


def chosen(axis: Axis, x: Any, values: Sequence[Any]) -> Any:
    """Return the value that belongs to the cell of x, by selections as in a bisection."""

    def between(first: int, last: int) -> Any:
        if last - first == 1 or all(value is values[first] for value in values[first:last]):
            return values[first]
        middle = (first + last) // 2
        if middle == len(values) - 1:  # the last grid point belongs to the last cell of the grid
            return select(x > axis.grid[-1], values[middle], between(first, middle))
        return select(x < axis.grid[middle - 1], between(first, middle), between(middle, last))

    return between(0, len(values))


def looked_up(table: Piecewise, arguments: Sequence[Any]) -> Any:
    """Return the table at symbols (or at a symbol and a number): selection of coefficients, then
    the polynomial.
    """
    axis, x, *rest = table.axes[0], arguments[0], *arguments[1:]
    d = x - chosen(axis, x, axis.origin)
    if rest:
        rows = [
            [looked_up(Piecewise(table.axes[1:], row[:, m]), rest) for m in range(4)]
            for row in table.coefficients
        ]
        coefficients = [chosen(axis, x, [row[m] for row in rows]) for m in range(4)]
    else:
        coefficients = [chosen(axis, x, table.coefficients[:, m].tolist()) for m in range(4)]
    return ((coefficients[3] * d + coefficients[2]) * d + coefficients[1]) * d + coefficients[0]


def traced(look_up: Callable) -> Callable:
    """Return the table lookup of the register machine, extended to symbols."""

    def call(op: int, k: int, x: Any, y: Any, tables: Sequence[int], data: Sequence[float]) -> Any:
        arguments = (x,) if op in (Op.TABLE1, Op.TABLE1_D, Op.TABLE1_DD) else (x, y)
        if symbolic(*arguments) is None:
            return look_up(op, k, x, y, tables, data)
        table = piecewise(tables, data, k)
        for axis in ORDERS[Op(op)]:
            table = table.derivatives[axis]
        return looked_up(table, arguments)

    return call
