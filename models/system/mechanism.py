"""A loaded mechanism: its description and the way to a compiled system."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kinetree.models.chain.system import ChainSystem
from kinetree.models.compilation.garbage_collection import uncollected
from kinetree.models.description.loader import describe
from kinetree.models.description.reading.read_source import Text
from kinetree.models.description.schema import Description
from kinetree.models.system.controller_variants import system_of
from kinetree.models.system.system import System


class Mechanism:
    """A checked description; `compile` makes it a System."""

    def __init__(self, source: str | Path | dict[str, Any] | Text, overrides: dict[str, Any]):
        self.source = source
        self.overrides = overrides
        self.description: Description = describe(source, **overrides)

    def compile(self, **parameters: float) -> System:
        """Compile; keyword arguments override parameters (and structural ones such as the number of copies). A chain becomes sliders."""
        mechanism = Mechanism(self.source, {**self.overrides, **parameters}) if parameters else self
        if mechanism.description.chain is not None:
            from kinetree.models.chain.mechanism import chain_mechanism

            return chain_mechanism(mechanism.chain()).compile()
        with uncollected():
            return system_of(mechanism.description)

    def chain(self, **parameters: float) -> ChainSystem:
        """The linear chain of a description with [chain]; keyword arguments override parameters."""
        return ChainSystem(
            Mechanism(self.source, {**self.overrides, **parameters}).description
            if parameters
            else self.description
        )

    def linear(self, **parameters: float) -> Mechanism:
        """Small motions about the state of rest as a description with [chain]; keyword arguments override parameters."""
        from kinetree.models.analysis.linear_description import linear_description

        return Mechanism(linear_description(self.compile(**parameters)), {})

    def _repr_html_(self) -> str:
        from kinetree.models.scene.notebook import system_html

        return system_html(self.compile())

    def __repr__(self) -> str:
        return f"Mechanism({self.description.name!r}, {len(self.description.bodies)} bodies)"


def load(source: str | Path | dict[str, Any] | Text, **overrides: Any) -> Mechanism:
    """Read a mechanism from a TOML or JSON file, a dict, the library ("lib:NAME"), or a robot's URDF or MJCF file."""
    return Mechanism(source, overrides)
