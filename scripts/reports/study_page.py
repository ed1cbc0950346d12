"""The report of a study as one self-contained HTML file, from `templates/report.html`.

Pictures are embedded, tables can be sorted, and the page states the command and the versions of
packages.
"""

from __future__ import annotations

import math
import platform
import shlex
import sys
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass
from importlib.metadata import PackageNotFoundError, version
from io import BytesIO
from pathlib import Path
from typing import Any

from kinetree.models.result.atomic_file import write_text
from kinetree.scripts.terminal.error_messages import BadInput

TEMPLATE = Path(__file__).parent.parent / "templates" / "report.html"
PACKAGES = ("kinetree", "numpy", "scipy")
MOST_ROWS = 2000  # of a table in the page


@dataclass
class Section:
    """A section of the page: heading, paragraphs, pictures and tables."""

    heading: str
    texts: list[str] = field(default_factory=list)
    pictures: list[dict[str, str]] = field(default_factory=list)
    tables: list[dict[str, Any]] = field(default_factory=list)
    beside: bool = False  # pictures stand beside one another where there is room

    def say(self, *texts: str) -> Section:
        self.texts += texts
        return self

    def picture(self, figure: Any, caption: str) -> Section:
        """Add a matplotlib figure or a PNG file with a caption."""
        if isinstance(figure, Path):
            data = figure.read_bytes()
        else:
            stream = BytesIO()
            figure.savefig(stream, format="png", dpi=110)
            data = stream.getvalue()
        self.pictures.append({"caption": caption, "data": b64encode(data).decode()})
        return self

    def table(self, head: Sequence[str], rows: Sequence[Sequence[Any]], title: str = "") -> Section:
        """Add a table with numbers of six digits; long tables are shortened."""
        shown = [[written(cell) for cell in row] for row in rows[:MOST_ROWS]]
        if len(rows) > MOST_ROWS:
            self.texts.append(f"{title or 'The table'}: the first {MOST_ROWS} of {len(rows)} rows.")
        self.tables.append({"title": title, "head": list(head), "rows": shown})
        return self


def written(cell: Any) -> str:
    if isinstance(cell, float):
        return "–" if math.isnan(cell) else f"{cell + 0.0:.6g}"
    return str(cell)


def facts() -> list[tuple[str, str]]:
    """Return the versions of packages and Python, and the kind of machine."""
    found = []
    for name in PACKAGES:
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            continue
    return [
        *found,
        ("Python", platform.python_version()),
        ("machine", f"{platform.system()} {platform.machine()}"),
    ]


def plain(value: Any) -> str:
    """Return a setting as readable text: tables as `key = value, ...`, list entries separated by
    semicolons.
    """
    if is_dataclass(value) and not isinstance(value, type):
        value = vars(value)
    if isinstance(value, Mapping):
        return (
            ", ".join(f"{key} = {plain(each)}" for key, each in value.items() if each is not None)
            or "as described"
        )
    if isinstance(value, (list, tuple)):
        return "; ".join(plain(each) for each in value)
    return str(value)


def write_page(
    path: Path,
    title: str,
    sections: Sequence[Section],
    lead: str = "",
    more: Mapping[str, Any] | None = None,
) -> Path:
    """Write the sections of a study as one HTML file."""
    try:
        from jinja2 import Environment
    except ImportError:
        raise BadInput("reports need jinja2: pip install 'kinetree[studies]'") from None
    template = Environment(autoescape=True).from_string(TEMPLATE.read_text(encoding="utf-8"))
    command = shlex.join(["kinetree", *sys.argv[1:]])
    text = template.render(
        title=title,
        lead=lead,
        sections=sections,
        command=command,
        facts=[*((k, plain(v)) for k, v in (more or {}).items()), *facts()],
    )
    write_text(path, text)
    return path
