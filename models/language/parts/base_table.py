"""Base class of every table of the format, and the points by which tables refer to positions on
bodies.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from kinetree.models.language.numbers_and_expressions import Number, Vector

ORIGIN = (0.0, 0.0, 0.0)


class Part(BaseModel):
    """A table of the description: unknown keys are errors, values never change."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


def at_station() -> Any:
    """Return the schema key `station`, for tables that name a body."""
    return Field(
        default=None,
        description="On a beam: distance from its root, to which the point is added (default: the x coordinate of the point) [m]",
    )


class Named(Part):
    """A table with a name of its own, which `copies` can multiply."""

    copies: int | str | None = Field(
        default=None,
        description="Number of copies of this table; {i} in names and texts is the number of the copy, from 1",
    )
    text: str = Field(default="", description="Description in a few words")


class Point(Part):
    """A point fixed to a body."""

    body: str = Field(default="ground", description="Name of a body, or ground")
    point: Vector = Field(default=ORIGIN, description="Position in the body frame [m]")
    station: Number | None = at_station()
