"""Origin of a description: its file name, and the line of a key found by a scan of the text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

HEADER = re.compile(r"^\s*\[(\[)?\s*(.+?)\s*\]\]?\s*(?:#.*)?$")
KEY = re.compile(r"""^\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")
PART = re.compile(r"""[\w-]+|"[^"]*"|'[^']*'""")

Path = Sequence[str | int]


@dataclass
class Origin:
    """The source of a description; `templates` maps expanded copies to their original tables."""

    file: str = ""
    text: str = ""  # TOML text, where lines can be found
    templates: dict[tuple[str, str | int], str | int] = field(default_factory=dict)
    counted: list[str] = field(default_factory=list)  # expressions that are numbers of copies
    left_out: tuple[str, ...] = ()  # what a foreign file has that the description has not
    _lines: dict[tuple[str | int, ...], int] | None = None

    def line(self, path: Path) -> int | None:
        """Return the line of a key, or of the nearest table around it."""
        if not self.text or not path:
            return None
        if self._lines is None:
            self._lines = scan(self.text)
        parts = list(path)
        if len(parts) > 1:
            parts[1] = self.templates.get((str(parts[0]), parts[1]), parts[1])
        while parts:
            if tuple(parts) in self._lines:
                return self._lines[tuple(parts)]
            parts.pop()
        return None

    def line_of_section(self, name: str) -> int | None:
        """Return the line of the first table of a section, such as [joint.j] of joint."""
        self.line((name,))
        lines = [line for path, line in (self._lines or {}).items() if path[0] == name]
        return min(lines, default=None)


def scan(text: str) -> dict[tuple[str | int, ...], int]:
    """Return the line of every key and table header of a TOML text; keys inside inline tables have
    the line of that table.
    """
    lines: dict[tuple[str | int, ...], int] = {}
    counts: dict[tuple[str | int, ...], int] = {}
    table: tuple[str | int, ...] = ()
    for number, line in enumerate(text.split("\n"), 1):
        if (match := KEY.match(line)) is not None:
            lines.setdefault(table + parts_of(match[1]), number)
        elif (match := HEADER.match(line)) is not None:
            name = parts_of(match[2])
            table = name
            for size in range(1, len(name)):  # [stages.ends] belongs to the last [[stages]]
                if name[:size] in counts:
                    table = (*name[:size], counts[name[:size]] - 1, *name[size:])
            if match[1]:
                counts[name] = counts.get(name, 0) + 1
                table = (*name, counts[name] - 1)
            lines.setdefault(table, number)
    return lines


def parts_of(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip("\"'") for part in PART.findall(dotted))


def key_path(path: Path) -> str:
    """Return a path as messages write it: joints.O.transforms[0].shift."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text
