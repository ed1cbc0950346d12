"""Symbols: values that kernels compute with while they are traced; constant results are plain
floats.
"""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

from kinetree.models.trace.operations import FUNCTIONS, VALUE
from kinetree.models.trace.tape import Tape


class Symbol:
    """A value that is unknown until the generated code runs."""

    __slots__ = ("i", "tape")
    __hash__ = object.__hash__

    def __init__(self, tape: Tape, i: int):
        self.tape = tape
        self.i = i

    def __add__(self, b: Any) -> Any:
        return wrap(self.tape, self.tape.add(self.i, number(self.tape, b)))

    def __radd__(self, b: Any) -> Any:
        return wrap(self.tape, self.tape.add(number(self.tape, b), self.i))

    def __sub__(self, b: Any) -> Any:
        return wrap(self.tape, self.tape.sub(self.i, number(self.tape, b)))

    def __rsub__(self, b: Any) -> Any:
        return wrap(self.tape, self.tape.sub(number(self.tape, b), self.i))

    def __mul__(self, b: Any) -> Any:
        return wrap(self.tape, self.tape.mul(self.i, number(self.tape, b)))

    def __rmul__(self, b: Any) -> Any:
        return wrap(self.tape, self.tape.mul(number(self.tape, b), self.i))

    def __truediv__(self, b: Any) -> Any:
        return wrap(self.tape, self.tape.div(self.i, number(self.tape, b)))

    def __rtruediv__(self, b: Any) -> Any:
        return wrap(self.tape, self.tape.div(number(self.tape, b), self.i))

    def __mod__(self, b: Any) -> Any:
        return wrap(self.tape, self.tape.fold("mod", self.i, number(self.tape, b)))

    def __rmod__(self, b: Any) -> Any:
        return wrap(self.tape, self.tape.fold("mod", number(self.tape, b), self.i))

    def __pow__(self, b: Any) -> Any:
        return wrap(self.tape, self.tape.power(self.i, number(self.tape, b)))

    def __neg__(self) -> Any:
        return wrap(self.tape, self.tape.neg(self.i))

    def __abs__(self) -> Any:
        return wrap(self.tape, self.tape.fold("abs", self.i))

    def __lt__(self, b: Any) -> Any:
        return condition(self.tape, self.tape.compare("lt", self.i, number(self.tape, b)))

    def __le__(self, b: Any) -> Any:
        return condition(self.tape, self.tape.compare("le", self.i, number(self.tape, b)))

    def __gt__(self, b: Any) -> Any:
        return condition(self.tape, self.tape.compare("lt", number(self.tape, b), self.i))

    def __ge__(self, b: Any) -> Any:
        return condition(self.tape, self.tape.compare("le", number(self.tape, b), self.i))

    def __eq__(self, b: Any) -> Any:
        return condition(self.tape, self.tape.compare("eq", self.i, number(self.tape, b)))

    def __ne__(self, b: Any) -> Any:
        return condition(self.tape, self.tape.compare("ne", self.i, number(self.tape, b)))

    def __float__(self) -> float:
        raise TypeError(
            "a symbol has no value: the kernel takes a number where it should calculate"
        )


class Condition:
    """A comparison that is unknown until the generated code runs; as a truth value it decides as at
    the recorded state.
    """

    __slots__ = ("i", "tape")

    def __init__(self, tape: Tape, i: int):
        self.tape = tape
        self.i = i

    def __bool__(self) -> bool:
        return self.tape.decide(self.i)

    def __and__(self, b: Any) -> Any:
        return condition(self.tape, self.tape.logical("and", self.i, number(self.tape, b)))

    def __or__(self, b: Any) -> Any:
        return condition(self.tape, self.tape.logical("or", self.i, number(self.tape, b)))

    __rand__, __ror__ = __and__, __or__


def wrap(tape: Tape, i: int) -> Any:
    """Return a node as a symbol, or as a number if it is constant."""
    node = tape.nodes[i]
    return node[1] if node[0] == "const" else Symbol(tape, i)


def condition(tape: Tape, i: int) -> Any:
    """Return a node as a condition, or as a truth value if it is constant."""
    node = tape.nodes[i]
    return node[1] != 0.0 if node[0] == "const" else Condition(tape, i)


def number(tape: Tape, a: Any) -> int:
    """Return the node of a symbol or number."""
    return a.i if a.__class__ is Symbol or a.__class__ is Condition else tape.constant(float(a))


def symbolic(*arguments: Any) -> Any:
    """Return the first symbol or condition among the arguments, or None."""
    return next(
        (each for each in arguments if each.__class__ is Symbol or each.__class__ is Condition),
        None,
    )


# -- what kernels import from elsewhere, for symbols ----------------------------------------------------------------------------------------
def function(name: str) -> Any:
    """Return a function of `math`, extended to symbols."""
    plain = VALUE[name]

    def call(*arguments: Any) -> Any:
        found = symbolic(*arguments)
        if found is None:
            return plain(*[float(each) for each in arguments])
        tape = found.tape
        nodes = [number(tape, each) for each in arguments]
        if name == "sin":
            return wrap(tape, tape.sine(*nodes))
        if name == "cos":
            return wrap(tape, tape.cosine(*nodes))
        return wrap(tape, tape.power(*nodes) if name == "pow" else tape.fold(name, *nodes))

    return call


def sincos(angle: Any) -> Any:
    """Return sine and cosine of a symbolic angle."""
    return MATH.sin(angle), MATH.cos(angle)


def select(condition: Any, a: Any, b: Any) -> Any:
    """Return a if the condition holds, else b, for symbols and numbers."""
    if condition.__class__ is not Condition:
        return a if condition else b
    tape = condition.tape
    return wrap(tape, tape.select(condition.i, number(tape, a), number(tape, b)))


def every(condition: Any) -> bool:
    """Return the truth of a condition at the recorded state and record it, so that the tape is
    valid only while it holds.
    """
    return bool(condition)


def least(*arguments: Any) -> Any:
    """Return `min` of plain numbers and symbols."""
    found = arguments[0]
    for each in arguments[1:]:
        found = select(each < found, each, found)
    return found


def largest(*arguments: Any) -> Any:
    """Return `max` of plain numbers and symbols."""
    found = arguments[0]
    for each in arguments[1:]:
        found = select(each > found, each, found)
    return found


def copysign(a: Any, b: Any) -> Any:
    """Return |a| with the sign of b."""
    if symbolic(a, b) is None:
        return math.copysign(a, b)
    size = abs(a)
    return select(b < 0.0, -size, size)


PLAIN = {"pi": math.pi, "inf": math.inf, "nan": math.nan, "copysign": copysign}
MATH = SimpleNamespace(
    **PLAIN, **{name: function(name) for name in FUNCTIONS if name not in ("abs", "mod")}
)
