"""Laws shared by hydraulic cylinders and motors: displaced oil, leakage, friction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from kinetree.models.expressions.internal_names import rate_of_state
from kinetree.models.expressions.node_arithmetic import E, name
from kinetree.models.forces.line_laws import rubbing
from kinetree.models.hydraulics.oil_terms import pressure, total
from kinetree.models.language.numbers_and_expressions import Law, Number
from kinetree.models.language.parts.base_table import Named

if TYPE_CHECKING:
    from kinetree.models.compilation.hydraulic_circuit import Circuit


class Displacing(Named):
    """Keys of cylinders and motors: two nodes, leakage between them, friction."""

    a: str = Field(description="Node whose pressure drives it forwards")
    b: str = Field(description="Node whose pressure drives it backwards")
    leakage: Number = Field(
        default=0.0, description="Flow from a to b per pressure difference [m3/(s.Pa)]"
    )
    coulomb: Law = Field(default=0.0, description="Dry friction [N or N.m]")
    viscous: Law = Field(default=0.0, description="Viscous friction [N.s/m or N.m.s/rad]")
    speed: Number = Field(
        default=1e-3, description="Speed over which dry friction changes its sign [m/s or rad/s]"
    )


def displace(
    circuit: Circuit,
    label: str,
    element: Displacing,
    rates: tuple[E, E],
    force: E,
    speed: E,
    unit: str,
) -> E:
    """Add displaced oil and leakage to both nodes; return the force (or moment) with friction."""
    leak = circuit.number(label, element, "leakage") * (pressure(element.a) - pressure(element.b))
    for side, place, sign in (("a", element.a, 1.0), ("b", element.b, -1.0)):
        value = sign * (rates[side == "b"] * speed + leak)
        circuit.flows[place].append(
            -circuit.report(label, f"flow_{side}", value, "m3/s", f"Flow into side {side}")
        )
    tell(circuit, label, element, rates, speed, unit)
    coulomb, viscous, width = (
        circuit.number(label, element, key) for key in ("coulomb", "viscous", "speed")
    )
    return force + rubbing(circuit.builder, coulomb, viscous, width, speed)


def tell(
    circuit: Circuit, label: str, element: Displacing, rates: tuple[E, E], speed: E, unit: str
) -> None:
    """Define the force per travel (stiffness) -Σ area²/compliance and the force rate for co-simulation; a
    node of given pressure adds no stiffness.
    """
    sides = [
        (place, area)
        for place, area in zip((element.a, element.b), (rates[0], -rates[1]), strict=True)
        if circuit.gives_way(place)
    ]
    stiffness = -total([area * area / name(f"{place}.compliance") for place, area in sides])
    told = circuit.report(
        label,
        "stiffness",
        stiffness,
        unit,
        "Change of the force with the way where the valves are shut",
    )
    rate = (
        total([area * name(rate_of_state(f"{place}.pressure")) for place, area in sides])
        - told * speed
    )
    circuit.report(
        label,
        "resting_rate",
        rate,
        f"{unit.partition('/')[0]}/s",
        "Rate of the force that the flows alone make, as if nothing moved",
    )
