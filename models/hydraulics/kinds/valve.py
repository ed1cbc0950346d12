"""A four-way proportional valve."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kinetree.models.expressions.internal_names import rate_of_state
from kinetree.models.expressions.node_arithmetic import E, name
from kinetree.models.hydraulics.circuit_kind import HydraulicKind
from kinetree.models.hydraulics.oil_terms import between, pressure
from kinetree.models.hydraulics.throttle_edge import Edge, through
from kinetree.models.language.basic_checks import Path
from kinetree.models.language.numbers_and_expressions import Law, Number
from kinetree.models.language.parts.value_parts import State

if TYPE_CHECKING:
    from kinetree.models.checks.consistency_check import Checker
    from kinetree.models.compilation.hydraulic_circuit import Circuit


class ValveElement(Edge):
    """A four-way proportional valve; a positive spool position connects supply to side a and drains
    side b.
    """

    kind: Literal["valve"] = "valve"
    supply: str = Field(description="Node of the supply")
    tank: str = Field(description="Node of the return line")
    a: str = Field(description="Node on side a")
    b: str = Field(description="Node on side b")
    command: Law = Field(description="Commanded position of the spool, -1 to 1 [1]")
    overlap: Number = Field(
        default=0.0,
        description="Stroke before an edge opens, as a fraction of the full stroke; negative: underlap [1]",
    )
    open_edges: Number = Field(
        default=0.0, description="Fraction of every edge that never closes [1]"
    )
    time_constant: Number | None = Field(
        default=None,
        description="Time constant of a first-order spool [s]; without this and `frequency` the spool equals the command",
    )
    rate: Number | None = Field(
        default=None, description="Largest speed of a first-order spool [1/s]"
    )
    frequency: Number | None = Field(
        default=None, description="Natural frequency of a second-order spool [Hz]"
    )
    damping: Number = Field(default=0.7, description="Damping ratio of a second-order spool [1]")
    start: Number = Field(default=0.0, description="Spool at the start [1]")


def add_valve(circuit: Circuit, label: str, valve: ValveElement) -> None:
    """Add the four edges of a valve, opened in pairs by one spool."""
    spool = add_spool(circuit, label, valve)
    overlap, open_edges = (
        circuit.number(label, valve, "overlap"),
        circuit.number(label, valve, "open_edges"),
    )
    forwards, backwards = (between(x - overlap, 0.0, 1.0) + open_edges for x in (spool, -spool))
    for side, place, fed, drained in (
        ("a", valve.a, forwards, backwards),
        ("b", valve.b, backwards, forwards),
    ):
        p = pressure(place)
        supplied = fed * through(circuit, label, valve, pressure(valve.supply) - p)
        returned = drained * through(circuit, label, valve, pressure(valve.tank) - p)
        circuit.flows[place].append(
            circuit.report(
                label, f"flow_{side}", supplied + returned, "m3/s", f"Flow into side {side}"
            )
        )
        circuit.flows[valve.supply].append(-supplied)
        circuit.flows[valve.tank].append(-returned)


def add_spool(circuit: Circuit, label: str, valve: ValveElement) -> E:
    """Return the position of the spool: a state, or the command itself."""
    aim, x = between(circuit.number(label, valve, "command"), -1.0, 1.0), name(f"{label}.spool")
    if valve.time_constant is not None:
        rate = (aim - x) / circuit.number(label, valve, "time_constant")
        if valve.rate is not None:
            limit = circuit.number(label, valve, "rate")
            rate = between(rate, -limit, limit)
        circuit.builder.define(rate_of_state(f"{label}.spool"), rate.node)
    elif valve.frequency is not None:
        speed = circuit.builder.made(f"{label}.spool_speed")
        w, v = math.tau * circuit.number(label, valve, "frequency"), name(speed)
        circuit.builder.define(rate_of_state(f"{label}.spool"), v.node)
        circuit.builder.define(
            rate_of_state(speed),
            (w * w * (aim - x) - 2.0 * circuit.number(label, valve, "damping") * w * v).node,
        )
    else:
        circuit.report(label, "spool", aim, "1", "Position of the spool")
    return x


def states(label: str, valve: ValveElement, named: Callable[[str], str]) -> dict[str, State]:
    """Return the spool position as a state, and its speed if the valve is of second order."""
    if valve.time_constant is None and valve.frequency is None:
        return {}
    spool = {
        f"{label}.spool": State(rate=0.0, start=valve.start, unit="1", text="Position of the spool")
    }
    if valve.time_constant is not None:
        return spool
    return spool | {
        named(f"{label}.spool_speed"): State(rate=0.0, unit="1/s", text="Speed of the spool")
    }


def check_valve(checker: Checker, path: Path, valve: ValveElement) -> None:
    """Check rated flow, dynamics and pressures of a four-way valve."""
    if valve.rated_flow is None:
        checker.complain((*path, "rated_flow"), "nothing", "the flow fully open")
    if valve.time_constant is not None and valve.frequency is not None:
        checker.complain(path, "time_constant and frequency", "one of them")
    if valve.rate is not None and valve.time_constant is None:
        checker.complain(
            (*path, "rate"), "a rate", "time_constant too: the rate limits a spool of first order"
        )
    for key, low, high in (("overlap", -1.0, 1.0), ("open_edges", 0.0, 1.0), ("start", -1.0, 1.0)):
        value = checker.number(getattr(valve, key))
        if value is not None and not low <= value <= high:
            checker.complain(
                (*path, key), f"{value:g}", f"a part of the stroke, {low:g} to {high:g}"
            )
    pressures = [
        checker.number(getattr(checker.description.hydraulics.get(place), "pressure", None))
        for place in (valve.supply, valve.tank)
    ]
    if pressures[0] is not None and pressures[1] is not None and pressures[0] <= pressures[1]:
        checker.complain(
            (*path, "supply"),
            f"'{valve.supply}' at {pressures[0]:g} Pa",
            f"a pressure above that of '{valve.tank}', {pressures[1]:g} Pa",
        )


HYDRAULIC = HydraulicKind(
    ValveElement,
    add_valve,
    ("command",),
    ("spool", "flow_a", "flow_b"),
    rank=7,
    states=states,
    check=check_valve,
)
