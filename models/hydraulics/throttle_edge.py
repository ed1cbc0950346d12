"""Flow through an open edge, shared by orifices, check valves and directional valves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from kinetree.models.expressions.node_arithmetic import E, root
from kinetree.models.language.numbers_and_expressions import Number
from kinetree.models.language.parts.base_table import Named

if TYPE_CHECKING:
    from kinetree.models.compilation.hydraulic_circuit import Circuit


class Edge(Named):
    """The flow through an open edge: rated_flow sqrt(drop/rated_drop), proportional to the drop below `laminar`."""

    rated_flow: Number | None = Field(
        default=None,
        description="Flow of the fully open valve at the pressure drop `rated_drop` [m3/s]",
    )
    rated_drop: Number = Field(
        default=35e5, description="Pressure drop over one edge at which `rated_flow` is given [Pa]"
    )
    laminar: Number = Field(
        default=1e5, description="Pressure drop below which the flow is laminar [Pa]"
    )


def through(circuit: Circuit, label: str, element: Edge, drop: E, gain: E | None = None) -> E:
    """Return the flow through a fully open edge at a pressure drop; `gain` (flow per root of
    pressure drop) replaces the rated flow.
    """
    laminar = circuit.number(label, element, "laminar")
    if gain is None:
        gain = circuit.number(label, element, "rated_flow") / root(
            circuit.number(label, element, "rated_drop")
        )
    return gain * drop / (drop * drop + laminar * laminar) ** 0.25
