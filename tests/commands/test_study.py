"""Parameter studies against the formula of the mathematical pendulum, and what they refuse."""

import csv
import math
from pathlib import Path

import pytest

from kinetree.scripts import cli
from kinetree.scripts.studies.study import read_study
from kinetree.scripts.terminal.error_messages import BadInput

POINT_MASS = """
format = "kinetree/1"
name = "point mass on a thread"
parameters = { length = 1.0 }
[bodies.point]
mass = 1.0
com = [0, 0, "-length"]
inertia = [0, 0, 0, 0, 0, 0]
[joints.pivot]
child = "point"
transforms = [{ rotate = "y", coordinate = "phi", start = 1e-4 }]
"""
STUDY = """
mechanism = "point.toml"
[vary]
length = { from = 0.5, to = 1.5, count = 3 }
[run]
stop_time = 1.0
output_step = 0.5
tolerance = 1e-10
[report]
phi = ["end", "span"]
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    (tmp_path / "point.toml").write_text(POINT_MASS)
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


def test_pendulum_study_periods_follow_length(study: Path):
    """phi(1 s) = phi0 cos(sqrt(g/l)); the amplitude adds phi0^2/16 relative to the period, 6e-10, and g/l up to 20."""
    output = study.parent / "rows.csv"
    assert cli.main(["study", str(study), "--output", str(output)]) == 0
    rows = list(csv.reader(output.open()))
    assert rows[0] == ["length", "end(phi)", "span(phi)"]
    assert [float(row[0]) for row in rows[1:]] == [0.5, 1.0, 1.5]
    for length, end, _ in (map(float, row) for row in rows[1:]):
        assert end == pytest.approx(1e-4 * math.cos(math.sqrt(9.81 / length)), abs=1e-12)


def test_study_grid_and_pairs_enumerate_cases(study: Path):
    text = STUDY.replace("[vary]", "[vary]\nspare = [1, 2]")
    study.write_text(text)
    assert read_study(study).count() == 6 == len(list(read_study(study).cases()))
    study.write_text('combine = "random"\nsamples = 7\n' + text)
    cases = list(read_study(study).cases())
    assert len(cases) == 7 and all(0.5 <= case["length"] <= 1.5 for case in cases)
    assert cases == list(read_study(study).cases())
    study.write_text('combine = "pairs"\n' + text)
    with pytest.raises(BadInput, match="equal length"):
        read_study(study)


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ("[vary]", "[varry]", "varry"),
        ("length = {", "length = 3 #", "expected a list"),
        ("count = 3", "count = 100000000", "runs"),
        ("count = 3", "count = 1000000000000000000000000000000", "1e+30 runs"),
        ("count = 3", "count = true", "whole number"),
        ('"span"', '"spam"', "spam"),
        ("stop_time", "end_time", "end_time"),
        ("mechanism =", "mechanism", "study.toml"),
        ("length = {", "lenght = {", "length"),
    ],
)
def test_study_mistakes_are_reported(
    study: Path, old: str, new: str, word: str, capsys: pytest.CaptureFixture
):
    study.write_text(STUDY.replace(old, new))
    assert cli.main(["study", str(study)]) == 2
    assert word in capsys.readouterr().err
