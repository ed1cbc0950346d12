"""Code blocks of pages, and how they are run: what a page shows is what its commands print.

`<!-- file: NAME -->` before a block: the block is that file. `<!-- part of: NAME -->`: lines of a file of the page's example.
`<!-- not run: REASON -->`: it stays as it is. A block of the language `text` after commands shows lines that they print; `...` stands for any
lines, `…` inside a line for any text.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS, EXAMPLES = ROOT / "docs", ROOT / "examples"
BLOCK = re.compile(
    r"(?:<!-- (?P<mark>[^>]*?) -->\n+)?^(?P<indent> *)```(?P<language>\w*)\n(?P<text>.*?)^ *```",
    re.S | re.M,
)
INDENTED = re.compile(r"(?:^ {4,}(?:kinetree|python3?) .*\n?)+", re.M)
LEFT_OUT = re.compile(r"<!-- not run: [^>]*-->\n+(?: {4,}.*\n)+")
PLACEHOLDER = re.compile(
    r"\b[A-Z][A-Z0-9]{2,}\b(?!/)|scripts/dev\.py|pip install|bin/activate|kinetree bench|kinetree studio"
)
SECONDS = 600


@dataclass(frozen=True)
class Block:
    """A block of a page: what is said of it, its language and its text."""

    mark: str
    language: str
    text: str

    def told(self, kind: str) -> str:
        """What follows `KIND:` in the mark, else nothing."""
        found = re.match(rf"{kind}: *(.+)", self.mark)
        return found[1] if found else ""


def blocks(text: str) -> list[Block]:
    """All fenced blocks in order; those in lists lose their indent."""
    found = []
    for match in BLOCK.finditer(text):
        lines = re.sub(rf"^{match['indent']}", "", match["text"], flags=re.M)
        found.append(Block(match["mark"] or "", match["language"], lines))
    return found


def commands(block: str) -> list[str]:
    """Lines of a shell block that can run as they stand, without those that hold a placeholder in capitals."""
    lines = block.replace("\\\n", " ").splitlines()
    return [
        line.split(" # ")[0].strip()
        for line in lines
        if line.strip()
        and not line.lstrip().startswith("#")
        and not PLACEHOLDER.search(line.split(" # ")[0])
    ]


def pages() -> list[Path]:
    """README and all pages that are written by hand."""
    return [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]


def folder_of(page: Path) -> Path | None:
    """Files of the example that a page goes through."""
    folder = EXAMPLES / page.stem
    return folder if page.parent.name == "tutorials" and folder.is_dir() else None


def lay_out(page: Path, text: str, folder: Path) -> None:
    """The files that a page shows, and those of its example, in a folder."""
    example = folder_of(page)
    if example:
        shutil.copytree(example, folder, dirs_exist_ok=True)
    for block in blocks(text):
        if block.told("file"):
            (folder / block.told("file")).write_text(block.text, encoding="utf-8")


def shell(line: str, folder: Path) -> str:
    """What a command prints; a failure is an error that shows it."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    environment = {
        **os.environ,
        "PATH": path,
        "COLUMNS": "160",
        "NO_COLOR": "1",
        "MPLBACKEND": "Agg",
    }
    done = subprocess.run(
        line,
        shell=True,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    if done.returncode:
        raise AssertionError(f"{line}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def run_shell(page: Path, folder: Path) -> list[str]:
    """Run the commands of a page in order and return what a `text` block shows and no command before it has printed."""
    text = page.read_text(encoding="utf-8")
    lay_out(page, text, folder)
    printed, wrong = "", []
    for block in blocks(text):
        if block.told("not run"):
            printed = ""
        elif block.language in ("sh", "bash", "console"):
            printed = "".join(shell(line, folder) for line in commands(block.text))
        elif block.language == "text" and printed:
            wrong += missing(block.text, printed)
    bare = LEFT_OUT.sub("", BLOCK.sub("", text))
    for found in INDENTED.findall(bare):
        for line in commands(found):
            shell(line, folder)
    return wrong


def plain(line: str) -> str:
    return " ".join(line.split())


def missing(shown: str, printed: str) -> list[str]:
    """Lines of a page that are not among the printed ones, in their order."""
    there = [plain(line) for line in printed.splitlines()]
    at, wrong = 0, []
    for line in filter(None, map(plain, shown.splitlines())):
        if line == "...":
            continue
        pattern = re.compile(".*".join(re.escape(part) for part in line.split("…")))
        place = next((k for k in range(at, len(there)) if pattern.fullmatch(there[k])), None)
        if place is None:
            wrong.append(line)
        else:
            at = place + 1
    return wrong


def pictures(page: Path, folder: Path) -> list[tuple[Path, Path]]:
    """Pictures of a page that its commands have written: (where they stand, what was written)."""
    named = [
        page.parent / name
        for name in re.findall(r"!\[[^\]]*\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
    ]
    return [(path.resolve(), folder / path.name) for path in named if (folder / path.name).exists()]
