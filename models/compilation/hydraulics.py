"""Hydraulic circuits: pressures and spools as first-order states, flows and forces as register programs.

    (V (1/E(p) + 1/E_wall) + Σ V_gas/(n p)) dp/dt = Σ flows in - Σ area ds/dt       V = volume + Σ area stroke
    flow through an edge: gain opening drop/(drop² + laminar²)^(1/4),  gain = rated_flow/sqrt(rated_drop)
    gas of an accumulator: V_gas = gas (precharge/p)^(1/n) above the precharge
E(p) is the bulk modulus of oil with air of `actuators.py`, where a fall of the pressure fades below CAVITATION too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from kinetree.models.compilation.actuators import CAVITATION, LEAST_VOLUME, bulk_modulus
from kinetree.models.compilation.additions import stands
from kinetree.models.compilation.algebra import E, choose, const, larger, name, root, smaller
from kinetree.models.compilation.builder import Builder
from kinetree.models.compilation.compiled import Column
from kinetree.models.compilation.hidden import rate_of_state
from kinetree.models.description.hydraulic_parts import (
    AccumulatorElement,
    CheckElement,
    Displacing,
    DoubleCylinder,
    Edge,
    MotorElement,
    OrificeElement,
    PumpElement,
    SourcePlace,
    ValveElement,
    VolumePlace,
)
from kinetree.models.forces.along import end_stops, push, rubbing, speed_of
from kinetree.solvers import layout as L

TURN = 6.283185307179586  # 2 pi


class Circuit:
    """What the elements bring to the places: flows in, oil in strokes, compliance of gas."""

    def __init__(self, builder: Builder):
        self.builder = builder
        self.flows: dict[str, list[E]] = defaultdict(list)
        self.oil: dict[str, list[E]] = defaultdict(list)
        self.gas: dict[str, list[E]] = defaultdict(list)

    def number(self, label: str, element: Any, key: str) -> E:
        return E(self.builder.node(getattr(element, key), f"hydraulics.{label}.{key}"))

    def report(self, label: str, key: str, value: E, unit: str, text: str) -> E:
        """A value with a name of its own, and a column of the results."""
        self.builder.define(f"{label}.{key}", value.node)
        self.builder.columns.append(Column(f"{label}.{key}", 0, unit, text))
        return name(f"{label}.{key}")

    def carry(self, label: str, path: tuple[str, str], value: E) -> None:
        """A flow along a path."""
        flow = self.report(label, "flow", value, "m3/s", f"Flow from {path[0]} to {path[1]}")
        self.flows[path[0]].append(-flow)
        self.flows[path[1]].append(flow)

    def edge(self, label: str, element: Edge, drop: E) -> E:
        """Flow through a fully open edge."""
        laminar = self.number(label, element, "laminar")
        return self.gain(label, element) * drop / (drop * drop + laminar * laminar) ** 0.25

    def gain(self, label: str, element: Edge) -> E:
        """Flow per root of the drop."""
        if isinstance(element, OrificeElement) and element.area is not None:
            area, discharge, density = (self.number(label, element, key) for key in ("area", "discharge", "density"))
            return area * discharge * root(2.0 / density)
        return self.number(label, element, "rated_flow") / root(self.number(label, element, "rated_drop"))


def pressure(place: str) -> E:
    return name(f"{place}.pressure")


def total(parts: list[E]) -> E:
    result = const(0.0)
    for part in parts:
        result = result + part
    return result


def between(x: E, low: E | float, high: E | float) -> E:
    return larger(smaller(x, high), low)


def add_hydraulics(builder: Builder) -> None:
    """Forces, states' rates and columns of all elements; volumes last, when all that is on them is known."""
    circuit, elements = Circuit(builder), builder.description.hydraulics
    for label, element in elements.items():
        if not isinstance(element, VolumePlace) and stands(element, builder.description):
            LOWER[element.kind](circuit, label, element)
    for label, element in elements.items():
        if isinstance(element, VolumePlace):
            add_volume(circuit, label, element)


def add_source(circuit: Circuit, label: str, source: SourcePlace) -> None:
    """A given pressure."""
    circuit.report(label, "pressure", circuit.number(label, source, "pressure"), "Pa", source.text or "Pressure")


def add_volume(circuit: Circuit, label: str, place: VolumePlace) -> None:
    """Rate of the pressure."""
    p, dead = pressure(label), circuit.number(label, place, "volume")
    softness = 1.0 / bulk_modulus(circuit.number(label, place, "bulk_modulus"), circuit.number(label, place, "air"), p)
    if place.wall is not None:
        softness = softness + 1.0 / circuit.number(label, place, "wall")
    oil = larger(dead + total(circuit.oil[label]), LEAST_VOLUME * dead)
    circuit.builder.define(f"{label}.compliance", (oil * softness + total(circuit.gas[label])).node)
    rate = total(circuit.flows[label]) / name(f"{label}.compliance")
    left = smaller(larger(p, 0.0) / CAVITATION, 1.0)
    circuit.builder.define(rate_of_state(f"{label}.pressure"), (larger(rate, 0.0) + left * smaller(rate, 0.0)).node)


def add_accumulator(circuit: Circuit, label: str, element: AccumulatorElement) -> None:
    """Gas that is squeezed above its precharge; the bladder shuts the oil out below."""
    full, precharge, n = (circuit.number(label, element, key) for key in ("gas", "precharge", "exponent"))
    p = larger(pressure(element.at), precharge)
    gas = circuit.report(label, "gas", full * (precharge / p) ** (1.0 / n), "m3", "Volume of the gas")
    circuit.report(label, "oil", full - gas, "m3", "Oil in the accumulator")
    circuit.gas[element.at].append(choose(pressure(element.at) > precharge, gas / (n * p), 0.0))


def add_orifice(circuit: Circuit, label: str, element: OrificeElement) -> None:
    """Flow both ways."""
    drop = pressure(element.path[0]) - pressure(element.path[1])
    circuit.carry(label, element.path, circuit.number(label, element, "opening") * circuit.edge(label, element, drop))


def add_check(circuit: Circuit, label: str, element: CheckElement) -> None:
    """Flow one way above the drop at which it opens."""
    drop = pressure(element.path[0]) - pressure(element.path[1])
    value = circuit.number(label, element, "gain") * larger(drop - circuit.number(label, element, "opens"), 0.0)
    if element.rated_flow is not None:
        value = smaller(value, circuit.edge(label, element, larger(drop, 0.0)))
    circuit.carry(label, element.path, value)


def add_pump(circuit: Circuit, label: str, element: PumpElement) -> None:
    """Given flow, cut back near the limit."""
    inlet, outlet = map(pressure, element.path)
    value = circuit.number(label, element, "flow")
    if element.limit is not None:
        value = value * between((circuit.number(label, element, "limit") - outlet) / circuit.number(label, element, "range"), 0.0, 1.0)
    circuit.carry(label, element.path, value - circuit.number(label, element, "leakage") * (outlet - inlet))


def add_valve(circuit: Circuit, label: str, valve: ValveElement) -> None:
    """Four edges that one spool opens in pairs."""
    spool = add_spool(circuit, label, valve)
    overlap, open_edges = circuit.number(label, valve, "overlap"), circuit.number(label, valve, "open_edges")
    forwards, backwards = (between(x - overlap, 0.0, 1.0) + open_edges for x in (spool, -spool))
    for side, place, fed, drained in (("a", valve.a, forwards, backwards), ("b", valve.b, backwards, forwards)):
        p = pressure(place)
        supplied = fed * circuit.edge(label, valve, pressure(valve.supply) - p)
        returned = drained * circuit.edge(label, valve, pressure(valve.tank) - p)
        circuit.flows[place].append(circuit.report(label, f"flow_{side}", supplied + returned, "m3/s", f"Flow into side {side}"))
        circuit.flows[valve.supply].append(-supplied)
        circuit.flows[valve.tank].append(-returned)


def add_spool(circuit: Circuit, label: str, valve: ValveElement) -> E:
    """Position of the spool: a state, or the command itself."""
    aim, x = between(circuit.number(label, valve, "command"), -1.0, 1.0), name(f"{label}.spool")
    if valve.time_constant is not None:
        rate = (aim - x) / circuit.number(label, valve, "time_constant")
        if valve.rate is not None:
            limit = circuit.number(label, valve, "rate")
            rate = between(rate, -limit, limit)
        circuit.builder.define(rate_of_state(f"{label}.spool"), rate.node)
    elif valve.frequency is not None:
        speed = circuit.builder.made(f"{label}.spool_speed")
        w, v = TURN * circuit.number(label, valve, "frequency"), name(speed)
        circuit.builder.define(rate_of_state(f"{label}.spool"), v.node)
        circuit.builder.define(rate_of_state(speed), (w * w * (aim - x) - 2.0 * circuit.number(label, valve, "damping") * w * v).node)
    else:
        circuit.report(label, "spool", aim, "1", "Position of the spool")
    return x


def displace(circuit: Circuit, label: str, element: Displacing, rates: tuple[E, E], force: E, speed: E, unit: str) -> E:
    """Oil that the motion takes from a and gives to b, leakage, and the force with its friction."""
    leak = circuit.number(label, element, "leakage") * (pressure(element.a) - pressure(element.b))
    for side, place, sign in (("a", element.a, 1.0), ("b", element.b, -1.0)):
        value = sign * (rates[side == "b"] * speed + leak)
        circuit.flows[place].append(-circuit.report(label, f"flow_{side}", value, "m3/s", f"Flow into side {side}"))
    tell(circuit, label, element, rates, speed, unit)
    coulomb, viscous, width = (circuit.number(label, element, key) for key in ("coulomb", "viscous", "speed"))
    return force + rubbing(circuit.builder, coulomb, viscous, width, speed)


def tell(circuit: Circuit, label: str, element: Displacing, rates: tuple[E, E], speed: E, unit: str) -> None:
    """What a coupling is told: -Σ area²/compliance, and the rate of the force that the flows alone make; a source gives way without a limit."""
    places = circuit.builder.description.hydraulics
    sides = [
        (place, area) for place, area in zip((element.a, element.b), (rates[0], -rates[1]), strict=True) if isinstance(places[place], VolumePlace)
    ]
    stiffness = -total([area * area / name(f"{place}.compliance") for place, area in sides])
    told = circuit.report(label, "stiffness", stiffness, unit, "Change of the force with the way where the valves are shut")
    rate = total([area * name(rate_of_state(f"{place}.pressure")) for place, area in sides]) - told * speed
    circuit.report(label, "resting_rate", rate, f"{unit.partition('/')[0]}/s", "Rate of the force that the flows alone make, as if nothing moved")


def add_cylinder(circuit: Circuit, label: str, cylinder: DoubleCylinder) -> None:
    """Force along the line between the eyes; both strokes belong to the oil of the places."""
    builder, ends = circuit.builder, measure(circuit, label, cylinder)
    length, speed = name(f"{label}.length"), name(f"{label}.speed")
    areas = circuit.number(label, cylinder, "area_a"), circuit.number(label, cylinder, "area_b")
    circuit.oil[cylinder.a].append(areas[0] * (length - circuit.number(label, cylinder, "shortest")))
    circuit.oil[cylinder.b].append(areas[1] * (circuit.number(label, cylinder, "longest") - length))
    value = areas[0] * pressure(cylinder.a) - areas[1] * pressure(cylinder.b)
    value, _ = end_stops(builder, cylinder, length, speed, displace(circuit, label, cylinder, areas, value, speed, "N/m"))
    force = circuit.report(label, "force", value, "N", "Force, positive where it extends")
    if ends:
        builder.add_force(L.Force.LINE, *ends, builder.register(force.node))


def measure(circuit: Circuit, label: str, cylinder: DoubleCylinder) -> tuple[int, ...]:
    """Length and speed under their names, measured between the eyes or given; registers of the ends, none where the mechanism is elsewhere."""
    columns = (("length", "m", "Length"), ("speed", "m/s", "Rate of the length"))
    if cylinder.between is None:
        for key, given in (("length", "length"), ("speed", "rate")):
            circuit.builder.define(f"{label}.{key}", circuit.number(label, cylinder, given).node)
        circuit.builder.columns += [Column(f"{label}.{key}", 0, unit, text) for key, unit, text in columns]
        return ()
    builder, (foot, eye) = circuit.builder, cylinder.between
    ends = (builder.body[foot.body], builder.vector(foot.point), builder.body[eye.body], builder.vector(eye.point))
    builder.add_sensor(f"{label}.length", L.Sensor.DISTANCE, *ends)
    builder.add_sensor(f"{label}.speed", L.Sensor.DISTANCE_RATE, *ends)
    builder.columns += [Column(f"{label}.{key}", 0, unit, text) for key, unit, text in columns]
    return ends


def add_motor(circuit: Circuit, label: str, motor: MotorElement) -> None:
    """Moment along a coordinate."""
    given = motor.coordinate is None
    index, speed = (-1, circuit.number(label, motor, "rate")) if given else speed_of(circuit.builder, str(motor.coordinate))
    speed = circuit.report(label, "speed", speed, "rad/s", "Speed")
    displacement = circuit.number(label, motor, "displacement")
    value = displacement * (pressure(motor.a) - pressure(motor.b))
    force = displace(circuit, label, motor, (displacement, displacement), value, speed, "N.m/rad")
    push(circuit.builder, index, circuit.builder.register(circuit.report(label, "force", force, "N.m", "Moment or force").node))


LOWER: dict[str, Callable[[Circuit, str, Any], None]] = {
    "source": add_source,
    "accumulator": add_accumulator,
    "orifice": add_orifice,
    "check": add_check,
    "pump": add_pump,
    "valve": add_valve,
    "cylinder": add_cylinder,
    "motor": add_motor,
}
