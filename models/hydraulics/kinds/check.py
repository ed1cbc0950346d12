"""A check valve or relief valve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kinetree.models.expressions.node_arithmetic import larger, smaller
from kinetree.models.hydraulics.circuit_kind import HydraulicKind
from kinetree.models.hydraulics.oil_terms import pressure
from kinetree.models.hydraulics.throttle_edge import Edge, through
from kinetree.models.language.numbers_and_expressions import Number

if TYPE_CHECKING:
    from kinetree.models.compilation.hydraulic_circuit import Circuit


class CheckElement(Edge):
    """A check or relief valve: gain (drop - opens) above the drop at which it opens, limited by `rated_flow` where given; never backwards."""

    kind: Literal["check"] = "check"
    path: tuple[str, str] = Field(description="Nodes at the inlet and the outlet")
    opens: Number = Field(default=0.0, description="Pressure drop at which it opens [Pa]")
    gain: Number = Field(
        default=1e-9, description="Flow per pressure drop above `opens` [m3/(s.Pa)]"
    )


def add_check(circuit: Circuit, label: str, element: CheckElement) -> None:
    """Add a one-way flow through the valve above its opening pressure difference."""
    drop = pressure(element.path[0]) - pressure(element.path[1])
    value = circuit.number(label, element, "gain") * larger(
        drop - circuit.number(label, element, "opens"), 0.0
    )
    if element.rated_flow is not None:
        value = smaller(value, through(circuit, label, element, larger(drop, 0.0)))
    circuit.carry(label, element.path, value)


HYDRAULIC = HydraulicKind(CheckElement, add_check, ("opens", "gain"), ("flow",), rank=5)
