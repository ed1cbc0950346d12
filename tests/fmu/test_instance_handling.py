"""What `kinetree verify` does to instances besides stepping them, call by call; every promise that one does not keep is told in its row."""

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from host_stand_in import NAMES, Unit, archive_of, variable

from kinetree.fmu.variables import Access
from kinetree.scripts.fmi import external_host_checks, instance_handling
from kinetree.scripts.fmi.bare_c_host import HostError
from kinetree.scripts.fmi.verify import Report

GRID = [0.25 * k for k in range(5)]
TABLE = np.array([[2.0**-t, 1.0] for t in GRID])


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is done to instances, which come one after another; `broken` ones by the archive's word."""
    done: list[Any] = []

    class Instance(Unit):
        def __init__(self, archive: Any, **options: Any):
            super().__init__(
                archive,
                broken=getattr(archive, "broken", ()),
                log=done,
                name=f"{len({each[0] for each in done})}",
                **options,
            )
            self.note("made", *options)

    monkeypatch.setattr(instance_handling, "Host", Instance)
    monkeypatch.setattr(Unit, "steps", [0])
    return done


def told(report: Report) -> list[tuple[str, str, bool]]:
    return [(check.what, check.result, check.good) for check in report.checks]


def calls(log: list[Any]) -> list[Any]:
    """Of one instance after another, but that they are made."""
    return [each[1] if len(each) == 2 else each[1:] for each in log if each[1] != "made"]


def test_reset_repeats_whole_run(log: list[Any]):
    report = Report(Path())
    instance_handling.reset(report, archive_of(), GRID, list(NAMES), TABLE)
    assert calls(log) == ["start", *GRID[1:], "reset", "start", *GRID[1:], "close"]
    instance_handling.reset(report, archive_of(broken=["reset"]), GRID, list(NAMES), TABLE)
    none = "largest deviation 0.00e+00 (allowed 0e+00)"
    assert told(report) == [
        ("after a reset", none, True),
        ("after a reset", "largest deviation 5.00e-01 (allowed 0e+00)", False),
    ]


def test_interleaved_instances_run_half_a_grid_apart(log: list[Any]):
    report = Report(Path())
    instance_handling.interleaved(report, archive_of(), GRID, list(NAMES), TABLE)
    a, b = "0", "1"
    assert [(each[0], each[1]) for each in log if each[1] != "made"] == [
        (a, "start"), (b, "start"), (a, 0.25), (a, 0.5), (a, 0.75), (b, 0.25), (a, 1.0), (b, 0.5), (b, 0.75), (b, 1.0), (a, "close"), (b, "close"),
    ]  # fmt: skip
    instance_handling.interleaved(report, archive_of(broken=["alone"]), GRID, list(NAMES), TABLE)
    assert [(what, good) for what, _, good in told(report)] == [
        ("two instances, step by step", True),
        ("two instances, step by step", False),
    ]


def test_rollback_repeats_every_quarter(log: list[Any]):
    """From what was saved at its beginning, both times; quarters of 10 steps end at steps 2, 5, 8 and 10, halves going to the even one."""
    report, grid = Report(Path()), [0.25 * k for k in range(11)]
    instance_handling.rewinds(report, archive_of(), grid, list(NAMES))
    quarters = [(0, 2), (2, 5), (5, 8), (8, 10)]
    expected = [
        each
        for a, b in quarters
        for each in ("save", *[("restore", grid[a]), *grid[a + 1 : b + 1]] * 2, "forget")
    ]
    assert calls(log) == ["start", *expected, "close"]
    instance_handling.rewinds(report, archive_of(broken=["restore"]), grid, list(NAMES))
    first, second = told(report)
    assert first == (
        "4 rewinds over all stages",
        "largest deviation 0.00e+00 (allowed 0e+00)",
        True,
    )
    assert second[1:] == ("largest deviation 2.07e-01 (allowed 0e+00)", False), (
        "the first quarter, twice: 2^-0.5 - 2^-1"
    )


def test_growing_steps_reach_the_end(log: list[Any]):
    report = Report(Path())
    instance_handling.growing(
        report,
        archive_of(),
        [0.25, 0.75, 1.0, 4.0],
        list(NAMES),
        np.array([[1.0, 1.0], [2.0**-4, 1.0]]),
    )
    times = [0.0, *calls(log)[1:-1]]
    steps = np.diff(times)
    assert (
        steps[0] == pytest.approx(0.05)
        and steps[1:-1] / steps[:-2] == pytest.approx(np.full(len(steps) - 2, 1.3))
        and times[-1] == 4.0
    )
    assert 0.0 < steps[-1] <= 1.3 * steps[-2]
    instance_handling.growing(report, archive_of(broken=["steps"]), GRID, list(NAMES), TABLE)
    assert [(what, good) for what, _, good in told(report)] == [
        ("growing steps", True),
        ("growing steps", False),
    ] and "1e-04" in told(report)[0][1]


def twin_of(*variables: Any, **more: Any) -> Any:
    twin: Any = Unit(**more)
    twin.table = SimpleNamespace(variables=list(variables))
    return twin


@pytest.mark.parametrize("version", [2, 3])
def test_parameter_change_in_the_middle_is_checked(log: list[Any], version: int):
    """The first that may be 2 % larger; in FMI 3.0 in event mode, which ends when nothing changes any more."""
    report, done = Report(Path()), []
    others = [
        variable("u", Access.INPUT, 1.0),
        variable("a", Access.TUNABLE, None),
        variable("b", Access.TUNABLE, 0.0),
    ]
    edges = [
        variable("c", Access.TUNABLE, 1.0, -1.0, 1.01),
        variable("d", Access.TUNABLE, 2.0, 2.05, 9.0),
    ]
    twin = twin_of(
        *others,
        *edges,
        variable("k", Access.TUNABLE, 1.0, 1.02, 1.02),
        variable("x", Access.TUNABLE, 1.0),
        log=done,
    )
    instance_handling.parameters(
        report, archive_of(version), twin, GRID, list(NAMES), straight=False
    )
    change = ("set", {"k": 1.02})
    modes = ["update", "update", "step mode"]
    wanted = ["start", 0.25, change, 0.5, 0.75, 1.0]
    in_fmu = (
        wanted
        if version == 2
        else ["start", *modes, 0.25, "event mode", change, *modes, 0.5, 0.75, 1.0]
    )
    assert ("0", "made", *["event_mode_used"] * (version == 3)) == log[0]
    assert done == ["reset", *wanted] and calls(log) == [*in_fmu, "close"]
    assert told(report) == [
        ("k changed at run time", "largest deviation 0.00e+00 (allowed 1e-12)", True)
    ]
    instance_handling.parameters(
        report, archive_of(version, broken=["set"]), twin, GRID, list(NAMES), straight=False
    )
    assert not report.checks[1].good
    instance_handling.parameters(
        report, archive_of(version), twin_of(*others, *edges), GRID, list(NAMES), straight=False
    )
    assert told(report)[2] == ("parameter changed at run time", "no tunable parameter", True)


def test_specialised_code_may_differ_by_rounding(log: list[Any], monkeypatch: pytest.MonkeyPatch):
    """Eight times what those drawn make of it; of the engine itself nothing but the compiler's."""
    monkeypatch.setattr(instance_handling, "rounded", lambda twin, motion: 1e-3)
    for straight, allowed in ((True, "8e-03"), (False, "1e-12")):
        report = Report(Path())
        instance_handling.parameters(
            report,
            archive_of(),
            twin_of(variable("k", Access.TUNABLE, 1.0)),
            GRID,
            list(NAMES),
            straight=straight,
        )
        assert f"(allowed {allowed})" in report.checks[0].result


def test_instance_checks_start_with_twenty_steps(monkeypatch: pytest.MonkeyPatch):
    """But for rewinds and growing steps, which take the whole motion; rewinds need states that are offered, by either name."""
    asked: list[tuple[Any, ...]] = []
    for name in (
        "reset",
        "interleaved",
        "rewinds",
        "growing",
        "parameters",
        "beside_another",
        "bare_process",
    ):
        monkeypatch.setattr(
            instance_handling, name, lambda *given, name=name: asked.append((name, *given))
        )
    monkeypatch.setattr(instance_handling, "Host", Unit)
    grid, names = [0.25 * k for k in range(40)], ["x"]
    few, first = grid[:21], np.array([[2.0**-t] for t in grid[:21]])
    for part, offered in (
        ("canGetAndSetFMUstate", True),
        ("canGetAndSetFMUState", True),
        ("canBeInstantiatedOnlyOncePerProcess", False),
    ):
        asked.clear()
        archive = archive_of()
        archive.description.coSimulation = SimpleNamespace(**{part: True})
        instance_handling.conditions("report", archive, "twin", grid, names, "expected", True)  # type: ignore[arg-type]
        assert [each[0] for each in asked if each[0] != "rewinds" or offered] == [
            each[0] for each in asked
        ]
        given = {
            name: more
            for name, report, told, *more in asked
            if (report, told) == ("report", archive)
        }
        assert ("rewinds" in given) == offered and given.get("rewinds", [grid, names]) == [
            grid,
            names,
        ]
        for name in ("reset", "interleaved", "beside_another"):
            assert given[name][:2] == [few, names] and np.array_equal(given[name][2], first)
        assert given["growing"] == [grid, names, "expected", 1e-4] and given["parameters"] == [
            "twin",
            few,
            names,
            True,
        ]
        assert given["bare_process"][:2] == [few, names] and given["bare_process"][2].tolist() == [
            2.0**-5.0
        ]


def test_foreign_fmu_beside_runs_correctly(log: list[Any], monkeypatch: pytest.MonkeyPatch):
    """Its own decay, e^-t, within 1e-5; steps of both take turns."""
    from kinetree.fmu.archive import build

    class Guest(Unit):
        error = 0.0

        def get(self, names: Any) -> list[float]:
            return [np.exp(-self.time) - self.error * (self.time > 0.5)]

    packed: list[Any] = []
    monkeypatch.setattr(
        build,
        "build_fmu",
        lambda mechanism, path, backend, version: packed.append(
            (mechanism.description.name, backend, version)
        ),
    )
    monkeypatch.setattr(instance_handling, "Archive", lambda path: nullcontext("other"))
    hosts = instance_handling.Host
    monkeypatch.setattr(
        instance_handling,
        "Host",
        lambda archive: Guest(log=log, name="guest") if archive == "other" else hosts(archive),
    )
    for error, good in ((0.0, True), (0.9e-5, True), (1.2e-5, False)):
        log.clear()
        Guest.error, report = error, Report(Path())
        instance_handling.beside_another(report, archive_of(3), GRID, list(NAMES), TABLE)
        assert [(what, ok) for what, _, ok in told(report)] == [
            ("beside another FMU", True),
            ("the other FMU", good),
        ]
        assert [each[0] for each in log if each[1] == "close"] == ["0", "guest"]
    assert packed == [("decay", "native", 3)] * 3
    steps = [(each[0] == "guest", each[1]) for each in log if isinstance(each[1], float)]
    assert steps == [(guest, t) for t in GRID[1:] for guest in (False, True)]

    def cannot(*given: Any) -> None:
        raise build.FmuError("no compiler")

    monkeypatch.setattr(build, "build_fmu", cannot)
    report = Report(Path())
    instance_handling.beside_another(report, archive_of(), GRID, list(NAMES), TABLE)
    assert told(report) == [("beside another FMU", "not run: no compiler", True)]


def test_bare_process_runs_in_folder_with_special_characters(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    """All steps of the grid by co-simulation, out of a copy; what it cannot do is told, what goes wrong is bad."""
    (tmp_path / "resources").mkdir()
    asked: list[Any] = []
    why = [""]

    def run(task: Any, platform: str) -> list[float]:
        asked.append(
            (
                task.exchange,
                task.names,
                task.step,
                task.count,
                Path(task.archive.folder),
                (Path(task.archive.folder) / "resources").is_dir(),
            )
        )
        if why[0]:
            raise HostError(why[0])
        return [0.5, 1.0 + 3e-12]

    bare = SimpleNamespace(cannot=lambda task: "", run=run, platform="here")
    monkeypatch.setitem(instance_handling.FOREIGN, "bare", bare)
    archive, title, report = (
        archive_of(folder=str(tmp_path)),
        "empty environment, awkward folder",
        Report(Path()),
    )
    instance_handling.bare_process(
        report, archive, [0.125, 0.375, *GRID[2:]], list(NAMES), np.array([0.5, 1.0])
    )
    ((exchange, names, step, count, folder, copied),) = asked
    assert (exchange, names, step, count, copied) == (
        False,
        list(NAMES),
        0.25,
        4,
        True,
    ) and archive.folder == str(tmp_path)
    assert folder.name == "Ünterlagen %23 + #1" and not folder.exists()
    instance_handling.bare_process(report, archive, GRID, list(NAMES), np.array([0.5, 1.0 + 3e-12]))
    why[0] = "ended with 3"
    instance_handling.bare_process(report, archive, GRID, list(NAMES), TABLE[-1])
    bare.cannot = lambda task: "no compiler"
    instance_handling.bare_process(report, archive, GRID, list(NAMES), TABLE[-1])
    assert told(report) == [
        (title, "largest deviation 3.00e-12 (allowed 1e-12)", False), (title, "largest deviation 0.00e+00 (allowed 1e-12)", True),
        (title, "ended with 3", False), (title, "not run: no compiler", True),
    ]  # fmt: skip


def test_host_rows_are_read_at_grid_times(monkeypatch: pytest.MonkeyPatch):
    """A run of 100 steps each, of our own C host by co-simulation in FMI 2.0 one that is resumed, too; bounds by kind; what fails is bad."""
    saved: list[Any] = []

    class Bare:
        def __init__(self, archive: Any, platform: Any, names: list[str]):
            saved.append((platform.name, names))

        def values(self, what: str, step: float, count: int, state: Path) -> list[float]:
            saved.append((what, step, count, state.name))
            return [1.0 + (2e-9 if what == "load" else 1e-9)]

    def cannot_run(task: Any, platform: Any) -> list[float]:
        raise HostError("ended with 9")

    monkeypatch.setattr(external_host_checks, "BareHost", Bare)
    monkeypatch.setattr(external_host_checks, "by_c_program", lambda task, platform: [1.0])
    here = SimpleNamespace(name="linux64")
    host: Any = SimpleNamespace(
        name="bare",
        platform=here,
        cannot=lambda task: "",
        run=external_host_checks.by_c_program,
        stepped=1e-7,
    )
    report = Report(Path())
    for exchange, version in ((False, 2), (True, 2), (False, 3)):
        task: Any = SimpleNamespace(
            kind=f"{'ME' if exchange else 'CS'} {version}.0",
            exchange=exchange,
            archive=archive_of(version),
            names=["x"],
            step=0.5,
            count=9,
        )
        external_host_checks.report_host(report, host, task, [1.0])
    host.run = cannot_run
    external_host_checks.report_host(report, host, task, [1.0])
    host.cannot = lambda task: "not installed"
    external_host_checks.report_host(report, host, task, [1.0])
    assert told(report) == [
        ("host bare (linux64), CS 2.0, 100 steps", "largest deviation 0.00e+00 (allowed 1e-07)", True),
        ("host bare (linux64), CS 2.0, a state resumed", "largest deviation 2.00e-09 (allowed 1e-09)", False),
        ("host bare (linux64), ME 2.0, 100 steps", "largest deviation 0.00e+00 (allowed 2e-03)", True),
        ("host bare (linux64), CS 3.0, 100 steps", "largest deviation 0.00e+00 (allowed 1e-07)", True),
        ("host bare (linux64), CS 3.0", "ended with 9", False), ("host bare (linux64), CS 3.0", "not run: not installed", True),
    ]  # fmt: skip
    assert saved == [("linux64", ["x"]), ("save", 0.5, 4, "state"), ("load", 0.5, 4, "state")]
