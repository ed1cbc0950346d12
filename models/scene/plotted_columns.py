"""Columns of a run for the plots of the page, and the marks of its stages and events."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.models.result.number_format import DUST, as_read
from kinetree.models.result.shown_names import shown_name
from kinetree.models.scene.body_poses import Motion

if TYPE_CHECKING:
    from kinetree.models.description.schema import Description
    from kinetree.models.result.result import Result

CURVES = 120  # of a page, at most
FIRST = 3  # drawn at first
MARKS = 400
STILL = 1e-7  # of the largest value: what changes less is constant to the eye
MINOR = ("energy",)  # seldom what one wants to see first


def packed(values: np.ndarray, kind: str = "<f4") -> str:
    """Return numbers as base64 text; NaN is preserved."""
    return b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode()


def curves(result: Result | None, motion: Motion, description: Description) -> list[dict[str, Any]]:
    """Return outputs that vary, then coordinates, forces and speeds, each in a suitable unit."""
    if result is None:
        return []
    names = [name for name in result.names if name not in result.EXTRA or name == "energy"]
    outputs = [name for name in names if name.partition("[")[0] in description.outputs]
    others = [name for name in names if name not in outputs]
    plain = [name for name in others if not name.startswith("der(")]
    ordered = [*outputs, *plain, *(name for name in others if name not in plain)]
    moving, still = [], []
    for name in ordered:
        values = result[name][motion.rows]
        known = values[np.isfinite(values)]
        if not known.size or np.ptp(known) == 0.0:
            continue
        largest = float(np.abs(known).max())
        dust = max(STILL * largest, DUST.get(result.unit(name), 0.0))
        drawn, unit = (
            as_read(result, name, values) if largest > dust else (values, result.unit(name))
        )
        base = float(
            drawn[np.isfinite(drawn)][0]
        )  # kept apart: small changes of large numbers survive the short format
        least = dust * float(np.ptp(drawn[np.isfinite(drawn)]) / np.ptp(known))
        made = {
            "name": name,
            "unit": unit,
            "base": base,
            "least": least,
            "values": packed(drawn - base),
        }
        (moving if np.ptp(known) > dust else still).append(made)
    chosen = [each["name"] for each in moving if not each["name"].startswith(MINOR)][:FIRST] or [
        each["name"] for each in moving[:FIRST]
    ]
    return [
        {**each, "name": shown_name(result, each["name"]), "shown": each["name"] in chosen}
        for each in [*moving, *still][:CURVES]
    ]


def marks(result: Result | None, motion: Motion) -> dict[str, list[dict[str, Any]]]:
    """Return stages with their start times, and events."""
    if result is None:
        return {"stages": [], "events": []}
    names = list(result.stage_names)
    stages = [{"time": float(motion.time[0]), "name": names[motion.stages[0]] if names else ""}]
    events = []
    for event in result.events[:MARKS]:
        if event.kind == "stage":
            stages.append({"time": event.time, "name": event.stage})
        else:
            events.append({"time": event.time, "name": event.kind})
    return {"stages": stages if len(stages) > 1 else [], "events": events}
