"""The README keeps its promises: its commands are those of CI and exist, its Python runs, its picture and links are there."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

from tree import ROOT

from kinetree.scripts.commands import found
from kinetree.scripts.dev import COMMANDS as DEV_COMMANDS

COMMANDS = found()
README = (ROOT / "README.md").read_text(encoding="utf-8")
FIRST_SCREEN = 40  # lines


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.S)


def commands() -> list[list[str]]:
    lines = [line for block in blocks("(?:sh|bash|console)") for line in block.splitlines()]
    return [
        shlex.split(line, comments=True)
        for line in lines
        if line.strip() and not line.startswith("#")
    ]


def test_first_screen_shows_picture_and_both_commands():
    screen = "\n".join(README.splitlines()[:FIRST_SCREEN])
    picture = re.search(r"!\[[^\]]+\]\(([^)]+)\)", screen)
    assert picture and (ROOT / picture.group(1)).stat().st_size > 1000
    assert "python3 scripts/dev.py demo" in screen and "python3 scripts/dev.py test" in screen


def test_ci_runs_the_test_commands_of_the_readme():
    lines = [
        line
        for line in (ROOT / ".ci" / "run").read_text().splitlines()
        if "dev.py" in line and not line.startswith("#")
    ]
    ran = [line.removeprefix("exec ") for line in lines]
    assert ran == [
        "python3 scripts/dev.py test",
        "python3 scripts/dev.py docs",
        "python3 scripts/dev.py platforms",
    ]
    assert all(line in README for line in ran)
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o100


def test_readme_commands_exist():
    shown = commands()
    assert any(words[0] == "kinetree" for words in shown)
    for words in shown:
        if words[:2] == ["python3", "scripts/dev.py"]:
            assert words[2] in DEV_COMMANDS, words
        if words[0] == "kinetree":
            assert words[1].startswith("-") or words[1] in COMMANDS, words


def test_readme_options_exist():
    for words in commands():
        if words[0] == "kinetree" and words[1] in COMMANDS:
            source = (
                Path(COMMANDS[words[1]].__code__.co_filename).read_text()
                + (ROOT / "scripts" / "terminal" / "arguments.py").read_text()
            )
            for option in (word.split("=")[0] for word in words[2:] if word.startswith("--")):
                assert f'"{option}"' in source, f"kinetree {words[1]} has no {option}"


def test_readme_python_runs(tmp_path: Path):
    """All Python of the README as one program, in an empty folder with the files the README shows."""
    for name, text in re.findall(r"<!-- file: (\S+) -->\n```toml\n(.*?)```", README, re.S):
        (tmp_path / name).write_text(text)
    assert blocks("python")
    (tmp_path / "readme.py").write_text("\n".join(blocks("python")))
    finished = subprocess.run(
        [sys.executable, "readme.py"], cwd=tmp_path, capture_output=True, text=True
    )
    assert finished.returncode == 0, finished.stderr
