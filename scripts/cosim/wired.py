"""Scenarios whose wires are written out: any units, any FMUs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from kinetree.models import load
from kinetree.scripts.cosim.drive import Drive
from kinetree.scripts.cosim.fmu_slave import FmuSlave
from kinetree.scripts.cosim.masters import GaussSeidel, InterfaceJacobian, Master, Repeat, Wire
from kinetree.scripts.cosim.run import cosimulate
from kinetree.scripts.cosim.scenario import Connection, Scenario, UnitSpec
from kinetree.scripts.cosim.slave import DriveSlave, Slave
from kinetree.scripts.cosim.study import Outcome
from kinetree.scripts.cosim.units import mechanism_unit, raw_description
from kinetree.scripts.failure import BadInput

MASTERS: dict[str, Callable[[Sequence[Slave], Sequence[Wire]], Master]] = {
    "held": Master,
    "sequential": GaussSeidel,
    "slope": lambda slaves, wires: Master(slaves, wires, sloped=True),
    "repeat": Repeat,
    "jacobian": InterfaceJacobian,
}


def run_wired(
    scenario: Scenario, scheme: str, step_size: float, stop_time: float, units: str = "process", progress: Callable[[float], None] | None = None
) -> Outcome:
    """All units, started and stepped; there is no reference to compare with."""
    if scheme not in MASTERS:
        raise BadInput(f"{scenario.file}: scheme {scheme} needs a [coupling] that names an actuator; wires take {', '.join(MASTERS)}")
    with TemporaryDirectory(prefix="kinetree-cosim-") as folder:
        slaves = {spec.name: unit_of(spec, scenario, units, Path(folder)) for spec in scenario.units}
    wires = [wire_of(connection, slaves, scenario.file) for connection in scenario.connections]
    notes = unconnected(scenario, slaves, wires)
    for spec in scenario.units:
        slaves[spec.name].start(spec.start)
    master = MASTERS[scheme](list(slaves.values()), wires)
    recorded = [end_of(name, slaves, scenario.file, "outputs") for name in scenario.outputs] or [(wire.source, wire.output) for wire in wires]
    began = time.perf_counter()
    trace = cosimulate(master, stop_time, step_size, recorded, None, progress)
    wall = time.perf_counter() - began
    for slave in slaves.values():
        slave.close()
    return Outcome(scenario.name, scheme, step_size, stop_time, trace, {}, float("nan"), wall, notes)


def unit_of(spec: UnitSpec, scenario: Scenario, units: str, folder: Path) -> Slave:
    """A unit by what it is made of."""
    if spec.fmu:
        path = scenario.folder / spec.fmu
        if not path.exists():
            raise FileNotFoundError(2, "no such file", str(path))
        return FmuSlave(path, spec.name)
    if spec.drive is not None:
        return DriveSlave(Drive(spec.drive.cylinder, spec.drive.valve, spec.drive.profile), spec.name)
    return mechanism_unit(load(raw_description(spec.description, scenario.folder)), spec.name, units, folder)


def end_of(text: str, slaves: dict[str, Slave], file: str, place: str) -> tuple[Slave, str]:
    """UNIT.NAME as slave and name; names may have dots."""
    unit, _, name = text.partition(".")
    if unit not in slaves or not name:
        raise BadInput(f"{file}: {place}: '{text}': expected UNIT.NAME with one of the units {', '.join(slaves)}")
    return slaves[unit], name


def wire_of(connection: Connection, slaves: dict[str, Slave], file: str) -> Wire:
    source, output = end_of(connection.source, slaves, file, "wires.from")
    target, given = end_of(connection.target, slaves, file, "wires.to")
    slope = end_of(connection.slope, slaves, file, "wires.slope")[1] if connection.slope else ""
    return Wire(source, output, target, given, slope)


def unconnected(scenario: Scenario, slaves: dict[str, Slave], wires: Sequence[Wire]) -> list[str]:
    """Inputs that nothing feeds; two wires into one input are an error."""
    fed = [(wire.target.name, wire.input) for wire in wires]
    for end in fed:
        if fed.count(end) > 1:
            raise BadInput(f"{scenario.file}: wires: two wires lead to {'.'.join(end)}")
    return [
        f"input {spec.name}.{name} is never connected and keeps its start value; give it in units.{spec.name}.start if that is meant"
        for spec in scenario.units
        for name in slaves[spec.name].inputs
        if (spec.name, name) not in fed and name not in spec.start
    ]
