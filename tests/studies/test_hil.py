"""Hardware in the loop: frames, controllers, the channel, repeatability, the loop against the clock with a partner in another process."""

import ctypes
import gc
import json
import math
import os
import shutil
import socket
import struct
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from loop_text import SCENARIO

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load
from kinetree.scripts import cli
from kinetree.scripts.hil import partner
from kinetree.scripts.hil import realtime_loop as clock
from kinetree.scripts.hil.controller import Controller
from kinetree.scripts.hil.loop_run import Arrivals, simulate
from kinetree.scripts.hil.open_loop import loop_of, pid
from kinetree.scripts.hil.packet import Frame, unpacked
from kinetree.scripts.hil.realtime_scheduling import realtime_priority
from kinetree.scripts.hil.report import margin_rows
from kinetree.scripts.hil.scenario import read_scenario
from kinetree.scripts.hil.shared_memory import Mailbox
from kinetree.scripts.terminal.error_messages import BadInput

compiled = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="native FMUs carry compiled kernels"
)

MASS = {
    "name": "slider",
    "gravity": [0, 0, 0],
    "bodies": {"m": {"mass": 2.0, "inertia": [1, 1, 1, 0, 0, 0]}},
    "joints": {"j": {"child": "m", "transforms": [{"shift": "x", "coordinate": "x"}]}},
    "inputs": {"f": {"start": 0.0}},
    "forces": {"law": {"coordinate": "x", "value": "f - 1.0*der(x)"}},
    "outputs": {"place": {"value": "x"}},
}


def scenario(folder: Path, channel: str = "", text: str = SCENARIO) -> Path:
    (folder / "m.json").write_text(json.dumps(MASS))
    path = folder / "loop.toml"
    path.write_text(text.format(channel=channel))
    return path


def brisk(monkeypatch: pytest.MonkeyPatch) -> str:
    """The scenario for the wall clock: 90 steps of 20 ms, after a loop of 20 that only waits; three time constants settle within 1.0 s."""
    monkeypatch.setattr(clock, "BARE", 20)
    text = SCENARIO
    for usual, other in (
        ("step = 0.01", "step = 0.02"),
        ("stop_time = 3.0", "stop_time = 1.8"),
        ("kp = 8.0", "kp = 18.0"),
        ("kd = 4.0", "kd = 10.0"),
    ):
        assert usual in text
        text = text.replace(usual, other)
    return text


def test_frames_have_the_documented_bytes():
    """Written by hand from the table in packet.py; anything else that comes to the port is no frame."""
    head = struct.pack("<IIdIIQ", 0x3248544B, 7, 0.25, 0, 2, 2**63)
    by_hand, frame = head + struct.pack("<dd", 1.5, -2.0), Frame(7, 0.25, (1.5, -2.0), token=2**63)
    assert by_hand[:4] == b"KTH2" and frame.packed() == by_hand and unpacked(by_hand) == frame
    for wrong in (
        b"",
        by_hand[:-1],
        by_hand + b"x",
        b"X" + by_hand[1:],
        struct.pack("<IIdIIQ", 0x3248544B, 7, 0.25, 0, 1000, 0),
    ):
        assert unpacked(wrong) is None


def test_hil_controller_matches_hand_calculation():
    """Proportional, integral by rectangles, derivative by backward differences; the integral rests while a bound holds the command."""
    loop = {
        "measure": "y",
        "command": "u",
        "setpoint": 1.0,
        "kp": 2.0,
        "ki": 10.0,
        "kd": 0.5,
        "high": 4.0,
    }
    controller = Controller(["z", "y"], [loop])
    assert controller.answer(0.0, (9.0, 0.0)) == (2.0,)
    assert controller.answer(0.1, (9.0, 0.5)) == pytest.approx(
        (2 * 0.5 + 10 * 0.05 + 0.5 * (-5.0),)
    )
    bounded = Controller(
        ["y"], [{"measure": "y", "command": "u", "setpoint": 1.0, "ki": 10.0, "high": 1.5}]
    )
    for k in range(50):
        assert bounded.answer(0.1 * k, (0.0,))[0] <= 1.5
    assert bounded.answer(5.0, (1.2,))[0] < 1.5  # comes off the bound at once: nothing was wound up


@pytest.mark.parametrize("gain", [10.0, -10.0])
@pytest.mark.parametrize(("bound", "side"), [("high", 1.0), ("low", -1.0)])
def test_pid_limits_prevent_windup(gain: float, bound: str, side: float):
    """The integral of an error of 1 pressed against a bound for seconds: it stops at the bound, and the first error the other way leaves it."""
    error = side * math.copysign(1.0, gain)
    held = Controller(
        ["y"], [{"measure": "y", "command": "u", "setpoint": 0.5, "ki": gain, bound: 1.25 * side}]
    )
    commands = [held.answer(0.0625 * k, (0.5 - error,))[0] for k in range(64)]
    assert commands == [0.0, 0.625 * side] + [1.25 * side] * 62  # 10 * 1/16 a step
    assert held.answer(4.0, (0.5 + 0.25 * error,))[0] == pytest.approx((1.25 - 0.15625) * side)
    between = Controller(
        ["y"], [{"measure": "y", "command": "u", "setpoint": 0.5, "ki": gain, bound: 1.0 * side}]
    )
    assert [between.answer(0.0625 * k, (0.5 - error,))[0] for k in range(4)] == [
        0.0,
        0.625 * side,
        side,
        side,
    ]
    assert between.answer(0.25, (0.5 + 0.25 * error,))[0] == (1.0 - 0.15625) * side, (
        "it had grown to the bound"
    )
    both = Controller(
        ["y"],
        [{"measure": "y", "command": "u", "ki": 1.0, "offset": 3.0 * side, bound: 1.5 * side}],
    )
    assert both.answer(0.0, (0.0,)) == (1.5 * side,), "an offset is bounded too"


def test_filtered_derivative_has_time_constant():
    """Of an error that rises evenly: backward differences of T r' + r = slope give slope (1 - (T/(T + h))^k); frames of one time change nothing."""
    T, h, slope = 0.75, 0.25, -2.0
    loop = Controller(
        ["y"],
        [{"measure": "y", "command": "u", "setpoint": 1.0, "kd": 3.0, "filter": T, "offset": 0.5}],
    )
    for k in range(5):
        for _ in range(2):
            (command,) = loop.answer(h * k, (1.0 - slope * h * k,))
            assert command == pytest.approx(
                0.5 + 3.0 * slope * (1.0 - (T / (T + h)) ** k), rel=1e-14
            )


def test_late_frames_do_not_undo_newer_ones():
    arrivals = Arrivals()
    arrivals.put(0.3, Frame(1, 0.0, (1.0,)))
    arrivals.put(0.2, Frame(2, 0.0, (2.0,)))
    assert (
        arrivals.take(0.1) is None
        and arrivals.take(0.25) == (2, (2.0,))
        and arrivals.take(0.5) is None
    )


@compiled
def test_simulated_hil_equals_sampled_loop(tmp_path: Path):
    """Without delay: the exact recursion of the mass under held commands, m v̇ = f - d v, beside the FMU."""
    record = simulate(read_scenario(scenario(tmp_path)))
    controller = Controller(["place"], read_scenario(scenario(tmp_path)).loops)
    x, v, h, m, d = 0.0, 0.0, 0.01, 2.0, 1.0
    fade = np.exp(-d * h / m)
    for k, row in enumerate(record.rows):
        f = controller.answer(k * h, (x,))[0]
        x, v = x + f / d * h + (v - f / d) * m / d * (1 - fade), f / d + (v - f / d) * fade
        assert row == pytest.approx((x, f), abs=1e-6 * max(1.0, abs(f)))
    assert record.sent == record.received + 1 == 301 and record.stale == 0 and abs(x - 1.0) < 0.05


@compiled
def test_hil_delays_age_commands_and_losses_keep_last_command(tmp_path: Path):
    """Two steps there and back: commands are two steps old. A tenth lost each way: about 19 % of the commands do not come."""
    late = simulate(read_scenario(scenario(tmp_path, "delay = 0.01")))
    assert set(late.ages[3:]) == {2}
    lossy = simulate(read_scenario(scenario(tmp_path, "loss = 0.1\nseed = 4")))
    share = lossy.stale / 300
    assert abs(share - 0.19) < 4 * np.sqrt(0.19 * 0.81 / 300) and lossy.lost >= lossy.stale


@compiled
def test_simulated_runs_repeat_bit_for_bit(tmp_path: Path):
    path = scenario(tmp_path, "delay = 0.004\njitter = 0.02\nloss = 0.05\nseed = 7")
    files = [tmp_path / f"{k}.csv" for k in range(2)]
    for file in files:
        assert cli.main(["hil", str(path), "--simulated", "--quiet", "-o", str(file)]) == 0
    assert files[0].read_bytes() == files[1].read_bytes()


@compiled
def test_hil_prints_nothing_only_if_quiet(tmp_path: Path, capsys: pytest.CaptureFixture):
    path = scenario(tmp_path)
    assert cli.main(["hil", str(path), "--simulated", "--quiet"]) == 0
    assert not capsys.readouterr().out.strip()
    assert cli.main(["hil", str(path), "--simulated"]) == 0
    assert "frames" in capsys.readouterr().out
    assert cli.main(["hil", str(path), "--simulated", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)


@compiled
def test_hil_margins_include_delay(tmp_path: Path):
    """The delay margin of the loop loses what the exchange takes: by the formula of the crossing, phase/ω."""
    record = simulate(read_scenario(scenario(tmp_path, "delay = 0.02")))
    rows = margin_rows(record)
    ages = float(np.mean(record.ages)) * 10.0 + 5.0
    assert [row[0] for row in rows] == ["continuous", "sampled and held", "as it ran"]
    assert rows[0][5] - rows[2][5] == pytest.approx(ages, rel=1e-6)


def test_hil_open_loop_of_a_pid_matches_formula():
    """Its response by the formula."""
    s = 3.0j
    found = pid(2.0, 5.0, 0.7, 0.1).response(3.0)[0, 0, 0]
    assert found == pytest.approx(2 + 5 / s + 0.7 * s / (0.1 * s + 1))
    assert loop_of(pid(3.0), {"kp": 2.0}).response(1.0)[0, 0, 0] == pytest.approx(6.0)


@compiled
def test_real_time_run_with_partner_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A partner in another process; whatever the machine does to the times, every step is done, counted, and the loop comes to its setpoint."""
    path, page = scenario(tmp_path, text=brisk(monkeypatch)), tmp_path / "page.html"
    assert cli.main(["hil", str(path), "--report", str(page), "-o", str(tmp_path / "run.csv")]) == 0
    rows = np.loadtxt(tmp_path / "run.csv", delimiter=",", skiprows=1)
    assert (
        rows.shape == (90, 3)
        and rows[-1, 0] == pytest.approx(1.8)
        and rows[-1, 1] == pytest.approx(1.0, abs=0.1)
    )
    text = page.read_text()
    assert (
        "against the wall clock" in text
        and "loop that only waits" in text
        and "https://" not in text
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('"place"', '"plase"'), "did you mean 'place'"),
        (("step = 0.01", "step = 0"), "positive number"),
        (("kp = 8.0", "kq = 8.0"), "unknown key 'kq'"),
        (("kp = 8.0", 'kp = "8"'), "expected a number"),
        (("[channel]", "late = 3\n[channel]"), "expected one of hold, zero, stop"),
        (('mechanism = "m.json"', ""), "either mechanism or fmu"),
        (
            ('mechanism = "m.json"', 'mechanism = "m.json"\nfmu = "m.fmu"'),
            "either mechanism or fmu",
        ),
        (("step = 0.01", "step = 100.0"), "0.03 steps, expected 1 to"),
        (("kp = 8.0", "kp = 8.0\n[[loops]]\nmeasure = 'place'"), r"loops\[1\]: command is missing"),
        (
            ("kp = 8.0", "kp = 8.0\n[[loops]]\nmeasure = 'place'\ncommand = 'f'\nkp = 1.0"),
            "1 to .* measures and different commands",
        ),
        (("[channel]", "[channel]\nloss = 1.0"), "a loss from 0 to below 1"),
        (("[channel]", "[channel]\ndelay = -1.0"), "delay and jitter of at least 0"),
        (
            ("[channel]", "[channel]\nseed = 0.5"),
            "channel.seed: found 0.5, expected a whole number",
        ),
        (("[channel]", "partner = 'here'\n[channel]"), "partner: found 'here', expected HOST:PORT"),
        (
            ("[channel]", "[tune]\nnotch = 1\n[channel]"),
            "tune.notch: found 1, expected true or false",
        ),
        (
            ("[channel]", "[tune]\nat = 'end'\n[channel]"),
            'tune.at: found \'end\', expected "rest" or "start"',
        ),
        (
            ("[channel]", "[tune.setpoints]\nplace = 1.0\n[channel]"),
            "tune.setpoints.place: expected a measure of a loop and the text",
        ),
        (("[channel]", "[controller]\ninputs = ['y']\n[channel]"), "controller.fmu is missing"),
        (
            ("[channel]", "[controller]\nfmu = 'c.fmu'\ninputs = ['y', 'z']\n[channel]"),
            "controller.inputs: expected as many names as there are measures",
        ),
    ],
)
def test_hil_scenario_mistakes_are_named(tmp_path: Path, change: tuple[str, str], said: str):
    path = scenario(tmp_path, text=SCENARIO.replace(*change))
    with pytest.raises(BadInput, match=said):
        simulate(read_scenario(path))


def test_c_partner_follows_its_law(tmp_path: Path):
    """The example partner, compiled: frames of Python go in, PD commands with the same sequence numbers come back; the last frame ends it."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    source = Path(__file__).parents[2] / "examples" / "control" / "partner.c"
    subprocess.run(
        [compiler, "-O2", "-Wall", "-Werror", "-o", str(tmp_path / "partner"), str(source)],
        check=True,
    )
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    partner = subprocess.Popen([str(tmp_path / "partner"), str(port)])
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as door:
            door.connect(("127.0.0.1", port))
            door.settimeout(0.2)
            answers = [
                ask(door, Frame(0, 0.0, (0.5,), token=5)),
                *foreign(port),
                ask(door, Frame(1, 0.002, (0.51,), token=5)),
            ]
            door.send(b"noise")
            door.send(Frame(9, 1.0, (), True, token=6).packed())
            door.send(Frame(9, 1.0, (math.nan,), token=5).packed())
            assert ask(door, Frame(2, 0.004, (0.51,), token=5)).sequence == 2
            door.send(Frame(9, 1.0, (), True, token=5).packed())
        assert partner.wait(20) == 0
    finally:
        partner.kill()
    assert [(answer.sequence, answer.token) for answer in answers] == [(0, 5), (1, 5)]
    expected = 4256.45 + 6.5e5 * 0.04 + 4.5e4 * (0.04 - 0.05) / 0.002
    assert answers[0].values == pytest.approx([4256.45 + 6.5e5 * 0.05]) and answers[
        1
    ].values == pytest.approx([expected])


def foreign(port: int) -> list[Frame]:
    """Frames from elsewhere with the token of the run, and what comes back: nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as door:
        door.connect(("127.0.0.1", port))
        door.settimeout(0.1)
        for frame in (Frame(5, 9.0, (-1e9,), token=5), Frame(5, 0.0, (), True, token=5)):
            door.send(frame.packed())
        with pytest.raises(TimeoutError):
            door.recv(2048)
    return []


def ask(door: socket.socket, frame: Frame) -> Frame:
    """Until the partner is there."""
    for _ in range(100):
        try:
            door.send(frame.packed())
            answer = unpacked(door.recv(2048))
            assert answer is not None
            return answer
        except (TimeoutError, ConnectionRefusedError):
            time.sleep(0.05)
    raise AssertionError("no answer")


def test_shared_memory_keeps_order_and_drops_the_oldest_frames(tmp_path: Path):
    plant, partner = Mailbox(tmp_path / "box", True), Mailbox(tmp_path / "box", False)
    for k in range(3):
        plant.send(bytes([k] * (k + 1)))
    assert [partner.recv(100) for _ in range(3)] == [b"\0", b"\1\1", b"\2\2\2"]
    with pytest.raises(BlockingIOError):
        partner.recv(100)
    for k in range(100):
        partner.send(bytes([k]))
    got = [plant.recv(10)[0] for _ in range(63)]
    assert got == list(range(37, 100))
    assert (tmp_path / "box").read_bytes()[16:24] == struct.pack("<Q", 3)
    plant.close(), partner.close()


@pytest.mark.parametrize("granted", [True, False])
def test_real_time_priority_is_restored(granted: bool, monkeypatch: pytest.MonkeyPatch):
    """Real-time scheduling, memory in place and no garbage collection while it lasts; what the system refuses is told and not undone."""
    asked: list[tuple[str, int]] = []

    class System:
        def mlockall(self, flags: int) -> int:
            asked.append(("lock", flags))
            return 0 if granted else -1

        def munlockall(self) -> None:
            asked.append(("unlock", 0))

    def schedule(process: int, policy: int, parameters: int) -> None:
        if not granted:
            raise PermissionError(1, "Operation not permitted")
        assert process == 0
        asked.append(("schedule", policy * 100 + parameters))

    monkeypatch.setattr(ctypes, "CDLL", lambda name, use_errno=False: System())
    for name, value in (
        ("sched_getscheduler", lambda process: 3),
        ("sched_setscheduler", schedule),
        ("SCHED_FIFO", 7),
        ("sched_param", lambda p: p),
    ):
        monkeypatch.setattr(os, name, value, raising=False)
    notes: list[str] = []
    with realtime_priority(55, notes):
        assert not gc.isenabled()
    assert gc.isenabled()
    if granted:
        assert (
            asked == [("schedule", 755), ("lock", 3), ("unlock", 0), ("schedule", 300)]
            and not notes
        )
    else:
        assert asked == [("lock", 3)] and len(notes) == 2
        assert (
            notes[0]
            == "no real-time scheduling (Operation not permitted): other processes may delay steps"
            and "memory is not locked" in notes[1]
        )


@pytest.mark.parametrize("given", [(), ("0",), ("0", "0.0.0.0")])
def test_partner_reports_its_port(
    given: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
):
    """A free port of this machine alone, unless told otherwise."""
    heard: list[tuple[str, int]] = []
    monkeypatch.setattr(partner, "controller_of", nullcontext)
    monkeypatch.setattr(partner, "realtime_priority", lambda priority, notes: nullcontext())
    monkeypatch.setattr(
        partner, "serve", lambda controller, door, token: heard.append(door.getsockname())
    )
    (tmp_path / "loops.json").write_text("{}")
    assert partner.main([str(tmp_path / "loops.json"), *given]) == 0
    assert (
        heard == [(given[1] if len(given) > 1 else "127.0.0.1", int(capsys.readouterr().out))]
        and heard[0][1] > 0
    )


@compiled
def test_hil_runs_over_shared_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = scenario(tmp_path, text='partner = "shared"\n' + brisk(monkeypatch))
    assert cli.main(["hil", str(path), "-q", "-o", str(tmp_path / "run.csv")]) == 0
    rows = np.loadtxt(tmp_path / "run.csv", delimiter=",", skiprows=1)
    assert rows.shape == (90, 3) and rows[-1, 1] == pytest.approx(1.0, abs=0.1)


@compiled
def test_hil_runs_with_controller_fmu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """u = 8 (1 - y) of a controller block as FMU, beside the same law in [[loops]]: the same run; against the clock it moves the mass as well."""
    d = {
        "name": "pd",
        "inputs": {"y": 0.0},
        "controllers": {"c": {"measure": "y", "setpoint": 1.0, "kp": 8.0}},
    }
    build_fmu(load(d), tmp_path / "c.fmu", "native")
    own = simulate(
        read_scenario(scenario(tmp_path, text=SCENARIO.replace("kd = 4.0\nfilter = 0.02\n", "")))
    )
    head, loops = SCENARIO.split("[[loops]]")
    table = '[controller]\nfmu = "c.fmu"\ninputs = ["y"]\noutputs = ["c"]\n'
    text = 'measures = ["place"]\ncommands = ["f"]\n' + head + table
    other = simulate(read_scenario(scenario(tmp_path, text=text)))
    assert np.array(other.rows) == pytest.approx(np.array(own.rows), abs=1e-12)
    path = scenario(tmp_path, text=text.replace("stop_time = 3.0", "stop_time = 0.5"))
    monkeypatch.setattr(clock, "BARE", 5)
    assert cli.main(["hil", str(path), "-q", "-o", str(tmp_path / "run.csv")]) == 0
    assert np.loadtxt(tmp_path / "run.csv", delimiter=",", skiprows=1)[-1, 1] > 0.1
    with pytest.raises(BadInput, match="no variable 'z'"):
        simulate(read_scenario(scenario(tmp_path, text=text.replace('["y"]', '["z"]'))))


def spaces() -> bool:
    """Whether network namespaces may be made here."""
    if shutil.which("ip") is None or not hasattr(os, "geteuid") or os.geteuid() != 0:
        return False
    made = (
        subprocess.run(["ip", "netns", "add", "kinetree-probe"], capture_output=True).returncode
        == 0
    )
    subprocess.run(["ip", "netns", "del", "kinetree-probe"], capture_output=True)
    return made


@compiled
@pytest.mark.slow
def test_hil_runs_between_two_network_namespaces(tmp_path: Path):
    """Plant and partner on two hosts of a virtual wire; delay and loss by netem where the kernel has it, else injected by ourselves."""
    if not spaces():
        pytest.skip("network namespaces may not be made here")

    def ip(*words: str) -> None:
        subprocess.run(["ip", *words], check=True, capture_output=True)

    names = ("kinetree-a", "kinetree-b")
    try:
        for name in names:
            ip("netns", "add", name)
        ip(
            "link",
            "add",
            "ka",
            "netns",
            names[0],
            "type",
            "veth",
            "peer",
            "name",
            "kb",
            "netns",
            names[1],
        )
        for name, card, address in zip(
            names, ("ka", "kb"), ("10.77.0.1/24", "10.77.0.2/24"), strict=True
        ):
            ip("-n", name, "addr", "add", address, "dev", card)
            ip("-n", name, "link", "set", card, "up")
        wire = [
            "ip",
            "netns",
            "exec",
            names[0],
            "tc",
            "qdisc",
            "add",
            "dev",
            "ka",
            "root",
            "netem",
            "delay",
            "4ms",
            "loss",
            "5%",
        ]
        real = subprocess.run(wire, capture_output=True).returncode == 0
        channel = "" if real else "delay = 0.004\nloss = 0.05\nseed = 1\n"
        text = 'partner = "10.77.0.2:5005"\n' + SCENARIO.replace("step = 0.01", "step = 0.02")
        path = scenario(tmp_path, channel, text)
        (tmp_path / "c.json").write_text(
            json.dumps({"measures": ["place"], "loops": read_scenario(path).loops})
        )
        words = [
            sys.executable,
            "-m",
            "kinetree.scripts.hil.partner",
            str(tmp_path / "c.json"),
            "5005",
            "10.77.0.2",
        ]
        partner = subprocess.Popen(
            ["ip", "netns", "exec", names[1], *words], stdout=subprocess.PIPE, text=True
        )
        try:
            assert partner.stdout is not None and partner.stdout.readline().strip() == "5005"
            command = [
                sys.executable,
                "-m",
                "kinetree.scripts.cli",
                "hil",
                str(path),
                "-o",
                str(tmp_path / "run.csv"),
            ]
            ran = subprocess.run(
                ["ip", "netns", "exec", names[0], *command],
                capture_output=True,
                text=True,
                timeout=120,
            )
            assert ran.returncode == 0, ran.stderr
        finally:
            partner.kill()
        rows = np.loadtxt(tmp_path / "run.csv", delimiter=",", skiprows=1)
        assert rows[-1, 1] == pytest.approx(1.0, abs=0.15)
        age = float(ran.stdout.split("measures that commands answer are ")[1].split()[0])
        assert age >= 1.0  # 4 ms on the way there: no answer is there at once
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)
