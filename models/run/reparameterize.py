"""A system with other parameter values without recompilation: registers are written, and all
structures and equilibria follow.

The caller must know that this is equivalent to compiling (models/run/ensemble_cases.py determines
it).
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
    """Return a copy of the blocks with new values in the named registers; names that do not exist
    are ignored.
    """
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
    """Return a system with the first structure only and other parameter values."""
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
