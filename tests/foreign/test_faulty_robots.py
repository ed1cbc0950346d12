"""Faults of robot files: what is no XML is refused with its line, what no body has is said."""

from pathlib import Path

import pytest

from kinetree.models import ModelError, load

pytest.importorskip("yourdfpy")

INERTIA = '<inertia ixx="0.1" iyy="0.2" izz="0.25" ixy="0" ixz="0" iyz="0"/>'
ROBOT = f"""<?xml version="1.0"?>
<robot name="r">
<link name="base"/>
<link name="arm">
<inertial><origin xyz="0.1 0 0"/><mass value="2"/>{INERTIA}</inertial>
</link>
<link name="tip"/>
<joint name="j" type="revolute">
<parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/>
</joint>
<joint name="k" type="fixed"><parent link="arm"/><child link="tip"/></joint>
</robot>
"""
MODEL = """<mujoco>
<worldbody>
<body><joint/><geom size="1"/></body>
</worldbody>
</mujoco>
"""
ASSEMBLY = """<SimscapeMultibodyImportXML>
<A>
</A>
</SimscapeMultibodyImportXML>
"""


def read(tmp_path: Path, text: str, name: str = "r.urdf", **options: bool):
    (tmp_path / name).write_text(text)
    return load(str(tmp_path / name), **options).description


def told(tmp_path: Path, text: str, **options: bool) -> str:
    return "\n".join(read(tmp_path, text, **options).left_out)


@pytest.mark.parametrize(
    "old, new, line, word",
    [
        ("</robot>\n", "", 13, "<robot> of line 2"),  # complete up to the last tag
        ('<joint name="k"', '</robot>\n<joint name="k"', 13, "behind"),
        ("</link>", "</lnk>", 6, "<link> of line 4"),
        ('type="revolute"', 'type="revolute', 9, "<robot> of line 2"),
        ('<axis xyz="0 1 0"/>', '<axis xyz="0 1 0">', 11, "<axis> of line 9"),
        ('<parent link="base"/>', "", 8, "'j' without <parent>"),
        (ROBOT, "", 1, "ends too early"),
    ],
)
def test_urdf_that_is_no_xml_is_refused_with_its_line(
    tmp_path: Path, old: str, new: str, line: int, word: str
):
    with pytest.raises(ModelError) as refused:
        read(tmp_path, ROBOT.replace(old, new))
    (problem,) = refused.value.problems
    assert problem.line == line and problem.file.endswith("r.urdf") and word in str(problem)


@pytest.mark.parametrize(
    "name, text, line",
    [
        ("m.xml", MODEL.replace("</body>", ""), 4),
        ("m.xml", MODEL + MODEL, 6),
        ("m.mjcf", MODEL.replace("</mujoco>\n", ""), 5),
        ("s.xml", ASSEMBLY.replace("</A>", "</B>"), 3),
        ("s.xml", ASSEMBLY.replace("</SimscapeMultibodyImportXML>\n", ""), 4),
    ],
)
def test_other_files_that_are_no_xml_are_refused_with_their_line(
    tmp_path: Path, name: str, text: str, line: int
):
    pytest.importorskip("mujoco")
    with pytest.raises(ModelError) as refused:
        read(tmp_path, text, name)
    (problem,) = refused.value.problems
    assert problem.line == line and problem.file.endswith(name)


def test_urdf_habits_that_no_reader_refuses_are_read(tmp_path: Path):
    """Blanks before the declaration, hyphens in a comment, a name space without a declaration."""
    plain = read(tmp_path, ROBOT)
    loose = "\n " + ROBOT.replace(
        "</robot>", "<!-- a -- b ---->\n<sensor:camera><x/></sensor:camera></robot>"
    )
    found = read(tmp_path, loose)
    assert found.bodies == plain.bodies and list(found.joints) == list(plain.joints)


@pytest.mark.parametrize(
    "moments, said",
    [
        ('ixx="0.1" iyy="0.2" izz="0.29"', False),
        ('ixx="0.1" iyy="0.2" izz="0.3001"', False),  # three digits of a plate
        ('ixx="0.1" iyy="0.2" izz="0.5"', True),
        ('ixx="-0.01" iyy="0.2" izz="0.2"', True),  # 0.01 kg.m2 about the joint's x at com z
        ('ixx="-1e-20" iyy="0" izz="1e-20"', False),  # a point, rounded
    ],
)
def test_urdf_inertia_that_no_body_has_is_said(tmp_path: Path, moments: str, said: bool):
    text = ROBOT.replace('ixx="0.1" iyy="0.2" izz="0.25"', moments).replace(
        'xyz="0.1 0 0"', 'xyz="0 0 0.1"'
    )
    found = told(tmp_path, text)
    assert ("inertia of link 'arm'" in found) == said, found
    if "0.5" in moments:
        assert "0.1, 0.2, 0.5" in found


@pytest.mark.parametrize(
    "moments",
    ['ixx="-0.01" iyy="0.2" izz="0.2" ixy="0"', 'ixx="0.1" iyy="0.2" izz="0.2" ixy="0.5"'],
)
def test_urdf_link_of_negative_inertia_is_refused(tmp_path: Path, moments: str):
    text = ROBOT.replace('ixx="0.1" iyy="0.2" izz="0.25" ixy="0"', moments)
    for options in ({}, {"keep_fixed": True}, {"floating": True}):
        with pytest.raises(ModelError, match="link 'arm' with negative inertia"):
            read(tmp_path, text, **options)


def test_urdf_negative_moment_of_small_fixed_part_is_said(tmp_path: Path):
    """The antennas of a robot have such data; with what carries them the motion is defined."""
    small = '<inertial><mass value="1e-6"/><inertia ixx="-1e-8" iyy="2e-8" izz="2e-8" ixy="0" ixz="0" iyz="0"/></inertial>'
    text = ROBOT.replace('<link name="tip"/>', f'<link name="tip">{small}</link>')
    assert "link 'tip'" in told(tmp_path, text) and "link 'tip'" in told(
        tmp_path, text, keep_fixed=True
    )


@pytest.mark.parametrize("mass", ["-1", "nan"])
def test_urdf_mass_that_is_none_is_refused(tmp_path: Path, mass: str):
    with pytest.raises(ModelError, match="mass"):
        read(tmp_path, ROBOT.replace('mass value="2"', f'mass value="{mass}"'))


def test_missing_urdf_mesh_is_said(tmp_path: Path):
    visual = '<visual><geometry><mesh filename="package://looks/none.stl"/></geometry></visual>'
    text = ROBOT.replace('<link name="tip"/>', f'<link name="tip">{visual}</link>')
    (line,) = (each for each in told(tmp_path, text).splitlines() if "mesh" in each)
    assert "link 'tip'" in line and "package://looks/none.stl" in line
    (tmp_path / "none.stl").write_text("solid none\nendsolid none\n")
    folder = tmp_path / "looks"
    folder.mkdir()
    (tmp_path / "none.stl").rename(folder / "none.stl")
    from kinetree.models.foreign.urdf import describe

    assert not any("mesh" in each for each in describe(tmp_path / "r.urdf")[1])


def test_urdf_limits_without_stops_are_said(tmp_path: Path):
    assert "limits of 1 joints (--limits" in told(tmp_path, ROBOT)
    assert "limits" not in told(tmp_path, ROBOT, limits=True)
    assert "limits" not in told(tmp_path, ROBOT.replace("revolute", "continuous"))
