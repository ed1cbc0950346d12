"""Collection of all sampled blocks of a unit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from kinetree.models.compilation.stage_structures import compile_stage, structures
from kinetree.models.description.schema import Description
from kinetree.models.engine.compiled import Compiled
from kinetree.models.language.parts.predictive_parts import PredictiveController
from kinetree.models.run.observer_block import inner_description_of_observer, observer_blocks
from kinetree.models.run.predictive_block import inner_of_predictive, predictive_block
from kinetree.models.run.sampled_blocks import Block

if TYPE_CHECKING:
    from kinetree.models.run.simulation_unit import Unit


def sampled_blocks_of(
    description: Description,
    compiled: Sequence[Compiled],
    inner_unit: Callable[[Description], Unit],
) -> list[Block]:
    """Return the blocks of all observers and sampled predictive controllers; `compiled` are the
    structures of the stages.

    `inner_unit` packs the model of an observer with its stages.
    """
    written, events = description.written, list(description.events)
    found = []
    for name, observer in written.observers.items():
        if f"{name}.update" in events:
            model = inner_unit(inner_description_of_observer(written, name, observer))
            number = events.index(f"{name}.update")
            found += observer_blocks(name, observer, written, number, compiled, model)
    for name, controller in written.controllers.items():
        if isinstance(controller, PredictiveController) and f"{name}.update" in events:
            number = events.index(f"{name}.update")
            stages = structures(inner_of_predictive(written, name, controller))
            for stage, outer in enumerate(compiled):
                model = compile_stage(stages[stage], later=stage > 0).running
                found.append(
                    predictive_block(written, name, controller, number, stage, outer, model)
                )
    return found
