"""Random mechanisms of every joint type, with loops, couplings, contacts, corners, events and stages, in many ways that must agree.

Forms, cuts, the order of the description, integrators, output steps, lanes, slopes, books, dense matrices and co-simulation; with fixed
seeds here, and by `python3 scripts/dev.py fuzz --kinds motions` for as long as wanted. What was found is in the tests of its room.
"""

import copy
from collections import Counter

import numpy as np
import pytest
from crossings import CROSSED, crossing
from differences import Difference, case_of, findings
from hosts import HOSTS, at_level, compare, held, other_levels
from machines import DRAWN, LAWS, machine
from motions import FAST, beside_dense, dense_motion, plain
from random_mechanisms import random_mechanism

from kinetree.models import ModelError, load
from kinetree.models.forces.kinds import KINDS as FORCES
from kinetree.models.joints.kinds import KINDS

SEEDS = range(1000, 1024)


def drawn(seed: int) -> dict:
    try:
        return random_mechanism(seed)
    except ModelError:
        pytest.skip("what was drawn is no mechanism")


@pytest.mark.parametrize("seed", SEEDS)
def test_random_mechanisms_agree_in_all_run_modes(seed):
    description = drawn(seed)
    try:
        assert not list(findings(description, seed, FAST))
    except ModelError as error:
        pytest.skip(f"what was drawn is no mechanism: {error}")


@pytest.mark.parametrize(
    "seed",
    [
        5,
        11,
        287336439,
        1626534656,
        *(pytest.param(seed, marks=pytest.mark.slow) for seed in (20, 34, 74, 122)),
    ],
)
def test_combined_features_agree(seed):
    """Contacts, controllers, motions given by inputs and oil on top of loops, stages and events; these seeds found something once."""
    assert not list(findings(crossing(seed), seed, CROSSED))


@pytest.mark.parametrize("seed", [1, 16])
def test_force_kinds_agree_in_combined_mechanisms(seed):
    """A guide, wheels and a jack on mechanisms with events and stages; the long run draws every kind."""
    assert set(FORCES) == DRAWN | set(LAWS)
    assert not list(findings(machine(seed), seed, CROSSED))


def test_event_times_sensitive_to_perturbation_are_not_compared():
    """A stage ends where an angle falls below the value at which a loop holds it: 0.7 ms later after a nudge of 1e-7."""
    assert case_of(crossing(633822975)) is None


def test_contact_opened_by_corner_does_not_touch_again():
    """A given motion stops at 1/3 s and lets a closed contact go: its gap, 0 by rounding, was another touch in runs whose rows lay so."""
    case = case_of(crossing(1395810335))
    assert case is not None
    assert [event.time == pytest.approx(1 / 3, abs=1e-6) for event in case.result.events] == [
        False,
        False,
    ]


@pytest.mark.slow
def test_event_in_a_loop_happens_once_under_model_exchange():
    """Closing the loop moved the guard back over its bound: the event happened again, and the speed was halved twice."""
    case = case_of(crossing(1339997164))
    assert case is not None
    HOSTS["model exchange"](case, np.random.default_rng(0))


def test_rigid_loops_without_motion_have_no_effect():
    """Their rows are rounding alone: they neither count as constraints here nor in the dense matrices."""
    tip = [0.3, -0.2, 0.1]
    joints = {
        "j1": {"child": "b1", "type": "planar"},
        "j2": {"parent": "b1", "child": "b2", "type": "rigid", "at": [0.1, 0.1, -0.2]},
    }
    closing = {
        "parent": "b2",
        "child": "b1",
        "type": "spherical",
        "at": tip,
        "child_at": [0.4, -0.1, -0.1],
    }
    bodies = dict.fromkeys(
        ("b1", "b2"),
        {"mass": 1.0, "com": [0.1, 0.05, 0.1], "inertia": [0.3, 0.4, 0.5, 0.01, 0.02, 0.03]},
    )
    speeds = {"start": [0.2, 0.5, 0.4], "speed": [-0.3, 0.2, -0.5]}
    model = {
        "format": "kinetree/1",
        "name": "m",
        "bodies": bodies,
        "joints": {**joints, "j1": joints["j1"] | speeds},
        "parameters": {"k": {"value": 1.0}},
    }
    pull = {
        "b1_pull": {"quantity": "acceleration", "body": "b1", "point": tip},
        "b1_place": {"quantity": "position", "body": "b1", "point": tip},
    }
    closed = model | {
        "joints": {**model["joints"], "closing": closing},
        "outputs": pull,
        "forces": {},
        "gravity": [1.0, -2.0, -9.0],
        "run": {"stop_time": 0.2},
    }
    case = case_of(closed)
    assert case is not None
    beside_dense(case, np.random.default_rng(0))
    free = load(closed | {"joints": model["joints"]}).compile()
    found = free.outputs(0.0, *free.start())
    for name, value in case.system.outputs(0.0, *case.system.start()).items():
        assert value == pytest.approx(found[name], abs=1e-12)


@pytest.mark.parametrize("seed", range(1100, 1112))
def test_random_accelerations_match_dense_matrices(seed):
    case = case_of(plain(drawn(seed)))
    if case is not None:
        beside_dense(case, np.random.default_rng(seed))


@pytest.mark.parametrize(
    "seed",
    [1003, pytest.param(1101, marks=pytest.mark.slow), pytest.param(1105, marks=pytest.mark.slow)],
)
def test_random_motions_match_dense_matrices(seed):
    case = case_of(plain(drawn(seed)))
    assert case is not None
    dense_motion(case, np.random.default_rng(seed))


@pytest.mark.parametrize("way", ["native", "python", "model exchange"])
def test_hosts_reproduce_motion(way):
    """One mechanism each; the long run has many."""
    case = case_of(drawn(1008))
    assert case is not None
    HOSTS[way](case, np.random.default_rng(1))


@pytest.mark.slow
def test_processor_levels_agree():
    cases = [case for seed in range(1200, 1210) if (case := case_of(drawn(seed)))]
    for name in other_levels():
        for case, found in zip(
            cases, at_level(name, [case.description for case in cases]), strict=True
        ):
            compare(case, f"level {name}", held(case), found, 1e-6)


def test_random_mechanisms_contain_every_kind():
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
        seen.update(
            key for key in ("events", "stages", "inputs", "states", "couplings") if d.get(key)
        )
        seen["closing"] += "closing" in d["joints"]
        seen.update(
            word
            for joint in d["joints"].values()
            for part in joint.get("transforms", ())
            for word in part
            if word == "by"
        )
    assert all(
        seen[kind] >= 10
        for kind in (
            *KINDS,
            "transforms",
            "events",
            "stages",
            "inputs",
            "states",
            "couplings",
            "closing",
            "by",
        )
    ), seen
    assert all(backwards[kind] >= 3 for kind in KINDS if kind != "free"), backwards


def test_fuzzer_detects_differences():
    """A joint that is a little elsewhere is found by the dense matrices."""
    case = case_of(plain(drawn(1003)))
    assert case is not None
    other = copy.deepcopy(case.description)
    joint = next(
        joint
        for joint in other["joints"].values()
        if joint.get("parent") == "ground" or joint.get("child") == "ground"
    )
    joint.setdefault("at", [0.0, 0.0, 0.0])
    joint["at"] = [x + 1e-3 for x in joint["at"]]
    case.system = load(other).compile()
    with pytest.raises(Difference):
        beside_dense(case, np.random.default_rng(0))
