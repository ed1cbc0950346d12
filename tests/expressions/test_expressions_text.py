"""What expressions may say, what they may not, and where the message points."""

import copy
import math
import pickle
import random

import pytest
from work_counted import calls

from kinetree.models.expressions.nodes import Const, Name
from kinetree.models.expressions.parse import (
    ExpressionError,
    columns,
    evaluate_constant,
    names,
    parse,
    tables,
)
from kinetree.models.expressions.registers import Registers

VALUES = {
    "x": 0.7,
    "y": -2.0,
    "n": 3.0,
    "arm.position[1]": 5.0,
    "lambda": 6.0,
    "lift.in": 7.0,
    "der(x)": 11.0,
    "force('if')": 13.0,
    "ω": 17.0,
    "j-1": 19.0,
    "der(j-1)": 23.0,
    "arm/2": 29.0,
}
MEANING = [
    ("1 + 2*3 - 4/8", 6.5),
    ("-x**2", -0.49),
    ("2**3**2", 512.0),
    ("7 % y + -7 % n", -1.0 + 2.0),
    ("1 < x < 2 or not (x != 0.7)", 0.0 + 1.0),
    ("x > 0 and y", 1.0),
    ("if(x > 1, 10, 20)", 20.0),
    ("if (x < 1,10,20)", 10.0),
    ("if(y > 0, sqrt(y), 3)", 3.0),
    ("min(x, y, n) + max(x, y, n)", 1.0),
    ("atan2(0*x, y)", math.pi),
    ("abs(y) + sign(y) + floor(y/4) + ceil(x)", 2.0 - 1.0 - 1.0 + 1.0),
    ("pow(n, 2) + pi", 9.0 + math.pi),
    ("arm.position[1] + lambda + lift . in", 18.0),
    ("der(x) + force('if')", 24.0),
    ("'j-1' - 2*der('j-1') + \"arm/2\"", 2.0),
    ("ω*2", 34.0),
    ("  1e-3\n  + .5", 0.501),
    (4, 4.0),
    (2.5, 2.5),
]
MISTAKES = [
    ("2*(x^2)", "write a power as x**y", 5),
    ("sine(x)", "did you mean 'sin'", 1),
    ("1 + cosh2(x)", "unknown function", 5),
    ("sin(x, y)", "sin takes 1 argument, found 2", 1),
    ("if(x, y)", "if takes 3 arguments, found 2", 1),
    ("x + if", "arguments are missing", 5),
    ("max(1)", "two arguments or more", 1),
    ("x // 2", "floor(a/b)", 3),
    ("x if y else n", "if(condition, a, b)", None),
    ("x = 2", "'=='", None),
    ("x && y", "'and'", None),
    ("(x + 1", "not closed", 1),
    ("x + ", "cannot be read", None),
    ("x y", "cannot be read", 1),
    ("", "empty", None),
    ("1 + 1/0", "division by zero", 6),
    ("x + log(-1)", "log(-1) is not defined", 5),
    ("1e999*x", "finite", 1),
    ("9**9**9**9", "too large", 5),
    ("x[y]", "whole number", 1),
    ("x[-1]", "whole number", 1),
    ("(x + y).real", "joined by dots", None),
    ("table(x, 1)", "quotation marks", 7),
    ("force(clamp)", "quotation marks", 7),
    ("x, y", "one value", None),
    ("x is y", "cannot be read", None),
    ("2j", "imaginary", 1),
    ("ωω + $", "cannot be read", 6),
]
HOSTILE = [
    "__import__('os').system('true')",
    "().__class__.__bases__[0].__subclasses__()",
    "(lambda: 0)()",
    "[x for x in (1,)]",
    "f'{x}'",
    "open('/etc/passwd')",
    "x := 3",
    "-" * 19_000 + "1",
    "not " * 4_900 + "x",
    "(" * 9_000 + "x" + ")" * 9_000,
    "sin(" * 4_000 + "x" + ")" * 4_000,
    "x" + ".x" * 9_000,
    "x" + "[0]" * 6_000,
    "x" + "**x" * 6_000,
    "x" + "<x" * 9_000,
    "x" + "+x" * 9_000,
    "1" * 19_999,
    "0x" + "f" * 19_000,
    "9" + "**9" * 100,
    "x" * 20_001,
    "x\0",
    "'\\x41'",
    "\ud800",
    "x # comment",
]


@pytest.mark.parametrize(("text", "expected"), MEANING)
def test_grammar_precedence(text, expected):
    assert evaluate_constant(text, VALUES) == pytest.approx(expected, rel=4e-16)


@pytest.mark.parametrize(("text", "message", "column"), MISTAKES)
def test_expression_errors_name_column(text, message, column):
    with pytest.raises(ExpressionError) as caught:
        parse(text)
    assert message in caught.value.message
    if column is not None:
        assert caught.value.column == column


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:20].encode(errors="replace").hex())
def test_hostile_text_is_refused_at_once(text):
    with pytest.raises(ExpressionError) as caught:
        parse(text)
    assert len(caught.value.message) < 200
    assert calls(parse, text) < 100_000


def test_random_token_sequences_are_parsed_or_refused():
    """Nothing but ExpressionError leaves the reader, whatever the text."""
    draws = random.Random(5)
    words = "x y lift.force if( sin( min( table( der( 'a' and or not lambda 1 2.5 1e3 0 é"
    tokens = [*words.split(), *'"(),+-*/%<![].:=\n;@{}', "**", "<=", "==", "[1]", " "]
    outcomes = {True: 0, False: 0}
    for _ in range(3000):
        text = draws.choice(("", " ")).join(draws.choices(tokens, k=draws.randint(1, 8)))
        try:
            columns(text)
            evaluate_constant(parse(text), dict.fromkeys(names(parse(text)), 0.5))
            outcomes[True] += 1
        except ExpressionError as error:
            assert error.column is None or 1 <= error.column <= len(text) + 1
            outcomes[False] += 1
    assert min(outcomes.values()) > 50


@pytest.mark.parametrize("value", [math.nan, math.inf, True, None, [1.0], 10**400])
def test_only_finite_numbers_are_values(value):
    with pytest.raises(ExpressionError):
        parse(value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2 + sqrt(y)", r"sqrt\(-2\) is not defined"),
        ("1/(x - 0.7)", "division by zero"),
        ("exp(2000*x)", r"exp\(1400\) is too large"),
    ],
)
def test_values_out_of_the_domain_are_explained(text, message):
    with pytest.raises(ExpressionError, match=message):
        evaluate_constant(text, VALUES)


def test_unknown_names_come_with_a_suggestion():
    with pytest.raises(ExpressionError, match="did you mean 'arm.position") as caught:
        evaluate_constant("2 + arm.positon[1]", VALUES)
    assert caught.value.column == 5


def test_names_tables_and_table_columns_are_found():
    text = "arm.angle + der(q)*table('law', q, t) + reaction('hinge')"
    assert names(parse(text)) == {"arm.angle", "der(q)", "q", "t", "reaction('hinge')"}
    assert tables(parse(text)) == {"law"}
    assert columns(text) == {
        "arm.angle": 1,
        "der(q)": 13,
        "q": 33,
        "t": 36,
        "table('law')": 20,
        "reaction('hinge')": 41,
    }


def test_equal_expressions_are_one_object():
    assert parse("sin(a*b) + c") is parse("c+sin((b * a))")
    assert parse("0*x + 1*y - 0") is Name("y")
    assert parse("x**2") is parse("x*x")
    assert parse("x - x") is Const(0.0) is parse(-0.0)
    node = parse("if(a < b, table('law', a), -b)")
    assert copy.deepcopy(node) is node
    assert pickle.loads(pickle.dumps(node)) is node


def test_long_sums_are_accepted():
    text = "+".join(f"x{k}" for k in range(2_000))
    node = parse(text)
    assert evaluate_constant(node, {f"x{k}": 1.0 for k in range(2_000)}) == 2000.0
    registers = Registers()
    for k in range(2_000):
        registers.add(f"x{k}")
    registers.compile(node)
    assert registers.finish().code.size == 5 * 1_999
