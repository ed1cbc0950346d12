"""Lanes and duals in plain Python: every operator and function against derivatives in 50 digits, corners, slopes of a tree in two ways, exchange."""

import inspect
import math
import operator
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
import wide_numbers
from random_trees import instance, random_tree
from wide_numbers import DUAL, LANES, MASK, Dual, Lanes, Mask, called, wide_kernels

from kinetree.models.expressions.lookup_tables import Tables
from kinetree.solvers import layout as L
from kinetree.solvers.layout import WIDTH, Op

KERNELS = wide_kernels()
FUNCTIONS, CHOOSE, SEEDS, EXCHANGE, ARITHMETIC = (
    KERNELS.module(f"kinetree.solvers.{name}")
    for name in (
        "numbers.elementary_functions",
        "algebra.lane_select",
        "numbers.derivative_seeds",
        "numbers.lane_packing",
        "numbers.arithmetic",
    )
)
UNIT = np.arange(1.0, WIDTH + 1.0)
ONE = {
    math.sqrt: 0.7, abs: -0.7, math.exp: 0.3, math.log: 0.7, math.tan: 0.4, math.atan: 0.8, math.asin: 0.3, math.acos: 0.3, math.sinh: 0.6,
    math.cosh: 0.6, math.tanh: 0.6, math.sin: 0.9, math.cos: 0.9, operator.neg: 0.4,
}  # fmt: skip
TWO = {
    operator.add: (0.7, -1.3), operator.sub: (0.7, -1.3), operator.mul: (0.7, -1.3), operator.truediv: (0.7, -1.3), math.pow: (0.7, -1.3),
    math.atan2: (0.7, -1.3), operator.mod: (4.7, -1.3),
}  # fmt: skip


def precise(function):
    """The same function of numbers of many digits."""
    named = {
        abs: abs,
        math.pow: mpmath.power,
        math.atan2: mpmath.atan2,
        operator.mod: lambda a, b: a - b * mpmath.floor(a / b),
    }
    return named.get(function) or (
        getattr(mpmath, function.__name__) if function.__module__ == "math" else function
    )


def derivative(function, at: tuple[float, ...], k: int) -> float:
    with mpmath.workdps(50):
        h = mpmath.mpf(10) ** -20
        up, down = (
            [mpmath.mpf(x) + (s * h if i == k else 0) for i, x in enumerate(at)] for s in (1, -1)
        )
        return float((precise(function)(*up) - precise(function)(*down)) / (2 * h))


def act(function, *arguments):
    return called(function, *arguments) if function.__module__ == "math" else function(*arguments)


@pytest.mark.parametrize("function", ONE, ids=lambda f: f.__name__)
def test_unary_functions_match_scalar(function):
    x = ONE[function]
    found = act(function, Dual(x, UNIT))
    assert found.value == pytest.approx(function(x), rel=1e-15) and found.slopes == pytest.approx(
        derivative(function, (x,), 0) * UNIT, rel=1e-13
    )
    numbers = np.linspace(0.1, 0.9, WIDTH) * math.copysign(1.0, x)
    assert act(function, Lanes(numbers)).numbers == pytest.approx(
        [function(each) for each in numbers], rel=1e-15
    )


@pytest.mark.parametrize("function", TWO, ids=lambda f: f.__name__)
def test_binary_functions_accept_plain_numbers(function):
    a, b = TWO[function]
    by_a, by_b = (derivative(function, (a, b), k) for k in (0, 1))
    for first, second, slopes in (
        (Dual(a, UNIT), Dual(b, 2.0 - UNIT), by_a * UNIT + by_b * (2.0 - UNIT)), (Dual(a, UNIT), b, by_a * UNIT), (a, Dual(b, UNIT), by_b * UNIT),
    ):  # fmt: skip
        if function is operator.mod and not isinstance(first, Dual):
            continue  # a plain number has an operator of its own
        found = act(function, first, second)
        assert found.value == pytest.approx(
            function(a, b) if function is not operator.mod else a - b * math.floor(a / b), rel=1e-15
        )
        assert found.slopes == pytest.approx(slopes, rel=1e-13)
        x, y = a * np.linspace(0.5, 1.5, WIDTH), b * np.linspace(1.5, 0.7, WIDTH)
        wide = act(function, Lanes(x), Lanes(y)), act(function, Lanes(x), b)
        assert wide[0].numbers == pytest.approx(
            [function(*each) for each in zip(x, y, strict=True)], rel=1e-15
        )
        assert wide[1].numbers == pytest.approx([function(each, b) for each in x], rel=1e-15)


def test_wide_operators_return_expected_types():
    """A plain number is spread over lanes and has no slopes in duals; what is neither is left to others."""
    arithmetic, comparison, logic = (
        ARITHMETIC.WideArithmetic(),
        ARITHMETIC.WideComparison(),
        ARITHMETIC.MaskLogic(),
    )
    assert arithmetic.generic((LANES, float), {}) == (
        LANES,
        LANES,
        "float64",
    ) and arithmetic.generic((float, DUAL), {}) == (DUAL, "float64", DUAL)
    assert (
        arithmetic.generic((float, float), {}) is None
        and arithmetic.generic((LANES, "text"), {}) is None
    )
    assert comparison.generic((LANES, LANES), {}) == (MASK, LANES, LANES) and comparison.generic(
        (DUAL, float), {}
    )[1:] == (DUAL, "float64")
    assert (
        comparison.generic((float, float), {}) is None
        and arithmetic.generic((LANES, DUAL), {}) is None
    )
    assert logic.generic((MASK, MASK), {}) == (MASK, MASK, MASK) and logic.generic(
        (LANES, MASK), {}
    ) is None is logic.generic((bool, bool), {})
    assert (
        ARITHMETIC.WideNegation().generic((DUAL,), {}) == (DUAL, DUAL)
        and ARITHMETIC.WideNegation().generic((float,), {}) is None
    )
    rules = wide_numbers.Wide.rules
    for op in (operator.add, operator.sub, operator.mul, operator.truediv):  # in place as otherwise
        own = getattr(operator, "i" + op.__name__)
        for kinds in ((DUAL, DUAL), (DUAL, float), (float, DUAL)):
            a, b = (Dual(3.0, UNIT) if kind is DUAL else wide_numbers.Scalar(2.0) for kind in kinds)
            sig = SimpleNamespace(return_type=DUAL, args=kinds)
            found, known = (
                rules[each, *kinds](None, wide_numbers.Builder, sig, (a, b)) for each in (own, op)
            )
            assert (found.value, found.slopes.tolist()) == (known.value, known.slopes.tolist())


@pytest.mark.parametrize(
    "op",
    [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne],
    ids=lambda f: f.__name__,
)
def test_wide_comparisons_match_scalar(op):
    x = np.array([1.0, 2.0, 3.0, math.nan, -1.0, 2.0, math.inf, 0.0])
    assert op(Lanes(x), 2.0).truths.tolist() == [bool(op(each, 2.0)) for each in x]
    assert op(Lanes(x), Lanes(x[::-1])).truths.tolist() == [
        bool(op(*each)) for each in zip(x, x[::-1], strict=True)
    ]
    for a in (1.0, 2.0, 3.0):
        assert op(Dual(a, 0.0), 2.0) == op(a, 2.0) == op(Dual(a, UNIT), Dual(2.0, -UNIT))


def test_wide_conditions_select_lane_by_lane():
    a, b = Lanes(np.arange(8.0)), Lanes(np.arange(8.0)[::-1])
    mask = a < b
    assert (
        CHOOSE.select(mask, a, b).numbers.tolist()
        == [0.0, 1.0, 2.0, 3.0, 3.0, 2.0, 1.0, 0.0]
        == CHOOSE.smaller_of(a, b).numbers.tolist()
    )
    assert (
        CHOOSE.larger_of(a, b).numbers.tolist() == [7.0, 6.0, 5.0, 4.0, 4.0, 5.0, 6.0, 7.0]
        and CHOOSE.larger_of(a, 3.5).numbers[0] == 3.5
    )
    assert (
        not CHOOSE.every(mask)
        and CHOOSE.every(a < 8.0)
        and CHOOSE.every(mask | (a > 3.0))
        and not CHOOSE.every(mask & (a > 3.0))
    )
    assert CHOOSE.whole_below(Lanes(UNIT + 0.5)).numbers.tolist() == UNIT.tolist()
    assert CHOOSE.whole_above(Lanes(UNIT - 0.5)).numbers.tolist() == UNIT.tolist()
    assert (
        CHOOSE.whole_below(Dual(-1.5, UNIT)) == -2.0
        and CHOOSE.whole_above(Dual(-1.5, UNIT)) == -1.0
    )  # no slopes
    assert isinstance(mask, Mask)


def side(direction: np.ndarray) -> float:
    return float(np.sign(np.dot(FUNCTIONS.LEANING, direction)))


@pytest.mark.parametrize("seed", range(4))
def test_dual_corners_use_one_consistent_side(seed: int):
    """At |0| and at equal numbers the slopes are those of what is about to be larger along one direction; max + min = a + b, slopes too."""
    rng = np.random.default_rng(seed)
    d, e = rng.normal(size=(2, WIDTH))
    assert abs(Dual(0.0, d)).slopes == pytest.approx(side(d) * d) and abs(
        Dual(0.0, -d)
    ).slopes == pytest.approx(side(d) * d)
    a, b = Dual(2.0, d), Dual(2.0, e)
    ahead = d if side(d - e) > 0.0 else e
    for largest, least in (
        (CHOOSE.larger_of, CHOOSE.smaller_of),
        (KERNELS.builtins["max"], KERNELS.builtins["min"]),
    ):
        assert largest(a, b).slopes == pytest.approx(ahead) and (
            largest(a, b).slopes + least(a, b).slopes
        ) == pytest.approx(d + e)
        assert (
            largest(a, 2.5).value == 2.5
            and not largest(a, 2.5).slopes.any()
            and least(a, 2.5).slopes == pytest.approx(d)
        )
        assert largest(1.5, a).slopes == pytest.approx(d) and least(Dual(3.0, e), a).value == 2.0
        assert largest(a, a).slopes == pytest.approx(d)
    assert (
        len(FUNCTIONS.LEANING) == WIDTH and max(np.diff(FUNCTIONS.LEANING)) < -0.01
    )  # no two directions that a mechanism may mix up


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_zero_derivative_stays_zero_for_infinite_slope():
    d = np.array([0.0, 1.0, 0.0, -2.0, 0.0, 0.0, 3.0, 0.0])
    steep = [0.0, math.inf, 0.0, -math.inf, 0.0, 0.0, math.inf, 0.0]
    assert (
        called(math.sqrt, Dual(0.0, d)).slopes.tolist() == steep
        and called(math.sqrt, Dual(0.0, d)).value == 0.0
    )
    assert called(math.atan2, Dual(0.0, d), Dual(0.0, UNIT)).slopes.tolist() == steep
    found = called(math.pow, Dual(0.0, d), Dual(2.0, UNIT))
    assert found.value == 0.0 and not found.slopes.any()
    assert (
        called(math.pow, Dual(0.0, d), Dual(1.0, UNIT)).slopes.tolist() == d.tolist()
        and not called(math.pow, Dual(0.0, d), 0.0).slopes.any()
    )
    assert (
        called(math.pow, Dual(-2.0, d), Dual(3.0, UNIT)).slopes.tolist() == (12.0 * d).tolist()
    )  # a power that moves has no value there
    assert called(math.pow, Dual(3.0, d), 0.0).slopes.tolist() == [0.0] * 8


@pytest.mark.parametrize("scale", [1.0, 40.0, 1e7])
def test_wide_and_dual_sine_and_cosine_match_scalar(scale: float):
    """All quarters; large angles one by one, as soon as one of them is large."""
    angles = scale * np.array([-3.0, -2.0, -0.5, 0.0, 0.7, 1.6, 3.0, 4.5])
    s, c = FUNCTIONS.sincos(Lanes(angles))
    assert s.numbers == pytest.approx(np.sin(angles), abs=4e-16) and c.numbers == pytest.approx(
        np.cos(angles), abs=4e-16
    )
    s, c = FUNCTIONS.sincos(Dual(angles[4], UNIT))
    assert s.slopes == pytest.approx(np.cos(angles[4]) * UNIT) and c.slopes == pytest.approx(
        -np.sin(angles[4]) * UNIT
    )


@pytest.mark.parametrize(
    "op",
    [Op.TABLE1, Op.TABLE1_D, Op.TABLE1_DD, Op.TABLE2, Op.TABLE2_DX, Op.TABLE2_DY],
    ids=lambda op: op.name,
)
def test_lookup_tables_accept_wide_arguments(op: Op):
    """Slopes by the next derivative: a difference of the table itself, exact to its third derivative over h²."""
    tables, x, y = Tables(), np.linspace(0.0, 2.0, 5), np.linspace(0.0, 3.0, 4)
    tables.add("curve", x, np.sin(3.0 * x), method="spline")
    tables.add("map", x, y, np.sin(3.0 * x)[:, None] * np.cos(y) + x[:, None] * y, method="spline")
    arrays, k = tables.arrays(), int(op in (Op.TABLE2, Op.TABLE2_DX, Op.TABLE2_DY))
    wide, plain = (
        KERNELS.module("kinetree.solvers.numbers.wide_tables"),
        KERNELS.module("kinetree.solvers.expressions.evaluate"),
    )
    at, h = (0.8, 1.3), 1e-6
    by = [(plain.look_up(op, k, at[0] + h * i, at[1] + h * j, *arrays) - plain.look_up(op, k, at[0] - h * i, at[1] - h * j, *arrays)) / (2 * h)
          for i, j in ((1, 0), (0, 1))]  # fmt: skip
    found = called(plain.looked_up, op, k, Dual(at[0], UNIT), Dual(at[1], 3.0 - UNIT), *arrays)
    assert found.value == plain.look_up(op, k, *at, *arrays) and found.slopes == pytest.approx(
        by[0] * UNIT + by[1] * (3.0 - UNIT), rel=1e-6, abs=1e-6
    )
    lanes = called(plain.looked_up, op, k, Lanes(UNIT / 5.0), Lanes(UNIT / 4.0), *arrays)
    assert lanes.numbers.tolist() == [
        plain.look_up(op, k, a / 5.0, a / 4.0, *arrays) for a in UNIT
    ] and inspect.isfunction(wide.lanes_looked_up)


# -- slopes of a tree ----------------------------------------------------------------------------------------------------------------------------
def duals_of(ws: SimpleNamespace) -> SimpleNamespace:
    """A workspace of duals without slopes beside a plain one; what is plain in it stays so."""
    wide = SimpleNamespace(**vars(ws))
    for name, value in vars(ws).items():
        if (
            name not in ("body_code", "elem_code")
            and isinstance(value, np.ndarray)
            and value.dtype == float
        ):
            setattr(wide, name, np.array([Dual(x, 0.0) for x in value], dtype=object))
    return wide


@pytest.mark.parametrize("joint", ["revolute", "ball", "free", "sequence"])
def test_tree_derivatives_reuse_the_elimination(joint: str):
    """They are those of the whole elimination on duals, along coordinates, speeds and forces of a body and of one that it carries."""
    tree = random_tree(np.random.default_rng(11), 3, joint=joint, shape="chain")
    if joint == "free":  # nothing stands between its element and the body
        tree.joints = [
            [each for each in elements if each.kind == L.Element.FREE] for elements in tree.joints
        ]
    made = instance(tree)
    model, ws = made.model, made.ws
    model.joint[1:] = int(
        {"ball": L.Joint.SPHERICAL, "free": L.Joint.FREE}.get(joint, L.Joint.GENERAL)
    )
    ws.head.wrench = ws.head.extra = 0.0
    for i in range(1, 4):  # the folded shift before a ball
        ws.body[i * L.BODY + L.B_R : i * L.BODY + L.B_R + 3], ws.body_code[2 * i + 1] = (
            (0.2, -0.3, 0.1 * i),
            1.0,
        )
    motion, dec = KERNELS.kernel("engine.kinematics", "motion"), KERNELS.kernel("engine.dec", "dec")
    start_ground, slopes = (
        KERNELS.kernel("engine.kinematics", "start_ground"),
        KERNELS.module("kinetree.solvers.numbers.tree_derivatives"),
    )
    assert motion(model, ws, True) == 0 and dec(model, ws) == 0
    whole, swift = duals_of(ws), duals_of(ws)
    start_ground(model, swift)
    slopes.move_from(model, ws, swift, 1)
    for wide in (whole, swift):
        ways = [(wide.q, model.q_at[2] + k) for k in range(model.q_at[3] - model.q_at[2])] + [
            (wide.u, model.u_at[2]),
            (wide.tau, model.u_at[3]),
        ]
        for n, (array, k) in enumerate((ways[::-1] + [(wide.u, model.u_at[3])])[:WIDTH]):
            array[k] = Dual(array[k].value, np.eye(WIDTH)[n])
    assert motion(model, whole, True) == 0 and dec(model, whole) == 0
    slopes.move_from(model, ws, swift, 2)
    assert not any(
        each for at in (L.W_N, L.W_F) for each in swift.row[L.ROW + at : L.ROW + at + 3]
    )  # nothing is left over where nothing moves
    slopes.solve_slopes(model, ws, swift, 2)
    expected, found = (np.array([each.slopes for each in wide.udot]) for wide in (whole, swift))
    assert (
        found == pytest.approx(expected, abs=1e-9 * max(1.0, np.abs(expected).max()))
        and np.abs(expected).max() > 0.1
    )
    assert [each.value for each in swift.udot] == ws.udot.tolist()
    slopes.take_inertias(model, ws, swift)
    for first, count in ((L.W_J, 6), (L.W_H, 9), (L.W_M, 6)):
        for at in (L.ROW + first, 3 * L.ROW + first):
            assert swift.row[at : at + count].tolist() == ws.row[at : at + count].tolist()


# -- between plain and wide ----------------------------------------------------------------------------------------------------------------------
def test_derivative_directions_are_numbered():
    model = SimpleNamespace(header=SimpleNamespace(inputs=2, r_inputs=3), parent=np.zeros(5))
    ws = SimpleNamespace(
        q=np.array([1.0, 2.0]),
        u=np.array([3.0, 6.0]),
        added=np.array([4.0, 7.0]),
        x=np.array([5.0]),
        val=np.arange(10.0, 16.0),
    )
    assert SEEDS.directions_of(model, ws) == 9
    duals = duals_of(ws)
    SEEDS.plant_all(model, ws, duals)
    plan = np.array([8, 4, 4, 2, 0, 3, 3, 1, 1, 9, 6, 9, 7, 9, 5, 9])
    assert (
        SEEDS.sow(model, ws, duals, plan, 0, 4) == 1
        and SEEDS.sow(model, ws, duals_of(ws), plan, 4, 1) == 5
    )

    def places() -> dict[tuple[str, int], int]:
        found = {
            (name, k): each.slopes
            for name in ("q", "u", "added", "x", "val")
            for k, each in enumerate(getattr(duals, name))
        }
        return {place: int(np.argmax(slopes)) for place, slopes in found.items() if slopes.any()}

    assert places() == {("val", 4): 0, ("added", 0): 1, ("q", 0): 2, ("u", 1): 3}
    assert duals.val[4].value == 14.0 and duals.added[0].value == 4.0
    SEEDS.weed(model, ws, duals, plan, 0)
    assert places() == {}
    everything = np.array([6, 1, 5, 1, 7, 1, 2, 1, 1, 1, 8, 1, 4, 1, 3, 1])
    SEEDS.sow(model, ws, duals, everything, 0, 8)
    assert places() == {
        ("x", 0): 0,
        ("added", 1): 1,
        ("val", 3): 2,
        ("u", 0): 3,
        ("q", 1): 4,
        ("val", 4): 5,
        ("added", 0): 6,
        ("u", 1): 7,
    }
    rows = np.zeros((9, 3))
    SEEDS.reap(rows.reshape(-1), 3, 1, plan, 0, 4, Dual(0.0, UNIT))
    assert (
        rows[:, 1].tolist() == [3.0, 0.0, 0.0, 4.0, 2.0, 0.0, 0.0, 0.0, 1.0]
        and not rows[:, [0, 2]].any()
    )


def test_rows_of_states_round_trip_through_lanes():
    """Where fewer rows are left the last one stands for the missing ones, and nothing is written for them."""
    rows = np.arange(30.0)
    assert EXCHANGE.gather(rows, 3, 1, 2, WIDTH).numbers.tolist() == [
        7.0 + 3.0 * n for n in range(8)
    ]
    assert EXCHANGE.gather(rows, 3, 2, 6, 3).numbers.tolist() == [
        20.0,
        23.0,
        26.0,
        26.0,
        26.0,
        26.0,
        26.0,
        26.0,
    ]
    for left, last in ((8, 8), (3, 3), (11, 8)):
        out = np.zeros(36)
        EXCHANGE.scatter(out, 3, 1, 2, left, Lanes(UNIT))
        assert (
            out.reshape(12, 3)[2 : 2 + last, 1].tolist() == UNIT[:last].tolist()
            and out.sum() == UNIT[:last].sum()
        )


def test_shared_values_are_copied_to_lanes():
    shared = ("head", "body_code", "elem_code", "body", "elem", "rotor", "loop_rank", "loop_plane")
    read = ("val", "added", "x", "given", "slope", "extra")
    ws = SimpleNamespace(
        **{name: 10.0 * k + np.arange(3.0) for k, name in enumerate((*shared, *read))}
    )
    wide = SimpleNamespace(**{name: np.full(3, np.nan) for name in (*shared, *read, "wrench")})
    EXCHANGE.spread_workspace(ws, wide)
    assert (
        all((getattr(wide, name) == getattr(ws, name)).all() for name in (*shared, *read))
        and not wide.wrench.any()
    )
