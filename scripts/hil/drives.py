"""Drives between controller and mechanism: one FMU per drive, coupled to an actuator of the plant
at every step.

The order of a step is that of the co-simulation scheme `told`. First the mechanism receives from
every drive its force, stiffness dF/ds and damping dF/dv, and the mean change of force that the
drive's flows will cause, and steps. Then each drive receives the mean speed of the actuator over
this step, and steps. This coupling is stable for much longer steps than one with constant forces.
The compiled loop uses the same order (`Chain` in compiled_loop.c); this module runs it in virtual time and
on machines without a compiler.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kinetree.models.language.errors import suggestion
from kinetree.scripts.fmi.fmpy_host import Archive, Host
from kinetree.scripts.hil.plant import Plant, array
from kinetree.scripts.hil.scenario import DriveTable, Scenario
from kinetree.scripts.terminal.error_messages import BadInput

SIGNALS = ("force", "stiffness", "damping")  # from a drive to inputs of its actuator
MECHANISM = -1  # in the place of the number of a drive
Pointer, Count = ctypes.c_void_p, ctypes.c_int64


class DriveCalls(ctypes.Structure):
    """The C structure Drive of compiled_loop.c."""

    _fields_ = [
        *((name, Pointer) for name in ("component", "set", "advance", "get", "told", "into")),
        *((name, Pointer) for name in ("speed", "mean")),
        ("count", Count),
        ("rate", Count),
    ]


class ChainCalls(ctypes.Structure):
    """The C structure Chain of compiled_loop.c."""

    _fields_ = [
        *((name, Pointer) for name in ("component", "set", "advance", "get", "integer", "drives")),
        ("number", Count),
        *((name, Pointer) for name in ("takers", "givers", "inward", "outward")),
    ]


@dataclass
class Drive:
    """The FMU of a drive, with the value references of the variables exchanged with the mechanism."""

    table: DriveTable
    archive: Archive
    host: Host
    told: (
        ctypes.Array
    )  # references of its outputs: force, stiffness, damping, rate as far as it has them
    into: ctypes.Array  # references of the actuator's inputs for the first `count` of them
    count: int
    rate: int  # 1: the last of `told` is the rate of the force that its flows make
    speed: ctypes.Array
    mean: ctypes.Array
    values: ctypes.Array = field(init=False)

    def __post_init__(self) -> None:
        self.values = (ctypes.c_double * len(self.told))()

    def calls(self) -> DriveCalls:
        """Return the FMU's functions and value references for the compiled loop."""
        return DriveCalls(
            **calls_of(self.host.fmu),
            **{name: address(getattr(self, name)) for name in ("told", "into", "speed", "mean")},
            count=self.count,
            rate=self.rate,
        )


def calls_of(fmu: Any) -> dict[str, Any]:
    """Return the address of an FMU instance, and those of its set, step and get functions."""
    names = (("set", "fmi2SetReal"), ("advance", "fmi2DoStep"), ("get", "fmi2GetReal"))
    found = {name: ctypes.cast(getattr(fmu.dll, call), Pointer) for name, call in names}
    return {"component": fmu.component, **found}


def address(values: ctypes.Array) -> Any:
    return ctypes.cast(values, Pointer)


class DrivenPlant(Plant):
    """A mechanism with the FMUs of its drives; commands and measurements may be variables of a
    drive, `NAME.variable`.
    """

    def __init__(self, scenario: Scenario):
        super().__init__(scenario)
        self.drives: list[Drive] = []

    def owner(self, name: str) -> int:
        """Return the index of the drive that a variable belongs to."""
        for number, table in enumerate(self.scenario.drives):
            if name.startswith(f"{table.name}."):
                return number
        return MECHANISM

    def __enter__(self) -> DrivenPlant:
        super().__enter__()
        try:
            for table in self.scenario.drives:
                self.drives.append(self.opened(table))
            for names in (self.scenario.commands, self.scenario.measures):
                for name in names:
                    self.reference(name)
        except BaseException as error:
            self.__exit__(type(error), error, None)
            raise
        s = self.scenario
        self.takers, self.givers = (
            [self.owner(n) for n in names] for names in (s.commands, s.measures)
        )
        self.inward, self.outward = (
            array(self.reference(name) for name in names) for names in (s.commands, s.measures)
        )
        self.given, self.seen = (
            (ctypes.c_double * len(names))() for names in (s.commands, s.measures)
        )
        for drive in self.drives:  # what they hold at the start acts from the first measures on
            self.hear(drive, 0.0)
        return self

    def names_of_plant(self, names: list[str]) -> list[str]:
        return [name for name in names if self.owner(name) == MECHANISM]

    def reference(self, name: str) -> int:
        """Return the value reference of a variable in the FMU that it belongs to."""
        number = self.owner(name)
        if number == MECHANISM:
            return self.archive.references[name]
        drive, own = self.drives[number], name.partition(".")[2]
        return variable(self.scenario, drive.archive, own, f"drive '{drive.table.name}'")

    def opened(self, table: DriveTable) -> Drive:
        """Return a drive, started with the length and load of its actuator."""
        s = self.scenario
        path = table.fmu or self.packed(table)
        if not path.exists():
            raise BadInput(f"no such file: {path}")
        archive = Archive(path)
        where = f"drive '{table.name}'"
        if archive.version != 2:
            raise BadInput(f"{path}: FMI {archive.version}: expected an FMU of version 2")
        known = archive.references
        wires = table.wires
        present = [name for name in SIGNALS if wires.get(name, name) in known or name in wires]
        outputs = [wires.get(name, name) for name in present]
        if "force" not in present:
            raise BadInput(f"{s.path}: {where} has no output 'force': name it by [drives.wires]")
        rate = wires.get("resting_rate", "resting_rate")
        has_rate = rate in known or "resting_rate" in wires
        told = array(variable(s, archive, name, where) for name in [*outputs, *[rate] * has_rate])
        into = array(
            variable(s, self.archive, f"{table.actuator}.{name}", "the plant") for name in present
        )
        speed = array([variable(s, archive, wires.get("speed", "speed"), where)])
        mean = array([variable(s, self.archive, f"{table.actuator}.mean_speed", "the plant")])
        host = Host(archive)
        host.start(self.beginning(table, archive))
        return Drive(table, archive, host, told, into, len(present), int(has_rate), speed, mean)

    def packed(self, table: DriveTable) -> Path:
        """Build the native FMU of a drive from its description."""
        from kinetree.fmu.archive.build import build_fmu
        from kinetree.models import load

        assert table.mechanism is not None
        return build_fmu(
            load(table.mechanism), Path(self.folder.name) / f"{table.name}.fmu", "native", "2"
        )

    def beginning(self, table: DriveTable, archive: Archive) -> dict[str, float]:
        """Return the start values of a drive: length and load of its actuator where the drive has
        these parameters, then those of the scenario. The load is read from ACTUATOR_load of the
        mechanism, or from the start of its force input.
        """
        load = f"{table.actuator}_load"
        sources = {
            "length": f"{table.actuator}.length",
            "load": load if load in self.archive.references else f"{table.actuator}.force",
        }
        found = {
            name: self.host.get([source])[0]
            for name, source in sources.items()
            if name in archive.references and source in self.archive.references
        }
        for name in table.start:
            variable(self.scenario, archive, name, f"drive '{table.name}'")
        return found | table.start

    def hear(self, drive: Drive, h: float) -> None:
        """Copy the force and its derivatives from a drive to the mechanism, for a step of size h."""
        fmu, values = drive.host.fmu, drive.values
        checked(fmu.fmi2GetReal(fmu.component, drive.told, len(drive.told), values))
        if drive.rate:
            values[0] += 0.5 * h * values[drive.count]
        checked(self._set(self.component, drive.into, drive.count, values))

    def measures(self) -> tuple[float, ...]:
        one = (ctypes.c_double * 1)()
        for k, number in enumerate(self.givers):
            fmu = self.host.fmu if number == MECHANISM else self.drives[number].host.fmu
            fmu.fmi2GetReal(fmu.component, array([self.outward[k]]), 1, one)
            self.seen[k] = one[0]
        return tuple(self.seen)

    def command(self, values: tuple[float, ...]) -> None:
        self.given[:] = values
        for k, number in enumerate(self.takers):
            fmu = self.host.fmu if number == MECHANISM else self.drives[number].host.fmu
            fmu.fmi2SetReal(
                fmu.component, array([self.inward[k]]), 1, (ctypes.c_double * 1)(values[k])
            )

    def first_commands(self) -> list[float]:
        found = []
        for k, number in enumerate(self.takers):
            fmu = self.host.fmu if number == MECHANISM else self.drives[number].host.fmu
            one = (ctypes.c_double * 1)()
            fmu.fmi2GetReal(fmu.component, array([self.inward[k]]), 1, one)
            found.append(float(one[0]))
        return found

    def advance(self, target: float) -> None:
        now, h = self.time, target - self.time
        for drive in self.drives:
            self.hear(drive, h)
        super().advance(target)
        one = (ctypes.c_double * 1)()
        for drive in self.drives:
            checked(self._get(self.component, drive.mean, 1, one))
            fmu = drive.host.fmu
            checked(fmu.fmi2SetReal(fmu.component, drive.speed, 1, one))
            checked(fmu.fmi2DoStep(fmu.component, now, h, 1))

    def calls(self, loaded: Any) -> dict[str, Any]:
        """Return the chain of all FMUs with their functions, for the compiled loop."""
        self._parts = (DriveCalls * len(self.drives))(*(drive.calls() for drive in self.drives))
        whose = {
            name: (Count * len(numbers))(*numbers)
            for name, numbers in (("takers", self.takers), ("givers", self.givers))
        }
        self._whose = whose
        self._chain = ChainCalls(
            **calls_of(self.host.fmu),
            integer=ctypes.cast(self.host.fmu.dll.fmi2GetInteger, Pointer),
            drives=ctypes.cast(self._parts, Pointer),
            number=len(self.drives),
            **{name: address(numbers) for name, numbers in whose.items()},
            inward=address(self.inward),
            outward=address(self.outward),
        )
        names = ("set", "advance", "get")
        return {"component": ctypes.cast(ctypes.pointer(self._chain), Pointer)} | {
            name: ctypes.cast(getattr(loaded, f"chain_{name}"), Pointer) for name in names
        }

    def stage_call(self, loaded: Any) -> Any:
        return ctypes.cast(loaded.chain_integer, Pointer)

    def __exit__(self, *reason: Any) -> None:
        for drive in self.drives:
            try:
                drive.host.fmu.terminate()
            except Exception:  # an FMU that has failed may refuse
                pass
            finally:
                drive.host.fmu.freeInstance()
                drive.archive.__exit__()
        self.drives = []
        super().__exit__(*reason)


def checked(status: int | None) -> None:
    """Raise ArithmeticError for a failed FMI status; fmpy's own calls raise by themselves."""
    if status is not None and status > 1:
        raise ArithmeticError(f"a call of a drive's FMU has failed with status {status}")


def variable(scenario: Scenario, archive: Archive, name: str, where: str) -> int:
    """Return the value reference of a variable; raise BadInput if the FMU lacks the name."""
    if name not in archive.references:
        near = suggestion(name, tuple(archive.references))
        raise BadInput(f"{scenario.path}: {where} has no variable '{name}'; {near}")
    return archive.references[name]


def plant_of(scenario: Scenario) -> Plant:
    """Return the plant of a scenario, with its drives if it has any."""
    return DrivenPlant(scenario) if scenario.drives else Plant(scenario)
