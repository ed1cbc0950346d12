"""Random expressions have one value by the kernel, by the graph in Python and by Python's arithmetic; derivatives are those of the limit."""

import inspect
import math
import random

import mpmath
import numpy as np
import pytest
from numba import config

from kinetree.models.expressions.differentiate import differentiate, time_derivatives
from kinetree.models.expressions.functions import OPERATIONS
from kinetree.models.expressions.nodes import ONE, Const, ExpressionError, Name, Operation
from kinetree.models.expressions.parse import evaluate_constant, parse
from kinetree.models.expressions.registers import STATE, Registers
from kinetree.solvers.expressions.evaluate import evaluate
from kinetree.solvers.layout import INSTRUCTION, Op, Status

LEAVES = ("a", "b", "c", "hinge.angle", "der(q)")
SMOOTH = {"sin": math.sin, "cos": math.cos, "atan": math.atan, "tanh": math.tanh, "abs": abs}
COMPARE = {
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
    ">": lambda x, y: x > y,
    ">=": lambda x, y: x >= y,
    "!=": lambda x, y: x != y,
}


class Grower:
    """Makes the text of an expression and, independent of the text, the Python function it stands for."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)

    def grow(self, depth: int):
        kinds = (
            (self.leaf,)
            if depth == 0
            else (
                self.leaf,
                self.sum,
                self.sum,
                self.product,
                self.ratio,
                self.power,
                self.call,
                self.choice,
                self.pair,
            )
        )
        return self.random.choice(kinds)(depth - 1)

    def leaf(self, depth):
        if self.random.random() < 0.3:
            value = round(self.random.uniform(0.1, 3.0), 2)
            return repr(value), lambda v: value
        name = self.random.choice(LEAVES)
        return name, lambda v: v[name]

    def two(self, depth):
        return (*self.grow(depth), *self.grow(depth))

    def sum(self, depth):
        s, f, r, g = self.two(depth)
        return (
            (f"({s} + {r})", lambda v: f(v) + g(v))
            if self.random.random() < 0.5
            else (f"({s}) - ({r})", lambda v: f(v) - g(v))
        )

    def product(self, depth):
        s, f, r, g = self.two(depth)
        return f"({s})*({r})", lambda v: f(v) * g(v)

    def ratio(self, depth):
        s, f, r, g = self.two(depth)
        return f"({s})/(1 + ({r})**2)", lambda v: f(v) / (1 + g(v) * g(v))

    def power(self, depth):
        s, f = self.grow(depth)
        n = self.random.choice((2, 3, 1.5, 0.5, -1, 0.37))
        return f"(0.5 + abs({s}))**{n}", lambda v: (0.5 + abs(f(v))) ** n

    def call(self, depth):
        s, f = self.grow(depth)
        name = self.random.choice(tuple(SMOOTH))
        return f"{name}({s})", lambda v: SMOOTH[name](f(v))

    def choice(self, depth):
        (s, f, r, g), (u, h) = self.two(depth), self.grow(depth)
        op = self.random.choice(tuple(COMPARE))
        return (
            f"if(({s}) {op} ({u}), {r}, {u})",
            lambda v: g(v) if COMPARE[op](f(v), h(v)) else h(v),
        )

    def pair(self, depth):
        s, f, r, g = self.two(depth)
        name, function = self.random.choice((("min", min), ("max", max), ("atan2", math.atan2)))
        return f"{name}({s}, {r})", lambda v: function(f(v), g(v))


def run(registers: Registers, values: dict[str, float]) -> np.ndarray:
    """The registers after all phases."""
    program = registers.finish()
    val = program.val0.copy()
    for name, value in values.items():
        val[program.names[name]] = value
    assert (
        evaluate(val, program.code, 0, program.phase_starts[-1], program.tables, program.table_data)
        == Status.OK
    )
    return val


def test_kernel_graph_and_python_agree():
    grower, registers, draws = Grower(1), Registers(), random.Random(2)
    values = {name: draws.uniform(-2.0, 2.0) for name in LEAVES}
    for name in LEAVES:
        registers.add(name, phase=STATE)
    cases = [grower.grow(6) for _ in range(400)]
    places = [registers.compile(parse(text)) for text, _ in cases]
    val = run(registers, values)
    for (text, function), place in zip(cases, places, strict=True):
        expected = function(values)
        graph = evaluate_constant(text, values)
        # simplification reorders products: a few roundings per operation, amplified by differences of nearly equal terms
        assert graph == pytest.approx(expected, rel=1e-11, abs=1e-11)
        # the same operations in the same order: only libm's last bits differ
        assert val[place] == pytest.approx(graph, rel=1e-12, abs=1e-12)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("op", [op for op in Op if op in OPERATIONS], ids=lambda op: op.name)
def test_kernel_operations_match_python(op):
    arity = len(inspect.signature(OPERATIONS[op]).parameters)
    points = [
        -math.inf,
        -1000.0,
        -2.5,
        -1.0,
        -0.3,
        0.0,
        0.3,
        1.0,
        2.0,
        2.5,
        1000.0,
        math.inf,
        math.nan,
    ]
    val = np.zeros(5)
    code = np.array([op, 4, 1, 2, 3], dtype=np.int64)
    empty = np.zeros(0, dtype=np.int64)
    for a in points:
        for b in points if arity > 1 else (0.0,):
            val[1:4] = a, b, 7.0
            expected = OPERATIONS[op](*(a, b, 7.0)[:arity])
            if config.DISABLE_JIT and not math.isfinite(expected):
                continue  # in plain Python `math` raises where libm gives NaN or infinity
            assert evaluate(val, code, 0, 1, empty, np.zeros(0)) == Status.OK
            assert val[4] == pytest.approx(expected, rel=1e-15, nan_ok=True), (op.name, a, b)


def test_derivatives_agree_with_high_precision_differences():
    grower, draws = Grower(3), random.Random(4)
    for _ in range(150):
        text, _ = grower.grow(4)
        values = {name: draws.uniform(0.2, 2.0) for name in LEAVES}
        derivative = differentiate(parse(text), lambda leaf: ONE if leaf is Name("a") else None)
        supplied = evaluate_constant(derivative, values)
        limit = slope(text, values)
        assert supplied == pytest.approx(limit, rel=1e-9, abs=1e-9), text


def slope(text: str, values: dict[str, float]) -> float:
    """Central difference with respect to `a` in 60 digits: truncation and rounding both far below double precision."""
    with mpmath.workdps(60):
        h = mpmath.mpf(10) ** -20
        precise = {name: mpmath.mpf(value) for name, value in values.items()}
        up, down = (
            precise_value(parse(text), {**precise, "a": precise["a"] + s * h}) for s in (1, -1)
        )
        return float((up - down) / (2 * h))


def precise_value(node, values):
    if isinstance(node, Const):
        return mpmath.mpf(node.value)
    if not isinstance(node, Operation):
        return values[node.key]
    args = [precise_value(arg, values) for arg in node.args]
    named = {Op.ATAN2: mpmath.atan2, Op.ABS: abs, Op.POW: mpmath.power}
    if node.op in (Op.SIN, Op.COS, Op.ATAN, Op.TANH, Op.SQRT):
        return getattr(mpmath, node.op.name.lower())(*args)
    if node.op == Op.DIV:
        return args[0] / args[1]
    return named.get(node.op, OPERATIONS[node.op])(*args)


@pytest.mark.parametrize(
    "name",
    ["sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log", "sqrt"],
)
def test_derivative_of_each_function_matches_differences(name):
    first = evaluate_constant(differentiate(parse(f"{name}(x)"), lambda leaf: ONE), {"x": 0.37})
    assert first == pytest.approx(float(mpmath.diff(getattr(mpmath, name), 0.37)), rel=1e-13)


@pytest.mark.parametrize(
    ("text", "first", "second"),
    [
        ("0.1*sin(2*t)", lambda t: 0.2 * math.cos(2 * t), lambda t: -0.4 * math.sin(2 * t)),
        ("k*t**3", lambda t: 6.0 * t * t, lambda t: 12.0 * t),
        ("t**2.5", lambda t: 2.5 * t**1.5, lambda t: 3.75 * t**0.5),
        ("k**t", lambda t: math.log(2) * 2**t, lambda t: math.log(2) ** 2 * 2**t),
        ("if(t < 1, t**2, 2*t - 1)", lambda t: 2 * t, lambda t: 2.0),
        ("max(t, 5)*abs(-t)", lambda t: 5.0, lambda t: 0.0),
        ("floor(10*t) + sign(t) + (t > 3)", lambda t: 0.0, lambda t: 0.0),
        ("(3*t) % 1", lambda t: 3.0, lambda t: 0.0),
        ("k", lambda t: 0.0, lambda t: 0.0),
    ],
)
def test_time_derivatives_match_differences(text, first, second):
    values = {"t": 0.37, "k": 2.0}
    value, rate, rate_of_rate = time_derivatives(parse(text))
    assert value is parse(text)
    assert evaluate_constant(rate, values) == pytest.approx(first(0.37), rel=1e-14)
    assert evaluate_constant(rate_of_rate, values) == pytest.approx(second(0.37), rel=1e-14)


def test_derivatives_of_deep_expressions_stay_small():
    """Each node is differentiated once: a tower of 200 functions has a derivative of a few nodes per storey, not 2^200."""
    text = "x"
    for _ in range(60):
        text = f"sin({text})*x"
    registers = Registers()
    registers.add("x")
    second = differentiate(differentiate(parse(text), lambda leaf: ONE), lambda leaf: ONE)
    registers.compile(second)
    assert registers.finish().code.size < INSTRUCTION * 20 * 60


def test_a_third_derivative_of_a_table_is_refused():
    node = parse("table('law', t)")
    for _ in range(2):
        node = differentiate(node, lambda leaf: ONE)
    with pytest.raises(ExpressionError, match="'law'"):
        differentiate(node, lambda leaf: ONE)


FOLDED = {
    "1**a": lambda a: 1.0, "a**0": lambda a: 1.0, "a**-3": lambda a: a**-3, "a**5": lambda a: a**5, "a**0.5": lambda a: a**0.5,
    "a > 0.5 and 1": lambda a: float(a > 0.5), "1 and a > 0.5": lambda a: float(a > 0.5), "a > 0.5 and 0": lambda a: 0.0,
    "a > 0.5 or 0": lambda a: float(a > 0.5), "0 or a > 0.5": lambda a: float(a > 0.5), "a > 0.5 or 3": lambda a: 1.0,
    "-(-a)": lambda a: a, "-(a - 2)": lambda a: 2.0 - a, "if(1, a, 2)": lambda a: a, "if(0, a, 2)": lambda a: 2.0, "max(a, a)": lambda a: a,
}  # fmt: skip


@pytest.mark.parametrize("text", FOLDED)
def test_constant_folding_keeps_the_value(text: str):
    """What is folded when an expression is read means what it says, on either side of a bound."""
    for a in (0.25, 0.75):
        registers = Registers()
        registers.add("a", phase=STATE)
        place = registers.compile(parse(text))
        assert run(registers, {"a": a})[place] == pytest.approx(FOLDED[text](a), rel=1e-15), (
            text,
            a,
        )


@pytest.mark.parametrize(
    ("text", "column", "sign"),
    [
        ("2*(3 + 4", 3, "("),
        ("sin(a*(2 + 3) - 4", 4, "("),
        ("sin(a))*2", 7, ")"),
        ("table('x(', t", 6, "("),
        ("(a + b", 1, "("),
    ],
)
def test_unmatched_bracket_is_located(text: str, column: int, sign: str):
    with pytest.raises(ExpressionError) as caught:
        parse(text)
    assert caught.value.column == column and f"'{sign}'" in str(caught.value)
