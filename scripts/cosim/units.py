"""Makes the units of a scenario: mechanisms from descriptions, foreign FMUs, hydraulic drives."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kinetree.fmu.build import build_fmu
from kinetree.models import load
from kinetree.models.description.loader import generated, is_generated, read
from kinetree.models.mechanism import Mechanism
from kinetree.scripts.cosim.drive import Drive
from kinetree.scripts.cosim.drive_fmu import build_drive_fmu
from kinetree.scripts.cosim.fmu_slave import FmuSlave
from kinetree.scripts.cosim.monolithic import with_drive
from kinetree.scripts.cosim.oil import DriveError
from kinetree.scripts.cosim.scenario import Coupling, DriveSpec, Scenario, UnitSpec
from kinetree.scripts.cosim.slave import DriveSlave, MechanismSlave, Slave
from kinetree.scripts.failure import BadInput

UNITS = ("process", "python", "native")  # in this process, or FMUs of a back end
PROBE = 1e3  # force by which the load of an actuator is found [N or N.m]


def raw_description(source: str, folder: Path) -> dict[str, Any]:
    """The description as a table; files are looked for beside the scenario."""
    if is_generated(source):
        return deepcopy(generated(source, {})[0])
    place = source if source.startswith("lib:") else str(folder / source)
    return deepcopy(read(place)[0])


def actuated(scenario: Scenario) -> dict[str, Any]:
    """The coupled mechanism's description; its actuator is there, and drives from outside."""
    coupling = scenario.coupling or Coupling()
    unit = scenario.unit(coupling.mechanism)
    raw = raw_description(unit.description, scenario.folder)
    actuators = raw.get("actuators", {})
    if coupling.actuator not in actuators:
        raise BadInput(f"{unit.description} has no actuator '{coupling.actuator}'; actuators: {', '.join(actuators) or 'none'}")
    for key in ("chambers", "force"):  # the drive brings both
        actuators[coupling.actuator].pop(key, None)
    return raw


def settled(scenario: Scenario, raw: dict[str, Any], inside: bool) -> Drive:
    """The drive with the pressures at which it carries the actuator's load at the start."""
    coupling = scenario.coupling or Coupling()
    spec = scenario.unit(coupling.drive).drive or DriveSpec()
    mechanism = MechanismSlave(load(raw), coupling.mechanism)
    mechanism.start({})
    length = mechanism.get(f"{coupling.actuator}.length")
    drive = Drive(spec.cylinder, spec.valve, spec.profile, inside)
    try:
        drive.settle(length, load_of(mechanism, coupling.actuator))
        spec.cylinder.volumes(length)
    except DriveError as error:
        raise BadInput(f"{scenario.file}: units.{coupling.drive}.drive: {error}") from error
    return drive


def load_of(mechanism: Slave, actuator: str) -> float:
    """Force that keeps the actuator from accelerating: the acceleration is linear in the force."""
    accelerations = []
    for force in (0.0, PROBE):
        mechanism.set(f"{actuator}.force", force)
        accelerations.append(mechanism.get(f"{actuator}.acceleration"))
    if accelerations[1] <= accelerations[0]:
        raise BadInput(f"actuator '{actuator}' does not move with its force: is it between the right points?")
    return -accelerations[0] * PROBE / (accelerations[1] - accelerations[0])


def coupled(scenario: Scenario, scheme: str, raw: dict[str, Any], units: str, folder: Path) -> tuple[Slave, Slave]:
    """Mechanism and drive at rest, ready for a scheme: in this process, or as FMUs that are built into a folder."""
    coupling, inside = scenario.coupling or Coupling(), scheme == "chambers"
    drive = settled(scenario, raw, inside)
    name = coupling.actuator
    if inside:
        raw = deepcopy(raw)
        raw["actuators"][name]["chambers"] = asdict(drive.cylinder) | {"pressure_a": drive.pressure_a, "pressure_b": drive.pressure_b}
    mechanism = mechanism_unit(load(raw), coupling.mechanism, units, folder)
    mechanism.start({f"{name}.force": 0.0 if inside else drive.force})
    if units == "process":
        return mechanism, DriveSlave(drive, coupling.drive)
    outside = FmuSlave(build_drive_fmu(drive, folder / f"{coupling.drive}.fmu"), coupling.drive)
    outside.start({"load": drive.force} | ({} if inside else {"length": drive.length}))
    return mechanism, outside


def mechanism_unit(given: Mechanism, name: str, units: str, folder: Path) -> Slave:
    """A mechanism in this process, or its FMU."""
    if units == "process":
        return MechanismSlave(given, name)
    return FmuSlave(build_fmu(given, folder / f"{name}.fmu", backend=units), name)


def reference(scenario: Scenario, raw: dict[str, Any], stop_time: float, output_step: float):
    """Mechanism and drive as one system, integrated with error control."""
    drive = settled(scenario, raw, False)
    name = (scenario.coupling or Coupling()).actuator
    longest = min(0.01, stop_time / 20.0)  # a system at rest would let the integrator step past the command
    return load(with_drive(raw, name, drive)).compile().simulate(stop_time=stop_time, output_step=output_step, tolerance=1e-9, largest_step=longest)


__all__ = ["UnitSpec", "actuated", "coupled", "load_of", "reference", "settled"]
