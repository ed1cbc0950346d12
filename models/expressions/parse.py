"""Parsing of expressions: graphs from text, names used, evaluation of constants."""

import math
from collections.abc import Mapping
from functools import lru_cache

from kinetree.models.expressions.functions import OPERATIONS, explain
from kinetree.models.expressions.nodes import (
    Const,
    ExpressionError,
    Leaf,
    Node,
    Operation,
    names,
    postorder,
    tables,
)
from kinetree.models.expressions.parser import Reader, number, suggestion

__all__ = [
    "ExpressionError",
    "Node",
    "columns",
    "evaluate_constant",
    "names",
    "parse",
    "suggestion",
    "tables",
]


def parse(text: str | float | int) -> Node:
    """Return the expression graph of a text or a number."""
    if isinstance(text, str):
        return _parse_text(text)
    if isinstance(text, bool) or not isinstance(text, (int, float)):
        raise ExpressionError(f"expected a number or an expression, found {text!r:.40}")
    return number(text, None)


def columns(text: str) -> dict[str, int]:
    """Return the first column (from 1) of every name and table of a valid expression."""
    reader = Reader(text)
    reader.read()
    return reader.columns


@lru_cache(maxsize=8192)
def _parse_text(text: str) -> Node:
    return Reader(text).read()


def evaluate_constant(text_or_node: str | float | Node, values: Mapping[str, float]) -> float:
    """Return the value of an expression of named constants; raise ExpressionError if it is not
    finite.
    """
    text = text_or_node if isinstance(text_or_node, str) else None
    root = text_or_node if isinstance(text_or_node, Node) else parse(text_or_node)
    result: dict[Node, float] = {}
    trouble = ""
    for node in postorder((root,)):
        if isinstance(node, Const):
            result[node] = node.value
        elif isinstance(node, Leaf):
            if node.key not in values:
                message = f"unknown name '{node.key}'" + suggestion(node.key, values)
                raise ExpressionError(message, columns(text).get(node.key) if text else None)
            result[node] = float(values[node.key])
        elif isinstance(node, Operation):
            args = [result[arg] for arg in node.args]
            result[node] = OPERATIONS[node.op](*args)
            if not trouble and not math.isfinite(result[node]) and all(map(math.isfinite, args)):
                trouble = explain(node.op, args)
        else:
            raise ExpressionError("a table cannot be used in a constant")
    if not math.isfinite(result[root]):
        raise ExpressionError(trouble or "the value is not a finite number")
    return result[root]
