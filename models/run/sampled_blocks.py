"""Sampled blocks of a unit: what predictive controllers and observers carry with themselves, and its places in the memory of a unit.

The model of a block is the mechanism with outputs of its own for everything that the block reads; its parameters and inputs follow those outside.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetree.models.description.names import RUN_START, expressions
from kinetree.models.description.schema import Description
from kinetree.models.engine.compiled import Compiled
from kinetree.models.engine.flat_blocks import model_fields
from kinetree.models.expressions.internal_names import STAGE_START
from kinetree.models.expressions.parse import ExpressionError, evaluate_constant, names, parse
from kinetree.solvers.fields import Field
from kinetree.solvers.sampled import block_layout as B

LEAST_SIZE = 1e-3  # of a first-order state
HIDDEN = (STAGE_START, RUN_START)  # times that laws may read


@dataclass
class Block:
    """A block before it has its places in the blocks of a unit."""

    kind: int
    event: int
    stage: int
    compiled: Compiled
    record: dict[str, int]  # numbers of its own record
    lists: dict[str, list[int]]  # its own lists of registers by entry
    numbers: np.ndarray
    parts: tuple[Field, ...]
    sizes: dict[str, int]
    pairs: list[int]  # registers outside and inside, one after the other, that the model takes over
    reads: list[int]
    gives: list[int]

    @property
    def places(self) -> tuple[dict[str, int], int]:
        """Return the places of the parts of its memory, and the length of it."""
        at, found = B.BEGUN, {}
        for part in self.parts:
            found[f"at_{part.name}"] = at
            at += round(evaluate_constant(part.size, {k: float(v) for k, v in self.sizes.items()}))
        return found, at


def needed_outputs(description: Description, texts: Sequence[str]) -> set[str]:
    """Return the outputs that laws of a description or some texts read."""
    laws = [str(text) for path, text in expressions(description) if path[0] != "outputs"]
    waiting, found = [*laws, *texts], set()
    while waiting:
        try:
            read = names(parse(waiting.pop()))
        except ExpressionError:  # told by the checks
            continue
        for name in read & description.outputs.keys() - found:
            found.add(name)
            waiting += [str(text) for _, text in expressions(description.outputs[name])]
    return found


def state_sizes(model: Compiled) -> list[float]:
    """Return sizes of coordinates, speeds (1 m, 1 rad) and first-order states (their start)."""
    count = len(model.states)
    image = model_fields(model.ints, model.floats).val0
    starts = image[model.start_x : model.start_x + count] if count else np.zeros(0)
    sizes = np.where(np.isfinite(starts), np.abs(starts), 0.0)
    return [1.0] * (len(model.coordinates) + len(model.speeds)) + [
        float(size) if size > LEAST_SIZE else 1.0 for size in sizes
    ]


def shared_registers(
    outside: Mapping[str, int], model: Compiled, given: Mapping[str, str], own: Collection[str] = ()
) -> list[int]:
    """Return registers outside and inside of what a model takes over: parameters, inputs, what a stage has locked, and what is `given`.

    What the block sets itself is its `own`.
    """
    found = {key: key for key in model.parameters if key not in own}
    found |= {key: key for key in model.inputs if key in outside and key not in own}
    found |= {key: key for key in model.registers if key.startswith("locked(") or key in HIDDEN}
    found |= given
    return [
        register
        for inside, name in found.items()
        if name in outside
        for register in (outside[name], model.registers[inside])
    ]


def place_blocks(
    blocks: Sequence[Block], put: Callable[[Any], int], floats_at: int
) -> tuple[list[int], list[np.ndarray], int]:
    """Return the records of all blocks, their floats, and the length of their memory; `put` adds ints to the unit and returns their place.

    Places in work count from the beginning of the memory of the blocks.
    """
    records: list[int] = []
    floats: list[np.ndarray] = []
    work = 0
    for block in blocks:
        places, length = block.places
        lists = {key: put(values) for key, values in block.lists.items()}
        layout = B.LAYOUTS[block.kind]
        own = layout.filled(
            **block.record, **lists, **places, pairs=put(block.pairs), copied=len(block.pairs) // 2
        )
        numbers_at = floats_at + block.compiled.floats.size
        records += B.BLOCK.filled(
            kind=block.kind, event=block.event, stage=block.stage, own=put(own), ints=put(block.compiled.ints),
            floats=floats_at, numbers=numbers_at, work=work, reads=put(block.reads), gives=put(block.gives),
        )  # fmt: skip
        floats += [block.compiled.floats, block.numbers]
        floats_at, work = numbers_at + block.numbers.size, work + length
    return records, floats, work
