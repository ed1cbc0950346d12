"""Hydraulic circuits: pressures and valve spools as first-order states, flows and forces as
register programs.

    (V (1/E(p) + 1/E_wall) + Σ V_gas/(n p)) dp/dt = Σ flows in - Σ area ds/dt       V = volume + Σ area stroke
    flow through an edge: gain opening drop/(drop² + laminar²)^(1/4),  gain = rated_flow/sqrt(rated_drop)
    gas of an accumulator: V_gas = gas (precharge/p)^(1/n) above the precharge
E(p) is the bulk modulus of oil with air of `oil_terms.py`, where a decrease of pressure is slowed down below CAVITATION too.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from kinetree.models.compilation.element_states import stands
from kinetree.models.compilation.structure_builder import Builder
from kinetree.models.expressions.columns import Column
from kinetree.models.expressions.node_arithmetic import E, name
from kinetree.models.hydraulics.kinds import KINDS


class Circuit:
    """Sums per node of a circuit: inflow, displaced oil, compliance of gas."""

    def __init__(self, builder: Builder):
        self.builder = builder
        self.flows: dict[str, list[E]] = defaultdict(list)
        self.oil: dict[str, list[E]] = defaultdict(list)
        self.gas: dict[str, list[E]] = defaultdict(list)

    def number(self, label: str, element: Any, key: str) -> E:
        return E(self.builder.node(getattr(element, key), f"hydraulics.{label}.{key}"))

    def report(self, label: str, key: str, value: E, unit: str, text: str) -> E:
        """Define a named value as a column of the results and return it."""
        self.builder.define(f"{label}.{key}", value.node)
        self.builder.columns.append(Column(f"{label}.{key}", 0, unit, text))
        return name(f"{label}.{key}")

    def gives_way(self, place: str) -> bool:
        """Return whether the pressure of a node is a state that follows from the flows, rather than
        given.
        """
        return KINDS[self.builder.description.hydraulics[place].kind].gives_way

    def carry(self, label: str, path: tuple[str, str], value: E) -> None:
        """Add a flow along a path to the sums of both its nodes."""
        flow = self.report(label, "flow", value, "m3/s", f"Flow from {path[0]} to {path[1]}")
        self.flows[path[0]].append(-flow)
        self.flows[path[1]].append(flow)


def add_hydraulics(builder: Builder) -> None:
    """Add forces, state rates and columns of all hydraulic components; nodes with pressure states
    are added last.
    """
    circuit, elements = Circuit(builder), builder.description.hydraulics
    for last in (False, True):
        for label, element in elements.items():
            if KINDS[element.kind].gives_way == last and stands(element, builder.description):
                KINDS[element.kind].law(circuit, label, element)
