"""Random mechanisms of every joint type, with loops, couplings, contacts, corners, events and stages, in many ways that must agree.

Forms, cuts, the order of the description, integrators, output steps, lanes, slopes, books, dense matrices and co-simulation; with fixed
seeds here, and by `python3 scripts/dev.py fuzz --kinds motions` for as long as wanted. What was found is in the tests of its room.
"""

import copy
from collections import Counter

import numpy as np
import pytest
from differences import Difference, case_of, findings
from hosts import HOSTS, at_level, compare, held, other_levels
from motions import FAST, beside_dense, dense_motion, plain
from random_mechanisms import random_mechanism

from kinetree.models import ModelError, load
from kinetree.models.joints.kinds import KINDS

SEEDS = range(1000, 1024)


def drawn(seed: int) -> dict:
    try:
        return random_mechanism(seed)
    except ModelError:
        pytest.skip("what was drawn is no mechanism")


@pytest.mark.parametrize("seed", SEEDS)
def test_all_ways_agree(seed):
    description = drawn(seed)
    try:
        assert not list(findings(description, seed, FAST))
    except ModelError as error:
        pytest.skip(f"what was drawn is no mechanism: {error}")


@pytest.mark.parametrize("seed", range(1100, 1112))
def test_accelerations_are_those_of_dense_matrices(seed):
    case = case_of(plain(drawn(seed)))
    if case is not None:
        beside_dense(case, np.random.default_rng(seed))


@pytest.mark.parametrize("seed", [1003, pytest.param(1101, marks=pytest.mark.slow), pytest.param(1105, marks=pytest.mark.slow)])
def test_motions_are_those_of_dense_matrices(seed):
    case = case_of(plain(drawn(seed)))
    assert case is not None
    dense_motion(case, np.random.default_rng(seed))


@pytest.mark.parametrize("way", ["native", "python", "model exchange"])
def test_hosts_get_the_motion(way):
    """One mechanism each; the long run has many."""
    case = case_of(drawn(1008))
    assert case is not None
    HOSTS[way](case, np.random.default_rng(1))


@pytest.mark.slow
def test_processor_levels_agree():
    cases = [case for seed in range(1200, 1210) if (case := case_of(drawn(seed)))]
    for name in other_levels():
        for case, found in zip(cases, at_level(name, [case.description for case in cases]), strict=True):
            compare(case, f"level {name}", held(case), found, 1e-6)


def test_the_draw_has_every_kind():
    """Every joint type of the registry, in both directions, and everything that is to meet."""
    seen, backwards = Counter[str](), Counter[str]()
    for seed in range(200):
        try:
            d = random_mechanism(seed)
        except ModelError:
            continue
        for name, joint in d["joints"].items():
            kind = joint.get("type", "transforms")
            seen[kind] += 1
            backwards[kind] += joint["parent"] == "b" + name[1:]
        seen.update(key for key in ("events", "stages", "inputs", "states", "couplings") if d.get(key))
        seen["closing"] += "closing" in d["joints"]
        seen.update(word for joint in d["joints"].values() for part in joint.get("transforms", ()) for word in part if word == "by")
    assert all(seen[kind] >= 10 for kind in (*KINDS, "transforms", "events", "stages", "inputs", "states", "couplings", "closing", "by")), seen
    assert all(backwards[kind] >= 3 for kind in KINDS if kind != "free"), backwards


def test_a_difference_is_seen():
    """A joint that is a little elsewhere is found by the dense matrices."""
    case = case_of(plain(drawn(1003)))
    assert case is not None
    other = copy.deepcopy(case.description)
    joint = next(joint for joint in other["joints"].values() if joint.get("parent") == "ground" or joint.get("child") == "ground")
    joint.setdefault("at", [0.0, 0.0, 0.0])
    joint["at"] = [x + 1e-3 for x in joint["at"]]
    case.system = load(other).compile()
    with pytest.raises(Difference):
        beside_dense(case, np.random.default_rng(0))
