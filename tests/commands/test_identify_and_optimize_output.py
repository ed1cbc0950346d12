"""`kinetree identify` and `optimize`: what is handed on, written, drawn and printed, from results made by hand."""

import json
import math
import re
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kinetree.models.analysis import stabilisation_diagram
from kinetree.models.analysis.free_decay import Decay, DecayMode
from kinetree.scripts.commands import identify, optimize
from kinetree.scripts.reports.summary import text_table
from kinetree.scripts.studies import experiment_plans as planned
from kinetree.scripts.studies.optimise import Found
from kinetree.scripts.studies.optimise_file import Task, Variable
from kinetree.scripts.terminal.error_messages import BadInput


def printed(capsys: pytest.CaptureFixture) -> list[str]:
    return [
        line
        for line in (" ".join(line.split()) for line in capsys.readouterr().out.splitlines())
        if line
    ]


def decay(*modes: DecayMode) -> Decay:
    time = np.array([0.0, 1.0, 2.0])
    return Decay(
        modes,
        np.zeros(2),
        np.ones(2),
        time,
        {"x": np.array([1.0, 0.0, -1.0])},
        {"x": np.array([1.0, 0.0, -1.0])},
        ("a [note]",),
    )


def test_free_decay_prints_modes_and_match(capsys: pytest.CaptureFixture, tmp_path: Path):
    """Amplitudes and phases of every channel; what is left is a part of 100; estimates where there are some. Units in heads are no markup."""
    mode = DecayMode(
        2.5, 0.75, {"x": 0.125, "y": 4.0}, {"x": -1.25, "y": 3.0}, 0.05, 0.02, 0.03, "short"
    )
    (fit,) = decay().fits
    identify.tell_decay(decay(mode), None, None, False, False)
    heads = (
        "frequency [Hz] ± 1σ decay [1/s] ± 1σ damping ratio half-life [s] left beside "
        "amplitude and phase [rad]"
    )
    told = printed(capsys)
    told[2] = re.sub(r" \(mean [\d.e-]+\)", "", told[2])
    row = f"2.5 0.05 0.75 0.02 {mode.damping:.4g} 0.9242 3 % x 0.125 at -1.25, y 4 at 3.00 short"
    assert told[:3] == ["Free decay", heads, row] and told[3:] == [
        "column rms left mean deviation correlation",
        "x 0 0 % 1.000000",
        "a [note]",
    ]
    estimate = SimpleNamespace(
        name="k",
        start=1.0,
        value=2.5,
        deviation=0.25,
        unit="N/m",
        note="",
        to_dict=lambda: {"value": 2.5},
    )

    class Matched(dict):
        estimates, notes = [estimate], ["matched"]

    machine: Any = SimpleNamespace(description=SimpleNamespace(name="arm"))
    identify.tell_decay(
        decay(mode), tmp_path / "o.json", None, False, False, machine, Matched(k=2.5)
    )  # type: ignore[arg-type]
    assert printed(capsys)[5:] == [
        "arm",
        "parameter start found ± 1σ",
        "k 1 2.5 0.25 N/m",
        "a [note]",
        "matched",
    ]
    identify.tell_decay(decay(mode), None, None, True, True, machine, Matched(k=2.5))  # type: ignore[arg-type]
    plain = json.loads(capsys.readouterr().out)
    assert (
        plain == json.loads((tmp_path / "o.json").read_text())
        and plain["parameters"] == {"k": 2.5}
        and plain["estimates"] == {"k": {"value": 2.5}}
    )
    assert (
        plain["modes"][0]["damping"] == mode.damping
        and plain["notes"] == ["a [note]", "matched"]
        and plain["columns"][0]["name"] == fit.name
    )
    identify.tell_decay(decay(mode), None, None, True, False)
    assert printed(capsys) == []


def test_identify_writes_requested_files(tmp_path: Path, capsys: pytest.CaptureFixture):
    drawn: list[Path] = []
    found: Any = SimpleNamespace(plot=drawn.append)
    for quiet, as_json, shown in (
        (False, False, True),
        (True, False, False),
        (False, True, False),
        (True, True, False),
    ):
        assert (
            identify.kept(found, {"a": 1}, tmp_path / "o.json", tmp_path / "p.png", quiet, as_json)
            is not None
        ) == shown
        assert bool(capsys.readouterr().out) == as_json
    assert drawn == [tmp_path / "p.png"] * 4 and json.loads((tmp_path / "o.json").read_text()) == {
        "a": 1
    }
    identify.kept(found, {}, None, None, True, False)
    assert len(drawn) == 4


def test_columns_of_a_record_are_chosen(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    data: Any = SimpleNamespace(time=[0.0], columns={"force": [1, 2], "way": [2, 4]})
    every = data.columns | {"still": [3, 3], "stage": [0, 1]}
    assert identify.channels_of(SimpleNamespace(columns=every), []) == data.columns
    assert identify.channels_of(data, ["way"]) == {"way": [2, 4]}
    with pytest.raises(BadInput, match="--columns forse: no such column; did you mean 'force'"):
        identify.channels_of(data, ["way", "forse"])
    assert identify.names_of(" a, b,,c ") == ["a", "b", "c"] and identify.names_of("") == []
    drawn: list[Any] = []
    found = SimpleNamespace(plot=drawn.append, lines=lambda: [(2.5, 0.0125, 7)], orders=[2, 4, 6])
    monkeypatch.setattr(
        stabilisation_diagram,
        "stabilisation_diagram",
        lambda time, channels: (drawn.append((time, channels)), found)[1],
    )
    identify.draw_diagram(data, ["way"], Path("d.png"))
    assert drawn == [([0.0], {"way": [2, 4]}), Path("d.png")] and printed(capsys) == [
        "stable: 2.5 Hz, damping ratio 0.0125, in 7 of 3 orders"
    ]
    identify.draw_diagram(data, [], Path("d.png"))


def test_identify_passes_all_options(monkeypatch: pytest.MonkeyPatch):
    from kinetree.models.analysis import identification
    from kinetree.scripts.terminal import progress

    asked: list[Any] = []
    said: list[Any] = []
    monkeypatch.setattr(
        progress, "progress", lambda *given: (said.append(given), nullcontext("told"))[1]
    )
    monkeypatch.setattr(
        identification, "identify", lambda *given, **more: asked.append((given, more))
    )
    records: Any = [SimpleNamespace(time=[0.0], columns={"x": [1.0]}, settings={"m": 2.0})]
    machine: Any = SimpleNamespace(description=SimpleNamespace(name="arm"))
    for robust, columns in ((False, []), (True, ["x"])):
        identify.fit(
            machine, records, ["k"], columns, {"k": (0.0, 1.0)}, {"u": 1.0}, robust, True, False
        )
        given, more = asked.pop()
        assert given == (machine, [{"time": [0.0], "x": [1.0]}], ["k"])
        assert more == {
            "settings": [{"m": 2.0}], "loss": "soft_l1" if robust else "linear", "progress": "told", "columns": columns or None,
            "bounds": {"k": (0.0, 1.0)}, "inputs": {"u": 1.0}, "suspects": False,
        }  # fmt: skip
    assert said == [("identify arm", 0.0, True, "runs")] * 2


def test_experiment_plan_is_printed_or_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture
):
    from kinetree import models

    shown: list[Any] = []
    monkeypatch.setattr(models, "load", lambda source, **settings: (source, settings))
    monkeypatch.setattr(planned, "told_by", lambda *given: {"told": [str(each) for each in given]})
    monkeypatch.setattr(planned, "show_plan", shown.append)
    told = {"told": ["('m', {'a': 1})", "e.toml", "['k']"]}
    for quiet, as_json in ((False, False), (True, False), (True, True), (False, True)):
        identify.plan(["m"], Path("e.toml"), ["k"], {"a": 1}, tmp_path / "o.json", quiet, as_json)
        out = capsys.readouterr().out
        assert (json.loads(out) == told) if as_json else not out
    assert shown == [told] and json.loads((tmp_path / "o.json").read_text()) == told
    for files, wanted in ((["m", "d"], ["k"]), ([], ["k"]), (["m"], [])):
        with pytest.raises(BadInput, match="--experiments: expected kinetree identify MODEL"):
            identify.plan(files, Path("e.toml"), wanted, {}, None, True, False)


def test_active_bounds_and_agreeing_starts_are_reported():
    """Within 1e-4 of the width, and of the objective."""
    bounded = Variable(1.0, 3.0, 2.0)
    near = 1e-4 * 2.0
    places = (1.0, 1.00019, 1.0 + near, 1.00021, 2.99979, 3.0 - near, 2.99981, 3.0)
    assert [optimize.at_bound(bounded, value)[7:12] for value in places] == [
        "lower",
        "lower",
        "",
        "",
        "",
        "",
        "upper",
        "upper",
    ]
    task: Any = SimpleNamespace(method="slsqp", orders=(), variables={"k": bounded})
    found = Found(
        {"k": 3.0},
        -2.0,
        {"a": 1.0},
        True,
        9,
        0.5,
        [],
        "done",
        [({}, value) for value in (-2.0, -2.00019, -1.99981, -2.00021, 2.0)],
    )
    assert optimize.notes(task, found) == [
        "objective -2 after 9 evaluations in 0.5 s (slsqp: done)",
        "3 of 5 starts ended there",
    ]
    assert optimize.variables(task, found) == [("k", 1.0, 3.0, 2.0, 3.0, "at its upper bound")]
    ((name, value, begin),) = optimize.measures(found)
    assert (name, value) == ("a", 1.0) and math.isnan(begin)
    found.starts, found.objective = [({}, 0.0)], 0.0
    assert len(optimize.notes(task, found)) == 1
    found.starts = [({}, 0.9e-16), ({}, 1.2e-16)]
    assert optimize.notes(task, found)[1] == "1 of 2 starts ended there"


def test_optimisation_page_shows_search(monkeypatch: pytest.MonkeyPatch):
    """Values, measures, the way there and where every start ended; a front as a picture and a table."""
    from kinetree.scripts.reports import study_page

    drawn, pages = [], []
    monkeypatch.setattr(
        study_page.Section,
        "picture",
        lambda section, figure, caption: (drawn.append((figure, caption)), section)[1],
    )
    monkeypatch.setattr(
        study_page,
        "write_page",
        lambda path, title, sections, more: pages.append((path, title, sections, more)),
    )
    front = [
        {"values": {"k": 2.0}, "measures": {"a": 0.5, "b": 8.0}},
        {"values": {"k": 3.0}, "measures": {"a": 0.25, "b": 9.0}},
    ]
    task = Task("lib:pendulum", {"k": Variable(1.0, 3.0, 2.0)}, {"a": 1.0, "b": 1.0}, {}, "slsqp")
    found = Found(
        {"k": 2.0},
        0.5,
        {"a": 0.5},
        True,
        3,
        0.5,
        [3.0, 2.0, 0.5],
        "done",
        [({"k": 2.0}, 0.5)],
        front=front,
    )
    optimize.tell(Path("f.toml"), task, found, Path("p.html"))
    found.front = []
    optimize.tell(Path("f.toml"), task, found, Path("p.html"))
    (path, title, sections, more), (_, _, fewer, _) = pages
    assert (path, title, more) == (
        Path("p.html"),
        "Optimisation of f",
        {"file": Path("f.toml"), "mechanism": "lib:pendulum"},
    )
    assert [each.heading for each in sections] == [
        "Found",
        "Motion before and after",
        "Pareto front",
        "Search",
    ] and [each.heading for each in fewer] == ["Found", "Motion before and after", "Search"]
    (line,) = (
        drawn[0][0].axes[0].lines if drawn[0][1].startswith("Best") else drawn[1][0].axes[0].lines
    )
    assert line.get_xdata().tolist() == [1, 2, 3] and line.get_ydata().tolist() == [3.0, 2.0, 0.5]
    (line,) = next(figure for figure, caption in drawn if caption == "a against b").axes[0].lines
    assert list(line.get_xdata()) == [8.0, 9.0] and list(line.get_ydata()) == [0.5, 0.25]


def test_table_text_is_left_and_numbers_right_aligned():
    assert [each.justify for each in text_table("", ("name", "value", ""), []).columns] == [
        "left",
        "right",
        "left",
    ]
    assert (
        text_table("", ("a",), []).title is None and text_table("[b]", ("a",), []).title == r"\[b]"
    )
