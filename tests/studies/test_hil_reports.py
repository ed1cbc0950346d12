"""What runs in the loop tell, from records made by hand, and what scenarios, partners and designs hold: every number of them."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from plant_stand_in import scenario

from kinetree.models.analysis.frequency_response import StateSpace
from kinetree.scripts.commands import hil
from kinetree.scripts.hil import report
from kinetree.scripts.hil.loop_run import Record
from kinetree.scripts.hil.scenario import Channel


def record_of(simulated: bool = False, **more: Any) -> Record:
    record = Record(scenario(), simulated)
    record.__dict__.update(more)
    return record


def test_percentiles_are_of_microseconds():
    """Of 0 to 1000 µs in steps of 1: the share itself, and the largest."""
    assert report.percentiles([k * 1e-6 for k in range(1001)]) == pytest.approx(
        [500.0, 990.0, 999.0, 1000.0]
    )
    assert report.percentiles([]) == []
    rows = report.times(record_of(computing=[1e-6], bare=[2e-6, 4e-6], gaps=[3e-6], trips=[5e-6]))
    assert [(name, row[0], row[3]) for name, *row in rows] == [
        ("computing of a step", pytest.approx(1.0), pytest.approx(1.0)),
        ("lateness of a loop that only waits", pytest.approx(3.0), pytest.approx(4.0)),
        ("taken from the loop while it waits", pytest.approx(3.0), pytest.approx(3.0)),
        ("round trip as seen at the next step", pytest.approx(5.0), pytest.approx(5.0)),
    ]


def test_hil_run_is_summarised_in_sentences():
    """Steps of 250 ms: what took as long as one is none that took longer."""
    record = record_of(
        rows=[(0.0, 0.0)] * 4, sent=5, received=3, lost=1, stale=2, ages=[0, 1, 2, 2], misses=2, notes=["a note"],
        computing=[0.25, 0.3, 0.1, 0.1], lateness=[0.25, 0.1, 0.26, 0.27], bare=[0.25, 0.2501, 0.0, 0.3, 0.4],
    )  # fmt: skip
    counted = "5 frames sent, 3 commands applied, 1 frames lost by injection, 2 steps without a new command (hold)"
    old = "loop delay: 1.25 steps on average, 2 at most"
    assert report.sentences(record) == [
        f"4 steps of 250 ms, against the wall clock; {counted}", old, "2 of 4 steps ended after their deadline",
        "of these 1 computed for longer than a step; 2 steps began a whole step late, as 3 of 5 did in the loop that only waits", "a note",
    ]  # fmt: skip
    record.misses = 0
    assert report.sentences(record)[2:] == ["0 of 4 steps ended after their deadline", "a note"]
    record.simulated, record.ages = True, []
    assert report.sentences(record) == [
        f"4 steps of 250 ms, simulated, bit for bit repeatable; {counted}",
        "a note",
    ]


def test_margins_are_of_a_single_loop(monkeypatch: pytest.MonkeyPatch):
    """An integrator under kp = 2: crosses at 2 rad/s with 90°, so that the delay margin is π/4 s less what the exchange takes.

    A sampled loop is half a step late, as it ran the age of its commands besides.
    """
    from kinetree import models
    from kinetree.models.analysis import operating_point

    plant = StateSpace(np.array([[0.0]]), np.array([[1.0]]), np.array([[1.0]]), np.array([[0.0]]))
    asked: list[Any] = []
    system = SimpleNamespace()
    mechanism = SimpleNamespace(
        description=SimpleNamespace(parameters={"mass": 1.0}),
        compile=lambda **given: (asked.append(given), system)[1],
    )
    small = SimpleNamespace(part=lambda ins, outs: (asked.append((ins, outs)), plant)[1])
    monkeypatch.setattr(models, "load", lambda source: mechanism)
    monkeypatch.setattr(
        operating_point,
        "linear_at_rest",
        lambda given, inputs, outputs: (asked.append((given, inputs, outputs)), small)[1],
    )
    record = record_of(ages=[0, 1, 2, 1])
    record.scenario.loops[0]["kp"] = 2.0
    record.scenario.values = {"mass": 2.5, "x": 1.0}
    rows = report.margin_rows(record)
    assert asked == [{"mass": 2.5}, (system, None, ["y"]), (["u"], ["y"])]
    assert [row[:3] for row in rows] == [
        ("continuous", 0.0, "stable"),
        ("sampled and held", 125.0, "stable"),
        ("as it ran", 375.0, "stable"),
    ]
    for row, late in zip(rows, (0.0, 0.125, 0.375), strict=True):
        assert row[5] == pytest.approx(1e3 * (np.pi / 4 - late), rel=1e-6) and row[
            4
        ] == pytest.approx(90.0 - np.degrees(2.0 * late), rel=1e-6)
    record.ages = []
    assert [row[1] for row in report.margin_rows(record)] == [0.0, 125.0, 125.0]
    record.ages = [5]
    assert report.margin_rows(record)[2][2] == "unstable"
    record.scenario.loops.append({})
    assert report.margin_rows(record) == []
    del record.scenario.loops[1]
    record.scenario.mechanism = None
    assert report.margin_rows(record) == []


def test_hil_page_contains_available_parts(monkeypatch: pytest.MonkeyPatch):
    """A picture of every column over the time; histograms in microseconds up to the last thousandth where times were taken; margins if any."""
    from kinetree.scripts.reports.study_page import Section

    drawn, written, late = [], [], [1e-6 * k for k in range(1001)]
    monkeypatch.setattr(
        Section, "picture", lambda section, figure, caption: (drawn.append(figure), section)[1]
    )
    monkeypatch.setattr(
        report,
        "write_page",
        lambda path, title, found, more: (written.append((title, found, more)), path)[1],
    )
    margin = [("continuous", 0.0, "stable", 2.0, 45.0, 10.0, 0.5)]
    for computing, margins, titles in (
        ([2.1e-7] * 9, margin, ["What happened", "How well it held", "Times", "Margins"]),
        ([], [], ["What happened", "How well it held"]),
    ):
        monkeypatch.setattr(report, "margin_rows", lambda record, margins=margins: margins)
        record = record_of(
            rows=[(1.0, 2.0), (3.0, 5.0)],
            time=[0.25, 0.5],
            computing=computing,
            lateness=late,
            bare=[1e-6] * 5,
        )
        assert report.write_report(record, Path("p.html")) == Path("p.html")
        title, found, more = written.pop()
        assert title == "Hardware in the loop: s" and [each.heading for each in found] == titles
        assert more == {
            "scenario": Path("s.toml"),
            "plant": "m",
            "channel": Channel(),
            "loops": record.scenario.loops,
        }
    columns, (computing, lateness), _ = (figure.axes for figure in drawn)
    assert [[(line.get_xdata().tolist(), line.get_ydata().tolist()) for line in each.lines] for each in columns] == [
        [([0.25, 0.5], [1.0, 3.0])], [([0.25, 0.5], [2.0, 5.0])]
    ]  # fmt: skip
    assert [(each.get_ylabel(), each.get_xlabel()) for each in columns] == [
        ("y", ""),
        ("u", "time [s]"),
    ]
    bars = computing.containers[0].patches
    assert (
        len(bars) == 60
        and bars[-1].get_x() + bars[-1].get_width() == pytest.approx(1.0)
        and computing.get_legend() is None
    )
    assert [bar.get_height() for bar in bars] == [9 * (k == 12) for k in range(60)], (
        "0.21 of 1 µs, the least that an axis shows"
    )
    assert (
        lateness.patches[59].get_x() + lateness.patches[59].get_width() == pytest.approx(999.0)
        and lateness.get_yscale() == "log"
    )
    assert [each.get_text() for each in lateness.get_legend().get_texts()] == [
        "plant",
        "only waiting",
    ]


def test_hil_rows_are_written_with_all_digits(tmp_path: Path):
    hil.keep(
        record_of(time=[0.1 + 0.2, 0.5], rows=[(1 / 3, -0.0), (2.0, 1e-300)]), tmp_path / "r.csv"
    )
    assert (tmp_path / "r.csv").read_text().split() == [
        "time,y,u",
        "0.30000000000000004,0.3333333333333333,-0.0",
        "0.5,2.0,1e-300",
    ]


def test_hil_report_lists_loop_deviation_and_settling():
    """Largest and last deviation from the setpoint, when it stays within a twentieth of the largest, and how often the command was at a limit."""
    loop = {"measure": "y", "command": "u", "setpoint": 1.0, "low": -2.0, "high": 5.0}
    record = record_of(time=[0.25 * k for k in range(1, 9)], units={"y": "rad", "u": "1"})
    record.scenario.loops[:] = [loop]
    record.rows = [
        (y, u) for y, u in zip((3, 2, 0.5, 1.2, 1.05, 1.0, 1.05, 1.02), [5, 5, -2, 1, 1, 1, 1, 1])
    ]
    ((name, goal, most, last, settled, limited),) = report.held_rows(record)
    assert (name, goal, most, settled, limited) == ("y [rad]", 1.0, 2.0, "1.25", 37.5)
    assert last == pytest.approx(0.02)
    record.rows[-1] = (3.0, 1.0)
    assert report.held_rows(record)[0][4] == "no"
    record.rows = []
    assert report.held_rows(record) == []
    record.scenario.loops[:] = []
    record.rows = [(1.0, 2.0)]
    assert report.held_rows(record) == []
