"""Packing of compiled fields into flat blocks, and numpy views of them."""

from __future__ import annotations

from collections.abc import Mapping, Set
from types import SimpleNamespace

import numpy as np

from kinetree.models.expressions.parse import evaluate_constant
from kinetree.solvers import layout as L
from kinetree.solvers.fields import AT_FIELDS, AT_FLOATS, AT_INTS, AT_WORK
from kinetree.solvers.model_records import HEADER

GROUPS = (
    "path",
    "direct",
    "sibling",
    "dense",
)  # parts of the literal group that only some methods want


def work_sizes(counts: Mapping[str, float], groups: Set[str]) -> list[int]:
    """Return the length of every field of the workspace; fields of optional groups are empty unless
    requested.
    """
    values = {**counts, **{group: float(group in groups) for group in GROUPS}}
    known: dict[str, int] = {}
    sizes = []
    inside = False
    for field in L.WORK:
        inside = inside or field.name == L.LITERAL[0]
        if field.size not in known:
            known[field.size] = round(evaluate_constant(field.size, values))
        sizes.append(0 if inside and "literal" not in groups else known[field.size])
        inside = inside and field.name != L.LITERAL[1]
    return sizes


def offsets(first: int, sizes: list[int]) -> np.ndarray:
    return first + np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)


def pack(
    header: Mapping[str, int],
    ints: Mapping[str, np.ndarray],
    floats: Mapping[str, np.ndarray],
    work: list[int],
) -> tuple[np.ndarray, np.ndarray]:
    """Return the blocks ints and floats; the directory in ints defines the layout of the workspace."""
    int_parts = [np.asarray(ints[f.name], dtype=np.int64) for f in L.MODEL_INTS]
    float_parts = [np.asarray(floats[f.name], dtype=np.float64) for f in L.MODEL_FLOATS]
    directories = [
        offsets(AT_FIELDS, [part.size for part in int_parts]),
        offsets(0, [part.size for part in float_parts]),
        offsets(0, work),
    ]
    values = np.concatenate([*float_parts, np.zeros(1)])
    sizes = {
        "ints_size": directories[0][-1],
        "floats_size": values.size,
        "work_size": directories[2][-1],
    }
    block = np.concatenate([HEADER.filled(**header, **sizes), *directories, *int_parts]).astype(
        np.int64
    )
    return block, values


def with_groups(ints: np.ndarray, counts: Mapping[str, float], groups: Set[str]) -> np.ndarray:
    """Return the ints block of the same model with other optional groups in the workspace."""
    block = ints.copy()
    directory = offsets(0, work_sizes(counts, groups))
    block[AT_WORK : AT_WORK + directory.size] = directory
    HEADER.of(block).work_size = directory[-1]
    return block


def fields_of(
    block: np.ndarray, ints: np.ndarray, table: tuple[L.Field, ...], directory: int
) -> SimpleNamespace:
    """Return the views of the fields of a block by name."""
    at = ints[directory : directory + len(table) + 1].tolist()
    parts = {field.name: block[at[k] : at[k + 1]] for k, field in enumerate(table)}
    return SimpleNamespace(
        **parts
        | {field.name: field.record.of(parts[field.name]) for field in table if field.record}
    )


def model_fields(ints: np.ndarray, floats: np.ndarray) -> SimpleNamespace:
    """Return the fields of a compiled model by name."""
    views = fields_of(ints, ints, L.MODEL_INTS, AT_INTS)
    views.__dict__.update(vars(fields_of(floats, ints, L.MODEL_FLOATS, AT_FLOATS)))
    return views


def allocate(ints: np.ndarray, floats: np.ndarray) -> tuple[np.ndarray, SimpleNamespace]:
    """Return a new workspace and its fields: registers at their initial values, state and loads 0,
    the rest NaN.
    """
    work = np.full(int(HEADER.of(ints).work_size), np.nan)
    fields = fields_of(work, ints, L.WORK, AT_WORK)
    for name in ("head", "q", "u", "x", "p", "tau", "extra", "wrench", "reaction"):
        getattr(fields, name)[:] = 0.0
    fields.val[:] = model_fields(ints, floats).val0
    return work, fields
