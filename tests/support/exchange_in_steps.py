"""A host that integrates by steps of a fixed length and halves them at events: archives of one model answer it alike, bit by bit."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from typing import Any

from kinetree.scripts.fmi.fmpy_host import Archive, Host

HALVINGS = 40
Inputs = Callable[[float], dict[str, float]]


class ExchangeHost:
    """One instance of model exchange in FMI 3.0; the state is in `x`."""

    def __init__(self, archive: Archive, messages: list[str] | None = None):
        self.host = Host(archive, messages, kind="ModelExchange")
        self.fmu: Any = self.host.fmu
        count = ctypes.c_size_t()
        self.sizes = []
        for name in ("fmi3GetNumberOfContinuousStates", "fmi3GetNumberOfEventIndicators"):
            getattr(self.fmu, name)(self.fmu.component, ctypes.byref(count))
            self.sizes.append(count.value)
        self.t, self.x, self.next, self.events = 0.0, [], None, 0

    def numbers(self, what: str) -> list[float]:
        """ContinuousStates, ContinuousStateDerivatives, NominalsOfContinuousStates or EventIndicators."""
        size = self.sizes[what == "EventIndicators"]
        values = (ctypes.c_double * size)()
        getattr(self.fmu, f"fmi3Get{what}")(self.fmu.component, values, size)
        return list(values)

    def start(self, values: dict[str, float] | None = None) -> ExchangeHost:
        self.host.start(values)
        self.take_events()
        return self

    def take_events(self) -> None:
        """Event mode until nothing changes any more."""
        again = True
        while again:
            again, _, _, _, defined, following = self.fmu.updateDiscreteStates()
        self.next = following if defined else None
        self.fmu.enterContinuousTimeMode()
        self.x = self.numbers("ContinuousStates")

    def at(self, t: float, x: list[float]) -> list[float]:
        """Rates at an instant."""
        self.fmu.setTime(t)
        self.fmu.setContinuousStates((ctypes.c_double * len(x))(*x), len(x))
        return self.numbers("ContinuousStateDerivatives")

    def moved(self, h: float) -> list[float]:
        """The state after one step of the classical method."""
        slopes = []
        for c in (0.0, 0.5, 0.5, 1.0):
            slopes.append(
                self.at(
                    self.t + c * h,
                    [a + c * h * b for a, b in zip(self.x, slopes[-1])] if slopes else self.x,
                )
            )
        return [a + h / 6 * (p + 2 * q + 2 * r + s) for a, p, q, r, s in zip(self.x, *slopes)]

    def step(self, h: float) -> None:
        """One step, or the part of it up to an event, which is then taken."""
        timed = self.next is not None and self.next <= self.t + h
        h = self.next - self.t if timed and self.next is not None else h
        signs = self.signs()
        end = self.moved(h)
        self.at(self.t + h, end)
        crossed = self.signs() != signs
        if crossed:
            low, high = 0.0, h
            for _ in range(HALVINGS):
                middle = 0.5 * (low + high)
                self.at(self.t + middle, self.moved(middle))
                low, high = (low, middle) if self.signs() != signs else (middle, high)
            h, end = high, self.moved(high)
            self.at(self.t + h, end)
        self.t, self.x = self.t + h, end
        asked, _ = self.fmu.completedIntegratorStep()
        if crossed or timed or asked:
            self.events += 1
            self.fmu.enterEventMode()
            state = self.host.save()  # the event is tried, and taken back
            self.fmu.updateDiscreteStates()
            self.host.restore(state)
            self.host.forget(state)
            self.take_events()

    def signs(self) -> list[bool]:
        return [value > 0 for value in self.numbers("EventIndicators")]

    def rows(
        self, until: float, h: float, names: list[str], inputs: Inputs | None = None
    ) -> Iterator[tuple[float, ...]]:
        """Time, values, states and indicators after every step."""
        while self.t < until - 1e-9:
            if inputs:
                self.host.set(inputs(self.t))
            self.step(min(h, until - self.t))
            yield (self.t, *self.host.get(names), *self.x, *self.numbers("EventIndicators"))
