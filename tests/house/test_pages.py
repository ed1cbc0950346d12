"""Pages keep their promises: files they show are good and run, all Python and all commands run and print what is shown, the site leaves none out."""

import re
import runpy
import shlex
import tomllib
from pathlib import Path

import pytest
from tree import ROOT

from kinetree.models import load
from kinetree.scripts.commands import found
from kinetree.scripts.site.code_blocks import (
    EXAMPLES,
    blocks,
    folder_of,
    lay_out,
    pages,
    pictures,
    run_shell,
)

COMMANDS = found()
SHOWN = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in pages()}
GENERATED = {"gallery.md", "commands.md", "api.md", "changes.md"}
SHELL = ("sh", "bash", "console")


def of(*languages: str) -> list[str]:
    return [
        name
        for name, text in SHOWN.items()
        if any(block.language in languages for block in blocks(text))
    ]


@pytest.mark.parametrize("page", of("toml"))
def test_files_shown_on_pages_are_valid_and_run(page: str, tmp_path: Path):
    """Whole descriptions run; fragments are TOML; parts of an example stand in its file word by word."""
    lay_out(ROOT / page, SHOWN[page], tmp_path)
    example = folder_of(ROOT / page)
    for block in blocks(SHOWN[page]):
        if block.language == "toml":
            content = tomllib.loads(block.text)
            if "bodies" in content and "format" in content:
                name = tmp_path / (block.told("file") or "shown.toml")
                name.write_text(block.text, encoding="utf-8")
                assert load(name).compile().simulate(stop_time=0.02).time[-1] == pytest.approx(
                    0.02
                ), f"{page}: {name.name}"
        if block.told("part of"):
            assert block.text in (tmp_path / block.told("part of")).read_text(encoding="utf-8"), (
                f"{page}: {block.text}"
            )
        if block.told("file") and example and (example / block.told("file")).exists():
            assert block.text == (example / block.told("file")).read_text(encoding="utf-8"), (
                f"{page}: {block.told('file')}"
            )


@pytest.mark.parametrize("page", [name for name in of("python") if name != "README.md"])
def test_python_code_of_pages_runs(page: str, tmp_path: Path, monkeypatch):
    """Blocks of one page in one room, as a reader types them, beside the files that the page shows."""
    monkeypatch.chdir(tmp_path)
    lay_out(ROOT / page, SHOWN[page], tmp_path)
    code = [
        block.text
        for block in blocks(SHOWN[page])
        if block.language == "python" and not block.told("not run") and not block.told("file")
    ]
    Path("page.py").write_text("\n".join(code), encoding="utf-8")
    runpy.run_path("page.py")


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [
        name
        for name, text in SHOWN.items()
        if re.search(r"^ *(```(sh|bash)|    kinetree )", text, re.M)
    ],
)
def test_commands_of_pages_run_and_print_what_is_shown(page: str, tmp_path: Path):
    """In order, in a folder with the files that the page shows; pictures of tutorials are written by their commands."""
    assert run_shell(ROOT / page, tmp_path) == []
    if "tutorials" in page:
        named = set(re.findall(r"\.\./pictures/(tutorials/[\w.-]+)\)", SHOWN[page]))
        assert {f"tutorials/{path.name}" for path, _ in pictures(ROOT / page, tmp_path)} == named


def test_commands_and_options_on_pages_exist():
    wrong = []
    shared = "".join(
        (ROOT / "scripts" / "terminal" / name).read_text()
        for name in ("arguments.py", "input_signals.py", "json_output.py")
    )
    for page, text in SHOWN.items():
        lines = [
            line
            for block in blocks(text)
            if block.language in SHELL
            for line in block.text.replace("\\\n", " ").splitlines()
        ]
        for line in lines:
            words = shlex.split(line, comments=True)
            if words[:1] != ["kinetree"] or len(words) < 2 or words[1].startswith("-"):
                continue
            if words[1] not in COMMANDS:
                wrong.append(f"{page}: {line}")
                continue
            source = Path(COMMANDS[words[1]].__code__.co_filename).read_text() + shared
            for option in (
                word.split("=")[0] for word in words[2:] if word.startswith("--") and len(word) > 2
            ):
                if not re.search(rf'"{option}["/]', source) and f"/{option}" not in source:
                    wrong.append(f"{page}: kinetree {words[1]} has no {option}")
    assert not wrong, "\n".join(wrong)


def test_pages_are_in_navigation():
    """What is not in mkdocs.yml is a page that nobody finds; what is there and not in docs/ is written by the build or a slot for a page to come."""
    from kinetree.scripts.site.mkdocs_hooks import SLOTS

    named = set(re.findall(r"([\w./-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.M)) - {
        "/decisions/[0-9]*.md"
    }
    there = {
        name.removeprefix("docs/")
        for name in SHOWN
        if name.startswith("docs/") and not re.match(r"docs/decisions/\d", name)
    }
    assert there <= named, f"not in mkdocs.yml: {sorted(there - named)}"
    assert named - there - GENERATED <= set(SLOTS) | {"*.md"}, sorted(named - there - GENERATED)


def test_examples_belong_to_tutorials():
    """A folder of examples has its page, and so its test, or a slot in the navigation for it."""
    from kinetree.scripts.site.mkdocs_hooks import SLOTS

    known = {name.removeprefix("docs/") for name in SHOWN} | set(SLOTS)
    wrong = [
        path.name
        for path in EXAMPLES.iterdir()
        if path.is_dir() and f"tutorials/{path.name}.md" not in known
    ]
    assert not wrong
    imported, moves = (
        tomllib.loads((EXAMPLES / "robot" / "reach.toml").read_text()),
        tomllib.loads((EXAMPLES / "robot" / "moves.toml").read_text()),
    )
    assert all(imported[key].items() >= table.items() for key, table in moves.items())


def test_generated_pages_have_content():
    from kinetree.scripts.site import generated_pages

    api, commands = generated_pages.api(), generated_pages.commands()
    assert all(f"## `kinetree {name}`" in commands for name in COMMANDS)
    assert "`--table`" in commands and ".simulate(" in api and "### `identify`" in api
    undocumented = re.findall(r"\*\*`\.(\w+)[^`]*`\*\*\n\n: *\n", api)
    assert not undocumented, undocumented
