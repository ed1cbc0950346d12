"""Names the compiler makes up neither capture nor refuse those of the description."""

import numpy as np
import pytest

from kinetree.fmu.names import imported
from kinetree.fmu.unit import fmu_unit
from kinetree.fmu.variables import variable_table
from kinetree.models import load

BODY = {"mass": 1.0, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}
POINT = {"body": "a", "point": [0, 0, -0.1]}


def mechanism(**more) -> dict:
    joint = {"child": "a", "type": "prismatic", "axis": "z", "coordinates": ["z"], "start": [0.1]}
    contact = {
        **POINT,
        "stiffness": 1e4,
        "damping": 10.0,
        "soil": {"strength": 1.0, "viscosity": 1e3},
    }
    rail = {
        "kind": "rail",
        "between": [{"body": "ground"}, POINT],
        "axis": "z",
        "stiffness": 1e3,
        "clearance": 1e-3,
    }
    line = {
        "between": [{"body": "ground", "point": [0, 0, 2]}, POINT],
        "stiffness": 10.0,
        "length": 2.0,
    }
    tyre = {"kind": "tyre", **POINT, "stiffness": 1e3, "side_stiffness": 1e3, "friction": 0.5}
    actuator = {"between": [{"body": "ground", "point": [1, 0, 2]}, {"body": "a"}]}
    return {
        "format": "kinetree/1",
        "bodies": {"a": BODY},
        "joints": {"j": joint},
        "forces": {"foot": contact, "guide": rail, "rope": line, "wheel": tyre},
        "actuators": {"lift": actuator},
    } | more


def hidden_names() -> list[str]:
    """What the registers of the mechanism hold beside what the format documents, spelt as a user could by chance."""
    registers = load(mechanism()).compile().compiled.registers
    made = [name.replace(":", ".") for name in registers if ":" in name]
    return sorted(
        {
            name.split("[")[0]
            for name in made
            if all(part.isidentifier() for part in name.split("[")[0].split("."))
        }
    )


OFFERED = [
    "foot.penetration",
    "foot.settlement",
    "guide.travel",
    "rope.length",
    "rope.rate",
    "wheel.travel",
    "stage_start",
]
DEFINED = [
    "lift.value",
    "foot.settling",
    "lift.a.position",
]  # hidden values without a register of their own


def test_names_generated_internally_are_found():
    names = hidden_names()
    assert {
        "foot.position",
        "guide.pin",
        "rope.length",
        "lift.probe",
        "lift.s0",
        "wheel.spin",
        "stage.start",
    } <= set(names)


@pytest.mark.parametrize("name", sorted({*hidden_names(), *OFFERED, *DEFINED}))
def test_unused_names_are_free_for_parameters_and_outputs(name):
    """The user's value is the user's, and the motion is that of the mechanism without it."""
    plain = load(mechanism()).compile().simulate(stop_time=0.05, output_step=0.05)
    given = (
        load(mechanism(parameters={name: 2.0}, outputs={"p": {"value": f"3*{name}"}}))
        .compile()
        .simulate(stop_time=0.05, output_step=0.05)
    )
    assert given["p"][-1] == 6.0
    assert given["z"][-1] == plain["z"][-1]
    shown = (
        load(mechanism(outputs={name: {"value": "3*z"}}))
        .compile()
        .simulate(stop_time=0.05, output_step=0.05)
    )
    assert shown[name] == pytest.approx(3 * shown["z"], rel=1e-14)
    assert shown["z"][-1] == plain["z"][-1]


def test_offered_names_can_be_used():
    """Length of a rope, gap of a contact, settlement of its soil, travel along a rail, beginning of the stage."""
    values = {f"of_{name.replace('.', '_')}": {"value": name} for name in OFFERED}
    r = load(mechanism(outputs=values)).compile().simulate(stop_time=0.5, output_step=0.1)
    assert r["of_rope_length"] == pytest.approx(2.1 - r["z"], rel=1e-14)
    assert r["of_rope_rate"] == pytest.approx(-r["der(z)"], abs=1e-14)
    assert r["of_foot_penetration"] == pytest.approx(0.1 - r["z"] - r["foot.settlement"], abs=1e-15)
    assert (
        np.array_equal(r["of_foot_settlement"], r["foot.settlement"])
        and r["of_foot_settlement"][-1] > 0
    )
    assert r["of_guide_travel"] == pytest.approx(r["z"] - 0.1, abs=1e-15)
    assert not r["of_stage_start"].any()


def test_dropped_output_name_is_not_reused():
    """An output that measures a dropped body leaves; the hidden value of that name does not slip into its column."""
    d = mechanism(stages=[{"ends": {"at": 0.02}, "drop": ["b"]}, {}])
    d["bodies"] = {"a": BODY, "b": BODY}
    d["joints"]["k"] = {"child": "b", "type": "free"}
    d["outputs"] = {"foot.penetration": {"quantity": "position", "body": "b", "axis": "x"}}
    r = load(d).compile().simulate(stop_time=0.05, output_step=0.01)
    assert not np.nan_to_num(r["foot.penetration"]).any()


def test_fmu_variable_names_are_unique():
    """Also as OpenModelica's import writes them: `stage` and event indicators step aside for the description's names, which step aside for `time`."""
    outputs = {
        "fmu.stage": {"value": "z"},
        "event_indicator": {"quantity": "position", "body": "a"},
    }
    d = mechanism(
        parameters={"time": 1.0, "stage": 2.0},
        outputs=outputs,
        events={"e": {"when": "z < -1", "set": {"z": 0}}},
    )
    table = variable_table(fmu_unit(load(d)))
    variables = {v.name: v for v in table.variables}
    assert len({imported(name) for name in variables}) == len(table.variables)
    assert [v.name for v in table.variables if v.causality == "independent"] == ["time"]
    given = [variables[table.renamed.get(name, name)] for name in ("time", "stage")]
    assert [(v.causality, v.start) for v in given] == [("parameter", 1.0), ("parameter", 2.0)]
    assert {"stage", "fmu.stage", "fmu.fmu.stage"} <= set(variables)
    assert {"event_indicator[1]", "fmu.event_indicator[1]"} <= set(variables)
