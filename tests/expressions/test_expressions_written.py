"""Expressions as text: read again, the text is the same expression, for everything that may stand in one and for its derivatives."""

import pytest

from kinetree.models.expressions.differentiate import time_derivatives
from kinetree.models.expressions.functions import FUNCTIONS
from kinetree.models.expressions.nodes import ExpressionError, Name
from kinetree.models.expressions.parse import parse
from kinetree.models.expressions.to_text import MAX_TEXT_LENGTH, SIGNS, written

CALLS = [
    f"{name}({', '.join(('t', 'x', 't*x')[:count])})" for name, (_, count) in FUNCTIONS.items()
]
OPERATIONS = [f"t {sign} x" for sign in SIGNS.values()] + [
    "-t",
    "not t",
    "t - (x - 3)",
    "t/(x/2)",
    "(t/x)/2",
    "-(t*3)**2",
    "(-2.5)*t",
    "min(t, x, 2*t)",
]
VALUES = [
    "1e-300*t",
    "pi",
    "t/3",
    "7",
    "table('a b', t)",
    "table('a', t, x)",
    "force('rear spring')*t",
]
NAMES = [
    "x",
    "der(x)",
    "arm.position[1]",
    "lift.in",
    "lambda",
    "der(lambda)",
    "'j-1'",
    "der('j-1')",
    "'arm/2'",
    "der(der(x))",
    "ω",
]


@pytest.mark.parametrize(
    "text", [*CALLS, *OPERATIONS, *VALUES, *(f"t*{name} + {name}" for name in NAMES)]
)
def test_expression_text_round_trip(text):
    node = parse(text)
    try:
        derivatives = time_derivatives(node)
    except ExpressionError:  # tables of two variables have one derivative
        derivatives = (node,)
    for each in derivatives:
        if text.startswith("table(") and each is not node:
            with pytest.raises(ExpressionError, match="has no text"):
                written(each)
        else:
            assert parse(written(each)) is each


def test_too_long_expression_text_is_refused():
    fits = "x" * (MAX_TEXT_LENGTH - len("( + 1.0)"))
    assert (
        len(written(parse(f"{fits} + 1"))) == MAX_TEXT_LENGTH
        and written(Name(MAX_TEXT_LENGTH * "x")) == MAX_TEXT_LENGTH * "x"
    )
    for text in (f"{fits}x + 1", (MAX_TEXT_LENGTH + 1) * "x"):
        with pytest.raises(ExpressionError, match="longer than"):
            written(parse(text))
