"""Lookup tables in the form that kernels read: records of `model_records.TABLE` and one array of
grids, values and spline moments.
"""

import math
from collections.abc import Sequence

import numpy as np

from kinetree.models.expressions.nodes import ExpressionError
from kinetree.solvers.model_records import TABLE


class Tables:
    """Lookup tables in the order in which they were added."""

    def __init__(self):
        self.index: dict[str, int] = {}
        self.variables: dict[str, int] = {}
        self._records: list[int] = []
        self._data: list[np.ndarray] = []

    def add(
        self,
        name: str,
        x: Sequence[float],
        y: Sequence[float],
        z=None,
        method: str = "linear",
        extrapolate: bool = False,
    ) -> int:
        """Add values y on the grid x, or values z on the grid x, y, and return the table's index.

        Row i of z belongs to x[i]. Methods: "linear", "monotone" (stays between neighbouring
        values), "spline" (continuous second derivatives, may overshoot).
        """
        if name in self.index:
            raise ExpressionError(f"table '{name}' is defined twice")
        grids = [grid(name, "x", x)] + ([] if z is None else [grid(name, "y", y)])
        shape = tuple(each.size for each in grids)
        values = finite(name, "y" if z is None else "z", y if z is None else z)
        if values.size != math.prod(shape) or (values.ndim > 1 and values.shape != shape):
            found = " x ".join(map(str, values.shape))
            raise ExpressionError(
                f"table '{name}': {' x '.join(map(str, shape))} values expected, found {found}"
            )
        offset = sum(part.size for part in self._data)
        grids, stored = LAYERS[method](grids, values.reshape(shape))
        self._data += [*grids, *stored]
        self._records += [
            int(method != "linear"),
            int(extrapolate),
            grids[0].size,
            0 if z is None else grids[1].size,
            offset,
            0,
        ]
        self.index[name] = len(self._records) // TABLE.size - 1
        self.variables[name] = len(shape)
        return self.index[name]

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the records and the data of all tables."""
        data = [part.ravel() for part in self._data]
        return np.array(self._records, dtype=np.int64), np.concatenate(data) if data else np.zeros(
            0
        )


def finite(name: str, key: str, numbers) -> np.ndarray:
    try:
        result = np.array(numbers, dtype=np.float64)
    except (TypeError, ValueError):
        raise ExpressionError(f"table '{name}': {key} is not a regular array of numbers") from None
    if not np.isfinite(result).all():
        raise ExpressionError(f"table '{name}': {key} has an entry that is not a finite number")
    return result


def grid(name: str, key: str, numbers) -> np.ndarray:
    result = finite(name, key, numbers)
    if result.ndim != 1 or result.size < 2:
        raise ExpressionError(f"table '{name}': {key} needs two numbers or more")
    falls = np.flatnonzero(np.diff(result) <= 0.0)
    if falls.size:
        k = falls[0]
        raise ExpressionError(
            f"table '{name}': {key} must increase, found {result[k]:g} before {result[k + 1]:g} (entries {k + 1} and {k + 2})"
        )
    return result


Layers = tuple[list[np.ndarray], list[np.ndarray]]  # grids, then values and second derivatives


def linear_layers(grids: list[np.ndarray], values: np.ndarray) -> Layers:
    """Return the arrays of a linear table: grids and values."""
    return grids, [values]


def spline_layers(grids: list[np.ndarray], values: np.ndarray) -> Layers:
    """Return the arrays of a cubic table: grids, values, and second derivatives along x, along y
    and along both.

    Second derivatives are those of the not-a-knot spline (a parabola through three points, a line
    through two).
    """
    from scipy.interpolate import CubicSpline  # a quarter of a second, few descriptions need it

    result = [values]
    for axis, points in enumerate(grids):
        result += [CubicSpline(points, each, axis=axis)(points, 2) for each in result]
    return grids, result


def monotone_layers(grids: list[np.ndarray], values: np.ndarray) -> Layers:
    """Return the arrays of a monotone table: grids with every inner point twice, values there, and
    one-sided second derivatives.

    First derivatives at the points are those of Fritsch and Butland (SIAM J. Sci. Stat. Comput. 5
    (1984) 300). In two variables, the first and mixed derivatives of a point are reduced until the
    Bernstein coefficients of its four cells lie between the corner values of each cell, so that no
    cell leaves the range of its corners.
    """
    slopes = [monotone_slopes(points, values, axis) for axis, points in enumerate(grids)]
    if len(grids) == 1:
        return [doubled(grids[0])], hermite_layers(grids[0], values, slopes[0], 0)
    mixed = 0.5 * (
        monotone_slopes(grids[1], slopes[0], 1) + monotone_slopes(grids[0], slopes[1], 0)
    )
    part = kept_part(grids, values, slopes, mixed)
    along_x = hermite_layers(grids[0], values, part * slopes[0], 0)
    slope_y = hermite_layers(grids[0], part * slopes[1], part * mixed, 0)
    f, fxx = (
        hermite_layers(grids[1], each, slope, 1)
        for each, slope in zip(along_x, slope_y, strict=True)
    )
    return [doubled(each) for each in grids], [f[0], fxx[0], f[1], fxx[1]]


def monotone_slopes(points: np.ndarray, values: np.ndarray, axis: int) -> np.ndarray:
    """Return first derivatives at the points for which a cubic curve stays between neighbouring
    values.
    """
    from scipy.interpolate import PchipInterpolator

    return PchipInterpolator(points, values, axis=axis)(points, 1)


def kept_part(
    grids: list[np.ndarray], values: np.ndarray, slopes: list[np.ndarray], mixed: np.ndarray
) -> np.ndarray:
    """Return, for every point, the factor (0 to 1) by which its derivatives must be multiplied to
    keep its cells monotone.
    """
    nx, ny = values.shape
    part = np.ones_like(values)
    for i in range(nx):
        for j in range(ny):
            for k, m in ((i + 1, j + 1), (i + 1, j - 1), (i - 1, j + 1), (i - 1, j - 1)):
                if not (0 <= k < nx and 0 <= m < ny):
                    continue
                h, g = (grids[0][k] - grids[0][i]) / 3.0, (grids[1][m] - grids[1][j]) / 3.0
                change = h * slopes[0][i, j] + g * slopes[1][i, j] + h * g * mixed[i, j]
                cell = np.array([values[i, j], values[k, j], values[i, m], values[k, m]])
                room = (cell.max() if change > 0.0 else cell.min()) - values[i, j]
                if abs(change) > abs(room):
                    part[i, j] = min(part[i, j], room / change)
    return part


def hermite_layers(
    points: np.ndarray, values: np.ndarray, slopes: np.ndarray, axis: int
) -> list[np.ndarray]:
    """Return the values with inner points doubled, and the second derivatives at both ends of every
    cell.
    """
    y, s = np.moveaxis(values, axis, 0), np.moveaxis(slopes, axis, 0)
    h = np.diff(points).reshape(-1, *[1] * (y.ndim - 1))
    mean = np.diff(y, axis=0) / h
    ends = (
        (6.0 * mean - 4.0 * s[:-1] - 2.0 * s[1:]) / h,
        (2.0 * s[:-1] + 4.0 * s[1:] - 6.0 * mean) / h,
    )
    pairs = [np.stack((y[:-1], y[1:]), axis=1), np.stack(ends, axis=1)]
    return [np.moveaxis(pair.reshape(-1, *y.shape[1:]), 0, axis) for pair in pairs]


def doubled(points: np.ndarray) -> np.ndarray:
    """Return the points with every inner one doubled, as ends of the two cells beside it."""
    return np.stack((points[:-1], points[1:]), axis=1).ravel()


LAYERS = {"linear": linear_layers, "monotone": monotone_layers, "spline": spline_layers}
