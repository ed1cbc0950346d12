"""A pump with a prescribed flow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kinetree.models.hydraulics.circuit_kind import HydraulicKind
from kinetree.models.hydraulics.oil_terms import between, pressure
from kinetree.models.language.numbers_and_expressions import Law, Number
from kinetree.models.language.parts.base_table import Named

if TYPE_CHECKING:
    from kinetree.models.compilation.hydraulic_circuit import Circuit


class PumpElement(Named):
    """A pump: a given flow minus leakage, reduced where the outlet pressure approaches the limit."""

    kind: Literal["pump"] = "pump"
    path: tuple[str, str] = Field(description="Nodes at the inlet (tank) and the outlet")
    flow: Law = Field(description="Flow without back pressure [m3/s]")
    leakage: Number = Field(
        default=0.0, description="Flow lost per pressure difference [m3/(s.Pa)]"
    )
    limit: Number | None = Field(
        default=None,
        description="Pressure of the outlet at which the flow is 0 [Pa]; left out: none",
    )
    range: Number = Field(
        default=5e5, description="Pressure below the limit over which the flow is cut back [Pa]"
    )


def add_pump(circuit: Circuit, label: str, element: PumpElement) -> None:
    """Add a prescribed flow that is reduced near the pressure limit."""
    inlet, outlet = map(pressure, element.path)
    value = circuit.number(label, element, "flow")
    if element.limit is not None:
        value = value * between(
            (circuit.number(label, element, "limit") - outlet)
            / circuit.number(label, element, "range"),
            0.0,
            1.0,
        )
    circuit.carry(
        label, element.path, value - circuit.number(label, element, "leakage") * (outlet - inlet)
    )


HYDRAULIC = HydraulicKind(PumpElement, add_pump, ("flow",), ("flow",), rank=6)
