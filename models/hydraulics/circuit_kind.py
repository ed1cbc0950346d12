"""The declaration of a kind of hydraulic node or component; each file of `kinds` provides one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kinetree.models.language.parts.base_table import Named
from kinetree.models.language.parts.value_parts import State

if TYPE_CHECKING:
    from kinetree.models.checks.consistency_check import Checker
    from kinetree.models.compilation.hydraulic_circuit import Circuit


def none(label: str, element: Any, named: Callable[[str], str]) -> dict[str, State]:
    return {}


@dataclass(frozen=True)
class HydraulicKind:
    """The declaration of a hydraulic node or component. Names are LABEL.suffix; `element` is its
    table.
    """

    table: type[Named]  # keys; the docstring is its line in docs and in `kinetree explain`
    law: Callable[
        [Circuit, str, Any], None
    ]  # lowers it to registers and records: circuit, label, element
    told_by: tuple[str, ...]  # any of these keys tells it where `kind` is not written
    measures: tuple[str, ...]  # suffixes of the names that it offers
    rank: int  # place in docs; of two kinds that keys tell the later one is meant
    place: bool = False  # has a pressure: others can stand at it
    gives_way: bool = False  # a place whose pressure follows from the flows; lowered last, when all that is on it is known
    states: Callable[[str, Any, Callable[[str], str]], dict[str, State]] = (
        none  # label, element, and a name that yields to the description's
    )
    check: Callable[[Checker, tuple[str | int, ...], Any], None] | None = (
        None  # complains about keys that do not go together
    )

    @property
    def name(self) -> str:
        return self.table.model_fields["kind"].default
