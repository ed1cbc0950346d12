"""Operations of a tape on plain numbers, for values at the recorded state and constant folding.

They are the operations of expressions, with IEEE results; conditions are 1 and 0.
"""

from __future__ import annotations

from collections.abc import Callable

from kinetree.models.expressions.functions import OPERATIONS
from kinetree.solvers.layout import Op

OF = {
    "+": Op.ADD, "-": Op.SUB, "*": Op.MUL, "/": Op.DIV, "neg": Op.NEG, "select": Op.IF, "lt": Op.LT, "le": Op.LE, "eq": Op.EQ, "ne": Op.NE,
    "and": Op.AND, "or": Op.OR, "not": Op.NOT, "sqrt": Op.SQRT, "sin": Op.SIN, "cos": Op.COS, "tan": Op.TAN, "asin": Op.ASIN, "acos": Op.ACOS,
    "atan": Op.ATAN, "atan2": Op.ATAN2, "sinh": Op.SINH, "cosh": Op.COSH, "tanh": Op.TANH, "exp": Op.EXP, "log": Op.LOG, "abs": Op.ABS,
    "pow": Op.POW, "floor": Op.FLOOR, "ceil": Op.CEIL, "mod": Op.MOD,
}  # fmt: skip
ARITHMETIC = ("+", "-", "*", "/")
CONDITIONS = ("lt", "le", "eq", "ne", "and", "or", "not")
FUNCTIONS = (
    "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "exp", "log", "abs", "pow", "floor", "ceil", "mod",
)  # fmt: skip
FREE = (
    "const",
    "symbol",
    "neg",
)  # what costs nothing: a change of sign goes into the operation that uses it
VALUE: dict[str, Callable[..., float]] = {name: OPERATIONS[op] for name, op in OF.items()}
