"""References to beams in the tables of a description: points on them, given by a station or by the
x of a point of the undeformed beam.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from pydantic import BaseModel

from kinetree.models.language.numbers_and_expressions import Expression
from kinetree.models.language.parts.base_table import ORIGIN
from kinetree.models.language.parts.beam_parts import Beam

Path = tuple[str | int, ...]
PLACES = {  # keys that name a body, with those of the place on it
    "body": ("point", "centre", "at"),
    "on": ("at",),
}
LISTS = ("drop", "bodies")  # keys that hold names of bodies


class Located(NamedTuple):
    """A piece of a beam, and the station at which its frame lies."""

    body: str
    begin: float


Locate = Callable[[Path, str, Any], Located]  # path, beam, station: where that is


def total(*numbers: Any) -> Any:
    """Return the sum of values or expressions of a description; zeros are left out."""
    plain = sum(each for each in numbers if isinstance(each, (float, int)))
    texts = [f"({each})" for each in numbers if isinstance(each, str)]
    if not texts:
        return float(plain)
    return Expression(" + ".join([*texts, *([f"({float(plain)!r})"] if plain else [])]))


def shifted(vector: tuple[Any, Any, Any], *along: Any) -> tuple[Any, Any, Any]:
    """Return a vector with values added to its x component."""
    return (total(vector[0], *along), vector[1], vector[2])


class References:
    """Replaces references to beams in tables by references to their pieces."""

    def __init__(
        self, beams: Mapping[str, Beam], locate: Locate, pieces: Mapping[str, tuple[str, ...]]
    ):
        self.beams, self.locate, self.pieces = beams, locate, pieces

    def of(self, part: Any, path: Path) -> Any:
        """Return a part of a description without references to beams; the same object if it has
        none.
        """
        if isinstance(part, BaseModel):
            changes = self.of_table(part, path)
            return part.model_copy(update=changes) if changes else part
        if isinstance(part, Mapping):
            made = {key: self.of(each, (*path, key)) for key, each in part.items()}
            return made if any(made[key] is not part[key] for key in part) else part
        if isinstance(part, tuple):
            parts = tuple(self.of(each, (*path, k)) for k, each in enumerate(part))
            return parts if any(a is not b for a, b in zip(parts, part, strict=True)) else part
        return part

    def of_table(self, table: BaseModel, path: Path) -> dict[str, Any]:
        """Return the keys of a table that change, with their new values."""
        changes: dict[str, Any] = {}
        fields = type(table).model_fields
        for key in fields:
            value = getattr(table, key)
            if key in LISTS and isinstance(value, tuple) and any(n in self.beams for n in value):
                changes[key] = tuple(n for name in value for n in self.pieces.get(name, (name,)))
            elif isinstance(value, (BaseModel, Mapping, tuple)):
                found = self.of(value, (*path, key))
                if found is not value:
                    changes[key] = found
        for key, places in PLACES.items():
            name = getattr(table, key, None)
            if name not in self.beams:
                continue
            place = next((each for each in places if each in fields), None)
            point = getattr(table, place) if place else None
            point = ORIGIN if point is None else point
            station = getattr(table, "station", None) if key == "body" else None
            x = total(point[0], 0.0 if station is None else station)
            found = self.locate((*path, key), str(name), x)
            changes[key] = found.body
            if place:
                changes[place] = shifted(point, 0.0 if station is None else station, -found.begin)
            if station is not None:
                changes["station"] = None
        return changes
