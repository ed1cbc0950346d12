"""Checks the links inside a built site: each must lead to an existing file, and each fragment to an
existing anchor.
"""

from __future__ import annotations

import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlparse

LINKS = {"a": "href", "img": "src", "iframe": "src", "link": "href", "script": "src"}
TABLE = re.compile(r"<p>[^<]*\|\s*-{3}|<p>\|")  # a table that was not understood


class Reader(HTMLParser):
    """Parser that collects the links and anchors of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.marks: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        if told.get("id"):
            self.marks.add(str(told["id"]))
        if tag in LINKS and told.get(LINKS[tag]):
            self.links.append(str(told[LINKS[tag]]))
            if tag in ("img", "iframe", "script") or told.get("rel") in ("stylesheet", "preload"):
                self.fetched.append(str(told[LINKS[tag]]))


@cache
def read(path: Path) -> Reader:
    reader = Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    return reader


def broken(site: Path) -> list[str]:
    """Return broken links, external resources and unrendered tables of a built site."""
    wrong = []
    for page in sorted(site.rglob("*.html")):
        name = page.relative_to(site).as_posix()
        if name.startswith("scenes/") or name == "404.html":
            continue
        wrong += [
            f"{name}: {link} is fetched from elsewhere"
            for link in read(page).fetched
            if urlparse(link).scheme or link.startswith("//")
        ]
        if TABLE.search(page.read_text(encoding="utf-8")):
            wrong.append(f"{name}: a table that is not drawn as one")
        for link in read(page).links:
            address, mark = urldefrag(link)
            if urlparse(address).scheme or address.startswith("//"):
                continue
            target = (page.parent / unquote(address)).resolve() if address else page
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                wrong.append(f"{name}: {link} leads nowhere")
            elif (
                mark
                and target.suffix == ".html"
                and "scenes" not in target.parts
                and mark not in read(target).marks
            ):
                wrong.append(f"{name}: {link}: no such place")
    return wrong
