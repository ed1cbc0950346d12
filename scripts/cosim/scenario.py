"""A scenario: which units there are, how they are coupled, for how long. One TOML file; the format stands in docs/coupling.md."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from kinetree.scripts.cosim.control import ControlSpec
from kinetree.scripts.cosim.controller import Pid
from kinetree.scripts.cosim.masters import ORDERS
from kinetree.scripts.cosim.oil import Cylinder, Valve
from kinetree.scripts.cosim.profile import Profile
from kinetree.scripts.cosim.schemes import SCHEMES
from kinetree.scripts.terminal.failure import BadInput

SCENARIOS = Path(__file__).parent / "scenarios"
MECHANISM = {"format", "bodies", "joints"}  # keys of a description
KINDS = ("description", "fmu", "drive", "controller")


@dataclass(frozen=True)
class Coupling:
    """A drive on an actuator, and a controller of the drive; the scheme decides what they exchange."""

    mechanism: str = "mechanism"
    actuator: str = "lift"
    drive: str = "drive"
    controller: str = ""


@dataclass(frozen=True)
class Connection:
    """input = factor * output + offset, each as UNIT.NAME; `slope` is the output that is the time derivative.

    `mean` gives the mean of the ramp instead of it, `hold` the value at the beginning of the step.
    """

    source: str
    target: str
    slope: str = ""
    factor: float = 1.0
    offset: float = 0.0
    mean: bool = False
    hold: bool = False
    bond: str = ""


@dataclass(frozen=True)
class DriveSpec:
    """Numbers of a hydraulic drive."""

    cylinder: Cylinder = field(default_factory=Cylinder)
    valve: Valve = field(default_factory=Valve)
    profile: Profile = ((0.0, 0.0),)
    rotary: bool = False  # lengths are angles, areas volumes per radian


@dataclass(frozen=True)
class ControllerSpec:
    """Numbers of a position controller, and the setpoint over time."""

    pid: Pid = field(default_factory=Pid)
    profile: Profile = ()
    unit: str = "m"


@dataclass(frozen=True)
class UnitSpec:
    """A unit: exactly one of a description, an FMU, a drive, a controller; start values of its variables, parameters of its description."""

    name: str
    description: str = ""
    fmu: str = ""
    drive: DriveSpec | None = None
    controller: ControllerSpec | None = None
    start: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Scenario:
    """What is run."""

    file: str
    name: str
    units: tuple[UnitSpec, ...]
    coupling: Coupling | None = None
    connections: tuple[Connection, ...] = ()
    outputs: tuple[str, ...] = ()
    stop_time: float = 1.0
    step_size: float = 0.01
    scheme: str = "held"
    extrapolation: int = 0
    control: ControlSpec | None = None
    notes: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        return Path(self.file).parent

    def unit(self, name: str) -> UnitSpec:
        """A unit by its name."""
        for unit in self.units:
            if unit.name == name:
                return unit
        raise BadInput(f"{self.file}: there is no unit '{name}'; units: {', '.join(unit.name for unit in self.units)}")


def read_scenario(source: str) -> Scenario:
    """A file, or lib:NAME for one of those that ship."""
    path = SCENARIOS / f"{source[4:]}.toml" if source.startswith("lib:") else Path(source)
    if source.startswith("lib:") and not path.exists():
        raise BadInput(f"no scenario '{source}'; there are {', '.join('lib:' + p.stem for p in sorted(SCENARIOS.glob('*.toml')))}")
    if not path.exists():
        raise FileNotFoundError(2, "no such file", str(path))
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: {error}") from error
    return scenario_of(raw, str(path))


def spanned(step: float, end: float) -> None:
    """A communication step longer than the run couples nothing."""
    if step > end:
        raise BadInput(f"a communication step of {step:g} s is longer than the run of {end:g} s: take a smaller --step-size or a larger --stop-time")


def scenario_of(raw: dict[str, Any], file: str) -> Scenario:
    """Checks a scenario key by key."""
    if MECHANISM & set(raw):
        how = f'run it by `kinetree run {file}`, or name it in a scenario: [units.mechanism] with description = "{Path(file).name}"'
        raise BadInput(f"{file} describes a mechanism, not a scenario of coupled units: {how}")
    known = {"name", "units", "coupling", "wires", "outputs", "stop_time", "step_size", "scheme", "extrapolation", "step_control"}
    table = keys(raw, known, file, "")
    units = tuple(unit_of(name, spec, file) for name, spec in table.get("units", {}).items())
    if not units:
        raise BadInput(f'{file}: units: at least one is needed, for example [units.mechanism] with description = "lib:boom"')
    names = {"mechanism", "actuator", "drive", "controller"}
    coupling = Coupling(**keys(table["coupling"], names, file, "coupling.")) if "coupling" in table else None
    wires = tuple(connection(wire, file, f"wires[{k}]") for k, wire in enumerate(table.get("wires", [])))
    if coupling and wires:
        raise BadInput(f"{file}: [coupling] chooses the wires itself; leave out either it or [[wires]]")
    if coupling:
        check_coupling(coupling, units, file)
    scheme = table.get("scheme", "told" if coupling else "held")
    if scheme not in SCHEMES:
        raise BadInput(f"{file}: scheme: found '{scheme}', expected one of {', '.join(SCHEMES)}")
    times = {key: positive(table[key], f"{file}: {key}") for key in ("stop_time", "step_size") if key in table}
    order = table.get("extrapolation", 0)
    if order not in ORDERS:
        raise BadInput(f"{file}: extrapolation: found {order!r}, expected one of {', '.join(map(str, ORDERS))}")
    control = None
    if "step_control" in table:
        numbers = keys(table["step_control"], {f.name for f in fields(ControlSpec)}, file, "step_control.")
        control = ControlSpec(**{key: positive(value, f"{file}: step_control.{key}") for key, value in numbers.items()})
    name, outputs = table.get("name", Path(file).stem), tuple(table.get("outputs", ()))
    return Scenario(file, name, units, coupling, wires, outputs, scheme=scheme, extrapolation=order, control=control, **times)


def check_coupling(coupling: Coupling, units: tuple[UnitSpec, ...], file: str) -> None:
    """The names of a coupling must be those of units of the right kinds, because the reference is made of the same parts."""
    found = {unit.name: unit for unit in units}
    wanted = {"mechanism": "description", "drive": "drive"} | ({"controller": "controller"} if coupling.controller else {})
    for role, kind in wanted.items():
        name = getattr(coupling, role)
        if name not in found:
            raise BadInput(f"{file}: coupling.{role}: there is no unit '{name}'; units: {', '.join(found)}")
        if not getattr(found[name], kind):
            raise BadInput(f"{file}: coupling.{role}: unit '{name}' has no {kind}, of which the reference is made; any FMUs are joined by [[wires]]")


def connection(raw: Any, file: str, place: str) -> Connection:
    """One wire."""
    given = keys(raw, {"from", "to", "slope", "factor", "offset", "mean", "hold", "bond"}, file, f"{place}.")
    if not {"from", "to"} <= set(given):
        raise BadInput(f'{file}: {place}: expected from = "UNIT.OUTPUT" and to = "UNIT.INPUT"')
    numbers = {key: number(given[key], f"{file}: {place}.{key}") for key in ("factor", "offset") if key in given}
    ways = {key: bool(given.get(key)) for key in ("mean", "hold")}
    return Connection(given["from"], given["to"], given.get("slope", ""), bond=given.get("bond", ""), **ways, **numbers)


def keys(table: Any, known: set[str], file: str, place: str) -> dict[str, Any]:
    """A table whose keys are all known."""
    if not isinstance(table, dict):
        raise BadInput(f"{file}: {place.rstrip('.')}: expected a table")
    for key in table:
        if key not in known:
            near = get_close_matches(key, known, 1, 0.5)
            hint = f"did you mean '{near[0]}'?" if near else f"expected one of {', '.join(sorted(known))}"
            raise BadInput(f"{file}: {place}{key}: unknown key; {hint}")
    return table


def number(value: Any, place: str) -> float:
    """A finite number of a scenario."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise BadInput(f"{place}: found {value!r}, expected a number")
    return float(value)


def positive(value: Any, place: str) -> float:
    """A positive number of a scenario or of the command line."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0.0 < value < float("inf"):
        raise BadInput(f"{place}: found {value!r}, expected a positive number")
    return float(value)


def unit_of(name: str, raw: Any, file: str) -> UnitSpec:
    """One unit."""
    place = f"units.{name}."
    table = keys(raw, {*KINDS, "start", "settings"}, file, place)
    given = [kind for kind in KINDS if kind in table]
    if len(given) != 1:
        raise BadInput(f"{file}: units.{name}: expected exactly one of {', '.join(KINDS)}, found {', '.join(given) or 'none'}")
    drive = drive_of(table["drive"], file, f"{place}drive.") if "drive" in table else None
    controller = controller_of(table["controller"], file, f"{place}controller.") if "controller" in table else None
    start = {key: number(value, f"{file}: {place}start.{key}") for key, value in table.get("start", {}).items()}
    settings = {key: number(value, f"{file}: {place}settings.{key}") for key, value in table.get("settings", {}).items()}
    if settings and "description" not in table:
        raise BadInput(f"{file}: {place}settings: only a description has parameters to set before it is compiled")
    return UnitSpec(name, table.get("description", ""), table.get("fmu", ""), drive, controller, start, settings)


def part_of(kind: type, raw: Any, file: str, place: str) -> Any:
    """Numbers of a part whose class checks them; what is left out has its default."""
    numbers = keys(raw, {f.name for f in fields(kind)}, file, f"{place}.")
    try:
        return kind(**{name: number(value, name) for name, value in numbers.items()})
    except (ValueError, BadInput) as error:
        raise BadInput(f"{file}: {place}: {error}") from error


def profile_of(raw: Any, file: str, place: str) -> Profile:
    """Points [time, value] in the order of their times."""
    try:
        profile = tuple((number(t, place), number(x, place)) for t, x in raw)
    except (TypeError, ValueError) as error:
        raise BadInput(f"{file}: {place}: expected points [time, value]") from error
    if any(b[0] < a[0] for a, b in zip(profile, profile[1:])):
        raise BadInput(f"{file}: {place}: times must ascend")
    return profile


def drive_of(raw: Any, file: str, place: str) -> DriveSpec:
    """Numbers of a drive."""
    table = keys(raw, {"cylinder", "valve", "profile", "rotary"}, file, place)
    parts = {key: part_of(kind, table.get(key, {}), file, f"{place}{key}") for key, kind in (("cylinder", Cylinder), ("valve", Valve))}
    profile = profile_of(table.get("profile", ((0.0, 0.0),)), file, f"{place}profile")
    return DriveSpec(parts["cylinder"], parts["valve"], profile, bool(table.get("rotary", False)))


def controller_of(raw: Any, file: str, place: str) -> ControllerSpec:
    """Numbers of a position controller."""
    table = keys(raw, {"pid", "profile", "unit"}, file, place)
    pid = part_of(Pid, table.get("pid", {}), file, f"{place}pid")
    return ControllerSpec(pid, profile_of(table.get("profile", ()), file, f"{place}profile"), table.get("unit", "m"))
