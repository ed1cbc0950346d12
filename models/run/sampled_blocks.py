"""Sampled blocks of a unit: the inner models of predictive controllers and observers, and their
places in the memory of the unit.

The inner model is the mechanism with additional outputs for everything that the block reads; its
parameters and inputs follow those of the outer model.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from kinetree.models.controllers.expansion import expanded
from kinetree.models.description.names import RUN_START, expressions, output_names
from kinetree.models.description.output_parts import Output
from kinetree.models.description.schema import Description
from kinetree.models.engine.compiled import Compiled
from kinetree.models.engine.flat_blocks import model_fields
from kinetree.models.expressions.internal_names import STAGE_START
from kinetree.models.expressions.parse import ExpressionError, evaluate_constant, names, parse
from kinetree.models.language.parts.value_parts import Input
from kinetree.solvers.fields import Field
from kinetree.solvers.sampled import block_layout as B

LEAST_SIZE = 1e-3  # of a first-order state
HIDDEN = (STAGE_START, RUN_START)  # times that laws may read


class Image(Protocol):
    """Integers and floats of the inner model of a block: a structure, or a unit with its stages."""

    ints: np.ndarray
    floats: np.ndarray


@dataclass
class Block:
    """A block before it has been placed in the memory of a unit."""

    kind: int
    event: int
    stage: int
    image: Image  # blocks of one image share it and their memory
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
        """Return the positions of the parts of its memory, and their total length."""
        at, found = B.BEGUN, {}
        for part in self.parts:
            found[f"at_{part.name}"] = at
            at += round(evaluate_constant(part.size, {k: float(v) for k, v in self.sizes.items()}))
        return found, at


def inner_description(
    written: Description,
    broken: str | Collection[str],
    own: Mapping[str, str],
    inputs: Mapping[str, Input] | None = None,
    forces: Mapping[str, Any] | None = None,
) -> Description:
    """Return the inner mechanism of a block: commands of `broken` controllers are inputs, `own` are
    additional outputs by name.

    Of the mechanism's outputs it keeps those that its laws read.
    """
    model = expanded(written, rest=True, broken=broken)
    kept = needed_outputs(model, list(own.values()))
    outputs = {key: each for key, each in model.outputs.items() if key in kept}
    made = {key: Output.model_validate({"value": text}) for key, text in own.items()}
    fresh = {
        "outputs": outputs | made,
        "inputs": {**model.inputs, **(inputs or {})},
        "forces": {**model.forces, **(forces or {})},
    }
    result = model.model_copy(update=fresh)
    result._made, result._written, result._rests = model._made, model._written, model._rests
    result._beginning = None
    return result


def needed_outputs(description: Description, texts: Sequence[str]) -> set[str]:
    """Return the outputs that laws of a description, or the given expressions, read."""
    laws = [str(text) for path, text in expressions(description) if path[0] != "outputs"]
    columns = {
        column: name
        for name, output in description.outputs.items()
        for column in output_names(name, output)
    }
    waiting, found = [*laws, *texts], set()
    while waiting:
        try:
            read = names(parse(waiting.pop()))
        except ExpressionError:  # told by the checks
            continue
        for name in {columns[each] for each in read & columns.keys()} - found:
            found.add(name)
            waiting += [str(text) for _, text in expressions(description.outputs[name])]
    return found


def state_sizes(model: Compiled) -> list[float]:
    """Return scales of coordinates, speeds (1 m, 1 rad) and first-order states (their start
    values).
    """
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
    """Return pairs of outer and inner registers that the inner model copies: parameters, inputs,
    locked coordinates, and those in `given`.

    Registers that the block sets itself are listed in `own`.
    """
    found = {key: key for key in model.parameters if key not in own}
    found |= {key: key for key in model.inputs if key in outside and key not in own}
    found |= {
        key: key
        for key in model.registers
        if key in HIDDEN or (key.startswith("locked(") and key not in own)
    }
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
    """Return the records of all blocks, their floats, and the length of their memory; `put` adds
    ints to the unit and returns their position.

    Positions in the work block count from the start of the blocks' memory.
    """
    records: list[int] = []
    floats: list[np.ndarray] = []
    placed: dict[int, dict[str, int]] = {}
    work = 0
    for block in blocks:
        places, length = block.places
        image = id(block.image)
        if image not in placed:
            placed[image] = {"ints": put(block.image.ints), "floats": floats_at, "work": work}
            floats.append(block.image.floats)
            floats_at, work = floats_at + block.image.floats.size, work + length
        lists = {key: put(values) for key, values in block.lists.items()}
        layout = B.LAYOUTS[block.kind]
        own = layout.filled(
            **block.record, **lists, **places, pairs=put(block.pairs), copied=len(block.pairs) // 2
        )
        records += B.BLOCK.filled(
            kind=block.kind, event=block.event, stage=block.stage, own=put(own), numbers=floats_at,
            reads=put(block.reads), gives=put(block.gives), **placed[image],
        )  # fmt: skip
        floats.append(block.numbers)
        floats_at += block.numbers.size
    return records, floats, work
