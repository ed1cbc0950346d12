"""`kinetree import` names files of meshes from where it writes, so that folders can move."""

import shutil
import tomllib
from pathlib import Path

import pytest

from kinetree.models import load
from kinetree.scripts import cli
from kinetree.scripts.commands.import_robot import beside

pytest.importorskip("yourdfpy")
ROBOT = """<robot name="r"><link name="base"/><link name="arm">
<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><mesh filename="looks/arm.obj"/></geometry></visual></link>
<joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
MESH = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"


def test_mesh_paths_are_relative_to_the_description(tmp_path: Path):
    (tmp_path / "robot" / "looks").mkdir(parents=True)
    (tmp_path / "models").mkdir()
    (tmp_path / "robot" / "r.urdf").write_text(ROBOT)
    (tmp_path / "robot" / "looks" / "arm.obj").write_text(MESH)
    out = tmp_path / "models" / "r.toml"
    assert cli.main(["import", str(tmp_path / "robot" / "r.urdf"), "-o", str(out)]) == 0
    assert "../robot/looks/arm.obj" in out.read_text()
    shutil.move(tmp_path / "robot", tmp_path / "there")
    shutil.move(tmp_path / "models", tmp_path / "there" / "models")
    text = (tmp_path / "there" / "models" / "r.toml").read_text()
    assert tomllib.loads(text) and str(tmp_path) not in text
    (tmp_path / "robot").mkdir()
    shutil.move(tmp_path / "there" / "models", tmp_path / "models")
    shutil.move(tmp_path / "there" / "looks", tmp_path / "robot" / "looks")
    assert load(tmp_path / "models" / "r.toml").compile()._repr_html_()


def test_mesh_files_sharing_only_the_root_keep_absolute_paths():
    """Neither moves with the other."""
    part = {"shapes": [{"mesh": "/one/a.stl"}, {"mesh": "b.stl"}, {"mesh": "/two/x/c.stl"}]}
    found = beside({"bodies": {"b": part}}, Path("/two/y"))["bodies"]["b"]["shapes"]
    assert [each["mesh"] for each in found] == ["/one/a.stl", "b.stl", "../x/c.stl"]
