"""Slopes of traced equations against the duals of the engine and against each other."""

import numpy as np
import pytest
from random_descriptions import random_description

from kinetree.models import load


@pytest.mark.parametrize("seed", range(3))
def test_traced_acceleration_derivatives_match_engine(seed: int):
    """The sweep back and the engine's duals differentiate the same operations: rounding times the condition."""
    rng = np.random.default_rng(seed)
    tree = random_description(rng, 4).description
    system = load(tree).compile()
    q, u = system.start()
    u = u + rng.normal(size=u.size)
    by_speeds = system.trace().gradient(system.speeds).evaluate(0.3, q, u)
    right = system.derivatives(0.3, q, u)
    scale = max(1.0, np.abs(right.u).max())
    assert np.abs(by_speeds - right.u).max() <= 1e-11 * scale


def test_traced_robot_derivatives_match_engine():
    system = load("lib:puma560").compile()
    q, u = system.start()
    u = u + 0.4
    inputs = system._fast.input_starts()
    trace = system.trace()
    slopes = trace.gradient()
    right = system.derivatives(0.1, q, u)
    found = slopes.evaluate(0.1, q, u, (), inputs)
    assert np.abs(found[:, :6] - right.q).max() <= 1e-11 * np.abs(right.q).max()
    assert np.abs(found[:, 6:12] - right.u).max() <= 1e-11 * max(1.0, np.abs(right.u).max())
    assert (
        slopes.operations < 12 * 2 * trace.operations
    )  # differences would take two evaluations a symbol, and be inexact


def test_traced_output_gradient_by_parameters_matches_differences():
    """Against central differences of compiled mechanisms: error h² of them."""
    slopes = (
        load("lib:regulator")
        .compile()
        .trace(parameters="symbols")
        .gradient(["m2", "k"], of="der(der(gamma))")
    )
    q, u = load("lib:regulator").compile().start()
    u, h = u + 0.3, 1e-5
    inputs = [4.0]
    found = slopes.evaluate(0.0, q, u, (), inputs)
    for k, (name, value) in enumerate((("m2", 1.5), ("k", 40.0))):
        sides = [
            load("lib:regulator")
            .compile(**{name: value + s * h})
            .accelerations(0.0, q, u, {"omega0": 4.0})[0]
            for s in (1, -1)
        ]
        assert found[0, k] == pytest.approx((sides[0] - sides[1]) / (2 * h), rel=1e-6)


def test_traced_derivatives_refuse_unknown_names():
    trace = load("lib:double-pendulum").compile().trace()
    with pytest.raises(KeyError, match="unknown: foo"):
        trace.gradient("foo")
    with pytest.raises(ValueError, match="symbols"):
        trace.gradient("m1")
