"""Simulated runs in the loop over a plant made by hand: which command acts in which step, and what is counted."""

import random
from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from plant_stand_in import BEGUN, STEP, Plant, commands, scenario

from kinetree.scripts.hil import loop_run as loop
from kinetree.scripts.hil.loop_run import Arrivals, Injected, simulate
from kinetree.scripts.hil.packet import Frame
from kinetree.scripts.hil.scenario import Channel


@pytest.fixture
def plants(monkeypatch: pytest.MonkeyPatch) -> None:
    """The partner answers measures of step k by 10 k + 1."""
    answering = SimpleNamespace(answer=lambda time, values: (10.0 * time / STEP + 1.0,))
    monkeypatch.setattr(loop, "plant_of", Plant)
    monkeypatch.setattr(loop, "controller_of", lambda text: nullcontext(answering))


@pytest.mark.parametrize(
    ("delay", "ages", "acting"),
    [
        (0.0, [0, 0, 0, 0, 0, 0], [1, 11, 21, 31, 41, 51]),
        (0.125, [0, 1, 1, 1, 1, 1], [BEGUN, 1, 11, 21, 31, 41]),
        (0.25, [0, 1, 2, 2, 2, 2], [BEGUN, BEGUN, 1, 11, 21, 31]),
        (0.3, [0, 1, 2, 3, 3, 3], [BEGUN] * 3 + [1, 11, 21]),
    ],
)
def test_simulated_delay_ages_commands_by_whole_steps(
    plants: None, delay: float, ages: list[int], acting: list[float]
):
    """Both ways take it, whenever between steps the partner is reached; what has come is looked at when a step begins."""
    told: list[float] = []
    record = simulate(scenario(delay=delay), told.append)
    fresh = len([k for k in range(6) if acting[k] != BEGUN])
    assert record.ages == ages and commands(record) == acting
    assert (record.sent, record.received, record.lost, record.stale) == (
        7,
        fresh,
        0,
        6 - fresh - (acting[0] == BEGUN),
    )
    assert (
        record.time == told == [STEP * k for k in range(1, 7)]
        and record.simulated
        and not record.notes
    )
    assert [row[0] for row in record.rows] == [
        sum(acting[: k + 1]) for k in range(6)
    ] and record.columns == ["y", "u"]


@pytest.mark.parametrize(
    ("late", "acting", "ages", "given"),
    [
        ("hold", [1, 1, 21, 31, 31, 31], [0, 1, 0, 0, 1, 2], [1, 21, 31]),
        ("zero", [1, 0, 21, 31, 0, 0], [0, 1, 0, 0, 1, 2], [1, 0, 21, 31, 0, 0]),
        ("stop", [1], [0, 1], [1]),
    ],
)
def test_lost_commands_are_held_zeroed_or_stop(
    plants: None,
    monkeypatch: pytest.MonkeyPatch,
    late: str,
    acting: list[float],
    ages: list[int],
    given: list[float],
):
    """Measures of step 1 and the answer to step 4 are lost, and measures of step 5: ways are drawn as frames set out."""
    ways = iter([0.0, 0.0, None, 0.0, 0.0, 0.0, 0.0, 0.0, None, None, 0.0, 0.0])
    plant: list[Plant] = []
    monkeypatch.setattr(loop, "Injected", lambda channel: SimpleNamespace(way=lambda: next(ways)))
    monkeypatch.setattr(loop, "plant_of", lambda given: plant.append(Plant()) or plant[0])
    record = simulate(scenario(late))
    assert commands(record) == acting and record.ages == ages and plant[0].commands == given
    whole = len(acting) == 6
    assert (record.sent, record.received, record.lost, record.stale) == (
        (7, 3, 3, 3) if whole else (2, 1, 1, 1)
    )
    assert record.notes == ([] if whole else ["stopped at step 1: its command had not come"])


@pytest.mark.parametrize("late", ["hold", "zero", "stop"])
def test_late_command_rule_starts_after_first_command(
    plants: None, monkeypatch: pytest.MonkeyPatch, late: str
):
    """The plant keeps what it began with until anything comes."""
    ways = iter([None, None, 0.0, 0.0, *[0.0] * 20])
    monkeypatch.setattr(loop, "Injected", lambda channel: SimpleNamespace(way=lambda: next(ways)))
    record = simulate(scenario(late))
    assert commands(record) == [BEGUN, BEGUN, 21, 31, 41, 51] and record.ages == [0, 1, 0, 0, 0, 0]
    assert (record.lost, record.stale, record.received) == (2, 1, 4) and not record.notes


def test_injected_faults_are_reproducible():
    """Whether a frame is lost, then its jitter, each where there is any: the same seed gives the same channel."""
    draw = random.Random(5)
    found = Injected(Channel(delay=0.5, jitter=0.25, loss=0.4, seed=5))
    for _ in range(20):
        lost, jitter = draw.random() < 0.4, draw.random()
        assert found.way() == (None if lost else 0.5 + 0.25 * jitter)
    draw, found = random.Random(3), Injected(Channel(jitter=0.25, seed=3))
    assert [found.way() for _ in range(3)] == [0.25 * draw.random() for _ in range(3)]
    draw, found = random.Random(3), Injected(Channel(delay=1.0, loss=0.5, seed=3))
    assert [found.way() for _ in range(9)] == [
        None if draw.random() < 0.5 else 1.0 for _ in range(9)
    ]


def test_newest_command_counts_once():
    arrivals = Arrivals()
    for at, sequence, value in ((0.5, 0, 0.0), (0.25, 1, 1.0), (0.75, 2, 2.0), (0.75, 2, 9.0)):
        arrivals.put(at, Frame(sequence, 0.0, (value,)))
    assert arrivals.take(0.5) == (1, (1.0,)) and arrivals.take(0.7) is None
    assert arrivals.take(0.75) == (2, (2.0,)) and arrivals.take(9.0) is None
