"""Expansion of `copies = N`: a table becomes N tables, and {i} in its names and texts becomes the
number of the copy, starting at 1.

Integer arithmetic is allowed inside the braces: {i-1}, {2*i}, {(i+1)//2}. In `[[stages]]` a group
under `sequence` is repeated as a whole.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Mapping
from typing import Any

from kinetree.models.description.reading.source_location import Origin, key_path
from kinetree.models.expressions.parse import ExpressionError, evaluate_constant
from kinetree.models.language.errors import Problem, shown

MOST_COPIES = 10_000  # of one table
MOST_NODES = 1_000_000  # values of a whole description after expansion
MOST_CHARACTERS = 30_000_000  # of a whole description after expansion

BRACES = re.compile(r"\{([-+*/%() \t\di]{1,40})\}")
OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
SECTIONS = (
    "materials",
    "beams",
    "bodies",
    "joints",
    "couplings",
    "contacts",
    "forces",
    "inputs",
    "outputs",
    "states",
    "tables",
    "actuators",
    "controllers",
    "observers",
    "hydraulics",
)


class Copier:
    """Expands the copies of one description and collects the problems."""

    def __init__(self, origin: Origin, values: Mapping[str, float]):
        self.origin = origin
        self.values = values
        self.problems: list[Problem] = []
        self.nodes = 0
        self.characters = 0

    def complain(self, path: tuple[str | int, ...], **what: Any) -> None:
        self.problems.append(
            Problem(key=key_path(path), file=self.origin.file, line=self.origin.line(path), **what)
        )

    def count(self, path: tuple[str | int, ...], copies: object) -> int:
        """Return the number of copies, or 0 with a problem if it cannot be determined."""
        column = None
        try:
            if isinstance(copies, bool) or not isinstance(copies, (int, float, str)):
                raise ExpressionError("a whole number")
            number = evaluate_constant(copies, dict(self.values))
            self.origin.counted += [copies] if isinstance(copies, str) else []
            if number != int(number) or number < 0:
                raise ExpressionError("a whole number, 0 or more")
            if number <= MOST_COPIES:
                return int(number)
            message = f"at most {MOST_COPIES} copies"
        except ExpressionError as error:
            message, column = error.message, error.column
        self.complain((*path, "copies"), found=shown(copies), expected=message, column=column)
        return 0

    def afford(self, path: tuple[str | int, ...], table: object, copies: int) -> bool:
        """Count the values that copies add; return False, with a problem, if the description would
        become too large.
        """
        nodes, characters = volume(table)
        self.nodes += nodes * copies
        self.characters += characters * copies
        if self.nodes <= MOST_NODES and self.characters <= MOST_CHARACTERS:
            return True
        self.complain(
            (*path, "copies"),
            found=f"{copies} copies",
            expected=f"at most {MOST_NODES} values in the whole description",
        )
        return False

    def section(self, name: str, tables: dict[str, Any]) -> dict[str, Any]:
        """Replace tables with `copies` in a section by their copies."""
        made: dict[str, Any] = {}
        for key, table in tables.items():
            if not isinstance(table, dict) or "copies" not in table:
                self.add(made, name, key, table, key)
                continue
            path = (name, key)
            template = {inner: value for inner, value in table.items() if inner != "copies"}
            copies = self.count(path, table["copies"])
            if copies and self.afford(path, template, copies):
                try:
                    for i in range(1, copies + 1):
                        self.add(made, name, fill(key, i), fill(template, i), key)
                except ExpressionError as error:
                    self.complain(path, hint=error.message)
        return made

    def add(self, made: dict[str, Any], section: str, name: str, table: Any, template: str) -> None:
        if name in made:
            if len(self.problems) < 50:
                self.complain(
                    (section, template),
                    found=f"'{name}' a second time",
                    expected="different names",
                    hint="put {i} into the name",
                )
            return
        made[name] = table
        if name != template:
            self.origin.templates[section, name] = template

    def stages(self, stages: list[Any]) -> list[Any]:
        """Return the stages in order, with `copies` expanded and sequences repeated."""
        made: list[Any] = []
        for index, stage in enumerate(stages):
            path = ("stages", index)
            if not isinstance(stage, dict) or not {"copies", "sequence"} & stage.keys():
                group, copies = [stage], 1
            else:
                rest = {
                    key: value for key, value in stage.items() if key not in ("copies", "sequence")
                }
                group = stage.get("sequence", [rest])
                if not isinstance(group, list) or ("sequence" in stage and rest):
                    self.complain(
                        (*path, "sequence"),
                        found=shown(rest or group),
                        expected="a list of stages and nothing else but copies",
                    )
                    continue
                if any(
                    isinstance(inner, dict) and {"copies", "sequence"} & inner.keys()
                    for inner in group
                ):
                    self.complain(
                        (*path, "sequence"),
                        found="copies inside a sequence",
                        expected="copies of the sequence as a whole",
                    )
                    continue
                copies = self.count(path, stage["copies"]) if "copies" in stage else 1
                if not self.afford(path, group, copies):
                    continue
            try:
                filled = (
                    group
                    if copies == 1 and "copies" not in (stage if isinstance(stage, dict) else ())
                    else None
                )
                for i in range(1, copies + 1):
                    for inner in filled or fill(group, i):
                        self.origin.templates["stages", len(made)] = index
                        made.append(inner)
            except ExpressionError as error:
                self.complain(path, hint=error.message)
        return made


def expand_copies(
    raw: dict[str, Any], values: Mapping[str, float], origin: Origin
) -> tuple[dict[str, Any], list[Problem]]:
    """Return the description with all copies expanded, and the problems found."""
    copier = Copier(origin, values)
    made = dict(raw)
    for name in SECTIONS:
        if isinstance(raw.get(name), dict):
            made[name] = copier.section(name, raw[name])
    if isinstance(raw.get("stages"), list):
        made["stages"] = copier.stages(raw["stages"])
    return made, copier.problems


def fill(value: Any, i: int) -> Any:
    """Return a value with {i} replaced everywhere, names included."""
    if isinstance(value, str):
        return (
            BRACES.sub(
                lambda braces: (
                    braces[0] if "i" not in braces[1] else str(whole(braces[1].strip(), i))
                ),
                value,
            )
            if "{" in value
            else value
        )
    if isinstance(value, dict):
        return {fill(key, i): fill(inner, i) for key, inner in value.items()}
    return [fill(inner, i) for inner in value] if isinstance(value, list) else value


def whole(text: str, i: int) -> int:
    """Return the value of integer arithmetic in i."""
    try:
        return calculate(ast.parse(text, mode="eval").body, i)
    except (SyntaxError, ZeroDivisionError, KeyError):
        raise ExpressionError(
            f"cannot compute {{{text}}} for i = {i}: whole numbers, i, + - * // % and parentheses are allowed"
        ) from None


def calculate(node: ast.expr, i: int) -> int:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.Name) and node.id == "i":
        return i
    if isinstance(node, ast.BinOp):
        return OPERATORS[type(node.op)](calculate(node.left, i), calculate(node.right, i))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        return (
            -calculate(node.operand, i)
            if isinstance(node.op, ast.USub)
            else calculate(node.operand, i)
        )
    raise KeyError(type(node).__name__)


def volume(value: Any) -> tuple[int, int]:
    """Return the numbers of values and of characters of a raw description."""
    nodes, characters, stack = 0, 0, [value]
    while stack:
        each = stack.pop()
        nodes += 1
        if isinstance(each, dict):
            stack.extend(each.values())
            characters += sum(map(len, each))
        elif isinstance(each, list):
            stack.extend(each)
        elif isinstance(each, str):
            characters += len(each)
    return nodes, characters
