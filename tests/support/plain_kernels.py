"""Kernels as plain Python functions on plain arrays, in a process whose other kernels are compiled: parts of a run can be called by themselves."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from kinetree.models.run.simulation_unit import Run
from kinetree.models.trace.symbolic_kernels import ROOT, PlainKernels, named
from kinetree.solvers import layout as L
from kinetree.solvers import unit_layout as U
from kinetree.solvers.fields import AT_FLOATS, AT_INTS, AT_WORK
from kinetree.solvers.model_records import HEADER


def part(block: Any, ints: Any, table: Any, directory: int) -> dict[str, Any]:
    """Slices of a block by field name."""
    parts = {
        field.name: block[int(ints[directory + k]) : int(ints[directory + k + 1])]
        for k, field in enumerate(table)
    }
    return parts | {
        field.name: field.record.of(parts[field.name]) for field in table if field.record
    }


def model_view(ints: Any, floats: Any) -> SimpleNamespace:
    """The compiled model in its two blocks."""
    return SimpleNamespace(
        header=HEADER.of(ints),
        **part(ints, ints, L.MODEL_INTS, AT_INTS),
        **part(floats, ints, L.MODEL_FLOATS, AT_FLOATS),
    )


def work_view(ints: Any, work: Any) -> SimpleNamespace:
    """The workspace in its block."""
    return SimpleNamespace(**part(work, ints, L.WORK, AT_WORK))


def lane(lanes: np.ndarray, k: int) -> float:
    return lanes[k]


def lanes_of(number: Any) -> np.ndarray:
    return np.full(L.WIDTH, number)


def with_lane(lanes: np.ndarray, k: int, number: float) -> np.ndarray:
    return np.where(np.arange(L.WIDTH) == k, number, lanes)


def scatter(
    table: np.ndarray, width: int, k: int, first: int, left: int, lanes: np.ndarray
) -> None:
    table[np.arange(first, left) * width + k] = lanes


PLAIN = PlainKernels(symbolic=False)
# lanes are arrays
PLAIN.modules[ROOT + "numbers.primitive_operations"] = named(
    "primitive", lane=lane, lanes_of=lanes_of, with_lane=with_lane
)
PLAIN.modules[ROOT + "numbers.lane_packing"] = named("exchange", scatter=scatter)
vars(PLAIN.modules[ROOT + "views"]).update(model_view=model_view, work_view=work_view)


def plain(module: str) -> Any:
    """A module below the solvers whose kernels are plain functions."""
    return PLAIN.module(ROOT + module)


def blocks(run: Run) -> tuple[Any, np.ndarray, Any]:
    """I, F, W of a run, as kernels of units take them."""
    return U.UNIT.of(run.unit.ints), run.unit.floats, U.UNIT_HEAD.of(run.work)


def structure(run: Run) -> tuple[Any, Any]:
    """Model and workspace of the present structure of a run."""
    return plain("instance.memory").structure(*blocks(run))
