"""`kinetree setup`: everything that is compiled once, at once."""

import pytest

from kinetree.fmu.native import shell
from kinetree.fmu.source import webassembly
from kinetree.fmu.variables import FmuError
from kinetree.scripts import cli
from kinetree.solvers.entries import LIBRARIES
from kinetree.solvers.library import build
from kinetree.solvers.library.platforms import PLATFORMS, WEBASSEMBLY, this_platform


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What would have been built on a machine that has nothing yet."""
    found: list[str] = []

    def compile_all(say) -> None:
        for name in LIBRARIES:
            say(f"compiling the library '{name}'")
            found.append(name)
            say(f"the library '{name}' is ready")

    monkeypatch.setattr(build, "build", compile_all)
    monkeypatch.setattr(build, "ready", lambda name: False)
    monkeypatch.setattr(shell, "shell_library", lambda target, say: found.append(target.name))
    monkeypatch.setattr(
        webassembly, "module_path", lambda module, say: found.append(WEBASSEMBLY.name)
    )
    return found


def test_all_parts_of_the_engine_and_the_binary_of_fmus_are_built(made, monkeypatch, capsys):
    own = this_platform()
    monkeypatch.setattr(build, "linker", lambda: ["cc"])
    assert cli.main(["setup"]) == 0
    assert made == [*LIBRARIES, *([own.name] if own else [])]
    told = capsys.readouterr().out
    assert all(name in told for name in LIBRARIES)


def test_without_a_linker_the_engine_is_object_code(made, monkeypatch, capsys):
    monkeypatch.setattr(build, "linker", lambda: None)
    assert cli.main(["setup"]) == 0
    assert made == [*LIBRARIES] and "object code" in capsys.readouterr().out


def test_other_platforms_are_built_when_they_are_named(made, monkeypatch, capsys):
    monkeypatch.setattr(build, "linker", lambda: ["cc"])
    assert cli.main(["setup", "--platforms", "all", "-q"]) == 0
    assert {*made} == {*LIBRARIES, *PLATFORMS} and capsys.readouterr().out == ""
    assert cli.main(["setup", "--platforms", "amiga"]) == 2
    assert "amiga" in capsys.readouterr().err

    def fails(target, say) -> None:
        raise FmuError(f"the binary for {target.name} cannot be built: no zig")

    monkeypatch.setattr(shell, "shell_library", fails)
    assert cli.main(["setup"]) == 0 and "no zig" in capsys.readouterr().err
