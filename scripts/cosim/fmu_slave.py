"""Any co-simulation FMU as a slave, through fmpy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import parse
from zipfile import BadZipFile

import numpy as np

from kinetree.scripts.cosim.slave import CosimError, known
from kinetree.scripts.fmi.fmpy_host import Archive, Host, Reals
from kinetree.scripts.ssp.structure import INTEGERS, REALS
from kinetree.scripts.terminal.error_messages import BadInput

DISCARD = 2
NUMBERS = (*REALS, *INTEGERS, "Boolean", "Enumeration")
TERMS, ENOUGH = (
    30,
    1e-9,
)  # of the series of derivatives, and the part of its sum below which a term is left out
MAIN_REALS = ("Real", "Float64")  # those the host gets and sets by name


def derives_3(folder: Path) -> bool:
    """Return whether an FMI 3.0 FMU declares directional derivatives."""
    element = parse(folder / "modelDescription.xml").find("CoSimulation")
    return element is not None and element.get("providesDirectionalDerivatives") in ("true", "1")


class FmuSlave:
    """An FMU instance (2.0 or 3.0); an input named der(X) beside X takes the derivative of X.

    Values are buffered until the instance is called and set together; all variables requested so
    far are read in one call, once after each change.
    """

    def __init__(self, path: str | Path, name: str):
        from fmpy.fmi1 import FMICallException

        self.name, self.failure = name, FMICallException
        try:
            self.archive = Archive(path)
        except (BadZipFile, KeyError, SyntaxError, ValueError) as error:
            raise BadInput(f"{name}: {path} is not an FMU that can be read: {error}") from error
        kind = self.archive.description.coSimulation
        if kind is None:
            raise BadInput(
                f"{name}: {path} offers no co-simulation, only model exchange; masters step co-simulation units"
            )
        self.messages: list[str] = []
        self.host = Host(self.archive, self.messages)
        variables = self.archive.description.modelVariables
        self.types = {v.name: v.type for v in variables}
        self.units = {
            v.name: v.unit or getattr(v.declaredType, "unit", None) or "" for v in variables
        }
        inputs = [v.name for v in variables if v.causality == "input" and v.type in NUMBERS]
        self.waiting: dict[str, float] = {}  # values and slopes that the instance has not got yet
        self.slopes: dict[str, float] = {}
        self.given: dict[str, float] = {}  # slopes that it has
        self.places: dict[str, int] = {}  # of what is read
        self.reals: Reals | None = None
        self.values: Any = ()
        self.fresh = False
        self.inputs = tuple(
            name for name in inputs if not (name.startswith("der(") and name[4:-1] in inputs)
        )
        self.outputs = tuple(
            v.name
            for v in variables
            if v.causality in ("output", "local", "calculatedParameter") and v.type in NUMBERS
        )
        self.rolls_back = bool(kind.canGetAndSetFMUstate)
        self.interpolates = self.archive.version == 2 and bool(kind.canInterpolateInputs)
        self.ramped = (
            self.inputs
            if self.interpolates
            else tuple(name for name in self.inputs if f"der({name})" in inputs)
        )
        self.derives = bool(kind.providesDirectionalDerivative) or derives_3(
            Path(self.archive.folder)
        )
        rates: list[Any] = [unknown.variable for unknown in self.archive.description.derivatives]
        self.states = [
            (rate.derivative.valueReference, rate.valueReference)
            for rate in rates
            if rate.derivative is not None
        ]

    def start(self, values: Mapping[str, Any]) -> None:
        known(self.name, values, self.archive.references)
        reals = {
            name: float(value) for name, value in values.items() if self.types[name] in MAIN_REALS
        }
        for name, value in values.items():
            if name not in reals:
                self.guard(0.0, f"setting {name}", self.put, name, value)
        self.guard(0.0, "initialization", self.host.start, reals)

    def access(self, name: str) -> str:
        """Return the type of a variable as it appears in the names of its FMI get and set
        functions.
        """
        kind = self.types[name]
        return (
            ("Integer" if self.archive.version == 2 else "Int64") if kind == "Enumeration" else kind
        )

    def put(self, name: str, value: Any) -> None:
        """Set a variable of any type; numbers are converted to the type."""
        kind = self.access(name)
        if kind in INTEGERS:
            value = round(value)
        elif kind == "Boolean":
            value = bool(value)
        getattr(self.host.fmu, f"set{kind}")([self.archive.references[name]], [value])

    def set(self, name: str, value: float, slope: float = 0.0) -> None:
        if not math.isfinite(value):
            raise CosimError(f"{self.name}.{name} is given {value}, which is not a finite number")
        if self.types[name] not in MAIN_REALS:
            self.guard(self.host.time, f"setting {name}", self.put, name, value)
            return
        self.fresh = False
        self.waiting[name] = value
        if self.interpolates:
            self.slopes[name] = slope
        elif name in self.ramped:
            self.waiting[f"der({name})"] = slope

    def flush(self) -> None:
        """Pass pending values and derivatives to the FMU."""
        if self.waiting:
            names, values = list(self.waiting), self.waiting
            self.waiting = {}
            self.guard(self.host.time, f"setting {', '.join(names)}", self.host.set, values)
        if self.slopes:
            slopes = {
                name: slope for name, slope in self.slopes.items() if slope or self.given.get(name)
            }
            self.given |= self.slopes
            self.slopes = {}
            if slopes:
                numbers, call = (
                    [self.archive.references[name] for name in slopes],
                    self.host.fmu.setRealInputDerivatives,
                )
                self.guard(
                    self.host.time,
                    f"slopes of {', '.join(slopes)}",
                    call,
                    numbers,
                    [1] * len(slopes),
                    list(slopes.values()),
                )

    def get(self, name: str) -> float:
        if not (self.fresh and name in self.places):
            if self.types[name] not in MAIN_REALS:
                self.flush()
                return float(self.guard(self.host.time, f"reading {name}", self.other, name))
            self.read(name)
        return self.values[self.places[name]]

    def read(self, name: str) -> None:
        """Read all variables requested so far, including `name`."""
        self.flush()
        if name not in self.places or self.reals is None:
            self.places[name] = len(self.places)
            self.reals = Reals(self.host, [self.archive.references[each] for each in self.places])
        self.values = self.guard(self.host.time, f"reading {name}", self.reals.read)
        self.fresh = True

    def other(self, name: str) -> float:
        """Return the value of a variable whose type is not the main real type."""
        return getattr(self.host.fmu, f"get{self.access(name)}")([self.archive.references[name]])[0]

    def step(self, t: float, h: float) -> None:
        self.host.time = t
        self.flush()
        self.fresh = False
        self.guard(t, f"the step of {h:.6g} s", self.host.step, t + h)

    def directional(
        self, unknowns: Sequence[int], knowns: Sequence[int], seed: Sequence[float]
    ) -> np.ndarray:
        """Return the directional derivative d(unknowns)/d(knowns) times a seed vector."""
        if not unknowns or not knowns:
            return np.zeros(len(unknowns))
        self.flush()
        call = self.host.fmu.getDirectionalDerivative
        return np.array(
            self.guard(
                self.host.time,
                "directional derivatives",
                call,
                list(unknowns),
                list(knowns),
                list(seed),
            )
        )

    def ramp_response(
        self, given: str, outputs: Sequence[str], h: float, ramp: bool
    ) -> list[float] | None:
        """Return the derivative of the outputs after a step with respect to the end value of the
        input's ramp over the step, or of its mean; None without directional derivatives.

        With x' = A x + B u, y = C x + D u: (D + C sum of A^k h^(k+1)/(k+2)! B), for a mean that is held half of the same with (k+1)!.
        """
        if not self.derives or not self.states:
            return None
        states, rates = [state for state, _ in self.states], [rate for _, rate in self.states]
        known, unknowns = (
            [self.archive.references[given]],
            [self.archive.references[name] for name in outputs],
        )
        moved, term = np.zeros(len(states)), self.directional(rates, known, [1.0])
        weight = 0.5 * h
        for k in range(TERMS):
            moved += weight * term
            if not np.any(np.abs(weight * term) > ENOUGH * np.abs(moved)):
                break
            term, weight = (
                self.directional(rates, states, list(term)),
                weight * h / (k + 3 if ramp else k + 2),
            )
        else:
            return None  # the step is too long for the series: the caller repeats steps instead
        direct = (1.0 if ramp else 0.5) * self.directional(unknowns, known, [1.0])
        return list(direct + self.directional(unknowns, states, list(moved)))

    def save(self) -> Any:
        if not self.rolls_back:
            raise CosimError(
                f"{self.name} cannot go back (canGetAndSetFMUstate is false): take a scheme without rollback, such as told or held"
            )
        self.flush()
        return self.host.save()

    def restore(self, state: Any) -> None:
        self.waiting, self.slopes, self.given, self.fresh = (
            {},
            {},
            dict.fromkeys(self.given, 1.0),
            False,
        )
        self.host.restore(state)

    def forget(self, state: Any) -> None:
        self.host.forget(state)

    def close(self) -> None:
        try:
            self.host.close()
        except self.failure:
            pass  # an instance after an error need not terminate
        finally:
            self.archive.__exit__()

    def guard(self, t: float, what: str, call: Any, *arguments: Any) -> Any:
        """Call the FMU; errors are raised as CosimError with the FMU's last message."""
        try:
            return call(*arguments)
        except self.failure as error:
            said = f": {self.messages[-1].strip()}" if self.messages else ""
            if getattr(error, "status", None) == DISCARD:
                raise CosimError(
                    f"{self.name} discarded {what} at t = {t:.6g} s{said}; it may accept a smaller one"
                ) from error
            raise CosimError(
                f"{self.name} failed in {what} at t = {t:.6g} s{said or f': {error}'}"
            ) from error
