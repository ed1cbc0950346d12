"""Values of parameters in the studio: shown in their units, as tables, in the text of the description."""

import json

import pytest

from kinetree.models import load
from kinetree.models.description.reading.read_source import Text
from kinetree.scripts.studio.session import Session
from kinetree.scripts.studio.texts import with_plots, with_shown_name, with_values
from kinetree.scripts.studio.values import inside, shown, unit_of

WRITTEN = """format = "kinetree/1"
name = "Units"

[parameters]
L = { value = 800, unit = "mm", min = 10, text = "length" }   # keep this note
plain = 2.5
half = "L/2"

[parameters.angle]
unit = "deg"
value = 30

[bodies.bob]
mass = 1
com = [0, 0, "-L"]

[joints.pivot]
child = "bob"
type = "revolute"
axis = "y"
start = "angle"
"""


@pytest.fixture
def session(tmp_path) -> Session:
    path = tmp_path / "units.toml"
    path.write_text(WRITTEN)
    return Session(str(path))


def test_values_are_shown_in_the_unit_of_the_description_and_held_in_si(session: Session):
    parameter, value = session.parameters()["L"]
    assert (
        value == pytest.approx(0.8)
        and unit_of(parameter) == "mm"
        and shown(parameter, value) == 800.0
    )
    assert inside(parameter, 750.0) == pytest.approx(0.75)
    angle, turned = session.parameters()["angle"]
    assert shown(angle, turned) == 30.0 and unit_of(angle) == "deg"


def test_value_tables_accept_any_compatible_unit(session: Session):
    session.set("plain", 3.0)
    rows = session.values_text().splitlines()
    assert (
        rows[0] == "name,value,unit,text"
        and "L,800.0,mm,length" in rows
        and not any(row.startswith("half") for row in rows)
    )
    assert session.take_values("L;0,9;m\nangle;1;rad\n") == []
    assert session.overrides == pytest.approx({"plain": 3.0, "L": 0.9, "angle": 1.0})
    assert session.parameters()["half"][1] == pytest.approx(0.45), (
        "what follows from others still does"
    )
    assert session.undo() and session.overrides == {"plain": 3.0}
    assert session.take_values('{"L": {"value": 70, "unit": "cm"}}') == [] and session.overrides[
        "L"
    ] == pytest.approx(0.7)
    assert session.take_values("L,900") == [] and session.overrides["L"] == pytest.approx(0.9), (
        "without a unit in the one that is shown"
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("L,5,kg", "no unit of the kind"),
        ("Ll,5", "did you mean 'L'"),
        ("L,long", "expected a number"),
        ("", "no values found"),
        ("L", "name,value,unit"),
        ("[1]", "JSON object"),
        ("L,-5,mm", "L"),
    ],
)
def test_invalid_value_tables_are_refused_with_reason(session: Session, text: str, told: str):
    problems = session.take_values(text)
    assert problems and told in problems[0] and session.overrides == {}


def test_only_changed_values_are_written_into_the_text(session: Session, tmp_path):
    for name, value in (("L", 0.75), ("plain", 4.0), ("angle", 0.0)):
        assert session.set(name, value) == []
    assert session.settle() == [] and session.overrides == {}
    assert (
        'L = { value = 750.0, unit = "mm", min = 10, text = "length" }   # keep this note'
        in session.text
    )
    changed = [
        (a, b)
        for a, b in zip(WRITTEN.splitlines(), session.text.splitlines(), strict=True)
        if a != b
    ]
    assert (
        len(changed) == 3
        and ("value = 30", "value = 0.0") in changed
        and ("plain = 2.5", "plain = 4.0") in changed
    )
    values = {name: value for name, (_, value) in session.parameters().items()}
    assert values == pytest.approx({"L": 0.75, "plain": 4.0, "half": 0.375, "angle": 0.0})
    with pytest.raises(ValueError, match="no parameter 'gone'"):
        with_values(WRITTEN, {"gone": 1.0})


def test_generated_descriptions_accept_json_values():
    session = Session("lib:carrier")
    session.set("module_mass", 130.0)
    assert (
        session.settle() == []
        and session.parameters()["module_mass"][1] == 130.0
        and session.overrides == {}
    )


def test_sets_of_plots_join_the_description():
    made = with_plots(WRITTEN, "angles", ["pivot.q"])
    assert load(Text(made, "a.toml")).description.report.plots["angles"].columns == ("pivot.q",)
    with pytest.raises(ValueError, match="already"):
        with_plots(made, "angles", [])


def test_files_beside_the_description_are_found(tmp_path):
    """The text was once checked in a folder of its own, where tables from files and meshes were missing."""
    (tmp_path / "road.csv").write_text("s,rise\n0,0\n1,2\n")
    path = tmp_path / "road.toml"
    path.write_text(
        WRITTEN
        + '\n[tables.road]\nfile = "road.csv"\n\n[outputs.rise]\nvalue = "table(\'road\', 0.5)"\n'
    )
    session = Session(str(path))
    assert session.problems == []
    assert session.run(0.01).result["rise"][0] == pytest.approx(1.0)


def test_templates_are_opened_and_saved_as_files_of_the_language(tmp_path):
    session = Session("new:stages")
    assert (
        session.problems == [] and session.suggested_name() == "my-stages.toml" and not session.own
    )
    with pytest.raises(ValueError, match="give the name of a file"):
        session.save()
    with pytest.raises(ValueError, match="TOML"):
        session.save(str(tmp_path / "mine.json"))
    assert session.save(str(tmp_path / "mine.toml")).exists() and session.own


def test_values_and_plots_are_written_into_json():
    """Tables keep their other keys; what is not there, and what stands where nobody finds it, is told."""
    text = '{"parameters": {"k": {"value": 2.0, "unit": "N/m"}, "m": 3.0}}'
    assert json.loads(with_values(text, {"k": 5.0, "m": 4.0})) == {
        "parameters": {"k": {"value": 5.0, "unit": "N/m"}, "m": 4.0}
    }
    for each in (text, WRITTEN):
        with pytest.raises(ValueError, match="the text has no parameter 'c'"):
            with_values(each, {"c": 1.0})
    hidden = "parameters = { k = 2.0 }\n"
    assert with_values(hidden, {"k": 2.0}) == hidden, "it says so already"
    with pytest.raises(
        ValueError, match="the value of 'k' was not found in the text: write 5.0 there by hand"
    ):
        with_values(hidden, {"k": 5.0})
    made = json.loads(with_plots(with_plots(text, "a set", ["x"]), "a set", ["y"]))
    assert (
        made["report"]["plots"] == {"a set": {"columns": ["y"]}} and made["parameters"]["m"] == 3.0
    )


def test_names_of_variables_are_written_replaced_and_taken_back():
    made = with_shown_name(WRITTEN, "der(pivot.angle)", "swing speed")
    made = with_shown_name(made, "pivot.angle", "swing")
    made = with_shown_name(made, "pivot.angle", 'the "swing"')
    report = load(Text(made, "a.toml")).description.report
    assert report.names == {"der(pivot.angle)": "swing speed", "pivot.angle": 'the "swing"'}
    made = with_shown_name(made, "pivot.angle", "")
    assert load(Text(made, "a.toml")).description.report.names == {
        "der(pivot.angle)": "swing speed"
    }
    text = '{"parameters": {"m": 3.0}}'
    assert json.loads(with_shown_name(text, "x", "way"))["report"] == {"names": {"x": "way"}}
    with pytest.raises(ValueError, match="write it there by hand"):
        with_shown_name('report = { names = { x = "way" } }\n', "x", "path")
