"""Slopes of every operation of a tape against a closed form or differences; tables as piecewise polynomials against scipy's splines."""

import math

import numpy as np
import pytest
from scipy.interpolate import CubicSpline, RectBivariateSpline

from kinetree.models.trace.adjoint import partials, swept
from kinetree.models.trace.operations import VALUE
from kinetree.models.trace.piecewise_tables import Axis, Piecewise
from kinetree.models.trace.symbol import Symbol
from kinetree.models.trace.tape import Tape

ONE = {
    "neg": 0.4, "sin": 0.4, "cos": 0.4, "tan": 0.4, "sqrt": 0.4, "abs": -0.4, "exp": 0.4, "log": 0.4, "tanh": 0.4, "sinh": 0.4, "cosh": 0.4,
    "atan": 0.4, "asin": 0.4, "acos": 0.4,
}  # fmt: skip
TWO = {
    "+": (0.7, 0.3),
    "-": (0.7, 0.3),
    "*": (0.7, 0.3),
    "/": (0.7, 0.3),
    "atan2": (0.7, -0.3),
    "pow": (0.7, 0.3),
    "mod": (2.7, 0.6),
}


def slopes(operation: str, *numbers: float) -> list[float]:
    """By the arguments, times a seed of 2."""
    tape = Tape()
    places = [tape.symbol("q", k, number) for k, number in enumerate(numbers)]
    result = tape.node((operation, *places))
    found = swept(tape, result, tape.constant(2.0), places)
    return [tape.values[found[place]] for place in places]


@pytest.mark.parametrize(
    ("operation", "numbers"), [*((name, (x,)) for name, x in ONE.items()), *TWO.items()]
)
def test_traced_derivatives_match_differences(operation: str, numbers: tuple[float, ...]):
    """Central differences of what the operation gives: their error is h² and rounding over h."""
    h, found = 1e-5, slopes(operation, *numbers)
    for k, slope in enumerate(found):
        low, high = (
            VALUE[operation](*(x + sign * h * (i == k) for i, x in enumerate(numbers)))
            for sign in (-1, 1)
        )
        assert slope == pytest.approx((high - low) / h, rel=1e-8, abs=1e-9), (operation, k)


def test_traced_derivatives_at_kinks_and_branches():
    assert slopes("sqrt", 0.0) == [0.0], "a length is as long to both sides of zero"
    assert (
        slopes("abs", 0.4) == [2.0]
        and slopes("select", 1.0, 3.0, 4.0)[1:] == [2.0, 0.0]
        and slopes("select", 0.0, 3.0, 4.0)[1:] == [0.0, 2.0]
    )
    for operation, count in {
        "floor": 1,
        "ceil": 1,
        "not": 1,
        "lt": 2,
        "le": 2,
        "eq": 2,
        "ne": 2,
        "and": 2,
        "or": 2,
    }.items():
        assert slopes(operation, *(0.5, 0.25)[:count]) == [0.0] * count
    tape = Tape()
    base = tape.symbol("q", 0, 0.7)
    power = tape.node(("pow", base, tape.constant(2.5)))
    ((argument, slope),) = partials(tape, power)
    assert argument == base and tape.values[slope] == pytest.approx(2.5 * 0.7**1.5), (
        "a fixed exponent has no slope"
    )


def test_untaken_branch_adds_no_infinite_derivative():
    """Below a selection a root of zero may have any slope: nothing comes of it."""
    tape = Tape()
    x = tape.symbol("q", 0, 0.0)
    result = tape.select(
        tape.compare("lt", tape.constant(0.5), x), tape.node(("sqrt", x)), tape.mul(x, x)
    )
    assert tape.values[swept(tape, result, tape.constant(1.0), [x])[x]] == 0.0


def test_derivatives_of_root_products_and_quotients_agree():
    """√d √d = d, d/√d d/√d stays exact, small powers are products, a negative base of nothing is nothing."""
    tape = Tape()
    d, x = tape.symbol("q", 0, 2.0), tape.symbol("q", 1, 3.0)
    root = tape.fold("sqrt", d)
    assert tape.mul(root, root) == d and tape.mul(tape.div(x, root), root) == x
    assert tape.mul(tape.div(x, root), tape.div(x, root)) == tape.mul(
        x, tape.div(x, d)
    ) and tape.div(tape.div(x, root), root) == tape.div(x, d)
    for exponent in (0.0, 1.0, 2.0, 3.0, 4.0, -1.0, 0.5, 2.5):
        assert tape.values[tape.power(x, tape.constant(exponent))] == pytest.approx(3.0**exponent)
    assert (
        tape.nodes[tape.power(x, tape.constant(3.0))][0] == "*"
        and tape.nodes[tape.power(x, tape.constant(2.5))][0] == "pow"
    )
    truth, lie, c = tape.constant(1.0), tape.constant(0.0), tape.compare("lt", x, d)
    assert (
        tape.logical("or", c, truth) == truth
        and tape.logical("or", lie, c) == c
        and tape.logical("and", c, lie) == lie
    )
    assert tape.logical("and", c, c) == c and tape.logical_not(tape.logical_not(c)) == c
    chosen = tape.select(c, truth, lie)
    assert tape.compare("ne", chosen, lie) == c and tape.compare(
        "eq", chosen, lie
    ) == tape.logical_not(c)
    assert (
        tape.select(tape.logical_not(c), x, d) == tape.select(c, d, x)
        and tape.select(c, x, x) == x
        and tape.select(truth, x, d) == x
    )
    assert (
        tape.number(tape.compare("eq", x, x)) == 1.0
        and tape.number(tape.compare("ne", x, x)) == 0.0
    )


GRID = (0.0, 0.5, 1.2, 2.0)


@pytest.mark.parametrize("extrapolate", [False, True])
def test_traced_cubic_table_matches_natural_spline_and_derivative(extrapolate: bool):
    """Outside it holds its end or goes on straight."""
    values = np.array([1.0, -0.5, 0.7, 0.2])
    spline = CubicSpline(GRID, values, bc_type="natural")
    axis = Axis(GRID, True, extrapolate)
    second = spline(GRID, 2)
    rows = [
        m @ [values[i], values[i + 1], second[i], second[i + 1]]
        for m, i in zip(axis.maps, axis.left, strict=True)
    ]
    table = Piecewise([axis], np.array(rows))
    (slope,) = table.derivatives
    for x in (*GRID, 0.1, 0.9, 1.7):
        assert table.value(x) == pytest.approx(float(spline(x)), abs=1e-14)
        assert slope.value(x) == pytest.approx(
            float(spline(x, 1)), abs=1e-13
        ) and slope.derivatives[0].value(x) == pytest.approx(float(spline(x, 2)))
    for end, outside in ((0.0, -0.3), (2.0, 2.4)):
        rate = float(spline(end, 1)) if extrapolate else 0.0
        assert table.value(outside) == pytest.approx(
            float(spline(end)) + rate * (outside - end)
        ) and slope.value(outside) == pytest.approx(rate)
    assert math.isnan(table.value(math.nan)) and [
        axis.cell(x) for x in (-1.0, 0.0, 0.5, 2.0, 3.0)
    ] == [0, 1, 2, 3, 4]


def test_bilinear_table_derivatives():
    """Between its points it is bilinear, where scipy's spline of order one is; each derivative is the difference along its side."""
    z = np.random.default_rng(1).normal(size=(4, 3))
    sides = (GRID, (-1.0, 0.0, 2.0))
    axes = [Axis(side, False, False) for side in sides]
    c = np.zeros((5, 4, 4, 4))
    for a, (ma, i) in enumerate(zip(axes[0].maps, axes[0].left, strict=True)):
        for b, (mb, j) in enumerate(zip(axes[1].maps, axes[1].left, strict=True)):
            corner = np.zeros((4, 4))
            corner[:2, :2] = z[i : i + 2, j : j + 2]
            c[a, b] = ma @ corner @ mb.T
    table, expected = Piecewise(axes, c), RectBivariateSpline(*sides, z, kx=1, ky=1)
    by_x, by_y = table.derivatives
    for x, y in np.random.default_rng(2).uniform((0.0, -1.0), (2.0, 2.0), size=(20, 2)):
        assert table.value(x, y) == pytest.approx(expected.ev(x, y).item(), abs=1e-14)
        h = 1e-6
        assert by_x.value(x, y) == pytest.approx(
            (table.value(x + h, y) - table.value(x, y)) / h, abs=1e-8
        )
        assert by_y.value(x, y) == pytest.approx(
            (table.value(x, y + h) - table.value(x, y)) / h, abs=1e-8
        )
    assert table.value(-5.0, 7.0) == pytest.approx(z[0, 2]), "the corner is held outside"


def test_traced_symbols_follow_python_operators():
    """What Python's operators give is worth at the witness what they give of plain numbers; what is asked for a number refuses."""
    for a, b in ((2.75, 0.5), (-1.25, 2.0), (0.5, 0.5)):
        tape = Tape()
        x, y = (Symbol(tape, tape.symbol("q", k, value)) for k, value in enumerate((a, b)))
        for found, expected in (
            (x % y, a % b), (3.0 % y, 3.0 % b), (x % 0.75, a % 0.75), (x**2, a**2), (abs(x), abs(a)), (2.0 - x, 2.0 - a), (1.0 / x, 1.0 / a),
        ):  # fmt: skip
            assert tape.values[found.i] == pytest.approx(expected), (a, b)
        for held, expected in ((x <= y, a <= b), (x < y, a < b), (x >= y, a >= b), (x > y, a > b)):
            assert bool(held) is expected
        both, either = (x <= y) & (x > -1.0), (x > y) | (x > -1.0)
        assert bool(both) is (a <= b and a > -1.0) and bool(either) is (a > b or a > -1.0)
        assert (x == y) is not True and not bool(x == y) and bool(x != y), (
            "in general two symbols are not equal"
        )
    with pytest.raises(
        TypeError,
        match="a symbol has no value: the kernel takes a number where it should calculate",
    ):
        math.sqrt(x)
