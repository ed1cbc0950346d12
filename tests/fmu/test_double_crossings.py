"""Conditions that come true and false again within a step of a host that integrates: what a host sees of them, and what co-simulation does."""

from pathlib import Path

import pytest
from exchange_host import Exchange

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load

TURNS = {
    "format": "kinetree/1",
    "name": "turns",
    "gravity": [0, 0, 0],
    "parameters": {"turns": {"value": 0.0}},
    "bodies": {"m": {"mass": 1.0}},
    "joints": {
        "j": {"child": "m", "transforms": [{"shift": "x", "coordinate": "x", "speed": 1.0}]}
    },
    "events": {"turn": {"when": "sin(6.283185307179586*x) > 0.9", "set": {"turns": "turns + 1"}}},
}


@pytest.fixture(scope="module")
def packed(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("turns") / "turns.fmu"
    build_fmu(load(TURNS), path, "native", 2, platforms=["linux64"])
    return path


@pytest.mark.parametrize(("step", "seen"), [(0.05, 10), (0.5, 0)])
def test_double_crossing_within_a_host_step_is_left_to_the_host(
    step: float, seen: int, packed: Path, tmp_path: Path
):
    """The sine is above 0.9 for a seventh of a turn: a host that looks at the ends of steps alone has to keep them shorter than that."""
    host = Exchange(packed, tmp_path, step)
    host.advance(10.0)
    assert host.read("events") == seen


def test_own_event_search_counts_all_crossings_in_an_interval():
    assert load(TURNS).compile().simulate(10.0, output_step=10.0).statistics["events"] == 10
