"""A unit and a structure of nothing but guards and their actions, laid out by hand, for kernels that keep the books of events."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from kinetree.solvers import unit_layout as U
from kinetree.solvers.model_records import ACTION, GUARD

EMPTY = 7.0  # what stands in places that nobody has written
BLOCKS = 5  # vectors of a number per guard behind the records


def entries(ev: Any, name: str) -> np.ndarray:
    """One entry of the records GUARD_STATE of all guards in the memory of a root finder."""
    first, size = ev.first + U.LOCATOR.size + U.GUARD_STATE.at(name), U.GUARD_STATE.size
    return ev.block[first : first + size * int(ev.guards) : size]


def guard(
    register: int = 0, kind: int = 0, event: int = 0, action: int = 0, actions: int = 0
) -> list[int]:
    return GUARD.filled(register=register, kind=kind, event=event, action=action, actions=actions)


def action(entry: int = -1, parameter: int = -1, value: int = 0) -> list[int]:
    return ACTION.filled(entry=entry, parameter=parameter, value=value)


class HandMade:
    """I, W, model and ws; the parts of W by their names. What is not of events has `room` places each."""

    def __init__(
        self,
        *guards: list[int],
        events: int = 0,
        actions: tuple[list[int], ...] = (),
        logged: int = 4,
        stages: int = 1,
        room: int = 0,
        sizes: dict[str, int] | None = None,
    ):
        count, own = len(guards), sizes or {}
        sizes = {
            "events": U.EVENT.size * logged,
            "conditions": U.CONDITION.size * events,
            "guards": count,
            "locator": U.LOCATOR.size + (U.GUARD_STATE.size + BLOCKS) * count,
        }
        sizes |= own
        self.I = U.UNIT.of(np.zeros(U.UNIT.size, dtype=np.int64))
        self.I.logged, self.I.stages, self.I.event_names = logged, stages, events
        self.at: dict[str, slice] = {}
        end = U.UNIT_HEAD.size
        for part in U.PARTS:
            first, end = end, end + sizes.get(part.name, room)
            self.at[part.name] = slice(first, end)
            setattr(self.I, f"at_{part.name}", first)
        self.W: Any = U.UNIT_HEAD.of(np.full(end, EMPTY))
        self.W.events = self.W.stage = 0.0
        self.I.locator = sizes["locator"]
        self.ev = U.LOCATOR.of(self.W.block, self.I.at_locator)
        self.ev.guards, self.ev.states = count, 0
        header = SimpleNamespace(guards=count, latches=0, probes=0)
        rows = {
            "guards": np.array(guards, dtype=np.int64).ravel(),
            "actions": np.array(actions, dtype=np.int64).ravel(),
        }
        self.model = SimpleNamespace(header=header, **rows, c_law=np.zeros(0), l_kind=np.zeros(0))
        self.ws = SimpleNamespace(val=np.zeros(20), head=SimpleNamespace(item=0.0))

    def __getitem__(self, name: str) -> np.ndarray:
        """A part of W, or an entry of the records of all guards."""
        if name not in U.GUARD_STATE.places:
            return self.W.block[self.at[name]]
        return entries(self.ev, name)

    def set(self, **parts: Any) -> HandMade:
        for name, values in parts.items():
            self[name][:] = values
        return self

    def rows(self, *names: str) -> list[tuple[float, ...]]:
        """Some parts, guard by guard."""
        return list(zip(*(self[name].tolist() for name in names), strict=True))
