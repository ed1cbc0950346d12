"""Pages of docs/ keep their promises: files they show are good and run, Python marked to run runs, commands and options exist."""

import re
import runpy
import shlex
from pathlib import Path

import pytest
from tree import ROOT

from kinetree.models import load
from kinetree.scripts.commands import COMMANDS

PAGES = sorted((ROOT / "docs").rglob("*.md"))
FILE = re.compile(r"<!-- file: (\S+) -->\n+```(\w+)\n(.*?)```", re.S)
RUN = re.compile(r"<!-- run -->\n+```python\n(.*?)```", re.S)
SHELL = re.compile(r"```(?:sh|bash|console)\n(.*?)```", re.S)
SHOWN = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in PAGES}


@pytest.mark.parametrize("page", [name for name, text in SHOWN.items() if FILE.search(text)])
def test_files_that_pages_show_are_good_and_run(page: str, tmp_path: Path):
    for name, _, text in FILE.findall(SHOWN[page]):
        (tmp_path / name).write_text(text, encoding="utf-8")
        if name.endswith((".toml", ".json")) and "[bodies" in text:
            result = load(tmp_path / name).compile().simulate(stop_time=0.02)
            assert result.time[-1] == pytest.approx(0.02), f"{page}: {name}"


@pytest.mark.parametrize("page", [name for name, text in SHOWN.items() if RUN.search(text)])
def test_python_of_pages_runs(page: str, tmp_path: Path, monkeypatch):
    """Blocks of one page in one room, as a reader types them, beside the files that the page shows."""
    monkeypatch.chdir(tmp_path)
    for name, _, text in FILE.findall(SHOWN[page]):
        Path(name).write_text(text, encoding="utf-8")
    Path("page.py").write_text("\n".join(RUN.findall(SHOWN[page])), encoding="utf-8")
    runpy.run_path("page.py")


def test_commands_and_options_on_pages_exist():
    wrong = []
    for page, text in SHOWN.items():
        lines = [line for block in SHELL.findall(text) for line in block.replace("\\\n", " ").splitlines()]
        for line in lines:
            words = shlex.split(line, comments=True)
            if words[:1] != ["kinetree"] or len(words) < 2 or words[1].startswith("-"):
                continue
            if words[1] not in COMMANDS:
                wrong.append(f"{page}: {line}")
                continue
            folder = Path(COMMANDS[words[1]].__code__.co_filename)
            source = folder.read_text() + (ROOT / "scripts" / "terminal" / "arguments.py").read_text()
            for option in (word.split("=")[0] for word in words[2:] if word.startswith("--") and len(word) > 2):
                if not re.search(rf'"{option}["/]', source) and f"/{option}" not in source:
                    wrong.append(f"{page}: kinetree {words[1]} has no {option}")
    assert not wrong, "\n".join(wrong)
