"""A system with other numbers of its parameters, without compiling: their registers are written, all structures and states of rest follow.

What may be changed this way is for the caller to know (models/run/ensemble_cases.py finds out).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from kinetree.models.controllers.expansion import expanded
from kinetree.models.description.schema import Description
from kinetree.models.engine.compiled import Compiled
from kinetree.models.engine.flat_blocks import model_fields
from kinetree.models.run.simulation_unit import LATER, later_structures
from kinetree.models.system.system import System

if TYPE_CHECKING:
    from kinetree.models.analysis.preparation_stages import Preparations


def rewrite_registers(compiled: Compiled, numbers: Mapping[str, float]) -> Compiled:
    """Return the blocks with new numbers in named registers; unknown names are ignored."""
    floats = compiled.floats.copy()
    image = model_fields(compiled.ints, floats).val0
    for name, value in numbers.items():
        if name in compiled.registers:
            image[compiled.registers[name]] = value
    return replace(
        compiled,
        floats=floats,
        fewer=rewrite_registers(compiled.fewer, numbers) if compiled.fewer else None,
    )


def reparameterized_system(system: System, numbers: Mapping[str, float]) -> System:
    """Return the first structure alone, with other numbers of parameters."""
    return System(
        reparameterized_description(system, numbers),
        rewrite_registers(system.compiled, numbers),
        system.stages,
    )


def reparameterized_description(system: System, numbers: Mapping[str, float]) -> Description:
    """Return the description with new parameter values; controllers are expanded again."""
    written = system.description.written
    changed = {
        name: written.parameters[name].model_copy(update={"value": float(value)})
        for name, value in numbers.items()
    }
    found = written.model_copy(update={"parameters": {**written.parameters, **changed}})
    return expanded(found, rest=system.description.rests)


def reparameterized_structures(
    system: System, numbers: Mapping[str, float], preparations: Preparations | None = None
) -> System:
    """Return all structures with new parameter values, and the prepared start that belongs to them."""
    starts = (
        {f"start({name})": value for name, value in preparations.starts(numbers).items()}
        if preparations
        else {}
    )
    made = System(
        reparameterized_description(system, numbers),
        rewrite_registers(system.compiled, {**numbers, **starts}),
        system.stages,
    )
    others, left = [], dict(numbers)
    for stage, compiled in zip(system.stages[1:], later_structures(system), strict=True):
        left = {name: value for name, value in left.items() if name not in stage.set}
        others.append(rewrite_registers(compiled, left))
    LATER[made] = tuple(others)
    return made
