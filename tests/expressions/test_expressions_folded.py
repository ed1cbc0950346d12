"""What expressions become where they are read, which corners they have in time and how fast arguments run there: to the letter, as text."""

import math
import os
import subprocess
import sys

import pytest

from kinetree.models.expressions.differentiate import differentiate
from kinetree.models.expressions.functions import OPERATIONS, explain
from kinetree.models.expressions.nodes import (
    ONE,
    Const,
    ExpressionError,
    Lookup,
    Name,
    Node,
    leaves,
    names,
    postorder,
    tables,
)
from kinetree.models.expressions.parse import columns, evaluate_constant, parse
from kinetree.models.expressions.simplify import make, product, rebuild, substitute
from kinetree.models.expressions.time_breakpoints import candidates, corners, instants, paces
from kinetree.models.expressions.to_text import MAX_TEXT_LENGTH, written
from kinetree.solvers.layout import Knot, Op

TIME = 1  # the phase of what depends on t alone

FOLDED = {
    "x + 0": "x", "0 + x": "x", "x + (-y)": "(x - y)", "(-x) + y": "(y - x)", "x - 0": "x", "0 - x": "(-x)", "x - x": "0.0", "x - (-y)": "(x + y)",
    "0*x": "0.0", "x*0": "0.0", "1*x": "x", "x*1": "x", "(-1)*x": "(-x)", "x*2": "(2.0 * x)", "(-x)*y": "(-(x * y))", "x*(-y)": "(-(x * y))",
    "2*(3*x)": "(6.0 * x)", "(3*x)*2": "(6.0 * x)", "x/1": "x", "0/x": "0.0", "(-x)/y": "(-(x / y))", "x/(-y)": "(x / (-y))", "-(-x)": "x",
    "-(x - y)": "(y - x)", "-(x + y)": "(-(x + y))", "1**x": "1.0", "x**0": "1.0", "x**1": "x", "x**2": "(x * x)", "x**3": "((x * x) * x)",
    "x**4": "((x * x) * (x * x))", "x**0.5": "sqrt(x)", "x**-1": "(1.0 / x)", "x**-2": "(1.0 / (x * x))", "x**9": "pow(x, 9.0)",
    "x**-9": "pow(x, (-9.0))", "x**2.5": "pow(x, 2.5)", "x**y": "pow(x, y)", "if(1, x, y)": "x", "if(0, x, y)": "y", "if(-0.5, x, y)": "x",
    "if(x, y, y)": "y", "x and 0": "0.0", "0 and x": "0.0", "x and 2": "(x != 0.0)", "2 and x": "(x != 0.0)", "x or 0": "(x != 0.0)", "3 or x": "1.0",
    "x or 3": "1.0", "x and y": "(x and y)", "min(x, x)": "x", "max(x, x)": "x", "2*3 - 10": "(-4.0)", "x*y*0": "0.0", "max(2, 3, 1)": "3.0",
    "1e200*(1e200*x)": "(1e+200 * (1e+200 * x))", "1e-200*(1e-200*x)": "(1e-200 * (1e-200 * x))", "not x": "(not x)", "not 0": "1.0",
    "x < y <= 2": "((x < y) and (y <= 2.0))", "+x": "x", "x % 2": "(x % 2.0)", "atan2(y, x)": "atan2(y, x)",
}  # fmt: skip


@pytest.mark.parametrize("text", FOLDED)
def test_expressions_are_folded(text: str):
    assert written(parse(text)) == FOLDED[text]
    assert parse(written(parse(text))) is parse(text)


def test_powers_up_to_eight_are_products():
    """Of at most four factors; twice the half of the exponent and one more."""
    x = Name("x")
    for n in range(9):
        assert make(Op.POW, x, Const(float(n))) is product(x, n)
        assert evaluate_constant(product(x, n), {"x": 1.5}) == 1.5**n
        count = sum(not isinstance(each, Name) for each in postorder((product(x, n),))) if n else 0
        assert count == (0, 0, 1, 2, 2, 3, 3, 4, 3)[n]
        assert evaluate_constant(make(Op.POW, x, Const(-float(n))), {"x": 1.5}) == pytest.approx(
            1.5**-n, rel=1e-15
        )


def test_commutative_operations_share_nodes():
    """Where order does not count, and only there."""
    for same in (
        "{} + {}",
        "{}*{}",
        "min({}, {})",
        "max({}, {})",
        "{} == {}",
        "{} != {}",
        "{} > 0 and {} > 0",
        "{} > 0 or {} > 0",
    ):
        assert parse(same.format("x", "y")) is parse(same.format("y", "x")), same
    for other in ("{} - {}", "{}/{}", "{} < {}", "atan2({}, {})", "{} % {}"):
        assert parse(other.format("x", "y")) is not parse(other.format("y", "x")), other


def test_substitution_reaches_all_leaves():
    node = parse("sin(x) + table('T', x*y) + der(x)")
    found = substitute(node, lambda leaf: parse("2*z") if leaf is Name("x") else None)
    assert written(found) == "((table('T', ((2.0 * z) * y)) + sin((2.0 * z))) + der(x))"
    assert rebuild(node, node.args) is node and substitute(node, lambda leaf: None) is node
    known: dict[Node, Node] = {Name("x"): Name("w")}
    assert written(substitute(parse("x + y"), lambda leaf: None, known)) == "(w + y)"
    assert (
        names(node) == {"x", "y", "der(x)"}
        and [leaf.key for leaf in leaves(node)] == ["x", "y", "der(x)"]
        and tables(node) == {"T"}
    )
    assert columns("a + table('T', b) + a") == {"a": 1, "table('T')": 5, "b": 16}


def test_out_of_domain_constants_are_refused():
    """IEEE: poles and overflow give infinity, what has no value gives NaN; the reason is told where it is a constant."""
    of = OPERATIONS
    assert (of[Op.DIV](3.0, 0.0), of[Op.DIV](-3.0, 0.0)) == (math.inf, -math.inf) and math.isnan(
        of[Op.DIV](0.0, 0.0)
    )
    assert (of[Op.POW](-2.0, 1e9 + 1.0), of[Op.POW](-2.0, 1e9), of[Op.POW](0.0, -1.0)) == (
        -math.inf,
        math.inf,
        math.inf,
    )
    assert (
        math.isnan(of[Op.POW](-2.0, 0.5))
        and math.isnan(of[Op.MOD](1.0, 0.0))
        and of[Op.MOD](-1.0, 3.0) == 2.0
    )
    assert (
        of[Op.LOG](0.0) == -math.inf
        and math.isnan(of[Op.LOG](-1.0))
        and [of[Op.SIGN](x) for x in (-2.0, 0.0, 3.0)] == [-1.0, 0.0, 1.0]
    )
    assert (of[Op.SINH](-1e4), of[Op.COSH](-1e4), of[Op.EXP](1e4)) == (
        -math.inf,
        math.inf,
        math.inf,
    )
    assert (
        of[Op.FLOOR](math.inf) == math.inf
        and of[Op.CEIL](-0.5) == 0.0
        and of[Op.GATE](0.0, 1.0, 2.0) == 2.0
        and of[Op.GATE](1.0, 1.0, 2.0) == 2.0
    )
    assert of[Op.GATE](1.0, 3.0, 2.0) == 3.0 and of[Op.SUB_MUL](2.0, 3.0, 10.0) == 4.0
    told = {
        (Op.DIV, 1.0, 0.0): "division by zero",
        (Op.MOD, 1.0, 0.0): "division by zero",
        (Op.EXP, 1e4): "exp(10000) is too large",
    }
    told |= {
        (Op.LOG, 0.0): "log(0) is not defined",
        (Op.SQRT, -1.0): "sqrt(-1) is not defined",
        (Op.POW, 10.0, 999.0): "pow(10, 999) is too large",
    }
    for (op, *args), words in told.items():
        assert explain(op, list(args)) == words


def test_constant_errors_name_cause():
    for text, words, column in (
        ("a + 1/(b - 2)", "division by zero", None),
        ("a*c", "unknown name 'c'", 3),
        ("table('T', 1)", "a table", None),
    ):
        with pytest.raises(ExpressionError, match=words) as error:
            evaluate_constant(text, {"a": 1.0, "b": 2.0})
        assert error.value.column == column
    with pytest.raises(ExpressionError, match="not a finite number"):
        evaluate_constant("a", {"a": math.inf})
    assert (
        evaluate_constant("if(b > 1, a, 1/(b - 2))", {"a": 1.0, "b": 2.0}) == 1.0
    )  # what is not chosen does not count
    for wrong in (True, None, [1]):
        with pytest.raises(ExpressionError, match="expected a number or an expression"):
            parse(wrong)  # type: ignore[arg-type]


def test_expressions_that_grow_too_long_are_refused():
    node: Node = Name("x" * 100)
    for _ in range(7):
        node = make(Op.ADD, node, make(Op.SIN, node))
    assert MAX_TEXT_LENGTH - 2000 < len(written(node)) <= MAX_TEXT_LENGTH
    with pytest.raises(ExpressionError, match="longer than 15000 characters"):
        written(make(Op.ADD, node, make(Op.SIN, make(Op.COS, node))))
    with pytest.raises(ExpressionError, match="derivative of table 'T' has no text"):
        written(differentiate(parse("table('T', x)"), lambda leaf: ONE))
    assert (
        written(Name("j-1")) == "'j-1'"
        and written(parse("der('j-1')")) == "der('j-1')"
        and written(Const(-2.5)) == "(-2.5)"
    )


# -- corners in time --------------------------------------------------------------------------------------------------------------------------
def phases(root: Node) -> dict[Node, int]:
    """Phase of every node: t and what is made of it; k and j are constants, q is known later."""
    found: dict[Node, int] = {}
    for node in postorder((root,)):
        own = {"t": TIME, "stage_start": TIME, "q": 2}.get(getattr(node, "key", ""), 0)
        found[node] = max((found[arg] for arg in node.args), default=own)
    return found


PACES = {
    "t": "1.0", "k": "0.0", "stage_start": "0.0", "2*t + 3": "2.0", "t - k": "1.0", "k - t": "(-1.0)", "-t": "(-1.0)", "t*k": "k",
    "t*t": None, "sin(t)": None,
    "t/4": "0.25", "4/t": None, "t % k": "1.0", "k % t": None, "abs(t - 1)": "sign((t - 1.0))", "abs(3*t)": "(3.0 * sign((3.0 * t)))",
    "min(t, 2*t)": "if(((2.0 * t) < t), 2.0, 1.0)", "max(t, 2*t)": "if(((2.0 * t) > t), 2.0, 1.0)", "if(t > 1, 3*t, k)": "if((t > 1.0), 3.0, 0.0)",
    "floor(t)": "0.0", "sign(sin(k))": "0.0", "floor(sin(t))": None, "table('T', k)": "0.0", "table('T', t)": None, "table('T', floor(t))": "0.0",
    "t > 1": "0.0", "2**t": None, "sin(k)*t": "sin(k)", "t - stage_start": "1.0",
}  # fmt: skip


@pytest.mark.parametrize("text", PACES)
def test_derivatives_of_time_functions_match_differences(text: str):
    """How fast a value runs between corners; None where it does not run evenly."""
    root = parse(text)
    found = paces(phases(root), TIME)[root]
    assert (None if found is None else written(found)) == PACES[text]


CORNERS = {
    "abs(t - 1)": [(Knot.ZERO, "(t - 1.0)", "1.0", None)], "sign(2*t)": [(Knot.ZERO, "(2.0 * t)", "2.0", None)],
    "t < k": [(Knot.ZERO, "(t - k)", "1.0", None)], "max(3, 2*t)": [(Knot.ZERO, "((2.0 * t) - 3.0)", "2.0", None)],
    "floor(t/2)": [(Knot.MULTIPLE, "(t / 2.0)", "0.5", "1.0")], "ceil(t)": [(Knot.MULTIPLE, "t", "1.0", "1.0")],
    "t % k": [(Knot.MULTIPLE, "t", "1.0", "k")], "k % t": [], "abs(sin(t))": [], "abs(k)": [], "abs(q)": [], "t == 1": [],
    "table('T', 2*t)": [(Knot.TABLE_X, "(2.0 * t)", "2.0", "T")], "table('T', t*t)": [],
    "table('T', t, 3*t)": [(Knot.TABLE_X, "t", "1.0", "T"), (Knot.TABLE_Y, "(3.0 * t)", "3.0", "T")],
    "table('T', t, k)": [(Knot.TABLE_X, "t", "1.0", "T")], "abs(t) + sign(t)": [(Knot.ZERO, "t", "1.0", None)],
    "min(t, sin(t))": [], "if(t > 1, 1, 2)": [(Knot.ZERO, "(t - 1.0)", "1.0", None)],
}  # fmt: skip


@pytest.mark.parametrize("text", CORNERS)
def test_corner_candidates_of_time_functions(text: str):
    """Kind, argument, its pace, and the table or the spacing; once each, of motions where any of their nodes is one."""
    root = parse(text)
    for motions in (frozenset[Node](), frozenset(postorder((root,)))):
        found = corners(phases(root), TIME, motions)
        shown = [
            (kind, written(a), written(pace), written(d) if isinstance(d, Node) else d)
            for kind, a, pace, d, _ in found
        ]  # type: ignore[arg-type]
        assert shown == CORNERS[text] and all(moves == bool(motions) for *_, moves in found)


def test_kinks_of_differentiated_tables_are_candidates():
    slope = differentiate(parse("table('T', t)"), lambda leaf: ONE)
    ((kind, argument, _, table),) = candidates(slope, paces(phases(slope), TIME))
    assert isinstance(slope, Lookup) and (kind, argument, table) == (Knot.TABLE_X, Name("t"), "T")


INSTANTS = {
    "t - 1": [("(t - 1.0)", "1.0")], "min(t - 1, 2*t)": [("(2.0 * t)", "2.0"), ("(t - 1.0)", "1.0")], "min(t - 1, q)": [("(t - 1.0)", "1.0")],
    "q - t": [], "k - 1": [], "sin(t)": [], "max(q, k - t)": [("(k - t)", "(-1.0)")], "other - t": [],
}  # fmt: skip


@pytest.mark.parametrize("text", INSTANTS)
def test_parts_of_guards_linear_in_time_are_found(text: str):
    """Parts of a guard that run evenly with time alone; what knows later names is none."""
    found = instants(parse(text), {"t": TIME, "k": 0, "q": 2}, TIME)
    assert [(written(node), written(rate)) for node, rate in found] == INSTANTS[text]


@pytest.mark.parametrize("seed", ["0", "1", "271"])
def test_parsing_does_not_depend_on_earlier_expressions(seed: str):
    """Sums and products of the same things stand in one order, in every process and after whatever was read in it."""
    texts = ["k*q - c*der(q) + min(k*c, q*k)", "max(q + 1, 2*c)", "(a + b)*(c + q) and q*c < k"]
    turned = ["q*k", "der(q)*c", "c*k", "min(q*k, k*c)", "1 + q", "(q + c)*(b + a)", "c*q"]
    code = "import sys; from kinetree.models.expressions.parse import parse; from kinetree.models.expressions.nodes import postorder\n"
    code += "kept = [parse(each) for each in sys.argv[2].split('|')]\n"
    code += "print([str(each) + repr(getattr(each, 'args', '')) for text in sys.argv[1].split('|') for each in postorder((parse(text),))])"
    found = {
        subprocess.run(
            [sys.executable, "-c", code, "|".join(texts), "|".join(before)],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for before in (["1"], turned)
    }
    assert len(found) == 1 and "Operation" in found.pop()
