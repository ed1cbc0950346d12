"""Stages and phases that measures refer to: `deviation(luff, departure 2)`.

A name or a pattern (`*` any text, `?` any letter) of phases, or else of stages, follows the column.
The measure is computed from the recorded rows of all matching ones together. With `each` before the
pattern, a text stands for one measure per matching phase or stage.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from kinetree.models.language.errors import suggestion
from kinetree.models.result.result import shape_of
from kinetree.models.result.stage_summary import phases_in
from kinetree.scripts.measures.run_measures import Inside, part_in, with_part
from kinetree.scripts.terminal.error_messages import BadInput

EACH = "each "
Value = TypeVar("Value")


class RunParts:
    """Names of stages and of their phases, indexed by the number of the stage."""

    def __init__(self, stages: Sequence[str], phases: Sequence[str]):
        self.stages = list(stages)
        self.phases = [*phases[: len(self.stages)], *[""] * (len(self.stages) - len(phases))]

    @classmethod
    def of(cls, system: Any) -> RunParts:
        """Return the stages and phases of a compiled mechanism."""
        return cls([stage.name for stage in system.stages], phases_in(system.description.stages))

    def matching(self, pattern: str) -> list[str]:
        """Return the phases that match a pattern, or else the stages, in their order."""
        shape = shape_of(pattern)
        for names in (self.phases, self.stages):
            found = [name for name in names if name == pattern] or [
                name for name in names if name and shape.fullmatch(name)
            ]
            if found:
                return list(dict.fromkeys(found))
        known = tuple(dict.fromkeys(filter(None, (*self.phases, *self.stages))))
        more = suggestion(pattern, known) if known else "the mechanism has no named stages"
        raise BadInput(f"no stage or phase '{pattern}'; {more}")

    def numbers(self, pattern: str) -> list[int]:
        """Return the numbers of the stages that match a pattern by the name of their phase or their
        own.
        """
        found = set(self.matching(pattern))
        by_phase = bool(found & set(self.phases))
        names = self.phases if by_phase else self.stages
        return [number for number, name in enumerate(names) if name in found]

    def expanded(self, texts: Sequence[str]) -> list[str]:
        """Return texts of measures in which `each` is replaced by one text per phase or stage;
        raise an error for unknown names.
        """
        found: list[str] = []
        for text in texts:
            part = part_in(text)
            if part.startswith(EACH):
                found += [
                    with_part(text, name) for name in self.matching(part[len(EACH) :].strip())
                ]
            else:
                if part:
                    self.matching(part)
                found.append(text)
        return found

    def spread(self, table: Mapping[str, Value]) -> dict[str, Value]:
        """Return a table by measure in which `each` is replaced by one entry per phase or stage."""
        return {one: value for text, value in table.items() for one in self.expanded([text])}

    def inside(self, stage: np.ndarray) -> Inside:
        """Return a function from a pattern to the mask of the rows whose stages match it; `stage`
        holds the stage numbers of all rows.
        """
        return lambda pattern: np.isin(stage, self.numbers(pattern))


def speak_of_parts(texts: Sequence[str]) -> bool:
    """Return whether any measure names a stage or a phase."""
    return any(map(part_in, texts))


def counted_each(texts: Sequence[str]) -> bool:
    """Return whether any measure stands for one per phase or stage (`each`)."""
    return any(part_in(text).startswith(EACH) for text in texts)
