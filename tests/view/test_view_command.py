"""`kinetree view`, `statics --html`, `result.animate`, `to_dataframe`: what a user types and gets."""

import json

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.result.number_format import fitting, written
from kinetree.scripts.cli import main


def test_view_writes_self_contained_page(tmp_path, capsys):
    page = tmp_path / "p.html"
    assert main(["view", "lib:pendulum", "--html", str(page), "--stop-time", "0.5"]) == 0
    text = page.read_text()
    assert "written" in capsys.readouterr().out and len(text) > 500_000
    assert 'src="' not in text.replace('iframe src="', "") and "cdn" not in text.lower()[:20000]


def test_result_file_animates_description(tmp_path, capsys):
    table, page = tmp_path / "r.csv", tmp_path / "p.html"
    assert main(["run", "lib:four-bar", "--stop-time", "0.2", "-q", "-o", str(table)]) == 0
    assert (
        main(["view", str(table), "--model", "lib:four-bar", "--html", str(page)]) == 0
        and page.exists()
    )
    assert (
        main(["view", str(table), "--html", str(page)]) == 2
        and "--model" in capsys.readouterr().err
    )
    assert main(["view", str(table), "--model", "lib:delta", "--html", str(page)]) == 2
    assert "no columns of the coordinates" in capsys.readouterr().err
    assert main(["view", "lib:delta", "q1"]) == 2


def test_variable_patterns_ignore_case(tmp_path, capsys):
    table = tmp_path / "r.csv"
    main(["run", "lib:four-bar", "--stop-time", "0.2", "-q", "-o", str(table)])
    assert main(["view", str(table), "COUPLER*", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["variables"]
    assert [name for name in found if name.startswith("coupler_point")] == list(found)
    assert (
        main(["view", str(table), "couplr*"]) == 2 and "variable couplr*" in capsys.readouterr().err
    )


def test_equilibria_have_a_page(tmp_path):
    assert main(["statics", "lib:delta", "--html", str(tmp_path / "s.html")]) == 0
    assert "mode 1: " in (tmp_path / "s.html").read_text()


def test_animation_displays_in_notebooks(tmp_path):
    result = load("lib:pendulum").compile().simulate(0.1)
    shown = result.animate(tmp_path / "a.html")
    assert (tmp_path / "a.html").stat().st_size > 500_000 and shown._repr_html_().startswith(
        "<iframe srcdoc="
    )
    with pytest.raises(ValueError, match="expected a name that ends in"):
        result.animate(tmp_path / "a.avi")


def test_to_dataframe_has_time_as_index_and_units(tmp_path):
    result = load("lib:pendulum").compile().simulate(0.1)
    frame = result.to_dataframe(["phi", "vx"])
    np.testing.assert_array_equal(frame["phi"].to_numpy(), result["phi"])
    np.testing.assert_array_equal(frame.index.to_numpy(), result.time)
    assert frame.attrs["units"] == {"time": "s", "phi": "rad", "vx": "m/s"} and list(frame) == [
        "phi",
        "vx",
    ]
    assert "reaction('pivot')" in result.to_dataframe("all")


@pytest.mark.parametrize(
    ("unit", "value", "shown"),
    [("Pa", 2.1e7, (210.0, "bar")), ("m", 0.0123, (12.3, "mm")), ("m", 0.5, (0.5, "m")), ("N", 45123.0, (45.123, "kN")), ("rad", 2e-3, (2.0, "mrad")),
     ("N", 12.0, (12.0, "N")), ("J", 3.2e6, (3.2, "MJ")), ("kg", 5e6, (5e6, "kg")), ("m", 0.0, (0.0, "m")), ("Pa", 5.0, (5.0, "Pa")),
     ("m3/s", 5e-4, (30.0, "l/min"))],
)  # fmt: skip
def test_units_fit_the_size_of_numbers(unit: str, value: float, shown: tuple[float, str]):
    factor, name = fitting(unit, np.array([0.1 * value, -value, np.nan]))
    assert (value * factor, name) == (pytest.approx(shown[0]), shown[1])


def test_displayed_numbers_use_engineering_units():
    texts = [
        written(x)
        for x in (0.0, 1.5, 123456.0, 1234567.0, 1.83e-15, 1e12, float("nan"), -0.00012345)
    ]
    assert texts == ["0", "1.5", "123456", "1234567", "1.83e-15", "1e12", "–", "-0.00012345"]


def test_oversized_scenes_are_refused(tmp_path, capsys):
    """Squares of single precision end at 1e38: a page of 1e30 m hung the browser."""
    assert (
        main(["view", "lib:pendulum", "--set", "L=1e30", "--html", str(tmp_path / "far.html")]) == 2
    )
    assert "m large" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["<!--<script>", "</script><b>"])
def test_names_cannot_close_script_elements_of_a_page(name):
    """`<!--<script>` in a script makes a browser look for two ends of it: the data of a page hold no angle at all."""
    from kinetree.models.scene.html_page import page

    text = page({"name": name, "bodies": [{"name": name}]})
    data = text[text.index('"bodies"') - 200 :][:600]
    assert name not in data and json.dumps(name).replace("<", "\\u003c") in data


def test_bending_is_drawn_to_scale_or_enlarged(capsys):
    assert main(["view", "lib:boom", "--bending", "0.5"]) == 2
    assert "--bending 0.5" in capsys.readouterr().err
