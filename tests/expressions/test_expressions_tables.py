"""Tables: values at the grid, continuity as promised, derivatives as the limit of differences, behaviour outside, wrong data."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.interpolate import CubicSpline, PchipInterpolator, RectBivariateSpline

from kinetree.models.expressions.differentiate import differentiate
from kinetree.models.expressions.lookup_tables import Tables
from kinetree.models.expressions.nodes import ONE, ExpressionError, Name
from kinetree.models.expressions.parse import parse
from kinetree.models.expressions.registers import STATE, Registers
from kinetree.solvers.expressions.evaluate import evaluate
from kinetree.solvers.expressions.tables import lookup1, lookup2, weights
from kinetree.solvers.kernel import kernel

X = np.array([-1.0, -0.4, 0.1, 0.5, 1.3, 2.0, 2.2])
Y = np.array([0.0, 0.3, 1.0, 1.4, 2.5])
RNG = np.random.default_rng(7)
F = RNG.normal(size=X.size)
Z = RNG.normal(size=(X.size, Y.size))
SMOOTH = {"linear": 1, "monotone": 2, "spline": 3}  # method: value and derivatives without jumps
METHODS = tuple(SMOOTH)


@kernel
def sample1(out, tables, data, x, order):
    for i in range(x.size):
        out[i] = lookup1(tables, data, 0, x[i], order)


@kernel
def sample2(out, tables, data, x, y, order_x, order_y):
    for i in range(x.size):
        out[i] = lookup2(tables, data, 0, x[i], y[i], order_x, order_y)


def curve(x, order=0, method="linear", extrapolate=False):
    tables = Tables()
    tables.add("law", X, F, method=method, extrapolate=extrapolate)
    points = np.atleast_1d(np.asarray(x, dtype=float))
    out = np.empty(points.size)
    sample1(out, *tables.arrays(), points, order)
    return out


def surface(x, y, order_x=0, order_y=0, method="linear", extrapolate=False, z=Z):
    tables = Tables()
    tables.add("map", X, Y, z, method=method, extrapolate=extrapolate)
    points, others = (
        np.ascontiguousarray(each, dtype=float)
        for each in np.broadcast_arrays(np.atleast_1d(x), np.atleast_1d(y))
    )
    out = np.empty(points.size)
    sample2(out, *tables.arrays(), points, others, order_x, order_y)
    return out


def test_table_is_exact_at_its_grid_points():
    for method in METHODS:
        assert curve(X, method=method) == pytest.approx(F, abs=1e-15)
        for j, y in enumerate(Y):
            assert surface(X, y, method=method) == pytest.approx(Z[:, j], abs=1e-15)


def test_linear_tables_match_numpy():
    x = np.linspace(-3, 4, 101)
    assert curve(x) == pytest.approx(np.interp(x, X, F), abs=1e-15)


def test_cubic_tables_match_scipy_splines():
    x, y = RNG.uniform(-1, 2.2, 200), RNG.uniform(0, 2.5, 200)
    spline = CubicSpline(X, F)
    for order in range(3):
        assert curve(x, order, method="spline") == pytest.approx(
            spline(x, order), abs=1e-12 * 6 / 0.2**order
        )
    patches = RectBivariateSpline(X, Y, Z)
    for orders in ((0, 0), (1, 0), (0, 1)):
        assert surface(x, y, *orders, method="spline") == pytest.approx(
            patches.ev(x, y, *orders), abs=1e-10
        )


def test_monotone_tables_are_pchip_curves():
    x = RNG.uniform(-1, 2.2, 200)
    known = PchipInterpolator(X, F)
    for order in range(3):
        assert curve(x, order, method="monotone") == pytest.approx(
            known(x, order), abs=1e-12 * 6 / 0.2**order
        )


def test_monotone_tables_stay_between_neighbouring_values():
    steps = np.array([0, 0, 0, 0, 1, 1, 1.0])
    fine, other = np.linspace(X[0], X[-1], 401), np.linspace(Y[0], Y[-1], 301)
    tables = Tables()
    tables.add("law", X, steps, method="monotone")
    out = np.empty(fine.size)
    sample1(out, *tables.arrays(), fine, 0)
    assert out.min() >= 0.0 and out.max() <= 1.0 and np.diff(out).min() >= 0.0
    for z in (Z, steps[:, None] * np.array([0, 0, 1, 1, 0.0])):
        x, y = (each.ravel() for each in np.meshgrid(fine, other))
        i, j = (
            np.clip(np.searchsorted(grid, at, side="right") - 1, 0, grid.size - 2)
            for grid, at in ((X, x), (Y, y))
        )
        corners = np.array([z[i, j], z[i + 1, j], z[i, j + 1], z[i + 1, j + 1]])
        found = surface(x, y, method="monotone", z=z)
        assert (found <= corners.max(axis=0) + 1e-13).all()
        assert (found >= corners.min(axis=0) - 1e-13).all()


@pytest.mark.parametrize("extrapolate", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_cubic_table_is_continuously_differentiable(method, extrapolate):
    """Across a grid point neither the value nor the derivatives that a method promises jump."""
    step = 1e-9
    for order in range(SMOOTH[method]):
        points = X if order == 0 or (extrapolate and order == 1) else X[1:-1]
        jumps = curve(points + step, order, method, extrapolate) - curve(
            points - step, order, method, extrapolate
        )
        assert abs(jumps).max() < 2 * step * 1e4  # the next derivative stays below 1e4 on this grid
    for order_x, order_y in ((0, 0), (1, 0), (0, 1))[: 3 if SMOOTH[method] > 1 else 1]:
        x, y = (each.ravel() for each in np.meshgrid(X[1:-1], Y[1:-1]))
        jumps = surface(x + step, y + step, order_x, order_y, method, extrapolate) - surface(
            x - step, y - step, order_x, order_y, method, extrapolate
        )
        assert abs(jumps).max() < 4 * step * 1e4


@pytest.mark.parametrize("extrapolate", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_table_derivatives_match_differences(method, extrapolate):
    x, y, h = RNG.uniform(-1.5, 2.7, 60), RNG.uniform(-0.5, 3.0, 60), 1e-5
    x, y = (
        each[np.abs(each[:, None] - grid).min(axis=1) > 2 * h] for each, grid in ((x, X), (y, Y))
    )
    x, y = x[: min(x.size, y.size)], y[: min(x.size, y.size)]
    kind = {"method": method, "extrapolate": extrapolate}
    tolerance = 1e-6  # h² f'''/6 and ε f/h, with f''' < 1e4
    for order in (1, 2):
        difference = (curve(x + h, order - 1, **kind) - curve(x - h, order - 1, **kind)) / (2 * h)
        assert curve(x, order, **kind) == pytest.approx(difference, abs=tolerance)
    along_x = (surface(x + h, y, **kind) - surface(x - h, y, **kind)) / (2 * h)
    along_y = (surface(x, y + h, **kind) - surface(x, y - h, **kind)) / (2 * h)
    assert surface(x, y, 1, 0, **kind) == pytest.approx(along_x, abs=tolerance)
    assert surface(x, y, 0, 1, **kind) == pytest.approx(along_y, abs=tolerance)


def test_tables_extrapolate_as_documented():
    for method in METHODS:
        assert curve([-9.0, 9.0], method=method) == pytest.approx(F[[0, -1]])
        slope = curve([X[0], X[-1]], 1, method)
        assert curve([-9.0, 9.0], method=method, extrapolate=True) == pytest.approx(
            F[[0, -1]] + slope * [X[0] * -1 - 9.0, 9.0 - X[-1]]
        )
        assert surface(-9.0, 9.0, method=method) == pytest.approx(Z[0, -1])
    plane = 2.0 + 3.0 * X[:, None] - Y + X[:, None] * Y
    for method in METHODS:
        assert surface(7.0, -4.0, method=method, extrapolate=True, z=plane) == pytest.approx(
            2.0 + 21.0 + 4.0 - 28.0
        )


def test_tables_are_evaluated_in_expressions():
    registers = Registers()
    registers.add("x", 0.3, STATE)
    registers.add_table("map", X, Y, Z.tolist(), method="spline")
    registers.add_table("law", X, F)
    value = parse("table('law', 2*x)*table('map', x, x**2)")
    places = [
        registers.compile(value),
        registers.compile(differentiate(value, lambda leaf: ONE if leaf is Name("x") else None)),
    ]
    program = registers.finish()
    assert program.tables.size == 12
    results = []
    for x in (0.3, 0.3 + 1e-6, 0.3 - 1e-6):
        val = program.val0.copy()
        val[0] = x
        evaluate(val, program.code, 0, program.phase_starts[-1], program.tables, program.table_data)
        results.append(val[places])
    assert results[0][0] == pytest.approx(
        (curve(0.6) * surface(0.3, 0.09, method="spline"))[0], rel=1e-14
    )
    assert results[0][1] == pytest.approx((results[1][0] - results[2][0]) / 2e-6, rel=1e-6)


@pytest.mark.parametrize("count", [2, 3, 4])
def test_cubic_tables_of_few_points_are_the_polynomial_through_them(count):
    tables = Tables()
    x = np.array([0.0, 0.5, 2.0, 3.0])[:count]
    tables.add("law", x, x ** (count - 1), method="spline")
    out = np.empty(1)
    sample1(out, *tables.arrays(), np.array([0.3]), 0)
    assert out[0] == pytest.approx(0.3 ** (count - 1), abs=1e-14)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1, 1], [0, 1, 2]), "x must increase, found 1 before 1 .entries 2 and 3."),
        (([0, 2, 1], [0, 1, 2]), "x must increase"),
        (([0, 1], [0, 1, 2]), "2 values expected, found 3"),
        (([0], [1]), "two numbers or more"),
        (([0, 1], [0, float("nan")]), "y has an entry that is not a finite number"),
        (([0, "one"], [0, 1]), "x is not a regular array"),
        (([0, 1], [0, 1], [[1, 2], [3]]), "z is not a regular array"),
        (
            ([0, 1], [0, 1, 2], [[1, 2], [3, 4], [5, 6]]),
            "2 x 3 expected, found 3 x 2|2 x 3 values expected",
        ),
        (([0, 1], [0, 0], [[1, 2], [3, 4]]), "y must increase"),
    ],
)
def test_invalid_tables_are_refused(arguments, message):
    with pytest.raises(ExpressionError, match=message):
        Tables().add("law", *arguments)


@pytest.mark.parametrize("cubic", [True, False])
def test_interpolation_weights_of_each_order_are_derivatives_of_the_previous(cubic):
    """Weights of a cell are cubic polynomials of x: through four points of them, exactly; from the third derivative on constant."""
    x0, x1 = 0.3, 1.7
    x = np.array([0.3, 0.7, 1.2, 1.7])
    of_order = [np.array([weights(x0, x1, cubic, at, order) for at in x]) for order in range(4)]
    for before, after in pairwise(of_order):
        for k in range(4):
            expected = np.polyval(np.polyder(np.polyfit(x, before[:, k], 3)), x)
            assert after[:, k] == pytest.approx(expected, abs=1e-11)
    assert np.abs(of_order[3][:, 2:]).min() > 0.0 if cubic else not of_order[3].any()
