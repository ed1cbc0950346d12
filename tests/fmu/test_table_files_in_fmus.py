"""Archives of descriptions whose tables stand in files: the points travel with them."""

import json
import zipfile
from pathlib import Path

import fmpy
import pytest

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import ModelError, load
from kinetree.scripts.fmi.fmpy_host import Archive
from kinetree.scripts.fmi.verify import twin_of

CART = """
format = "kinetree/1"
name = "Driven cart"
gravity = [0, 0, 0]
bodies.cart.mass = 2.0
joints.way = { child = "cart", type = "prismatic", axis = "x", coordinates = ["x"] }
tables.push = { file = "push.csv", columns = ["t", "force"], units = ["s", "kN"] }
tables.plain = { x = [0, 1], y = [0, 1] }
forces.motor = { coordinate = "x", value = "table('push', t)" }
run = { stop_time = 1.0, output_step = 0.1 }
"""


@pytest.fixture
def cart(tmp_path: Path) -> Path:
    """Two kilograms pushed by 6 N times t."""
    (tmp_path / "push.csv").write_text("t,force\n0,0\n1,0.006\n")
    path = tmp_path / "cart.toml"
    path.write_text(CART)
    return path


@pytest.mark.parametrize("backend", ["native", "python"])
def test_table_points_from_files_are_packed(
    cart: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, backend: str
):
    """In a folder without the file the archive moves the cart by F t³/(6 m), and the mechanism in it can be read again."""
    path = build_fmu(load(cart), tmp_path / "cart.fmu", backend)
    (tmp_path / "push.csv").unlink()
    away = tmp_path / "away"
    away.mkdir()
    path = path.rename(away / "cart.fmu")
    monkeypatch.chdir(away)
    with zipfile.ZipFile(path) as archive:
        packed = json.loads(archive.read("resources/model.json"))
        assert packed["tables"] == {
            "push": {"x": [0.0, 1.0], "y": [0.0, 6.0]},
            "plain": {"x": [0, 1], "y": [0, 1]},
        }
        assert "resources/model.toml" not in archive.namelist()
    with Archive(path) as archive:
        twin = twin_of(archive)
    twin.start()
    twin.step(1.0)
    assert twin.get(["x"]) == pytest.approx([0.5], rel=1e-6)
    assert fmpy.simulate_fmu(str(path), stop_time=1.0, output_interval=0.1, output=["x"])["x"][
        -1
    ] == pytest.approx(0.5, rel=1e-6)


def test_table_file_missing_at_packing_is_named(cart: Path, tmp_path: Path):
    mechanism = load(cart)
    (tmp_path / "push.csv").unlink()
    with pytest.raises(ModelError, match=r"tables\.push: found 'push\.csv'; no such file"):
        build_fmu(mechanism, tmp_path / "cart.fmu")


def test_other_descriptions_are_packed_unchanged(cart: Path, tmp_path: Path):
    cart.write_text(
        CART.replace(
            'tables.push = { file = "push.csv", columns = ["t", "force"], units = ["s", "kN"] }',
            "tables.push = { x = [0, 1], y = [0, 6] } # N",
        )
    )
    with zipfile.ZipFile(build_fmu(load(cart), tmp_path / "cart.fmu")) as archive:
        assert archive.read("resources/model.toml") == cart.read_bytes()
