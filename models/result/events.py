"""Events of a run in compact storage, since a sampled controller can produce millions of them."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import overload


@dataclass(frozen=True)
class Event:
    """One event: time, label, the stage after it, and mass, momentum (3) and energy before and
    after.
    """

    time: float
    kind: str
    stage: str
    stage_number: int
    before: tuple[float, ...]
    after: tuple[float, ...]
    cause: str = ""  # the condition that came true
    together: int = 1  # events that happened as one

    @property
    def energy_loss(self) -> float:
        """Return the energy [J] that the event removed."""
        return self.before[4] - self.after[4]


class Events(Sequence[Event]):
    """A sequence of events: times, label indices and balances in flat arrays; balances that an
    event does not change are stored once.
    """

    def __init__(self, events: Iterable[Event] = ()):
        self._times, self._books = array("d"), array("d")
        self._label, self._begin = array("i"), array("q", [0])
        self._labels: list[tuple[str, str, int, str, int]] = []
        self._numbers: dict[tuple[str, str, int, str, int], int] = {}
        for event in events:
            self.append(event)

    def append(self, event: Event) -> None:
        """Append an event."""
        label = (event.kind, event.stage, event.stage_number, event.cause, event.together)
        if label not in self._numbers:
            self._numbers[label] = len(self._labels)
            self._labels.append(label)
        self._times.append(event.time)
        self._label.append(self._numbers[label])
        self._books.extend(event.before)
        if event.after != event.before:
            self._books.extend(event.after)
        self._begin.append(len(self._books))

    def __len__(self) -> int:
        return len(self._times)

    @overload
    def __getitem__(self, place: int) -> Event: ...
    @overload
    def __getitem__(self, place: slice) -> list[Event]: ...
    def __getitem__(self, place: int | slice) -> Event | list[Event]:
        if isinstance(place, slice):
            return [self[k] for k in range(*place.indices(len(self)))]
        k = range(len(self))[place]
        kind, stage, number, cause, together = self._labels[self._label[k]]
        books = tuple(self._books[self._begin[k] : self._begin[k + 1]])
        before, after = books[:5], books[-5:]
        return Event(self._times[k], kind, stage, number, before, after, cause, together)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    def __repr__(self) -> str:
        return repr(list(self))
