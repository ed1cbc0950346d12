"""`kinetree view`, `verify`, `fmu` and `statics`: options that reach what they name, what is shown, written and said, and how they end."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kinetree import models
from kinetree.models.result import plots
from kinetree.models.scene import make_scenes as scenes
from kinetree.scripts import cli
from kinetree.scripts.commands import fmu, statics, view
from kinetree.scripts.fmi import external_host_checks
from kinetree.scripts.fmi import verify as checks
from kinetree.scripts.fmi.verify import Report
from kinetree.scripts.terminal.error_messages import BadInput


def system_of(**more: Any) -> Any:
    compiled = SimpleNamespace(outputs=[SimpleNamespace(name="y")], inputs=("u",))
    description = SimpleNamespace(
        slips=(), chain=None, report=SimpleNamespace(plots={}, tables={}), controllers={}
    )
    told = {
        "name": "arm",
        "compiled": compiled,
        "coordinates": ("x",),
        "description": description,
        "warnings": [],
        "stages": (),
    }
    return SimpleNamespace(**told | more)


RESULT = "time,x,y\n0.5,1,2\n1.5,3,4\n"


def test_view_prints_and_plots_result_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    """From its first to its last instant; what is drawn is said, but not to programs."""
    monkeypatch.chdir(tmp_path)
    Path("r.csv").write_text(RESULT)
    drawn: list[Any] = []
    monkeypatch.setattr(
        plots,
        "plot",
        lambda recorded, path, chosen, deviation: drawn.append((path, chosen, deviation)),
    )
    assert cli.main(["view", "r.csv", "--plot", "p.png"]) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert (
        lines[0] == "r.csv: 0.5 to 1.5 s"
        and lines[-1] == "written: p.png"
        and lines[2:4] == ["x 1 3 1 3", "y 2 4 2 4"]
    )
    assert cli.main(["view", "r.csv", "y", "--plot", "p.png", "--deviation", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["file"] == "r.csv" and (
        found["start_time"],
        found["stop_time"],
        list(found["variables"]),
    ) == (0.5, 1.5, ["y"])
    assert drawn == [(Path("p.png"), None, False), (Path("p.png"), ("y",), True)]
    for words, said in (
        ("r.csv --html p.html", "--model FILE names"),
        ("r.csv --open", "--model FILE names"),
        ("m.toml --plot p.png", "variables are shown"),
    ):
        assert cli.main(["view", *words.split()]) == 2 and said in " ".join(
            capsys.readouterr().err.split()
        ), words
    for option in ("--json", "--deviation", "x"):
        assert (
            cli.main(["view", "m.toml", option]) == 2
            and "variables are shown of a result file" in capsys.readouterr().err
        )


def test_view_writes_page_of_mechanism(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    """A page by default, of the name of what is shown; the browser where it is wanted; a result moves the description it belongs to."""
    import webbrowser

    monkeypatch.chdir(tmp_path)
    Path("r.csv").write_text(RESULT)
    asked: list[Any] = []

    def save(path: Path, at: float | None) -> None:
        path.write_bytes(bytes(1_230_000))
        asked.append((path.name, at))

    monkeypatch.setattr(scenes, "Animation", lambda data: SimpleNamespace(save=save))
    monkeypatch.setattr(
        view,
        "scene",
        lambda source, settings, stop, recorded: (
            asked.append((source, settings, stop, recorded and recorded.name)) or {}
        ),
    )
    monkeypatch.setattr(webbrowser, "open", asked.append)
    for words, source, files, opened in (
        (
            "lib:arm --set m=2 --stop-time 3",
            ("lib:arm", {"m": 2}, 3.0, None),
            [("arm.html", None)],
            False,
        ),
        ("a/b.toml --video v.gif --open", ("a/b.toml", {}, None, None), [("v.gif", None)], False),
        ("b.toml --picture p.png --at 0.5", ("b.toml", {}, None, None), [("p.png", 0.5)], False),
        (
            "b.toml --picture p.png --html q.html --open",
            ("b.toml", {}, None, None),
            [("q.html", None), ("p.png", None)],
            True,
        ),
        ("r.csv --model c.toml --open", ("c.toml", {}, None, "r"), [("c.html", None)], True),
    ):
        assert cli.main(["view", *words.split()]) == 0
        uri = [(tmp_path / files[0][0]).as_uri()] * opened
        assert asked == [source, *files, *uri], words
        said = capsys.readouterr().out
        assert [line for line in said.splitlines() if line.startswith("written")] == [
            f"written: {name} (1.23 MB)" for name, _ in files
        ]
        asked.clear()


def test_view_shows_failed_run_until_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    """Two instants at least; a chain by its matrices; the columns of a file move a description."""
    reached: list[Any] = [[0, 1]]

    def simulate(stop: float | None, progress: Any) -> None:
        error = ArithmeticError("it tears")
        error.result = reached[0]  # type: ignore[attr-defined]
        raise error

    mechanism = SimpleNamespace(
        description=SimpleNamespace(chain=None, slips=()),
        compile=lambda: system_of(simulate=simulate),
    )
    monkeypatch.setattr(models, "load", lambda source, **settings: mechanism)
    monkeypatch.setattr(scenes, "run_data", lambda result: {"result": result})
    from kinetree.scripts.commands import run as command

    monkeypatch.setattr(command, "end_of", lambda system, stop: 0.0)
    assert (
        view.scene("m", {}, 1.0, None) == {"result": [0, 1]}
        and capsys.readouterr().err == "kinetree: it tears; shown until then\n"
    )
    for reached[0] in ([0], None):
        with pytest.raises(ArithmeticError, match="it tears"):
            view.scene("m", {}, 1.0, None)
    mechanism.description.chain, mechanism.chain = (
        {},
        lambda: SimpleNamespace(simulate=lambda stop: f"chain to {stop}"),
    )
    assert view.scene("m", {}, 1.0, None) == {"result": "chain to 1.0"}
    with pytest.raises(
        BadInput, match="^r: no columns of the coordinates c1, c2, c3, c4, c5 of arm$"
    ):
        view.recorded_data(system_of(coordinates=[f"c{k}" for k in range(1, 7)]), Columns())  # type: ignore[arg-type]


class Columns(dict):
    name, names = "r", ()


@pytest.mark.parametrize("terminal", [True, False])
def test_verify_prints_all_checks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture, terminal: bool
):
    """In a line each, which is not folded in a file; 1 where one of them is bad; the stop time and hosts are handed on."""
    import zipfile

    import rich.console

    path = tmp_path / "a.fmu"
    with zipfile.ZipFile(path, "w"):
        pass
    asked: list[Any] = []
    good = [True]

    def check(file: Path, stop: float | None) -> Report:
        asked.append((file, stop))
        report = Report(file)
        report.add("a [b]", "c" * 200, good[0])
        return report

    class Console(rich.console.Console):
        def __init__(self, **options: Any):
            super().__init__(**options, force_terminal=terminal, width=100)

    monkeypatch.setattr(rich.console, "Console", Console)
    monkeypatch.setattr(checks, "verify", check)
    monkeypatch.setattr(
        external_host_checks, "in_hosts", lambda report, file, names: asked.append((file, names))
    )
    assert cli.main(["verify", str(path), "--stop-time", "2.5", "--host", "bare"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert (
        len(lines) == 1
        and ("c" * 200 in lines[0]) == (not terminal)
        and "a [b]" in lines[0]
        and asked == [(path, 2.5), (path, ["bare"])]
    )
    good[0] = False
    assert (
        cli.main(["verify", str(path)]) == 1
        and "BAD" in capsys.readouterr().out
        and asked[2:] == [(path, None), (path, [])]
    )
    assert cli.main(["verify", str(path), "--json"]) == 1
    rows = [{"what": "a [b]", "result": "c" * 200, "good": False}]
    assert json.loads(capsys.readouterr().out) == {"file": str(path), "good": False, "checks": rows}


def test_archive_platforms_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture):
    """Folders of both versions of the standard; files beside them are none; only what the archive could carry is absent."""
    import zipfile

    path = tmp_path / "a.fmu"
    with zipfile.ZipFile(path, "w") as archive:
        for name in (
            "binaries/linux64/a.so",
            "binaries/x86_64-windows/a.dll",
            "binaries/aarch64-linux/more/a.so",
            "binaries/note",
            "sources/linux64/a.c",
        ):
            archive.writestr(name, "")
    component = "wasm32-wasip2"
    for possible in (False, True):
        there, absent = fmu.platforms_in(path, possible)
        assert there == ["linux64", "win64"]
        assert absent == ["aarch64-linux", "darwin64", "aarch64-darwin", *[component] * possible]
        told = fmu.carried(path, possible)
        assert all(name in told for name in (*there, *absent)) and "--platforms all" in told
        assert (component in told) == possible


SPRING = """
format = "kinetree/1"
name = "hanging mass"
[parameters]
m = 1.0
k = 100.0
[inputs]
f = 0.0
[bodies.b]
mass = "m"
[joints.j]
child = "b"
type = "prismatic"
axis = "z"
coordinates = ["z"]
[forces.s]
coordinate = "z"
value = "f - k*z"
"""


def test_statics_then_continues_from_previous_equilibrium(
    tmp_path: Path, capsys: pytest.CaptureFixture
):
    """Every step with its own values: alone it is told as itself, with others as a list; the page shows all."""
    path = tmp_path / "m.toml"
    path.write_text(SPRING)

    def heights(*words: str) -> list[float]:
        assert cli.main(["statics", str(path), "--json", *words]) == 0
        told = json.loads(capsys.readouterr().out)
        return [each["coordinates"]["z"] for each in (told if isinstance(told, list) else [told])]

    assert heights() == pytest.approx([-0.0980665], rel=1e-3)
    assert heights("--input", "f=5") == pytest.approx([-0.0480665], rel=1e-3)
    assert heights("--then", "m=2", "--then", "m=3,f=10") == pytest.approx(
        [-0.0980665, -0.196133, -0.1941995], rel=1e-3
    )
    page = tmp_path / "a.html"
    assert cli.main(["statics", str(path), "--then", "m=2", "--html", str(page)]) == 0
    assert "m=2" in capsys.readouterr().out and "m=2" in page.read_text()
    assert cli.main(["statics", str(path), "--then", "q=1"]) == 2
    assert "m, k, f" in capsys.readouterr().err


def test_unstable_mode_is_named_by_dominant_coordinate():
    """A coordinate above half, else whatever is largest."""
    linear: Any = SimpleNamespace(local=("a", "b"))
    for shape, name in (
        ({"a": 0.25, "b": -0.75, "p": 9.0}, "b"),
        ({"a": 0.5, "b": 0.25, "p": -0.75}, "p"),
        ({"a": 0.6, "b": -0.7}, "b"),
    ):
        assert statics.leading(linear, SimpleNamespace(shape=shape)) == name  # type: ignore[arg-type]


def test_statics_distinguishes_chains_and_mechanisms(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    from kinetree.scripts.commands import info
    from kinetree.scripts.terminal import model_info

    shown: list[Any] = []
    chain = SimpleNamespace(anatomy=lambda: {"is": "chain"})
    mechanism = SimpleNamespace(
        description=SimpleNamespace(chain={}, slips=()),
        chain=lambda: chain,
        compile=lambda: "system",
    )
    monkeypatch.setattr(models, "load", lambda source, **settings: mechanism)
    monkeypatch.setattr(model_info, "anatomy", lambda system: {"is": system})
    monkeypatch.setattr(info, "show_chain", lambda content: shown.append(("chain", content)))
    monkeypatch.setattr(info, "show", lambda content: shown.append(("whole", content)))
    for table, title, name in (({}, "chain", "chain"), (None, "whole", "system")):
        mechanism.description.chain = table
        assert cli.main(["info", "m"]) == 0 and shown.pop() == (title, {"is": name})
        assert (
            cli.main(["info", "m", "--json"]) == 0
            and json.loads(capsys.readouterr().out) == {"is": name}
            and not shown
        )


def test_studio_command_serves_at_port(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    """A free one unless one is named; the package that is missing is named, other mistakes of imports are defects."""
    from kinetree.scripts.studio import server

    asked: list[Any] = []

    def serve(*given: Any) -> None:
        asked.append(given[:4])
        given[4]("http://here")

    monkeypatch.setattr(server, "free_port", lambda: 4321)
    monkeypatch.setattr(server, "new_token", lambda: "token")
    monkeypatch.setitem(sys.modules, "kinetree.scripts.studio.app", SimpleNamespace(serve=serve))
    assert (
        cli.main(["studio"]) == 0 == cli.main(["studio", "m.toml", "--port", "5005", "--no-open"])
    )
    assert asked == [("lib:pendulum", 4321, "token", True), ("m.toml", 5005, "token", False)]
    assert capsys.readouterr().out == "studio: http://here\n" * 2

    class Missing:
        """What a module is that lacks a package."""

        __path__: list[str] = []

        def __init__(self, name: str):
            self.lacks = name

        def __getattr__(self, name: str) -> Any:
            raise ImportError("no", name=self.lacks) if name == "serve" else AttributeError(name)

    for lacks, code, said in (
        ("nicegui.ui", 2, "pip install kinetree[studio]"),
        ("fastapi", 2, "the studio needs NiceGUI"),
        ("numpy", 1, "no"),
    ):
        monkeypatch.setitem(sys.modules, "kinetree.scripts.studio.app", Missing(lacks))  # type: ignore[arg-type]
        assert cli.main(["studio"]) == code and said in capsys.readouterr().err
