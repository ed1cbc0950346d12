"""xacro: macros, properties, arguments and included files stand for the URDF that one writes by hand; what cannot be read is said."""

from pathlib import Path

import numpy as np
import pytest

from kinetree.models import ModelError, load
from kinetree.scripts.cli import main

pytest.importorskip("xacro")
pytest.importorskip("yourdfpy")

PARTS = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:macro name="rod" params="name mass length:=0.4">
 <link name="${name}"><inertial><origin xyz="0 0 ${-length/2}"/><mass value="${mass}"/>
  <inertia ixx="${mass*length**2/12}" iyy="${mass*length**2/12}" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
</xacro:macro></robot>"""
ARM = """<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:include filename="parts.xacro"/>
<xacro:arg name="prefix" default=""/><xacro:arg name="links" default="2"/>
<xacro:property name="p" value="$(arg prefix)"/>
<link name="base"/>
<xacro:macro name="arm" params="n parent">
 <xacro:if value="${n &gt; 0}">
  <xacro:rod name="${p}rod${n}" mass="${0.5*n}"/>
  <joint name="${p}j${n}" type="continuous"><parent link="${parent}"/><child link="${p}rod${n}"/>
   <origin xyz="0 0 ${'-0.4' if parent != 'base' else '0'}"/><axis xyz="0 1 0"/></joint>
  <xacro:arm n="${n - 1}" parent="${p}rod${n}"/>
 </xacro:if>
</xacro:macro>
<xacro:arm n="$(arg links)" parent="base"/>
</robot>"""


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    (tmp_path / "parts.xacro").write_text(PARTS)
    path = tmp_path / "arm.urdf.xacro"
    path.write_text(ARM)
    return path


def test_xacro_macros_expand_to_same_robot(arm: Path):
    """Accelerations of a double pendulum whose rods are described in this format."""
    rod = lambda m: {  # noqa: E731
        "mass": m,
        "com": [0, 0, -0.2],
        "inertia": [m * 0.16 / 12, m * 0.16 / 12, 0.001, 0, 0, 0],
    }
    joint = {"type": "revolute", "axis": "y"}
    plain = load({
        "format": "kinetree/1", "name": "arm", "bodies": {"rod2": rod(1.0), "rod1": rod(0.5)},
        "joints": {"j2": {**joint, "child": "rod2", "coordinates": ["j2"]},
                   "j1": {**joint, "parent": "rod2", "child": "rod1", "at": [0, 0, -0.4], "coordinates": ["j1"]}},
    }).compile()  # fmt: skip
    robot = load(arm).compile()
    assert list(robot.coordinates) == ["j2", "j1"]
    q, u = [0.4, -0.7], [1.1, 0.3]
    np.testing.assert_allclose(
        robot.accelerations(0.0, q, u), plain.accelerations(0.0, q, u), rtol=1e-13
    )


def test_xacro_arguments_belong_to_the_file(arm: Path, tmp_path: Path, capsys):
    assert load(arm, arguments={"links": 3, "prefix": "left_"}).compile().coordinates == (
        "left_j3",
        "left_j2",
        "left_j1",
    )
    out = tmp_path / "left.toml"
    assert (
        main(["import", str(arm), "--arg", "prefix=left_", "--arg", "links:=1", "-o", str(out)])
        == 0
    )
    assert load(out).compile().coordinates == ("left_j1",)
    assert (
        main(["import", str(arm), "--arg", "links", "-o", str(out), "--force"]) == 2
        and "NAME=VALUE" in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("<robot", "cannot read"),
        (
            '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:nothing/></robot>',
            "nothing",
        ),
        (
            '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:include filename="gone.xacro"/></robot>',
            "gone.xacro",
        ),
        (
            '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><link name="${1/0}"/></robot>',
            "division",
        ),
        (
            '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><link name="$(arg missing)"/></robot>',
            "missing",
        ),
        (
            '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:include filename="$(find nobody)/a.xacro"/></robot>',
            "cannot read|not there",
        ),
    ],
)
def test_unreadable_xacro_is_refused(text: str, says: str, tmp_path: Path):
    path = tmp_path / "bad.xacro"
    path.write_text(text)
    with pytest.raises(ModelError, match=says):
        load(path)
