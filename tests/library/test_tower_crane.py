"""The tower crane: its rope in two falls against statics, kinematics of tackles and the pendulum."""

import math

import numpy as np
import pytest

from kinetree.models import load


def still(**settings):
    """The crane with all drives at rest."""
    system = load("lib:tower-crane").compile(**settings)
    return system, {"hoist": 0.0, "travel": 0.0, "slew": 0.0}


def test_both_rope_falls_carry_half_the_load_at_equilibrium():
    system, inputs = still()
    result = system.simulate(stop_time=1.0, output_step=0.5, inputs=inputs)
    half = (4000 + 150) * 9.81 / 2
    assert result["dead_end"] == pytest.approx(half, rel=1e-6)
    assert result["at_drum"] == pytest.approx(half, rel=1e-6)
    assert result["load_speed"] == pytest.approx(0.0, abs=1e-6)


def test_load_rises_at_half_rope_speed_with_sheave_friction():
    system, inputs = still(friction=0.02)
    result = system.simulate(stop_time=12.0, output_step=0.05, inputs=inputs | {"hoist": 0.5})
    late = np.asarray(result.time) > 10.0
    rope = 0.3 * np.asarray(result["der(drum_angle)"])[late].mean()
    assert np.asarray(result["load_speed"])[late].mean() == pytest.approx(rope / 2, rel=2e-3)
    ratio = (np.asarray(result["at_drum"]) / np.asarray(result["dead_end"]))[late]
    # half a turn at the block, a quarter at the trolley; the fall of the dead end does not move
    assert ratio.mean() == pytest.approx(math.exp(0.02 * 1.5 * math.pi), rel=1e-3)


def test_load_keeps_its_height_while_trolley_travels():
    system, inputs = still(friction=0.0)
    result = system.simulate(stop_time=10.0, output_step=0.1, inputs=inputs | {"travel": 0.3})
    assert np.ptp(result["radius"]) > 2.0
    # what is left is the rise of the swinging load and the give of the drum's speed control
    assert np.ptp(result["load_height"]) < 0.06


def test_load_swings_with_period_of_rope_length():
    """Two parallel falls of 30 m and the drop from the trolley: 2 pi sqrt(l/g)."""
    system, inputs = still()
    result = system.simulate(stop_time=40.0, output_step=0.02, inputs=inputs | {"travel": 0.05})
    t, x = np.asarray(result.time), np.asarray(result["swing_x"])
    late = t > 8.0
    x, t = x[late] - x[late].mean(), t[late]
    crossings = t[:-1][(x[:-1] < 0) & (x[1:] >= 0)]
    assert len(crossings) >= 2
    period = np.diff(crossings).mean()
    assert period == pytest.approx(2 * math.pi * math.sqrt(30.0 / 9.81), rel=0.02)
