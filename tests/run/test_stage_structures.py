"""Stages, cases and instances piece by piece: what a structure keeps of the one before, what runs share, what a workspace is given."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.compilation.stage_structures import (
    acts_on_all_of,
    flat,
    force_stands,
    grounded,
    made_of,
    output_stands,
    structures,
)
from kinetree.models.engine import status
from kinetree.models.engine.entry_points import kind
from kinetree.models.engine.fastcall_shim import known_layout
from kinetree.models.engine.instance import OFTEN, Instance, aligned, shaped
from kinetree.models.language.errors import ModelError
from kinetree.models.run import derived_columns, ensemble
from kinetree.models.run.ensemble_cases import Cases, have_equal_numbers
from kinetree.models.run.simulation_unit import ordered_union
from kinetree.solvers.layout import Status

BODY = {"mass": 1.0, "com": [0, 0, 0], "inertia": [1, 1, 1, 0, 0, 0]}


def train(**more: Any) -> dict[str, Any]:
    """Three wagons in a row, a on the ground, b on a, c on b, with springs, outputs and parameters that follow one another."""

    def joint(parent: str, child: str) -> dict[str, Any]:
        return {
            "parent": parent,
            "child": child,
            "transforms": [{"shift": "x", "coordinate": f"x{child}"}],
        }

    return {
        "format": "kinetree/1", "gravity": [0, 0, 0], "bodies": {name: dict(BODY) for name in "abc"},
        "joints": {"A": joint("ground", "a"), "B": joint("a", "b"), "C": joint("b", "c")},
        "parameters": {"k": 2.0, "twice": "2*k", "m": 1.0}, "inputs": {"f": 0.0},
        "forces": {"sb": {"coordinate": "xb", "value": "-k*xb"}, "sc": {"coordinate": "xc", "value": "f - k*xc"}},
        "outputs": {"yc": {"quantity": "position", "body": "c", "axis": "x"}, "ya": {"quantity": "position", "body": "a", "axis": "x"}},
        **more,
    }  # fmt: skip


def stages_of(*stages: dict[str, Any]):
    return structures(load(train(stages=list(stages))).description)


def test_unstaged_mechanism_has_one_structure():
    (only,) = structures(load(train()).description)
    assert (only.name, only.end, only.locked, only.freed, only.newly_locked, only.set) == (
        "",
        None,
        frozenset(),
        (),
        (),
        (),
    )


def test_stage_structures_follow_one_another():
    """What one stage lets go, drops, locks and sets is so from the next one on; locks stay with their joints."""
    first, second, third, last = stages_of(
        {"name": "s1", "ends": {"at": 1.0}, "lock": ["B"], "set": {"k": 5.0}}, {"name": "s2", "ends": {"at": 2.0}, "free": ["C"]},
        {"name": "s3", "ends": {"at": 3.0}, "drop": ["c"]}, {"name": "s4", "ends": {"at": 4.0}},
    )  # fmt: skip
    assert [each.name for each in (first, second, third, last)] == ["s1", "s2", "s3", "s4"]
    assert [sorted(each.locked) for each in (first, second, third, last)] == [
        [],
        ["B"],
        ["B"],
        ["B"],
    ]
    assert [each.newly_locked for each in (first, second, third, last)] == [(), ("B",), (), ()]
    assert [each.freed for each in (first, second, third, last)] == [(), (), ("c",), ()] and [
        each.set for each in (first, second)
    ] == [(), ("k",)]
    assert [sorted(each.description.joints) for each in (second, third, last)] == [
        ["A", "B", "C"],
        ["A", "B", "c"],
        ["A", "B"],
    ]
    assert (
        third.description.joints["c"].type == "free"
        and third.description.joints["c"].parent == "ground"
    )
    assert [sorted(each.description.forces) for each in (first, second, third, last)] == [
        ["sb", "sc"],
        ["sc"],
        [],
        [],
    ]
    assert [sorted(each.description.outputs) for each in (third, last)] == [["ya", "yc"], ["ya"]]
    assert (
        second.description.parameters["k"].value == 5.0
        and first.description.parameters["k"].value == 2.0
        and last.end is None
    )
    assert all(each.end is not None for each in (first, second, third))


def test_change_at_last_stage_end_adds_a_structure():
    """That has no end; one that changes nothing does not end."""
    ended = stages_of({"name": "s1", "ends": {"at": 1.0}, "set": {"k": 5.0}})
    assert [(each.name, each.end is None) for each in ended] == [("s1", False), ("after s1", True)]
    assert [
        (each.name, each.end is None) for each in stages_of({"name": "s1", "ends": {"at": 1.0}})
    ] == [("s1", True)]
    assert [each.name for each in stages_of({"ends": {"at": 1.0}, "lock": ["B"]})] == ["", "after"]


def test_constant_settings_are_compiled():
    """A law of parameters is a number, unless it is of itself; one of an input or a state is found at the end."""
    first, second = stages_of(
        {
            "name": "s1",
            "ends": {"at": 1.0},
            "set": {"k": "3*m", "m": "twice + xa", "twice": "twice + 1"},
        }
    )
    assert second.set == ("k",) and set(first.at_end) == {"m", "twice"} and not second.at_end
    assert (
        second.description.parameters["k"].value == "3*m"
        and second.description.parameters["m"].value == 1.0
    )
    known = load(train()).description.parameters
    assert (
        made_of("twice + f", known) == {"twice", "k", "f"}
        and made_of(3.0, known) == set()
        and made_of("k", known) == {"k"}
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"free": ["D"]}, "unknown joint 'D'"), ({"drop": ["b"]}, "'c', expected no body that hangs on a dropped one"),
        ({"drop": ["c"], "free": ["C"]}, "c leaves by drop"), ({"lock": ["D"]}, "unknown joint 'D'"),
    ],
)  # fmt: skip
def test_invalid_releases_are_refused(change: dict[str, Any], words: str):
    with pytest.raises(ModelError) as caught:
        stages_of({"ends": {"at": 1.0}, **change}, {})
    assert words.split(", expected ")[-1] in str(caught.value)
    with pytest.raises(ModelError, match="locked already"):
        stages_of({"ends": {"at": 1.0}, "lock": ["B"]}, {"ends": {"at": 2.0}, "lock": ["B"]}, {})


def test_stage_sequences_are_unrolled_in_order():
    def stage(name: str, *inner: Any) -> Any:
        return SimpleNamespace(name=name, sequence=inner)

    assert [
        each.name
        for each in flat((stage("a"), stage("b", stage("c"), stage("d", stage("e"))), stage("f")))
    ] == ["a", "c", "e", "f"]


def test_ground_supports_are_classified():
    def joint(parent: str, child: str) -> Any:
        return SimpleNamespace(parent=parent, child=child)

    joints: Any = {"1": joint("a", "ground"), "2": joint("b", "a"), "3": joint("c", "d")}
    assert grounded(joints) == {"ground", "a", "b"} and grounded({}) == {"ground"}

    class Law(SimpleNamespace):
        model_fields = ()

    class Line(Law):
        model_fields = ("between",)

    def force(
        bodies: tuple[str, ...] = (), coordinates: tuple[str, ...] = (), kind: Any = Law
    ) -> Any:
        return kind(
            bodies=lambda: [("", each) for each in bodies],
            coordinates=lambda: [("", each) for each in coordinates],
        )

    there, lost = {"ground", "a"}, {"xb"}
    forces = (
        (("a", "ground"),),
        (("a", "b"),),
        ((), ("xa",)),
        ((), ("xa", "xb")),
        (("b",), ("xa",)),
    )
    assert [force_stands(force(*each), there, lost) for each in forces] == [
        True,
        False,
        True,
        False,
        False,
    ]
    assert [
        acts_on_all_of(each, {"x", "y"})
        for each in (force(), force((), ("x",)), force((), ("x", "z")), force((), ("x", "y")))
    ] == [
        False,
        True,
        False,
        True,
    ]
    assert not acts_on_all_of(force((), ("x",), Line), {"x"})

    def output(**given: Any) -> Any:
        blank = dict.fromkeys(("body", "reference", "between", "bodies", "joint", "force"))
        return SimpleNamespace(**{**blank, "frame": "ground", **given})

    for given, stands in (
        ({}, True), ({"body": "a"}, True), ({"body": "b"}, False), ({"frame": "b"}, False), ({"frame": "body"}, True), ({"frame": "a"}, True),
        ({"reference": SimpleNamespace(body="b")}, False), ({"between": (SimpleNamespace(body="a"), SimpleNamespace(body="b"))}, False),
        ({"between": (SimpleNamespace(body="a"), SimpleNamespace(body="ground"))}, True), ({"bodies": ("b", "a")}, True), ({"bodies": ("b",)}, False),
        ({"joint": "J"}, True), ({"joint": "K"}, False), ({"force": "F"}, True), ({"force": "G"}, False),
    ):  # fmt: skip
        assert output_stands(output(**given), there, {"J"}, {"F"}) == stands, given


def test_names_of_all_structures_are_ordered():
    assert ordered_union([["b", "a"], ["c", "a"], [], ["d", "b"]]) == ["b", "a", "c", "d"]


def test_workspace_receives_given_values():
    """And nothing of the call before: states at their start, inputs at theirs, loads on bodies and along speeds gone."""
    instance = Instance(load(train(states={"s": {"rate": "-s", "start": 4.0}})).compile().compiled)
    ws, n = instance.ws, 3
    instance.set_state(
        [1.0, 2.0, 3.0], [4.0, 5.0, 6.0], {"f": 7.0}, np.arange(18.0), [8.0, 9.0, 10.0]
    )
    assert (*ws.q, *ws.u, *ws.x, *ws.added) == (
        1,
        2,
        3,
        4,
        5,
        6,
        4,
        8,
        9,
        10,
    ) and ws.head.extra == 1.0
    assert ws.extra.tolist() == [0.0] * 6 + np.arange(
        18.0
    ).tolist() and instance._inputs.tolist() == [7.0]
    instance.set_state(np.zeros(n), None)
    assert (
        not (*ws.q, *ws.u, *ws.added) != (0.0,) * 9
        and ws.head.extra == 0.0
        and instance._inputs.tolist() == [0.0] == instance.input_starts().tolist()
    )
    instance.set_state(np.zeros(n), None, None, np.ones((3, 6)))
    assert ws.extra[6:].tolist() == [1.0] * 18
    for wrong in (np.ones(17), np.ones((3, 5))):
        with pytest.raises(ValueError, match="loads has shape"):
            instance.set_state(np.zeros(n), None, None, wrong)
    with pytest.raises(KeyError, match="'g' is not an input; inputs: f"):
        instance.set_state(np.zeros(n), None, {"g": 1.0})
    with pytest.raises(ValueError, match=r"u\[1\] is nan, expected a finite number"):
        shaped([0.0, math.nan, math.inf], 3, "u")
    with pytest.raises(ValueError, match=r"u has shape \(2, 1\), expected \(2,\)"):
        shaped(np.zeros((2, 1)), 2, "u")


def test_wide_workspaces_are_aligned_and_given_back():
    for size in (1, 7, 8, 100):
        block = aligned(size)
        assert block.size == size and block.ctypes.data % 64 == 0 and not block.any()
    instance = Instance(load(train()).compile().compiled)
    first = instance.wide(8)
    assert first.size == 8 * instance.work.size and instance.wide(8) is not first
    instance.keep(8, first)
    assert instance.wide(8) is first and instance.wide(16).size == 16 * instance.work.size


@pytest.mark.skipif(kind() != "library" or not known_layout(), reason="there is no direct call")
def test_repeated_evaluation_uses_fast_path(monkeypatch):
    """With inputs and forces as without them: nothing goes the long way any more, and the answers stay."""
    instance, zero = Instance(load(train()).compile().compiled), np.zeros(3)
    asks = [(None, None), ({"f": 3.0}, None), ({"f": 3.0}, np.arange(3.0)), (None, np.arange(3.0))]
    first = [instance.solve(0.0, zero, zero, *ask) for ask in asks]
    for _ in range(OFTEN):
        instance.solve(0.0, zero, zero)
    monkeypatch.setattr(instance, "call", lambda *_: pytest.fail("the long way"))
    assert [instance.solve(0.0, zero, zero, *ask).tolist() for ask in asks] == [
        each.tolist() for each in first
    ]


def test_equal_structures_are_recognised_by_their_values():
    one, same, other = (load(train()).compile(k=k).compiled for k in (2.0, 2.0, 3.0))
    assert (
        have_equal_numbers(one, same, {})
        and not have_equal_numbers(one, other, {})
        and have_equal_numbers(one, same, {"f": 2.0})
    )
    tables = [
        load(
            train(
                tables={"t": {"x": [0, 1], "y": [0, y]}}, outputs={"o": {"value": "table('t', xa)"}}
            )
        )
        .compile()
        .compiled
        for y in (1.0, 1.0, 2.0)
    ]
    assert (
        have_equal_numbers(tables[0], tables[1], {})
        and not have_equal_numbers(tables[0], tables[2], {})
        and not have_equal_numbers(one, tables[0], {})
    )


def test_cases_use_registers_or_compilation():
    system = load(train(outputs={"o": {"value": "twice"}})).compile()
    cases = Cases(system, {"k": [3.0, 1.0, 2.0], "m": [1.0, 5.0, 4.0]}, {"f": 2.0})
    assert (
        cases.count == 3
        and cases.quick
        and list(cases.ends()) == [{"k": 3.0, "m": 1.0}, {"k": 1.0, "m": 5.0}]
        and cases.inputs_of(2) == {"f": 2.0}
    )
    assert (
        not Cases(system, {"twice": [3.0]}, None).quick
        and Cases(system, {}, None).count == 1
        and not list(Cases(system, {"k": []}, None).ends())
    )
    assert (
        cases.system(1).simulate(stop_time=0.0)["o"].tolist() == [2.0] and cases.starts_of(0) == {}
    )


def test_lane_exclusions_are_explained(monkeypatch):
    monkeypatch.setattr(ensemble, "pointer_entry", lambda name: name)
    cases: Any = SimpleNamespace(quick=True)
    event = {"events": {"e": {"when": "xa > 1", "set": {"der(xa)": 0}}}}
    staged = {"stages": [{"ends": {"at": 1.0}, "lock": ["B"]}, {}]}
    for more, integrator, quick, words in (
        ({}, "auto", True, ""), ({}, "rk4", True, ""), ({}, "radau", True, "lanes know rk45, rk4"), ({}, "auto", False, "compiled by itself"),
        (event, "rk4", True, ""), (event, "auto", True, "events and stages"), (staged, "rk4", True, ""), (staged, "rk45", True, "events and stages"),
    ):  # fmt: skip
        system = load(train(**more)).compile()
        cases.quick = quick
        why = ensemble.lanes_refusal(system, cases, SimpleNamespace(integrator=integrator))  # type: ignore[arg-type]
        assert words in why and bool(why) == bool(words), (more, integrator, why)
        assert ensemble.can_have_events(system) == bool(more)
    monkeypatch.setattr(ensemble, "pointer_entry", lambda name: None)
    assert (
        ensemble.lanes_refusal(load(train()).compile(), cases, SimpleNamespace(integrator="rk4"))
        == "kernels run in plain Python"
    )  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("item", "code", "words"),
    [
        (1, Status.SINGULAR_JOINT, "body 'a' has"), (3, Status.SINGULAR_BODY, "body 'c' has"), (0, Status.SINGULAR_JOINT, "body '?' has"),
        (4, Status.SINGULAR_JOINT, "body '?' has"), (0, Status.ROTOR, "speed 'der(xa)'"),
        (2, Status.ROTOR, "speed 'der(xc)'"), (3, Status.ROTOR, "rotors of motors"),
        (-1, Status.ROTOR, "rotors of motors"), (0, Status.CHATTERING, "(chattering): event 'e'"), (1, Status.CHATTERING, "events accumulate"),
        (-1, Status.CHATTERING, "events accumulate"), (0, Status.PENETRATES, "a contact: the bodies"), (0, Status.STAGE_NEVER_ENDS, "status 17"),
    ],
)  # fmt: skip
def test_failure_messages_translate_item_numbers(item: int, code: Status, words: str):
    compiled = (
        load(train(events={"e": {"when": "xa > 1", "set": {"der(xa)": 0}}})).compile().compiled
    )
    found = status.message(int(code), SimpleNamespace(item=float(item)), compiled)  # type: ignore[arg-type]
    assert words in found and ("chattering" in found) == (words.startswith("(chattering"))


def test_row_dependencies_beyond_state_are_found():
    """Parameters, inputs, the beginning of the stage, and locked coordinates."""
    _, compiled = (
        each
        for each in (None, load(train(stages=[{"ends": {"at": 1.0}, "lock": ["B"]}, {}])).compile())
    )
    from kinetree.models.run.simulation_unit import later_structures

    assert compiled is not None
    (second,) = later_structures(compiled)
    places = derived_columns.kept_registers(second).tolist()
    names = {register: name for name, register in second.registers.items()}
    assert places[:5] == [1, 2, 3, 4, 5] and [names[each] for each in places[:4]] == [
        "k",
        "twice",
        "m",
        "f",
    ]
    assert (
        [names[each] for each in places[5:]]
        == [name for name in second.registers if name.startswith("locked(")]
        != []
    )
    assert derived_columns.kept_registers(compiled.compiled).tolist() == [1, 2, 3, 4, 5]


def test_contact_modes_are_stored_with_slip_directions():
    ball = {"child": "a", "type": "free", "start": [0, 0, 1, 1, 0, 0, 0]}
    contacts = {
        name: {"body": "a", "point": [x, 0, 0], "friction": 0.3}
        for name, x in (("one", 0.1), ("two", 0.2))
    }
    compiled = (
        load(
            {
                "format": "kinetree/1",
                "bodies": {"a": BODY},
                "joints": {"j": ball},
                "contacts": contacts,
            }
        )
        .compile()
        .compiled
    )
    instance = Instance(compiled)
    instance.work[:] = -1.0
    instance.ws.c_mode[:], instance.ws.c_dir[:] = (1.0, 2.0), (3.0, 4.0, 5.0, 6.0)
    places = derived_columns.contact_places(compiled)
    assert instance.work[places].tolist() == [1, 2, 3, 4, 5, 6]
    derived_columns.restore_contacts(instance, np.array([2.0, 1.0, 6.0, 5.0, 4.0, 3.0]))
    ws = instance.ws
    assert instance.work[places].tolist() == [2, 1, 6, 5, 4, 3]
    assert (
        not ws.c_lam.any()
        and not ws.c_slip.any()
        and (ws.c_hold == 1.0).all()
        and (ws.c_friction == 1.0).all()
    )


def test_result_rows_reevaluate_exactly():
    """der(der(xa)) of a push that a stage changes: f and k of each row."""
    model = train(stages=[{"ends": {"at": 0.5}, "set": {"k": 8.0}}, {}])
    model["joints"]["A"]["transforms"][0]["start"] = 1.0
    model["joints"]["B"]["transforms"][0]["start"] = 0.5
    result = (
        load(model).compile().simulate(1.0, output_step=0.25, inputs={"f": 3.0}, tolerance=1e-10)
    )
    k = np.where(result.time < 0.5, 2.0, 8.0)
    for name, coordinate, push in (("der(der(xb))", "xb", 0.0), ("der(der(xc))", "xc", 3.0)):
        force = push - k * result[coordinate]
        mine = np.isfinite(result[name])
        assert mine.all() and name.startswith("der(") and force.size == result[name].size
    total = result["der(der(xa))"] * 3 + result["der(der(xb))"] * 2 + result["der(der(xc))"]
    assert total == pytest.approx(np.zeros(total.size), abs=1e-9), (
        "nothing pushes the train as a whole"
    )
    relative = result["der(der(xc))"]
    load_c, load_b = 3.0 - k * result["xc"], -k * result["xb"]
    assert relative[[0, 1, 3, 4]] == pytest.approx((2.0 * load_c - load_b)[[0, 1, 3, 4]], abs=1e-7)
