"""Scenarios of co-simulation: units, coupling, duration (TOML; docs/coupling.md has the format)."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from kinetree.scripts.cosim.position_controller import Pid
from kinetree.scripts.cosim.scenario_file import ScenarioFile, UnitTable
from kinetree.scripts.cosim.step_size_control import ControlSpec
from kinetree.scripts.cosim.time_profile import Profile
from kinetree.scripts.cosim.valve_cylinder import Cylinder, Valve
from kinetree.scripts.terminal.error_messages import BadInput
from kinetree.scripts.terminal.input_files import checked, read_toml

SCENARIOS = Path(__file__).parent / "scenarios"
MECHANISM = {"format", "bodies", "joints"}  # keys of a description


@dataclass(frozen=True)
class Coupling:
    """A drive coupled to an actuator, with an optional controller."""

    mechanism: str = "mechanism"
    actuator: str = "lift"
    drive: str = "drive"
    controller: str = ""


@dataclass(frozen=True)
class Connection:
    """input = factor * output + offset, each as UNIT.NAME; `slope` is the output that is the time derivative.

    `mean` sets the mean of the ramp instead of the ramp; `hold` sets the value at the beginning of
    the step.
    """

    source: str
    target: str
    slope: str
    factor: float
    offset: float
    mean: bool
    hold: bool
    bond: str


@dataclass(frozen=True)
class DriveSpec:
    """Parameters of a hydraulic drive and its command profile."""

    cylinder: Cylinder = field(default_factory=Cylinder)
    valve: Valve = field(default_factory=Valve)
    profile: Profile = ((0.0, 0.0),)
    rotary: bool = False  # lengths are angles, areas volumes per radian


@dataclass(frozen=True)
class ControllerSpec:
    """Parameters of a position controller, and its setpoint over time."""

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
    """A co-simulation scenario."""

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
        """Return a unit by its name."""
        for unit in self.units:
            if unit.name == name:
                return unit
        raise BadInput(
            f"{self.file}: there is no unit '{name}'; units: {', '.join(unit.name for unit in self.units)}"
        )


def read_scenario(source: str) -> Scenario:
    """Return the scenario in a file or of lib:NAME."""
    path = SCENARIOS / f"{source[4:]}.toml" if source.startswith("lib:") else Path(source)
    if source.startswith("lib:") and not path.exists():
        raise BadInput(
            f"no scenario '{source}'; there are {', '.join('lib:' + p.stem for p in sorted(SCENARIOS.glob('*.toml')))}"
        )
    return scenario_of(read_toml(path), str(path))


def spanned(step: float, end: float) -> None:
    """Raise BadInput if the communication step is longer than the run."""
    if step > end:
        raise BadInput(
            f"a communication step of {step:g} s is longer than the run of {end:g} s: take a smaller --step-size or a larger --stop-time"
        )


def scenario_of(raw: dict[str, Any], file: str) -> Scenario:
    """Return a scenario from the content of a file."""
    if MECHANISM & set(raw):
        how = f'run it by `kinetree run {file}`, or name it in a scenario: [units.mechanism] with description = "{Path(file).name}"'
        raise BadInput(f"{file} describes a mechanism, not a scenario of coupled units: {how}")
    if not raw.get("units"):
        raise BadInput(
            f'{file}: units: at least one is needed, for example [units.mechanism] with description = "lib:boom"'
        )
    table = checked(ScenarioFile, raw, file)
    units = tuple(unit_of(name, spec, file) for name, spec in table.units.items())
    coupling = Coupling(**table.coupling.model_dump()) if table.coupling else None
    if coupling:
        check_coupling(coupling, units, file)
    given = table.model_fields_set & {"stop_time", "step_size"}
    return Scenario(
        file,
        table.name or Path(file).stem,
        units,
        coupling,
        tuple(Connection(**wire.model_dump()) for wire in table.wires),
        table.outputs,
        scheme=table.scheme or ("told" if coupling else "held"),
        extrapolation=table.extrapolation,
        control=ControlSpec(**table.step_control.model_dump()) if table.step_control else None,
        **{key: getattr(table, key) for key in given},
    )


def check_coupling(coupling: Coupling, units: tuple[UnitSpec, ...], file: str) -> None:
    """Check that the coupling names units of the right kinds."""
    found = {unit.name: unit for unit in units}
    wanted = {"mechanism": "description", "drive": "drive"} | (
        {"controller": "controller"} if coupling.controller else {}
    )
    for role, kind in wanted.items():
        name = getattr(coupling, role)
        if name not in found:
            raise BadInput(
                f"{file}: coupling.{role}: there is no unit '{name}'; units: {', '.join(found)}"
            )
        if not getattr(found[name], kind):
            raise BadInput(
                f"{file}: coupling.{role}: unit '{name}' has no {kind}, of which the reference is made; any FMUs are joined by [[wires]]"
            )


def positive(value: Any, place: str) -> float:
    """Return a number after checking that it is positive; `place` names it in the message."""
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float))
        or not 0.0 < value < float("inf")
    ):
        raise BadInput(f"{place}: found {value!r}, expected a positive number")
    return float(value)


def unit_of(name: str, table: UnitTable, file: str) -> UnitSpec:
    """Return one unit of a scenario from its table."""
    place = f"units.{name}"
    drive = controller = None
    if table.drive is not None:
        cylinder, valve = (
            part_of(kind, getattr(table.drive, key), file, f"{place}.drive.{key}")
            for key, kind in PARTS
        )
        drive = DriveSpec(cylinder, valve, table.drive.profile, table.drive.rotary)
    if table.controller is not None:
        controller = ControllerSpec(
            part_of(Pid, table.controller.pid, file, f"{place}.controller.pid"),
            table.controller.profile,
            table.controller.unit,
        )
    return UnitSpec(
        name,
        table.description or "",
        table.fmu or "",
        drive,
        controller,
        dict(table.start),
        dict(table.settings),
    )


PARTS = (("cylinder", Cylinder), ("valve", Valve))


def part_of(kind: type, numbers: dict[str, float], file: str, place: str) -> Any:
    """Return a part of a unit (cylinder, valve, PID) built from its values; missing ones have
    defaults.
    """
    known = [each.name for each in fields(kind)]
    for key in numbers:
        if key not in known:
            near = get_close_matches(key, known, 1, 0.5)
            hint = (
                f"did you mean '{near[0]}'?"
                if near
                else f"expected one of {', '.join(sorted(known))}"
            )
            raise BadInput(f"{file}: {place}.{key}: unknown key; {hint}")
    try:
        return kind(**numbers)
    except (ValueError, BadInput) as error:
        raise BadInput(f"{file}: {place}: {error}") from error
