"""Hooks of MkDocs: generated pages, and embedded scenes in place of `<!-- scene: NAME -->`."""

from __future__ import annotations

import re
from textwrap import dedent
from typing import Any

from mkdocs.structure.files import File

from kinetree.scripts.site import gallery, generated_pages
from kinetree.scripts.site.code_blocks import DOCS

SLOTS = ("tutorials/control.md", "contacts.md", "records.md")
COMMANDS = re.compile(r"(?:^ {4}(?:kinetree|python3) .*\n)+", re.M)  # indented, outside of lists
ROW = re.compile(r"^\|.*\|$", re.M)
SCENE = re.compile(r"<!-- scene: ([\w-]+) -->")


def on_files(files: Any, config: Any) -> Any:
    """Add the generated files to those of docs/."""
    seen = [gallery.see(name, source) for name, source in gallery.sources().items()]
    made: dict[str, str | bytes] = {
        "api.md": generated_pages.api(),
        "commands.md": generated_pages.commands(),
        "changes.md": generated_pages.changes(),
        "gallery.md": gallery.gallery(seen),
    }
    made |= gallery.files(seen, embedded_scenes())
    for name, content in made.items():
        files.append(File.generated(config, name, content=content))
    return files


def embedded_scenes() -> set[str]:
    """Return the names of the scenes that pages embed."""
    texts = (path.read_text(encoding="utf-8") for path in DOCS.rglob("*.md"))
    return {found[1] for text in texts for found in SCENE.finditer(text)}


def on_config(config: Any) -> Any:
    """Remove the navigation entries of generated pages that do not exist yet."""
    config["nav"] = without_missing(config["nav"])
    return config


def without_missing(nav: list[Any]) -> list[Any]:
    """Return a navigation without entries whose page does not exist."""
    kept = []
    for entry in nav:
        title, inner = next(iter(entry.items())) if isinstance(entry, dict) else ("", entry)
        if isinstance(inner, list):
            kept.append({title: without_missing(inner)})
        elif inner not in SLOTS or (DOCS / inner).exists():
            kept.append(entry)
    return kept


def decisions() -> str:
    """Return a Markdown list of links to all decision notes."""
    lines = []
    for path in sorted((DOCS / "decisions").glob("[0-9]*.md")):
        lines.append(
            f"* [{path.read_text(encoding='utf-8').splitlines()[0].removeprefix('# ')}]({path.name})"
        )
    return "\n".join(["", "## All of them", "", *lines, ""])


def whole_numbers(row: str) -> str:
    """Return a table row in which no number is broken over lines, such as 47 102 or 1e-16."""
    parts = row.split("`")
    parts[::2] = [
        re.sub(r"(?<=\de)-(?=\d)", "-\u2060", re.sub(r"(?<=\d) (?=\d{3}(?!\d))", "\u00a0", part))
        for part in parts[::2]
    ]
    return "`".join(parts)


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Return a page with embedded scenes in place of their marks, and commands with syntax colours."""
    if page.file.src_uri == "decisions/README.md":
        return markdown + decisions()
    markdown = COMMANDS.sub(lambda found: f"```sh\n{dedent(found[0])}```\n", markdown)
    markdown = ROW.sub(lambda found: whole_numbers(found[0]), markdown)
    up = "../" * page.file.src_uri.count("/")
    frame = 'class="scene" title="Moving scene" loading="lazy"'
    return SCENE.sub(
        lambda found: f'<iframe {frame} src="{up}scenes/{found[1]}.html#bare"></iframe>', markdown
    )
