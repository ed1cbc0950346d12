"""A node of given pressure: a tank, or a supply whose pump and accumulator keep the pressure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kinetree.models.hydraulics.circuit_kind import HydraulicKind
from kinetree.models.language.basic_checks import Path, check_absolute
from kinetree.models.language.numbers_and_expressions import Law
from kinetree.models.language.parts.base_table import Named

if TYPE_CHECKING:
    from kinetree.models.checks.consistency_check import Checker
    from kinetree.models.compilation.hydraulic_circuit import Circuit


class SourcePlace(Named):
    """A node of prescribed pressure: a tank, or a supply with constant pressure."""

    kind: Literal["source"] = "source"
    pressure: Law = Field(description="Pressure [Pa]")


def add_source(circuit: Circuit, label: str, source: SourcePlace) -> None:
    """Add a node of prescribed pressure."""
    circuit.report(
        label,
        "pressure",
        circuit.number(label, source, "pressure"),
        "Pa",
        source.text or "Pressure",
    )


def check_pressure(checker: Checker, path: Path, element: SourcePlace) -> None:
    """Report a negative absolute pressure."""
    check_absolute(checker, (*path, "pressure"), element.pressure)


HYDRAULIC = HydraulicKind(
    SourcePlace, add_source, ("pressure",), ("pressure",), rank=1, place=True, check=check_pressure
)
