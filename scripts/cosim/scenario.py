"""A scenario: which units there are, how they are coupled, for how long. One TOML file; the format stands in docs/coupling.md."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from kinetree.scripts.cosim.oil import Cylinder, Valve
from kinetree.scripts.cosim.schemes import SCHEMES
from kinetree.scripts.failure import BadInput

SCENARIOS = Path(__file__).parent / "scenarios"
KINDS = ("description", "fmu", "drive")


@dataclass(frozen=True)
class Coupling:
    """A drive on an actuator; the scheme decides what they exchange."""

    mechanism: str = "mechanism"
    actuator: str = "lift"
    drive: str = "drive"


@dataclass(frozen=True)
class Connection:
    """An output to an input, each as UNIT.NAME; `slope` is the output that is the time derivative."""

    source: str
    target: str
    slope: str = ""


@dataclass(frozen=True)
class DriveSpec:
    """Numbers of a hydraulic drive."""

    cylinder: Cylinder = field(default_factory=Cylinder)
    valve: Valve = field(default_factory=Valve)
    profile: tuple[tuple[float, float], ...] = ((0.0, 0.0),)


@dataclass(frozen=True)
class UnitSpec:
    """A unit: exactly one of a description, an FMU, a drive; start values of its variables."""

    name: str
    description: str = ""
    fmu: str = ""
    drive: DriveSpec | None = None
    start: dict[str, float] = field(default_factory=dict)


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


def scenario_of(raw: dict[str, Any], file: str) -> Scenario:
    """Checks a scenario key by key."""
    table = keys(raw, {"name", "units", "coupling", "wires", "outputs", "stop_time", "step_size", "scheme"}, file, "")
    units = tuple(unit_of(name, spec, file) for name, spec in table.get("units", {}).items())
    if not units:
        raise BadInput(f'{file}: units: at least one is needed, for example [units.mechanism] with description = "lib:boom"')
    coupling = Coupling(**keys(table["coupling"], {"mechanism", "actuator", "drive"}, file, "coupling.")) if "coupling" in table else None
    wires = []
    for k, wire in enumerate(table.get("wires", [])):
        given = keys(wire, {"from", "to", "slope"}, file, f"wires[{k}].")
        if not {"from", "to"} <= set(given):
            raise BadInput(f'{file}: wires[{k}]: expected from = "UNIT.OUTPUT" and to = "UNIT.INPUT"')
        wires.append(Connection(given["from"], given["to"], given.get("slope", "")))
    if coupling and wires:
        raise BadInput(f"{file}: [coupling] chooses the wires itself; leave out either it or [[wires]]")
    scheme = table.get("scheme", "told" if coupling else "held")
    if scheme not in SCHEMES:
        raise BadInput(f"{file}: scheme: found '{scheme}', expected one of {', '.join(SCHEMES)}")
    times = {key: positive(table[key], f"{file}: {key}") for key in ("stop_time", "step_size") if key in table}
    return Scenario(file, table.get("name", Path(file).stem), units, coupling, tuple(wires), tuple(table.get("outputs", ())), scheme=scheme, **times)


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


def positive(value: Any, place: str) -> float:
    """A positive number of a scenario or of the command line."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0.0 < value < float("inf"):
        raise BadInput(f"{place}: found {value!r}, expected a positive number")
    return float(value)


def unit_of(name: str, raw: Any, file: str) -> UnitSpec:
    """One unit."""
    place = f"units.{name}."
    table = keys(raw, {*KINDS, "start"}, file, place)
    given = [kind for kind in KINDS if kind in table]
    if len(given) != 1:
        raise BadInput(f"{file}: units.{name}: expected exactly one of {', '.join(KINDS)}, found {', '.join(given) or 'none'}")
    drive = drive_of(table["drive"], file, f"{place}drive.") if "drive" in table else None
    return UnitSpec(name, table.get("description", ""), table.get("fmu", ""), drive, {k: float(v) for k, v in table.get("start", {}).items()})


def drive_of(raw: Any, file: str, place: str) -> DriveSpec:
    """Numbers of a drive; what is left out has the default of `oil.py`."""
    table = keys(raw, {"cylinder", "valve", "profile"}, file, place)
    parts = {}
    for key, kind in (("cylinder", Cylinder), ("valve", Valve)):
        numbers = keys(table.get(key, {}), {f.name for f in fields(kind)}, file, f"{place}{key}.")
        try:
            parts[key] = kind(**{name: float(value) for name, value in numbers.items()})
        except (ValueError, TypeError) as error:
            raise BadInput(f"{file}: {place}{key}: {error}") from error
    profile = tuple((float(t), float(x)) for t, x in table.get("profile", ((0.0, 0.0),)))
    if any(b[0] < a[0] for a, b in zip(profile, profile[1:])):
        raise BadInput(f"{file}: {place}profile: times must ascend")
    return DriveSpec(parts["cylinder"], parts["valve"], profile)
