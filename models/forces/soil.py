"""Soil under contacts."""

from __future__ import annotations

from kinetree.models.forces.kind import OwnState
from kinetree.models.forces.table import Standing


def soil_states(force: Standing) -> dict[str, OwnState]:
    """How far the soil has settled."""
    return {} if force.soil is None else {"settlement": OwnState("m", settles=True)}
