"""How foreign hosts are asked, without any of them: their lines, why one does not run an archive, what is said when one fails."""

import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from kinetree.scripts.fmi import host_programs
from kinetree.scripts.fmi.bare_c_host import HostError, told
from kinetree.solvers.library.platforms import PLATFORMS

LINUX = PLATFORMS["linux64"]


def task(exchange: bool = False, **archive: object) -> host_programs.Task:
    part = SimpleNamespace(modelIdentifier="m")
    told = {
        "version": 2, "needs_python": False, "compiled": False, "folder": "nowhere", "references": {"a": 7, "b": 9},
        "description": SimpleNamespace(modelExchange=part, coSimulation=part),
    }  # fmt: skip
    return host_programs.Task(SimpleNamespace(**told | archive), exchange, ["a", "b"], 0.01, 100)  # type: ignore[arg-type]


def test_host_command_lines_are_complete(tmp_path: Path):
    table = tmp_path / "t.csv"
    line = " ".join(host_programs.fmusim(task(True), table))
    assert (
        "--interface-type me " in line
        and "--stop-time 1.0 " in line
        and line.endswith("--output-variable a --output-variable b")
    )
    line = " ".join(host_programs.omsimulator(task(), table))
    assert "--mode=cs" in line and "--stopTime=2.0" in line and "--intervals=200" in line, (
        "it takes a stop time of 1 s for none at all"
    )
    assert "--stopTime=0.5" in " ".join(host_programs.omsimulator(replace(task(), count=50), table))


def test_reason_for_skipping_a_host_is_given():
    host = host_programs.ForeignHost(
        "h",
        LINUX,
        lambda task, platform: [],
        lambda: "",
        versions=(2,),
        exchange=False,
        python=False,
    )
    assert (
        host.cannot(task(version=3)) == "h has no FMI 3.0"
        and host.cannot(task(True)) == "h has no model exchange"
    )
    assert host.cannot(task(needs_python=True)) == "no Python for linux64 is here"
    assert (
        host.cannot(task())
        == "the archive has no binary for linux64 (kinetree fmu --platforms linux64)"
    )
    assert (
        host.cannot(task(compiled=True)) == ""
        and replace(host, missing=lambda: "not installed").cannot(task()) == "not installed"
    )


def test_host_output_is_kept_on_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def ran(code: str) -> list[float]:
        return host_programs.finished(
            [sys.executable, "-c", code], tmp_path, {}, lambda said: [float(said)]
        )

    assert ran("print(2.5)") == [2.5]
    with pytest.raises(HostError, match="ended with 3: last words"):
        ran("print('last words'); raise SystemExit(3)")
    with pytest.raises(HostError, match="could not convert string to float.*: none"):
        ran("print('none')")

    def late(*given: object, **options: object) -> None:
        raise subprocess.TimeoutExpired("h", 1.0)

    monkeypatch.setattr(host_programs.subprocess, "run", late)
    with pytest.raises(HostError, match="not done after"):
        ran("")


def test_non_finite_deviation_is_infinite():
    assert (
        host_programs.deviation([1.0, math.nan], [1.0, 2.0]) == math.inf
        and host_programs.deviation([1.0], [1.0]) == 0.0
    )
    with pytest.raises(HostError, match="1 values, expected 2"):
        host_programs.deviation([1.0], [1.0, 2.0])


def test_silent_wine_failure_is_repeated(tmp_path: Path):
    """It is counted how often each ran: one that ends without a word twice, one that says why once, where it may be asked twice."""
    for ends, times in (
        ("sys.exit(1)", 2),
        ("sys.exit('no library')", 1),
        ("sys.exit(3)", 1),
        ("print(7)", 1),
    ):
        log = tmp_path / f"{times}{len(ends)}"
        program = [sys.executable, "-c", f"import sys; open({str(log)!r}, 'a').write('x'); {ends}"]
        assert (
            told(program, {}, 2).returncode == (3 if "3" in ends else 0 if "print" in ends else 1)
            and log.read_text() == "x" * times
        )
