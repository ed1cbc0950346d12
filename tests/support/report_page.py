"""A report read back as a reader sees it: tables and paragraphs, which of their numbers a test has looked at, and which nobody has."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html.parser import HTMLParser
from pathlib import Path

NUMBER = re.compile(r"(?<![\w.\-])[-+]?(?:\d+(?:\.\d+)?(?:e[-+]?\d+)?|inf|nan)(?![\w])")


class Cell(str):
    """A text of the page that remembers whether its content was looked at."""

    read: bool

    def __new__(cls, text: str) -> Cell:
        made = super().__new__(cls, text)
        made.read = False
        return made

    def __float__(self) -> float:
        self.read = True
        text = str.__str__(self)
        return float("nan" if text == "–" else text)

    def __eq__(self, other: object) -> bool:
        self.read = True
        return str.__eq__(self, other)

    __hash__ = str.__hash__

    def split(self, *given, **named):
        self.read = True
        return str.split(self, *given, **named)

    def numbers(self) -> list[str]:
        return NUMBER.findall(str.__str__(self))


class Page(HTMLParser):
    """Tables as lists of rows of cells, and paragraphs. What stands under "How this was made" is in `facts`, not among the tables."""

    def __init__(self, path: Path):
        super().__init__()
        self.tables: list[list[list[Cell]]] = []
        self.texts: list[Cell] = []
        self.facts: dict[str, str] = {}
        self._open, self._text = "", ""
        self._classes: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))
        self.facts = {row[0]: row[1] for row in self.tables.pop()} | {"again": self.texts.pop()}

    def handle_starttag(self, tag: str, attrs) -> None:
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th", "p", "h1", "h2", "figcaption"):
            self._open, self._text = tag, ""

    def handle_endtag(self, tag: str) -> None:
        if tag != self._open:
            return
        if tag in ("td", "th"):
            self.tables[-1][-1].append(Cell(self._text))
        else:
            self.texts.append(Cell(self._text))
        self._open = ""

    def handle_data(self, data: str) -> None:
        self._text += data

    def rows(self, *head: str) -> list[list[Cell]]:
        """The rows of the table whose head begins so."""
        found = [rows for rows in self.tables if list(map(str, rows[0][: len(head)])) == list(head)]
        assert len(found) == 1, [rows[0] for rows in self.tables]
        return found[0][1:]

    def table(self, *head: str) -> dict[str, list[Cell]]:
        """The same by their first cells."""
        return {str(row[0]): row[1:] for row in self.rows(*head)}

    def said(self, pattern: str) -> list[float]:
        """The numbers of the one paragraph that is this sentence, # standing for them."""
        wanted = re.compile("(.*?)".join(re.escape(part) for part in pattern.split("#")))
        found = [(text, match) for text in self.texts if (match := wanted.fullmatch(text))]
        assert len(found) == 1, [str(text) for text in self.texts]
        found[0][0].read = True
        return [float(number) for number in found[0][1].groups()]

    def unread(self) -> list[str]:
        """Texts with numbers that no test has looked at; heads of columns may have some in their names (50 %)."""
        cells: Iterable[Cell] = (
            *self.texts,
            *(cell for rows in self.tables for row in rows[1:] for cell in row),
        )
        return [str(cell) for cell in cells if cell.numbers() and not cell.read]


def numbers(texts: Iterable[Cell]) -> list[float]:
    """Cells as numbers; they count as looked at."""
    return [float(text) for text in texts]
