"""The structure of one stage as a system of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinetree.models.run.simulation_unit import later_structures

if TYPE_CHECKING:
    from kinetree.models.system.system import System


def of_one_stage(system: System, stage: int | str) -> tuple[System, str]:
    """Return the system and name of a stage; locked joints are refused, since only runs know their
    values.
    """
    from kinetree.models.system.system import System

    names = [each.name for each in system.stages]
    if stage not in names and stage not in range(len(names)):
        raise ValueError(
            f"'{system.name}' has no stage {stage!r}; there are {', '.join(repr(name) for name in names if name) or 'none'}"
        )
    number = names.index(stage) if isinstance(stage, str) else stage
    structure, name = system.stages[number], names[number] or f"{number}"
    if structure.locked:
        locked = ", ".join(f"'{each}'" for each in sorted(structure.locked))
        raise ValueError(
            f"stage '{name}' of '{system.name}' holds joints locked ({locked}) where they happen to be, which only runs know"
        )
    if number == 0:
        return system, name
    return System(structure.description, later_structures(system)[number - 1], (structure,)), name
