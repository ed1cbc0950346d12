"""Places of a C source where a small change makes another program: operators, numbers, conditions, statements; none in texts and comments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from places import Place

TOKEN = re.compile(
    r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|^[ \t]*#(?:\\\n|[^\n])*'
    r"|->|\+\+|--|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|0[xX][0-9A-Fa-f]+\w*|\d+\.?\d*(?:[eE][-+]?\d+)?\w*|\w+|\s+|.",
    re.DOTALL | re.MULTILINE,
)
SWAPPED = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "+=": "-=", "-=": "+=", "|=": "=",
    "+": "-", "-": "+", "*": "/", "/": "*", "!": "", "&": "|", "|": "&",
}  # fmt: skip
TYPES = {
    "double",
    "char",
    "int",
    "void",
    "size_t",
    "Instance",
    "Model",
    "Chain",
    "SavedState",
    "Variable",
    "Engine",
    "FILE",
    "const",
}
STATEMENT = re.compile(
    r"^[ \t]+(?!return|const|int|double|size_t|static|for|while|if|else|switch|case|default|break|continue|goto|enum|char|void|\})[a-z*][^{}\n]*;$",
    re.MULTILINE,
)
MESSAGE = re.compile(r"\b(?:say|NAMED|snprintf|DECLARE\w*|_Static_assert)\b")


def places(path: Path) -> Iterator[Place]:
    """Every change of a file that is worth trying; offsets in bytes."""
    text = path.read_text(encoding="utf-8")

    def place(start: int, end: int, new: str) -> Place:
        line = text.count("\n", 0, start) + 1
        return Place(
            len(text[:start].encode()), len(text[:end].encode()), new, line, range(line, line + 1)
        )

    before = ""
    for found in TOKEN.finditer(text):
        token = found[0]
        if (
            token.isspace()
            or token.startswith(("/*", "//", '"', "'"))
            or token.lstrip().startswith("#")
        ):
            before = before if token.isspace() or token.startswith("/*") else token
            continue
        said = MESSAGE.search(text[text.rfind("\n", 0, found.start()) + 1 : found.start()])
        if (
            token in SWAPPED
            and not said
            and makes_sense(token, before, text[found.end() : found.end() + 2])
        ):
            yield place(found.start(), found.end(), SWAPPED[token])
        elif re.fullmatch(r"\d+", token) and not said and inside(text, found.start()):
            yield place(found.start(), found.end(), str(int(token) + 1))
        before = token
    for found in STATEMENT.finditer(text):
        if "say(" not in found[0]:
            yield place(found.start() + len(found[0]) - len(found[0].lstrip()), found.end(), ";")


def makes_sense(token: str, before: str, after: str) -> bool:
    """Whether an operator has two sides, or one where it has one: a pointer's star and an address's ampersand are none."""
    value = (
        re.fullmatch(r"\w+|[\])]", before) is not None
        and before not in TYPES
        and before not in ("return", "case", "sizeof")
    )
    if token in "*&+-":
        return value and after.startswith(" ")
    return token != "!" or not value


def inside(text: str, at: int) -> bool:
    """Whether a number is in a function, not in a declaration of sizes and names."""
    line = text[text.rfind("\n", 0, at) + 1 : text.find("\n", at)]
    return line.startswith((" ", "\t")) and "enum" not in line
