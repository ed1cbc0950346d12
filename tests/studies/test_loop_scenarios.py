"""Scenarios of hardware in the loop: what is read of a whole file, what is taken where nothing stands, and the borders of what may stand there."""

from contextlib import nullcontext
from pathlib import Path

import pytest

from kinetree.scripts.hil.packet import Frame, unpacked
from kinetree.scripts.hil.scenario import Channel, Scenario, read_scenario
from kinetree.scripts.terminal.error_messages import BadInput

WHOLE = """
fmu = "boom.fmu"
step = 0.5
stop_time = 5.2
late = "zero"
partner = "10.0.0.1:65535"
measures = ["a", "b"]
commands = ["u"]
[set]
load_mass = 400
[channel]
delay = 0.002
jitter = 0.001
loss = 0.01
seed = 3
[[loops]]
measure = "b"
command = "u"
kp = 1e5
[tune]
phase = 45.0
at = "start"
notch = true
forward = true
[tune.setpoints]
b = "0.5*t"
[lqr]
states = { a = 1e6 }
inputs = { u = 1 }
[lqg]
disturbance = { u = 10 }
"""


def test_complete_hil_scenario_is_read(tmp_path: Path):
    path = tmp_path / "loop.toml"
    path.write_text(WHOLE)
    assert read_scenario(path) == Scenario(
        path, None, tmp_path / "boom.fmu", 0.5, 5.2, "zero", ["a", "b"], ["u"], [{"measure": "b", "command": "u", "kp": 1e5}], ("10.0.0.1", 65535),
        values={"load_mass": 400.0}, channel=Channel(0.002, 0.001, 0.01, 3), tune={"phase": 45.0}, at="start", notch=True, forward=True,
        setpoints={"b": "0.5*t"},
        lqr={"states": {"a": 1e6}, "inputs": {"u": 1.0}}, lqg={"disturbance": {"u": 10.0}, "states": {"a": 1e6}, "inputs": {"u": 1.0}},
    )  # fmt: skip
    assert read_scenario(path).steps == 10 and read_scenario(path).outside
    path.write_text(
        'mechanism = "m.toml"\nstep = 1\nstop_time = 1\n[[loops]]\nmeasure = "b"\ncommand = "u"\n[[loops]]\nmeasure = "b"\ncommand = "v"\n'
    )
    found = read_scenario(path)
    assert (found.mechanism, found.fmu, found.measures, found.commands) == (
        str(tmp_path / "m.toml"),
        None,
        ["b"],
        ["u", "v"],
    )
    assert (found.late, found.at, found.notch, found.forward, found.channel, found.outside, found.shared) == (
        "hold", "rest", False, False, Channel(), False, None
    )  # fmt: skip
    assert (
        found.described() == str(tmp_path / "m.toml")
        and found.tune == found.lqr == found.lqg == found.setpoints == found.controller == {}
    )


def test_library_settings_define_mechanism(tmp_path: Path):
    """They make the mechanism; other values are set in it."""
    path = tmp_path / "loop.toml"
    path.write_text(
        'mechanism = "lib:chain"\nstep = 1\nstop_time = 2\n[set]\nn = 2\nmass = 3\n[[loops]]\nmeasure = "b"\ncommand = "u"\n'
    )
    found = read_scenario(path)
    assert (
        found.settings == {"n": 2.0}
        and found.values == {"mass": 3.0}
        and found.mechanism == "lib:chain"
    )
    made = found.described()
    assert isinstance(made, dict) and len(made["bodies"]) == 2


LOOP = '[[loops]]\nmeasure = "b"\ncommand = "u"\n'


@pytest.mark.parametrize(
    ("head", "rest", "said"),
    [
        ("step = 1\nstop_time = 1e7", LOOP, ""), ("step = 1\nstop_time = 10000001", LOOP, r"1e\+07 steps, expected 1 to 10000000"),
        ("step = 1\nstop_time = 0.51", LOOP, ""), ("step = 1\nstop_time = 0.5", LOOP, "0.5 steps, expected 1 to"),
        ("step = 0.0\nstop_time = 1", LOOP, "step: expected a positive number of seconds"), ("stop_time = 1", LOOP, "step: expected a positive"),
        ("step = 1\nstop_time = 1", "", r"expected \[\[loops\]\], a \[controller\] or a partner"),
        ("partner = 'shared'\nstep = 1\nstop_time = 1", "", "expected \\[\\[loops\\]\\], a \\[controller\\] or a partner"),
        ("partner = 'shared:box'\nstep = 1\nstop_time = 1", "", "expected 1 to 64 measures and different commands"),
        ("partner = 'shared:box'\nstep = 1\nstop_time = 1\nmeasures = ['a']", "", "expected 1 to 64 measures and different commands"),
        ("partner = 'shared:box'\nstep = 1\nstop_time = 1\ncommands = ['a']", "", "expected 1 to 64 measures and different commands"),
        ("partner = 'shared:box'\nstep = 1\nstop_time = 1\nmeasures = ['a']\ncommands = ['u']", "", ""),
        ("partner = 'h:65536'\nstep = 1\nstop_time = 1", LOOP, "partner: found 'h:65536', expected HOST:PORT"),
        ("partner = 'h:0'\nstep = 1\nstop_time = 1", LOOP, "partner: found 'h:0', expected HOST:PORT"),
        ("partner = ':5'\nstep = 1\nstop_time = 1", LOOP, "partner: found ':5', expected HOST:PORT"),
        ("partner = 'h:1'\nstep = 1\nstop_time = 1", LOOP, ""),
        ("step = 1\nstop_time = 1", "[channel]\nloss = 0.999\n" + LOOP, ""),
        ("step = 1\nstop_time = 1", "[channel]\njitter = -1e-9\n" + LOOP, "expected delay and jitter of at least 0"),
        ("step = 1\nstop_time = 1", "[channel]\nseed = -1\n" + LOOP, "channel.seed: found -1, expected a whole number"),
        ("step = 1\nstop_time = 1", "[channel]\nseed = true\n" + LOOP, "channel.seed: found True, expected a whole number"),
        ("step = 1\nstop_time = 1", "[channel]\nwait = 1\n" + LOOP, "channel: unknown key 'wait'"),
        ("step = 1\nstop_time = 1", "[tune.setpoints]\na = 't'\n" + LOOP, "tune.setpoints.a: expected a measure"),
        ("step = 1\nstop_time = 1", "[tune]\nspeed = 1\n" + LOOP, "tune: unknown key 'speed'"),
        ("step = 1\nstop_time = 1", "[tune]\nphase = 'a'\n" + LOOP, "tune.phase: found 'a', expected a number"),
        ("step = 1\nstop_time = 1", "[lqr]\nnoise = {}\n" + LOOP, "lqr: unknown key 'noise'"),
        ("step = 1\nstop_time = 1", "[lqg.noise]\na = 'b'\n" + LOOP, "lqg.noise.a: found 'b', expected a number"),
        ("step = 1\nstop_time = 1", "[controller]\nfmu = 'c'\ninputs = ['a']\noutputs = []\n", "controller.inputs: expected as many names"),
        ("step = 1\nstop_time = 1\nmeasures = ['m']", "[controller]\nfmu = 'c'\ninputs = ['a']\noutputs = 'b'\n", "controller.outputs: expected"),
        ("step = 1\nstop_time = 1", "[controller]\nfmu = 'c'\nlaw = 1\n", "controller: unknown key 'law'"),
    ],
)  # fmt: skip
def test_hil_scenario_limits_are_inclusive(tmp_path: Path, head: str, rest: str, said: str):
    path = tmp_path / "loop.toml"
    path.write_text(f'fmu = "m.fmu"\n{head}\n{rest}')
    with pytest.raises(BadInput, match=said) if said else nullcontext():
        found = read_scenario(path)
        assert found.outside == ("box" in head or "h:1" in head) and (found.shared is not None) == (
            "box" in head
        )


def test_frames_have_at_most_sixty_four_values(tmp_path: Path):
    path = tmp_path / "loop.toml"
    for count in (64, 65):
        path.write_text(
            f'fmu = "m.fmu"\nstep = 1\nstop_time = 1\npartner = "h:1"\nmeasures = {[f"m{k}" for k in range(count)]}\ncommands = ["u"]\n'
        )
        with nullcontext() if count == 64 else pytest.raises(BadInput, match="1 to 64 measures"):
            read_scenario(path)
        path.write_text(
            path.read_text()
            .replace("measures", "others")
            .replace("commands", "measures")
            .replace("others", "commands")
        )
        with nullcontext() if count == 64 else pytest.raises(BadInput, match="1 to 64 measures"):
            read_scenario(path)
        frame = Frame(1, 2.0, tuple(map(float, range(count))))
        assert unpacked(frame.packed()) == (frame if count == 64 else None)
    assert (
        unpacked(Frame(2**32 + 5, 0.5, (), True).packed()) == Frame(5, 0.5, (), True)
        and unpacked(bytes(23)) is None
    )
