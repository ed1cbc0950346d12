"""The registry of hosts: our C host in all four kinds of archive, what hosts say that cannot run one, tables of other programs, the table of all."""

import json
from pathlib import Path

import pytest

from kinetree.fmu.archive.build import build_fmu
from kinetree.fmu.unit import fmu_unit
from kinetree.models import load
from kinetree.scripts.bench import hosts as table
from kinetree.scripts.cli import main
from kinetree.scripts.fmi import bare_c_host, instance_handling
from kinetree.scripts.fmi.bare_c_host import HostError, why_not
from kinetree.scripts.fmi.fmpy_host import Archive, Host
from kinetree.scripts.fmi.host_programs import FOREIGN, Task, deviation, row_at, tasks
from kinetree.scripts.fmi.in_process_reference import InProcess
from kinetree.scripts.fmi.verify import Report, motion_of_model, twin_of
from kinetree.solvers.library.c_compiler import LibraryError
from kinetree.solvers.library.platforms import PLATFORMS

# falls from 1 m, keeps 0.7 of its speed, g = 9.81: the third bounce is after 1.47 s
G, E = 9.81, 0.7


def ball(t: float) -> float:
    """Height of the ball by its parabolas."""
    begin, speed = 0.0, 0.0
    while True:
        rest = (speed + (speed * speed + 2 * G * (1.0 if begin == 0.0 else 0.0)) ** 0.5) / G
        if begin + rest > t:
            s = t - begin
            return (1.0 if begin == 0.0 else 0.0) + speed * s - 0.5 * G * s * s
        speed = E * (G * rest - speed)
        begin += rest


BALL = {
    "format": "kinetree/1",
    "name": "ball",
    "gravity": [0, 0, -G],
    "bodies": {"ball": {"mass": 1.0}},
    "joints": {
        "j": {"child": "ball", "transforms": [{"shift": "z", "coordinate": "h", "start": 1.0}]}
    },
    "events": {
        "bounce": {"when": "h < 0 and der(h) < 0", "set": {"h": 0.0, "der(h)": f"-{E}*der(h)"}}
    },
    "parameters": {"scale": {"value": 1.0, "tunable": True}},
    "outputs": {"height": {"value": "scale*h"}},
    "run": {"stop_time": 1.3, "output_step": 0.01},
}


@pytest.fixture(scope="module", params=[2, 3])
def archive(request, tmp_path_factory):
    with Archive(
        build_fmu(
            load(BALL), tmp_path_factory.mktemp("ball ü %") / "ball.fmu", "native", request.param
        )
    ) as opened:
        yield opened


@pytest.mark.parametrize("exchange", [False, True])
def test_c_host_simulates_bouncing_ball(archive, exchange):
    """Against parabolas; the host that integrates itself finds the bounces by the signs of the indicators."""
    if reason := why_not(PLATFORMS["linux64"]):
        pytest.skip(reason)
    task = Task(archive, exchange, ["height"], 0.01, 130)
    (found,) = FOREIGN["bare"].run(task, PLATFORMS["linux64"])
    assert found == pytest.approx(ball(1.3), abs=1e-9)
    assert [each.kind for each in tasks(archive, 0.01, 1)] == [
        f"CS {archive.version}.0",
        f"ME {archive.version}.0",
    ]


def test_resting_bodies_cause_no_event_chatter(tmp_path):
    """Balls that touch have distances of roundings: each change of their sign was an event, in steps of 1e-13 s, and the run never ended.

    Balls that press on one another by nothing but roundings may still part and touch once, which changes nothing but the instant of the last event.
    """
    with Archive(
        build_fmu(load("lib:newtons-cradle"), tmp_path / "c.fmu", "native", platforms=["linux64"])
    ) as cradle:
        names = [
            name
            for name in cradle.names("output")
            if not name.endswith("_residual") and name != "event_time"
        ]
        runs = [Task(cradle, exchange, names, 0.005, 100) for exchange in (False, True)]
        stepped, integrated = (FOREIGN["bare"].run(task, PLATFORMS["linux64"]) for task in runs)
    assert deviation(integrated, stepped) < 1e-6


def test_incapable_host_gives_reason(archive):
    task = tasks(archive, 0.01, 1)[1]
    assert FOREIGN["libcosim"].cannot(task) in (
        "libcosim has no FMI 3.0",
        "libcosim has no model exchange",
        "libcosimpy is missing: pip install libcosimpy",
    )
    only_here = not (Path(archive.folder) / "binaries" / "win64").exists() and not why_not(
        PLATFORMS["win64"]
    )
    if only_here and archive.version == 2:
        assert "no binary for win64" in FOREIGN["wine"].cannot(task)


def test_c_host_is_skipped_without_compiler(archive, monkeypatch):
    """Somebody who installed the wheel has none: verify passes and says so."""

    def none() -> list[str]:
        raise LibraryError("no C compiler found")

    monkeypatch.setattr(bare_c_host, "compiler", none)
    assert FOREIGN["bare"].cannot(tasks(archive, 0.01, 1)[0]) == "no C compiler found"


def test_verify_tests_foreign_fmu_and_folder_names(archive):
    """Both checks run for every kind of archive; a motion that differs is told."""
    report, names, grid = Report(archive.path), ["height"], [0.01 * k for k in range(21)]
    first = instance_handling.rows(Host(archive).start(), grid, names)
    instance_handling.beside_another(report, archive, grid, names, first)
    instance_handling.bare_process(report, archive, grid, names, first[-1])
    assert [check.what for check in report.checks] == [
        "beside another FMU",
        "the other FMU",
        "empty environment, awkward folder",
    ]
    assert report.good and not any("not run" in check.result for check in report.checks)
    instance_handling.beside_another(report, archive, grid, names, first + 1e-9)
    instance_handling.bare_process(report, archive, grid, names, first[-1] + 1e-9)
    assert [check.good for check in report.checks[3:]] == [False, True, False]


def test_verify_changes_a_parameter_during_the_run(archive):
    """FMI 3.0 only allows it in event mode."""
    report, grid = Report(archive.path), [0.01 * k for k in range(21)]
    instance_handling.parameters(
        report, archive, twin_of(archive), grid, ["height"], straight=False
    )
    assert [(check.what, check.good) for check in report.checks] == [
        ("scale changed at run time", True)
    ]


def test_failed_host_run_includes_its_output(archive):
    with pytest.raises(HostError, match="ended with 1: failed reading"):
        FOREIGN["bare"].run(Task(Wrong(archive), False, ["height"], 0.01, 1), PLATFORMS["linux64"])


class Wrong:
    """An archive whose description names a variable that the binary does not have."""

    def __init__(self, archive: Archive):
        self.references, self.archive = {"height": 4_000_000}, archive

    def __getattr__(self, name: str):
        return getattr(self.archive, name)


def test_split_table_headings_are_joined(tmp_path):
    """OMSimulator writes names with commas without quotes."""
    path = tmp_path / "t.csv"
    path.write_text("time, model.root.der(x,2), a[1,2], b\n0,1,2,3\n1,4,5,6\n")
    assert row_at(path, ["b", "der(x,2)", "a[1,2]"], 1.0) == [6.0, 4.0, 5.0]
    with pytest.raises(HostError, match="no column 'c'"):
        row_at(path, ["c"], 1.0)
    with pytest.raises(HostError, match="no row at t = 2"):
        row_at(path, ["b"], 2.0)


def test_non_finite_value_is_a_deviation():
    assert deviation([1.0, float("nan")], [1.0, 1.0]) == float("inf")
    assert deviation([11.0], [10.0]) == pytest.approx(0.1)


def test_host_table_is_complete(monkeypatch, capsys):
    """Reasons get letters, failures end the command."""
    monkeypatch.setattr(table, "QUICK", ("pendulum",))
    monkeypatch.setattr(
        table, "has_zig", lambda: False
    )  # building for other platforms takes minutes
    monkeypatch.setattr(table.Expected, "of", lambda self, task, integrator: [])
    monkeypatch.setattr(Archive, "_compile", lambda self: True)  # a compiler takes 20 s for it
    monkeypatch.setattr(
        table, "cell", lambda host, task, expected: "no time" if task.exchange else 1e-9
    )
    assert main(["bench", "hosts", "--quick"]) == 0
    said = capsys.readouterr().out
    cells = next(row for row in said.splitlines() if row.startswith("| pendulum |"))
    native, python, source = "-9 a -9 a", "-9 -9 a", "-9 a"
    everywhere = [f"{native} / {python} / {source}", "-9 / -9", "-9 / -9"]
    everywhere += [f"{native} / {python} / {source}", "a", "a"]
    assert cells.split(" | ")[1:7] == everywhere and "a: no time" in said
    monkeypatch.setattr(table, "ARCHIVES", (("native", 2),))
    monkeypatch.setattr(table, "cell", lambda *arguments: "FAILED: ended with 139")
    assert main(["bench", "hosts", "--quick"]) == 1
    assert "pendulum in fmpy native CS 2.0: FAILED: ended with 139" in capsys.readouterr().out


def test_deviations_above_common_bound_are_marked():
    """What was seen of one host is shown, never taken for good; the same of another host ends the command."""
    found = {
        f"{host.name} {backend} {kind}": 0.13
        if host.name == "omsimulator" and "ME" in kind
        else 1e-9
        for host in FOREIGN.values()
        for backend, kinds in table.KINDS.items()
        for kind in kinds
    }
    said = table.markdown({"pendulum": {"day": "2020-01-01", "cells": found}})
    assert (
        "| -9 0.13 off / -9 |" in said
        and "off: the deviation itself, above 0.002 in model exchange" in said
    )
    assert (
        not table.good("omsimulator native ME 2.0", 0.3)
        and not table.good("fmusim native ME 2.0", 0.13)
        and not table.good("omsimulator native CS 2.0", 1e-4)
    )


def test_single_row_of_host_table_is_updated(monkeypatch, tmp_path, capsys):
    """The others keep their cells and days, the page has the whole table, each empty cell a reason."""
    file = tmp_path / "hosts.json"
    kept = {"day": "2020-01-01", "cells": {"fmpy native CS 2.0": 0.0}}
    file.write_text(json.dumps({"boom": kept}))
    monkeypatch.setattr(table, "row", lambda name, folder: {"fmpy native CS 2.0": 1e-3})
    assert main(["bench", "hosts", "pendulum", "--json", str(file)]) == 1
    assert "pendulum in fmpy native CS 2.0: 0.001" in capsys.readouterr().out
    found = table.read_table(file)
    assert list(found) == ["boom", "pendulum"] and found["boom"] == kept
    page = table.with_part(f"a {table.BEGIN} old {table.END} z", table.page_part(found))
    assert page.startswith("a ") and page.endswith(" z") and " old " not in page
    assert "2 cells of 2 mechanisms" in page and "not run yet" in page and "0.001 off" in page
    assert main(["bench", "hosts", "nothing", "--json", str(file)]) == 2


def test_page_shows_stored_host_table():
    page = table.PAGE.read_text(encoding="utf-8")
    assert table.page_part(table.read_table(table.DATA)) in page


def test_verify_compares_until_early_end(tmp_path):
    """Bounces that follow one another ever faster end the motion: geometric series of times, 0.45 s (1 + 2 0.8 + 2 0.8² + …) = 4.05 s."""
    ball = {
        "format": "kinetree/1",
        "name": "ball",
        "gravity": [0, 0, -9.81],
        "bodies": {"ball": {"mass": 1.0}},
        "joints": {
            "J": {
                "parent": "ground",
                "child": "ball",
                "transforms": [{"shift": "z", "coordinate": "z", "start": 0.5 * 9.81 * 0.45**2}],
            }
        },
        "events": {"bounce": {"when": "z < 0", "set": {"der(z)": "-0.8*der(z)"}}},
    }
    report, grid = Report(tmp_path), [0.1 * k for k in range(51)]
    reached, rows = motion_of_model(report, InProcess(fmu_unit(load(ball))), grid, ["z"])
    assert 3.2 < reached[-1] < 4.05 and len(rows) == len(reached)
    (line,) = report.checks
    assert (
        "events accumulate (chattering): event 'bounce'" in line.result and "t = 4.0" in line.result
    )
