"""The carrier and its hydraulic drives as separate FMUs under one master, with the scheme `told` on
every actuator and a position controller per drive.

The order of a communication step is: the carrier, with force and stiffness of each drive and the
mean change of force caused by its valve; then the drives, with the mean actuator speed of this
step; then the controllers, with the new angles, for the next step.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import Result, load
from kinetree.models.library.carrier_parts import JACKS
from kinetree.models.run.keyboard_interrupt import raise_if_interrupted
from kinetree.scripts.cosim.coupling_plan import Plan
from kinetree.scripts.cosim.fmu_slave import FmuSlave
from kinetree.scripts.cosim.hydraulic_drive import Drive
from kinetree.scripts.cosim.masters import Wire
from kinetree.scripts.cosim.pack_drives import build_controller_fmu, build_drive_fmu
from kinetree.scripts.cosim.position_controller import Controller
from kinetree.scripts.cosim.power_bonds import bonds_of
from kinetree.scripts.cosim.run_master import Trace, cosimulate
from kinetree.scripts.cosim.scenario import ControllerSpec, DriveSpec, Scenario, read_scenario
from kinetree.scripts.cosim.scenario_units import drive_of as made_drive
from kinetree.scripts.cosim.schemes import SCHEMES
from kinetree.scripts.cosim.slave import ControllerSlave, DriveSlave, MechanismSlave, Slave

LABELS = {"slew_left": "slew", "slew_right": "slew", "luff_drive": "luff"}  # axis of each drive
WATCHED = ("slew", "luff", "der(slew)", "der(luff)", "heave", "pitch", "roll")
TOLERANCE = 1e-9  # of the reference


@dataclass
class Coupled:
    """Recorded co-simulation with its monolithic reference."""

    trace: Trace
    reference: Result
    step: float
    seconds: float
    stage_names: list[str]
    files: list[Path] = field(default_factory=list)

    def __getitem__(self, name: str) -> np.ndarray:
        """Return a column of the carrier, or LABEL.NAME of a drive."""
        return self.trace[name if name.partition(".")[0] in LABELS else f"carrier.{name}"]

    @property
    def energy(self) -> np.ndarray:
        """Return the energy drawn from the supply [J]."""
        power = drive_of("luff_drive").valve.supply * np.sum(
            [np.maximum(self[f"{label}.flow_{side}"], 0.0) for label in LABELS for side in "ab"],
            axis=0,
        )
        return np.concatenate(
            [[0.0], np.cumsum(0.5 * (power[1:] + power[:-1]) * np.diff(self.trace.time))]
        )

    def deviation(self, name: str, of: str = "") -> tuple[float, float]:
        """Return the largest difference of a column from the reference, both relative to their
        starts, and the reference's range.
        """
        exact = np.interp(self.trace.time, self.reference.time, self.reference[of or name])
        return float(np.abs(self[name] - self[name][0] - exact + exact[0]).max()), float(
            np.ptp(exact)
        )


@lru_cache(maxsize=1)
def shipped() -> Scenario:
    """Return the built-in scenario of the carrier, read once."""
    return read_scenario("lib:carrier")


def drive_of(label: str) -> Drive:
    """Return the drive with the parameters of the scenario."""
    return made_drive(shipped().unit(label).drive or DriveSpec())


def controller_of(label: str) -> Controller:
    """Return the controller of an angle, proportional as inside the library's carrier."""
    return Controller((shipped().unit(f"{label}_control").controller or ControllerSpec()).pid)


def units(
    folder: Path, backend: str, step: float, settings: dict[str, Any]
) -> tuple[Slave, Mapping[str, Slave], Mapping[str, Slave], list[Path]]:
    """Return carrier, drives and controllers as FMUs in a folder; `process` instead of a back end
    steps them in this process without FMUs.
    """
    mechanism = load("lib:carrier", outside=1, cylinders=1, **settings)
    if backend == "process":
        drives: dict[str, Slave] = {label: DriveSlave(drive_of(label), label) for label in LABELS}
        return (
            MechanismSlave(mechanism, "carrier"),
            drives,
            {
                label: ControllerSlave(controller_of(label), f"{label}_control", "rad")
                for label in LABELS
            },
            [],
        )
    files = [build_fmu(mechanism, folder / "carrier.fmu", backend)]
    files += [
        build_drive_fmu(drive_of(label), folder / f"{label}.fmu", False, backend, step)
        for label in LABELS
    ]
    files += [
        build_controller_fmu(
            controller_of(label), folder / f"{label}_control.fmu", "rad", backend, step
        )
        for label in LABELS
    ]
    carrier, *others = (FmuSlave(path, path.stem) for path in files)
    found = dict(zip(LABELS, others, strict=False))
    return carrier, found, dict(zip(LABELS, others[len(LABELS) :], strict=True)), files


def started(carrier: Slave, drives: Mapping[str, Slave], controllers: Mapping[str, Slave]) -> Plan:
    """Return carrier, drives and controllers started in equilibrium and wired."""
    wires: list[Wire] = []
    carrier.start({})
    for label, axis in LABELS.items():
        drives[label].start(
            {"length": carrier.get(f"{label}.length"), "load": carrier.get(f"{label}_load")}
        )
        angle = carrier.get(axis)
        controllers[label].start({"measured": angle, "target": angle})
        wires += SCHEMES["told"].plan(carrier, drives[label], label).wires
        wires += [
            Wire(carrier, axis, controllers[label], "measured"),
            Wire(controllers[label], "command", drives[label], "control", hold=True),
        ]
    return Plan("sequential", (carrier, *drives.values(), *controllers.values()), tuple(wires))


def run_carrier(
    folder: Path,
    backend: str = "native",
    step: float = 2e-3,
    progress: Callable[[float], None] | None = None,
    **settings: Any,
) -> Coupled:
    """Run all departures in co-simulation and the reference."""
    system = load("lib:carrier", drives=1, cylinders=1, **settings).compile()
    reference = raise_if_interrupted(system.simulate(tolerance=TOLERANCE, output_step=step))
    end = float(reference.time[-1])
    carrier, drives, controllers, files = units(folder, backend, step, settings)
    with ExitStack() as stack:
        for slave in (carrier, *drives.values(), *controllers.values()):
            stack.callback(slave.close)
        plan = started(carrier, drives, controllers)
        names = [
            *WATCHED,
            "stage",
            *(f"{kind}_load_{name}" for kind in ("jack", "wheel") for name in JACKS),
        ]
        recorded = [(carrier, name) for name in names if name in carrier.outputs]
        recorded += [
            (drive, name)
            for drive in drives.values()
            for name in ("pressure_a", "pressure_b", "spool", "force", "flow_a", "flow_b")
        ]
        clock = time.perf_counter()
        trace = cosimulate(plan.make(), end, step, recorded, bonds_of(plan.wires), progress)
        seconds = time.perf_counter() - clock
    return Coupled(trace, reference, step, seconds, reference.stage_names, files)
