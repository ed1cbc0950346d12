"""Scenarios of hardware in the loop.

mechanism = "lib:boom"              # packed as a native FMU for the run; or fmu = "boom.fmu"
step = 0.001                        # of the plant and of the exchange [s]
stop_time = 5.0
late = "hold"                       # commands that have not come: hold the last ones, "zero", or "stop" the run
[set]                               # parameters or start values of the FMU; settings of a library mechanism, such as outside = 1
load_mass = 400.0
[channel]                           # what is injected on each way, besides what the network does
delay = 0.002                       # s
jitter = 0.001                      # s, uniform on top
loss = 0.01                         # share of frames
seed = 1
[[loops]]                           # the partner's PID controllers; scripts/hil/controller.py
measure = "luff"
command = "lift.force"
setpoint = 0.5
kp = 1e5
[[drives]]                          # FMUs between commands and the plant's actuators; their variables are NAME.variable for loops
name = "cylinder"
mechanism = "lib:servo-drive"       # packed as a native FMU; or fmu = "drive.fmu"
actuator = "lift"
start = { load = 4256.0 }           # length and load come from the actuator where the drive has parameters of these names
[drives.wires]                      # the drive's names for force, stiffness, damping, resting_rate, speed, where they differ
force = "lift.force"
[report]                            # measures of the run as in studies, of measures and commands; of a stage or phase by its name
luff = ["deviation", "settling"]
"luff, each departure*" = "deviation"
[limits]                            # what the run has to keep: min, max or both; it fails with what it does not
"deviation(luff, departure*)" = { max = 0.01 }
[tune]                              # for kinetree tune: margins that the loops are to keep
phase = 45.0                        # degrees; also gain = 2.0, modulus = 0.5
at = "rest"                         # linearised where it rests, or at the "start" of a run, where commands are the loops' offsets
notch = true                        # against the lightly damped mode that limits a loop most, such as that of the oil
forward = true                      # feed-forward of speed and acceleration
[tune.setpoints]                    # laws of time in the place of the loops' constant setpoints, by measure
luff = "0.5 + 0.05*sin(2*t)"
[lqr]                               # for kinetree tune: weights of state feedback by name
states = { luff = 1e6 }
inputs = { "lift.force" = 1e-6 }
[lqg]                               # the same with an observer: densities of disturbances at the commands and of the measures' noise besides
states = { luff = 1e6 }
inputs = { "lift.force" = 1e-6 }
disturbance = { "lift.force" = 10 }
noise = { luff = 1e-6 }
partner = "192.168.1.7:5005"        # an outside partner instead of the loops' own process; then measures = [...], commands = [...];
                                    # "shared": the own process over shared memory, "shared:FILE": an outside one (shared_memory.py)
[controller]                        # an FMU in the partner's process instead of [[loops]]; with measures = [...], commands = [...] in this order
fmu = "controller.fmu"
inputs = ["measured"]
outputs = ["command"]
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kinetree.scripts.hil.controller import Loop
from kinetree.scripts.hil.packet import MOST
from kinetree.scripts.measures.run_measures import MEASURES, bounds, parsed
from kinetree.scripts.terminal.error_messages import BadInput
from kinetree.scripts.terminal.input_files import number, only, read_toml

KEYS = {
    "mechanism",
    "fmu",
    "step",
    "stop_time",
    "late",
    "set",
    "channel",
    "loops",
    "partner",
    "measures",
    "commands",
    "tune",
    "lqr",
    "lqg",
    "controller",
    "report",
    "limits",
    "drives",
}
CONTROLLER = {"fmu", "inputs", "outputs"}
WIRES = {"force", "stiffness", "damping", "resting_rate", "speed"}
SHARED = "shared"
WEIGHTS = {"lqr": {"states", "inputs"}, "lqg": {"states", "inputs", "disturbance", "noise"}}
CHANNEL = {"delay", "jitter", "loss", "seed"}
LATE = ("hold", "zero", "stop")
MOST_STEPS = 10_000_000


@dataclass
class Channel:
    """Faults injected on each way: delay, jitter, loss."""

    delay: float = 0.0
    jitter: float = 0.0
    loss: float = 0.0
    seed: int = 0


@dataclass
class DriveTable:
    """A drive between commands and an actuator of the plant."""

    name: str
    actuator: str
    mechanism: str | None = None
    fmu: Path | None = None
    start: dict[str, float] = field(default_factory=dict)
    wires: dict[str, str] = field(default_factory=dict)


@dataclass
class Scenario:
    """A checked scenario of hardware in the loop."""

    path: Path
    mechanism: str | None
    fmu: Path | None
    step: float
    stop_time: float
    late: str
    measures: list[str]
    commands: list[str]
    loops: list[dict[str, Any]]
    partner: tuple[str, int] | None = None
    shared: Path | None = None  # of an outside partner; an empty path: of the own one
    controller: dict[str, Any] = field(default_factory=dict)
    values: dict[str, float] = field(default_factory=dict)
    settings: dict[str, float] = field(
        default_factory=dict
    )  # of a mechanism of the library, which decide what there is
    tune: dict[str, float] = field(default_factory=dict)
    lqr: dict[str, dict[str, float]] = field(default_factory=dict)
    lqg: dict[str, dict[str, float]] = field(default_factory=dict)
    notch: bool = False
    forward: bool = False
    at: str = "rest"
    setpoints: dict[str, str] = field(default_factory=dict)
    channel: Channel = field(default_factory=Channel)
    drives: list[DriveTable] = field(default_factory=list)
    specialised: bool | None = None  # straight-line code for the plant; None: where it pays
    report: list[str] = field(default_factory=list)  # measures of the run that are told
    limits: dict[str, tuple[float, float]] = field(default_factory=dict)  # by measure: least, most

    @property
    def texts(self) -> list[str]:
        """Return the measures of the run that report and limits ask for."""
        return [*self.report, *self.limits]

    @property
    def outside(self) -> bool:
        """Return whether the controller process is started by the user."""
        return self.partner is not None or (self.shared is not None and self.shared != Path())

    def described(self) -> str | dict[str, Any]:
        """Return the mechanism with its settings applied."""
        from kinetree.models.checks.loader import generated

        assert self.mechanism is not None
        return generated(self.mechanism, self.settings)[0] if self.settings else self.mechanism

    @property
    def steps(self) -> int:
        return round(self.stop_time / self.step)


def read_scenario(path: Path) -> Scenario:
    """Read and check a scenario file; errors name the key."""
    content = read_toml(path)
    only(content, KEYS, str(path))
    if ("mechanism" in content) == ("fmu" in content):
        raise BadInput(f"{path}: expected either mechanism or fmu")
    step, stop = (positive(content, key, f"{path}: {key}") for key in ("step", "stop_time"))
    if not 1 <= round(stop / step) <= MOST_STEPS:
        raise BadInput(f"{path}: {stop / step:.3g} steps, expected 1 to {MOST_STEPS}")
    late = content.get("late", "hold")
    if late not in LATE:
        raise BadInput(f"{path}: late: found '{late}', expected one of {', '.join(LATE)}")
    loops, measures, commands = (
        content.get("loops", []),
        content.get("measures"),
        content.get("commands"),
    )
    for k, table in enumerate(loops):
        only(table, Loop.KEYS, f"{path}: loops[{k}]")
        for key in ("measure", "command"):
            if not isinstance(table.get(key), str):
                raise BadInput(f"{path}: loops[{k}]: {key} is missing")
        for key in Loop.KEYS - {"measure", "command"}:
            if key in table:
                number(table[key], f"{path}: loops[{k}].{key}")
    text = content.get("partner")
    over = isinstance(text, str) and (text == SHARED or text.startswith(f"{SHARED}:"))
    shared = Path(str(text)[len(SHARED) + 1 :]) if over else None
    partner = address(text, f"{path}: partner") if text is not None and not over else None
    controller = controller_table(content.get("controller", {}), path, measures, commands)
    if partner is None and not loops and not controller and shared in (None, Path()):
        raise BadInput(f"{path}: expected [[loops]], a [controller] or a partner")
    measures = measures or list(dict.fromkeys(table["measure"] for table in loops))
    commands = commands or [table["command"] for table in loops]
    if (
        not measures
        or not commands
        or len(measures) > MOST
        or len(commands) > MOST
        or len(set(commands)) < len(commands)
    ):
        raise BadInput(f"{path}: expected 1 to {MOST} measures and different commands")
    values = {
        name: number(value, f"{path}: set.{name}") for name, value in content.get("set", {}).items()
    }
    source = content.get("mechanism")
    source = source if source is None or source.startswith("lib:") else str(path.parent / source)
    archive = path.parent / content["fmu"] if "fmu" in content else None
    settings = {name: values.pop(name) for name in structural(source) if name in values}
    drives = [drive_table(each, path, k) for k, each in enumerate(content.get("drives", []))]
    if len({drive.name for drive in drives}) < len(drives):
        raise BadInput(f"{path}: drives: expected different names")
    design: dict[str, Any] = {"drives": drives}
    design |= design_of(content, path, measures)
    design |= wanted_measures(content, path, [*measures, *commands])
    channel = channel_of(content.get("channel", {}), path)
    return Scenario(
        path,
        source,
        archive,
        step,
        stop,
        late,
        measures,
        commands,
        loops,
        partner,
        shared,
        controller,
        values,
        settings,
        channel=channel,
        **design,
    )


def structural(source: str | None) -> tuple[str, ...]:
    """Return the names of the settings of a generated library mechanism; empty for other sources."""
    from kinetree.models.checks.loader import generated, is_generated

    return (
        generated(source, {})[3]
        if source is not None and source.startswith("lib:") and is_generated(source)
        else ()
    )


def controller_table(
    table: dict[str, Any], path: Path, measures: Any, commands: Any
) -> dict[str, Any]:
    """Return the checked table of a controller FMU, with variables for measurements and commands."""
    if not table:
        return {}
    only(table, CONTROLLER, f"{path}: controller")
    if not isinstance(table.get("fmu"), str):
        raise BadInput(f"{path}: controller.fmu is missing")
    for key, names, word in (("inputs", measures, "measures"), ("outputs", commands, "commands")):
        if (
            not isinstance(table.get(key), list)
            or not isinstance(names, list)
            or len(table[key]) != len(names)
        ):
            raise BadInput(f"{path}: controller.{key}: expected as many names as there are {word}")
    return {**table, "fmu": str(path.parent / table["fmu"])}


def design_of(content: dict[str, Any], path: Path, measures: list[str]) -> dict[str, Any]:
    """Return the settings of the controller design for `kinetree tune`."""
    tune = dict(content.get("tune", {}))
    only(tune, {"phase", "gain", "modulus", "at", "notch", "forward", "setpoints"}, f"{path}: tune")
    found: dict[str, Any] = {}
    for key in ("notch", "forward"):
        found[key] = tune.pop(key, False)
        if not isinstance(found[key], bool):
            raise BadInput(f"{path}: tune.{key}: found {found[key]!r}, expected true or false")
    found["at"] = tune.pop("at", "rest")
    if found["at"] not in ("rest", "start"):
        raise BadInput(f'{path}: tune.at: found {found["at"]!r}, expected "rest" or "start"')
    found["setpoints"] = tune.pop("setpoints", {})
    for name, law in found["setpoints"].items():
        if name not in measures or not isinstance(law, str):
            raise BadInput(
                f"{path}: tune.setpoints.{name}: expected a measure of a loop and the text of a law of time"
            )
    found["tune"] = {key: number(value, f"{path}: tune.{key}") for key, value in tune.items()}
    for key, tables in WEIGHTS.items():
        only(content.get(key, {}), tables, f"{path}: {key}")
        weights = content.get(key, {}).items()
        found[key] = {
            kind: {
                name: number(value, f"{path}: {key}.{kind}.{name}") for name, value in table.items()
            }
            for kind, table in weights
        }
    weigh(content, found, path)
    return found


def weigh(content: dict[str, Any], found: dict[str, Any], path: Path) -> None:
    """Give [lqg] the weights of [lqr] where it has none; refuse designs that weigh no state, whose
    gains would all be zero.
    """
    if "lqg" in content:
        for kind in ("states", "inputs"):
            if kind in found["lqr"]:
                found["lqg"].setdefault(kind, found["lqr"][kind])
    for key in WEIGHTS:
        if key in content and not any(found[key].get("states", {}).values()):
            there = " or lqr.states" if key == "lqg" else ""
            raise BadInput(
                f"{path}: {key}.states{there}: found no weight of a state other than 0, with which all gains are 0; "
                f"give the weights of states that matter, such as {{ {(measures_in(content) or ['x'])[0]} = 1e6 }}"
            )


def measures_in(content: dict[str, Any]) -> list[str]:
    """Return the measures of the loops that name one."""
    return [table["measure"] for table in content.get("loops", []) if "measure" in table]


def drive_table(table: dict[str, Any], path: Path, place_in_list: int) -> DriveTable:
    """Return a checked drive; its file paths are relative to the scenario."""
    place = f"{path}: drives[{place_in_list}]"
    only(table, {"name", "actuator", "mechanism", "fmu", "start", "wires"}, place)
    for key in ("name", "actuator"):
        if not isinstance(table.get(key), str) or not table[key]:
            raise BadInput(f"{place}: {key} is missing")
    if ("mechanism" in table) == ("fmu" in table):
        raise BadInput(f"{place}: expected either mechanism or fmu")
    source = table.get("mechanism")
    if source is not None and not source.startswith("lib:"):
        source = str(path.parent / source)
    wires = table.get("wires", {})
    only(wires, WIRES, f"{place}.wires")
    start = {
        name: number(value, f"{place}.start.{name}")
        for name, value in table.get("start", {}).items()
    }
    archive = path.parent / table["fmu"] if "fmu" in table else None
    return DriveTable(table["name"], table["actuator"], source, archive, start, wires)


def wanted_measures(content: dict[str, Any], path: Path, columns: list[str]) -> dict[str, Any]:
    """Return the measures to report and the limits to check, after checking that they are valid."""
    report = [
        f"{measure}({name})"
        for name, listed in content.get("report", {}).items()
        for measure in ([listed] if isinstance(listed, str) else listed)
    ]
    limits = {
        text: bounds(table, f"{path}: limits.{text}")
        for text, table in content.get("limits", {}).items()
    }
    for text in (*report, *limits):
        try:
            name, column = parsed(text)
        except ValueError as error:
            raise BadInput(f"{path}: {error}") from None
        if name not in MEASURES or column not in columns:
            raise BadInput(
                f"{path}: '{text}': expected a measure of a run, of one of {', '.join(columns)}"
            )
    return {"report": report, "limits": limits}


def channel_of(table: dict[str, Any], path: Path) -> Channel:
    only(table, CHANNEL, f"{path}: channel")
    found = {
        key: number(table.get(key, 0.0), f"{path}: channel.{key}")
        for key in ("delay", "jitter", "loss")
    }
    if min(found.values()) < 0.0 or found["loss"] >= 1.0:
        raise BadInput(
            f"{path}: channel: expected delay and jitter of at least 0 and a loss from 0 to below 1"
        )
    seed = table.get("seed", 0)
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise BadInput(f"{path}: channel.seed: found {seed!r}, expected a whole number")
    return Channel(**found, seed=seed)


def positive(content: dict[str, Any], key: str, place: str) -> float:
    if key not in content or not number(content[key], place) > 0.0:
        raise BadInput(f"{place}: expected a positive number of seconds")
    return float(content[key])


def address(text: Any, place: str) -> tuple[str, int]:
    host, _, port = str(text).rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise BadInput(f"{place}: found {text!r}, expected HOST:PORT")
    return host, int(port)
