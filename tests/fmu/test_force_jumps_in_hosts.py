"""Hosts with steps of fixed size that locate what indicators announce: laws that jump with the state are followed as exactly as smooth ones."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from exchange_host import Exchange

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load

STEP = 1e-3  # s, a tenth of the time in which a ball of lib:elastic-ball touches


@pytest.fixture(scope="module")
def packed(tmp_path_factory) -> Callable[[str | dict], Path]:
    """Archives by mechanism, packed once."""
    folder, known = tmp_path_factory.mktemp("jumps"), {}

    def of(mechanism: str | dict) -> Path:
        key = str(mechanism)
        if key not in known:
            known[key] = folder / f"{len(known)}.fmu"
            build_fmu(load(mechanism), known[key], "native", 2, platforms=["linux64"])
        return known[key]

    return of


def line(**more) -> dict:
    """A unit mass on a line, from x = 1 at rest."""
    return {
        "format": "kinetree/1",
        "name": "line",
        "gravity": [0, 0, 0],
        "bodies": {"m": {"mass": 1.0}},
        "joints": {
            "j": {"child": "m", "transforms": [{"shift": "x", "coordinate": "x", "start": 1.0}]}
        },
        **more,
    }


def test_damped_touch_and_release_are_located(packed: Callable, tmp_path: Path):
    """Two bounces: touch and release of each are instants at which signs change; nothing is an event of the mechanism."""
    host = Exchange(packed("lib:elastic-ball"), tmp_path, STEP)
    reference = load("lib:elastic-ball").compile().simulate(1.3, output_step=1.3, tolerance=1e-10)
    host.advance(1.3)
    assert len(host.stops) == 4 and host.read("events") == 0
    assert host.read("h") == pytest.approx(reference["h"][-1], abs=1e-3)
    assert host.read("der(h)") == pytest.approx(reference["der(h)"][-1], abs=4e-3)


def test_force_law_keeps_its_side_until_jump_is_located(packed: Callable, tmp_path: Path):
    """Within 1e-9 m: the last stage of a step that ends at the touch belongs to the flight, the first one behind it to the contact."""
    host = Exchange(packed("lib:elastic-ball"), tmp_path, STEP)
    names = ("h", "der(h)")

    def push(h: float, speed: float) -> float:
        values = dict(zip(names, (h, speed), strict=True))
        y = np.array([values[name] for name in order])
        return host.slopes(host.time, y)[order.index("der(h)")] + 9.81

    order = ["h", "der(h)"] if host.y[0] == pytest.approx(1.0) else ["der(h)", "h"]
    assert push(1e-10, -4.0) == push(-1e-10, -4.0) == pytest.approx(0.0, abs=1e-12)
    assert push(-1e-6, -4.0) > 100.0  # far beyond it the law is what it is
    host.advance(0.451523641)  # the touch is at sqrt(2/9.81)
    assert host.stops and host.y[order.index("h")] == pytest.approx(0.0, abs=1e-8)
    assert push(-1e-10, -4.0) > 100.0 and push(1e-10, -4.0) > 100.0
    assert push(1e-6, -4.0) == pytest.approx(0.0, abs=1e-12)


def test_jumps_are_located_in_both_directions(packed: Callable, tmp_path: Path):
    """x'' = -2 sign(x) from 1 at rest crosses at 1, 3, 5 s; the last stage of each step up to there is beyond."""
    host = Exchange(
        packed(line(forces={"f": {"coordinate": "x", "value": "-2*sign(x)"}})), tmp_path, 0.04
    )
    host.advance(6.0)
    assert host.stops == pytest.approx([1.0, 3.0, 5.0], abs=0.1)
    assert host.read("events") == 0


def test_state_resting_on_a_jump_causes_no_events(packed: Callable, tmp_path: Path):
    """Dry friction of a body that does not move: its indicator keeps its sign, whatever roundings do."""
    law = {"f": {"coordinate": "x", "value": "-3*sign(der(x))"}}
    host = Exchange(packed(line(forces=law)), tmp_path, 0.05)
    host.advance(1.0)
    assert host.stops == [] and host.y == pytest.approx([1.0, 0.0])
