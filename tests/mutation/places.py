"""Places of a Python source where a small change makes another program, and which of them cannot matter: texts, types, what a message says."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SWAPPED = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==", ast.Is: "is not",
    ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
    ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.Mod: "*", ast.Pow: "*", ast.FloorDiv: "*",
}  # fmt: skip
# calls that tell a person something, and what only the caller's comfort or speed depends on
TELLING = {
    "Command", "print", "echo", "say", "warn", "log", "lru_cache", "field", "TypeVar",
    "figure_of", "grid", "set_xlim", "set_ylim", "margins", "tight_layout", "subplots_adjust",
}  # fmt: skip
LOOKS = {
    "rank",
    "maxsize",
    "stacklevel",
    "width",
    "padding",
    "fontsize",
    "dpi",
    "figsize",
    "linewidth",
    "markersize",
    "zorder",
    "rotation",
    "left",
    "right",
    "top",
    "bottom",
    "fontSize",
    "lineWidth",
    "symbolSize",
    "alpha",
    "timeout",
    "help",
    "min_width",
    "example",
}
DECLARED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class Place:
    """One change: where it stands in the bytes of a file, what comes there, and the lines of its statement."""

    start: int
    end: int
    new: str
    line: int
    lines: range


def places(path: Path) -> Iterator[Place]:
    """Every change of a file that is worth trying."""
    source = path.read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    tree = ast.parse(source)
    left_out = set(indifferent(tree))
    statements = statement_lines(tree)

    def span(node: ast.expr | ast.stmt) -> tuple[int, int]:
        return starts[node.lineno - 1] + node.col_offset, starts[
            (node.end_lineno or node.lineno) - 1
        ] + (node.end_col_offset or 0)

    def text(node: ast.expr) -> str:
        a, b = span(node)
        return source[a:b].decode()

    for node in ast.walk(tree):
        if id(node) in left_out:
            continue
        changed, new = node, ""
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in SWAPPED:
            new = f"({text(node.left)}) {SWAPPED[type(node.ops[0])]} ({text(node.comparators[0])})"
        elif isinstance(node, ast.BinOp) and type(node.op) in SWAPPED and not is_string(node):
            new = f"({text(node.left)}) {SWAPPED[type(node.op)]} ({text(node.right)})"
        elif isinstance(node, ast.BoolOp):
            word = " or " if isinstance(node.op, ast.And) else " and "
            new = word.join(f"({text(value)})" for value in node.values)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
            new = f"({text(node.operand)})"
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
            new = repr(node.value + 1 if isinstance(node.value, int) else 1.5 * node.value or 1.0)
        elif isinstance(node, (ast.If, ast.While)) and not isinstance(
            node.test, (ast.Compare, ast.BoolOp)
        ):
            changed, new = node.test, f"not ({text(node.test)})"
        elif isinstance(node, (ast.AugAssign, ast.Expr)) and not is_text(node):
            new = "pass"
        if new and isinstance(changed, (ast.expr, ast.stmt)):
            yield Place(
                *span(changed),
                new,
                changed.lineno,
                statements.get(id(node), range(changed.lineno, changed.lineno + 1)),
            )


def indifferent(tree: ast.AST) -> Iterator[int]:
    """Nodes whose change makes the same program but for what it tells: docstrings, types, messages, looks."""
    for node in ast.walk(tree):
        inner: list[ast.AST] = []
        if isinstance(getattr(node, "body", None), list) and node.body and is_text(node.body[0]):
            inner.append(node.body[0])
        if isinstance(node, (*DECLARED[:2],)):
            inner += [
                each
                for each in (
                    node.returns,
                    *(a.annotation for a in ast.walk(node.args) if isinstance(a, ast.arg)),
                )
                if each
            ]
        if isinstance(node, ast.AnnAssign):
            inner.append(node.annotation)
        if isinstance(node, (ast.Raise, ast.Assert)):
            inner.append(node)
        if isinstance(node, ast.Call) and called(node) in TELLING:
            inner.append(node)
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Call)
            and called(node.value) in TELLING
        ):
            inner.append(node)
        if isinstance(node, ast.keyword) and node.arg in LOOKS:
            inner.append(node.value)
        if isinstance(node, ast.Dict):
            inner += [
                value
                for key, value in zip(node.keys, node.values, strict=True)
                if isinstance(key, ast.Constant) and key.value in LOOKS
            ]
        if isinstance(node, ast.If) and (
            isinstance(node.test, ast.Name)
            and node.test.id == "TYPE_CHECKING"
            or is_main(node.test)
        ):
            inner.append(node)
        for each in inner:
            yield from (id(part) for part in ast.walk(each))


def called(node: ast.Call) -> str:
    return (
        node.func.id
        if isinstance(node.func, ast.Name)
        else node.func.attr
        if isinstance(node.func, ast.Attribute)
        else ""
    )


def is_main(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Compare)
        and isinstance(node.left, ast.Name)
        and node.left.id == "__name__"
    )


def statement_lines(tree: ast.AST) -> dict[int, range]:
    """By node, the lines of the smallest statement around it: its head alone where it has a body."""
    found: dict[int, range] = {}

    def visit(node: ast.AST, lines: range) -> None:
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = body[0].lineno - 1 if body else node.end_lineno or node.lineno
            lines = range(node.lineno, max(last, node.lineno) + 1)
        found[id(node)] = lines
        for child in ast.iter_child_nodes(node):
            visit(child, lines)

    visit(tree, range(0))
    return found


def is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def is_string(node: ast.expr) -> bool:
    """Whether an operator joins or formats texts."""
    return any(
        isinstance(each, (ast.JoinedStr, ast.List, ast.Tuple))
        or isinstance(each, ast.Constant)
        and isinstance(each.value, str)
        for each in ast.walk(node)
    )
