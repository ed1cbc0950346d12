"""A host of model exchange that can be as crude or as hostile as the standard allows: fixed steps, signs, states kept and brought back."""

from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass, field
from pathlib import Path

import fmpy
import numpy as np
from fmpy.fmi2 import FMU2Model


@dataclass
class Exchange:
    """Classical Runge-Kutta steps; `search`: instants of events by halving, else the end of the step; `seed`: steps that are tried and thrown away,
    whole states that are kept and brought back, event mode without a reason."""

    path: Path
    folder: Path
    step: float
    search: bool = True
    seed: int | None = None
    start: float = 0.0  # time at which it begins [s]
    modes: int = 0  # how often event mode was entered
    stops: list[float] = field(default_factory=list)  # instants at which a sign had changed

    def __post_init__(self):
        self.time = self.start
        described = fmpy.read_model_description(str(self.path))
        self.places = {v.name: (v.valueReference, v.type) for v in described.modelVariables}
        fmpy.extract(str(self.path), str(self.folder))
        assert described.modelExchange is not None
        name = described.modelExchange.modelIdentifier
        self.unit = FMU2Model(
            guid=described.guid,
            unzipDirectory=str(self.folder),
            modelIdentifier=name,
            instanceName="hosted",
        )
        self.size, self.guards = (
            described.numberOfContinuousStates,
            described.numberOfEventIndicators,
        )
        self.rng = None if self.seed is None else np.random.default_rng(self.seed)
        self.unit.instantiate()
        self.unit.setupExperiment(startTime=self.start)
        self.unit.enterInitializationMode()
        self.unit.exitInitializationMode()
        self.next = self.event(False)

    def read(self, name: str) -> float:
        reference, kind = self.places[name]
        return (self.unit.getReal if kind == "Real" else self.unit.getInteger)([reference])[0]

    def _numbers(self, get, count: int) -> np.ndarray:
        room = (ctypes.c_double * max(count, 1))()
        get(room, count)
        return np.array(room[:count])

    def place(self, t: float, y: np.ndarray) -> None:
        self.unit.setTime(t)
        self.unit.setContinuousStates((ctypes.c_double * self.size)(*y), self.size)

    def slopes(self, t: float, y: np.ndarray) -> np.ndarray:
        self.place(t, y)
        return self._numbers(self.unit.getDerivatives, self.size)

    def signs(self) -> np.ndarray:
        return self._numbers(self.unit.getEventIndicators, self.guards) > 0

    def event(self, enter: bool = True) -> float:
        """Event mode until nothing changes; the instant of the next event."""
        if enter:
            self.unit.enterEventMode()
            self.modes += 1
            if self.rng is not None:  # the event is tried, and taken back
                kept = self.unit.getFMUState()
                self.unit.newDiscreteStates()
                self.unit.setFMUState(kept)
                self.unit.freeFMUState(kept)
        for _ in range(100):
            again, _, _, _, defined, when = self.unit.newDiscreteStates()
            if not again:
                break
        else:
            raise AssertionError(f"events without end at {self.time}")
        self.unit.enterContinuousTimeMode()
        self.y, self.z = self._numbers(self.unit.getContinuousStates, self.size), self.signs()
        return when if defined else math.inf

    def moved(self, h: float) -> np.ndarray:
        """The state one step of h later."""
        t, y = self.time, self.y
        a = self.slopes(t, y)
        b = self.slopes(t + h / 2, y + h / 2 * a)
        c = self.slopes(t + h / 2, y + h / 2 * b)
        d = self.slopes(t + h, y + h * c)
        return y + h / 6 * (a + 2 * b + 2 * c + d)

    def crossed(self, h: float) -> bool:
        """Whether signs change on the way; the unit stands at its end."""
        self.place(self.time + h, self.moved(h))
        return bool(np.any(self.signs() != self.z))

    def advance(self, end: float) -> None:
        while self.time < end - 1e-12 - 4e-16 * abs(end):
            if self.rng is not None:
                self.disturb(self.rng)
            h = min(self.step, end - self.time, self.next - self.time)
            changed = self.crossed(h)
            if changed and self.search:
                low = 0.0
                while h - low > 1e-14 + 4e-16 * abs(self.time):
                    middle = 0.5 * (low + h)
                    low, h = (low, middle) if self.crossed(middle) else (middle, h)
            self.y = self.moved(h)
            self.time += h
            self.place(self.time, self.y)
            asked, _ = self.unit.completedIntegratorStep()
            if changed:
                self.stops.append(self.time)
            if changed or asked or self.time >= self.next:
                self.next = self.event()

    def disturb(self, rng: np.random.Generator) -> None:
        """What a host may do without a step coming of it."""
        kept = self.unit.getFMUState()
        for _ in range(int(rng.integers(3))):
            self.crossed(self.step * rng.uniform(0.01, 3.0))
        if rng.random() < 0.5:
            self.unit.setFMUState(kept)
        else:
            self.place(self.time, self.y)
        self.unit.freeFMUState(kept)
        if rng.random() < 0.1:
            self.unit.completedIntegratorStep()
            self.next = self.event()

    def end(self) -> None:
        self.unit.terminate()
        self.unit.freeInstance()
