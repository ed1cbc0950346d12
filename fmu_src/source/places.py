"""Where the fields of the blocks are found: entries of the directories in the ints block, as `solvers/view_types.py` has them."""

from __future__ import annotations

from typing import Any

from kinetree.fmu.source import kinds as K
from kinetree.solvers import layout as L

AT_INTS = L.HEADER
AT_FLOATS = AT_INTS + len(L.MODEL_INTS) + 1
AT_WORK = AT_FLOATS + len(L.MODEL_FLOATS) + 1
MODEL = {"header": -1} | {field.name: AT_INTS + k for k, field in enumerate(L.MODEL_INTS)}
MODEL |= {field.name: AT_FLOATS + k for k, field in enumerate(L.MODEL_FLOATS)}
WORK = {field.name: AT_WORK + k for k, field in enumerate(L.WORK)}


def field_place(kind: Any, name: str) -> tuple[int, str]:
    """Entry of the directory, and the type of the view."""
    if kind == K.MODEL:
        return MODEL[name], K.FLOATS if MODEL[name] >= AT_FLOATS else K.INTS
    if kind == K.WORK:
        return WORK[name], K.FLOATS
    raise TypeError(f"{kind} has no field '{name}'")
