"""An archive, its instances and its twin without any binary: x falls as 2^-s with s' = k, exact in binary steps; what is done is noted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from kinetree.fmu.variables import Access

NAMES = ("x", "k")


class Unit:
    """An instance or the twin. `broken` are the promises that it does not keep: reset, alone, restore, bytes, set, steps."""

    steps = [0]  # of all instances together

    def __init__(
        self,
        archive: Any = None,
        *,
        broken: Iterable[str] = (),
        log: list[Any] | None = None,
        name: str = "",
        **options: Any,
    ):
        self.archive, self.broken, self.log, self.name, self.options = (
            archive,
            set(broken),
            [] if log is None else log,
            name,
            options,
        )
        self.s, self.k, self.time = 0.0, 1.0, 0.0
        self.fmu = SimpleNamespace(
            reset=self.reset, updateDiscreteStates=self.update,
            enterEventMode=lambda: self.note("event mode"), enterStepMode=lambda: self.note("step mode"),
        )  # fmt: skip
        self.updates = 0
        self.head = SimpleNamespace(step=0.5)
        self.table = SimpleNamespace(variables=[])

    def note(self, *what: Any) -> None:
        self.log.append((self.name, *what) if self.name else what[0] if len(what) == 1 else what)

    def update(self) -> tuple[bool, bool]:
        self.note("update")
        self.updates += 1
        return self.updates % 2 == 1, True  # once more, then no more

    def reset(self) -> None:
        self.note("reset")
        if "reset" not in self.broken:
            self.s, self.k = 0.0, 1.0

    def start(self, values: Mapping[str, float] | None = None) -> Unit:
        self.note("start")
        self.time = 0.0
        self.s -= np.log2((values or {}).get("x", 1.0))
        return self

    def step(self, target: float) -> None:
        self.note(target)
        self.steps[0] += 1
        step = target - self.time
        self.s += (
            self.k * step
            + 0.25 * step * step * ("steps" in self.broken)
            + 1e-9 * self.steps[0] * ("alone" in self.broken)
        )
        self.time = target

    def get(self, names: Iterable[str]) -> list[float]:
        return [{"x": 2.0**-self.s, "k": self.k, "event_time": 0.0}[name] for name in names]

    def get_references(self, references: Iterable[int]) -> list[float]:
        self.note("references", *references)
        return []

    def set(self, values: Mapping[str, float]) -> None:
        self.note("set", dict(values))
        if "set" not in self.broken:
            self.k = values.get("k", self.k)

    def save(self) -> tuple[float, float]:
        self.note("save")
        return self.time, self.s

    def restore(self, state: tuple[float, float]) -> None:
        self.note("restore", state[0])
        self.time = state[0]
        if "restore" not in self.broken:
            self.s = state[1]

    def forget(self, state: tuple[float, float]) -> None:
        self.note("forget")

    def serialized(self, state: tuple[float, float]) -> bytes:
        return repr(float(state[1])).encode()

    def parsed(self, data: bytes, time: float) -> tuple[float, float]:
        return time, float(data) + 1e-9 * ("bytes" in self.broken)

    def close(self) -> None:
        self.note("close")


def variable(
    name: str, access: Access, start: float | None, low: float = -np.inf, high: float = np.inf
) -> Any:
    return SimpleNamespace(name=name, access=access, start=start, minimum=low, maximum=high)


def archive_of(version: int = 2, **more: Any) -> Any:
    """What the checks ask of an archive."""
    description = SimpleNamespace(
        fmiVersion=f"{version}.0", coSimulation=SimpleNamespace(canGetAndSetFMUstate=True), modelExchange=None, modelVariables=[None] * 7,
        defaultExperiment=SimpleNamespace(stopTime="8.0", stepSize="0.5"),
    )  # fmt: skip
    told = {
        "version": version, "description": description, "references": {"x": 3, "k": 5}, "names": lambda causality: ["k", "x"], "compiled": False,
        "step": 0.5, "folder": "nowhere", "path": Path("it.fmu"), "reals": list(NAMES),
    }  # fmt: skip
    return SimpleNamespace(**told | more)
