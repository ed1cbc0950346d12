"""Records: values at fixed positions of a block, each declared once with its name and meaning.

A declaration yields the typed views of kernels (`ws.head.item`, `sensor_at(model.sensors,
k).register`), views for Python (`Record.of`), the constants of the C shell and the page in docs.
Pure data: importing this module costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple


class Entry(NamedTuple):
    """One value of a record, or several consecutive ones."""

    name: str
    text: str
    count: int = 1


class Record:
    """The layout of a record: its entries with their positions."""

    def __init__(self, name: str, text: str, *entries: Entry):
        self.name, self.text, self.entries = name, text, entries
        self.places: dict[str, tuple[int, int]] = {}  # first place and count by name
        at = 0
        for entry in entries:
            if entry.name in self.places or entry.name in ("size", "block", "first", "record"):
                raise ValueError(f"record '{name}': the name '{entry.name}' is taken")
            self.places[entry.name] = at, entry.count
            at += entry.count
        self.size = at

    def place(self, name: str) -> tuple[int, int]:
        """Return the first position and the length of an entry."""
        if name not in self.places:
            raise AttributeError(f"record '{self.name}' has no entry '{name}'")
        return self.places[name]

    def at(self, name: str) -> int:
        """Return the position of an entry."""
        return self.places[name][0]

    @property
    def offsets(self) -> tuple[int, ...]:
        """Return the positions of all entries in order."""
        return tuple(place for place, _ in self.places.values())

    def of(self, block: Any, first: int = 0) -> Named:
        """Return the view of the record that begins at index `first` of a block."""
        return Named(block, first, self)

    def rows(self, block: Any) -> Iterator[Named]:
        """Yield views of the records that fill a block one after another."""
        return (Named(block, first, self) for first in range(0, len(block), self.size))

    def filled(self, **values: int | Sequence[int]) -> list[int]:
        """Return the values of an integer record from keyword arguments; missing ones are 0."""
        found = [0] * self.size
        for name, value in values.items():
            at, count = self.place(name)
            found[at : at + count] = (
                [int(each) for each in value] if isinstance(value, Sequence) else [int(value)]
            )
        return found

    def constants(self, prefix: str) -> dict[str, int]:
        """Return the positions of the entries under names for C that begin with `prefix`."""
        return {f"{prefix}_{name.upper()}": place for name, (place, _) in self.places.items()}


class Named:
    """A record in a block for plain Python: entries are attributes, and it can be indexed like the
    block.
    """

    __slots__ = ("block", "first", "record")
    block: Any
    first: int
    record: Record

    def __init__(self, block: Any, first: int, record: Record):
        for name, value in (("block", block), ("first", first), ("record", record)):
            object.__setattr__(self, name, value)

    def place(self, name: str) -> int | slice:
        """Return the index of an entry in the block, or the slice of several."""
        at, count = self.record.place(name)
        return self.first + at if count == 1 else slice(self.first + at, self.first + at + count)

    def __getattr__(self, name: str) -> Any:
        return self.block[self.place(name)]

    def __setattr__(self, name: str, value: Any) -> None:
        self.block[self.place(name)] = value

    def shifted(self, index: Any) -> Any:
        """Return the block index that corresponds to an index of the record."""
        if not isinstance(index, slice):
            return self.first + index
        last = len(self) if index.stop is None else index.stop
        return slice(self.first + (index.start or 0), self.first + last)

    def __getitem__(self, index: Any) -> Any:
        return self.block[self.shifted(index)]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.block[self.shifted(index)] = value

    def __len__(self) -> int:
        return len(self.block) - self.first

    @property
    def size(self) -> int:
        """Return the number of values from the start of the record to the end of the block."""
        return len(self)


def plain_rows(record: Record) -> Callable[[Any, int], Named]:
    """Return a function that cuts record k from a table of records, in plain Python."""

    def row(table: Any, k: int) -> Named:
        return record.of(table, k * record.size)

    row.kinetree_record = record  # type: ignore[attr-defined]
    return row


def plain_block(record: Record) -> Callable[[Any], Named]:
    """Return a function that views the start of a block as a record, in plain Python."""

    def whole(block: Any) -> Named:
        return record.of(block)

    whole.kinetree_block = record  # type: ignore[attr-defined]
    return whole
