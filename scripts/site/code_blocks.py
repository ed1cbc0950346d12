"""Code blocks of pages and their execution: pages show what their commands print.

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
    """A code block of a page: its mark, language and text."""

    mark: str
    language: str
    text: str

    def told(self, kind: str) -> str:
        """Return the text after `KIND:` in the mark of the block, or an empty text."""
        found = re.match(rf"{kind}: *(.+)", self.mark)
        return found[1] if found else ""


def blocks(text: str) -> list[Block]:
    """Return all fenced code blocks of a page in order, without the indentation of lists."""
    found = []
    for match in BLOCK.finditer(text):
        lines = re.sub(rf"^{match['indent']}", "", match["text"], flags=re.M)
        found.append(Block(match["mark"] or "", match["language"], lines))
    return found


def commands(block: str) -> list[str]:
    """Return the executable lines of a shell block; lines with placeholders are left out."""
    lines = block.replace("\\\n", " ").splitlines()
    return [
        line.split(" # ")[0].strip()
        for line in lines
        if line.strip()
        and not line.lstrip().startswith("#")
        and not PLACEHOLDER.search(line.split(" # ")[0])
    ]


def pages() -> list[Path]:
    """Return the README and all pages that are written by hand."""
    return [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]


def folder_of(page: Path) -> Path | None:
    """Return the folder of the example that a page uses, or None."""
    folder = EXAMPLES / page.stem
    return folder if page.parent.name == "tutorials" and folder.is_dir() else None


def lay_out(page: Path, text: str, folder: Path) -> None:
    """Write the files shown on a page, and those of its example, to a folder."""
    example = folder_of(page)
    if example:
        shutil.copytree(example, folder, dirs_exist_ok=True)
    for block in blocks(text):
        if block.told("file"):
            (folder / block.told("file")).write_text(block.text, encoding="utf-8")


def shell(line: str, folder: Path) -> str:
    """Run a command and return its output; raise an error with the output if the command fails."""
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
    """Run the commands of a page in order; return the lines shown on the page that were not
    printed.
    """
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
    """Return the lines shown on a page that are not among the printed ones in the same order."""
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
    """Return pairs (picture of the page, file written by its commands)."""
    named = [
        page.parent / name
        for name in re.findall(r"!\[[^\]]*\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
    ]
    return [(path.resolve(), folder / path.name) for path in named if (folder / path.name).exists()]
