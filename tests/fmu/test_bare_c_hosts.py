"""Hosts in C, without any of them: what builds and runs them on every platform, where archives lie, what they say."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kinetree.scripts.fmi import bare_c_host, external_host_checks, host_programs
from kinetree.scripts.fmi.bare_c_host import BareHost, HostError
from kinetree.solvers.library.platforms import NATIVE, PLATFORMS

LINUX, WINDOWS, ARM = (PLATFORMS[name] for name in ("linux64", "win64", "aarch64-linux"))


@pytest.mark.parametrize("name", NATIVE)
def test_c_host_is_built_once_per_platform(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The compiler here, zig elsewhere; Windows has neither of the libraries of the others, but an ending."""
    target, lines = PLATFORMS[name], []
    monkeypatch.setattr(bare_c_host, "this_platform", lambda: LINUX)
    monkeypatch.setattr(bare_c_host, "cache_root", lambda: tmp_path)
    monkeypatch.setattr(bare_c_host, "compiler", lambda: ["cc"])
    monkeypatch.setattr(bare_c_host, "cross_compiler", lambda target: ["zig", target])
    monkeypatch.setattr(bare_c_host, "fmi_headers", lambda: Path("headers"))

    def run(line: list[str]) -> None:
        lines.append(line)
        Path(line[line.index("-o") + 1]).write_bytes(b"program")

    monkeypatch.setattr(bare_c_host, "run", run)
    found = bare_c_host.native_program("bare_host", target)
    assert (
        found == bare_c_host.native_program("bare_host", target)
        and found.read_bytes() == b"program"
        and len(lines) == 1
    )
    windows = target.system == "Windows"
    assert found.name == (
        "bare_host.exe" if windows else "bare_host"
    ) and found.parent.name.endswith(f"-{name}")
    tool = ["cc"] if target == LINUX else ["zig", target.zig]
    source = Path(bare_c_host.__file__).with_name("bare_host.c")
    head = [*tool, "-std=c11", "-O1", "-w", "-Iheaders", str(source), "-o"]
    assert lines[0][: len(head)] == head and lines[0][len(head) + 1 :] == (
        [] if windows else ["-ldl", "-lpthread", "-lm"]
    )


def test_resource_location_matches_platform():
    """An address in FMI 2.0, signs of addresses quoted, a path with its separator in FMI 3.0; Wine names the root folder Z:."""
    for version, target, place in (
        (2, LINUX, "file:///a%20b/resources"), (2, WINDOWS, "file:///Z:/a%20b/resources"), (3, LINUX, "/a b/resources/"),
        (3, WINDOWS, "Z:/a b/resources/"),
    ):  # fmt: skip
        assert (
            bare_c_host.resources_place(SimpleNamespace(version=version, folder="/a b"), target)
            == place
        )  # type: ignore[arg-type]


def test_wine_uses_its_own_prefix(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(bare_c_host, "this_platform", lambda: LINUX)
    monkeypatch.setattr(bare_c_host, "has_zig", lambda: True)
    monkeypatch.setattr(
        bare_c_host, "found", lambda names: "/usr/bin/wine" if names == bare_c_host.WINE else None
    )
    monkeypatch.setattr(bare_c_host, "cache_root", lambda: tmp_path)
    monkeypatch.setenv("PATH", "/here")
    quiet = {
        "WINEDEBUG": "-all",
        "WINEPREFIX": str(tmp_path / "wine"),
        "WINEDLLOVERRIDES": "mscoree,mshtml=",
        "HOME": str(tmp_path),
        "DISPLAY": "",
    }
    for _ in range(2):
        assert bare_c_host.launcher(WINDOWS) == (["/usr/bin/wine"], quiet | {"PATH": "/here"})


@pytest.mark.parametrize("command", [[], ["wine"]])
def test_bare_host_prints_one_line_per_call(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Library, place, token, what is done, references, step, count and file; Wine may be asked twice. Lines are read by their names."""
    asked: list[Any] = []
    (tmp_path / "binaries" / "linux64").mkdir(parents=True)
    (tmp_path / "binaries" / "linux64" / "m.so").write_text("")
    monkeypatch.setattr(bare_c_host, "launcher", lambda target: (command, {"A": "b"}))
    monkeypatch.setattr(bare_c_host, "native_program", lambda name, target: Path(f"/{name}"))
    said = ["value 1.5\nstate 3 4\nvalue -2\n"]

    def told(line: list[str], environment: dict[str, str], tries: int) -> Any:
        asked.append((line, environment, tries))
        return SimpleNamespace(returncode=0, stdout=said[0], stderr="")

    monkeypatch.setattr(bare_c_host, "told", told)
    description = SimpleNamespace(guid="g")
    archive: Any = SimpleNamespace(
        folder=str(tmp_path), description=description, references={"a": 7, "b": 9}, version=3
    )
    host = BareHost(archive, LINUX, ["b", "a"])
    assert host.run("save", 0.25, 4, "f") == {
        "value": ["1.5", "-2"],
        "state": ["3 4"],
    } and host.values("run", 0.5, 2) == [1.5, -2.0]
    start = [
        *command,
        "/bare_host",
        str(tmp_path / "binaries" / "linux64" / "m.so"),
        f"{tmp_path}/resources/",
        "g",
    ]
    tries = 2 if command else 1
    assert asked == [
        ([*start, "save", "9,7", "0.25", "4", "f"], {"A": "b"}, tries),
        ([*start, "run", "9,7", "0.5", "2", ""], {"A": "b"}, tries),
    ]
    host.run("x", place="elsewhere")
    assert asked[2][0][len(command) + 2] == "elsewhere" and asked[2][0][-3:] == [
        "0.001",
        "1000",
        "",
    ]
    assert BareHost(archive, LINUX, [], "there").place == "there"
    for wrong in ("", "step 3\nvalue 1", "reading 1\nvalue 1"):
        said[0] = wrong
        with pytest.raises(HostError, match="the host for linux64 could not run it"):
            host.values("run", 0.5, 2)


def test_all_archive_kinds_run_in_requested_hosts(monkeypatch: pytest.MonkeyPatch):
    """A hundred of its steps each, beside fmpy by co-simulation; where nothing is asked nothing is opened."""
    rows: list[Any] = []
    parts = {"coSimulation": "cs", "modelExchange": "me"}
    description = SimpleNamespace(**parts)
    archive = SimpleNamespace(
        description=description, version=2, names=lambda causality: ["x"], step=0.25
    )
    opened: list[Any] = []

    class Opened:
        def __init__(self, path: Path):
            opened.append(path)

        def __enter__(self) -> Any:
            return archive

        def __exit__(self, *reason: object) -> None:
            pass

    monkeypatch.setattr(external_host_checks, "Archive", Opened)
    monkeypatch.setattr(
        external_host_checks,
        "by_fmpy",
        lambda task, platform: [task.step, task.count, float(task.exchange)],
    )
    monkeypatch.setattr(
        external_host_checks,
        "report_host",
        lambda report, host, task, expected: rows.append(
            (host.name, task.kind, task.names, expected)
        ),
    )
    external_host_checks.in_hosts("report", Path("a.fmu"), [])  # type: ignore[arg-type]
    assert not opened
    external_host_checks.in_hosts("report", Path("a.fmu"), ["bare", "fmpy"])  # type: ignore[arg-type]
    assert rows == [
        (host, kind, ["x"], [0.25, 100, 0.0])
        for host in ("bare", "fmpy")
        for kind in ("CS 2.0", "ME 2.0")
    ]
    description.coSimulation = None
    assert [task.kind for task in host_programs.tasks(archive, 0.5, 3)] == ["ME 2.0"]  # type: ignore[arg-type]


def test_host_abilities_and_tolerances():
    """Versions, model exchange, archives in Python, and the bounds of steps; OMSimulator's laws of time are known to be late."""
    table = {
        name: (
            each.platform.name,
            each.versions,
            each.exchange,
            each.stepping,
            each.python,
            each.stepped,
            each.seen,
        )
        for name, each in host_programs.FOREIGN.items()
    }
    both, most = (2, 3), 2e-3
    assert table == {
        "fmpy": ("linux64", both, True, True, True, 1e-6, most), "libcosim": ("linux64", (2,), False, True, True, 1e-6, most),
        "ecos": ("linux64", (2,), False, True, True, 1e-6, most), "bare": ("linux64", both, True, True, True, 1e-9, most),
        "wine": ("win64", both, True, True, False, 1e-9, most), "qemu": ("aarch64-linux", both, True, True, False, 1e-9, most),
        "mapped": ("darwin64", both, True, True, False, 1e-9, most), "apple": ("aarch64-darwin", both, True, True, False, 1e-9, most),
            "wasmtime": ("wasm32-wasip2", (3,), True, True, False, 1e-9, most),
            "fmusim": ("linux64", both, True, True, True, 1e-6, most), "omsimulator": ("linux64", (2,), True, True, True, 1e-6, 0.2),
        "omc-like": ("linux64", both, True, False, True, 1e-6, most), "oms-like": ("linux64", both, True, False, True, 1e-6, most),
    }  # fmt: skip
