"""Offsets of fields in the memory blocks, read from the directories in the ints block."""

from __future__ import annotations

from typing import Any

from kinetree.fmu.source import kinds as K
from kinetree.solvers.fields import AT_FLOATS, MODEL_AT, RECORD_FIELDS, WORK_AT


def field_place(kind: Any, name: str) -> tuple[int, str]:
    """Return the index of a field's directory entry, and the type of its view."""
    if kind not in (K.MODEL, K.WORK):
        raise TypeError(f"{kind} has no field '{name}'")
    place = (MODEL_AT if kind == K.MODEL else WORK_AT)[name]
    view = K.INTS if kind == K.MODEL and place < AT_FLOATS else K.FLOATS
    return place, K.Named(view, RECORD_FIELDS[name]) if name in RECORD_FIELDS else view
