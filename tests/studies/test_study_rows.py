"""Rows of a study by hand: which cases travel together, how many wait for workers, what is told, what runs once more, what a file keeps."""

import math
import multiprocessing
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kinetree.models.engine.status import EvaluationError
from kinetree.scripts.studies import study_row_file as rows_file
from kinetree.scripts.studies import study_rows as rows
from kinetree.scripts.studies import worker_processes as workers
from kinetree.scripts.studies.study import Study
from kinetree.scripts.studies.study_rows import parts_of_cases, together
from kinetree.solvers.layout import Status

CASES = [{"k": float(k)} for k in range(100)]


@pytest.mark.parametrize(
    ("count", "workers", "sizes"),
    [
        (100, 2, [6] * 16 + [4]),
        (100, 1, [12] * 8 + [4]),
        (7, 1, [1] * 7),
        (128, 1, [16] * 8),
        (400, 1, [16] * 25),
        (17, 1, [2] * 8 + [1]),
        (0, 3, []),
    ],
)
def test_cases_are_divided_into_tasks_of_at_most_sixteen(
    count: int, workers: int, sizes: list[int]
):
    found = parts_of_cases(count, workers)
    assert [len(part) for part in found] == sizes and [k for part in found for k in part] == list(
        range(count)
    )
    assert [len(part) for part in parts_of_cases(1000, 1, 64)] == [64] * 15 + [40]


def test_cases_share_lanes_with_fixed_steps():
    """All of it is needed: a mechanism that differs in numbers only, measures of runs alone, fixed steps."""
    fixed, moving = {"integrator": "rk4"}, ["max(x)", "end(y)"]
    assert together(fixed, moving, 1) == 64
    for options, texts, token in (
        (fixed, moving, 0), ({"integrator": "rk45"}, moving, 1), ({}, moving, 1), (fixed, [*moving, "rest(x)"], 1), (fixed, ["growth"], 1),
    ):  # fmt: skip
        assert together(options, texts, token) == 16


@pytest.mark.parametrize(
    ("count", "change", "numbers"),
    [
        (4, {}, False),
        (5, {}, True),
        (5, {"chain": "a train"}, False),
        (5, {"parameters": {}}, False),
        (5, {"quick": False}, False),
        (1, {}, False),
    ],
)
def test_cases_reuse_compilation_for_plain_numbers(
    monkeypatch: pytest.MonkeyPatch, count: int, change: dict[str, Any], numbers: bool
):
    """From five cases a parameter on; a chain, a setting or a number that makes another system do not."""
    known = {"chain": None, "parameters": {"k": None}, "quick": True} | change
    seen: list[Any] = []
    monkeypatch.setattr(
        rows, "base_of", lambda source, token: SimpleNamespace(description=SimpleNamespace(**known))
    )
    monkeypatch.setattr(
        "kinetree.models.run.ensemble_cases.Cases",
        lambda base, given, inputs: (
            seen.append((given, inputs)) or SimpleNamespace(quick=known["quick"])
        ),
    )
    token = rows.told_by_numbers("m", CASES[:count])
    assert (token > 1) if numbers else (token == 0)
    assert (
        seen in ([], [({"k": [0.0, 1.0, 2.0, 3.0, 4.0]}, None)])
        and rows.told_by_numbers("m", []) == 0
    )


def test_rows_without_measures_are_failures():
    nan = math.nan
    assert (
        rows.failed([[1.0, nan, nan], [1.0, nan, 2.0], [nan, 3.0, nan], [2.0, nan, nan]], 1)
        == [0, 3]
        and rows.failed([[1.0], [nan]], 1) == []
    )


class Rests:
    """A system that counts its runs."""

    def __init__(self) -> None:
        self.ran: list[dict[str, Any]] = []

    def simulate(self, **options: Any) -> Any:
        choice = options.pop("choice", None)  # of code, where none was asked for
        self.ran.append(options | ({"code": "the engine"} if choice is None else {}))
        return type("Run", (dict,), {"time": np.array([0.0, 1.0])})({"x": np.array([3.0, -5.0])})


def test_case_runs_once_for_all_measures(
    monkeypatch: pytest.MonkeyPatch,
):
    rested: list[Any] = []

    def rest(system: Any, inputs: Any) -> Any:
        rested.append(inputs)
        return SimpleNamespace(
            value=lambda name: 7.0, linear=SimpleNamespace(eigenvalues=np.array([-2.0, -1.0]))
        )

    monkeypatch.setattr(rows, "AtRest", rest)
    options = {"stop_time": 1.0, "inputs": {"f": 2.0}}
    for texts, found, runs, rests in (
        (["max(x)", "end(x)"], [3.0, -5.0], 1, 0), (["rest(x)", "growth", "rest(y)"], [7.0, -1.0, 7.0], 0, 1),
        (["peak(x)", "growth"], [5.0, -1.0], 1, 1),
    ):  # fmt: skip
        system = Rests()
        rested.clear()
        assert rows.row_of(system, {"k": 4.0}, options, texts) == [4.0, *found]
        assert system.ran == [options] * runs and rested == [{"f": 2.0}] * rests


def test_study_runs_use_requested_or_chosen_code():
    """Straight-line code always, the engine always, or a choice for every run, which is the same whoever computes it."""
    fast = Rests()
    for asked, ran in ((True, (0, 1)), (False, (1, 0)), (None, (1, 0))):
        system = Rests()
        system.specialise = lambda: fast  # type: ignore[attr-defined]
        fast.ran.clear()
        options = {"stop_time": 1.0} | ({} if asked is None else {"specialised": asked})
        rows.row_of(system, {}, options, ["max(x)"])
        assert (len(system.ran), len(fast.ran)) == ran
        said = {"stop_time": 1.0} | ({} if asked is None else {"code": "the engine"})
        assert (system.ran or fast.ran) == [said]


def test_failure_reason_is_found_by_repeating_the_case(monkeypatch: pytest.MonkeyPatch):
    """Compiled for itself, whatever others share; one that runs has no error."""
    asked: list[Any] = []
    monkeypatch.setattr(
        rows,
        "system_of",
        lambda source, case, token: asked.append((source, case, token)) or Rests(),
    )
    assert rows.failure_of("m", {"k": 1.0}, {}, ["max(x)"]) is None and asked == [
        ("m", {"k": 1.0}, 0)
    ]

    def breaks(*given: Any) -> list[float]:
        raise EvaluationError("it tips over", Status.SINGULAR_BODY)

    monkeypatch.setattr(rows, "row_of", breaks)
    assert str(rows.failure_of("m", {"k": 1.0}, {}, ["max(x)"])) == "it tips over"
    found = rows.one_row("m", {"k": 1.0}, {}, ["max(x)", "end(x)"], 0)
    assert found[0] == 1.0 and len(found) == 3 and all(map(math.isnan, found[1:]))


def test_lanes_that_ended_early_run_again_alone(monkeypatch: pytest.MonkeyPatch):
    """On one thread, since workers are processes; a single case has no lanes to share, and what lanes refuse is run case by case."""
    given: list[Any] = []

    class Lanes:
        names, failures, time = ("x",), {1: "early"}, np.array([0.0, 1.0])

        def __getitem__(self, name: str) -> np.ndarray:
            return np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])

    def many(values: dict[str, list[float]], **options: Any) -> Lanes:
        given.append((values, options))
        if values["k"][0] == 9.0:
            raise ValueError("lanes do not know it")
        return Lanes()

    alone: list[float] = []
    monkeypatch.setattr(rows, "base_of", lambda source, token: SimpleNamespace(simulate_many=many))
    monkeypatch.setattr(
        rows, "one_row", lambda source, case, *more: alone.append(case["k"]) or [case["k"], -1.0]
    )
    options, texts = {"integrator": "rk4", "stop_time": 1.0}, ["end(x)"]
    assert rows.some_rows("m", CASES[:3], options, texts, 1) == [
        [0.0, 2.0],
        [1.0, -1.0],
        [2.0, 6.0],
    ] and alone == [1.0]
    assert given == [({"k": [0.0, 1.0, 2.0]}, {"outputs": ["x"], "threads": 1, **options})]
    assert rows.some_rows("m", CASES[4:5], options, texts, 1) == [[4.0, -1.0]] and len(given) == 1
    assert (
        rows.some_rows("m", CASES[5:7], options, texts, 0) == [[5.0, -1.0], [6.0, -1.0]]
        and len(given) == 1
    )
    assert (
        rows.some_rows("m", CASES[9:11], options, texts, 1) == [[9.0, -1.0], [10.0, -1.0]]
        and len(given) == 2
    )


def test_serial_study_reports_progress(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(rows, "told_by_numbers", lambda source, cases: 0)
    monkeypatch.setattr(
        rows, "some_rows", lambda source, cases, *more: [[case["k"]] for case in cases]
    )
    told: list[float] = []
    found = list(rows.rows_of("m", CASES, {}, [], 1, told.append))
    assert found == [(k, [float(k)]) for k in range(100)] and told == [
        float(first) for first in range(0, 100, 12)
    ]
    for way in ("on_workers", "on_cluster"):
        monkeypatch.setattr(rows, way, lambda *given, way=way: iter([way]))
    assert list(rows.rows_of("m", CASES, {}, [], 2, told.append)) == ["on_workers"]
    assert list(rows.rows_of("m", CASES, {}, [], 1, told.append, "tcp://far:1")) == ["on_cluster"]


def tagged(cases: Sequence[Any]) -> list[Any]:
    """Work that ends its process on some cases: every time, or the first time only."""
    for case in cases:
        if isinstance(case, Path) and not case.exists():
            case.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if case == "deadly":
            os.kill(os.getpid(), signal.SIGKILL)
        if case == "wrong":
            raise KeyError("no such column")
    return [(os.getpid(), str(case)) for case in cases]


@pytest.mark.parametrize("together", [False, True])
def test_only_the_case_crashing_workers_is_lost(tmp_path: Path, together: bool):
    """It is tried twice; one that was killed once is run again, and the others go on with as many workers as before."""
    cases: list[Any] = [str(k) for k in range(30)]
    cases[4], cases[17] = "deadly", tmp_path / "once"
    tasks = [range(first, first + 5) for first in range(0, 30, 5)]
    found = dict(workers.shared(tagged, cases, tasks, 2, together))
    assert sorted(found) == list(range(30)) and found.pop(4) is None
    assert [found[k][1] for k in sorted(found)] == [str(cases[k]) for k in range(30) if k != 4]
    here = {pid for pid, _ in found.values()}
    assert os.getpid() not in here and len(here) <= 2 + 1 + workers.DEATHS + together


def test_workers_end_after_error_or_when_consumer_stops():
    """What is no failure of a case is told; nothing runs on behind a study that was left."""
    with pytest.raises(KeyError, match="no such column"):
        list(workers.shared(tagged, ["a", "wrong", "b"], [[0], [1], [2]], 2, False))
    flow = workers.shared(tagged, list("abcdef"), [[k] for k in range(6)], 2, False)
    next(flow)
    flow.close()
    assert not multiprocessing.active_children()


def test_crash_of_separate_process_reports_signal():
    assert workers.aside(divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        workers.aside(divmod, 7, 0)
    with pytest.raises(ChildProcessError, match="SIGKILL"):
        workers.aside(tagged, ["deadly"])


def test_cluster_queues_four_tasks_per_thread(monkeypatch: pytest.MonkeyPatch):
    """Every answer is released and followed by the next task; the description travels, and a task runs once more when its worker dies."""
    log: list[Any] = []

    class Client:
        loop = None

        def __init__(self, address: str, timeout: float, set_as_default: bool):
            log.append((address, set_as_default))

        def __enter__(self) -> "Client":
            return self

        def __exit__(self, *given: Any) -> None:
            log.append("left")

        def nthreads(self) -> dict[str, int]:
            return {"one": 1, "other": 2}

        def submit(
            self,
            work: Any,
            source: str,
            cases: list[dict[str, float]],
            *more: Any,
            retries: int,
            pure: bool,
        ) -> Any:
            log.append((source, len(cases), retries, pure))
            return SimpleNamespace(
                key=cases[0]["k"],
                result=lambda: [[case["k"]] for case in cases],
                release=lambda: log.append("released"),
            )

    class Flow(list):
        def __init__(self, loop: Any):
            super().__init__()

        def add(self, future: Any) -> None:
            self.append(future)

    monkeypatch.setitem(sys.modules, "dask", SimpleNamespace())
    monkeypatch.setitem(
        sys.modules, "dask.distributed", SimpleNamespace(Client=Client, as_completed=Flow)
    )
    told: list[float] = []
    found = list(rows.on_cluster("lib:boom", CASES, {}, [], "tcp://here:1", told.append, 0))
    assert sorted(found) == [(k, [float(k)]) for k in range(100)] and told == list(range(4, 101, 4))
    sent = [k for k, each in enumerate(log) if isinstance(each, tuple) and each[0] == "lib:boom"]
    assert (
        log[0] == ("tcp://here:1", False)
        and log[-1] == "left"
        and log.count("released") == len(sent) == 25
    )
    assert log.index("released") == 1 + 4 * 3 and {log[k] for k in sent} == {
        ("lib:boom", 4, 5, False)
    }


def study(**more: Any) -> Study:
    return Study.model_validate(
        {"mechanism": "lib:boom", "rest": ["growth"], "vary": {"k": [1.0, 2.0, 3.0]}, **more}
    )


def test_incomplete_line_is_no_row(tmp_path: Path):
    """A number that was cut off is another number: only the end of its line tells that it is whole. Nothing written is nothing done."""
    path, wanted = tmp_path / "r.csv", study()
    assert rows_file.lines_of(path) == (None, []) and rows_file.kept_rows(path, wanted) == []
    path.write_text("")
    assert rows_file.lines_of(path) == (None, []) and rows_file.kept_rows(path, wanted) == []
    path.write_text("k,gro")
    assert rows_file.kept_rows(path, wanted) == []
    path.write_text("k,growth\n1.0,-0.5\nx,1.0\n2.0,-0.25\n3.0,-0.12")
    assert rows_file.lines_of(path) == (["k", "growth"], [[1.0, -0.5], [2.0, -0.25]])
    path.write_text("k,growth\n1.0,-0.5\n2.0\n9.0,1.0\n3.0,-0.125\n")
    rows_file.sign(path, wanted)
    assert rows_file.kept_rows(path, wanted) == [[1.0, -0.5], [3.0, -0.125]], (
        "a row too short and a case of another study"
    )


def test_study_rows_keep_case_order():
    wanted, found = study(), [[3.0, -0.125], [1.0, -0.5]]
    assert rows_file.remaining(wanted, found) == [{"k": 2.0}] and rows_file.remaining(
        wanted, []
    ) == [{"k": 1.0}, {"k": 2.0}, {"k": 3.0}]
    assert rows_file.in_order(wanted, found) == [[1.0, -0.5], [3.0, -0.125]]


def test_rows_are_flushed_to_the_file(tmp_path: Path):
    """What is there at the beginning and every row, before the next one runs: a machine may stop."""
    path = tmp_path / "r.csv"
    with rows_file.rows_file(path, ["k", "growth"], [[1.0, -0.5]]) as write:
        assert path.read_text().splitlines() == ["k,growth", "1.0,-0.5"]
        write([2.0, -0.25])
        assert path.read_text().splitlines()[2:] == ["2.0,-0.25"]
    rows_file.finish(path, ["k", "growth"], [[2.0, -0.25], [3.0, -0.125]])
    assert path.read_text().splitlines() == ["k,growth", "2.0,-0.25", "3.0,-0.125"]
    with rows_file.rows_file(None, ["k"], []) as write:
        write([1.0])
    rows_file.finish(None, ["k"], [])


def test_parquet_parts_have_sixty_four_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The first one as soon as it is full; the last one at the end, whatever it holds. Parts of an earlier study go."""
    path, kept, now = tmp_path / "r.parquet", list[Any](), [5.0]
    monkeypatch.setattr(rows_file.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(
        rows_file,
        "save",
        lambda file, columns, rows: (kept.append([row[0] for row in rows]), file.write_text(""))[0],
    )
    folder = rows_file.parts_of(path)
    folder.mkdir()
    (folder / "000009.parquet").write_text("old")
    with rows_file.parquet_rows(path, ["k"], []) as write:
        for k in range(64):
            assert kept == []
            write([float(k)])
        assert kept == [[float(k) for k in range(64)]]
        now[0] = math.nextafter(7.0, 0.0)
        for k in range(70):
            write([float(k)])
        assert len(kept) == 1, "it is full, but too early"
        now[0] = 7.0
        write([70.0])
        assert kept[1:] == [[float(k) for k in range(71)]]
        write([1.0])
    assert kept[2:] == [[1.0]] and sorted(each.name for each in folder.iterdir()) == [
        f"00000{k}.parquet" for k in range(3)
    ]
    with rows_file.parquet_rows(path, ["k"], [[4.0], [5.0]]):
        assert kept[3:] == [[4.0, 5.0]], "what is known already is there at once"


def test_study_file_is_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Nobody waits for another study; the lock goes with its file, while it is still held."""
    import filelock

    log: list[Any] = []

    class Lock:
        def __init__(self, file: str, thread_local: bool):
            self.file = Path(file)
            log.append((self.file.name, thread_local))

        def acquire(self, timeout: float) -> None:
            self.file.touch()
            log.append(timeout)

        def release(self) -> None:
            log.append(f"released, file {'there' if self.file.exists() else 'gone'}")

    monkeypatch.setattr(filelock, "FileLock", Lock)
    with rows_file.alone(tmp_path / "r.csv"):
        assert log == [(".r.csv.lock", False), 0]
    assert log[2:] == ["released, file gone"]
    with rows_file.alone(None):
        assert len(log) == 3
