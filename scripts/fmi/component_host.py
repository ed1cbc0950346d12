"""A host of FMI 3.0 as WebAssembly components: wasmtime, through its Python package.

The component has no access to files, clock or environment of this machine; it can only send
messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.fmu.component.world import INTERFACES, PACKAGE
from kinetree.fmu.native.binaries import place_of
from kinetree.scripts.fmi.bare_c_host import HostError
from kinetree.scripts.fmi.fmpy_host import Archive
from kinetree.solvers.library.platforms import WEBASSEMBLY, Platform

if TYPE_CHECKING:
    from kinetree.scripts.fmi.host_programs import Task

EXCHANGE, SIMULATION = INTERFACES
TOLERANCE = 1e-9  # relative and absolute, of the integrator for model exchange
MOST_EVALUATIONS = 300_000
STATUS = ("ok", "warning", "discard", "error", "fatal")


class LoadedComponent:
    """A component compiled for this machine, which can be instantiated."""

    def __init__(self, file: Path):
        from wasmtime import Engine
        from wasmtime.component import Component

        self.engine = Engine()
        self.component = Component.from_file(self.engine, str(file))


def component_of(archive: Archive, identifier: str) -> Path:
    """Return the component file of an archive."""
    return Path(archive.folder) / place_of(WEBASSEMBLY, identifier, 3)


class ComponentInstance:
    """An instance of a component in a store of its own; `messages` collects its log messages."""

    def __init__(self, loaded: LoadedComponent, token: str, exchange: bool, name: str = "instance"):
        from wasmtime import Store
        from wasmtime.component import Linker

        self.interface = EXCHANGE if exchange else SIMULATION
        self.store, self.messages = Store(loaded.engine), list[str]()
        linker = Linker(loaded.engine)
        with linker.root() as root, root.add_instance(PACKAGE.format("callbacks")) as callbacks:
            callbacks.add_func("log-message", self.heard)
        self.inside: Any = linker.instantiate(self.store, loaded.component)
        exported = PACKAGE.format(self.interface.name)
        self.functions: dict[str, Any] = {}
        self.place = self.inside.get_export_index(self.store, exported)
        given: list[Any] = [name, token, "", False, False]
        given += [] if exchange else [False, False, []]
        self.fmu = self.function(f"[static]{self.interface.resource}.{self.interface.instantiate}")(
            self.store, *given
        )
        if self.fmu is None:
            raise HostError("; ".join(self.messages) or "not instantiated")

    def heard(self, store: Any, name: str, status: str, category: str, message: str) -> None:
        self.messages.append(f"{status}: {message}")

    def function(self, name: str) -> Any:
        """Return an exported function of the FMI 3.0 interface by its name."""
        if name not in self.functions:
            place = self.inside.get_export_index(self.store, name, self.place)
            self.functions[name] = self.inside.get_func(self.store, place)
        return self.functions[name]

    def raw(self, method: str, *given: Any) -> Any:
        """Call a method and return its result: a value, or a status as a word."""
        full = f"[method]{self.interface.resource}.{method}"
        return self.function(full)(self.store, self.fmu, *given)

    def __call__(self, method: str, *given: Any) -> Any:
        """Call a method and return its result; raise HostError with the messages if it fails."""
        answer = self.raw(method, *given)
        if isinstance(answer, str) and answer in STATUS[2:]:
            raise HostError(f"{method}: {'; '.join(self.messages) or answer}")
        return answer

    def begin(self, start: float = 0.0) -> None:
        """Initialise the instance with start values."""
        self("enter-initialization-mode", None, start, None)
        self("exit-initialization-mode")

    def step(self, t: float, h: float) -> float:
        """Make a co-simulation step and return the time that it has reached."""
        return vars(self("do-step", t, h, False))["last-successful-time"]

    def read(self, references: Sequence[int]) -> list[float]:
        """Return the values of real variables by value reference."""
        return self("get-float64", list(references))

    def close(self) -> None:
        self.fmu.drop(self.store)


class ExchangeRun:
    """Model exchange of a component, integrated by the Dormand-Prince method with events located by
    bisection.
    """

    def __init__(self, fmu: ComponentInstance):
        self.fmu, self.time, self.next_event, self.evaluations = fmu, 0.0, np.inf, 0
        fmu.begin()
        self.event()

    def event(self) -> None:
        """Carry out an event, and restart the integration with the states after it."""
        again = True
        while again:
            told = vars(self.fmu("update-discrete-states"))
            again = told["new-discrete-states-needed"]
        self.next_event = told["next-event-time"] if told["next-event-time-defined"] else np.inf
        self.fmu("enter-continuous-time-mode")
        self.states = np.array(self.fmu("get-continuous-states"))
        self.signs = self.indicators(self.time, self.states)

    def move(self, t: float, x: np.ndarray) -> None:
        self.fmu("set-time", float(t))
        self.fmu("set-continuous-states", x.tolist())

    def rates(self, t: float, x: np.ndarray) -> np.ndarray:
        self.evaluations += 1
        if self.evaluations > MOST_EVALUATIONS:
            raise HostError(f"more than {MOST_EVALUATIONS} evaluations at t = {t:g}")
        self.move(t, x)
        return np.array(self.fmu("get-continuous-state-derivatives"))

    def indicators(self, t: float, x: np.ndarray) -> np.ndarray:
        """Return which event indicators are positive."""
        self.move(t, x)
        return np.array(self.fmu("get-event-indicators")) > 0.0

    def until(self, end: float) -> None:
        """Integrate to a time, through all events before it."""
        while self.time < end:
            self.smooth(min(end, self.next_event))
            if self.time >= self.next_event:
                self.fmu("enter-event-mode")
                self.event()

    def smooth(self, end: float) -> None:
        """Integrate to a time or to the next event, which is carried out."""
        from scipy.integrate import RK45

        if not len(self.states):
            self.time = end
            return self.fmu("set-time", end)
        solver = RK45(self.rates, self.time, self.states, end, rtol=TOLERANCE, atol=TOLERANCE)
        while solver.status == "running":
            before = float(solver.t)
            solver.step()
            if solver.status == "failed":
                raise HostError(f"the integrator stops at t = {solver.t:g}")
            if (self.indicators(solver.t, solver.y) != self.signs).any():
                self.time, self.states = self.located(
                    solver.dense_output(), before, float(solver.t)
                )
                self.move(self.time, self.states)
                self.fmu("enter-event-mode")
                return self.event()
            self.time, self.states = float(solver.t), solver.y
            if vars(self.fmu("completed-integrator-step", True))["enter-event-mode"]:
                self.fmu("enter-event-mode")
                return self.event()
        return None

    def located(self, states: Any, low: float, high: float) -> tuple[float, np.ndarray]:
        """Return time and states just after the first sign change of an event indicator, found by
        bisection.
        """
        while high - low > 1e-13 * max(1.0, abs(high)):
            middle = 0.5 * (low + high)
            changed = (self.indicators(middle, states(middle)) != self.signs).any()
            low, high = (low, middle) if changed else (middle, high)
        return float(high), states(high)


def by_component(task: Task, platform: Platform) -> list[float]:
    """Run the component of an archive for a task and return the last values."""
    loaded = LoadedComponent(component_of(task.archive, task.identifier))
    d: Any = task.archive.description
    fmu = ComponentInstance(loaded, d.instantiationToken, task.exchange)
    if task.exchange:
        run = ExchangeRun(fmu)
        for k in range(1, task.count + 1):
            run.until(k * task.step)
        run.move(run.time, run.states)
    else:
        fmu.begin()
        for k in range(task.count):
            fmu.step(k * task.step, task.step)
    values = fmu.read(task.references)
    fmu.close()
    return values
