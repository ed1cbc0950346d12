"""Evaluation of Modelica expressions: numbers, arrays, Booleans and enumeration names."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from kinetree.models.foreign.modelica_component import Unreadable

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sqrt": np.sqrt, "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2,
    "exp": np.exp, "log": np.log, "abs": np.abs, "min": np.minimum, "max": np.maximum, "cross": np.cross, "transpose": np.transpose,
    "length": np.linalg.norm, "norm": np.linalg.norm, "from_deg": np.radians, "to_deg": np.degrees, "from_rpm": lambda x: x * math.pi / 30.0,
    "normalize": lambda v: v / np.linalg.norm(v), "to_unit1": lambda v: np.asarray(v) / (np.linalg.norm(v) or 1.0),
    "to_rpm": lambda x: x * 30.0 / math.pi,
    "normalizeWithAssert": lambda v: v / np.linalg.norm(v), "size": lambda v, k: np.shape(v)[int(k) - 1],
    "vector": np.ravel, "sum": np.sum, "from_bar": lambda x: 1e5 * x,
}  # fmt: skip
CONSTANTS = {"pi": math.pi, "e": math.e, "g_n": 9.80665, "eps": 2.0**-52, "inf": 1e60}
MOST_ROUNDS = 1000  # of a loop, and elements of an array


def reference(node: Any, values: Mapping[str, Any] | None = None) -> str:
    """Return a reference as text; with `values`, array indices become parts of the name, as in
    b.2.frame_a.
    """
    if type(node).__name__ != "ComponentRef":
        return ""
    name = str(node.name)
    if values is not None:
        for each in (each for row in node.indices for each in row if each is not None):
            name += f".{whole_number(each, values)}"
    return f"{name}.{reference(node.child[0], values)}" if node.child else name


def whole_number(node: Any, values: Mapping[str, Any]) -> int:
    """Return the value of an expression that must be an integer."""
    value = evaluated(node, values)
    if isinstance(value, str) or np.ndim(value) != 0 or float(value) != int(value):
        raise Unreadable("a number of an element that is no whole number")
    return int(value)


def rounds(node: Any, values: Mapping[str, Any]) -> list[Any]:
    """Return the values that a for-loop variable takes."""
    if type(node).__name__ == "Slice":
        first, step, last = (
            whole_number(each, values) for each in (node.start, node.step, node.stop)
        )
        if step == 0 or abs((last - first) / step) > MOST_ROUNDS:
            raise Unreadable(f"a loop of more than {MOST_ROUNDS} rounds")
        return list(range(first, last + (1 if step > 0 else -1), step))
    found = list(np.ravel(evaluated(node, values)))
    return [int(each) if float(each) == int(each) else float(each) for each in found]


def evaluated(node: Any, values: Mapping[str, Any]) -> Any:
    """Return the value of an expression: a number, an array, a Boolean or an enumeration name."""
    kind = type(node).__name__
    if kind == "Primary":
        if node.value is None:
            raise Unreadable("an expression without a value")
        return node.value
    if kind == "ComponentRef":
        text, whole = reference(node), reference(node, values)
        if whole != text and whole in values:
            return values[whole]
        if text in values:
            value = values[text]
            if isinstance(value, str) and value.startswith("? "):
                raise Unreadable(value[2:])
            return _element(value, node, values)
        last = text.rpartition(".")[2]
        if "Constants" in text and last in CONSTANTS or text == "pi":
            return CONSTANTS[last]
        if text[:1].isupper():
            return text
        raise Unreadable(f"the unknown name {text[:60]}")
    if kind == "Slice":
        return np.array(rounds(node, values), dtype=float)
    if kind == "Array":
        return _array([evaluated(each, values) for each in node.values])
    if kind == "IfExpression":
        for condition, value in zip(node.conditions, node.expressions, strict=False):
            if evaluated(condition, values):
                return evaluated(value, values)
        return evaluated(node.expressions[-1], values)
    if kind == "Expression":
        operands = [evaluated(each, values) for each in node.operands]
        with np.errstate(all="ignore"):
            return _operation(str(node.operator), operands)
    raise Unreadable(f"an expression ({kind})")


def _array(parts: list[Any]) -> np.ndarray:
    try:
        return np.array(parts, dtype=float)
    except (ValueError, TypeError):
        raise Unreadable("an array of unequal rows, or of texts") from None


def _element(value: Any, node: Any, values: Mapping[str, Any]) -> Any:
    while node.child:
        node = node.child[0]
    indices = [each for row in node.indices for each in row if each is not None]
    if not indices:
        return value
    try:
        return value[tuple(int(evaluated(each, values)) - 1 for each in indices)]
    except (IndexError, TypeError, ValueError):
        raise Unreadable(f"an element of {node.name}") from None


def _operation(operator: str, operands: list[Any]) -> Any:
    name = operator.rpartition(".")[2]
    if any(isinstance(each, str) for each in operands):
        if operator in ("==", "<>"):
            same = str(operands[0]).split(".")[-1] == str(operands[1]).split(".")[-1]
            return same == (operator == "==")
        raise Unreadable(f"{operator[:20]} of texts")
    try:
        if operator in ("-", "+") and len(operands) == 1:
            return -operands[0] if operator == "-" else operands[0]
        if name in ("zeros", "ones", "fill"):
            count = [int(each) for each in operands[name == "fill" :]]
            if max(count) > 100 or len(count) > 2:
                raise Unreadable(f"an array of {count}")
            return np.full(count, {"zeros": 0.0, "ones": 1.0}.get(name, operands[0]))
        if name in FUNCTIONS:
            return FUNCTIONS[name](*operands)
        a, b = operands
        if operator == "*" and np.ndim(a) and np.ndim(b):
            return np.asarray(a) @ np.asarray(b)
        table: dict[str, Callable[[Any, Any], Any]] = {
            "+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, ".*": lambda: a * b, "/": lambda: a / b, "./": lambda: a / b,
            "^": lambda: float(a) ** float(b), ".^": lambda: a**b, "<": lambda: a < b, "<=": lambda: a <= b, ">": lambda: a > b,
            ">=": lambda: a >= b, "==": lambda: a == b, "<>": lambda: a != b, "and": lambda: a and b, "or": lambda: a or b,
        }  # fmt: skip # pyright: ignore
        return table[operator]()  # pyright: ignore[reportCallIssue]
    except (ValueError, TypeError, KeyError, ArithmeticError) as error:
        raise Unreadable(f"{operator[:20]}: {str(error)[:60]}") from None
