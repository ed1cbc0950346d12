"""Parser of expressions: arithmetic, comparison, the usual functions, tables, dotted names; nothing
is ever executed.

The text is parsed by the standard `ast` module, which only builds a tree; every node of that tree
must be on the list below.
"""

import ast
import difflib
import keyword
import math
import re
import warnings
from collections.abc import Iterable
from contextlib import nullcontext
from functools import lru_cache
from typing import NoReturn

from kinetree.models.expressions.functions import (
    CONSTANTS,
    FUNCTIONS,
    REACTION_COMPONENTS,
    SPECIAL,
    explain,
)
from kinetree.models.expressions.nodes import (
    Const,
    Der,
    ExpressionError,
    Leaf,
    Lookup,
    Name,
    Node,
    Operation,
)
from kinetree.models.expressions.simplify import make
from kinetree.solvers.layout import Op

MAX_EXPRESSION_LENGTH, MAX_NESTING, MAX_SYNTAX_NODES = (
    20_000,
    200,
    5_000,
)  # characters, nesting, syntax nodes
DEEP = "the expression is nested too deeply"
BINARY = {
    ast.Add: Op.ADD,
    ast.Sub: Op.SUB,
    ast.Mult: Op.MUL,
    ast.Div: Op.DIV,
    ast.Pow: Op.POW,
    ast.Mod: Op.MOD,
}
COMPARE = {
    ast.Lt: Op.LT,
    ast.LtE: Op.LE,
    ast.Gt: Op.GT,
    ast.GtE: Op.GE,
    ast.Eq: Op.EQ,
    ast.NotEq: Op.NE,
}
HINTS = {
    ast.BitXor: "'^' is not known: write a power as x**y",
    ast.FloorDiv: "'//' is not known: write floor(a/b)",
    ast.BitAnd: "'&' is not known: write 'and'",
    ast.BitOr: "'|' is not known: write 'or'",
    ast.Invert: "'~' is not known: write 'not'",
    ast.IfExp: "write a choice as if(condition, a, b)",
    ast.Attribute: "only plain names may be joined by dots",
    ast.Subscript: "an index must be a whole number in brackets after a name",
    ast.Lambda: "functions cannot be defined here",
    ast.Tuple: "one value expected, found several",
    ast.List: "one value expected, found a list",
}
SIGNS = {
    "&&": "'&&' is not known: write 'and'",
    "||": "'||' is not known: write 'or'",
    "!": "'!' is not known: write 'not'",
}
SIGNS |= {
    "=": "'=' is not a comparison: write '=='",
    "else": "write a choice as if(condition, a, b)",
}
WORD = re.compile(r"""'[^']*'|"[^"]*"|[^\W\d]\w*""")
HIDDEN = frozenset(keyword.kwlist) - {
    "and",
    "or",
    "not",
}  # plain names here, `if` a function: the parser must not see them


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return a clause that names the most similar known name, or an empty text."""
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f"; did you mean '{near[0]}'?" if near else ""


@lru_cache(maxsize=4096)
def number(value: float | int, column: int | None) -> Const:
    try:
        value = float(value)
    except OverflowError:
        value = math.inf
    if not math.isfinite(value):
        raise ExpressionError(f"expected a finite number, found {value}", column)
    return Const(value)


def quiet(text: str):
    """Suppress the syntax warning that Python gives for "2or x"; used only where it can occur,
    since switching warnings costs as much as parsing.
    """
    return (
        warnings.catch_warnings(action="ignore") if re.search(r"\d[^\W\d]", text) else nullcontext()
    )


def unmatched_bracket(text: str) -> tuple[str, int] | None:
    """Return a message about an unmatched bracket and its column; None if all match."""
    partners, open_ones, quote = {")": "(", "]": "["}, list[tuple[str, int]](), ""
    for column, sign in enumerate(text, 1):
        if quote or sign in "'\"":
            quote = "" if sign == quote else quote or sign
        elif sign in partners.values():
            open_ones.append((sign, column))
        elif sign in partners:
            if not open_ones or open_ones[-1][0] != partners[sign]:
                return f"this '{sign}' closes nothing: {marked(text, column)}", column
            open_ones.pop()
    if not open_ones:
        return None
    sign, column = open_ones[-1]
    return f"this '{sign}' is not closed: {marked(text, column)}", column


def marked(text: str, column: int) -> str:
    """Return the part of the text around a column, with an arrow below it."""
    before, after = text[max(0, column - 16) : column - 1], text[column - 1 : column + 20]
    return f"{before!s}→{after!s}".strip()


NUMBER_WITH_UNIT = re.compile(
    r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([A-Za-z%][\w./*%()]*)\s*$"
)


class Reader:
    """The parser of one text."""

    def __init__(self, text: str):
        self.columns: dict[str, int] = {}
        self.size = 0
        if len(text) > MAX_EXPRESSION_LENGTH:
            raise ExpressionError(
                f"the expression has {len(text)} characters, {MAX_EXPRESSION_LENGTH} are allowed"
            )
        if not text.strip():
            raise ExpressionError("expected an expression, found an empty text")
        wrong = re.search(r"[\\#\0\ud800-\udfff]", text)
        if wrong:
            raise ExpressionError(f"unexpected character {wrong[0]!r}", wrong.start() + 1)
        # on one line and in parentheses, line ends and leading blanks mean nothing
        self.text = "(" + re.sub(r"\s", " ", text) + ")"
        self.tree = self.syntax()

    def syntax(self) -> ast.expr:
        hidden = WORD.sub(
            lambda word: "_" * len(word[0]) if word[0] in HIDDEN else word[0], self.text
        )
        try:
            self.source = self.text.encode()
            with quiet(hidden):
                return ast.parse(hidden, mode="eval").body
        except SyntaxError as error:
            column = max(1, min((error.offset or 1) - 1, len(self.text) - 1))
            hint = next(
                (hint for sign, hint in SIGNS.items() if sign in re.sub("[=!<>]=", "", self.text)),
                None,
            )
            with_unit = NUMBER_WITH_UNIT.match(self.text[1:-1])
            if with_unit is not None:
                value, unit = with_unit.groups()
                hint = f'a number with a unit is written {{ value = {value}, unit = "{unit}" }}'
            unmatched = None if hint else unmatched_bracket(self.text[1:-1])
            if unmatched is not None:
                raise ExpressionError(*unmatched) from None
            raise ExpressionError(
                hint
                or f"cannot be read as an expression from here on: {self.text[column:-1]!r:.30}",
                column,
            ) from None
        except (ValueError, MemoryError, RecursionError):
            raise ExpressionError(DEEP) from None

    def read(self) -> Node:
        try:
            return self.node(self.tree, 0)
        except RecursionError:
            raise ExpressionError(DEEP) from None

    def column(self, syntax: ast.expr) -> int:
        return max(
            1, len(self.source[: syntax.col_offset].decode())
        )  # the added parenthesis makes it count from 1

    def sign(self, syntax: ast.BinOp) -> int:
        """Return the column of the operator, behind the left operand and its closing parentheses."""
        behind = self.source[syntax.left.end_col_offset :]
        return len(self.source[: len(self.source) - len(behind.lstrip(b" )"))].decode())

    def fail(self, syntax: ast.expr, message: str | None = None) -> NoReturn:
        found = ast.unparse(syntax) if self.size < 100 and not message else ""
        raise ExpressionError(
            message or HINTS.get(type(syntax)) or f"not allowed in an expression: {found:.30}",
            self.column(syntax),
        )

    def node(self, syntax: ast.expr, depth: int) -> Node:
        self.size += 1
        if depth > MAX_NESTING or self.size > MAX_SYNTAX_NODES:
            raise ExpressionError(
                DEEP if depth > MAX_NESTING else "the expression is too long", self.column(syntax)
            )
        reader = READERS.get(type(syntax))
        if reader is None:
            self.fail(syntax)
        return reader(self, syntax, depth + 1)

    def finite(self, node: Node, column: int) -> Node:
        """Return the node; raise an error for an operation on constants without a finite value."""
        values = (
            [arg.value for arg in node.args if isinstance(arg, Const)]
            if isinstance(node, Operation)
            else []
        )
        if isinstance(node, Operation) and len(values) == len(node.args):
            raise ExpressionError(explain(node.op, values), column)
        return node

    def literal(self, syntax: ast.Constant, depth: int) -> Node:
        if isinstance(syntax.value, (int, float)):
            return number(syntax.value, self.column(syntax))
        if isinstance(syntax.value, str) and syntax.value.strip():
            return self.leaf(syntax, Name(self.between_quotes(syntax)))
        self.fail(
            syntax,
            "imaginary numbers are not known"
            if isinstance(syntax.value, complex)
            else "text is only allowed as a name",
        )

    def binary(self, syntax: ast.BinOp, depth: int) -> Node:
        spine = [syntax]  # a long sum is a deep tree: walk down its left side in a loop
        while isinstance(spine[-1].left, ast.BinOp):
            spine.append(spine[-1].left)
        value = self.node(spine[-1].left, depth)
        for each in reversed(spine):
            op = BINARY.get(type(each.op))
            if op is None:
                raise ExpressionError(
                    HINTS.get(type(each.op), "this operator is not known"), self.sign(each)
                )
            self.size += 1
            value = self.finite(make(op, value, self.node(each.right, depth)), self.sign(each))
        return value

    def unary(self, syntax: ast.UnaryOp, depth: int) -> Node:
        if isinstance(syntax.op, ast.Invert):
            self.fail(syntax, HINTS[ast.Invert])
        value = self.node(syntax.operand, depth)
        return (
            value
            if isinstance(syntax.op, ast.UAdd)
            else make(Op.NOT if isinstance(syntax.op, ast.Not) else Op.NEG, value)
        )

    def logic(self, syntax: ast.BoolOp, depth: int) -> Node:
        value, *rest = (self.node(each, depth) for each in syntax.values)
        for each in rest:
            value = make(Op.AND if isinstance(syntax.op, ast.And) else Op.OR, value, each)
        return value

    def compare(self, syntax: ast.Compare, depth: int) -> Node:
        values = [self.node(each, depth) for each in (syntax.left, *syntax.comparators)]
        result: Node | None = None
        for op, a, b in zip(syntax.ops, values, values[1:], strict=False):
            if type(op) not in COMPARE:
                self.fail(syntax, "this comparison is not known: use < <= > >= == !=")
            each = make(COMPARE[type(op)], a, b)
            result = each if result is None else make(Op.AND, result, each)
        assert result is not None
        return result

    def component(self, syntax: ast.Subscript, depth: int) -> Node:
        """Return the node of a reaction's component, such as reaction('J')[3], or of an index that
        belongs to a name.
        """
        called = syntax.value
        if not (
            isinstance(called, ast.Call)
            and isinstance(called.func, ast.Name)
            and called.func.id == "reaction"
        ):
            return self.name(syntax, depth)
        index = syntax.slice.value if isinstance(syntax.slice, ast.Constant) else None
        if type(index) is not int or not 1 <= index <= REACTION_COMPONENTS:
            self.fail(
                syntax,
                f"reaction('JOINT') has the components [1] to [{REACTION_COMPONENTS}], "
                f"force and moment; found [{ast.unparse(syntax.slice)}]",
            )
        whole = self.node(called, depth)
        return self.leaf(syntax, Name(f"{whole.key}[{index}]"))  # pyright: ignore[reportAttributeAccessIssue]

    def name(self, syntax: ast.expr, depth: int = 0) -> Node:
        key = self.dotted(syntax)
        return Const(CONSTANTS[key]) if key in CONSTANTS else self.leaf(syntax, Name(key))

    def leaf(self, syntax: ast.expr, leaf: Leaf) -> Leaf:
        self.columns.setdefault(leaf.key, self.column(syntax))
        return leaf

    def dotted(self, syntax: ast.expr) -> str:
        """Return the name spelled by a chain of attributes and indices, taken from the text itself."""
        parts: list[str] = []
        each = syntax
        while not isinstance(each, ast.Name):
            self.size += 1
            if isinstance(each, ast.Attribute):
                parts.append("." + self.source[: each.end_col_offset].decode()[-len(each.attr) :])
            elif (
                isinstance(each, ast.Subscript)
                and isinstance(each.slice, ast.Constant)
                and type(each.slice.value) is int
            ):
                parts.append(f"[{each.slice.value}]")
            else:
                self.fail(each if isinstance(each, ast.Subscript) else syntax)
            each = each.value
        name = self.source[each.col_offset : each.end_col_offset].decode()
        if name == "if" or (name in FUNCTIONS or name in SPECIAL) and each is syntax:
            self.fail(each, f"'{name}' is a function: its arguments are missing")
        return name + "".join(reversed(parts))

    def call(self, syntax: ast.Call, depth: int) -> Node:
        if not isinstance(syntax.func, ast.Name):
            self.fail(syntax, "only the functions of expressions can be called")
        name = self.source[syntax.func.col_offset : syntax.func.end_col_offset].decode()
        if syntax.keywords or any(isinstance(each, ast.Starred) for each in syntax.args):
            self.fail(syntax, f"the arguments of {name} are plain values")
        if name in SPECIAL:
            return self.special(name, syntax, depth)
        if name not in FUNCTIONS:
            self.fail(
                syntax, f"unknown function '{name}'" + suggestion(name, (*FUNCTIONS, *SPECIAL))
            )
        op, count = FUNCTIONS[name]
        self.expect(syntax, name, len(syntax.args) == count, f"{count} argument{'s' * (count > 1)}")
        return self.finite(
            make(op, *(self.node(each, depth) for each in syntax.args)), self.column(syntax)
        )

    def expect(self, syntax: ast.Call, name: str, fulfilled: bool, expected: str):
        if not fulfilled:
            self.fail(syntax, f"{name} takes {expected}, found {len(syntax.args)}")

    def special(self, name: str, syntax: ast.Call, depth: int) -> Node:
        args = syntax.args
        if name in ("min", "max"):
            self.expect(syntax, name, len(args) > 1, "two arguments or more")
            value, *rest = (self.node(each, depth) for each in args)
            for each in rest:
                value = make(Op.MIN if name == "min" else Op.MAX, value, each)
            return value
        if name == "table":
            self.expect(syntax, name, len(args) in (2, 3), "a name and one or two values")
            table = self.quoted(name, args[0])
            self.columns.setdefault(f"table('{table}')", self.column(syntax))
            return Lookup(
                Op.TABLE1 if len(args) == 2 else Op.TABLE2,
                table,
                tuple(self.node(each, depth) for each in args[1:]),
            )
        self.expect(syntax, name, len(args) == 1, "one argument")
        if name != "der":
            return self.leaf(syntax, Name(f"{name}('{self.quoted(name, args[0])}')"))
        inner = args[0]
        nested = (
            isinstance(inner, ast.Call)
            and isinstance(inner.func, ast.Name)
            and inner.func.id == "der"
        )
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str) and inner.value.strip():
            key = self.between_quotes(inner)
        else:
            key = self.node(inner, depth).key if nested else self.dotted(inner)  # pyright: ignore[reportAttributeAccessIssue]
        return self.leaf(syntax, Der(key))

    def quoted(self, function: str, syntax: ast.expr) -> str:
        if (
            not isinstance(syntax, ast.Constant)
            or not isinstance(syntax.value, str)
            or not syntax.value.strip()
        ):
            self.fail(syntax, f"the first argument of {function} is a name in quotation marks")
        return self.between_quotes(syntax)

    def between_quotes(self, syntax: ast.expr) -> str:
        """Return a quoted name as it is in the text, where keywords were masked for the Python
        parser.
        """
        return self.source[syntax.col_offset : syntax.end_col_offset].decode()[1:-1]


READERS = {
    ast.Constant: Reader.literal,
    ast.BinOp: Reader.binary,
    ast.UnaryOp: Reader.unary,
    ast.BoolOp: Reader.logic,
    ast.Compare: Reader.compare,
    ast.Name: Reader.name,
    ast.Attribute: Reader.name,
    ast.Subscript: Reader.component,
    ast.Call: Reader.call,
}
