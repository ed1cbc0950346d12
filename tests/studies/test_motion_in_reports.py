"""What reports show of motions: before and after a search, drives of compared ways."""

import json
from pathlib import Path

import numpy as np
import pytest
from test_phase_measures import RUN, swing

from kinetree.models import load
from kinetree.scripts.studies.optimise import optimise
from kinetree.scripts.studies.optimise_file import read_task
from kinetree.scripts.studies.optimise_motion import (
    curve_section,
    curves,
    motion_section,
    run_at,
)
from kinetree.scripts.studies.stabilisation import Comparison
from kinetree.scripts.studies.stabilisation_drives import drive_section, shown_columns
from kinetree.scripts.terminal.error_messages import BadInput


def test_numbered_variables_are_plotted_as_curves():
    names = [f"pulse_{k}" for k in (10, 2, 1, 3)] + ["a1", "a2", "gain"]
    assert curves(names) == {
        "pulse_*": [(1, "pulse_1"), (2, "pulse_2"), (3, "pulse_3"), (10, "pulse_10")]
    }


def test_optimisation_report_shows_initial_and_final_motion(tmp_path: Path):
    mechanism = swing()
    mechanism["parameters"] |= {f"knot_{k}": 0.0 for k in range(4)}
    (tmp_path / "m.json").write_text(json.dumps(mechanism))
    run = "\n".join(f"{key} = {json.dumps(value)}" for key, value in RUN.items())
    path = tmp_path / "task.toml"
    path.write_text(
        'mechanism = "m.json"\n[optimize]\niterations = 2\n[optimize.variables]\n'
        'gain = { from = -2, to = 3, start = -1 }\n"knot_[0-3]" = { from = 0, to = 1, start = 0.5 }\n'
        f'[optimize.measures]\n"deviation(x, lap 2)" = 1.0\n[run]\n{run}\n'
    )
    task = read_task(path)
    found = optimise(task)
    at_start = run_at(task, {name: each.start for name, each in task.variables.items()})
    assert at_start["x"] == pytest.approx(load(mechanism).compile().simulate(**RUN)["x"])
    assert len(motion_section(task, found).pictures) == 1
    drawn = curve_section(task, found)
    assert drawn is not None and drawn.pictures


def test_drive_columns_are_reported_with_extremes():
    wanted = Comparison.model_validate(
        {"mechanism": "m", "hold": ["x"], "ways": {"a": {}, "b": {}}, "band": 1e-3,
         "show": ["x", "der(?)", "none_*"]}
    )  # fmt: skip
    runs = {
        way: load(swing()).compile(gain=gain).simulate(**RUN)
        for way, gain in (("a", 1.0), ("b", -1.0))
    }
    assert shown_columns(wanted, runs["a"]) == ["x", "der(x)"]
    section = drive_section(wanted, runs)
    assert section is not None and len(section.pictures) == 2
    low, high = np.min(runs["a"]["x"]), np.max(runs["a"]["x"])
    assert section.tables[0]["rows"][0][1] == f"{low:.4g} to {high:.4g}"
    missing = wanted.model_copy(update={"show": ["y"]})
    with pytest.raises(BadInput, match="no column 'y'"):
        shown_columns(missing, runs["a"])
    assert drive_section(wanted.model_copy(update={"show": []}), runs) is None
