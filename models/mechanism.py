"""A loaded mechanism: its description and the way to a compiled system."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kinetree.models.compilation.compile import compile_structure
from kinetree.models.description.loader import describe
from kinetree.models.description.schema import Description
from kinetree.models.stages import numbering, structures
from kinetree.models.system import System


class Mechanism:
    """A checked description; `compile` makes it a System."""

    def __init__(self, source: str | Path | dict[str, Any], overrides: dict[str, Any]):
        self.source = source
        self.overrides = overrides
        self.description: Description = describe(source, **overrides)

    def compile(self, **parameters: float) -> System:
        """Compile; keyword arguments override parameters (and structural parameters such as the number of copies)."""
        mechanism = Mechanism(self.source, {**self.overrides, **parameters}) if parameters else self
        stages = structures(mechanism.description)
        first = stages[0]
        return System(mechanism.description, compile_structure(first.description, numbering(first.description), first.locked, first.end), stages)

    def __repr__(self) -> str:
        return f"Mechanism({self.description.name!r}, {len(self.description.bodies)} bodies)"


def load(source: str | Path | dict[str, Any], **overrides: Any) -> Mechanism:
    """Read a mechanism from a TOML or JSON file, a dict, or the library ("lib:NAME")."""
    return Mechanism(source, overrides)
