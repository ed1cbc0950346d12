"""Inputs and tables from files: columns by name and by map, units converted, mistakes named."""

import json

import numpy as np
import pytest

from kinetree.models import ModelError, load
from kinetree.scripts.cli import main

CART = """
format = "kinetree/1"
name = "cart"
gravity = [0, 0, 0]
[bodies.cart]
mass = 2.0
[joints.way]
child = "cart"
type = "prismatic"
axis = "x"
coordinates = ["x"]
[inputs.push]
unit = "N"
[forces.motor]
coordinate = "x"
value = "push"
[run]
stop_time = 1.0
output_step = 0.05
integrator = "rk45"
"""
TABLE = '[tables.road]\nfile = "road.csv"\ncolumns = ["s", "rise"]\nunits = ["m", "mm"]\n[outputs.rise]\nvalue = "table(\'road\', x)"\n'


@pytest.fixture
def room(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cart.toml").write_text(CART)
    (tmp_path / "push.csv").write_text("time [ms],force [kN],push\n0,0,0\n500,0.01,10\n1000,0,0\n")
    (tmp_path / "road.csv").write_text("s,rise\n0,0\n1,20\n2,10\n")
    return tmp_path


def end_of(capsys) -> float:
    return json.loads(capsys.readouterr().out)["variables"]["x"]["end"]


@pytest.mark.parametrize("more", [[], ["--map", "force=push"], ["--map", "force=push:kN"]])
def test_a_triangle_of_force_moves_a_mass_exactly(room, capsys, more):
    """To 10 N at 0.5 s and back, on 2 kg: the speed ends at 5/2 m/s, symmetric about 0.5 s, so the way is 1.25 m; rk45 is exact on cubics."""
    assert main(["run", "cart.toml", "--input", "push.csv", *more, "--json"]) == 0
    assert end_of(capsys) == pytest.approx(1.25, rel=1e-7)


def test_invalid_input_files_are_refused_by_name(room, capsys):
    for words, said in {
        (
            "--input",
            "push.csv",
            "--map",
            "forse=push",
        ): "no such column in push.csv; did you mean 'force'",
        ("--input", "push.csv", "--map", "force=pull"): "did you mean 'push'",
        (
            "--input",
            "push.csv",
            "--map",
            "force=push:m",
        ): "'force' in m drives 'push', which is in N",
        ("--input", "road.csv"): "--map COLUMN=NAME",
        ("--map", "force=push"): "there is no --input file",
        ("--input", "none.csv"): "no such file",
    }.items():
        assert main(["run", "cart.toml", *words]) == 2
        assert said in capsys.readouterr().err, words


def test_tables_in_files_are_converted_to_si(room):
    """The points of a file beside the description, in metres and millimetres; a description that is read elsewhere has them inside."""
    (room / "road.toml").write_text(CART.replace("[run]", TABLE + "[run]"))
    system = load("road.toml").compile()
    table = system.description.tables["road"]
    assert table.x == (0.0, 1.0, 2.0) and np.array(table.y, dtype=float) == pytest.approx(
        [0.0, 0.02, 0.01]
    )
    for old, new, said in [
        ("road.csv", "rode.csv", "no such file"),
        ('"rise"]', '"ride"]', "did you mean 'rise'"),
        ('"mm"', '"mmm"', "units|unit"),
    ]:
        (room / "road.toml").write_text(CART.replace("[run]", TABLE.replace(old, new) + "[run]"))
        with pytest.raises(ModelError, match=said):
            load("road.toml")


def test_check_json_lists_problems(room, capsys):
    (room / "bad.toml").write_text(CART.replace("mass", "masss"))
    assert main(["check", "bad.toml", "--json"]) == 2
    told = json.loads(capsys.readouterr().out)
    assert (
        told["good"] is False
        and told["problems"][0]["key"].startswith("bodies.cart")
        and told["problems"][0]["line"]
    )
    assert main(["check", "cart.toml", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["freedoms"] == 1


def test_schema_command_writes_json_schema(room, capsys):
    assert main(["schema", "--taplo"]) == 0 and (room / ".taplo.toml").exists()
    assert json.loads((room / "kinetree-1.schema.json").read_text())["title"].startswith("Kinetree")
    assert main(["schema", "--taplo"]) == 2


def test_data_sets_carry_units(room):
    pytest.importorskip("xarray")
    data = load("cart.toml").compile().simulate(inputs={"push": 4.0}).to_xarray(["x"])
    assert (
        data["x"].attrs["units"] == "m"
        and float(data["x"][-1]) == pytest.approx(1.0)
        and data["time"].attrs["units"] == "s"
    )


def test_missing_file_error_suggests_a_similar_file(tmp_path, capsys):
    (tmp_path / "crane.toml").write_text('format = "kinetree/1"\n')
    assert main(["run", str(tmp_path / "craen.toml")]) == 2
    said = capsys.readouterr().err
    assert "craen.toml: file not found" in said and "'crane.toml'" in said


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [("cardan", "universal"), ("hinge", "revolute"), ("ball", "spherical"), ("fixed", "rigid")],
)
def test_joint_types_of_other_tools_are_suggested_as_ours(theirs: str, ours: str):
    joint = {"child": "a", "type": theirs}
    with pytest.raises(ModelError, match=f"did you mean '{ours}'"):
        load({"format": "kinetree/1", "bodies": {"a": {"mass": 1}}, "joints": {"j": joint}})
