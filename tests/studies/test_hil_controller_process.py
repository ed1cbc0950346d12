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

from kinetree.models.analysis.frequency_response import StateSpace
from kinetree.scripts.hil import partner
from kinetree.scripts.hil import realtime_loop as clock
from kinetree.scripts.hil import shared_memory as mailbox
from kinetree.scripts.hil.controller import Controller, FmuController, Loop, controller_of
from kinetree.scripts.hil.open_loop import loop_of, pid
from kinetree.scripts.hil.packet import Frame, unpacked
from kinetree.scripts.terminal.error_messages import BadInput


def test_hil_controller_filters_and_limits_commands():
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


def test_controller_fmu_steps_to_frame_time():
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


def test_open_loop_transfer_functions_have_p_i_and_d_parts():
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


class Net:
    """A socket and a clock: frames come at their times, from their senders."""

    def __init__(self, coming: list[tuple[float, bytes, str]]):
        self.coming, self.now, self.left, self.sent = coming, 0.0, 0.0, list[Any]()

    def monotonic(self) -> float:
        return self.now

    def settimeout(self, seconds: float) -> None:
        self.left = seconds

    def recvfrom(self, size: int) -> tuple[bytes, str]:
        if not self.coming or self.coming[0][0] > self.now + self.left:
            self.now += self.left
            raise TimeoutError
        self.now, data, sender = self.coming.pop(0)
        return data, sender

    def sendto(self, data: bytes, to: str) -> None:
        self.sent.append((unpacked(data), to))

    def recv(self, size: int) -> bytes:
        """As a mailbox does."""
        self.now += 1e-3
        if not self.coming or self.coming[0][0] > self.now:
            raise BlockingIOError
        return self.coming.pop(0)[1]

    def send(self, data: bytes) -> None:
        self.sent.append((unpacked(data), "plant"))

    def sleep(self, nap: float) -> None:
        assert nap == 2e-5


def served(
    monkeypatch: pytest.MonkeyPatch,
    shared: bool,
    coming: list[tuple[float, bytes, str]],
    token: int | None = None,
) -> tuple[Any, Net]:
    """What a partner with u = -2 y says to frames, and when it ends."""
    net = Net(coming)
    monkeypatch.setattr(partner, "time", net)
    controller = Controller(["y"], [{"measure": "y", "kp": -2.0}])
    answer = partner.serve_shared if shared else partner.serve
    assert answer(controller, net, token) == len(net.sent)  # type: ignore[arg-type]
    return net.sent, net


LAST = Frame(5, 0.0, (), True, 9).packed()


@pytest.mark.parametrize("shared", [False, True])
def test_controller_process_answers_until_end_frame_or_timeout(
    monkeypatch: pytest.MonkeyPatch, shared: bool
):
    """Five minutes for the first, ten seconds for any other; what is no frame is left aside and keeps nobody waiting."""
    frames = [
        (2.0, b"noise", "plant"),
        (10.0, Frame(3, 0.5, (1.5,), token=9).packed(), "plant"),
        (19.0, Frame(4, 1.0, (2.0,), token=9).packed(), "plant"),
        (21.0, b"noise", "plant"),
    ]
    answers = [(Frame(3, 0.5, (3.0,), token=9), "plant"), (Frame(4, 1.0, (4.0,), token=9), "plant")]
    sent, net = served(monkeypatch, shared, [*frames])
    assert sent == answers and net.now == pytest.approx(29.0, abs=0.01)
    late = (25.0, Frame(6, 0.0, (1.0,), token=9).packed(), "plant")
    sent, net = served(monkeypatch, shared, [*frames, (22.0, LAST, "plant"), late])
    assert sent == answers and net.now == pytest.approx(22.0, abs=0.01)
    assert served(monkeypatch, shared, [])[1].now == pytest.approx(300.0, abs=0.01)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("token", [None, 9])
def test_controller_process_serves_only_its_own_plant(
    monkeypatch: pytest.MonkeyPatch, shared: bool, token: int | None
):
    """Frames of others, with another token, other counts, values that are no numbers: none is answered, ends it or changes its memory."""
    good = [
        (float(k), Frame(k, 0.1 * k, (float(k),), token=9).packed(), "plant") for k in (1, 2, 3)
    ]
    evil = [
        (0.5, LAST, "evil") if token is None else (0.5, Frame(0, 0.0, (1.0,)).packed(), "evil"),
        (1.1, Frame(7, 5.0, (), token=9).packed(), "plant"),
        (1.2, Frame(7, 5.0, (1.0, 2.0), token=9).packed(), "plant"),
        (1.3, Frame(7, 5.0, (np.nan,), token=9).packed(), "plant"),
        (1.4, Frame(7, np.inf, (1.0,), token=9).packed(), "plant"),
        (1.5, Frame(7, 5.0, (-1e9,), token=8).packed(), "plant"),
        (1.6, Frame(7, 0.0, (), True, 8).packed(), "plant"),
    ]
    if not shared:
        evil += [
            (2.1, Frame(7, 5.0, (-1e9,), token=9).packed(), "evil"),
            (2.2, LAST, "evil"),
        ]
    sent, _ = served(monkeypatch, shared, sorted([*good, *evil]), token)
    assert sent == [(Frame(k, 0.1 * k, (2.0 * k,), token=9), "plant") for k in (1, 2, 3)]


def test_shared_memory_layout_matches_documentation(tmp_path: Path):
    """Sixteen bytes, then a ring: a count, 64 slots of 552 bytes (length, four bytes, the frame); the ring to the partner first."""
    path = tmp_path / "box"
    plant, other = mailbox.Mailbox(path, True), mailbox.Mailbox(path, False)
    ring = 8 + 64 * 552
    assert path.stat().st_size == 16 + 2 * ring
    for k in range(65):
        plant.send(bytes([k] * (1 + k % 3)))
    for k in range(3):
        other.send(b"ab" * (k + 1))
    memory = path.read_bytes()[16:]
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
    slot = 16 + ring + 8 + 3 * 552
    plant.memory[slot : slot + 4] = (10_000).to_bytes(4, "little")
    assert len(plant.recv(100_000)) == 544, "whatever its length says"
    plant.close(), other.close()


def test_either_end_of_shared_memory_may_restart(tmp_path: Path):
    """It goes on with the counts that are there and hears what comes from then on; a count that falls is that of a writer that begins anew."""
    path = tmp_path / "box"
    plant, first = mailbox.Mailbox(path, True), mailbox.Mailbox(path, False)
    for _ in range(200):
        plant.send(b"ask")
        first.recv(9)
        first.send(b"old")
        plant.recv(9)
    first.close()
    second = mailbox.Mailbox(path, False)
    with pytest.raises(BlockingIOError):
        second.recv(9)
    plant.send(b"ask")
    assert second.recv(9) == b"ask"
    second.send(b"new")
    assert plant.recv(9) == b"new"
    plant.close()
    again = mailbox.Mailbox(path, True)
    second.send(b"one")
    again.send(b"two")
    assert again.recv(9) == b"one" and second.recv(9) == b"two"
    second.sent = 0
    second.send(b"low")
    assert again.recv(9) == b"low"
    again.close(), second.close()


@pytest.mark.parametrize("plant", [True, False])
def test_file_that_is_no_mailbox_is_not_changed(tmp_path: Path, plant: bool):
    path = tmp_path / "precious.txt"
    for content in (b"keep me", b"", bytes(mailbox.SIZE)):
        path.write_bytes(content)
        with pytest.raises(BadInput, match=r"precious.txt' is there and is not a mailbox"):
            mailbox.Mailbox(path, plant)
        assert path.read_bytes() == content


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
def test_own_controller_process_is_started_and_ended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, box: Path | None
):
    """It gets what it needs of the scenario, says its port, and has two seconds to end by itself."""
    log: list[Any] = []
    said, ends = ["5005\n"], [True]
    monkeypatch.setattr(
        clock.subprocess, "Popen", lambda line, stdout, text: Started(line, said[0], ends[0], log)
    )
    with clock.own_partner(scenario(), tmp_path, box, 77) as address:
        assert address == ("127.0.0.1", 5005)
    given: dict[str, Any] = {"measures": ["y"], "loops": [{"measure": "y", "command": "u"}]}
    given |= {"controller": {}, "token": 77}
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
        pytest.raises(BadInput, match="the controller process has ended"),
        clock.own_partner(scenario(), tmp_path, box),
    ):
        pass


def test_controller_fmu_is_open_while_it_answers(monkeypatch: pytest.MonkeyPatch):
    """Started with nothing set, ended and freed whatever happens; its variables have to be there."""
    from kinetree.scripts.fmi import fmpy_host as hosts

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


def test_controller_process_serves_given_shared_memory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture
):
    """It says 0 for a port, with a priority below that of a plant."""
    mailbox.Mailbox(tmp_path / "box", True).close()
    (tmp_path / "loops.json").write_text('{"measures": ["y"], "loops": []}')
    asked: list[Any] = []
    monkeypatch.setattr(
        partner,
        "realtime_priority",
        lambda priority, notes: (asked.append(priority), nullcontext())[1],
    )
    monkeypatch.setattr(
        partner,
        "serve_shared",
        lambda controller, box, token: asked.append((box.out, box.inward, token)),
    )
    assert partner.main([str(tmp_path / "loops.json"), "--shared", str(tmp_path / "box")]) == 0
    assert (
        asked == [40, (16 + mailbox.RING, 16, None)]
        and capsys.readouterr().out == "0\n"
        and partner.PRIORITY < clock.PRIORITY == 50
    )
