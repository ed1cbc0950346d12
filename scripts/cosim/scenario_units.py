"""Creates the units of a scenario: mechanisms from descriptions, FMUs of other tools, drives,
controllers; in this process or as FMUs.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load
from kinetree.models.checks.loader import generated, is_generated, override, read
from kinetree.models.language.errors import ModelError
from kinetree.models.system.mechanism import Mechanism
from kinetree.scripts.cosim.fmu_slave import FmuSlave
from kinetree.scripts.cosim.hydraulic_drive import Drive
from kinetree.scripts.cosim.pack_drives import build_controller_fmu, build_drive_fmu
from kinetree.scripts.cosim.position_controller import Controller
from kinetree.scripts.cosim.scenario import ControllerSpec, Coupling, DriveSpec, Scenario, UnitSpec
from kinetree.scripts.cosim.slave import ControllerSlave, DriveSlave, MechanismSlave, Slave
from kinetree.scripts.cosim.valve_cylinder import DriveError
from kinetree.scripts.terminal.error_messages import BadInput

UNITS = ("process", "python", "native")  # in this process, or FMUs of a back end
PROBE = 1e3  # force by which the load of an actuator is found [N or N.m]


@dataclass(frozen=True)
class Packed:
    """The FMU of a unit with its start values."""

    name: str
    path: Path
    start: dict[str, Any]

    def opened(self) -> FmuSlave:
        """Return a started instance of the packed FMU."""
        slave = FmuSlave(self.path, self.name)
        slave.start(self.start)
        return slave


@dataclass(frozen=True)
class Parts:
    """Mechanism, drive and controller of a coupling; the mechanism contains the oil if the scheme
    needs it.
    """

    mechanism: Mechanism
    drive: Drive
    controller: Controller | None
    start: dict[str, float]  # of the mechanism


# -- units of written-out scenarios ---------------------------------------------------------------------------------------------------------
def raw_description(unit: UnitSpec, folder: Path) -> dict[str, Any]:
    """Return the description of a unit as a table, with the scenario's settings applied."""
    source = unit.description
    if is_generated(source):
        found, origin, left, structural = generated(source, unit.settings)
    else:
        (found, origin), left, structural = (
            read(source if source.startswith("lib:") else str(folder / source)),
            unit.settings,
            (),
        )
    raw = deepcopy(found)
    problems = override(raw.setdefault("parameters", {}), left, origin, structural)
    if problems:
        raise ModelError(problems)
    return raw


def drive_of(spec: DriveSpec, inside: bool = False) -> Drive:
    return Drive(spec.cylinder, spec.valve, spec.profile, inside)


def resting(spec: UnitSpec, scenario: Scenario) -> Drive:
    """Return the drive of a unit at its start equilibrium; raise BadInput if it cannot carry the
    load.
    """
    drive = drive_of(spec.drive or DriveSpec())
    try:
        drive.settle(
            float(spec.start.get("length", drive.length)), float(spec.start.get("load", 0.0))
        )
    except DriveError as error:
        raise BadInput(f"{scenario.file}: units.{spec.name}: {error}") from error
    return drive


def controller_of(spec: ControllerSpec, start: dict[str, Any]) -> Controller:
    controller = Controller(spec.pid, spec.profile)
    controller.measured, controller.target = (
        float(start.get(name, 0.0)) for name in ("measured", "target")
    )
    return controller


def unit_of(spec: UnitSpec, scenario: Scenario, units: str, folder: Path) -> Slave:
    """Return an unstarted unit: an FMU, mechanism, drive or controller."""
    if spec.fmu or units != "process":
        packed = pack_unit(spec, scenario, units, folder)
        return FmuSlave(packed.path, packed.name)
    if spec.drive is not None:
        return DriveSlave(drive_of(spec.drive), spec.name, spec.drive.rotary)
    if spec.controller is not None:
        return ControllerSlave(
            controller_of(spec.controller, spec.start), spec.name, spec.controller.unit
        )
    return MechanismSlave(load(raw_description(spec, scenario.folder)), spec.name)


def pack_unit(spec: UnitSpec, scenario: Scenario, backend: str, folder: Path) -> Packed:
    """Return the FMU of a unit, built into a folder where it is not given."""
    path = folder / f"{spec.name}.fmu"
    if spec.fmu:
        path = scenario.folder / spec.fmu
        if not path.exists():
            raise FileNotFoundError(2, "no such file", str(path))
    elif spec.drive is not None:
        build_drive_fmu(
            resting(spec, scenario), path, spec.drive.rotary, backend, scenario.step_size
        )
    elif spec.controller is not None:
        build_controller_fmu(
            controller_of(spec.controller, spec.start),
            path,
            spec.controller.unit,
            backend,
            scenario.step_size,
        )
    else:
        build_fmu(load(raw_description(spec, scenario.folder)), path, backend=backend)
    return Packed(spec.name, path, spec.start)


# -- units of a coupling ---------------------------------------------------------------------------------------------------------------------
def actuated(scenario: Scenario) -> dict[str, Any]:
    """Return the description of the coupled mechanism, whose actuator is checked to exist."""
    coupling = scenario.coupling or Coupling()
    unit = scenario.unit(coupling.mechanism)
    raw = raw_description(unit, scenario.folder)
    actuators = raw.get("actuators", {})
    if coupling.actuator not in actuators:
        raise BadInput(
            f"{unit.description} has no actuator '{coupling.actuator}'; actuators: {', '.join(actuators) or 'none'}"
        )
    for key in ("chambers", "force"):  # the drive brings both
        actuators[coupling.actuator].pop(key, None)
    return raw


def settled(
    scenario: Scenario, raw: dict[str, Any], inside: bool
) -> tuple[Drive, Controller | None]:
    """Return the drive in equilibrium with the actuator's load, and the controller in steady state."""
    coupling = scenario.coupling or Coupling()
    mechanism = MechanismSlave(load(raw), coupling.mechanism)
    mechanism.start({})
    length = mechanism.get(f"{coupling.actuator}.length")
    drive = drive_of(scenario.unit(coupling.drive).drive or DriveSpec(), inside)
    try:
        drive.settle(length, load_of(mechanism, coupling.actuator))
        drive.cylinder.volumes(length)
    except DriveError as error:
        raise BadInput(f"{scenario.file}: units.{coupling.drive}.drive: {error}") from error
    if not coupling.controller:
        return drive, None
    unit = scenario.unit(coupling.controller)
    controller = controller_of(unit.controller or ControllerSpec(), unit.start)
    if not controller.profile and "target" not in unit.start:
        controller.target = length  # without a setpoint it holds its place
    controller.settle(length)
    drive.control = controller.command
    return drive, controller


def load_of(mechanism: Slave, actuator: str) -> float:
    """Return the force [N] at which the actuator does not accelerate."""
    accelerations = []
    for force in (0.0, PROBE):
        mechanism.set(f"{actuator}.force", force)
        accelerations.append(mechanism.get(f"{actuator}.acceleration"))
    if accelerations[1] <= accelerations[0]:
        raise BadInput(
            f"actuator '{actuator}' does not move with its force: is it between the right points?"
        )
    return -accelerations[0] * PROBE / (accelerations[1] - accelerations[0])


def parts_of(scenario: Scenario, scheme: str, raw: dict[str, Any]) -> Parts:
    """Return mechanism, drive and controller in equilibrium for a scheme."""
    name, inside = (scenario.coupling or Coupling()).actuator, scheme == "chambers"
    drive, controller = settled(scenario, raw, inside)
    if inside:
        raw = deepcopy(raw)
        raw["actuators"][name]["chambers"] = asdict(drive.cylinder) | {
            "pressure_a": drive.pressure_a,
            "pressure_b": drive.pressure_b,
        }
    return Parts(load(raw), drive, controller, {f"{name}.force": 0.0 if inside else drive.force})


def coupled(
    scenario: Scenario, scheme: str, raw: dict[str, Any], units: str, folder: Path
) -> list[Slave]:
    """Return the started units, in this process or as FMUs built into a folder."""
    coupling = scenario.coupling or Coupling()
    if units != "process":
        return [packed.opened() for packed in pack_coupled(scenario, scheme, raw, units, folder)]
    parts = parts_of(scenario, scheme, raw)
    mechanism = MechanismSlave(parts.mechanism, coupling.mechanism)
    mechanism.start(parts.start)
    controller = (
        []
        if parts.controller is None
        else [ControllerSlave(parts.controller, coupling.controller, unit_of_controller(scenario))]
    )
    return [mechanism, DriveSlave(parts.drive, coupling.drive, is_rotary(scenario)), *controller]


def is_rotary(scenario: Scenario) -> bool:
    """Return whether the coupled drive is rotary."""
    return (scenario.unit((scenario.coupling or Coupling()).drive).drive or DriveSpec()).rotary


def unit_of_controller(scenario: Scenario) -> str:
    """Return the unit of the coupled controller's measurement."""
    return (
        scenario.unit((scenario.coupling or Coupling()).controller).controller or ControllerSpec()
    ).unit


def pack_coupled(
    scenario: Scenario, scheme: str, raw: dict[str, Any], backend: str, folder: Path
) -> list[Packed]:
    """Return the FMUs of mechanism, drive and controller."""
    coupling, parts, step = (
        scenario.coupling or Coupling(),
        parts_of(scenario, scheme, raw),
        scenario.step_size,
    )
    drive = parts.drive
    start = {"control": drive.control} | (
        {} if drive.inside else {"load": drive.force, "length": drive.length}
    )
    made = [
        Packed(
            coupling.mechanism,
            build_fmu(parts.mechanism, folder / f"{coupling.mechanism}.fmu", backend=backend),
            parts.start,
        ),
        Packed(
            coupling.drive,
            build_drive_fmu(
                drive, folder / f"{coupling.drive}.fmu", is_rotary(scenario), backend, step
            ),
            start,
        ),
    ]
    if parts.controller is not None:
        path = build_controller_fmu(
            parts.controller,
            folder / f"{coupling.controller}.fmu",
            unit_of_controller(scenario),
            backend,
            step,
        )
        made.append(
            Packed(
                coupling.controller,
                path,
                {"measured": parts.controller.measured, "target": parts.controller.target},
            )
        )
    return made


def pack_scenario(scenario: Scenario, scheme: str, backend: str, folder: Path) -> list[Packed]:
    """Return FMUs of all units, built into a folder where they are not given."""
    if scenario.coupling is None:
        return [pack_unit(spec, scenario, backend, folder) for spec in scenario.units]
    return pack_coupled(scenario, scheme, actuated(scenario), backend, folder)
