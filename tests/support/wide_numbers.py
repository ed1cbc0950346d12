"""Lanes and duals as objects of Python: the modules of `solvers/numbers` run on them as they stand, with numpy for what makes machine code.

Lanes are arrays of WIDTH numbers, masks arrays of truth values; a dual has a value and slopes. What the modules register for numba is kept by
function and types and called from the operators here, so that every rule is the one of the sources.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from kinetree.models.trace.symbolic_kernels import ROOT, PlainKernels, named, unchanged
from kinetree.solvers.layout import WIDTH


class LanesType:
    pass


class DualType(LanesType):
    pass


class MaskType:
    pass


LANES, DUAL, MASK = LanesType(), DualType(), MaskType()


class Scalar(float):
    """A number whose type makes numbers, as constants are made where machine code is."""

    type = float


class Builder:
    """What instructions do, on numbers and arrays."""

    fadd, fsub, fmul, fdiv = (
        staticmethod(f) for f in (operator.add, operator.sub, operator.mul, np.divide)
    )
    fneg, and_, or_ = (staticmethod(f) for f in (operator.neg, np.logical_and, np.logical_or))

    @staticmethod
    def fcmp_ordered(sign: str, a: Any, b: Any) -> Any:
        functions = {
            "<": operator.lt,
            "<=": operator.le,
            ">": operator.gt,
            ">=": operator.ge,
            "==": operator.eq,
        }
        return functions[sign](a, b)  # false for what is no number, as an ordered comparison is

    @staticmethod
    def fcmp_unordered(sign: str, a: Any, b: Any) -> Any:
        return {"!=": operator.ne}[sign](a, b)


def spread(builder: object, number: Any) -> np.ndarray:
    return np.broadcast_to(np.asarray(number), (WIDTH,)).copy()


class Wide:
    """Operators by what `arithmetic` registers."""

    rules: dict[tuple, Callable]

    def __neg__(self) -> Any:
        found = self.rules[operator.neg, kind_of(self)](None, Builder, None, (plain(self),))
        return Lanes(found) if isinstance(found, np.ndarray) else found


def plain(x: Any) -> Any:
    return x.numbers if isinstance(x, Lanes) else x if isinstance(x, Dual | Mask) else Scalar(x)


def kind_of(x: Any) -> Any:
    return (
        LANES
        if isinstance(x, Lanes)
        else DUAL
        if isinstance(x, Dual)
        else MASK
        if isinstance(x, Mask)
        else float
    )


def binary(op: Callable) -> tuple[Callable, Callable]:
    def forward(self: Any, other: Any) -> Any:
        a, b = kind_of(self), kind_of(other)
        wide = a if a is not float else b
        result = (
            MASK if wide is LANES and op in COMPARISONS else bool if op in COMPARISONS else wide
        )
        found = Wide.rules[op, a, b](
            None,
            Builder,
            SimpleNamespace(return_type=result, args=(a, b)),
            (plain(self), plain(other)),
        )
        return Lanes(found) if result is LANES else Mask(found) if result is MASK else found

    return forward, lambda self, other: forward(other, self)


COMPARISONS = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)


class Lanes(Wide):
    __hash__ = object.__hash__

    def __init__(self, numbers: Any):
        self.numbers = np.array(numbers, dtype=float)

    def __abs__(self) -> Any:
        return called(abs, self)

    def __mod__(self, other: Any) -> Any:
        return called(operator.mod, self, other)


class Dual(Wide):
    __hash__ = object.__hash__

    def __init__(self, value: Any, slopes: Any):
        self.value, self.slopes = (
            Scalar(value),
            spread(None, slopes.numbers if isinstance(slopes, Lanes) else slopes),
        )

    def __abs__(self) -> Any:
        return called(abs, self)

    def __mod__(self, other: Any) -> Any:
        return called(operator.mod, self, other)


class Mask:
    def __init__(self, truths: Any):
        self.truths = np.asarray(truths, dtype=bool)

    def __and__(self, other: Mask) -> Mask:
        return Mask(
            Wide.rules[operator.and_, MASK, MASK](None, Builder, None, (self.truths, other.truths))
        )

    def __or__(self, other: Mask) -> Mask:
        return Mask(
            Wide.rules[operator.or_, MASK, MASK](None, Builder, None, (self.truths, other.truths))
        )


for _op in (operator.add, operator.sub, operator.mul, operator.truediv, *COMPARISONS):
    _forward, _backward = binary(_op)
    for _class in (Lanes, Dual):
        setattr(_class, f"__{_op.__name__}__", _forward)
        if _op not in COMPARISONS:
            setattr(_class, f"__r{_op.__name__}__", _backward)


# -- what the modules find in the place of numba -----------------------------------------------------------------------------------------------
RULES: dict[
    Any, list[Callable]
] = {}  # by function, what gives an implementation for types of arguments


def overload(function: Any, **_: Any) -> Callable:
    def keep(made: Callable) -> Callable:
        RULES.setdefault(function, []).append(made)
        return made

    return keep


def lower_builtin(op: Any, *kinds: Any) -> Callable:
    def keep(lower: Callable) -> Callable:
        Wide.rules[(op, *(float if each == "float64" else each for each in kinds))] = lower
        return lower

    return keep


def called(function: Callable, *arguments: Any) -> Any:
    """The implementation for what the arguments are."""
    kinds = [kind_of(each) for each in arguments]
    for rule in RULES.get(function, ()):
        if found := rule(*kinds):
            return found(*arguments)
    return function(*arguments)


def dispatched(function: Callable) -> Callable:
    return lambda *arguments: (
        called(function, *arguments)
        if any(kind_of(each) is not float for each in arguments)
        else function(*arguments)
    )


def with_lane(lanes: Lanes, k: int, number: float) -> Lanes:
    found = lanes.numbers.copy()
    found[k] = number
    return Lanes(found)


def quarter(sine: Lanes, cosine: Lanes, turns: Lanes) -> tuple[Lanes, Lanes]:
    k = turns.numbers.astype(int) % 4
    s, c = sine.numbers, cosine.numbers
    return Lanes(np.choose(k, [s, c, -s, -c])), Lanes(np.choose(k, [c, -s, -c, s]))


PRIMITIVE = {
    "lane": lambda lanes, k: float(lanes.numbers[k]),
    "with_lane": with_lane,
    "value_of": lambda x: (
        x.value if isinstance(x, Dual) else x
    ),  # a plain number in an array of duals has no slopes
    "slopes_of": lambda x: Lanes(x.slopes if isinstance(x, Dual) else spread(None, 0.0)),
    "dual_of": Dual,
    "lanes_of": lambda x: x if isinstance(x, Lanes) else Lanes(spread(None, x)),
    "as_dual": lambda x: x if isinstance(x, Dual) else Dual(x, 0.0),
    "all_of": lambda mask: bool(mask.truths.all()),
    "blend": lambda mask, a, b: Lanes(np.where(mask.truths, lanes_of(a), lanes_of(b))),
    "roots": lambda x: Lanes(np.sqrt(x.numbers)),
    "sizes": lambda x: Lanes(np.abs(x.numbers)),
    "floors": lambda x: Lanes(np.floor(x.numbers)),
    "ceilings": lambda x: Lanes(np.ceil(x.numbers)),
    "quarter": quarter,
}


def lanes_of(x: Any) -> np.ndarray:
    return x.numbers if isinstance(x, Lanes) else spread(None, x)


def wide_kernels() -> PlainKernels:
    """Kernels whose operators, functions and decisions hold for plain and wide numbers alike."""
    kernels = PlainKernels(symbolic=False)
    RULES.clear()
    Wide.rules = {}
    template = SimpleNamespace(
        create_struct_proxy=lambda kind: lambda context, builder, number: number
    )
    stubs: dict[str, dict[str, Any]] = {
        "numba": {"types": SimpleNamespace(Float=float, Boolean=bool, Number=type, float64="float64", boolean="boolean")},
        "numba.extending": {"overload": overload, "intrinsic": unchanged},
        "numba.core": {"cgutils": template},
        "numba.core.imputils": {"lower_builtin": lower_builtin},
        "numba.core.typing.templates": {"AbstractTemplate": object, "infer_global": lambda op: unchanged, "signature": lambda *kinds: kinds},
        ROOT + "numbers.primitive_operations": PRIMITIVE,
        ROOT + "numbers.number_types": {
            "LANES": LANES, "DUAL": DUAL, "MASK": MASK, "LanesType": LanesType, "DualType": DualType, "MaskType": MaskType, "spread": spread,
            "make_dual": lambda context, builder, value, slopes: Dual(value, slopes),
        },
    }  # fmt: skip
    for name, content in stubs.items():
        kernels.modules[name] = named(name, **content)
    kernels.module(ROOT + "numbers.arithmetic")
    functions, choose = (
        kernels.module(ROOT + "numbers.elementary_functions"),
        kernels.module(ROOT + "algebra.lane_select"),
    )
    kernels.module(ROOT + "numbers.wide_tables")
    for name in ("select", "every", "larger_of", "smaller_of", "whole_below", "whole_above"):
        original = getattr(choose, name)
        setattr(choose, name, dispatched(original))
        if hasattr(functions, name):
            setattr(functions, name, dispatched(original))
    trigonometry = kernels.module(ROOT + "algebra.trigonometry")
    functions.sincos = dispatched(trigonometry.sincos)
    trigonometry.sincos = functions.sincos
    wide_math = SimpleNamespace(
        **{name: dispatched(f) if callable(f) else f for name, f in vars(math).items()}
    )
    kernels.modules["math"] = named("math", **vars(wide_math))
    kernels.builtins |= {"max": dispatched(max), "min": dispatched(min)}
    functions.math = wide_math
    return kernels
