"""Hardware in the loop: frames, controllers, the channel, repeatability, the loop against the clock with a partner in another process."""

import json
import os
import shutil
import socket
import struct
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from kinetree.scripts import cli
from kinetree.scripts.hil.controller import Controller
from kinetree.scripts.hil.design import loop_of, pid
from kinetree.scripts.hil.frame import Frame, unpacked
from kinetree.scripts.hil.loop import Arrivals, simulate
from kinetree.scripts.hil.report import margin_rows
from kinetree.scripts.hil.scenario import read_scenario
from kinetree.scripts.terminal.failure import BadInput

compiled = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="native FMUs carry compiled kernels")

MASS = {
    "name": "slider",
    "gravity": [0, 0, 0],
    "bodies": {"m": {"mass": 2.0, "inertia": [1, 1, 1, 0, 0, 0]}},
    "joints": {"j": {"child": "m", "transforms": [{"shift": "x", "coordinate": "x"}]}},
    "inputs": {"f": {"start": 0.0}},
    "forces": {"law": {"coordinate": "x", "value": "f - 1.0*der(x)"}},
    "outputs": {"place": {"value": "x"}},
}
SCENARIO = """
mechanism = "m.json"
step = 0.01
stop_time = 3.0
[channel]
{channel}
[[loops]]
measure = "place"
command = "f"
setpoint = 1.0
kp = 8.0
kd = 4.0
filter = 0.02
"""


def scenario(folder: Path, channel: str = "", text: str = SCENARIO) -> Path:
    (folder / "m.json").write_text(json.dumps(MASS))
    path = folder / "loop.toml"
    path.write_text(text.format(channel=channel))
    return path


def test_frames_have_the_documented_bytes():
    """Written by hand from the table in frame.py; anything else that comes to the port is no frame."""
    by_hand = struct.pack("<IIdII", 0x3148544B, 7, 0.25, 0, 2) + struct.pack("<dd", 1.5, -2.0)
    assert by_hand[:4] == b"KTH1" and Frame(7, 0.25, (1.5, -2.0)).packed() == by_hand
    assert unpacked(by_hand) == Frame(7, 0.25, (1.5, -2.0))
    for wrong in (b"", by_hand[:-1], by_hand + b"x", b"X" + by_hand[1:], struct.pack("<IIdII", 0x3148544B, 7, 0.25, 0, 1000)):
        assert unpacked(wrong) is None


def test_controller_by_hand():
    """Proportional, integral by rectangles, derivative by backward differences; the integral rests while a bound holds the command."""
    loop = {"measure": "y", "command": "u", "setpoint": 1.0, "kp": 2.0, "ki": 10.0, "kd": 0.5, "high": 4.0}
    controller = Controller(["z", "y"], [loop])
    assert controller.answer(0.0, (9.0, 0.0)) == (2.0,)
    assert controller.answer(0.1, (9.0, 0.5)) == pytest.approx((2 * 0.5 + 10 * 0.05 + 0.5 * (-5.0),))
    bounded = Controller(["y"], [{"measure": "y", "command": "u", "setpoint": 1.0, "ki": 10.0, "high": 1.5}])
    for k in range(50):
        assert bounded.answer(0.1 * k, (0.0,))[0] <= 1.5
    assert bounded.answer(5.0, (1.2,))[0] < 1.5  # comes off the bound at once: nothing was wound up


def test_late_frames_do_not_undo_newer_ones():
    arrivals = Arrivals()
    arrivals.put(0.3, Frame(1, 0.0, (1.0,)))
    arrivals.put(0.2, Frame(2, 0.0, (2.0,)))
    assert arrivals.take(0.1) is None and arrivals.take(0.25) == (2, (2.0,)) and arrivals.take(0.5) is None


@compiled
def test_simulated_is_the_sampled_loop(tmp_path: Path):
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
def test_delays_age_commands_and_losses_are_held(tmp_path: Path):
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
def test_margins_say_what_the_exchange_costs(tmp_path: Path):
    """The delay margin of the loop loses what the exchange takes: by the formula of the crossing, phase/ω."""
    record = simulate(read_scenario(scenario(tmp_path, "delay = 0.02")))
    rows = margin_rows(record)
    ages = float(np.mean(record.ages)) * 10.0 + 5.0
    assert [row[0] for row in rows] == ["continuous", "sampled and held", "as it ran"]
    assert rows[0][5] - rows[2][5] == pytest.approx(ages, rel=1e-6)


def test_open_loop_of_a_pid():
    """Its response by the formula."""
    s = 3.0j
    found = pid(2.0, 5.0, 0.7, 0.1).response(3.0)[0, 0, 0]
    assert found == pytest.approx(2 + 5 / s + 0.7 * s / (0.1 * s + 1))
    assert loop_of(pid(3.0), {"kp": 2.0}).response(1.0)[0, 0, 0] == pytest.approx(6.0)


@compiled
def test_against_the_clock_with_a_partner_of_its_own(tmp_path: Path):
    """A partner in another process; whatever the machine does to the times, every step is done, counted, and the loop comes to its setpoint."""
    path, page = scenario(tmp_path, text=SCENARIO.replace("step = 0.01", "step = 0.02")), tmp_path / "page.html"
    assert cli.main(["hil", str(path), "--report", str(page), "-o", str(tmp_path / "run.csv")]) == 0
    rows = np.loadtxt(tmp_path / "run.csv", delimiter=",", skiprows=1)
    assert rows.shape == (150, 3) and rows[-1, 0] == pytest.approx(3.0) and rows[-1, 1] == pytest.approx(1.0, abs=0.1)
    text = page.read_text()
    assert "against the wall clock" in text and "loop that only waits" in text and "https://" not in text


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('"place"', '"plase"'), "did you mean 'place'"),
        (("step = 0.01", "step = 0"), "positive number"),
        (("kp = 8.0", "kq = 8.0"), "unknown key 'kq'"),
        (("kp = 8.0", 'kp = "8"'), "expected a number"),
        (("[channel]", "late = 3\n[channel]"), "expected one of hold, zero, stop"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, change: tuple[str, str], said: str):
    path = scenario(tmp_path, text=SCENARIO.replace(*change))
    with pytest.raises(BadInput, match=said):
        simulate(read_scenario(path))


def test_a_partner_in_c_answers_as_its_law_says(tmp_path: Path):
    """The example partner, compiled: frames of Python go in, PD commands with the same sequence numbers come back; the last frame ends it."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    source = Path(__file__).parents[2] / "examples" / "control" / "partner.c"
    subprocess.run([compiler, "-O2", "-Wall", "-Werror", "-o", str(tmp_path / "partner"), str(source)], check=True)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    partner = subprocess.Popen([str(tmp_path / "partner"), str(port)])
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as door:
            door.connect(("127.0.0.1", port))
            door.settimeout(0.2)
            answers = [ask(door, Frame(k, 0.002 * k, (luff,))) for k, luff in enumerate((0.5, 0.51))]
            door.send(b"noise")
            door.send(Frame(9, 1.0, (), True).packed())
        assert partner.wait(20) == 0
    finally:
        partner.kill()
    assert [answer.sequence for answer in answers] == [0, 1]
    expected = 4256.45 + 6.5e5 * 0.04 + 4.5e4 * (0.04 - 0.05) / 0.002
    assert answers[0].values == pytest.approx([4256.45 + 6.5e5 * 0.05]) and answers[1].values == pytest.approx([expected])


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
