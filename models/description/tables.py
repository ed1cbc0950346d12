"""Tables as the kernel wants them: records of `model_records.TABLE` and one array of grids, values and spline moments."""

import math
from collections.abc import Sequence

import numpy as np

from kinetree.models.expressions.nodes import ExpressionError
from kinetree.solvers.model_records import TABLE


class Tables:
    """Tables in the order in which they were added."""

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
        cubic: bool = False,
        extrapolate: bool = False,
    ) -> int:
        """Add values y on the grid x, or values z on the grid x, y (row i of z belongs to x[i]); return the table's index."""
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
        self._data += [*grids, *layers(grids, values.reshape(shape), cubic)]
        self._records += [
            int(cubic),
            int(extrapolate),
            shape[0],
            0 if z is None else shape[1],
            offset,
            0,
        ]
        self.index[name] = len(self._records) // TABLE.size - 1
        self.variables[name] = len(shape)
        return self.index[name]

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """The records and the data."""
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


def layers(grids: list[np.ndarray], values: np.ndarray, cubic: bool) -> list[np.ndarray]:
    """The values, for a cubic table followed by second derivatives along x, along y and along both."""
    if not cubic:
        return [values]
    result = [values]
    for axis, points in enumerate(grids):
        result += [moments(points, each, axis) for each in result]
    return result


def moments(points: np.ndarray, values: np.ndarray, axis: int) -> np.ndarray:
    """Second derivatives at the grid points of the not-a-knot spline (a parabola through three points, a line through two)."""
    from scipy.interpolate import (
        CubicSpline,
    )  # costs a quarter of a second, few descriptions need it

    return CubicSpline(points, values, axis=axis)(points, 2)
