"""A gas accumulator with a bladder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kinetree.models.expressions.node_arithmetic import choose, larger
from kinetree.models.hydraulics.circuit_kind import HydraulicKind
from kinetree.models.hydraulics.oil_terms import pressure
from kinetree.models.language.basic_checks import Path
from kinetree.models.language.numbers_and_expressions import Number
from kinetree.models.language.parts.base_table import Named

if TYPE_CHECKING:
    from kinetree.models.checks.consistency_check import Checker
    from kinetree.models.compilation.hydraulic_circuit import Circuit


class AccumulatorElement(Named):
    """Gas behind a bladder on a volume: gas p**exponent constant above the precharge."""

    kind: Literal["accumulator"] = "accumulator"
    at: str = Field(description="Node (volume) to which it is connected")
    gas: Number = Field(description="Volume of the gas at the precharge [m3]")
    precharge: Number = Field(description="Pressure of the gas without oil [Pa]")
    exponent: Number = Field(default=1.2, description="Polytropic exponent: 1 slow, 1.4 fast [1]")


def add_accumulator(circuit: Circuit, label: str, element: AccumulatorElement) -> None:
    """Add a gas accumulator to its volume; below the precharge pressure its bladder closes."""
    full, precharge, n = (
        circuit.number(label, element, key) for key in ("gas", "precharge", "exponent")
    )
    p = larger(pressure(element.at), precharge)
    gas = circuit.report(
        label, "gas", full * (precharge / p) ** (1.0 / n), "m3", "Volume of the gas"
    )
    circuit.report(label, "oil", full - gas, "m3", "Oil in the accumulator")
    circuit.gas[element.at].append(choose(pressure(element.at) > precharge, gas / (n * p), 0.0))


def check_accumulator(checker: Checker, path: Path, element: AccumulatorElement) -> None:
    there = checker.description.hydraulics.get(element.at)
    if there is not None and "pressure" in type(there).model_fields:
        checker.complain((*path, "at"), f"'{element.at}', whose pressure is given", "a volume")


HYDRAULIC = HydraulicKind(
    AccumulatorElement,
    add_accumulator,
    ("precharge", "gas"),
    ("gas", "oil"),
    rank=3,
    check=check_accumulator,
)
