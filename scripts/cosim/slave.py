"""The interface of slaves in co-simulation, and slaves in this process: mechanism, drive,
controller.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Any, Protocol

from kinetree.fmu.variables import Access
from kinetree.models.engine.status import EvaluationError
from kinetree.models.system.mechanism import Mechanism
from kinetree.scripts.cosim.controller_description import units_of_controller
from kinetree.scripts.cosim.drive_description import units_of_drive
from kinetree.scripts.cosim.hydraulic_drive import Drive
from kinetree.scripts.cosim.position_controller import Controller
from kinetree.scripts.fmi.in_process_reference import InProcess
from kinetree.scripts.terminal.error_messages import BadInput


class CosimError(Exception):
    """A failed unit or coupling; the message names it, the time and a remedy."""


def known(slave: str, values: Mapping[str, float], names: Collection[str]) -> None:
    """Raise an error for start values of variables that do not exist."""
    for name in values:
        if name not in names:
            near = get_close_matches(name, names, 1, 0.5)
            raise BadInput(
                f"{slave} has no variable '{name}' to start with"
                + (f"; did you mean '{near[0]}'?" if near else "")
            )


class Slave(Protocol):
    """A unit that a master steps; its variables are real numbers with names."""

    name: str

    @property
    def units(self) -> Mapping[str, str]:
        """Return the units of measure of variables, where known."""
        ...

    @property
    def ramped(self) -> Collection[str]:
        """Return the inputs that accept a time derivative."""
        ...

    @property
    def inputs(self) -> tuple[str, ...]: ...
    @property
    def outputs(self) -> tuple[str, ...]: ...
    def start(self, values: Mapping[str, float]) -> None:
        """Set start values and initialize."""
        ...

    def set(self, name: str, value: float, slope: float = 0.0) -> None:
        """Set an input to a value, with a time derivative for the next step."""
        ...

    def get(self, name: str) -> float: ...
    def step(self, t: float, h: float) -> None: ...
    def save(self) -> Any: ...
    def restore(self, state: Any) -> None: ...
    def forget(self, state: Any) -> None:
        """Free a saved state."""
        ...

    def close(self) -> None: ...


class MechanismSlave:
    """A mechanism stepped in this process exactly as its FMU would be."""

    def __init__(
        self, mechanism: Mechanism, name: str = "mechanism", tolerance: float | None = 1e-8
    ):
        from kinetree.fmu.unit import fmu_unit

        self.name = name
        self.unit = fmu_unit(mechanism, tolerance=tolerance)
        self.instance = InProcess(self.unit)
        self.inputs = self.ramped = tuple(given.name for given in self.unit.inputs)
        self.outputs = tuple(
            v.name for v in self.instance.table.variables if v.causality in ("output", "local")
        )
        self.units = {v.name: v.unit for v in self.instance.table.variables if v.unit}
        self._slopes = {
            given: int(self.unit.header.at_slopes) + k for k, given in enumerate(self.inputs)
        }
        self._stale = False

    def start(self, values: Mapping[str, float]) -> None:
        known(
            self.name,
            values,
            [v.name for v in self.instance.table.variables if v.access != Access.NONE],
        )
        self._guard(self.instance.start, values)

    def set(self, name: str, value: float, slope: float = 0.0) -> None:
        self.instance.work[self.instance.places[name].write] = value
        self.instance.work[self._slopes[name]] = slope
        self._stale = True

    def get(self, name: str) -> float:
        if self._stale:
            self._guard(self.instance.set, {})
            self._stale = False
        return float(self.instance.work[self.instance.places[name].at])

    def step(self, t: float, h: float) -> None:
        self._guard(self.instance.step, t + h)
        self._stale = False

    def save(self) -> Any:
        return self.instance.work.copy()

    def restore(self, state: Any) -> None:
        self.instance.work[:] = state
        self._stale = False

    def forget(self, state: Any) -> None:
        pass

    def close(self) -> None:
        pass

    def _guard(self, call: Any, *arguments: Any) -> None:
        try:
            call(*arguments)
        except EvaluationError as error:
            raise CosimError(f"{self.name}: {error}") from error


class ProgramSlave:
    """A Python object of this project as a slave: its attributes are inputs and outputs, as in its
    FMU.
    """

    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    ramped: tuple[str, ...] = ()

    def __init__(self, program: Any, name: str, units: Mapping[str, str] | None = None):
        self.name, self.program, self.units = name, program, units or {}

    def start(self, values: Mapping[str, float]) -> None:
        known(self.name, values, self.inputs)
        for name, value in values.items():
            self.set(name, value)

    def set(self, name: str, value: float, slope: float = 0.0) -> None:
        setattr(self.program, name, value)

    def get(self, name: str) -> float:
        return float(getattr(self.program, name))

    def step(self, t: float, h: float) -> None:
        try:
            self.program.time = t
            self.program.step(h)
        except (ValueError, ArithmeticError) as error:
            raise CosimError(f"{self.name}: at t = {t:.6g} s: {error}") from error

    def save(self) -> Any:
        return self.program.save()

    def restore(self, state: Any) -> None:
        self.program.restore(state)

    def forget(self, state: Any) -> None:
        pass

    def close(self) -> None:
        pass


class DriveSlave(ProgramSlave):
    """The hydraulic drive as a slave that starts in equilibrium; its speed input may change
    linearly in a step.
    """

    outputs = (
        "force",
        "stiffness",
        "damping",
        "force_rate",
        "resting_rate",
        "pressure_a",
        "pressure_b",
        "flow_a",
        "flow_b",
        "spool",
        "command",
    )
    ramped = ("speed",)

    def __init__(self, drive: Drive, name: str = "drive", rotary: bool = False):
        super().__init__(drive, name, units_of_drive(rotary))
        self.inputs = drive.INPUTS[drive.inside]

    def start(self, values: Mapping[str, float]) -> None:
        known(self.name, values, (*self.inputs, "load", "length"))
        left = dict(values)
        try:
            self.program.settle(left.pop("length", self.program.length), left.pop("load", 0.0))
        except ValueError as error:
            raise CosimError(f"{self.name}: {error}") from error
        super().start(left)

    def set(self, name: str, value: float, slope: float = 0.0) -> None:
        super().set(name, value)
        if name == "speed":
            self.program.acceleration = slope


class ControllerSlave(ProgramSlave):
    """The position controller as a slave that starts in steady state."""

    inputs = ("measured", "target", "target_speed")
    outputs = ("command", "setpoint", "error", "integral")

    def __init__(self, controller: Controller, name: str = "controller", unit: str = "m"):
        super().__init__(controller, name, units_of_controller(unit))

    def start(self, values: Mapping[str, float]) -> None:
        super().start(values)
        self.program.settle(self.program.measured)
