"""Predicted costs of the forms (formulations) and their selection, as part of System."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from kinetree.models.engine.compiled import Compiled

if TYPE_CHECKING:
    from kinetree.models.description.schema import Description
    from kinetree.models.system.system import System


class Choice:
    """The methods of System for predicted and measured costs of the forms."""

    compiled: Compiled
    description: Description
    bodies: tuple[str, ...]
    parents: tuple[int, ...]

    def costs(self, iterations: float = 2) -> dict[str, float]:
        """Return the predicted floating-point operations of one evaluation by each form."""
        from kinetree.solvers.literal.operation_counts import costs

        if not self.bodies:  # a circuit by itself
            return dict.fromkeys(costs([1], [0], iterations), 0.0)
        freedoms = np.diff(self._freedom_ends())[
            : len(self.parents)
        ]  # without the bodies that close loops
        return costs([int(n) for n in freedoms], list(self.parents), iterations)

    def _freedom_ends(self) -> np.ndarray:
        from kinetree.models.engine.flat_blocks import model_fields

        return model_fields(self.compiled.ints, self.compiled.floats).u_at[1:]

    def choose(self, measured: bool = False) -> str:
        """Return the name of the cheapest form: by predicted operations, or by times measured on
        this machine. With closed loops it is DEC (LᵀDL elimination).
        """
        if self.compiled.loops or self.description.reduced:
            return "DEC"
        if measured:
            from kinetree.models.analysis.form_choice import measured_times

            times = measured_times(cast("System", self))
            return min(times, key=times.__getitem__)
        costs = self.costs()
        if self.rotors:  # the form of the first kind has no place for them
            del costs["LGR"]
        return min(costs, key=costs.__getitem__)

    @property
    def rotors(self) -> bool:
        """Return whether any joint has a motor with rotor inertia."""
        return any(joint.rotor_inertia is not None for joint in self.description.joints.values())
