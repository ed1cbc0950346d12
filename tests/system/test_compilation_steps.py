"""Pieces of the compilation by themselves, on cases worked out by hand: cuts, halves, orders of rows, patterns of joints, guards, sensors, blocks."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.checks.loader import describe
from kinetree.models.compilation.element_states import (
    inputs_of,
    settlements,
    states_of,
)
from kinetree.models.compilation.events import guard_of
from kinetree.models.compilation.joint_locking import locked_form
from kinetree.models.compilation.joint_patterns import column_kinds, pattern
from kinetree.models.compilation.loop_cutting import (
    Group,
    anchor,
    body_shares,
    held_starts,
    live_groups,
    loop_arrays,
    ordered,
    times,
    tree_of,
    twin_of,
    with_twins,
)
from kinetree.models.compilation.register_usage import moved, registers_read, whole
from kinetree.models.compilation.rigid_body_merging import (
    attached,
    constant,
    in_loops,
    joined,
    mentioned,
    merged,
    moments,
    spread,
    weightless,
    words,
)
from kinetree.models.description.joints import joint_elements
from kinetree.models.description.schema import Body, JointSpec
from kinetree.models.expressions.internal_names import free_name, told_inputs
from kinetree.models.expressions.measurement_frames import (
    GROUND_AXES,
    cardan,
    columns,
    composed,
    relative_quaternion,
    resolved,
)
from kinetree.models.expressions.node_arithmetic import E, const
from kinetree.models.expressions.parse import evaluate_constant, parse
from kinetree.models.expressions.to_text import written
from kinetree.models.expressions.vectors import Vector
from kinetree.models.graph.cycles import elementary_cycles
from kinetree.models.graph.tree import regular_numbering
from kinetree.models.joints.elements import ElementForm, JointForm
from kinetree.solvers import layout as L
from kinetree.solvers.elements.kinds import BY_NAME
from kinetree.solvers.model_records import SENSOR
from kinetree.solvers.sensors.kinds.points import DISTANCE, POSITION


def edges(*pairs: tuple, **cut: bool) -> list:
    """Joints j0, j1, ... from parent to child."""
    return [(f"j{k}", a, b, cut.get(f"j{k}")) for k, (a, b) in enumerate(pairs)]


TREES = [
    # bodies, joints, order, parents, joints of the tree, reversed, cuts
    (
        "abc",
        edges(("ground", "a"), ("a", "b"), ("b", "c")),
        "abc",
        (0, 1, 2),
        "j0 j1 j2",
        (0, 0, 0),
        "",
    ),
    (
        "cba",
        edges(("ground", "a"), ("a", "b"), ("b", "c")),
        "abc",
        (0, 1, 2),
        "j0 j1 j2",
        (0, 0, 0),
        "",
    ),
    (
        "abcd",
        edges(("ground", "c"), ("c", "a"), ("ground", "b"), ("b", "d")),
        "cabd",
        (0, 1, 0, 3),
        "j0 j1 j2 j3",
        (0, 0, 0, 0),
        "",
    ),
    ("ab", edges(("a", "ground"), ("b", "a")), "ab", (0, 1), "j0 j1", (1, 1), ""),
    (
        "abc",
        edges(("ground", "a"), ("a", "b"), ("b", "c"), ("ground", "c")),
        "abc",
        (0, 1, 0),
        "j0 j1 j3",
        (0, 0, 0),
        "j2",
    ),
    (
        "abc",
        edges(("ground", "a"), ("a", "b"), ("b", "c"), ("c", "ground")),
        "abc",
        (0, 1, 2),
        "j0 j1 j2",
        (0, 0, 0),
        "j3",
    ),
    (
        "abc",
        edges(("ground", "a"), ("a", "b"), ("b", "c"), ("ground", "c"), j1=True),
        "acb",
        (0, 0, 2),
        "j0 j3 j2",
        (0, 0, 1),
        "j1",
    ),
    (
        "ab",
        edges(("ground", "a"), ("ground", "a"), ("a", "b"), ("ground", "b")),
        "ab",
        (0, 0),
        "j0 j3",
        (0, 0),
        "j1 j2",
    ),
    (
        "ab",
        edges(("ground", "a"), ("ground", "a"), ("a", "b"), j1=False),
        "ab",
        (0, 1),
        "j1 j2",
        (0, 0),
        "j0",
    ),
]


@pytest.mark.parametrize(("bodies", "joints", "order", "parent", "used", "turned", "cuts"), TREES)
def test_spanning_tree_prefers_forward_joints(
    bodies: str, joints: list, order: str, parent: tuple, used: str, turned: tuple, cuts: str
):
    """Joints in their own direction first, then short branches; bodies keep the user's order where it is regular."""
    tree = regular_numbering(list(bodies), joints)
    assert ("".join(tree.order), tree.parent, tree.joint) == (order, parent, tuple(used.split()))
    assert (tree.reversed, tree.cuts) == (tuple(map(bool, turned)), tuple(cuts.split()))


def test_cycles_meet_at_branch_points():
    joints = edges(("ground", "a"), ("a", "b"), ("a", "c"), ("c", "d"), ("b", "d"))
    tree = regular_numbering(list("abcd"), joints, {"j1": 1, "j2": 1, "j3": 1, "j4": 3})
    assert tree.cuts == ("j4",)
    (cycle,) = elementary_cycles(tree, {"j4": ("b", "d")})
    assert (cycle.joints, cycle.apex, cycle.length) == (
        ("j1", "j2", "j3"),
        tree.order.index("a") + 1,
        4,
    )


# -- cut joints -------------------------------------------------------------------------------------------------------------------------------
def four_bar(**masses: float) -> dict:
    masses = {"a": 1.0, "b": 1.0, "c": 1.0} | masses
    return {
        "format": "kinetree/1",
        "bodies": {
            name: {"mass": mass, "inertia": [1, 1, 1, 0, 0, 0] if mass else [0, 0, 0, 0, 0, 0]}
            for name, mass in masses.items()
        },
        "joints": {
            "A": {"child": "a", "type": "revolute", "axis": "y"},
            "B": {"parent": "a", "child": "b", "type": "revolute", "axis": "y", "at": [0, 0, 1]},
            "C": {
                "parent": "b",
                "child": "c",
                "type": "revolute",
                "axis": "y",
                "at": [1, 0, 0],
                "cut": True,
            },
            "D": {"child": "c", "type": "revolute", "axis": "y", "at": [1, 0, 0]},
        },
    }


@pytest.mark.parametrize(
    ("parent", "child", "body", "turned"),
    [
        (1.0, 1.0, "c", False),
        (10.0, 1.0, "c", False),
        (10.1, 1.0, "b", True),
        (1.0, 0.0, "b", True),
        (0.0, 1.0, "c", False),
        (0.0, 0.0, "c", False),
    ],
)
def test_halved_side_of_a_cut_joint_is_chosen(parent: float, child: float, body: str, turned: bool):
    """The child; its parent where that is more than ten times as heavy, or the child has no mass."""
    joint = JointSpec.model_validate({"parent": "b", "child": "c", "type": "revolute"})
    twin = twin_of(joint, "C", {"b": parent, "c": child, "ground": 0.0})
    assert (twin.name, twin.body, twin.reversed, twin.joint) == (
        f"{body} at C",
        body,
        turned,
        "C",
    ) and twin.other == ("b" if body == "c" else "c")
    ground = twin_of(joint.model_copy(update={"parent": "ground"}), "C", {"c": 0.0, "ground": 0.0})
    assert (ground.body, ground.other, ground.reversed) == ("ground", "c", True)


def test_halves_of_a_cut_body_share_its_mass():
    """Two cuts make three parts; a piece of the ground is an anchor of the size of what it stands beside."""
    d = four_bar()
    d["joints"]["C"]["start"] = [0]  # without start values neither needs a twin
    universal = {"type": "universal", "start": [0, 0]}
    d["joints"]["E"] = {"parent": "ground", "child": "c", "cut": True, **universal}
    description = describe(d)
    tree = regular_numbering(
        ["a", "b", "c"],
        [(name, j.parent, j.child, j.cut) for name, j in description.joints.items()],
    )
    made = with_twins(description, tree)
    assert (
        made.order == ("a", "b", "c", "c at C", "c at E")
        and made.parent[3:] == (2, 0)
        and made.joint[3:] == ("C", "E")
    )
    assert (
        made.reversed[3:] == (False, False)
        and made.halves == (("c", 3),)
        and made.cuts == ("C", "E")
    )
    assert [(key, share) for _, key, share in body_shares(description, made)] == [
        ("bodies.a", 1.0), ("bodies.b", 1.0), ("bodies.c", 1 / 3), ("bodies.c", 1 / 3), ("bodies.c", 1 / 3),
    ]  # fmt: skip
    plain = tree_of(made)
    assert (plain.order, plain.parent, plain.joint, plain.reversed, plain.cuts) == (
        tree.order,
        tree.parent,
        tree.joint,
        tree.reversed,
        tree.cuts,
    )
    assert (
        tree_of(tree) is tree
        and times(1.0, 5.0) == 5.0
        and evaluate_constant(times(0.25, "m"), {"m": 8.0}) == 2.0
    )
    stand = anchor(Body(mass=2.0, com=(1.0, 0.0, 3.0), inertia=(4.0, 5.0, 6.0, 0.1, 0.2, 0.3)))
    size = 4 + 5 + 6 + 2 * (1 + 9)
    assert stand.mass == 2.0 and stand.com == (0.0, 0.0, 0.0) and stand.inertia is not None
    assert [evaluate_constant(each, {}) for each in stand.inertia] == [
        size,
        size,
        size,
        0.0,
        0.0,
        0.0,
    ]
    assert anchor(Body(mass=0.0)).inertia == (1.0, 1.0, 1.0, 0.0, 0.0, 0.0) and anchor(
        Body(mass=3.0)
    ).inertia == (3.0, 3.0, 3.0, 0.0, 0.0, 0.0)
    assert anchor(Body(mass=0.0, inertia=(2.0, 2.0, 2.0, 0.0, 0.0, 0.0))).inertia == (
        1.0,
        1.0,
        1.0,
        0.0,
        0.0,
        0.0,
    )


def group(name: str, *bodies: int, kind: int = L.Loop.WELD, **more) -> Group:
    return Group(name, kind, 0, 0, bodies, **more)


def test_constraint_rows_are_ordered_for_smaller_envelope():
    """A ring of groups along a chain: 0-2, 4-6, 2-4 is better as neighbours; two groups, and what is good already, stay."""
    moving = [False] + [True] * 7
    far = [group("x", 1, 2), group("y", 4, 5), group("z", 2, 3), group("w", 3, 4)]
    found = [each.name for each in ordered(far, moving)]
    assert found in (["x", "z", "w", "y"], ["y", "w", "z", "x"])
    assert [each.name for each in ordered(far[:2], moving)] == ["x", "y"]
    near = [group("x", 1, 2), group("z", 2, 3), group("w", 3, 4)]
    assert [each.name for each in ordered(near, moving)] == ["x", "z", "w"]
    still = [
        True,
        True,
        False,
        False,
        True,
        True,
        True,
        True,
    ]  # bodies that do not move do not join
    assert [each.name for each in ordered(far, still)] == ["x", "y", "z", "w"]


def test_constraint_row_arrays_match_loops():
    """Two welds that share body 2 and a coupling of one row: bodies with their places, columns, envelope, shared blocks, arms, slopes."""
    groups = [
        Group("p", L.Loop.WELD, 0, 2, (1, 2), parts=(0, 2)), Group("r", L.Loop.WELD, 3, 4, (2, 3, 4), parts=tuple(range(6))),
        Group("k", L.Loop.COUPLING, 77, 5, (1,), slopes=((0, 41), (1, 42)), level=L.SPEEDS, arms=((1, 50, 51, 52),)),
    ]  # fmt: skip
    u_at = [0, 0, 2, 3, 3, 6]  # speeds of bodies 1..4: 2, 1, 0, 3
    a = loop_arrays(groups, [0, 1, 2, 2], {"u_at": u_at}, [0, 1, 2, 3, 0, 0])
    assert {key: a[key].tolist() for key in ("l_kind", "l_a", "l_b", "l_level", "l_from", "l_body", "l_up", "l_x", "l_columns")} == {
        "l_kind": [L.Loop.WELD, L.Loop.WELD, L.Loop.COUPLING], "l_a": [0, 3, 77], "l_b": [2, 4, 5], "l_level": [L.POSITIONS, L.POSITIONS, L.SPEEDS],
        "l_from": [-1, 3, -1], "l_body": [1, 2, 2, 3, 4, 1], "l_up": [-1, 0, -1, 2, 2, -1], "l_x": [0, 4, 6, 12, 12, 30], "l_columns": [3, 4, 2],
    }  # fmt: skip
    assert (
        a["l_row"].tolist() == [0, 2, 8, 9]
        and a["l_at"].tolist() == [0, 2, 5, 6]
        and a["l_first"].tolist() == [0, 0, 0]
    )
    assert (
        a["l_env"].tolist() == [0, 2 * 2, 4 + 6 * 8, 52 + 9]
        and a["l_size"].tolist() == [32]
        and a["l_rank"].tolist() == [2, 6, 1]
    )
    assert (
        a["l_shared"].tolist() == [2, 1, 5, 0]
        and a["l_shared_at"].tolist() == [0, 0, 1, 1, 2, 2, 2]
        and a["l_block"].tolist() == [0, 1, 3, 6]
    )
    assert (
        a["l_speed"].tolist() == [0, 1]
        and a["l_slope"].tolist() == [41, 42]
        and a["l_k"].tolist() == [0, 0, 0, 2]
    )
    assert (
        a["l_part"].tolist() == [0, 2, 0, 1, 2, 3, 4, 5, 0]
        and a["l_arm"].tolist() == [5, 1, 50, 51, 52]
        and a["l_arm_at"].tolist() == [0, 0, 0, 1]
    )
    assert a["u_held"].tolist() == [0, 1, 2, 3, 0, 0]


def test_zero_constraint_rows_are_removed():
    """Below 1e-20 of their scale; couplings keep theirs."""
    groups = [group("p", 1, parts=(0, 1, 2)), group("k", 1, kind=L.Loop.COUPLING)]
    kept, ranks = live_groups(groups, np.array([2.0, 1.0]), np.array([1.0, 1e-20, 1.1e-20, 0.0]))
    assert (
        [each.parts for each in kept] == [(0, 2), (0,)]
        and ranks.tolist() == [2, 1]
        and kept[0].rows == 2
    )


def test_given_start_values_are_marked_as_fixed():
    """Of its coordinate (1) and of its speed (2), by what is written; of a shared coordinate where it comes first."""
    shared = [
        {"rotate": "z", "coordinate": "p", "start": 0.0},
        {"shift": "x", "coordinate": "s", "speed": 1.0},
        {"shift": "x", "coordinate": "p", "factor": 2},
    ]
    d = {"bodies": {name: {"mass": 1.0} for name in "abc"}, "joints": {
        "A": {"child": "a", "transforms": shared}, "B": {"parent": "a", "child": "b", "type": "spherical", "start": [1, 0, 0, 0]},
        "C": {"parent": "b", "child": "c", "type": "revolute", "speed": 0.0}}}  # fmt: skip
    description = describe(d)
    tree = regular_numbering(
        list("abc"), [(name, j.parent, j.child, None) for name, j in description.joints.items()]
    )
    speeds = [joint_elements(joint, name).speeds for name, joint in description.joints.items()]
    assert held_starts(description, tree, speeds) == [1, 2, 1, 1, 1, 2]
    assert held_starts(description, tree, [speeds[0], (), speeds[2]]) == [1, 2, 2]


# -- joints -----------------------------------------------------------------------------------------------------------------------------------
def elements(**keys) -> tuple[ElementForm, ...]:
    return joint_elements(JointSpec.model_validate({"child": "b"} | keys), "J").elements


SLIDE, TURN, SHIFT = (
    {"shift": "x", "coordinate": "s"},
    {"rotate": "z", "coordinate": "p"},
    {"shift": [0, 1, 0]},
)
PATTERNS = [
    ({"type": "rigid"}, "FIXED", []),
    ({"type": "rigid", "at": [1, 0, 0]}, "FIXED", []),
    ({"type": "revolute", "at": [1, 0, 0]}, "REVOLUTE", ["ROTATION"]),
    ({"type": "prismatic"}, "PRISMATIC", ["TRANSLATION"]),
    ({"type": "universal"}, "UNIVERSAL", ["ROTATION", "ROTATION"]),
    ({"type": "spherical"}, "SPHERICAL", ["ROTATION"] * 3),
    ({"type": "free"}, "FREE", ["GENERAL"] * 6),
    ({"type": "cylindrical"}, "GENERAL", ["TRANSLATION", "ROTATION"]),
    ({"type": "planar"}, "GENERAL", ["TRANSLATION", "TRANSLATION", "ROTATION"]),
    ({"type": "screw", "pitch": 0.1}, "GENERAL", ["GENERAL"]),
    ({"transforms": [TURN, SHIFT]}, "GENERAL", ["GENERAL"]),
    ({"transforms": [SHIFT, TURN]}, "REVOLUTE", ["ROTATION"]),
    ({"transforms": [TURN, SLIDE]}, "GENERAL", ["GENERAL", "TRANSLATION"]),
    ({"transforms": [SLIDE, TURN]}, "GENERAL", ["TRANSLATION", "ROTATION"]),
    ({"transforms": [{"rotate": "x", "by": "t"}, TURN]}, "GENERAL", ["ROTATION"]),
    ({"transforms": [TURN, {"rotate": "x", "by": 0.3}]}, "GENERAL", ["ROTATION"]),
    (
        {"transforms": [TURN, {"rotate": "x", "coordinate": "r"}]},
        "UNIVERSAL",
        ["ROTATION", "ROTATION"],
    ),
    (
        {"transforms": [TURN, {"rotate": "x", "coordinate": "p", "factor": 1.0}]},
        "GENERAL",
        ["GENERAL"],
    ),
]


@pytest.mark.parametrize(("keys", "whole_joint", "kinds"), PATTERNS)
def test_joint_constraint_patterns_match_kinds(keys: dict, whole_joint: str, kinds: list[str]):
    """What the fast path knows, and columns that are pure turns about the origin or pure shifts."""
    found = elements(**keys)
    speeds = len(joint_elements(JointSpec.model_validate({"child": "b"} | keys), "J").speeds)
    assert (
        pattern(found) == L.Joint[whole_joint]
        if whole_joint in L.Joint.__members__
        else L.Joint.GENERAL
    )
    assert column_kinds(found, speeds) == [L.Column[each] for each in kinds]


def test_joints_with_factors_or_motors_are_not_plain():
    (turn,) = elements(type="revolute")
    (ball,) = elements(type="spherical")
    assert (
        pattern((replace(turn, factor=2.0),))
        == L.Joint.GENERAL
        == pattern((turn, replace(turn, coordinate=1, factor=-1.0)))
    )
    assert pattern((ball,), rotors=True) == L.Joint.GENERAL != pattern((ball,)) and pattern(
        (turn,), rotors=True
    ) == pattern((turn,))


def test_joint_elements_are_reversed():
    """Shifts and amounts change their signs, so do factors of coordinates; twice is none."""
    for each in (
        *elements(type="screw", pitch=0.1, at=[1, "a", 0]),
        *elements(type="spherical"),
        *elements(transforms=[{"rotate": "x", "by": "0.2*t"}]),
    ):
        back = each.turned().turned()
        assert (back.kind, back.coordinate) == (each.kind, each.coordinate)
    shift, turn, slide = elements(type="screw", pitch=2 * math.pi, at=[1, "a", 0])
    assert (
        shift.turned().axis is not None
        and shift.turned().axis[0] == -1.0
        and written(shift.turned().axis[1]) == "(-a)"
    )  # type: ignore[arg-type]
    assert (turn.turned().factor, slide.turned().factor, slide.turned().axis) == (
        -1.0,
        -1.0,
        slide.axis,
    )
    (given,) = elements(transforms=[{"rotate": "x", "by": "0.2*t"}])
    assert written(given.turned().amount) == "(-(0.2 * t))" and given.turned().factor == 1.0  # type: ignore[arg-type]


def test_locked_joints_have_no_coordinates():
    """Every element that moves stands at the value of its locked register, times its factor."""
    form = joint_elements(
        JointSpec.model_validate(
            {"child": "b", "type": "screw", "pitch": 4 * math.pi, "at": [1, 0, 0]}
        ),
        "J",
    )
    found = locked_form(form)
    assert found.coordinates == found.speeds == () and [
        each.kind.name for each in found.elements
    ] == ["SHIFT", "ROTATE_T", "SHIFT_T"]
    assert [written(each.amount) for each in found.elements[1:]] == [
        "'locked(J.angle)'",
        "(2.0 * 'locked(J.angle)')",
    ]  # type: ignore[arg-type]
    free = locked_form(JointForm((ElementForm(BY_NAME["FREE"], coordinate=0),), tuple("xyzabcd")))
    assert [each.kind.name for each in free.elements] == ["SHIFT", "ROTATE"] and free.elements[
        0
    ].axis is not None
    values = {
        f"locked({key})": value
        for key, value in zip("xyzabcd", (1.0, 2.0, 3.0, 0.8, 0.0, 0.6, 0.0), strict=True)
    }
    assert [evaluate_constant(each, values) for each in free.elements[0].axis] == [1.0, 2.0, 3.0]
    assert evaluate_constant(free.elements[1].amount, values) == pytest.approx(
        2 * math.atan2(0.6, 0.8)
    )  # type: ignore[arg-type]
    assert [evaluate_constant(each, values) for each in free.elements[1].axis or ()] == [
        0.0,
        0.6,
        0.0,
    ]
    none = values | {"locked(b)": 0.0, "locked(c)": 0.0, "locked(a)": 1.0}
    assert [evaluate_constant(each, none) for each in free.elements[1].axis or ()] == [
        1.0,
        0.0,
        0.0,
    ]


# -- frames -----------------------------------------------------------------------------------------------------------------------------------
def numbers(parts) -> np.ndarray:
    return np.array([evaluate_constant(part.node, {}) for part in parts])


def test_quaternion_rotations_match_reference():
    """Columns by Rodrigues, relative turns as products of matrices, Cardan angles back to Rx(a) Ry(b) Rz(c)."""
    rng = np.random.default_rng(3)
    quaternions = [each / np.linalg.norm(each) for each in rng.normal(size=(4, 4))]

    def matrix(e: np.ndarray) -> np.ndarray:
        w, v = e[0], e[1:]
        K = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
        return np.eye(3) + 2 * w * K + 2 * K @ K

    for a, b in zip(quaternions, quaternions[1:], strict=False):
        one, two = (tuple(map(const, map(float, each))) for each in (a, b))
        R = np.column_stack([numbers(axis) for axis in columns(one)])  # type: ignore[arg-type]
        assert R == pytest.approx(matrix(a), abs=1e-14)
        both = relative_quaternion(one, two)  # type: ignore[arg-type]
        assert np.column_stack([numbers(axis) for axis in columns(both)]) == pytest.approx(
            matrix(a).T @ matrix(b), abs=1e-14
        )
        x, y, z = numbers(cardan(one))  # type: ignore[arg-type]
        Rx = np.array([[1, 0, 0], [0, math.cos(x), -math.sin(x)], [0, math.sin(x), math.cos(x)]])
        Ry = np.array([[math.cos(y), 0, math.sin(y)], [0, 1, 0], [-math.sin(y), 0, math.cos(y)]])
        Rz = np.array([[math.cos(z), -math.sin(z), 0], [math.sin(z), math.cos(z), 0], [0, 0, 1]])
        assert Rx @ Ry @ Rz == pytest.approx(matrix(a), abs=1e-14)
        vector = Vector(const(1.0), const(-2.0), const(0.5))
        assert numbers(composed(columns(one), vector)) == pytest.approx(matrix(a) @ [1, -2, 0.5])  # type: ignore[arg-type]
        assert numbers(resolved(vector, columns(one))) == pytest.approx(matrix(a).T @ [1, -2, 0.5])  # type: ignore[arg-type]
        assert resolved(vector, GROUND_AXES) is vector and numbers(
            vector.cross(Vector(*map(const, (3.0, 1.0, 2.0))))
        ) == pytest.approx(np.cross([1, -2, 0.5], [3, 1, 2]))


# -- bodies that are one ----------------------------------------------------------------------------------------------------------------------
def test_names_used_in_descriptions_are_found():
    """Names in laws with the beginnings of dotted ones, quoted names, keys of tables, lists; texts and units name nothing."""
    assert set(words("sin(j.x.y) + force('f-1')*k")) == {
        "sin(j.x.y) + force('f-1')*k",
        "sin",
        "j.x.y",
        "j",
        "j.x",
        "force",
        "f-1",
        "k",
    }
    assert set(words({"a": ["b", 3.0, None]})) == {"a", "b"}
    description = describe(
        {
            "bodies": {"a": {"mass": "m", "text": "like b"}, "b": {"mass": 1}}, "parameters": {"m": 1, "b2": 2}, "name": "tool",
            "joints": {"ja": {"child": "a", "type": "revolute"}, "jb": {"parent": "a", "child": "b", "type": "rigid"}},
            "outputs": {"o": {"quantity": "velocity", "body": "a"}}, "forces": {"f": {"coordinate": "ja.angle", "value": "b2"}},
        }
    )  # fmt: skip
    found = mentioned(description)
    assert {"a", "velocity", "ja.angle", "ja", "b2"} <= found and not {
        "m",
        "like",
        "tool",
        "o",
        "f",
        "jb",
        "b",
    } & found
    tree = regular_numbering(list("ab"), [("ja", "ground", "a", None), ("jb", "a", "b", None)])
    assert (
        attached(description, tree) == {"b"}
        and constant(description, "jb")
        and not constant(description, "ja")
    )
    assert (
        attached(
            description.model_copy(
                update={"run": description.run.model_copy(update={"merge": False})}
            ),
            tree,
        )
        == frozenset()
    )
    assert merged(description, tree, frozenset()) is None
    made = merged(description, tree, frozenset("b"))
    assert (
        made is not None
        and made.carriers == {"b": "a"}
        and made.topology.order == ("a",)
        and made.topology.joint == ("ja",)
        and not made.around
    )
    named = description.model_copy(update={"outputs": {}})
    assert attached(named, tree) == {"b"}


def test_loop_joints_persist_across_structures():
    description = describe(four_bar() | {"stages": [{"ends": {"at": 1}, "set": {}}, {}]})
    joints = [(name, j.parent, j.child, j.cut) for name, j in description.joints.items()]
    tree = regular_numbering(list("abc"), joints)
    assert {tree.joint[k] for k in in_loops(description, tree)} == {"A", "B", "D"}


def test_inertia_of_merged_bodies_matches_formula():
    """Mass, centre and tensor about the origin of both, the part turned and shifted; without inertia it changes nothing."""
    body = Body(mass=2.0, com=(0.1, 0.2, 0.3), inertia=(1.0, 2.0, 2.5, 0.1, 0.2, 0.3))
    part = Body(mass=3.0, com=(0.4, 0.0, -0.1), inertia_at_origin=(2.0, 3.0, 4.0, 0.2, -0.1, 0.3))
    way = elements(transforms=[{"shift": [1, 0, 2]}, {"rotate": [0, 0, 2], "by": 0.7}])
    found = joined(body, part, way)

    def tensor(v) -> np.ndarray:
        return np.array([[v[0], v[3], v[4]], [v[3], v[1], v[5]], [v[4], v[5], v[2]]])

    def steiner(c) -> np.ndarray:
        return np.dot(c, c) * np.eye(3) - np.outer(c, c)

    R = np.array([[math.cos(0.7), -math.sin(0.7), 0], [math.sin(0.7), math.cos(0.7), 0], [0, 0, 1]])
    c1, c2 = np.array(body.com), np.array(part.com)
    there = R @ c2 + [1, 0, 2]
    own = tensor(part.inertia_at_origin) - 3.0 * steiner(c2)
    J = tensor(body.inertia) + 2.0 * steiner(c1) + R @ own @ R.T + 3.0 * steiner(there)
    assert (
        found.mass == 5.0
        and found.inertia is None
        and found.com == pytest.approx((2.0 * c1 + 3.0 * there) / 5.0)
    )
    assert tensor(found.inertia_at_origin) == pytest.approx(J)
    assert (
        joined(body, Body(mass=0.0), way) is body
        and weightless(Body(mass=0.0))
        and not weightless(Body(mass="m"))
        and not weightless(part)
    )
    assert numbers(spread(Vector(*map(const, (1.0, 2.0, 3.0))))) == pytest.approx(
        [13, 10, 5, -2, -3, -6]
    )
    mass, moment, about = moments(body)
    assert numbers([mass, *moment]) == pytest.approx([2.0, 0.2, 0.4, 0.6]) and tensor(
        numbers(about)
    ) == pytest.approx(tensor(body.inertia) + 2.0 * steiner(c1))
    assert numbers(moments(part)[2]) == pytest.approx([2.0, 3.0, 4.0, 0.2, -0.1, 0.3])
    light = joined(
        Body(mass=0.0), Body(mass=0.0, inertia=(1.0, 1.0, 1.0, 0.0, 0.0, 0.0)), way
    )  # no mass at all: the centre is anywhere
    assert light.mass == 0.0 and all(
        math.isfinite(evaluate_constant(each, {})) for each in light.com
    )


# -- guards, sensors, names -------------------------------------------------------------------------------------------------------------------
GUARDS = {
    "x > 2": "x - 2",
    "x >= y": "x - y",
    "x < 2": "2 - x",
    "x <= y": "y - x",
    "x > 0 and y < 1": "min(x, 1 - y)",
    "x > 0 or y < 1": "max(x, 1 - y)",
    "not (x > 0)": "-x",
    "x": "x - 0.5",
    "x == y": "(x == y) - 0.5",
    "not (x > 0 or y > 0)": "-max(x, y)",
    "1": "0.5",
}


def test_guards_are_positive_when_true():
    """A guard is the distance of a condition from where it changes, in whatever order its terms stand."""
    numbers = (-2.0, -0.25, 0.0, 0.75, 1.0, 2.0, 3.5)
    for (text, distance), x, y in product(GUARDS.items(), numbers, numbers):
        case, values = (text, x, y), {"x": x, "y": y}
        found = evaluate_constant(guard_of(parse(text)).node, values)
        assert found == evaluate_constant(distance, values), case
        if found:
            assert (found > 0) == (evaluate_constant(text, values) > 0.5), case


def test_vector_components_share_one_sensor():
    """Three components of one place to registers that follow one another; others stay by themselves."""

    def record(kind, register: int, axis: int, body: int = 1) -> tuple[int, ...]:
        return tuple(
            SENSOR.filled(
                kind=kind.code,
                register=register,
                a=body,
                point_a=9,
                b=0,
                point_b=-1,
                axis=axis,
                frame=0,
            )
        )

    three = [record(POSITION, 20 + k, k) for k in range(3)]
    (one,) = whole(three)
    assert (
        one
        == tuple(
            L.WHOLE if k == SENSOR.places["axis"][0] else value for k, value in enumerate(three[0])
        )
        and moved(three[2], 2) == three[0]
    )
    for apart in (
        [record(POSITION, 20 + k, k) for k in (0, 2, 1)], [record(POSITION, 20 + 2 * k, k) for k in range(3)], three[1:],
        [*three[:2], record(POSITION, 22, 2, body=2)], [record(DISTANCE, 20 + k, k) for k in range(3)],
    ):  # fmt: skip
        assert whole(list(apart)) == apart
    assert (
        len(
            whole(
                [*three, *[record(POSITION, 30 + k, k) for k in range(3)], record(POSITION, 40, 0)]
            )
        )
        == 3
    )


def test_used_registers_are_found():
    """Operands of instructions, up to three from every record on; conditions that guards name as -1 - register."""
    from kinetree.models.compilation.register_usage import FIELDS

    empty = {name: np.zeros(0, dtype=np.int64) for name in FIELDS}
    ints = empty | {
        "code": np.array([1, 5, 6, 7, 8]),
        "l_a": np.array([90, 60]),
        "l_kind": np.array([L.Loop.WELD, L.Loop.COUPLING]),
    }
    ints |= {"guards": np.array([-41, 30])}
    found = registers_read(ints, [(0, 0, 0, 70, 0, 80, 0, 0)])
    assert {6, 7, 8, 30, 31, 32, 40, 41, 42, 60, 61, 62, 70, 71, 72, 80, 81, 82} <= found and not {
        5,
        33,
        43,
        63,
        73,
        83,
        90,
        91,
    } & found


def test_names_added_by_elements_are_listed():
    assert free_name("a", {"a", "a_"}) == "a__" and free_name("b", {"a"}) == "b"
    assert told_inputs(["lift:t0", "lift.force", "x"]) == {"lift.stiffness", "lift.damping"}
    d = four_bar() | {
        "actuators": {"lift": {"coordinate": "A.angle", "force": 7}},
        "forces": {"foot": {"body": "a", "stiffness": 1, "soil": {"strength": 1, "viscosity": 1, "stiffness": 5, "damping": 1}}},
        "inputs": {"way": {"start": 0.3, "unit": "m"}}, "states": {"foot.settlement": {"rate": 0}},
    }  # fmt: skip
    d["joints"]["F"] = {
        "child": "d",
        "transforms": [{"shift": "x", "follow": {"input": "way", "bandwidth": 5}}],
    }
    d["bodies"]["d"] = {"mass": 1}
    description = describe(d)
    assert {name: (each.start, each.unit) for name, each in inputs_of(description).items()} == {
        "way": (0.3, "m"), "lift.force": (7.0, "N.m"), "lift.stiffness": (0.0, "N.m/rad"), "lift.damping": (0.0, "N.m.s/rad"),
        "lift:s0": (0.0, ""), "lift:v0": (0.0, ""), "lift:t0": (0.0, ""),
    }  # fmt: skip
    assert {name: (each.start, each.unit) for name, each in states_of(description).items()} == {
        "foot.settlement": (0.0, ""), "foot.settlement_": (0.0, "m"), "foot.deflection": (0.0, "m"), "way.reference": (0.3, "m"),
        "way.reference_rate": (0.0, ""),
    }  # fmt: skip
    assert settlements(description) == {"foot.settlement"}


def test_expression_arithmetic_matches_python():
    """Operators in either order of numbers and expressions."""
    x = E("x")
    told = {
        2 + x: 5,
        x + 2: 5,
        2 - x: -1,
        x - 2: 1,
        2 * x: 6,
        x * 2: 6,
        2 / x: 2 / 3,
        x / 2: 1.5,
        x**2: 9,
        -x: -3,
        x > 2: 1,
        x >= 3: 1,
        x < 3: 0,
    }
    assert [evaluate_constant(each.node, {"x": 3.0}) for each in told] == pytest.approx(
        list(told.values())
    )


def test_compiled_blocks_of_a_pendulum_match_reference():
    """What its model says of itself: counts, names, registers of starts, groups of the workspace."""
    d = {
        "bodies": {
            "a": {"mass": 1, "com": [0, 0, -1], "inertia": [0.1, 0.1, 0.1, 0, 0, 0]},
            "b": {"mass": 1},
        },
        "run": {"start_time": 2, "stop_time": 3},
        "joints": {
            "A": {"child": "a", "type": "revolute", "axis": "y", "start": 0.3, "speed": -0.1},
            "B": {"parent": "a", "child": "b", "type": "spherical"},
        },
        "inputs": {"F": {"start": 4}},
        "states": {"s": {"rate": "F", "start": 5}},
        "parameters": {"k": 6.0},
        "outputs": {"o": "k*F"},
    }
    system = load(d | {"run": d["run"] | {"merge": False}}).compile()
    c = system.compiled
    assert {
        key: c.counts[key]
        for key in ("N", "nq", "nu", "nx", "ni", "np", "ng", "nl", "nf", "ngh", "nfi", "na", "nk")
    } == {
        "N": 2,
        "nq": 5,
        "nu": 4,
        "nx": 1,
        "ni": 1,
        "np": 1,
        "ng": 0,
        "nl": 0,
        "nf": 0,
        "ngh": 0,
        "nfi": 0,
        "na": 0,
        "nk": 0,
    }
    assert (c.quaternions, c.start_time, c.states, c.inputs, c.parameters) == (
        (1,),
        2.0,
        ("s",),
        ("F",),
        ("k",),
    )
    val = system._fast.ws.val
    assert (
        val[c.start_q : c.start_q + 5].tolist() == [0.3, 1, 0, 0, 0]
        and val[c.start_u] == -0.1
        and val[c.start_x] == 5.0
    )
    assert (
        val[c.start_inputs] == 4.0
        and val[c.preset_inputs] == 4.0
        and c.body_number == {"ground": 0, "a": 1, "b": 2}
    )
    assert c.running is c
