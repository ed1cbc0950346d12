"""Records of a compiled mechanism against what its description says: guards and their actions, filters of inputs, chambers of actuators, outputs."""

import math

import numpy as np
import pytest
from plant_description import PLANT

from kinetree.models import ModelError, load
from kinetree.models.compilation.stage_structures import compile_stage, structures
from kinetree.models.engine.collector_pause import uncollected
from kinetree.models.engine.flat_blocks import (
    GROUPS,
    allocate,
    model_fields,
    offsets,
    with_groups,
    work_sizes,
)
from kinetree.solvers import layout as L
from kinetree.solvers.model_records import ACTION, GUARD, HEADER

SLIDE = {"child": "c", "type": "prismatic", "axis": "y", "coordinates": ["y"]}
SLIDES = PLANT | {"joints": PLANT["joints"] | {"jc": SLIDE}, "states": {"s": {"rate": 0}}}
COMPUTED = "events.e.set.k: found 'k', which is computed as 2*p, expected a parameter with a number of its own"


def records(compiled) -> tuple[np.ndarray, np.ndarray]:
    fields = model_fields(compiled.ints, compiled.floats)
    return np.asarray(fields.guards).reshape(-1, GUARD.size), np.asarray(fields.actions).reshape(
        -1, ACTION.size
    )


def test_compiled_guards_and_actions_match_description():
    """The end of the stage first, once for every condition, with what it sets; events with entries of (q, u, x) or registers of parameters."""
    d = SLIDES | {
        "parameters": {"p": 1.0, "k": 2.0},
        "stages": [{"ends": {"when": "x > 1", "at": 5, "after": "2*k"}, "set": {"p": 3, "y": 0.5}}, {"name": "last"}],
        "events": {"one": {"when": "q < 0", "set": {"der(q)": "-der(q)", "s": "s + 1", "k": 7}}, "two": {"when": "t > 1", "set": {"x": 0}}},
    }  # fmt: skip
    compiled = load(d).compile().compiled
    guards, actions = records(compiled)
    assert compiled.guards == (
        "the end of the stage (when x > 1)", "the end of the stage (at 5.0)", "the end of the stage (after 2*k)", "event 'one' (when q < 0)",
        "event 'two' (when t > 1)",
    )  # fmt: skip
    kinds, first, count, number = (
        guards[:, GUARD.places[key][0]].tolist() for key in list(GUARD.places)[1:5]
    )
    assert (
        kinds == [L.Guard.STAGE] * 3 + [L.Guard.RESET] * 2
        and count == [1, 1, 1, 3, 1]
        and first == [0, 1, 2, 3, 6]
        and number[3:] == [0, 1]
    )
    assert all(each < 0 for each in number[:3])
    names = compiled.registers
    entries = [*compiled.coordinates, *compiled.speeds, *compiled.states]
    where = [(entries[e] if e >= 0 else "", int(r)) for e, r, _ in actions.tolist()]
    assert where == 3 * [("y", -1)] + [
        ("der(q)", -1),
        ("s", -1),
        ("", names["k"]),
        ("x", -1),
    ]  # parameters of the end are those of what follows
    (later,) = (compile_stage(stage, later=True) for stage in structures(load(d).description)[1:])
    assert later.guards == ("event 'one' (when q < 0)", "event 'two' (when t > 1)")


@pytest.mark.parametrize(
    ("set_", "words"),
    [({"k": 3}, COMPUTED), ({"k2": 3}, "unknown parameter 'k2'")],
)
def test_invalid_event_targets_are_refused(set_: dict, words: str):
    d = SLIDES | {
        "parameters": {"p": 1.0, "k": "2*p"},
        "events": {"e": {"when": "x > 1", "set": set_}},
    }
    with pytest.raises(ModelError) as error:
        load(d).compile()
    assert words in str(error.value)


def test_filters_of_inputs_are_of_second_order():
    """Reference and rate by ω = 5 and ζ = 0.3, or critically damped: -ω², -2 ζ ω, and ω² of the input."""
    for more, damping in (({"damping": 0.3}, 0.3), ({}, 1.0)):
        joint = {
            "child": "c",
            "transforms": [{"shift": "x", "follow": {"input": "pull", "bandwidth": 5.0} | more}],
        }
        system = load(
            {
                "bodies": {"c": {"mass": 1.0}},
                "joints": {"j": joint},
                "inputs": {"pull": {"start": 0.4}},
            }
        ).compile()
        linear = system.linearize()
        assert system.compiled.states == ("pull.reference", "pull.reference_rate")
        assert linear.A == pytest.approx(
            np.array([[0.0, 1.0], [-25.0, -10.0 * damping]])
        ) and linear.B == pytest.approx(np.array([[0.0], [25.0]]))
        assert system._fast.ws.val[system.compiled.start_x] == 0.4


def test_compiled_actuator_chambers_match_description():
    """Rates of pressures and force, flows from outside: E (flow_a - A_a v - leak)/V_a and its like; less and less of a fall below vapour."""
    chambers = {
        "area_a": 5e-3,
        "area_b": 3e-3,
        "volume_a": 1e-3,
        "volume_b": 2e-3,
        "shortest": 0.5,
        "longest": 1.5,
        "leakage": 1e-12,
        "coulomb": 50.0,
        "viscous": 200.0,
        "pressure_a": 8e6,
        "pressure_b": 5e3,
        "end_stiffness": 1e5,
        "end_damping": 30.0,
    }
    joint = {"child": "b", "transforms": [{"shift": "x", "coordinate": "x"}]}
    d = {
        "gravity": [0, 0, 0],
        "bodies": {"b": {"mass": 2.0}},
        "joints": {"j": joint},
        "actuators": {
            "lift": {"between": [{"body": "ground"}, {"body": "b"}], "chambers": chambers}
        },
        "outputs": {"acc": "der(der(x))"},
    }
    system = load(d).compile()
    flows = {"lift.flow_a": 1e-3, "lift.flow_b": -2e-3}
    for x, v, stop in (
        (1.2, 0.4, 0.0),
        (1.6, 0.4, -(1e5 * 0.1 + 30.0 * 0.4)),
        (0.4, 0.4, 1e5 * 0.1 - 30.0 * 0.4),
    ):
        told = system.outputs(0.0, [x], [v], flows)
        leak = 1e-12 * (8e6 - 5e3)
        a = 1.4e9 * (1e-3 - 5e-3 * v - leak) / max(1e-3 + 5e-3 * (x - 0.5), 1e-4)
        b = 1.4e9 * (-2e-3 + 3e-3 * v + leak) / (2e-3 + 3e-3 * (1.5 - x))
        assert a < 0 and b < 0 and system._fast.ws.xdot == pytest.approx([a, 0.25 * b])
        force = 8e6 * 5e-3 - 5e3 * 3e-3 - 50.0 * math.tanh(v / 1e-3) - 200.0 * v + stop
        assert (
            told["acc"] == pytest.approx(force / 2.0)
            and told["lift.length"] == pytest.approx(x)
            and told["lift.speed"] == pytest.approx(v)
        )
        assert told["lift.acceleration"] == pytest.approx(force / 2.0) and told[
            "lift.effective_mass"
        ] == pytest.approx(2.0)
        assert told["lift.mean_speed"] == pytest.approx(v)


def test_line_actuator_reports_length_acceleration():
    """Acceleration of the length, (r a + v v - speed²)/length, of a point that moves across and along."""
    joint = {
        "child": "b",
        "transforms": [{"shift": "x", "coordinate": "x"}, {"shift": "y", "coordinate": "y"}],
    }
    ends = [{"body": "ground", "point": [0.1, 0.2, 0.3]}, {"body": "b"}]
    d = {
        "gravity": [1, 2, 0],
        "bodies": {"b": {"mass": 2.0}},
        "joints": {"j": joint},
        "actuators": {"lift": {"between": ends, "force": 6.0}},
    }
    system = load(d).compile()
    r, v = np.array([0.9, 1.3, -0.3]), np.array([0.4, -0.7, 0.0])
    length = np.linalg.norm(r)
    speed = r @ v / length
    acceleration = np.array([1.0, 2.0, 0.0]) + 6.0 / 2.0 * r / length * [1, 1, 0]
    told = system.outputs(0.0, [1.0, 1.5], [0.4, -0.7])
    assert told["lift.acceleration"] == pytest.approx(
        (r @ acceleration + v @ v - speed**2) / length
    ) and told["lift.speed"] == pytest.approx(speed)
    assert told["lift.effective_mass"] == pytest.approx(2.0 / (1 - (0.3 / length) ** 2))


def test_workspaces_contain_requested_groups():
    """Fields of the literal group and of its parts are empty unless they are asked for; the rest is as large as ever."""
    compiled = load(SLIDES).compile().compiled
    plain, literal = (
        work_sizes(compiled.counts, groups)
        for groups in (frozenset(), frozenset({"literal", *GROUPS}))
    )
    names = [field.name for field in L.WORK]
    first, last = names.index(L.LITERAL[0]), names.index(L.LITERAL[1])
    assert (
        plain[:first] == literal[:first]
        and plain[last + 1 :] == literal[last + 1 :]
        and not any(plain[first : last + 1])
    )
    assert sum(literal[first : last + 1]) > 0 and offsets(5, [2, 0, 3]).tolist() == [5, 7, 7, 10]
    block = with_groups(compiled.ints, compiled.counts, frozenset({"literal", *GROUPS}))
    assert HEADER.of(block).work_size - HEADER.of(compiled.ints).work_size == sum(literal) - sum(
        plain
    )
    work, fields = allocate(compiled.ints, compiled.floats)
    assert (
        work.size == HEADER.of(compiled.ints).work_size
        and not fields.q.any()
        and not fields.tau.any()
        and np.isnan(fields.udot).all()
    )
    assert fields.val.tolist() == pytest.approx(
        model_fields(compiled.ints, compiled.floats).val0.tolist(), nan_ok=True
    )


def test_garbage_collector_is_restored_after_pause():
    import gc

    assert gc.isenabled()
    with uncollected():
        assert not gc.isenabled()
        with uncollected():
            pass
        assert not gc.isenabled()
    with pytest.raises(KeyError), uncollected():
        raise KeyError
    assert gc.isenabled()


OUTPUTS = {
    "p": {"quantity": "position", "body": "b", "point": [0.1, 0, 0]}, "px": {"quantity": "position", "body": "b", "axis": "norm"},
    "o": {"quantity": "orientation", "body": "b"}, "d": {"quantity": "distance", "between": [{"body": "a"}, {"body": "c"}]},
    "m": {"quantity": "mass", "bodies": ["a", "b"]}, "sum": "2*d + px", "r": {"quantity": "reaction", "joint": "jb", "part": "moment", "axis": "z"},
    "c": {"quantity": "centre_of_mass", "axis": "y"}, "acc": "der(der(q))", "held": "reaction('jb')",
}  # fmt: skip


def test_compiled_output_columns_match_description():
    """One for every component that is asked for, with their units; expressions over one another, accelerations and reactions."""
    d = SLIDES | {
        "outputs": OUTPUTS,
        "bodies": SLIDES["bodies"]
        | {"b": {"mass": 2.0, "com": [0, 0.5, 0], "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}},
    }
    system = load(d).compile()
    assert [(column.name, column.unit) for column in system.compiled.outputs] == [
        ("p[1]", "m"), ("p[2]", "m"), ("p[3]", "m"), ("px", "m"), ("o[1]", "1"), ("o[2]", "1"), ("o[3]", "1"), ("o[4]", "1"), ("d", "m"), ("m", "kg"),
        ("sum", ""), ("r", "N.m"), ("c", "m"), ("acc", ""), ("held", ""),
    ]  # fmt: skip
    q, u = [0.3, 0.7, -0.4], [0.2, 1.1, 0.5]
    told = system.outputs(0.0, q, u)
    assert [told[f"p[{k}]"] for k in (1, 2, 3)] == pytest.approx(
        [0.3 + 0.1 * math.cos(0.7), 0.1 * math.sin(0.7), 0.0]
    ) and told["px"] == pytest.approx(0.3)
    assert [told[f"o[{k}]"] for k in (1, 2, 3, 4)] == pytest.approx(
        [math.cos(0.35), 0, 0, math.sin(0.35)]
    ) and told["m"] == 3.0
    assert told["d"] == pytest.approx(0.5) and told["sum"] == pytest.approx(1.3)
    assert told["c"] == pytest.approx((2.0 * 0.5 * math.cos(0.7) - 0.4) / 4.0)
    udot = system.accelerations(0.0, q, u)
    assert told["acc"] == pytest.approx(udot[1]) and told["r"] == pytest.approx(0.0, abs=1e-12)
    reaction = system.joint_reactions(0.0, q, u)["jb"]
    assert told["held"] == pytest.approx(np.linalg.norm(reaction[:3]))


ALLOWED = "parameters, t, coordinates, speeds, first-order states, inputs, and measured places, velocities and angular velocities"
LINEAR = "expected one that is linear in the speeds"
FOLLOWS = (
    "without acceleration, expected rate and acceleration, or bandwidth, in a relation of positions"
)
JACK = {"kind": "jack", "body": "a", "stiffness": 1, "extension": "s"}
BANDWIDTH, RATE = {"input": "pull", "bandwidth": 5}, {"input": "pull", "rate": "push"}


def coupled(value: str, *follow: dict, **sections: dict) -> dict:
    return {"couplings": {"k": {"value": value, "follow": list(follow)}}, **sections}


COMPILED = [
    (
        {"joints": SLIDES["joints"] | {"jc": {"parent": "c", "child": "ground", "type": "free"}}},
        "joints.jc: found a free joint used from child to parent",
    ),
    (
        {
            "joints": SLIDES["joints"]
            | {"jc": {"parent": "c", "child": "ground", "type": "spherical"}}
        },
        "",
    ),
    (
        {"states": {"s": {"rate": "der(der(x))"}}, "forces": {"f": JACK}},
        "forces.f.extension: a force cannot depend on the rate of a state that follows",
    ),
    (
        {"states": {"s": {"rate": "reaction('ja')"}}, "forces": {"f": JACK}},
        "forces.f.extension: a force cannot depend on the rate of a state that follows",
    ),
    ({"states": {"s": {"rate": "x"}}, "forces": {"f": JACK}}, ""),
    (
        coupled("x - y", BANDWIDTH),
        "couplings.k.follow: found 'pull', expected an input that the relation contains",
    ),
    (coupled("x - pull", BANDWIDTH), ""),
    (coupled("x - pull", RATE), "couplings.k.follow: found " + FOLLOWS),
    (coupled("der(x) - pull", RATE), ""),
    (
        coupled("der(x)*der(y) - 1"),
        "couplings.k: found a relation that is not linear in 'der(x)', " + LINEAR,
    ),
    (coupled("der(x)*y - 1"), ""),
    (coupled("p - 1"), "couplings.k: found no coordinate, expected an expression over coordinates"),
    (
        coupled("x - s", states={"s": {"rate": "der(x)"}}),
        "couplings.k: found the state 's', whose rate depends on speeds, expected a relation of speeds, or",
    ),
    (coupled("der(y) - s", states={"s": {"rate": "der(x)"}}), ""),
    (
        coupled("der(y) - s", states={"s": {"rate": "der(der(x))"}}),
        "couplings.k: found the state 's', whose rate depends on 'der(der(x))', expected "
        + ALLOWED,
    ),
    (
        coupled("x - e", outputs={"e": {"quantity": "energy"}}),
        "couplings.k: found 'e', expected " + ALLOWED,
    ),
    (
        coupled(
            "w - pull*der(x)",
            outputs={"w": {"quantity": "angular_velocity", "body": "b", "axis": "z"}},
        ),
        "",
    ),
    (
        coupled("w - 1", outputs={"w": {"quantity": "velocity", "body": "b", "axis": "norm"}}),
        "couplings.k: found a relation that is not linear in 'velocities of points', " + LINEAR,
    ),
]


@pytest.mark.parametrize(("change", "words"), COMPILED, ids=[str(k) for k in range(len(COMPILED))])
def test_structural_errors_are_reported_at_compilation(change: dict, words: str):
    """Refused with these words, or compiled."""
    mechanism = load(SLIDES | {"states": {}} | change)
    if not words:
        mechanism.compile()
        return
    with pytest.raises(ModelError) as error:
        mechanism.compile()
    assert str(error.value).startswith(words)
