"""What a run prints at its end: columns with their extremes, what happened, what it cost; cut where it is long, and counted."""

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kinetree.models import load
from kinetree.scripts.reports import summary


class Told:
    """A result made by hand: columns in SI with their units."""

    def __init__(self, columns: dict[str, tuple[Any, str]], **more: Any):
        self.columns, self.time = columns, np.array([0.0, 0.5, 2.5])
        self.events, self.interrupted, self.statistics, self.stage_names = [], "", {}, ("",)
        self.options = None
        self.__dict__.update(more)

    def __getitem__(self, name: str) -> np.ndarray:
        return np.array(self.columns[name][0])

    def unit(self, name: str) -> str:
        return self.columns[name][1]


def printed(capsys: pytest.CaptureFixture) -> list[str]:
    return [
        line
        for line in (" ".join(line.split()) for line in capsys.readouterr().out.splitlines())
        if line
    ]


def machine(
    outputs: tuple[str, ...],
    coordinates: tuple[str, ...],
    controllers: tuple[str, ...] = (),
) -> Any:
    """A crane of sliding blocks, one for each coordinate, with outputs and controllers of these names."""
    plain = {"mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0]}
    moved = {
        name: {"child": f"block_{name}", "transforms": [{"shift": "x", "coordinate": name}]}
        for name in coordinates
    }
    law = {"measure": coordinates[0], "kp": 1.0, "kd": 1.0, "filter": 0.1, "drives": "push"}
    d: dict[str, Any] = {
        "name": "crane",
        "bodies": {f"block_{name}": plain for name in coordinates},
        "joints": {f"guide_{name}": joint for name, joint in moved.items()},
        "outputs": {name: {"value": coordinates[0]} for name in outputs},
    }
    if controllers:
        d["actuators"] = {"push": {"coordinate": coordinates[0]}}
        d["controllers"] = dict.fromkeys(controllers, law)
    return load(d).compile()


def event(
    time: float, cause: str | None, kind: str = "reset", stage: str = "", together: int = 1
) -> Any:
    return SimpleNamespace(time=time, cause=cause, kind=kind, stage=stage, together=together)


def test_summary_prints_start_end_and_extremes(capsys: pytest.CaptureFixture):
    """In units that fit; what is rounding beside the largest of a row is 0, what is not a number has no extremes, and 1 is no unit to read."""
    columns = {
        "f": ([1500.0, -4000.0, 2000.0], "N"), "x": ([1e-12, 0.25, 0.125], "m"), "ratio": ([1.0, math.nan, 0.5], "1"), "gone": ([math.nan] * 3, "m"),
        "small": ([2e-10, 1.0, 3e-9], "kg"),
    }  # fmt: skip
    summary.summary(machine(("f", "gone"), ("x", "ratio", "small")), Told(columns), [])
    assert printed(capsys) == [
        "crane: 2.5 s", "start end smallest largest", "f 1.5 2 -4 2 kN", "gone – – – – m",
        "x 0 0.125 0 0.25 m", "ratio 1 0.5 0.5 1", "small 0 3e-9 0 1 kg",
    ]  # fmt: skip
    summary.summary(
        machine(("f", "gone"), ("x",)),
        Told(columns, interrupted="by hand", statistics={"steps": 120.0, "seconds": 0.25}),
        [Path("a.csv")],
        ("f",),
    )
    assert printed(capsys) == [
        "crane: 2.5 s (interrupted)", "start end smallest largest", "f 1.5 2 -4 2 kN", "120 integration steps computed in 0.25 s", "written: a.csv"
    ]  # fmt: skip
    assert summary.extremes(Told(columns), "ratio") == {
        "start": 1.0,
        "end": 0.5,
        "smallest": 0.5,
        "largest": 1.0,
        "unit": "1",
    }


def test_summary_truncates_many_columns_and_events(capsys: pytest.CaptureFixture):
    for more in (0, 2):
        names = tuple(f"c{k}" for k in range(summary.COLUMNS + more))
        events = [event(0.1 * k, f"e{k}") for k in range(summary.EVENTS + more)]
        summary.summary(
            machine(names[:-1], names[-1:]),
            Told({name: ([0.0, 1.0, 2.0], "kg") for name in names}, events=events),
            [],
        )
        told = printed(capsys)
        assert told[1 + summary.COLUMNS] == f"c{summary.COLUMNS - 1} 0 2 0 2 kg"
        assert [line for line in told if "more" in line] == (
            ["... 2 more (--output writes all)", "... 2 more events"] if more else []
        )
        assert (
            sum(line.startswith("t = ") for line in told) == summary.EVENTS
            and f"t = 1.9 s: e{summary.EVENTS - 1}" in told
        )


def test_summary_lists_events_and_counts_samples(capsys: pytest.CaptureFixture):
    """A stage that begins, what came together, what has no cause; the samples of controllers are a number, but not what begins them."""
    events = [
        event(0.25, "event 'stop'", together=3), event(0.5, None, "stage", "lift", 2),
        event(0.75, "event 'hold.sample'"), event(1.0, "event 'hold.sample'"),
        event(0.0, "event 'hold.begin'"), event(1.25, "event 'holder'"),
    ]  # fmt: skip
    found = Told(
        {"x": ([0.0, 1.0, 2.0], "kg"), "stage": ([0.0, 0.0, 1.0], "1")},
        events=events,
        unreached=("lower",),
        stage_names=("take", "lift", "lower"),
    )
    summary.summary(machine((), ("x",), ("hold",)), found, [], ("x",))
    assert printed(capsys)[3:] == [
        "t = 0.25 s: event 'stop' and 2 more", "t = 0.5 s: stage and 1 more; 'lift' begins", "t = 1.25 s: event 'holder'",
        "2 instants of sampled controllers",
        "stage 'lower' was not reached: the run ended in stage 'lift'",
    ]  # fmt: skip
    summary.summary(machine((), ("x",)), found, [])
    assert sum(line.startswith("t = ") for line in printed(capsys)) == 6, (
        "without controllers everything is an event"
    )
