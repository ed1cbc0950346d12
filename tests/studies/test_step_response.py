"""Runs of tuned controllers to their setpoints: numbers of a step by hand, and what is proposed where it overshoots."""

from pathlib import Path

import numpy as np
import pytest

from kinetree.scripts.hil.scenario import read_scenario
from kinetree.scripts.studies.controller_design import design
from kinetree.scripts.studies.step_response import (
    Response,
    better,
    response_section,
    responses,
    smooth,
)

BOOM = """
mechanism = "lib:boom"
step = 0.002
stop_time = 2.0
[channel]
delay = 0.002
[tune]
phase = 45.0
[[loops]]
measure = "luff"
command = "lift.force"
setpoint = {goal}
low = 0.0
high = {high}
kp = 1.0
ki = 1.0
kd = 1.0
"""


def tuned(folder: Path, high: str, goal: float = 0.55):
    path = folder / "boom.toml"
    path.write_text(BOOM.format(high=high, goal=goal))
    return design(read_scenario(path))


def step(goal: float | None = 2.0) -> Response:
    """From 1 to 2, up to 2.3 at 3 s, with the command at its limit for two of five seconds."""
    time = np.arange(6.0)
    values = np.array([1.0, 1.5, 1.95, 2.3, 2.02, 2.01])
    command = np.array([0.0, 1.0, 1.0, 0.5, 0.5, 0.5])
    return Response("l", "x", goal, time, values, 2.0 - values, command, -1.0, 1.0, ("m", "N"))


def test_step_response_values_match_hand_calculation():
    one = step()
    assert one.overshoot == pytest.approx(0.3) and one.rise == 1.0 and one.settled == 4.0
    assert one.limited == pytest.approx(0.4)
    for word in ("30 %", "4 s", "40 %", "2 m"):
        assert word in one.sentence()
    law = step(None)
    assert law.step == 0.0 and np.isnan(law.overshoot) and "at most 1 m" in law.sentence()
    short = step(3.0)
    assert short.overshoot == 0.0 and np.isnan(short.rise)
    begin, end = (eval(smooth(one, 0.5), vars(np) | {"min": min, "t": t}) for t in (0.0, 0.6))  # noqa: S307
    assert (begin, end) == pytest.approx((1.0, 2.0))


def test_linear_step_response_agrees_with_run_within_limits(tmp_path: Path):
    found = tuned(tmp_path, "1e6")
    found.blocks["pid"]["lift_control"]["low"] = -1e6
    found.loops[0][0]["low"] = -1e6
    (one,) = responses(found)
    assert one.values[0] == pytest.approx(0.5) and one.values[-1] == pytest.approx(0.55, abs=1e-5)
    assert one.limited == 0.0 and 0.0 < one.overshoot < 1.0 and one.units == ("rad", "N")
    section = response_section([one], ["a remark"])
    assert section.pictures and section.tables and "a remark" in section.texts


@pytest.mark.slow
def test_large_overshoot_is_reported_with_alternative(tmp_path: Path):
    found = tuned(tmp_path, "8e3", 0.785)
    made = responses(found)
    assert made[0].overshoot > 0.4 and made[0].limited > 0.01
    lines = better(found, made)
    assert "limit" in lines[0] and any("tune.setpoints" in line for line in lines[1:])
    assert better(found, []) == []
