"""Power bonds are told by the units at the ends of wires; names count only where there are no units."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from kinetree.scripts.cosim.energy_monitor import Range
from kinetree.scripts.cosim.masters import Wire
from kinetree.scripts.cosim.power_bonds import bonds_of, suspected
from kinetree.scripts.cosim.slave import Slave


def unit(name: str, **units: str) -> Slave:
    return cast(Slave, SimpleNamespace(name=name, units=units))


def pair(one: dict[str, str], other: dict[str, str], **more: Any) -> list[Wire]:
    """x goes from the first unit to the second, y back."""
    a, b = unit("a", **one), unit("b", **other)
    return [Wire(a, "x", b, "x", **more), Wire(b, "y", a, "y", **more)]


@pytest.mark.parametrize(
    ("effort", "flow", "sign"),
    [("kN", "mm/s", 1.0), ("N.m", "rad/s", 1.0), ("bar", "l/min", -1.0), ("V", "A", 1.0)],
    ids=lambda value: str(value),
)
@pytest.mark.parametrize("named", [True, False])
def test_power_bonds_are_found_from_units(effort: str, flow: str, sign: float, named: bool):
    for first, second, expected in ((effort, flow, (0, 1)), (flow, effort, (1, 0))):
        ends = {"x": first, "y": second}
        wires = pair(ends, ends, bond="p" if named else "")
        (bond,) = bonds_of(wires) if named else suspected(wires)
        assert (bond.effort, bond.flow, bond.sign, bond.meant) == (*expected, sign, named)


def test_units_whose_product_is_no_power_form_no_bond():
    for first, second in (
        ("N", "rad/s"),
        ("Pa", "m/s"),
        ("N", "m"),
        ("1", "m/s"),
        ("bar", "1/min"),
    ):
        assert suspected(pair({"x": first, "y": second}, {"x": first, "y": second})) == []


def test_unit_of_measure_takes_precedence_over_name_of_wire():
    """An angle that is called speed is no flow; without units the names tell, at both ends."""
    a, b = unit("a", force="N", speed="rad"), unit("b", force="N", speed="rad")
    assert suspected([Wire(a, "force", b, "force"), Wire(b, "speed", a, "speed")]) == []
    a, b = unit("a"), unit("b")
    (bond,) = suspected([Wire(a, "pressure_p", b, "pressure_in"), Wire(b, "flow_out", a, "flow_p")])
    assert (bond.effort, bond.flow, bond.sign) == (0, 1, -1.0)
    assert suspected([Wire(a, "force", b, "signal"), Wire(b, "speed", a, "speed")]) == []


def test_stiffness_belongs_to_effort_with_matching_unit():
    drive, arm = (
        unit("drive", f="N", k="N/m", d="N.s/m", v="m/s"),
        unit("arm", f="N", k="kN/m", d="N.s/m", v="m/s"),
    )
    wires = [
        Wire(drive, "k", arm, "k"),
        Wire(drive, "d", arm, "d"),
        Wire(drive, "f", arm, "f"),
        Wire(arm, "v", drive, "v"),
    ]
    (bond,) = suspected(wires)
    assert (bond.effort, bond.flow, bond.stiffness) == (2, 3, 0)


@pytest.mark.parametrize("scale", [1.0, 1e-9, -3e8])
def test_jumps_of_an_input_are_measured_by_the_range_of_its_wire(scale: float):
    """The mean jump over the range and a hundredth of the largest value, whatever the unit of the wire."""
    seen = Range()
    for used, value in ((0.0, 1.0), (1.0, 3.0), (3.0, 2.0), (2.0, 5.0)):
        seen.add(scale * used, scale * value)
    assert seen.part(4) == pytest.approx((1 + 2 + 1 + 3) / (4 * (5 - 1 + 0.01 * 5)), rel=1e-12)
    rest = Range()
    rest.add(0.0, 0.0)
    assert rest.part(1) == 0.0
