"""A system as a value that many may ask: threads, quick calls, what is not a state."""

import threading

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.engine.flat_blocks import GROUPS, model_fields, with_groups, work_sizes
from kinetree.models.system.local_coordinates import Chart
from kinetree.solvers import layout as L
from kinetree.solvers.fields import AT_WORK
from kinetree.solvers.model_records import HEADER


@pytest.fixture(scope="module")
def system():
    return load("lib:five-link").compile()


def states(system, count, seed=0):
    rng = np.random.default_rng(seed)
    q, u = system.start()
    return [(q + 0.3 * rng.normal(size=q.size), u + rng.normal(size=u.size)) for _ in range(count)]


def test_threads_use_separate_workspaces(system):
    """Each of two threads gets, for its own thousand states, what a single one gets: no workspace is shared."""
    work = [states(system, 1000, seed) for seed in (1, 2)]
    serial = [[system.accelerations(0.0, q, u) for q, u in part] for part in work]
    masses = [system.mass_matrix(0.0, part[0][0]) for part in work]
    found: dict[int, list] = {}

    def ask(k: int) -> None:
        found[k] = [system.accelerations(0.0, q, u) for q, u in work[k]]
        assert (system.mass_matrix(0.0, work[k][0][0]) == masses[k]).all()
        assert (system.accelerations(0.0, *work[k][0], method="CBM") == one_by_cbm[k]).all()

    one_by_cbm = [system.accelerations(0.0, *part[0], method="CBM") for part in work]
    threads = [threading.Thread(target=ask, args=(k,)) for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((np.array(found[k]) == np.array(serial[k])).all() for k in range(2))


def test_evaluator_writes_what_accelerations_returns(system):
    evaluate, udot = system.evaluator(), np.empty(system.n)
    for q, u in states(system, 5):
        evaluate(0.0, q, u, udot)
        assert (udot == system.accelerations(0.0, q, u)).all()
        assert (
            udot == system.accelerations(0.0, q, u, loads=np.zeros((len(system.bodies), 6)))
        ).all()


def test_evaluator_keeps_its_own_state(system):
    """What others ask in between, with loads and forces, does not reach it, nor the quick way of the system itself."""
    (q, u), (other, _) = states(system, 2)
    evaluate, udot = system.evaluator(), np.empty(system.n)
    expected = system.accelerations(0.0, q, u)
    system.accelerations(
        0.0, other, u, loads=np.ones((len(system.bodies), 6)), tau=np.ones(system.n)
    )
    evaluate(0.0, q, u, udot)
    assert (udot == expected).all()
    assert (system.accelerations(0.0, q, u) == expected).all()


@pytest.mark.parametrize("ask", ["accelerations", "evaluator"])
def test_invalid_states_are_refused(system, ask):
    q, u = system.start()
    call = (
        system.accelerations
        if ask == "accelerations"
        else lambda t, q, u: system.evaluator()(t, q, u, np.empty(system.n))
    )
    for bad, word in (
        (np.full(q.size, np.nan), "finite"),
        (np.full(q.size, np.inf), "finite"),
        (q[:-1], "shape"),
        ("state", "could not convert|invalid|shape"),
    ):
        with pytest.raises((ValueError, TypeError), match=word):
            call(0.0, bad, u)
        with pytest.raises((ValueError, TypeError), match=word):
            call(0.0, q, bad)


def test_states_of_forces_and_inputs_have_their_start_values():
    """The quick way is for mechanisms without inputs; first-order states stand at their starts."""
    text = {
        "format": "kinetree/1",
        "bodies": {"a": {"mass": 2.0, "inertia": [1, 1, 1, 0, 0, 0]}},
        "joints": {"j": {"child": "a", "type": "prismatic", "axis": "x", "coordinates": ["x"]}},
        "states": {"s": {"rate": "-s", "start": 3.0}},
        "forces": {"f": {"coordinate": "x", "value": "s"}},
    }
    system = load(text).compile()
    assert system.accelerations(0.0, [0.0], [0.0]) == pytest.approx([1.5])
    system._fast.ws.x[:] = 100.0
    assert system.accelerations(0.0, [0.0], [0.0]) == pytest.approx([1.5])
    udot = np.empty(1)
    system.evaluator()(0.0, np.zeros(1), np.zeros(1), udot)
    assert udot == pytest.approx([1.5])
    text["inputs"] = {"pull": {"start": 4.0}}
    text["forces"]["g"] = {"coordinate": "x", "value": "pull"}
    assert load(text).compile().accelerations(0.0, [0.0], [0.0]) == pytest.approx([3.5])


def test_local_coordinates_reproduce_the_position():
    """About any position of a free and a spherical joint: what `local` says, `moved` reaches, up to the sign of a quaternion."""
    body = {"mass": 2.0, "inertia": [0.1, 0.2, 0.25, 0, 0, 0]}
    joints = {
        "j": {"child": "a", "type": "free"},
        "k": {"parent": "a", "child": "b", "type": "spherical", "at": [1, 0, 0]},
    }
    free = load(
        {"format": "kinetree/1", "bodies": {"a": body, "b": body}, "joints": joints}
    ).compile()
    draw = np.random.default_rng(0)
    for _ in range(20):
        begin, end = draw.normal(size=(2, 11))
        for q in (begin, end):
            q[3:7] /= np.linalg.norm(q[3:7])
            q[7:] /= np.linalg.norm(q[7:])
        chart = Chart(free, 0.0, begin)
        reached = chart.moved(begin, chart.local(end))
        assert reached[:3] == pytest.approx(end[:3], abs=1e-13)
        for part in (slice(3, 7), slice(7, 11)):
            assert abs(reached[part] @ end[part]) == pytest.approx(1.0, abs=1e-13)


def test_workspace_groups_change_layout_only():
    """Without any group it is the model itself; with some, fields follow one another from the beginning on and the size is where they end."""
    c = load("lib:four-bar").compile().compiled
    assert np.array_equal(with_groups(c.ints, c.counts, frozenset()), c.ints)
    count = len(L.WORK) + 1
    for groups in (frozenset({"literal"}), frozenset(("literal", *GROUPS))):
        block = with_groups(c.ints, c.counts, groups)
        directory = block[AT_WORK : AT_WORK + count]
        assert directory[0] == 0 and np.array_equal(
            np.diff(directory), work_sizes(c.counts, groups)
        )
        assert HEADER.of(block).work_size == directory[-1] > HEADER.of(c.ints).work_size
        block[AT_WORK : AT_WORK + count] = c.ints[AT_WORK : AT_WORK + count]
        HEADER.of(block).work_size = HEADER.of(c.ints).work_size
        assert np.array_equal(block, c.ints)


@pytest.mark.parametrize("source", ["lib:regulator", "lib:five-link", "lib:andrews"])
def test_block_matrices_have_memory_for_their_last_row(source):
    """Where the last block ends is how much memory a matrix takes: one place less and it would run into what stands behind it."""
    c = load(source).compile().compiled
    model = model_fields(c.ints, c.floats)
    assert {name: c.counts[name] for name in ("nm", "nb", "nh")} == {
        "nm": model.m_at[-1],
        "nb": model.b_at[-1],
        "nh": model.h_at[-1],
    }
    for ends in (model.m_at, model.b_at, model.h_at):
        assert (np.diff(ends) >= 0).all() and ends[-1] > ends[-2]
