"""Cache of systems of a mechanism for changing parameter values: compiled for new values, or by
writing registers where that is equivalent.

It is equivalent if, for the smallest and the largest compiled value of every parameter and in all
structures, writing the registers of the first system gives identical values. Parameter values
outside the tested range are compiled, which also checks them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress

from kinetree.models.engine.status import EvaluationError
from kinetree.models.language.errors import ModelError
from kinetree.models.run.ensemble_cases import have_equal_numbers
from kinetree.models.run.reparameterize import reparameterized_structures
from kinetree.models.run.simulation_unit import later_structures
from kinetree.models.system.controller_variants import other_at_rest
from kinetree.models.system.mechanism import Mechanism
from kinetree.models.system.system import System


class SystemCache:
    """Cache of compiled systems of one mechanism for changing parameter values."""

    def __init__(
        self,
        mechanism: Mechanism,
        settings: Mapping[str, float] | None = None,
        ends: Iterable[Mapping[str, float]] = (),
    ):
        self.mechanism, self.settings, self.ends = mechanism, dict(settings or {}), list(ends)
        self.base: System | None = None
        self.low, self.high = dict[str, float](), dict[str, float]()
        d = mechanism.description
        self.told = d.chain is None and not (
            d.run.prepare and other_at_rest(d.written)
        )  # whether writing registers has said all so far

    def at(self, numbers: Mapping[str, float]) -> System:
        """Return the system for some parameter values; the set of parameters must not change
        between calls.
        """
        ends, self.ends = self.ends if self.told else [], []
        for each in ends:
            with suppress(ModelError, EvaluationError):
                self.at(each)
        if (
            self.told
            and self.base is not None
            and all(self.low[name] <= value <= self.high[name] for name, value in numbers.items())
        ):
            return self.written(self.base, numbers)
        made = self.mechanism.compile(**{**self.settings, **numbers})
        if self.base is None:
            self.base, self.low, self.high = made, dict(numbers), dict(numbers)
        elif self.told:
            self.told = have_equal_structures(made, self.written(self.base, numbers))
            self.low = {name: min(value, numbers[name]) for name, value in self.low.items()}
            self.high = {name: max(value, numbers[name]) for name, value in self.high.items()}
        return made

    @staticmethod
    def written(base: System, numbers: Mapping[str, float]) -> System:
        return reparameterized_structures(
            base, numbers, base.preparation if base.description.run.prepare else None
        )


def have_equal_structures(one: System, other: System) -> bool:
    """Return whether two systems have equal blocks in all structures."""
    pairs = [
        (one.compiled, other.compiled),
        *zip(later_structures(one), later_structures(other), strict=True),
    ]
    return all(have_equal_numbers(*pair, {}) for pair in pairs)
