"""Calls from Python at the price of a call: plain arrays go straight to the engine, and nothing else is taken for one."""

import platform
import sys

import numpy as np
import pytest
from work_counted import calls

from kinetree.models import load
from kinetree.models.engine import fastcall_shim as direct
from kinetree.models.engine.entry_points import kind
from kinetree.models.engine.instance import OFTEN

ADDRESSES = kind() == "library" and direct.known_layout()


@pytest.fixture(scope="module")
def boom():
    """A mechanism with inputs and first-order states, asked so often that the direct way is made."""
    system = load("lib:boom").compile()
    q, u = system.start()
    for _ in range(OFTEN + 1):
        system.accelerations(0.0, q, u)
    assert (system._fast._direct is not None) == ADDRESSES
    return system


def state(system, seed=1):
    rng = np.random.default_rng(seed)
    q, u = system.start()
    return q + 0.1 * rng.standard_normal(q.size), u + rng.standard_normal(u.size)


def by_the_long_way(system, t, q, u, **rest):
    instance = system._fast
    instance.set_state(q, u, rest.get("inputs"), None, rest.get("tau"))
    instance.call("accelerations", 0, t)
    return instance.ws.udot.copy()


def test_cpython_object_layout_is_supported():
    """CPython of 64 bits with its lock: what is read at the places is what Python says of the same objects."""
    common = (
        platform.python_implementation() == "CPython"
        and sys.maxsize > 2**62
        and not hasattr(sys, "getobjects")
    )
    assert direct.known_layout() == (common and getattr(sys, "_is_gil_enabled", lambda: True)())


def test_any_number_type_gives_same_result(boom):
    """Lists, whole times, other types of numbers, strides and arrays that are only read: what is no plain array is made one."""
    q, u = state(boom)
    expected = by_the_long_way(boom, 0.0, q, u)
    frozen = q.copy()
    frozen.flags.writeable = False
    strided = np.repeat(q, 2)[::2]
    for each in (
        q,
        list(q),
        tuple(q),
        frozen,
        strided,
        q.astype(object),
        q.astype(">f8"),
        q.view(np.matrix).A1,
        q.astype(np.longdouble),
    ):
        for t in (0.0, 0, np.float64(0.0), False):
            assert (boom.accelerations(t, each, u) == expected).all()
    short = q.astype(np.float32)
    assert (
        boom.accelerations(0.0, short, u) == by_the_long_way(boom, 0.0, short.astype(float), u)
    ).all()


def test_direct_call_uses_its_inputs_and_forces(boom):
    """What one call is given is gone in the next."""
    q, u = state(boom)
    plain = by_the_long_way(boom, 0.0, q, u)
    name = boom.compiled.inputs[0]
    tau = np.linspace(-50.0, 80.0, boom.n)
    given = {name: 0.7 * (1.0 + abs(boom._fast.input_starts()[0]))}
    expected = by_the_long_way(boom, 0.0, q, u, inputs=given, tau=tau)
    assert (expected != plain).any()
    for _ in range(2):
        assert (boom.accelerations(0.0, q, u, given, tau=tau) == expected).all()
        assert (boom.accelerations(0.0, q, u) == plain).all()
        assert (
            boom.accelerations(0.0, q, u, tau=tau) == by_the_long_way(boom, 0.0, q, u, tau=tau)
        ).all()
    with pytest.raises(KeyError, match="is not an input"):
        boom.accelerations(0.0, q, u, {"nothing": 1.0})
    with pytest.raises(ValueError, match="tau has shape"):
        boom.accelerations(0.0, q, u, tau=tau[:-1])
    assert (boom.accelerations(0.0, q, u) == plain).all()


@pytest.mark.parametrize(
    "bad, word",
    [(np.nan, "finite"), (np.inf, "finite"), (None, "shape"), ("text", "could not convert")],
)
def test_direct_call_refuses_invalid_states(boom, bad, word):
    q, u = state(boom)
    wrong = q[:-1] if bad is None else "text" if bad == "text" else np.full(q.size, bad)
    with pytest.raises((ValueError, TypeError), match=word):
        boom.accelerations(0.0, wrong, u)
    with pytest.raises((ValueError, TypeError), match="finite|shape|could not"):
        boom.accelerations(0.0, q, np.full(u.size + (bad is None), np.nan))


def test_direct_call_results_belong_to_the_caller(boom):
    q, u = state(boom)
    first = boom.accelerations(0.0, q, u)
    kept = first.copy()
    boom.accelerations(0.0, *state(boom, 2))
    assert (first == kept).all()


def test_fast_call_leaks_no_references(boom):
    """Counts of references stay: a call that forgot one would crash after days, one that kept some would eat memory."""
    q, u = state(boom)
    udot, evaluate = np.empty(boom.n), boom.evaluator()
    counted = (q, u, udot, None, False)
    before = [sys.getrefcount(each) for each in counted]
    for _ in range(1000):
        boom.accelerations(0.0, q, u)
        evaluate(0.0, q, u, udot)
        evaluate(0, q, u, udot)
    assert all(
        abs(sys.getrefcount(each) - count) < 100
        for each, count in zip(counted, before, strict=True)
    )


def test_direct_call_refuses_read_only_result_array(boom):
    q, u = state(boom)
    udot = np.empty(boom.n)
    udot.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        boom.evaluator()(0.0, q, u, udot)


@pytest.mark.skipif(
    not ADDRESSES, reason="kernels are compiled in this process, or objects have another layout"
)
def test_direct_calls_are_fast():
    """The direct way goes into the engine at once, with five calls of functions or two, where the first way takes dozens."""
    counting = calls(lambda: None) - 1
    system = load("lib:pendulum").compile()
    (q, u), udot, evaluate = system.start(), np.empty(1), system.evaluator()
    first = calls(system.accelerations, 0.0, q, u) - counting
    for _ in range(OFTEN + 1):
        system.accelerations(0.0, q, u)
    assert calls(system.accelerations, 0.0, q, u) - counting <= 5 < 30 < first
    assert calls(evaluate, 0.0, q, u, udot) - counting <= 2


def test_direct_call_does_not_reuse_forces_of_earlier_call():
    """2 kg under an input and a force along the speed, asked so often that the direct way takes over: what is left out is 0 again."""
    joint = {"child": "a", "transforms": [{"shift": "x", "coordinate": "x"}]}
    d = {
        "format": "kinetree/1", "bodies": {"a": {"mass": 2.0}}, "joints": {"J": joint}, "inputs": {"f": 1.0},
        "forces": {"push": {"coordinate": "x", "value": "f"}},
    }  # fmt: skip
    system = load(d).compile()
    q, u = np.zeros(1), np.zeros(1)
    for _ in range(2 * OFTEN):
        for inputs, tau, expected in (
            ({"f": 3.0}, None, 1.5),
            ({"f": 3.0}, [4.0], 3.5),
            (None, None, 0.5),
            ({"f": 5.0}, None, 2.5),
        ):
            assert system.accelerations(0.0, q, u, inputs=inputs, tau=tau) == pytest.approx(
                [expected], rel=1e-15
            )
