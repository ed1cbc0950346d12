"""Traced equations and specialised code of a mechanism, as part of System."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from kinetree.models.system.contact_states import refuse_contacts

if TYPE_CHECKING:
    from kinetree.models.specialised.specialised_system import Specialised
    from kinetree.models.system.system import System
    from kinetree.models.trace.trace import Trace


class Traced:
    """The methods of System that generate straight-line operations of its equations."""

    def trace(
        self,
        of: str = "accelerations",
        parameters: str = "numbers",
        form: str = "auto",
        stage: int | str | None = None,
    ) -> Trace:
        """Return the operations of a quantity (accelerations, mass_matrix, outputs, rates,
        reactions, energy, momenta, hamilton, guards, matrices). `parameters` become numbers or
        symbols; `form` auto takes the form with fewest operations; `stage` is a name or number.
        """
        from kinetree.models.trace.mechanism_traces import INERTIAL, trace
        from kinetree.models.trace.stage_system import of_one_stage

        system = cast("System", self)
        chosen, name = (system, "") if stage is None else of_one_stage(system, stage)
        if of not in INERTIAL:
            refuse_contacts(chosen, f"{of} in a trace")
        found = trace(chosen, of, parameters, form)
        found.stage = name
        return found

    def specialise(self) -> Specialised:
        """Return a system with specialised machine code, compiled or cached, if it measures faster
        than the engine.
        """
        from kinetree.models.specialised.specialised_system import Specialised

        return Specialised(cast("System", self))
