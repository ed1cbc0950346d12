"""Elements of circuits by themselves, at numbers that are easy to work out: defaults, borders, signs of flows, and what couplings are told."""

import math

import pytest
from force_law_values import Bench

from kinetree.models.compilation.hydraulic_circuit import Circuit
from kinetree.models.expressions.node_arithmetic import const, name
from kinetree.models.hydraulics.kinds import KINDS, TELLING, hydraulic_kind
from kinetree.models.hydraulics.oil_terms import between, bulk_modulus, total
from kinetree.solvers import layout as L

PLACES = {
    "A": {"volume": 1e-3},
    "Z": {"volume": 2e-3},
    "pump": {"pressure": 2e7},
    "tank": {"pressure": 1e5},
}
EYES = [{"body": "a"}, {"body": "b", "point": [0, 0, 1]}]
CYLINDER = {
    "a": "A",
    "b": "Z",
    "area_a": 5e-3,
    "area_b": 3e-3,
    "shortest": 0.5,
    "longest": 1.5,
    "between": EYES,
}


def bench(**numbers: float) -> tuple[Bench, Circuit]:
    """Places A, Z, pump and tank, with pressures by name."""
    made = Bench(**{f"{place}.pressure": value for place, value in numbers.items()})
    circuit = Circuit(made)  # type: ignore[arg-type]
    made.description.hydraulics = {key: element(table) for key, table in PLACES.items()}
    return made, circuit


def element(table: dict):
    kind = hydraulic_kind(table)
    assert kind is not None
    return KINDS[kind].table.model_validate({"kind": kind, **table})


def lower(circuit: Circuit, table: dict) -> None:
    made = element(table)
    KINDS[made.kind].law(circuit, "h", made)


def edge(drop: float, gain: float, laminar: float = 1e5) -> float:
    return gain * drop / (drop * drop + laminar * laminar) ** 0.25


def into(made: Bench, circuit: Circuit, **numbers: float) -> dict[str, float]:
    """Flows into the places."""
    return {
        place: sum(made.value(flow, **numbers) for flow in flows)
        for place, flows in circuit.flows.items()
    }


def test_oil_with_free_air_is_softer():
    """E (1 + a)/(1 + a E/(1.4 p)), a = air (1 bar/p)^(1/1.4); below 1000 Pa the air expands no further."""
    E = bulk_modulus(const(1.4e9), const(0.01), name("p"))
    for p, least in ((1e5, 1e5), (5e6, 5e6), (1e3, 1e3), (10.0, 1e3), (-1.0, 1e3)):
        share = 0.01 * (1e5 / least) ** (1 / 1.4)
        assert Bench().value(E, p=p) == pytest.approx(
            1.4e9 * (1 + share) / (1 + share * 1.4e9 / (1.4 * least)), rel=1e-12
        )
    assert (
        Bench().value(between(name("x"), -1.0, 2.0), x=-3.0) == -1.0
        and Bench().value(between(name("x"), -1.0, 2.0), x=3.0) == 2.0
    )
    assert Bench().value(total([const(1.0), const(2.5)])) == 3.5


def test_throttle_default_edge_matches_formula():
    """35 bar over one edge, laminar below 1 bar; by area with 0.6 and 870 kg/m3; the opening counts in proportion."""
    for drop in (2e6, -3e6, 10.0):
        made, circuit = bench(A=1e5 + drop, Z=1e5)
        lower(circuit, {"path": ["A", "Z"], "rated_flow": 1e-3, "opening": 0.25, "kind": "orifice"})
        flow = 0.25 * edge(drop, 1e-3 / math.sqrt(35e5))
        assert made.value("h.flow") == pytest.approx(flow) and into(made, circuit) == pytest.approx(
            {"A": -flow, "Z": flow}
        )
        made, circuit = bench(A=1e5 + drop, Z=1e5)
        lower(circuit, {"path": ["A", "Z"], "area": 2e-6})
        assert made.value("h.flow") == pytest.approx(edge(drop, 2e-6 * 0.6 * math.sqrt(2 / 870)))
    assert [column.name for column in made.columns] == ["h.flow"] and made.columns[0].unit == "m3/s"


def test_check_valve_passes_flow_in_one_direction():
    """1e-9 m3/s per Pa above what opens them; never more than the edge fully open lets through."""
    for drop, flow in ((2e5, 0.0), (5e5, 0.0), (6e5, 1e-4), (-1e6, 0.0)):
        made, circuit = bench(A=1e5 + drop, Z=1e5)
        lower(circuit, {"path": ["A", "Z"], "opens": 5e5})
        assert made.value("h.flow") == pytest.approx(flow)
    for drop in (1e5, 1e7, -1e7):
        made, circuit = bench(A=1e8 + drop, Z=1e8)
        lower(circuit, {"path": ["A", "Z"], "gain": 1e-8, "rated_flow": 1e-3})
        assert made.value("h.flow") == pytest.approx(
            min(1e-8 * max(drop, 0.0), edge(max(drop, 0.0), 1e-3 / math.sqrt(35e5)))
        )


@pytest.mark.parametrize(
    ("outlet", "share"), [(1e6, 1.0), (195e5, 1.0), (197.5e5, 0.5), (200e5, 0.0), (210e5, 0.0)]
)
def test_pump_flow_is_reduced_over_five_bar(outlet: float, share: float):
    made, circuit = bench(tank=1e5, A=outlet)
    lower(circuit, {"path": ["tank", "A"], "flow": 3e-4, "limit": 200e5, "leakage": 1e-12})
    flow = 3e-4 * share - 1e-12 * (outlet - 1e5)
    assert into(made, circuit) == pytest.approx({"tank": -flow, "A": flow})
    made, circuit = bench(tank=1e5, A=outlet)
    lower(circuit, {"path": ["tank", "A"], "flow": 3e-4})
    assert made.value("h.flow") == pytest.approx(3e-4)


@pytest.mark.parametrize("spool", [0.6, 0.1, 0.0, -0.7, 1.0])
def test_four_way_valve_edges_match_orifice_equation(spool: float):
    """Supply to one side, the other to the tank, beyond the overlap of 0.1; 0.02 of every edge never closes."""
    pressures = {"pump": 2e7, "tank": 1e5, "A": 8e6, "Z": 5e6}
    made, circuit = bench(**pressures)
    valve = {
        "supply": "pump",
        "tank": "tank",
        "a": "A",
        "b": "Z",
        "rated_flow": 6e-4,
        "command": spool,
        "overlap": 0.1,
        "open_edges": 0.02,
    }
    lower(circuit, valve)
    gain, ahead, back = (
        6e-4 / math.sqrt(35e5),
        max(spool - 0.1, 0.0) + 0.02,
        max(-spool - 0.1, 0.0) + 0.02,
    )
    fed = {"A": ahead * edge(2e7 - 8e6, gain), "Z": back * edge(2e7 - 5e6, gain)}
    drained = {"A": back * edge(1e5 - 8e6, gain), "Z": ahead * edge(1e5 - 5e6, gain)}
    expected = {
        "A": fed["A"] + drained["A"],
        "Z": fed["Z"] + drained["Z"],
        "pump": -sum(fed.values()),
        "tank": -sum(drained.values()),
    }
    assert into(made, circuit) == pytest.approx(expected)
    assert made.value("h.flow_a") == pytest.approx(expected["A"]) and made.value("h.spool") == spool
    assert [column.name for column in made.columns] == ["h.spool", "h.flow_a", "h.flow_b"]


def test_spools_follow_commands():
    """First order within its rate, second order with its damping, at once without either; commands end at full stroke."""
    servo = {"supply": "pump", "tank": "tank", "a": "A", "b": "Z", "rated_flow": 6e-4}
    made, circuit = bench(pump=2e7, tank=1e5, A=8e6, Z=5e6)
    lower(circuit, servo | {"command": 3.0, "time_constant": 0.1})
    assert made.rate("h.spool", **{"h.spool": 0.2}) == pytest.approx(8.0)
    for command, rate in ((3.0, 5.0), (-3.0, -5.0), (0.5, 3.0)):
        made, circuit = bench(pump=2e7, tank=1e5, A=8e6, Z=5e6)
        lower(circuit, servo | {"command": command, "time_constant": 0.1, "rate": 5.0})
        assert made.rate("h.spool", **{"h.spool": 0.2}) == pytest.approx(rate)
    for more, damping in (({}, 0.7), ({"damping": 0.4}, 0.4)):
        made, circuit = bench(pump=2e7, tank=1e5, A=8e6, Z=5e6)
        lower(circuit, servo | {"command": -3.0, "frequency": 20.0, **more})
        w, numbers = 2 * math.pi * 20, {"h.spool": 0.2, "h.spool_speed": 1.5}
        assert made.rate("h.spool", **numbers) == 1.5
        assert made.rate("h.spool_speed", **numbers) == pytest.approx(
            w * w * (-1.0 - 0.2) - 2 * damping * w * 1.5
        )
    kind = KINDS["valve"]
    assert kind.states("h", element(servo | {"command": 0}), str) == {}
    found = kind.states("h", element(servo | {"command": 0, "frequency": 5, "start": 0.3}), str)
    assert [(key, each.start, each.unit) for key, each in found.items()] == [
        ("h.spool", 0.3, "1"),
        ("h.spool_speed", 0.0, "1/s"),
    ]
    assert list(kind.states("h", element(servo | {"command": 0, "time_constant": 5}), str)) == [
        "h.spool"
    ]


@pytest.mark.parametrize("pressure", [5e4, 60e5, 120e5])
def test_accumulator_gas_is_compressed_above_precharge(pressure: float):
    """gas (p0/p)^(1/1.2); compliance gas/(1.2 p) above the precharge, none below."""
    made, circuit = bench(A=pressure)
    lower(circuit, {"at": "A", "gas": 2e-3, "precharge": 60e5})
    gas = 2e-3 * (60e5 / max(pressure, 60e5)) ** (1 / 1.2)
    assert made.value("h.gas") == pytest.approx(gas) and made.value("h.oil") == pytest.approx(
        2e-3 - gas
    )
    (soft,) = circuit.gas["A"]
    assert made.value(soft) == pytest.approx(gas / (1.2 * pressure) if pressure > 60e5 else 0.0)


@pytest.mark.parametrize(
    ("pressure", "left"), [(5e6, 1.0), (2e4, 1.0), (5e3, 0.25), (0.0, 0.0), (-1e4, 0.0)]
)
def test_volume_pressure_flattens_below_vapour_pressure(pressure: float, left: float):
    """(V + oil)/E + gas is the compliance; a tenth of the volume always stays; a fall fades below 0.2 bar, a rise does not."""
    for flow in (2e-4, -2e-4):
        made, circuit = bench(A=pressure)
        circuit.flows["A"] += [const(flow), const(0.5 * flow)]
        circuit.oil["A"], circuit.gas["A"] = [name("stroke")], [const(3e-12)]
        KINDS["volume"].law(circuit, "A", element({"volume": 1e-3, "wall": 7e8}))
        for stroke, oil in ((2e-3, 3e-3), (-0.95e-3, 1e-4)):
            compliance = oil * (1 / 1.4e9 + 1 / 7e8) + 3e-12
            assert made.value("A.compliance", stroke=stroke) == pytest.approx(compliance)
            assert made.rate("A.pressure", stroke=stroke) == pytest.approx(
                1.5 * flow / compliance * (left if flow < 0 else 1.0)
            )
    rigid, circuit = bench(A=5e6)
    KINDS["volume"].law(circuit, "A", element({"volume": 1e-3}))
    assert rigid.value("A.compliance") == pytest.approx(1e-3 / 1.4e9)
    (state,) = KINDS["volume"].states("A", element({"volume": 1e-3}), str).values()
    assert (state.start, state.unit) == (1e5, "Pa")


def test_cylinder_displaces_oil_and_reports_stiffness():
    """p_a A_a - p_b A_b less friction; flows into the sides; stiffness -Σ A²/compliance, and the rate of the force that the flows alone make."""
    made, circuit = bench(A=8e6, Z=5e6)
    lower(
        circuit,
        CYLINDER
        | {
            "leakage": 1e-12,
            "coulomb": 50.0,
            "viscous": 200.0,
            "end_stiffness": 1e5,
            "end_damping": 30.0,
        },
    )
    numbers = {
        "h.length": 1.2,
        "h.speed": 0.4,
        "A.compliance": 1e-12,
        "Z.compliance": 2e-12,
        "A.pressure:rate": 3e6,
        "Z.pressure:rate": -2e6,
    }
    assert made.value("h.force", **numbers) == pytest.approx(
        8e6 * 5e-3 - 5e6 * 3e-3 - 50.0 * math.tanh(400.0) - 200.0 * 0.4
    )
    flows = 5e-3 * 0.4 + 1e-12 * 3e6, -(3e-3 * 0.4 + 1e-12 * 3e6)
    assert (made.value("h.flow_a", **numbers), made.value("h.flow_b", **numbers)) == pytest.approx(
        flows
    )
    assert into(made, circuit, **numbers) == pytest.approx({"A": -flows[0], "Z": -flows[1]})
    assert [made.value(circuit.oil[place][0], **numbers) for place in "AZ"] == pytest.approx(
        [5e-3 * 0.7, 3e-3 * 0.3]
    )
    stiffness = -(5e-3**2 / 1e-12 + 3e-3**2 / 2e-12)
    assert made.value("h.stiffness", **numbers) == pytest.approx(stiffness)
    assert made.value("h.resting_rate", **numbers) == pytest.approx(
        5e-3 * 3e6 + 3e-3 * 2e6 - stiffness * 0.4
    )
    for length, stop in ((1.6, -(1e5 * 0.1 + 30.0 * 0.4)), (0.4, 1e5 * 0.1 - 30.0 * 0.4)):
        assert made.value("h.force", **numbers | {"h.length": length}) - made.value(
            "h.force", **numbers
        ) == pytest.approx(stop)
    ((kind, *ends, value),) = made.forces
    assert (
        kind == L.Force.LINE
        and (ends[0], ends[2]) == (1, 2)
        and made.values(value, **numbers) == [made.value("h.force", **numbers)]
    )
    assert [(column.name, column.unit) for column in made.columns] == [
        ("h.length", "m"), ("h.speed", "m/s"), ("h.flow_a", "m3/s"), ("h.flow_b", "m3/s"), ("h.stiffness", "N/m"), ("h.resting_rate", "N/s"),
        ("h.force", "N"),
    ]  # fmt: skip


def test_cylinder_defaults_have_no_friction():
    """No leakage, no friction, stops of 1e8 N/m without damping; between places that are held nothing gives way."""
    made, circuit = bench(pump=8e6, tank=5e6)
    table = {key: value for key, value in CYLINDER.items() if key != "between"}
    lower(circuit, table | {"a": "pump", "b": "tank", "length": "len", "rate": "way"})
    assert made.value("h.force", len=1.0, way=0.3) == pytest.approx(8e6 * 5e-3 - 5e6 * 3e-3)
    assert made.value("h.force", len=1.6, way=0.3) == pytest.approx(8e6 * 5e-3 - 5e6 * 3e-3 - 1e7)
    assert (
        made.value("h.flow_a", len=1.0, way=0.3) == pytest.approx(1.5e-3)
        and made.value("h.stiffness") == 0.0
    )
    assert (
        not made.forces
        and made.value("h.speed", way=0.3) == 0.3
        and made.value("h.length", len=1.1) == 1.1
    )


def test_hydraulic_motor_torque_follows_both_pressures():
    made, circuit = bench(A=8e6, Z=5e6)
    lower(circuit, {"a": "A", "b": "Z", "displacement": 2e-4, "coordinate": "y", "viscous": 3.0})
    numbers = {
        "der(y)": 1.5,
        "A.compliance": 1e-12,
        "Z.compliance": 2e-12,
        "A.pressure:rate": 3e6,
        "Z.pressure:rate": -2e6,
    }
    assert made.value("h.force", **numbers) == pytest.approx(2e-4 * 3e6 - 4.5) and made.value(
        "h.flow_b", **numbers
    ) == pytest.approx(-3e-4)
    assert made.value("h.stiffness", **numbers) == pytest.approx(-(2e-4**2) * 1.5e12)
    ((kind, index, value),) = made.forces
    assert (kind, index) == (L.Force.COORDINATE, 1) and made.values(value, **numbers) == [
        made.value("h.force", **numbers)
    ]
    made, circuit = bench(A=8e6, Z=5e6)
    lower(circuit, {"a": "A", "b": "Z", "displacement": 2e-4, "rate": 2.0})
    assert made.value("h.flow_a") == pytest.approx(4e-4) and not made.forces


def test_keys_determine_kinds_of_circuit_elements():
    told = {
        "pressure": "source", "volume": "volume", "gas": "accumulator", "precharge": "accumulator", "area": "orifice", "opening": "orifice",
        "opens": "check", "gain": "check", "flow": "pump", "command": "valve", "between": "cylinder", "area_a": "cylinder", "displacement": "motor",
        "path": "orifice",
    }  # fmt: skip
    assert TELLING == told
    assert [hydraulic_kind(each) for each in ({"kind": "pump"}, {"kind": 3}, {}, 3)] == [
        "pump",
        None,
        None,
        None,
    ]
    assert (
        hydraulic_kind(element({"pressure": 1})) == "source"
        and hydraulic_kind({"path": [], "opens": 1}) == "check"
    )
