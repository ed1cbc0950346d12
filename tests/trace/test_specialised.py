"""Machine code of one mechanism against the generic engine: the same numbers, the same interface, the generic engine where it cannot answer."""

import numpy as np
import pytest
from random_descriptions import random_description

from kinetree.models import load
from kinetree.models.specialised import llvm_functions
from kinetree.models.specialised.llvm_compiler import compiled
from kinetree.models.specialised.llvm_functions import llvm_text
from kinetree.models.specialised.specialised_system import Specialised
from kinetree.models.trace.function_splitting import blocks

RELATIVE = 1e-12
MODELS = (
    "double-pendulum",
    "regulator",
    "puma560",
    "mobile-robot",
    "chain6",
    "four-bar",
    "andrews",
    "boom-drive",
    "elasto-gap",
)

LAW = {
    "format": "kinetree/1",
    "name": "law",
    "gravity": [0, 0, 0],
    "inputs": {"f": {"start": 0.2}},
    "bodies": {"a": {"mass": 1.0}},
}
LAW["joints"] = {
    "j": {"parent": "ground", "child": "a", "transforms": [{"shift": "x", "coordinate": "s"}]}
}
LAW["forces"] = {
    "g": {
        "coordinate": "s",
        "value": "f*tan(s) + atan2(s, t) + exp(-s) - (s - 2*floor(s/2)) + sqrt(1 + s*s) + s**2.5",
    }
}


def forced(system) -> Specialised:
    """The specialised code whatever was measured on a busy machine."""
    fast = system.specialise()
    assert fast.machine is not None
    fast.engine = "specialised"
    return fast


@pytest.mark.parametrize("name", [*MODELS, "random"])
def test_specialised_accelerations_match_engine(name: str, monkeypatch, tmp_path):
    """Compiled now, then found on disk: u̇ at random states, with inputs."""
    monkeypatch.setenv("KINETREE_CACHE", str(tmp_path)) if name == "regulator" else None
    rng = np.random.default_rng(4)
    system = load(
        random_description(rng, 6).description if name == "random" else f"lib:{name}"
    ).compile()
    for fast in (forced(system), forced(system)):
        q, u = system.start()
        for _ in range(5):
            away, speeds = q + rng.normal(0, 0.02, q.size), u + rng.normal(0, 0.5, u.size)
            if system.compiled.loops:
                away, speeds = system.project(0.0, away, speeds)
            inputs = {each: float(rng.normal()) for each in system.compiled.inputs}
            right = system.accelerations(0.3, away, speeds, inputs)
            found = fast.accelerations(0.3, away, speeds, inputs)
            assert np.abs(found - right).max() <= RELATIVE * max(1.0, np.abs(right).max())
    assert not fast.machine.fresh


def test_specialised_code_handles_large_angles():
    """Beyond the range of the quarter-turn reduction the status says so, and the generic engine answers."""
    system = load("lib:double-pendulum").compile()
    fast = forced(system)
    for angle in (0.0, 1e-8, -2.0, 3e5, -1e6, 1e7, 1e12):
        q, u = np.array([angle, -0.5 * angle]), np.array([0.3, 0.2])
        right = system.accelerations(0.0, q, u)
        assert np.abs(fast.accelerations(0.0, q, u) - right).max() <= 1e-12 * max(
            1.0, np.abs(right).max()
        )


def test_near_singular_loops_fall_back():
    """A flat parallelogram: the pivot that the trace relies on fades, the generic engine filters the singular direction."""
    system = load("lib:n-four-bar").compile()
    fast = forced(system)
    flat, still = np.zeros(len(system.coordinates)), np.zeros(system.n)
    assert fast.machine.evaluate(0.0, *[np.zeros(64).ctypes.data for _ in range(6)]) == 1
    assert np.array_equal(
        fast.accelerations(0.0, flat, still), system.accelerations(0.0, flat, still)
    )


def test_specialised_interface_matches_system():
    system = load("lib:regulator").compile()
    fast = system.specialise()
    assert (
        fast.coordinates == system.coordinates
        and fast.n == 4
        and fast.engine in ("specialised", "generic")
    )
    q, u = fast.start()
    loads = np.ones((2, 6))
    assert np.array_equal(
        fast.accelerations(0.0, q, u, loads=loads), system.accelerations(0.0, q, u, loads=loads)
    )
    assert np.array_equal(fast.mass_matrix(0.0, q), system.mass_matrix(0.0, q))
    result = fast.simulate(stop_time=0.1)
    assert result["gamma"][-1] == pytest.approx(
        system.simulate(stop_time=0.1)["gamma"][-1], rel=1e-12
    )  # other operations in the same steps
    with pytest.raises(ValueError, match="q has shape"):
        fast.accelerations(0.0, [0.0], u)
    with pytest.raises(KeyError, match="not an input"):
        fast.accelerations(0.0, q, u, {"foo": 1.0})


def test_specialised_batch_matches_single_calls():
    """The compiled loop over rows; it stops at the first row that is not valid."""
    system = load("lib:double-pendulum").compile()
    machine = compiled(llvm_text(system.trace()))
    rng = np.random.default_rng(0)
    q, u, out, none = (
        rng.normal(size=(9, 2)),
        rng.normal(size=(9, 2)),
        np.zeros((9, 2)),
        np.zeros(1),
    )
    pointers = [each.ctypes.data for each in (q, u, none, none, none, out)]
    assert machine.many(9, 0.0, *pointers) == 9
    assert np.abs(out - system.accelerations_many(0.0, q, u)).max() <= 1e-12 * np.abs(out).max()
    q[5, 0] = 1e9
    assert machine.many(9, 0.0, *pointers) == 5


@pytest.mark.parametrize("name", ["regulator", "four-bar", "elasto-gap", "servo-law"])
def test_specialised_blocks_pass_all_values(name: str, monkeypatch):
    """The same code cut into blocks of a few operations, lanes included: numbers and conditions cross, results and watches fall into any block."""
    system = load(LAW if name == "servo-law" else f"lib:{name}").compile()
    right = forced(system)
    whole = right.accelerations_many(*given(system))
    monkeypatch.setattr(llvm_functions, "blocks", lambda order, needs: blocks(order, needs, 6, 0))
    cut = forced(system)
    found = cut.accelerations_many(*given(system))
    assert cut.machine.size != right.machine.size
    assert np.abs(found - whole).max() <= RELATIVE * max(1.0, np.abs(whole).max())
    t, q, u = (each[0] for each in given(system))
    one = cut.accelerations(t, q, u)
    assert np.abs(one - whole[0]).max() <= RELATIVE * max(1.0, np.abs(whole).max())


def given(system) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times and states, on the constraints of loops."""
    rng = np.random.default_rng(6)
    q, u = system.start()
    rows = [
        (q + rng.uniform(0.01, 0.05, q.size), u + rng.normal(0, 0.5, u.size)) for _ in range(11)
    ]
    rows = [system.project(0.0, *row) if system.compiled.loops else row for row in rows]
    return (
        np.linspace(0.0, 1.0, 11),
        np.array([row[0] for row in rows]),
        np.array([row[1] for row in rows]),
    )


def test_block_slots_are_reused_safely():
    """A machine of blocks that forgets what it may: every value read is the one that was written for this item."""
    rng = np.random.default_rng(2)
    order = list(range(400))
    needs = {i: sorted({int(k) for k in rng.integers(0, i, 2)}) if i > 3 else [] for i in order}
    found, places = blocks(order, needs, 20, 0)
    assert len(found) > 10 and [i for block in found for i in block.items] == order
    kept: list[int | None] = [None] * places
    for block in found:
        known = {i: kept[k] for i, k in block.reads.items()}
        assert all(known[i] == i for i in known)
        inside = set(block.items)
        assert all(each in known or each in inside for i in block.items for each in needs[i])
        for i, k in block.writes.items():
            kept[k] = i


def test_large_mechanisms_stay_generic():
    fast = load("lib:chain", n=400).compile().specialise()
    assert fast.engine == "generic" and "too many" in fast.why


@pytest.mark.parametrize(
    "name", ["puma560", "chain6", "regulator", "mobile-robot", "elasto-gap", "servo-law"]
)
def test_straight_line_lanes_match_single_states(name: str):
    """Rows of states eight at a time, with rows that fill no block, inputs of their own, on threads: the generic engine's lanes within rounding."""
    system = load(LAW if name == "servo-law" else f"lib:{name}").compile()
    fast = forced(system)
    rng = np.random.default_rng(8)
    q, u = system.start()
    for count in (1, 13, 64):
        rows, speeds = (
            q + rng.uniform(0.05, 0.4, (count, q.size)),
            u + rng.normal(size=(count, u.size)),
        )
        inputs = {each: rng.normal(size=count) for each in system.compiled.inputs}
        right = system.accelerations_many(0.2, rows, speeds, inputs)
        for threads in (1, 3):
            found = fast.accelerations_many(0.2, rows, speeds, inputs, threads=threads)
            assert found.shape == right.shape
            assert np.abs(found - right).max() <= RELATIVE * max(1.0, np.abs(right).max())


def test_lanes_fall_back_and_check_names():
    """One row beyond the range of the sine: all are evaluated by the generic engine; extra forces always are."""
    system = load("lib:double-pendulum").compile()
    fast = forced(system)
    q, u = np.array([[0.1, 0.2], [1e9, 0.3]]), np.ones((2, 2))
    assert np.array_equal(fast.accelerations_many(0.0, q, u), system.accelerations_many(0.0, q, u))
    tau = np.ones(2)
    assert np.array_equal(
        fast.accelerations_many(0.0, q, u, tau=tau), system.accelerations_many(0.0, q, u, tau=tau)
    )
    with pytest.raises(KeyError, match="not an input"):
        fast.accelerations_many(0.0, q, u, {"foo": 1.0})
    assert fast.accelerations_many(0.0, np.zeros((0, 2)), np.zeros((0, 2))).shape == (0, 2)
