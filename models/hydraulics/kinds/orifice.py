"""An orifice (throttle) between two nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kinetree.models.expressions.node_arithmetic import root
from kinetree.models.hydraulics.circuit_kind import HydraulicKind
from kinetree.models.hydraulics.oil_terms import pressure
from kinetree.models.hydraulics.throttle_edge import Edge, through
from kinetree.models.language.basic_checks import Path
from kinetree.models.language.numbers_and_expressions import Law, Number

if TYPE_CHECKING:
    from kinetree.models.checks.consistency_check import Checker
    from kinetree.models.compilation.hydraulic_circuit import Circuit


class OrificeElement(Edge):
    """A throttle between two places, given by a rated flow or by its area."""

    kind: Literal["orifice"] = "orifice"
    path: tuple[str, str] = Field(description="Nodes at the inlet and the outlet")
    area: Number | None = Field(default=None, description="Area, instead of rated_flow [m2]")
    discharge: Number = Field(default=0.6, description="Coefficient of discharge of the area [1]")
    density: Number = Field(default=870.0, description="Density of the oil, for the area [kg/m3]")
    opening: Law = Field(default=1.0, description="Open fraction, 0 to 1 [1]")


def add_orifice(circuit: Circuit, label: str, element: OrificeElement) -> None:
    """Add a flow through an orifice, in both directions."""
    drop = pressure(element.path[0]) - pressure(element.path[1])
    gain = None
    if element.area is not None:
        area, discharge, density = (
            circuit.number(label, element, key) for key in ("area", "discharge", "density")
        )
        gain = area * discharge * root(2.0 / density)
    circuit.carry(
        label,
        element.path,
        circuit.number(label, element, "opening") * through(circuit, label, element, drop, gain),
    )


def check_orifice(checker: Checker, path: Path, element: OrificeElement) -> None:
    if (element.rated_flow is None) == (element.area is None):
        checker.complain(path, "both or neither of rated_flow and area", "one of them")


HYDRAULIC = HydraulicKind(
    OrificeElement, add_orifice, ("area", "opening"), ("flow",), rank=4, check=check_orifice
)
