"""A loaded mechanism: its checked description, which can be compiled to a system."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinetree.models.chain.system import ChainSystem
from kinetree.models.checks.loader import describe
from kinetree.models.description.reading.read_source import Text
from kinetree.models.description.schema import Description
from kinetree.models.engine.collector_pause import uncollected
from kinetree.models.system.controller_variants import system_of
from kinetree.models.system.start_values import Beginning, Given, beginning
from kinetree.models.system.system import System

if TYPE_CHECKING:
    from kinetree.models.result.result import Result


class Mechanism:
    """A checked description; `compile` makes it a System."""

    def __init__(self, source: str | Path | dict[str, Any] | Text, overrides: dict[str, Any]):
        self.source = source
        self.overrides = overrides
        self.description: Description = describe(source, **overrides)

    def compile(self, **parameters: float) -> System:
        """Return the compiled system; keyword arguments override parameters, structural ones
        included.
        """
        mechanism = self.overridden(parameters)
        if mechanism.description.chain is not None:
            from kinetree.models.system.chain_mechanism import chain_mechanism

            return chain_mechanism(mechanism.chain()).compile()
        with uncollected():
            return system_of(mechanism.description)

    def overridden(self, parameters: dict[str, Any]) -> Mechanism:
        """Return the mechanism with other parameter values."""
        if not parameters:
            return self
        made = Mechanism(self.source, {**self.overrides, **parameters})
        return made.beginning(self.description.beginning)

    def starting(
        self,
        start: Mapping[str, Given] | None = None,
        result: Result | str | Path | None = None,
        time: float | None = None,
    ) -> Mechanism:
        """Return the mechanism with other start values, or with the state of a result as start.

        `result` is a Result or a file written by a run; `time` selects the nearest row (default:
        the end). The run continues from that state in the stage of that time; its time starts anew,
        and nothing is prepared. Values in `start` take precedence over those of the result.
        """
        if self.description.chain is not None:
            raise ValueError(f"'{self.description.name}' is a chain, whose start is [chain] start")
        return self.beginning(beginning(self.description, start, result, time))

    def beginning(self, begin: Beginning | None) -> Mechanism:
        """Return the mechanism with the given start of another one."""
        made = copy(self)
        if begin is not None:
            made.description = begun_at(self.description, begin)
        return made

    def chain(self, **parameters: float) -> ChainSystem:
        """Return the linear chain of a description with [chain]; keyword arguments override
        parameters.
        """
        return ChainSystem(self.overridden(parameters).description)

    def linear(self, **parameters: float) -> Mechanism:
        """Return the linearisation about the equilibrium as a mechanism with [chain]."""
        from kinetree.models.analysis.linear_description import linear_description

        return Mechanism(linear_description(self.compile(**parameters)), {})

    def _repr_html_(self) -> str:
        from kinetree.models.scene.notebook import system_html

        return system_html(self.compile())

    def __repr__(self) -> str:
        from kinetree.models.language.word_lists import counted, listed

        d = self.description
        parts = [counted(len(d.bodies), "body", "bodies"), counted(len(d.joints), "joint")]
        parts += [counted(len(d.stages), "stage")] if d.stages else []
        parts += [f"parameters {listed([*d.parameters])}"] if d.parameters else []
        parts += [f"starts {listed([*d.starts])}"] if d.starts else []
        return f"Mechanism({d.name!r}: {'; '.join(parts)})"


def begun_at(description: Description, begin: Beginning) -> Description:
    """Return a copy of a description with another start, controllers included."""
    made = description.model_copy()
    made._beginning = begin
    if description._written is not None:
        made._written = description._written.model_copy()
        made._written._beginning = begin
    return made


def load(source: str | Path | dict[str, Any] | Text, **overrides: Any) -> Mechanism:
    """Read a mechanism from a TOML or JSON file, a dict, the library ("lib:NAME"), or a robot's URDF or MJCF file."""
    return Mechanism(source, overrides)
