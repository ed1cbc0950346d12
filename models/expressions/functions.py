"""The operations of expressions in plain Python with IEEE results: NaN outside the domain, infinity
at a pole or overflow.

The kernel of `solvers/expressions/evaluate.py` computes the same values from the same instruction
codes.
"""

import math
from collections.abc import Callable

from kinetree.solvers.layout import Op

# name in expressions -> instruction and number of arguments
FUNCTIONS: dict[str, tuple[Op, int]] = {
    "sin": (Op.SIN, 1),
    "cos": (Op.COS, 1),
    "tan": (Op.TAN, 1),
    "asin": (Op.ASIN, 1),
    "acos": (Op.ACOS, 1),
    "atan": (Op.ATAN, 1),
    "atan2": (Op.ATAN2, 2),
    "sinh": (Op.SINH, 1),
    "cosh": (Op.COSH, 1),
    "tanh": (Op.TANH, 1),
    "exp": (Op.EXP, 1),
    "log": (Op.LOG, 1),
    "sqrt": (Op.SQRT, 1),
    "abs": (Op.ABS, 1),
    "sign": (Op.SIGN, 1),
    "floor": (Op.FLOOR, 1),
    "ceil": (Op.CEIL, 1),
    "pow": (Op.POW, 2),
    "if": (Op.IF, 3),
}
CONSTANTS = {"pi": math.pi}
REACTION_COMPONENTS = 6  # force and moment on the child
SPECIAL = ("min", "max", "table", "der", "force", "reaction")
RESERVED = frozenset(
    (*FUNCTIONS, *CONSTANTS, *SPECIAL, "and", "or", "not")
)  # no value of a description may have such a name


def divide(a: float, b: float) -> float:
    if b != 0.0:
        return a / b
    return math.nan if a == 0.0 or math.isnan(a) else math.copysign(math.inf, a)


def power(a: float, b: float) -> float:
    try:
        return math.pow(a, b)
    except OverflowError:
        return -math.inf if a < 0.0 and b % 2.0 == 1.0 else math.inf
    except ValueError:
        return math.inf if a == 0.0 else math.nan


def modulo(a: float, b: float) -> float:
    return a % b if b != 0.0 and not math.isinf(a) else math.nan


def logarithm(a: float) -> float:
    if a > 0.0:
        return math.log(a)
    return -math.inf if a == 0.0 else math.nan


def sign(a: float) -> float:
    return 1.0 if a > 0.0 else -1.0 if a < 0.0 else a


def rounded(function: Callable[[float], int]) -> Callable[[float], float]:
    return lambda a: float(function(a)) if math.isfinite(a) else a


def growing(function: Callable[[float], float], odd: bool) -> Callable[[float], float]:
    """Return a function that gives infinity where `function` overflows; for an `odd` one with the
    sign of its argument.
    """

    def extended(a: float) -> float:
        try:
            return function(a)
        except OverflowError:
            return math.copysign(math.inf, a) if odd else math.inf

    return extended


def defined(function: Callable[[float], float]) -> Callable[[float], float]:
    """Return a function that gives NaN outside the domain of `function`."""

    def extended(a: float) -> float:
        try:
            return function(a)
        except ValueError:
            return math.nan

    return extended


OPERATIONS: dict[Op, Callable[..., float]] = {
    Op.COPY: lambda a: a,
    Op.ADD: lambda a, b: a + b,
    Op.SUB: lambda a, b: a - b,
    Op.MUL: lambda a, b: a * b,
    Op.DIV: divide,
    Op.POW: power,
    Op.NEG: lambda a: -a,
    Op.SIN: defined(math.sin),
    Op.COS: defined(math.cos),
    Op.TAN: defined(math.tan),
    Op.ASIN: defined(math.asin),
    Op.ACOS: defined(math.acos),
    Op.ATAN: math.atan,
    Op.ATAN2: math.atan2,
    Op.SINH: growing(math.sinh, odd=True),
    Op.COSH: growing(math.cosh, odd=False),
    Op.TANH: math.tanh,
    Op.EXP: growing(math.exp, odd=False),
    Op.LOG: logarithm,
    Op.SQRT: defined(math.sqrt),
    Op.ABS: abs,
    Op.SIGN: sign,
    Op.MIN: lambda a, b: b if b < a else a,
    Op.MAX: lambda a, b: b if b > a else a,
    Op.LT: lambda a, b: float(a < b),
    Op.LE: lambda a, b: float(a <= b),
    Op.GT: lambda a, b: float(a > b),
    Op.GE: lambda a, b: float(a >= b),
    Op.EQ: lambda a, b: float(a == b),
    Op.NE: lambda a, b: float(a != b),
    Op.AND: lambda a, b: float(a != 0.0 and b != 0.0),
    Op.OR: lambda a, b: float(a != 0.0 or b != 0.0),
    Op.NOT: lambda a: float(a == 0.0),
    Op.IF: lambda a, b, c: b if a != 0.0 else c,
    Op.FLOOR: rounded(math.floor),
    Op.CEIL: rounded(math.ceil),
    Op.MOD: modulo,
    Op.MUL_ADD: lambda a, b, c: a * b + c,
    Op.MUL_SUB: lambda a, b, c: a * b - c,
    Op.SUB_MUL: lambda a, b, c: c - a * b,
    Op.GATE: lambda a, b, c: (c if c > b else b) if a > 0.0 else c,
}


def explain(op: Op, args: list[float]) -> str:
    """Return why an operation on finite arguments has no finite value."""
    if op in (Op.DIV, Op.MOD) and args[1] == 0.0:
        return "division by zero"
    call = f"{op.name.lower()}({', '.join(f'{arg:g}' for arg in args)})"
    return (
        f"{call} is too large"
        if math.isinf(OPERATIONS[op](*args)) and op != Op.LOG
        else f"{call} is not defined"
    )
