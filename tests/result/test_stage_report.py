"""Tables over stages that a description asks for: values of an exact motion at the instants of its events, over time, by groups and references."""

import csv
from types import SimpleNamespace

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.language.parts.report_parts import ReportTable
from kinetree.models.result.stage_tables import stage_table
from kinetree.scripts.cli import main
from kinetree.scripts.reports.stage_tables import books

PACE, ENDS = 2.0, (0.4, 0.9, 1.6)  # m/s, s
DRIFT = {
    "format": "kinetree/1",
    "name": "drift",
    "gravity": [0, 0, 0],
    "bodies": {"a": {"mass": 1.0}, "b": {"mass": 1.0}},
    "joints": {
        "ja": {
            "child": "a",
            "type": "prismatic",
            "axis": "x",
            "coordinates": ["x"],
            "start": 1.0,
            "speed": PACE,
        },
        "jb": {
            "child": "b",
            "type": "revolute",
            "axis": "z",
            "coordinates": ["turn"],
            "speed": 1e-3,
        },
    },
    "outputs": {"push": {"value": "5e4*x", "unit": "N"}},
    "stages": [
        {"name": "travel 1", "ends": {"at": ENDS[0]}},
        {"name": "swing 1", "ends": {"at": ENDS[1]}},
        {"name": "travel 2", "ends": {"at": ENDS[2]}},
        {"name": "swing 2"},
    ],
    "report": {
        "tables": {
            "swings": {
                "columns": ["x", "push"],
                "rows": "end",
                "stages": "swing*",
                "sums": ["mean"],
            }
        },
        "plots": {
            "first": {"columns": "x", "window": [0.1, 0.5], "deviation": True},
            "swings": {"columns": ["x", "p*"], "stages": ["swing*"]},
        },
    },
}
DRIFT["bodies"]["b"]["inertia"] = [1, 1, 1, 0, 0, 0]  # type: ignore[index]
STOP = 2.0
EDGES = (0.0, *ENDS, STOP)
SPANS = [
    (1.0 + PACE * a, 1.0 + PACE * b) for a, b in zip(EDGES, EDGES[1:])
]  # x at begin and end of each stage


@pytest.fixture(scope="module", params=[0.3, 0.05])
def drift(request):
    """With two output steps, of which neither meets the ends of stages."""
    return load(DRIFT).compile().simulate(stop_time=STOP, output_step=request.param)


def column(result, **wanted) -> np.ndarray:
    return stage_table(result, ReportTable(columns="x", **wanted)).values[:, 0]


def test_stage_rows_of_uniform_motion_match_formula(drift):
    """x = 1 + 2t: its mean is that of the ends; its rms deviation from where the stage began is the span over √3, from the mean over √12."""
    begins, ends = map(np.array, zip(*SPANS))
    for rows, expected in {
        "start": begins, "end": ends, "mean": 0.5 * (begins + ends), "smallest": begins, "largest": ends, "range": ends - begins,
        "max_deviation": ends - 1.0,
    }.items():  # fmt: skip
        assert column(drift, rows=rows) == pytest.approx(expected, abs=1e-9), rows
    assert column(drift, rows="rms", reference="stage") == pytest.approx(
        (ends - begins) / np.sqrt(3.0), rel=1e-9
    )
    assert column(drift, rows="std") == pytest.approx((ends - begins) / np.sqrt(12.0), rel=1e-9)


def test_stage_tables_deviate_from_references(drift):
    begins, ends = map(np.array, zip(*SPANS))
    assert column(drift, rows="end", reference="start") == pytest.approx(ends - 1.0, abs=1e-9)
    assert column(drift, rows="end", reference="stage") == pytest.approx(ends - begins, abs=1e-9)
    assert column(drift, rows="end", reference={"x": 0.5}) == pytest.approx(ends - 0.5, abs=1e-9)
    assert column(drift, rows="end", reference=0.3) == pytest.approx(
        ends - drift["x"][np.abs(drift.time - 0.3).argmin()], abs=1e-9
    )
    with pytest.raises(KeyError, match="outside of the run"):
        column(drift, reference=9.0)


def test_stage_tables_have_groups_sums_and_changes(drift):
    swings = stage_table(
        drift, ReportTable(columns="x", stages="swing*", sums=("mean", "std", "rms", "range"))
    )
    assert swings.labels == ("swing 1", "swing 2")
    values = np.array([SPANS[1][1], SPANS[3][1]])
    expected = [values.mean(), values.std(), np.sqrt(np.mean(values**2)), np.ptp(values)]
    assert [float(value[0]) for value in swings.sums.values()] == pytest.approx(expected, abs=1e-9)
    changes = stage_table(drift, ReportTable(columns="x", rows="changes"))
    assert changes.values[:, 0] == pytest.approx(np.repeat([x for _, x in SPANS[:3]], 2), abs=1e-9)
    assert changes.labels[:2] == ("0.4 s, end of travel 1", "0.4 s, swing 1")


def test_table_numbers_use_engineering_units(drift):
    """Units that fit a column: kN and mrad; what is rounding beside the largest number of a column is nought."""
    head, *rows = stage_table(drift, ReportTable(columns=("push", "turn"), rows="start")).rows()
    assert head == ["", "push [kN]", "turn [mrad]"]
    assert [row[1] for row in rows[:4]] == ["50", "90", "140", "210"] and rows[0][2] == "0"


def test_unknown_table_names_are_reported(drift):
    with pytest.raises(KeyError, match="no column 'z'"):
        stage_table(drift, ReportTable(columns="z"))
    with pytest.raises(KeyError, match="no stage 'swim'; known: travel 1"):
        stage_table(drift, ReportTable(columns="x", stages="swim"))
    with pytest.raises(KeyError, match="is not recorded"):
        stage_table(drift, ReportTable(columns="der(der(x))"))


def test_stage_table_files_are_written(tmp_path, monkeypatch, capsys):
    """CSV in SI with all digits; HTML and LaTeX as read; sets of plots in their folder; names are refused before the run."""
    import json

    monkeypatch.chdir(tmp_path)
    (tmp_path / "drift.json").write_text(json.dumps(DRIFT))
    run = ["run", "drift.json", "--stop-time", "2", "--output-interval", "0.05"]
    assert main([*run, "-q", "--tables", "t.csv", "--plots", "pictures"]) == 0
    rows = list(csv.reader((tmp_path / "t.csv").open()))
    assert rows[:2] == [["swings"], ["", "x [m]", "push [N]"]] and float(
        rows[2][1]
    ) == pytest.approx(SPANS[1][1], abs=1e-9)
    assert {path.name for path in (tmp_path / "pictures").iterdir()} == {"first.png", "swings.png"}
    assert main([*run, "-q", "--table", "start:x,push:travel*", "--tables", "t.tex"]) == 0
    assert r"travel 2 & 2.8 & 140 \\" in (tmp_path / "t.tex").read_text()
    capsys.readouterr()
    assert main([*run, "--table", "mean:x:swing*:stage", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["tables"][0]["values"][0][0] == pytest.approx(
        0.5 * (SPANS[1][1] - SPANS[1][0]), abs=1e-9
    )
    for wrong, said in {
        "end:y": "no column 'y'",
        "end:x:swim": "no stage 'swim'",
        "middle:x": "expected one of",
        "end:x::noon": "REFERENCE",
    }.items():
        assert main([*run, "--table", wrong]) == 2
        assert said in capsys.readouterr().err


@pytest.mark.parametrize("axis", [1, 2, 3])
def test_stage_losses_suppress_rounding(axis):
    """A body that leaves with its momentum along one axis: dust across it, of the size of its rounding, is nothing."""
    before, after = np.array([5.0, 0.0, 0.0, 0.0, 30.0]), np.array([3.0, 0.0, 0.0, 0.0, 18.0])
    before[axis], after[axis], after[1 + axis % 3] = 10.0, 6.0, 1e-16
    event = SimpleNamespace(kind="stage", stage="dropped", time=0.5, before=before, after=after)
    result = type("Run", (dict,), {"time": np.array([0.0, 0.5, 1.0]), "events": [event]})(
        {"energy_residual": np.array([0.0, 2e-9, 7.0])}
    )
    head, row = books(result)
    told = dict(zip(head[1:], map(float, row[1:]), strict=True))
    assert (
        row[0] == "dropped"
        and told["mass removed [kg]"] == 2.0
        and told["momentum removed [N.s]"] == 4.0
        and told["energy removed [J]"] == 12.0
    )
    assert [told[f"momentum {name} [N.s]"] for name in "xyz"] == [
        6.0 if k == axis else 0.0 for k in (1, 2, 3)
    ]
    assert (
        told["time [s]"],
        told["mass [kg]"],
        told["energy [J]"],
        told["energy balance [J]"],
    ) == (0.5, 3.0, 18.0, 2e-9)
