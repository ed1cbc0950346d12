"""Finds the power bonds among wires: an effort in one direction and a flow in the other between the
same two units, whose product is a power.

The quantity on a wire follows from the units of measure at its ends: an effort in N, N.m, Pa or V,
a flow in m/s, rad/s, m3/s or A, the stiffness of an effort in N/m, N.m/rad or Pa/m3. Where neither
end has a unit, as in many FMUs of other tools, the names of the ends decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kinetree.models.language.units.unit_of_measure import UnitError, parse_unit
from kinetree.scripts.cosim.masters import Wire
from kinetree.scripts.terminal.error_messages import BadInput


class Domain(NamedTuple):
    """A kind of power: effort times flow."""

    effort: tuple[int, ...]  # exponents of the units
    flow: tuple[int, ...]
    stiffness: tuple[int, ...]
    efforts: tuple[str, ...]  # words in names that have no unit
    flows: tuple[str, ...]
    enters: bool = False  # the flow enters the side whose effort is on the wire, as with pressures


def domain(
    effort: str,
    flow: str,
    stiffness: str,
    efforts: Sequence[str],
    flows: Sequence[str],
    enters: bool = False,
) -> Domain:
    dimensions = [tuple(parse_unit(unit).exponents) for unit in (effort, flow, stiffness)]
    return Domain(dimensions[0], dimensions[1], dimensions[2], tuple(efforts), tuple(flows), enters)


FORCE, FLOWING = ("force", "torque", "moment"), ("speed", "velocity")
DOMAINS = (
    domain("N", "m/s", "N/m", FORCE, FLOWING),
    domain("N.m", "rad/s", "N.m/rad", FORCE, FLOWING),
    domain("Pa", "m3/s", "Pa/m3", ("pressure",), ("flow",), enters=True),
    domain("V", "A", "V/C", ("voltage",), ("current",)),
)
EFFORT, FLOW, STIFFNESS = "effort", "flow", "stiffness"


@dataclass(frozen=True)
class Bond:
    """A power bond: a wire with an effort and one with the opposite flow; a third may carry the
    effort's stiffness.
    """

    name: str
    effort: int
    flow: int
    stiffness: int | None = None
    sign: float = 1.0  # -1: the flow enters the side whose effort is on the wire, as with pressures
    meant: bool = (
        True  # False: taken for a bond by what its wires carry; it warns and does not stop the run
    )


def exponents(unit: str) -> tuple[int, ...] | None:
    """Return the dimension of a unit, or None if it cannot be read."""
    try:
        return tuple(parse_unit(unit).exponents) if unit else None
    except UnitError:
        return None


def carried(name: str, unit: str) -> list[tuple[str, Domain]]:
    """Return the physical quantities that one end of a wire may carry, by its unit of measure or
    else its name.
    """
    known, word = exponents(unit), name.lower()
    found = []
    for each in DOMAINS:
        by_unit = {EFFORT: each.effort, FLOW: each.flow, STIFFNESS: each.stiffness}
        stiff = STIFFNESS in word
        by_name = {
            EFFORT: any(w in word for w in each.efforts) and not stiff,
            FLOW: any(w in word for w in each.flows),
            STIFFNESS: stiff,
        }
        found += [
            (what, each)
            for what in by_unit
            if (by_name[what] if known is None else by_unit[what] == known)
        ]
    return found


def carries(wire: Wire) -> list[tuple[str, Domain]]:
    """Return the physical quantities that a wire may carry, by the units of measure at both ends."""
    ends = [
        carried(wire.input, wire.target.units.get(wire.input, "")),
        carried(wire.output, wire.source.units.get(wire.output, "")),
    ]
    told = [end for end in ends if end or not wire.bond]
    return [each for each in told[0] if all(each in end for end in told)] if told else []


def is_a(wire: Wire, what: str) -> bool:
    return any(kind == what for kind, _ in carries(wire))


def domain_of(effort: Wire, flow: Wire) -> Domain | None:
    """Return the power domain in which two wires are an effort and a flow; None if there is none."""
    flows = [each for kind, each in carries(flow) if kind == FLOW]
    return next((each for kind, each in carries(effort) if kind == EFFORT and each in flows), None)


def sign(power: Domain | None) -> float:
    return -1.0 if power is not None and power.enters else 1.0


def opposite(one: Wire, other: Wire) -> bool:
    """Return whether two wires go in opposite directions between the same units."""
    return one.source is other.target and one.target is other.source


def bonds_of(wires: Sequence[Wire]) -> list[Bond]:
    """Return the power bonds that the wires declare."""
    bonds = []
    for name in dict.fromkeys(wire.bond for wire in wires if wire.bond):
        places = [k for k, wire in enumerate(wires) if wire.bond == name]
        told = next((k for k in places if len(places) > 2 and is_a(wires[k], STIFFNESS)), None)
        pair = [k for k in places if k != told]
        if len(pair) != 2 or not opposite(wires[pair[0]], wires[pair[1]]):
            found = ", ".join(str(wires[k]) for k in pair)
            raise BadInput(
                f"bond '{name}': expected two wires in opposite directions between two units, found {found}"
            )
        effort, flow = (
            pair if is_a(wires[pair[0]], EFFORT) or is_a(wires[pair[1]], FLOW) else pair[::-1]
        )
        bonds.append(Bond(name, effort, flow, told, sign(domain_of(wires[effort], wires[flow]))))
    return bonds


def suspected(wires: Sequence[Wire]) -> list[Bond]:
    """Return pairs of wires that carry an effort and its flow but are not declared as a bond."""
    free = [k for k, wire in enumerate(wires) if not wire.bond]
    flows = [k for k in free if is_a(wires[k], FLOW)]
    found = []
    for effort in (k for k in free if is_a(wires[k], EFFORT)):
        flow = next(
            (
                k
                for k in flows
                if opposite(wires[effort], wires[k]) and domain_of(wires[effort], wires[k])
            ),
            None,
        )
        if flow is not None:
            flows.remove(flow)
            told = [
                k
                for k in free
                if is_a(wires[k], STIFFNESS) and wires[k].source is wires[effort].source
            ]
            name = f"{wires[effort].source.name}.{wires[effort].output}"
            power = domain_of(wires[effort], wires[flow])
            found.append(
                Bond(
                    name,
                    effort,
                    flow,
                    told[0] if len(told) == 1 else None,
                    sign(power),
                    meant=False,
                )
            )
    return found
