"""The loop against the wall clock, compiled and in Python: every run is that of the rules, whatever the machine did to its times."""

import ctypes
import json
import math
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from loop_text import SCENARIO
from test_hil import MASS, compiled, scenario

from kinetree.scripts import cli
from kinetree.scripts.hil import realtime_loop as clock
from kinetree.scripts.hil.compiled_loop import CompiledLoop, library
from kinetree.scripts.hil.controller import Controller
from kinetree.scripts.hil.loop_run import Injected, Record
from kinetree.scripts.hil.packet import Frame, unpacked
from kinetree.scripts.hil.plant import Plant
from kinetree.scripts.hil.report import sentences
from kinetree.scripts.hil.scenario import read_scenario


@pytest.fixture(autouse=True)
def as_prompt_as_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is looked at here does not depend on times: no memory of the tests' own process is collected and locked for it, which takes seconds."""
    monkeypatch.setattr(clock, "realtime_priority", lambda priority, notes: nullcontext())


def text(head: str = "", late: str = "", stop: float = 0.4) -> str:
    """The scenario of a sliding mass with steps of 5 ms, and more keys before its tables."""
    return head + SCENARIO.replace("step = 0.01\n", f"step = 0.005\n{late}\n").replace(
        "stop_time = 3.0", f"stop_time = {stop}"
    )


def replayed(record: Record) -> None:
    """The motion under the commands that the ages name, by the exact recursion of the mass; the controller answers what was not lost."""
    s = record.scenario
    injected, controller = Injected(s.channel), Controller(s.measures, s.loops)
    ways = [(injected.way(), injected.way()) for _ in range(s.steps + 1)]
    h, m, d = s.step, MASS["bodies"]["m"]["mass"], 1.0
    fade, x, v, f = math.exp(-d * h / m), 0.0, 0.0, 0.0
    answers, newest, received, stale = {}, -1, 0, 0
    for k, age in enumerate(record.ages):
        if None not in ways[k]:
            answers[k] = controller.answer(k * h, (x,))[0]
        if k - age > newest and (
            k - age > 0 or (k < len(record.rows) and record.rows[k][1] != 0.0)
        ):  # ages begin at 0, whatever has come
            newest, received = k - age, received + 1
            # nothing comes before its injected delay, but to a step that began late
            assert age * h + record.lateness[k] + 1e-3 * h > sum(ways[newest])
            f = answers[newest]
        elif k > 0:
            stale += 1
            f = 0.0 if s.late == "zero" and newest >= 0 else f
        if k == len(record.rows):
            break  # the rule has stopped it before this step
        x, v = x + f / d * h + (v - f / d) * m / d * (1 - fade), f / d + (v - f / d) * fade
        assert record.rows[k] == pytest.approx((x, f), abs=1e-6 * max(1.0, abs(f))), k
    assert (record.stale, record.received) == (stale, received)
    assert record.lost == sum(None in way for way in ways[: record.sent])


@compiled
@pytest.mark.parametrize(
    ("how", "head", "late"),
    [
        ("C", "", ""),
        ("C", 'partner = "shared"\n', 'late = "zero"'),
        ("Python", "", ""),
        ("Python", "", 'late = "zero"'),
    ],
)
def test_compiled_run_reproduces_ages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str, head: str, late: str
):
    """Losses of a tenth each way, 4 to 9 ms late: commands of the step that the record names, held or zeroed where none had come, counted."""
    if how == "Python":
        monkeypatch.setattr(clock, "library", lambda: "not wanted here")
    elif isinstance(found := library(), str):
        pytest.skip(found)
    record = clock.run(
        read_scenario(
            scenario(
                tmp_path, "delay = 0.002\njitter = 0.0025\nloss = 0.1\nseed = 3", text(head, late)
            )
        )
    )
    replayed(record)
    assert (
        len(record.rows)
        == len(record.computing)
        == len(record.lateness)
        == len(record.gaps)
        == 80
        == record.sent - 1
    )
    assert (
        record.received > 20
        and record.lost > 5
        and len(record.trips) >= record.received
        and len(record.bare) == 80
    )
    assert min(record.computing) > 0.0 and min(record.trips) > 0.0 and min(record.lateness) >= 0.0
    assert record.misses == sum(
        late + took > 0.005 for late, took in zip(record.lateness, record.computing, strict=True)
    )
    assert any("runs in Python" in note for note in record.notes) == (how == "Python")


@pytest.mark.parametrize("how", ["C", "Python"])
def test_waiting_loop_measures_lateness(monkeypatch: pytest.MonkeyPatch, how: str):
    """By a clock of its own, whose waits end 2^-k s late: deadlines stay a step apart whatever came late before them."""
    asked: list[float] = []
    late = [2.0**-k for k in range(4, 9)]

    def wait(deadline: float) -> float:
        asked.append(deadline)
        return deadline + late[len(asked) - 1]

    if how == "Python":
        monkeypatch.setattr(clock, "time", SimpleNamespace(perf_counter=lambda: 8.0))
        monkeypatch.setattr(clock, "wait_until", lambda deadline: (wait(deadline), 0.0))
        assert clock.bare_loop(0.25, 5) == late
    else:
        loop = SimpleNamespace(run=SimpleNamespace(step=0.25, spin=0.0), loaded=SimpleNamespace())
        loop.loaded.realtime_wait = lambda deadline, spin, gap: wait(deadline) if deadline else 8.0
        assert CompiledLoop.bare(loop, 5) == late  # type: ignore[arg-type]
    assert asked == [8.25 + 0.25 * k for k in range(5)]


@compiled
@pytest.mark.parametrize("how", ["C", "Python"])
def test_run_stops_by_rule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str):
    if how == "Python":
        monkeypatch.setattr(clock, "library", lambda: "not wanted here")
    record = clock.run(
        read_scenario(scenario(tmp_path, "loss = 0.2\nseed = 1", text(late='late = "stop"')))
    )
    replayed(record)
    steps = len(record.rows)
    assert (
        0 < steps < 80
        and len(record.ages) == len(record.lateness) == steps + 1
        and record.stale >= 1
    )
    assert f"stopped at step {steps}: its command had not come" in record.notes


@contextmanager
def partner(answer: Callable[[Frame], list[bytes]]) -> Iterator[int]:
    """A thread that answers frames at the port it gives."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as door:
        door.bind(("127.0.0.1", 0))
        door.settimeout(20.0)

        def serve() -> None:
            while True:
                data, sender = door.recvfrom(2048)
                frame = unpacked(data)
                assert frame is not None
                if frame.last:
                    return
                for reply in answer(frame):
                    door.sendto(reply, sender)

        thread = threading.Thread(target=serve)
        thread.start()
        yield door.getsockname()[1]
        thread.join(20.0)
        assert not thread.is_alive()


OUTSIDE = 'partner = "127.0.0.1:{port}"\nmeasures = ["place"]\ncommands = ["f"]\n'


@compiled
@pytest.mark.parametrize("how", ["C", "Python"])
def test_invalid_answers_are_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str):
    """Noise, frames of other lengths, of steps to come, and answers given twice: the command stays what it was."""
    if how == "Python":
        monkeypatch.setattr(clock, "library", lambda: "not wanted here")

    def answer(frame: Frame) -> list[bytes]:
        good = frame._replace(values=(3.0,))
        wrong = [
            b"",
            b"noise",
            good.packed()[:-1],
            good.packed() + b"x",
            good._replace(values=(9.0, 9.0)).packed(),
            good._replace(values=(9.0,), token=frame.token + 1).packed(),
            good._replace(values=(math.nan,)).packed(),
        ]
        far = good._replace(sequence=frame.sequence + 1000, values=(9.0,))
        wrong += [far.packed(), b"X" + good.packed()[1:]]
        return [*wrong, good.packed(), good._replace(values=(9.0,)).packed()]

    with partner(answer) as port:
        record = clock.run(
            read_scenario(
                scenario(
                    tmp_path, "", OUTSIDE.format(port=port) + text(stop=0.2).split("[[loops]]")[0]
                )
            )
        )
    assert {row[1] for row in record.rows} <= {0.0, 3.0} and record.rows[-1][1] == 3.0
    assert len(record.trips) <= record.sent


@compiled
@pytest.mark.parametrize("how", ["C", "Python"])
@pytest.mark.parametrize("late", ["hold", "zero", "stop"])
def test_non_finite_command_is_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str, late: str
):
    """The rule for late commands says what follows; the report counts such answers."""
    if how == "Python":
        monkeypatch.setattr(clock, "library", lambda: "not wanted here")

    def answer(frame: Frame) -> list[bytes]:
        return [frame._replace(values=(math.inf if frame.sequence > 5 else 1.0,)).packed()]

    with partner(answer) as port:
        head = OUTSIDE.format(port=port) + text(late=f'late = "{late}"', stop=0.2)
        record = clock.run(read_scenario(scenario(tmp_path, "", head.split("[[loops]]")[0])))
    assert record.refused > 0 and any("not finite" in line for line in sentences(record))
    if late == "stop":
        assert len(record.rows) < 40
    else:
        assert record.rows[-1][1] == {"hold": 1.0, "zero": 0.0}[late]


@compiled
@pytest.mark.parametrize("how", ["C", "Python", "simulated"])
def test_failed_real_time_run_keeps_rows_and_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture, how: str
):
    """A plant whose step fails ends with the code of a failure; what was recorded until then is written, and says why it ended."""
    if how == "Python":
        monkeypatch.setattr(clock, "library", lambda: "not wanted here")
    path, plain, steps = scenario(tmp_path, "", text(stop=0.4)), Plant.advance, []

    def advance(self: Plant, target: float) -> None:
        steps.append(target)
        if len(steps) == 20:
            raise ArithmeticError("the track has ended")
        plain(self, target)

    monkeypatch.setattr(Plant, "advance", advance)
    if how == "C":
        monkeypatch.setattr(CompiledLoop, "go", cut_go)
    rows, page = tmp_path / "rows.csv", tmp_path / "r.html"
    line = ["hil", str(path), "-q", "-o", str(rows), "--report", str(page)]
    assert cli.main([*line, *["--simulated"] * (how == "simulated")]) == 1
    assert "the track has ended" in capsys.readouterr().err
    assert 2 <= len(rows.read_text().splitlines()) <= 80
    assert "the track has ended" in page.read_text()


def cut_go(self: CompiledLoop, told: Callable[[float], None]) -> None:
    """The compiled loop until its nineteenth step, then a failure."""
    self.loaded.realtime_begin(ctypes.byref(self.run))
    ended = self.loaded.realtime_run(ctypes.byref(self.run), 19)
    self.keep(ended)
    raise ArithmeticError("the track has ended")


@compiled
@pytest.mark.slow
@pytest.mark.parametrize("how", ["C", "Python"])
def test_restarted_controller_process_is_used_within_a_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
):
    """Over shared memory: the first one is killed in the middle of the run, the second goes on with the counts that are there."""
    if how == "Python":
        monkeypatch.setattr(clock, "library", lambda: "not wanted here")
    box, text_of = tmp_path / "box", tmp_path / "loops.json"
    text_of.write_text(
        json.dumps(
            {
                "measures": ["place"],
                "loops": [{"measure": "place", "command": "f", "setpoint": 1.0, "kp": 1.0}],
            }
        )
    )
    line = [sys.executable, "-m", "kinetree.scripts.hil.partner", str(text_of)]
    started: list[subprocess.Popen] = []
    ready: list[float] = []
    moves = threading.Event()

    def partners() -> None:
        moves.wait(60.0)
        for _ in range(2):
            process = subprocess.Popen([*line, "--shared", str(box)], stdout=subprocess.PIPE)
            process.stdout.readline()
            ready.append(time.perf_counter())
            started.append(process)
            time.sleep(1.5)
            if len(started) == 1:
                process.kill()
                process.wait()

    head = f'partner = "shared:{box}"\nmeasures = ["place"]\ncommands = ["f"]\n'
    path = scenario(tmp_path, "", head + text(stop=14.0).split("[[loops]]")[0])
    thread = threading.Thread(target=partners)
    thread.start()
    begun: list[float] = []

    def told(now: float) -> None:
        begun.append(time.perf_counter() - now)
        moves.set()

    record = clock.run(read_scenario(path), told)
    thread.join()
    started[-1].wait(20.0)
    again = ready[1] - float(np.median(begun))  # in the time of the plant
    ages = np.array(record.ages)
    first = int(np.flatnonzero((ages <= 3) & (np.arange(ages.size) * 0.005 > again - 0.1))[0])
    assert first * 0.005 - again < 1.0 and record.received > 400
