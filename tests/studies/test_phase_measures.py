"""Measures of stages and phases: in studies, searches and runs in the loop, against the rows of single runs."""

import json
from pathlib import Path

import numpy as np
import pytest

from kinetree.models import load
from kinetree.scripts.hil.loop_run import Record
from kinetree.scripts.hil.report import limit_rows, numbers
from kinetree.scripts.hil.scenario import read_scenario
from kinetree.scripts.measures.run_measures import measured, parsed, part_in
from kinetree.scripts.measures.run_parts import RunParts
from kinetree.scripts.studies.optimise import optimise
from kinetree.scripts.studies.optimise_file import read_task
from kinetree.scripts.studies.study import read_study
from kinetree.scripts.studies.study_rows import one_row
from kinetree.scripts.terminal.error_messages import BadInput

STAGES = [
    {"name": "wait", "ends": {"at": 0.3}},
    {"name": "push 1", "phase": "lap 1", "ends": {"after": 0.4}, "set": {"level": 2.0}},
    {"name": "swing 1", "phase": "lap 1", "ends": {"after": 0.5}, "set": {"level": 0.0}},
    {"name": "push 2", "phase": "lap 2", "ends": {"after": 0.4}, "set": {"level": "gain"}},
    {"name": "swing 2", "phase": "lap 2", "set": {"level": 0.0}},
]
RUN = {"stop_time": 2.4, "output_step": 0.02, "integrator": "rk4", "step": 0.01}


def swing() -> dict:
    """A mass on a spring that two pushes move, the second one by `gain`."""
    return {
        "format": "kinetree/1",
        "name": "swing",
        "gravity": [0, 0, 0],
        "parameters": {"level": 0.0, "gain": -1.0, "stiffness": 30.0},
        "bodies": {"m": {"mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0]}},
        "joints": {"j": {"child": "m", "transforms": [{"shift": "x", "coordinate": "x"}]}},
        "forces": {
            "spring": {"coordinate": "x", "stiffness": "stiffness", "damping": 1.0},
            "push": {"coordinate": "x", "value": "level"},
        },
        "stages": STAGES,
    }


def file(folder: Path, text: str) -> Path:
    (folder / "m.json").write_text(json.dumps(swing()))
    path = folder / "wanted.toml"
    run = "\n".join(f"{key} = {json.dumps(value)}" for key, value in RUN.items())
    path.write_text(f'mechanism = "m.json"\n{text}\n[run]\n{run}\n')
    return path


def test_measures_are_split_into_column_and_part():
    assert parsed("max(x[1,2], lap 1)") == ("max", "x[1,2]")
    assert part_in("max(x[1,2], lap 1)") == "lap 1" and part_in("max(der(x))") == ""
    with pytest.raises(ValueError, match="rest"):
        parsed("rest(x, lap 1)")
    with pytest.raises(ValueError, match="not known"):
        measured("max(x, lap 1)", np.zeros(2), {"x": np.zeros(2)}, lambda: None)  # type: ignore[arg-type, return-value]


def test_patterns_match_phases_before_stages():
    parts = RunParts.of(load(swing()).compile())
    assert parts.numbers("lap*") == [1, 2, 3, 4] and parts.numbers("lap 2") == [3, 4]
    assert parts.numbers("push ?") == [1, 3] and parts.numbers("wait") == [0]
    assert parts.expanded(["max(x, each lap*)", "growth"]) == [
        "max(x, lap 1)",
        "max(x, lap 2)",
        "growth",
    ]
    with pytest.raises(BadInput, match="lap 1"):
        parts.expanded(["max(x, lap1)"])


def test_gaps_split_integrals_and_settling_times():
    time = np.linspace(0.0, 5.0, 6)
    x = np.array([1.0, 2.0, 4.0, 9.0, 3.0, 5.0])
    inside = lambda part: np.array([False, True, True, False, True, True])  # noqa: E731
    value = lambda text: measured(text, time, {"x": x}, lambda: None, inside)  # type: ignore[arg-type, return-value]  # noqa: E731
    assert value("integral(x, a)") == 3.0 + 4.0 and value("settling(x, a)") == 1.0
    assert value("deviation(x, a)") == 4.0 and value("max(x, a)") == 5.0
    inside = lambda part: np.zeros(6, dtype=bool)  # noqa: E731
    assert np.isnan(value("max(x, a)"))


def test_study_has_a_column_per_phase(tmp_path: Path):
    wanted = read_study(
        file(
            tmp_path,
            '[vary]\ngain = [-1.0, 3.0]\n[report]\n"x, each lap*" = ["deviation", "mean"]\n'
            '"x, push*" = "max"\nx = "deviation"',
        )
    )
    texts = wanted.texts()
    assert texts == [
        *(f"{name}(x, lap {k})" for name in ("deviation", "mean") for k in (1, 2)),
        "max(x, push*)",
        "deviation(x)",
    ]
    for case in wanted.cases():
        run = load(swing()).compile(**case).simulate(**RUN)
        stage, x = run["stage"], run["x"]
        laps = [np.isin(stage, numbers) for numbers in ([1, 2], [3, 4])]
        expected = [
            *(np.abs(x[rows] - x[0]).max() for rows in laps),
            *(x[rows].mean() for rows in laps),
            x[np.isin(stage, [1, 3])].max(),
            np.abs(x).max(),
        ]
        row = one_row(wanted.source(), case, wanted.run, texts, 0)
        assert row == pytest.approx([case["gain"], *expected], rel=1e-12)


@pytest.mark.parametrize("method", ["slsqp", "minimax"])
def test_optimisation_minimises_measure_of_second_phase(tmp_path: Path, method: str):
    """The first push is what it is; the second one is found that leaves the least swing after it."""
    task = read_task(
        file(
            tmp_path,
            f'[optimize]\nmethod = "{method}"\niterations = 20\n[optimize.variables]\n'
            "gain = { from = -2, to = 3, start = -1 }\n[optimize.measures]\n"
            '"peak(x, swing 2)" = 1.0\n[optimize.constraints]\n"peak(x, each lap*)" = { max = 1 }',
        )
    )
    found = optimise(task)
    assert list(found.measures) == ["peak(x, swing 2)", "peak(x, lap 1)", "peak(x, lap 2)"]
    run = load(swing()).compile(**found.values).simulate(**RUN)
    left = np.abs(run["x"][run["stage"] == 4]).max()
    assert found.objective == pytest.approx(left, rel=1e-9)
    others = [
        np.abs(r["x"][r["stage"] == 4]).max()
        for gain in np.linspace(-2.0, 3.0, 21)
        for r in [load(swing()).compile(gain=gain).simulate(**RUN)]
    ]
    assert left < 1.05 * min(others)
    assert found.measures["peak(x, lap 1)"] == pytest.approx(found.begin["peak(x, lap 1)"])


def test_hil_limits_apply_by_phase(tmp_path: Path):
    path = tmp_path / "loop.toml"
    path.write_text(
        'mechanism = "lib:boom"\nstep = 0.1\nstop_time = 0.5\n[report]\n"luff, each lap*" = "max"\n'
        '[limits]\n"deviation(luff, each lap*)" = { max = 1.5 }\n'
        '[[loops]]\nmeasure = "luff"\ncommand = "lift.force"\n'
    )
    scenario = read_scenario(path)
    record = Record(scenario, True, time=[0.1, 0.2, 0.3, 0.4, 0.5])
    record.rows = [(1.0, 0.0), (2.0, 0.0), (3.0, 0.0), (0.0, 0.0), (2.5, 0.0)]
    record.stages = [0, 1, 2, 3, 4]
    record.parts = RunParts.of(load(swing()).compile())
    assert numbers(record, scenario.report) == {"max(luff, lap 1)": 3.0, "max(luff, lap 2)": 2.5}
    assert [(row[1], row[-1]) for row in limit_rows(record)] == [(2.0, "broken"), (1.5, "kept")]
    path.write_text(path.read_text().replace("deviation(luff", "deviation(lift"))
    with pytest.raises(BadInput, match="expected a measure of a run"):
        read_scenario(path)
