"""Spanning tree, regular numbering and elementary cycles of random graphs of bodies and joints."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinetree.models.graph.cycles import elementary_cycles
from kinetree.models.graph.tree import (
    GROUND,
    GraphError,
    carried_by,
    path_set,
    regular_numbering,
    successors,
)


@st.composite
def graphs(draw, largest=25):
    """Connected graphs: a random tree in random order and direction, plus joints that close loops."""
    n = draw(st.integers(1, largest))
    bodies = [f"b{k}" for k in draw(st.permutations(range(n)))]
    pairs = [(draw(st.sampled_from([GROUND, *bodies[:k]])), body) for k, body in enumerate(bodies)]
    for _ in range(draw(st.integers(0, 6))):
        a, b = draw(st.sampled_from([GROUND, *bodies])), draw(st.sampled_from(bodies))
        pairs += [(a, b)] if a != b else []
    turned = [pair[::-1] if draw(st.booleans()) else pair for pair in pairs]
    joints = [
        (f"j{k}", parent, child, draw(st.sampled_from([None, None, False])))
        for k, (parent, child) in enumerate(draw(st.permutations(turned)))
    ]
    return draw(st.permutations(bodies)), joints


@given(graphs())
def test_numbering_is_regular_and_uses_real_joints(graph):
    bodies, joints = graph
    topology = regular_numbering(bodies, joints)
    ends = {name: (parent, child) for name, parent, child, _ in joints}
    names = [GROUND, *topology.order]
    assert sorted(topology.order) == sorted(bodies)
    assert sorted([*topology.joint, *topology.cuts]) == sorted(ends)
    for i, body in enumerate(topology.order, 1):
        before = topology.parent[i - 1]
        assert before < i
        pair = (names[before], body)
        assert ends[topology.joint[i - 1]] == (pair[::-1] if topology.reversed[i - 1] else pair)


@given(graphs())
def test_every_cut_closes_one_cycle(graph):
    """Number of cycles = joints - bodies, and every cycle is a closed walk through its joints."""
    bodies, joints = graph
    topology = regular_numbering(bodies, joints)
    ends = {name: (parent, child) for name, parent, child, _ in joints}
    cycles = elementary_cycles(topology, ends)
    assert len(cycles) == len(joints) - len(bodies)
    for cycle in cycles:
        place, goal = ends[cycle.cut]
        for joint in cycle.joints:
            a, b = ends[joint]
            assert place in (a, b)
            place = b if place == a else a
        assert place == goal
        assert len(set(cycle.joints)) == len(cycle.joints) == cycle.length - 1


@given(graphs())
def test_tree_sets_follow_from_predecessors(graph):
    bodies, joints = graph
    parent = regular_numbering(bodies, joints).parent
    n = len(parent)
    for i in range(1, n + 1):
        path = path_set(parent, i)
        assert path[-1] == i
        assert all(parent[b - 1] == a for a, b in zip((0, *path), path, strict=False))
        assert carried_by(parent, i) == tuple(
            j for j in range(1, n + 1) if j != i and i in path_set(parent, j)
        )
        assert set(successors(parent, i)) == {
            j for j in carried_by(parent, i) if parent[j - 1] == i
        }
    assert carried_by(parent, 0) == tuple(range(1, n + 1))


@given(graphs())
def test_valid_body_order_of_the_user_is_kept(graph):
    """Listing the bodies in the order found gives the same order again, and reversed joints are not needed more often."""
    bodies, joints = graph
    first = regular_numbering(bodies, joints)
    again = regular_numbering(list(first.order), joints)
    assert again == first


@given(graphs(), st.data())
def test_requested_cuts_are_respected(graph, data):
    """A joint that closes a loop may be cut on demand; joints to be kept stay when they close no loop among themselves."""
    bodies, joints = graph
    topology = regular_numbering(bodies, joints)
    kept = [
        (name, parent, child, False) if name not in topology.cuts else (name, parent, child, None)
        for name, parent, child, _ in joints
    ]
    assert set(regular_numbering(bodies, kept).cuts) == set(topology.cuts)
    if topology.cuts:
        chosen = data.draw(st.sampled_from(topology.cuts))
        cut = [
            (name, parent, child, True if name == chosen else None)
            for name, parent, child, _ in joints
        ]
        assert chosen in regular_numbering(bodies, cut).cuts


def loop(*pairs, cut=None):
    return [(f"j{k}", parent, child, (cut or {}).get(k)) for k, (parent, child) in enumerate(pairs)]


def test_loop_is_cut_at_its_middle_joint():
    """Six bodies in a ring fixed at both ends: both branches get three bodies."""
    pairs = [
        (GROUND, "a"),
        ("a", "b"),
        ("b", "c"),
        (GROUND, "f"),
        ("f", "e"),
        ("e", "d"),
        ("c", "d"),
    ]
    topology = regular_numbering(list("abcdef"), loop(*pairs))
    assert topology.cuts == ("j6",)
    assert max(len(path_set(topology.parent, i)) for i in range(1, 7)) == 3


def test_joint_direction_takes_precedence_over_balanced_cut():
    """A four-bar written around the loop is cut where it returns to the ground, so that no joint is used backwards."""
    topology = regular_numbering(
        list("abc"), loop((GROUND, "a"), ("a", "b"), ("b", "c"), ("c", GROUND))
    )
    assert topology.cuts == ("j3",)
    assert not any(topology.reversed)


def test_joint_is_reversed_if_it_is_the_only_path():
    topology = regular_numbering(["a", "b"], loop((GROUND, "b"), ("a", "b")))
    assert topology.order == ("b", "a")
    assert topology.parent == (0, 1)
    assert topology.reversed == (False, True)


def test_cut_can_be_forced_and_forbidden():
    pairs = [(GROUND, "a"), ("a", "b"), (GROUND, "c"), ("b", "c")]
    assert regular_numbering(list("abc"), loop(*pairs)).cuts == ("j3",)
    assert regular_numbering(list("abc"), loop(*pairs, cut={1: True})).cuts == ("j1",)
    assert regular_numbering(
        list("abc"), loop(*pairs, cut={3: False, 0: False, 1: False})
    ).cuts == ("j2",)


def test_joints_of_many_freedoms_are_cut_first_and_free_ones_last():
    pairs = [(GROUND, "a"), ("a", "b"), ("a", "b")]
    assert regular_numbering(["a", "b"], loop(*pairs), {"j0": 1, "j1": 3, "j2": 1}).cuts == ("j1",)
    pairs = [(GROUND, "a"), (GROUND, "b"), ("a", "b")]
    assert regular_numbering(["a", "b"], loop(*pairs), {"j0": 1, "j1": 1, "j2": 6}).cuts == ("j1",)


def test_bodies_without_path_are_named():
    with pytest.raises(GraphError) as error:
        regular_numbering(["a", "b", "c"], loop((GROUND, "a"), ("b", "c")))
    assert error.value.bodies == ("b", "c")


def test_numbering_of_published_carrier_is_regular():
    """Predecessors 0, 1, 1, 3, 4, 5, 5 of the detailed carrier ([Sh24] chapter 5) from a shuffled list."""
    names = ["rear", "front", "frame", "platform", "cradle", "m1", "m2"]
    parents = [GROUND, "rear", "rear", "frame", "platform", "cradle", "cradle"]
    joints = [
        (f"j_{name}", parent, name, None) for name, parent in zip(names, parents, strict=True)
    ]
    assert regular_numbering(names, joints).parent == (0, 1, 1, 3, 4, 5, 5)
    mixed = regular_numbering(names[::-1], joints)
    assert mixed.order[0] == "rear"
    assert mixed.order.index("m2") < mixed.order.index("m1")
