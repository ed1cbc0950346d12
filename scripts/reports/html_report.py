"""A report as one self-contained HTML file with paragraphs, tables and pictures."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from kinetree.models.result.atomic_file import write_text

if TYPE_CHECKING:
    from kinetree.models.result.result import Result

STYLE = """body { font: 15px/1.5 system-ui, sans-serif; max-width: 62em; margin: 2em auto; padding: 0 1em; color: #222; overflow-wrap: anywhere }
h1 { font-size: 1.6em } h2 { font-size: 1.2em; margin-top: 2em; border-bottom: 1px solid #ccc }
figure { margin: 1em 0 } figcaption { color: #555; font-size: 0.9em } img { max-width: 100% }
iframe { width: 100%; height: 560px; border: 1px solid #ccc; border-radius: 8px }
.wide { overflow-x: auto; overflow-wrap: normal } table { border-collapse: collapse; font-size: 0.85em; font-variant-numeric: tabular-nums }
td, th { padding: 0.2em 0.7em; text-align: right; border-bottom: 1px solid #e4e4e4 } td:first-child, th:first-child { text-align: left }
@media (prefers-color-scheme: dark) { body { background: #171b21; color: #dde3ea } figcaption { color: #9aa5b1 } a { color: #7ab7f0 }
  h2, th, td { border-color: #3a434d !important } th, code, pre { background: #222932 !important }
  img { background: #fff; border-radius: 4px; opacity: 0.92 } }
"""


def paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def heading(text: str) -> str:
    return f"<h2>{escape(text)}</h2>"


def table(rows: Sequence[Sequence[str]], title: str = "") -> str:
    """Return a table as HTML; its first row is the head."""
    head, *body = (
        "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row)
        for row, tag in zip(rows, ["th", *["td"] * (len(rows) - 1)], strict=True)
    )
    above = f"<p><b>{escape(title)}</b></p>" if title else ""
    return f'{above}<div class="wide"><table><tr>{head}</tr>{"".join(f"<tr>{row}</tr>" for row in body)}</table></div>'


def picture(path: Path, caption: str) -> str:
    """Return a PNG file embedded as HTML."""
    data = b64encode(path.read_bytes()).decode()
    return f'<figure><img alt="{escape(caption)}" src="data:image/png;base64,{data}"><figcaption>{escape(caption)}</figcaption></figure>'


def scene(result: Result, caption: str) -> str:
    """Return a three-dimensional scene of a run as HTML, if the packages for it are installed."""
    try:
        html = result.animate().html()
    except ValueError as error:
        return paragraph(f"The moving scene is left out: {error}.")
    frame = f'<iframe title="{escape(caption)}" srcdoc="{escape(html)}" loading="lazy"></iframe>'
    return f"<figure>{frame}<figcaption>{escape(caption)}</figcaption></figure>"


def write_report(path: Path, title: str, parts: Sequence[str]) -> Path:
    """Write paragraphs, tables and pictures as one HTML page."""
    width = '<meta name="viewport" content="width=device-width, initial-scale=1">'
    head = f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">{width}<title>{escape(title)}</title><style>{STYLE}</style></head>'
    write_text(
        path, f"{head}<body><h1>{escape(title)}</h1>\n" + "\n".join(parts) + "\n</body></html>\n"
    )
    return path
