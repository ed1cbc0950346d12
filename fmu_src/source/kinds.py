"""C types of the values in kernels, and their names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kinetree.solvers.records import Record

INTEGER, REAL, BOOLEAN, NOTHING = "int64_t", "double", "int", "void"
INTS, FLOATS = "KtInts", "KtFloats"  # views: a pointer and a size
MODEL, WORK = "KtModel", "KtWork"  # blocks: the ints and the floats they describe


class Named(str):
    """A view whose first entries form a record with named attributes; in C a view as any other."""

    record: Record

    def __new__(cls, kind: str, record: Record) -> Named:
        view = super().__new__(cls, kind)
        view.record = record
        return view


NUMBERS = (BOOLEAN, INTEGER, REAL)  # each may stand where a later one does


@dataclass(frozen=True)
class Tuple:
    """A tuple type: a C structure with an array if all parts have one type, else with a field for
    each part.
    """

    parts: tuple[Any, ...]

    @property
    def even(self) -> bool:
        return len(set(self.parts)) == 1 and not isinstance(self.parts[0], Function)

    @property
    def name(self) -> str:
        if self.even:
            return (
                f"KtReal{len(self.parts)}"
                if self.parts[0] == REAL
                else f"Kt{len(self.parts)}_{short(self.parts[0])}"
            )
        return "Kt_" + "_".join(short(part) for part in self.parts)

    def definition(self) -> str:
        """Return the definition of the C structure."""
        if self.even:
            return (
                f"typedef struct {{ {c_name(self.parts[0])} v[{len(self.parts)}]; }} {self.name};"
            )
        fields = " ".join(
            f"{c_name(part)} f{k};"
            for k, part in enumerate(self.parts)
            if not isinstance(part, Function)
        )
        return f"typedef struct {{ {fields} }} {self.name};"

    def part(self, value: str, k: int) -> str:
        """Return the C text of an element of a tuple value."""
        return f"{value}.v[{k}]" if self.even else f"{value}.f{k}"


@dataclass(frozen=True)
class Function:
    """A kernel that is passed as an argument; it is resolved at translation."""

    function: Callable


def c_name(kind: Any) -> str:
    """Return the C name of a type."""
    return kind.name if isinstance(kind, Tuple) else kind


def short(kind: Any) -> str:
    """Return the abbreviation of a type in names of tuple types."""
    return (
        kind.name
        if isinstance(kind, Tuple)
        else {INTEGER: "i", REAL: "d", BOOLEAN: "b"}.get(kind, str(kind).removeprefix("Kt"))
    )


def joined(a: Any, b: Any) -> Any:
    """Return the common type of two values that are assigned to one variable."""
    if a == b or b is None:
        return a
    if a is None:
        return b
    if a in NUMBERS and b in NUMBERS:
        return max(a, b, key=NUMBERS.index)
    if isinstance(a, Tuple) and isinstance(b, Tuple) and len(a.parts) == len(b.parts):
        return Tuple(tuple(joined(x, y) for x, y in zip(a.parts, b.parts, strict=True)))
    raise TypeError(f"{a} and {b} in one variable")


def of_value(value: Any) -> Any:
    """Return the type of a Python constant."""
    if isinstance(value, bool):
        return BOOLEAN
    if isinstance(value, int):
        return INTEGER
    if isinstance(value, float):
        return REAL
    if isinstance(value, tuple):
        return Tuple(tuple(of_value(each) for each in value))
    raise TypeError(f"{value!r} is no constant of a kernel")


def zero(kind: Any) -> str:
    """Return the C initialiser of a type with zeros."""
    if kind == REAL:
        return "0.0"
    if kind in NUMBERS:
        return "0"
    if kind == FLOATS or kind == INTS or kind in (MODEL, WORK):
        return "{0, 0}"
    assert isinstance(kind, Tuple)
    inner = [zero(part) for part in kind.parts if not isinstance(part, Function)]
    return "{{" + ", ".join(inner) + "}}" if kind.even else "{" + ", ".join(inner) + "}"


def literal(value: Any) -> str:
    """Return a Python constant as a C literal."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, int):
        return str(int(value)) if value >= 0 else f"({int(value)})"
    if isinstance(value, float):
        if value != value:
            return "NAN"
        if abs(value) == float("inf"):
            return "INFINITY" if value > 0 else "(-INFINITY)"
        return repr(value) if value >= 0 else f"({value!r})"
    return f"(({of_value(value).name}){braces(value)})"


def braces(value: tuple) -> str:
    """Return the C initialiser of a tuple."""
    inner = ", ".join(braces(each) if isinstance(each, tuple) else literal(each) for each in value)
    return f"{{{{{inner}}}}}" if of_value(value).even else f"{{{inner}}}"
