"""A volume of compressible oil: a hose, a block, a pipe."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kinetree.models.expressions.internal_names import rate_of_state
from kinetree.models.expressions.node_arithmetic import larger, name, smaller
from kinetree.models.hydraulics.circuit_kind import HydraulicKind
from kinetree.models.hydraulics.oil_terms import (
    CAVITATION,
    LEAST_VOLUME,
    bulk_modulus,
    pressure,
    total,
)
from kinetree.models.language.basic_checks import Path, check_absolute
from kinetree.models.language.numbers_and_expressions import Number, StartPressure, guessed
from kinetree.models.language.parts.base_table import Named
from kinetree.models.language.parts.value_parts import State

if TYPE_CHECKING:
    from kinetree.models.checks.consistency_check import Checker
    from kinetree.models.compilation.hydraulic_circuit import Circuit


class VolumePlace(Named):
    """Oil in a hose, a block or a pipe: compliance dp/dt = flows in; cylinders and motors on it add their own oil and displacement."""

    kind: Literal["volume"] = "volume"
    volume: Number = Field(description="Volume without the stroke of cylinders [m3]")
    bulk_modulus: Number = Field(
        default=1.4e9, description="Bulk modulus of the oil without air [Pa]"
    )
    air: Number = Field(
        default=0.0, description="Volume fraction of free air at atmospheric pressure [1]"
    )
    wall: Number | None = Field(
        default=None,
        description="Modulus of the walls, volume dp/dV, as of a hose (default: rigid) [Pa]",
    )
    start: StartPressure = Field(
        default=1e5,
        description="Pressure at the start [Pa]; `steady`: the pressure at which nothing starts to move",
    )


def add_volume(circuit: Circuit, label: str, place: VolumePlace) -> None:
    """Add the pressure state of a volume."""
    p, dead = pressure(label), circuit.number(label, place, "volume")
    softness = 1.0 / bulk_modulus(
        circuit.number(label, place, "bulk_modulus"), circuit.number(label, place, "air"), p
    )
    if place.wall is not None:
        softness = softness + 1.0 / circuit.number(label, place, "wall")
    oil = larger(dead + total(circuit.oil[label]), LEAST_VOLUME * dead)
    circuit.builder.define(f"{label}.compliance", (oil * softness + total(circuit.gas[label])).node)
    rate = total(circuit.flows[label]) / name(f"{label}.compliance")
    left = smaller(larger(p, 0.0) / CAVITATION, 1.0)
    circuit.builder.define(
        rate_of_state(f"{label}.pressure"), (larger(rate, 0.0) + left * smaller(rate, 0.0)).node
    )


def states(label: str, place: VolumePlace, named: Callable[[str], str]) -> dict[str, State]:
    return {
        f"{label}.pressure": State(
            rate=0.0, start=guessed(place.start), unit="Pa", text=place.text or "Pressure"
        )
    }


def check_start(checker: Checker, path: Path, element: VolumePlace) -> None:
    """Report a negative absolute pressure."""
    check_absolute(checker, (*path, "start"), guessed(element.start))


HYDRAULIC = HydraulicKind(
    VolumePlace,
    add_volume,
    ("volume",),
    ("pressure", "compliance"),
    rank=2,
    place=True,
    gives_way=True,
    states=states,
    check=check_start,
)
