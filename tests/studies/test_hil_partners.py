"""Partners in the loop and their controllers, without any network: laws by hand, when they answer and end, where frames lie in shared memory."""

import json
import subprocess
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from plant_stand_in import scenario

from kinetree.models.analysis.frequency import StateSpace
from kinetree.scripts.hil import clock, mailbox, partner
from kinetree.scripts.hil.controller import Controller, FmuController, Loop, controller_of
from kinetree.scripts.hil.design import loop_of, pid
from kinetree.scripts.hil.frame import Frame, unpacked
from kinetree.scripts.terminal.error_messages import BadInput


def test_a_controller_filters_bounds_and_holds():
    """By backward differences over steps of 1/2; a frame of an earlier time changes neither slope nor integral; defaults are no controller."""
    full = {
        "measure": "y",
        "command": "u",
        "setpoint": 3.0,
        "kp": 2.0,
        "ki": 4.0,
        "kd": 8.0,
        "filter": 0.5,
        "offset": 100.0,
    }
    loop = Loop(1, full)
    # e = 2, 1, 1: slopes -2 and 0 filtered by half a step to -1 and -1/2; integrals 4·1·½ = 2 and 4
    assert [loop.command(0.5 * k, (0.0, y)) for k, y in enumerate((1.0, 2.0, 2.0))] == [
        104.0,
        102.0 - 8.0 + 2.0,
        102.0 - 4.0 + 4.0,
    ]
    assert loop.command(0.25, (0.0, 2.0)) == 102.0 and loop.command(0.25, (0.0, 2.0)) == 102.0
    assert Loop(0, {}).command(1.0, (5.0,)) == 0.0
    controller = Controller(["a", "b"], [{"measure": "b", "kp": 1.0}, {"measure": "a", "kp": 2.0}])
    assert controller.answer(0.0, (3.0, 5.0)) == (-5.0, -6.0)


def test_the_fmu_of_a_controller_steps_to_the_time_of_a_frame():
    """What was measured acts from its own time on; one frame at a time twice is no step."""
    done: list[Any] = []
    host = SimpleNamespace(
        time=0.0,
        set=lambda values: done.append(values),
        get=lambda names: [float(len(done)) for _ in names],
    )

    def step(time: float) -> None:
        host.time = time
        done.append(time)

    host.step = step
    answering = FmuController(host, ["p", "q"], ["c"])
    assert [answering.answer(t, (t, 2.0)) for t in (0.0, 0.5, 0.5)] == [(1.0,), (3.0,), (4.0,)]
    assert done == [{"p": 0.0, "q": 2.0}, {"p": 0.5, "q": 2.0}, 0.5, {"p": 0.5, "q": 2.0}]


def test_open_loops_of_controllers_have_their_parts():
    """No state without integral and derivative; a derivative without a filter has one of 1 µs; a loop is the product of both."""
    s = 3.0j
    for kp, ki, kd, T, order in (
        (2.0, 0.0, 0.0, 0.0, 0),
        (2.0, 5.0, 0.0, 0.0, 1),
        (2.0, 0.0, 0.5, 0.25, 1),
        (2.0, 5.0, 0.5, 0.0, 2),
    ):
        found = pid(kp, ki, kd, T)
        assert (
            found.A.shape == (order, order)
            and found.B.shape == (order, 1)
            and found.C.shape == (1, order)
        )
        expected = kp + ki / s + kd * s / ((T or 1e-6) * s + 1)
        assert found.response(3.0)[0, 0, 0] == pytest.approx(expected, rel=1e-9)
    lag = StateSpace(np.array([[-1.0]]), np.array([[1.0]]), np.array([[1.0]]), np.array([[0.0]]))
    numbers = {"kp": 2, "ki": 5, "kd": 0.5, "filter": 0.25, "offset": 3.0, "setpoint": 9.0}
    expected = (2.0 + 5.0 / s + 0.5 * s / (0.25 * s + 1)) / (s + 1)
    assert loop_of(lag, numbers).response(3.0)[0, 0, 0] == pytest.approx(expected)


class Socket:
    """Frames come as they are given, then nothing."""

    def __init__(self, frames: list[bytes]):
        self.frames, self.waits, self.sent = frames, [], []

    def settimeout(self, seconds: float) -> None:
        self.waits.append(seconds)

    def recvfrom(self, size: int) -> tuple[bytes, str]:
        if not self.frames:
            raise TimeoutError
        return self.frames.pop(0), "sender"

    def sendto(self, data: bytes, to: str) -> None:
        self.sent.append((unpacked(data), to))


@pytest.mark.parametrize("ends", [True, False])
def test_a_partner_answers_until_the_last_frame_or_silence(ends: bool):
    """Five minutes for the first, ten seconds for any other; what is no frame is left aside; a command has the number and time of its measures."""
    controller = Controller(["y"], [{"measure": "y", "kp": -2.0}])
    frames = [
        b"noise",
        Frame(3, 0.5, (1.5,)).packed(),
        Frame(4, 1.0, (2.0,)).packed(),
        *[Frame(5, 0.0, (), True).packed(), Frame(6, 0.0, (1.0,)).packed()] * ends,
    ]
    door = Socket(frames)
    assert partner.serve(controller, door) == 2  # type: ignore[arg-type]
    assert door.sent == [(Frame(3, 0.5, (3.0,)), "sender"), (Frame(4, 1.0, (4.0,)), "sender")]
    assert door.waits == [300.0] + [10.0] * (4 if ends else 3)


@pytest.mark.parametrize("ends", [True, False])
def test_shared_memory_partner_follows_rules(monkeypatch: pytest.MonkeyPatch, ends: bool):
    """It looks into the mailbox every 20 µs, here with a clock of its own, and ends after as much silence."""
    now, sent, looks = [50.0], [], []
    monkeypatch.setattr(
        partner,
        "time",
        SimpleNamespace(
            monotonic=lambda: now[0],
            sleep=lambda nap: (looks.append(nap), now.__setitem__(0, now[0] + 1.0)),
        ),
    )
    coming = {
        52.0: b"noise",
        60.0: Frame(3, 0.5, (1.5,)).packed(),
        69.0: Frame(4, 1.0, (2.0,)).packed(),
    }
    if ends:
        coming[70.0] = Frame(5, 0.0, (), True).packed()

    class Box:
        def recv(self, size: int) -> bytes:
            if now[0] in coming:
                return coming.pop(now[0])
            raise BlockingIOError

        def send(self, data: bytes) -> None:
            sent.append(unpacked(data))

    controller = Controller(["y"], [{"measure": "y", "kp": -2.0}])
    assert partner.serve_shared(controller, Box()) == 2  # type: ignore[arg-type]
    assert (
        sent == [Frame(3, 0.5, (3.0,)), Frame(4, 1.0, (4.0,))]
        and set(looks) == {2e-5}
        and now[0] == (70.0 if ends else 79.0)
    )
    now[0] = 0.0
    assert partner.serve_shared(controller, Box()) == 0 and now[0] == 300.0  # type: ignore[arg-type]


def test_rings_of_a_mailbox_lie_as_documented(tmp_path: Path):
    """A count, then 64 slots of 552 bytes: length, four bytes, the frame; the ring to the partner first. A longer frame than a slot is cut."""
    path = tmp_path / "box"
    plant, other = mailbox.Mailbox(path, True), mailbox.Mailbox(path, False)
    ring = 8 + 64 * 552
    assert path.stat().st_size == 2 * ring
    for k in range(65):
        plant.send(bytes([k] * (1 + k % 3)))
    for k in range(3):
        other.send(b"ab" * (k + 1))
    memory = path.read_bytes()
    assert memory[:8] == (65).to_bytes(8, "little") and memory[ring : ring + 8] == (3).to_bytes(
        8, "little"
    )
    at = 8 + 552
    assert memory[8:17] == bytes([2, 0, 0, 0, 0, 0, 0, 0, 64]) and memory[at : at + 10] == bytes(
        [2, 0, 0, 0, 0, 0, 0, 0, 1, 1]
    )
    assert memory[ring + at : ring + at + 13] == b"\4\0\0\0\0\0\0\0abab\0" and (
        plant.sent,
        other.sent,
    ) == (65, 3)
    assert [plant.recv(3), plant.recv(4), plant.recv(100)] == [b"ab", b"abab", b"ababab"]
    assert [each[0] for each in (other.recv(9) for _ in range(63))] == list(
        range(2, 65)
    ) and other.read == 65
    with pytest.raises(BlockingIOError):
        other.recv(9)
    other.send(b"z")
    plant.memory[ring + 8 + 3 * 552 : ring + 8 + 3 * 552 + 4] = (10_000).to_bytes(4, "little")
    assert len(plant.recv(100_000)) == 544, "whatever its length says"
    plant.close(), other.close()
    plant = mailbox.Mailbox(path, True)
    assert path.read_bytes() == bytes(2 * ring), "a plant begins anew"
    plant.close()


class Started:
    """A partner's process that says a line."""

    def __init__(self, line: list[str], said: str, ends: bool, log: list[Any]):
        self.stdout, self.ends, self.log = SimpleNamespace(readline=lambda: said), ends, log
        log.append((line[1:3], json.loads(Path(line[3]).read_text()), line[4:]))

    def wait(self, seconds: float | None = None) -> None:
        self.log.append(("wait", seconds))
        if not self.ends and seconds is not None:
            raise subprocess.TimeoutExpired("p", seconds)

    def poll(self) -> int | None:
        return 0 if self.ends else None

    def kill(self) -> None:
        self.log.append("kill")


@pytest.mark.parametrize("box", [None, Path("box")])
def test_own_partner_is_started_and_stopped(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, box: Path | None
):
    """It gets what it needs of the scenario, says its port, and has two seconds to end by itself."""
    log: list[Any] = []
    said, ends = ["5005\n"], [True]
    monkeypatch.setattr(
        clock.subprocess, "Popen", lambda line, stdout, text: Started(line, said[0], ends[0], log)
    )
    with clock.own_partner(scenario(), tmp_path, box) as address:
        assert address == ("127.0.0.1", 5005)
    given = {"measures": ["y"], "loops": [{"measure": "y", "command": "u"}], "controller": {}}
    assert log[0] == (
        ["-m", "kinetree.scripts.hil.partner"],
        given,
        [] if box is None else ["--shared", "box"],
    )
    assert log[1:] == [("wait", 2.0)]
    ends[0] = False
    log.clear()
    with clock.own_partner(scenario(), tmp_path, box):
        pass
    assert log[1:] == [("wait", 2.0), "kill", ("wait", None)]
    said[0] = "\n"
    with (
        pytest.raises(BadInput, match="the partner's process has ended"),
        clock.own_partner(scenario(), tmp_path, box),
    ):
        pass


def test_controller_fmu_is_freed(monkeypatch: pytest.MonkeyPatch):
    """Started with nothing set, ended and freed whatever happens; its variables have to be there."""
    from kinetree.scripts.fmi import host as hosts

    done: list[Any] = []
    fmu = SimpleNamespace(
        terminate=lambda: done.append("terminate"), freeInstance=lambda: done.append("free")
    )
    started = SimpleNamespace(
        fmu=fmu, time=0.0, set=done.append, get=lambda names: [7.0 for _ in names]
    )
    monkeypatch.setattr(
        hosts,
        "Archive",
        lambda path: nullcontext(SimpleNamespace(path=path, references={"in": 1, "out": 2})),
    )
    monkeypatch.setattr(
        hosts,
        "Host",
        lambda archive: SimpleNamespace(
            start=lambda values: (done.append((archive.path, values)), started)[1]
        ),
    )
    given = {"controller": {"fmu": "c.fmu", "inputs": ["in"], "outputs": ["out"]}}
    with pytest.raises(KeyError), controller_of(given) as answering:
        assert answering.answer(0.0, (2.5,)) == (7.0,)
        raise KeyError
    assert done == [(Path("c.fmu"), {}), {"in": 2.5}, "terminate", "free"]
    for key in ("inputs", "outputs"):
        wrong = {"controller": given["controller"] | {key: ["inn"]}}
        with (
            pytest.raises(BadInput, match="c.fmu: no variable 'inn'; did you mean 'in'"),
            controller_of(wrong),
        ):
            pass
    loops = {"measures": ["y"], "loops": [{"measure": "y", "kp": 1.0}]}
    with controller_of(loops) as answering, controller_of(loops | {"controller": {}}) as other:
        assert answering.answer(0.0, (2.0,)) == other.answer(0.0, (2.0,)) == (-2.0,)


def test_a_partner_looks_into_the_mailbox_it_is_given(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture
):
    """It says 0 for a port, with a priority below that of a plant."""
    mailbox.Mailbox(tmp_path / "box", True).close()
    (tmp_path / "loops.json").write_text('{"measures": ["y"], "loops": []}')
    asked: list[Any] = []
    monkeypatch.setattr(
        partner, "prompt", lambda priority, notes: (asked.append(priority), nullcontext())[1]
    )
    monkeypatch.setattr(
        partner, "serve_shared", lambda controller, box: asked.append((box.out, box.inward))
    )
    assert partner.main([str(tmp_path / "loops.json"), "--shared", str(tmp_path / "box")]) == 0
    assert (
        asked == [40, (mailbox.RING, 0)]
        and capsys.readouterr().out == "0\n"
        and partner.PRIORITY < clock.PRIORITY == 50
    )
