"""`kinetree import` of machines: what is written, what is said, the page about it."""

import json
import tomllib
from pathlib import Path

import pytest
from cad_assemblies import MASSES, second_generation
from modelica_models import DRIVEN
from step_parts import write_step

from kinetree.models import load
from kinetree.scripts import cli


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bar.xml").write_text(second_generation(joints=False))


def test_import_writes_description_and_remarks_of_an_assembly(capsys):
    assert cli.main(["import", "bar.xml", "-o", "bar.toml"]) == 0
    said = capsys.readouterr().out
    written = Path("bar.toml").read_text()
    for line in ("assumed: gravity", "left out: 4 geometry files"):
        assert line in said and f"# {line}" in written
    bodies = tomllib.loads(written)["bodies"]
    total = sum(body["mass"] for body in bodies.values())
    assert total == pytest.approx(sum(MASSES.values()), rel=1e-12)
    assert load("bar.toml").compile().freedoms == load("bar.xml").compile().freedoms == 1


def test_the_report_is_one_page_with_tree_masses_remarks_and_scene():
    assert cli.main(["import", "bar.xml", "-o", "bar.toml", "--report", "bar.html"]) == 0
    page = Path("bar.html").read_text()
    for part in ("Tree", "ground", "crank", "1.23456789", "Left out", "Assumed", "Scene"):
        assert part in page
    assert 'src="http' not in page


def test_imported_parts_use_density_and_list_holes(capsys):
    write_step(Path("part.step"))
    capsys.readouterr()
    given = ["import", "part.step", "-o", "part.toml", "--density", "1000", "--pin", "2", "--json"]
    assert cli.main(given) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["bodies"] == 2 and sum("offered" in each for each in told["left_out"]) == 3
    density = tomllib.loads(Path("part.toml").read_text())["parameters"]["density"]
    assert density["value"] == 1000.0 and density["tunable"]


def test_import_selects_model_of_a_file_by_name(capsys):
    pytest.importorskip("pymoca")
    Path("m.mo").write_text(DRIVEN + DRIVEN.replace("Driven", "Other"))
    assert cli.main(["import", "m.mo", "--model", "Driven", "-o", "d.toml"]) == 0
    assert tomllib.loads(Path("d.toml").read_text())["name"] == "Driven"
    assert cli.main(["import", "m.mo", "--model", "Third", "-o", "e.toml"]) == 2
    assert cli.main(["import", "m.mo", "--density", "3", "-o", "e.toml"]) == 2
    said = capsys.readouterr().err
    assert "Third" in said and "--density has no meaning" in said and not Path("e.toml").exists()


def test_import_writes_verified_fmu_of_an_assembly(capsys):
    """What verification finds wrong ends the command with 1; remarks of the reader are printed."""
    assert cli.main(["import", "bar.xml", "-o", "bar.fmu", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["bad"] == [] and told["checks"] > 5
    assert Path("bar.fmu").stat().st_size > 1000
    assert any("gravity" in each for each in told["left_out"])
    assert cli.main(["import", "bar.xml", "-o", "bar.toml", "--backend", "native"]) == 2
