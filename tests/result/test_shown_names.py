"""Names that plots, tables and scenes show for variables."""

import pytest
from matplotlib.figure import Figure

from kinetree.models import load
from kinetree.models.language.parts.report_parts import ReportTable
from kinetree.models.result.plots import plot
from kinetree.models.result.stage_tables import stage_table
from kinetree.models.scene.make_scenes import run_data


@pytest.fixture(scope="module")
def result():
    description = {
        "format": "kinetree/1",
        "name": "Named",
        "bodies": {"bob": {"mass": 1.0, "com": [0, 0, -1], "inertia": [1, 1, 1, 0, 0, 0]}},
        "joints": {"pivot": {"child": "bob", "type": "revolute", "axis": "y", "start": 0.3}},
        "gravity": [0, 0, -9.81],
        "report": {"names": {"pivot.angle": "swing"}},
        "run": {"stop_time": 0.2, "output_step": 0.02},
    }
    return load(description).compile().simulate()


def test_plots_tables_and_scenes_show_the_names_of_the_report(result):
    (figure,) = plot(result, None, ["pivot.angle", "der(pivot.angle)"])
    assert isinstance(figure, Figure)
    labels = [axis.get_ylabel().partition("\n")[0] for axis in figure.axes]
    assert labels == ["swing", "der(pivot.angle)"]
    table = stage_table(result, ReportTable(columns=("pivot.angle",)))
    assert table.rows()[0][1].startswith("swing")
    assert table.plain_rows()[0][1].startswith("pivot.angle"), "programs find the name they know"
    curves = {each["name"] for each in run_data(result)["clips"][0]["plots"]}
    assert "swing" in curves and "pivot.angle" not in curves


def test_columns_are_found_by_their_own_names(result, tmp_path):
    assert result["pivot.angle"][0] == 0.3 and "swing" not in result
    result.to_csv(tmp_path / "r.csv")
    assert "pivot.angle" in (tmp_path / "r.csv").read_text().splitlines()[0]
