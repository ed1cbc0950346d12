"""URDF against Pinocchio: accelerations, masses and energies of robots as others read them; what cannot be read is said."""

from pathlib import Path

import numpy as np
import pytest

from kinetree.models import ModelError, load

pin = pytest.importorskip("pinocchio")
pytest.importorskip("yourdfpy")
from beside_pinocchio import differences  # noqa: E402

ROBOTS = Path(pin.__file__).parents[4] / "share" / "example-robot-data" / "robots"

# a joint with a name no expression takes plainly, a turned inertia, fixed links with mass before and behind a joint, a slide, a follower, friction
ARM = """<robot name="arm">
<link name="base"><inertial><mass value="3"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="post"><inertial><origin xyz="0 0 0.2" rpy="0.1 0.2 0.3"/><mass value="1"/>
 <inertia ixx="0.1" iyy="0.2" izz="0.15" ixy="0.01" ixz="0" iyz="0"/></inertial></link>
<link name="upper"><inertial><origin xyz="0.1 0 0" rpy="0.3 0 0"/><mass value="2"/>
 <inertia ixx="0.1" iyy="0.2" izz="0.15" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="flange"/>
<link name="tool"><inertial><origin xyz="0 0.1 0.1" rpy="0 0.5 0"/><mass value="0.7"/>
 <inertia ixx="0.02" iyy="0.03" izz="0.01" ixy="0" ixz="0.001" iyz="0"/></inertial></link>
<link name="finger"><inertial><mass value="0.2"/><inertia ixx="0.002" iyy="0.003" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="foot" type="fixed"><parent link="base"/><child link="post"/><origin xyz="0 0 0.5" rpy="0 0 0.4"/></joint>
<joint name="j-1" type="revolute"><parent link="post"/><child link="upper"/><origin xyz="0 0 1" rpy="0.2 0 0"/><axis xyz="0 1 0"/>
 <limit lower="-1" upper="1.5" effort="20" velocity="1"/><dynamics damping="0.3" friction="0.2"/></joint>
<joint name="plate" type="fixed"><parent link="upper"/><child link="flange"/><origin xyz="0.5 0 0" rpy="0 0 1.5707963267948966"/></joint>
<joint name="weld" type="fixed"><parent link="flange"/><child link="tool"/><origin xyz="0 0.1 0" rpy="0.7 0 0"/></joint>
<joint name="slide" type="prismatic"><parent link="tool"/><child link="finger"/><origin xyz="0 0 0.1" rpy="0 0 0"/><axis xyz="0 0.6 0.8"/>
 <limit lower="0" upper="0.1" effort="5" velocity="1"/></joint>
</robot>"""


def written(tmp_path: Path, text: str = ARM) -> str:
    path = tmp_path / "arm.urdf"
    path.write_text(text)
    return str(path)


def state_of(system, model, q, v):
    """Our state for Pinocchio's; joints by their names."""
    ours_q, ours_u = (np.array(part) for part in system.start())
    order = []
    for j in range(1, model.njoints):
        joint, name = model.joints[j], model.names[j]
        part = q[joint.idx_q : joint.idx_q + joint.nq]
        ours_q[system.coordinates.index(name)] = (
            np.arctan2(part[1], part[0]) if joint.nq == 2 else part[0]
        )
        k = system.speeds.index(f"der({name})")
        ours_u[k] = v[joint.idx_v]
        order.append((k, joint.idx_v))
    ours, theirs = np.array(order).T
    return ours_q, ours_u, ours, theirs


def compare(path: str, tolerance: float) -> None:
    """Accelerations, energy and mass at a random state; loads are the rubbing of the joints, which Pinocchio leaves out."""
    mechanism = load(path)
    system = mechanism.compile()
    model = pin.buildModelFromUrdf(path)
    data = model.createData()
    rng = np.random.default_rng(1)
    q, v = pin.randomConfiguration(model), rng.normal(size=model.nv)
    ours_q, ours_u, ours, theirs = state_of(system, model, np.array(q), v)
    rubbing = np.zeros(model.nv)
    for name, force in mechanism.description.forces.items():
        j = model.joints[model.getJointId(name.removesuffix(".friction"))].idx_v
        viscous = getattr(force, "viscous", 0.0) or getattr(force, "damping", 0.0)
        rubbing[j] -= (
            getattr(force, "coulomb", 0.0) * np.tanh(v[j] / getattr(force, "speed", 1.0))
            + viscous * v[j]
        )
    model.damping[:] = 0.0
    expected = pin.aba(model, data, q, v, rubbing)
    found = system.accelerations(0.0, ours_q, ours_u)
    assert np.abs(found[ours] - expected[theirs]).max() <= tolerance * np.abs(expected).max()
    kinetic, _ = system.energy(0.0, ours_q, ours_u)
    assert kinetic == pytest.approx(pin.computeKineticEnergy(model, data, q, v), rel=tolerance)


def test_urdf_arm_matches_pinocchio(tmp_path: Path):
    compare(written(tmp_path), 1e-13)


def test_fixed_urdf_links_merge_with_parent(tmp_path: Path):
    path = written(tmp_path)
    merged, apart = load(path), load(path, keep_fixed=True)
    assert list(merged.description.bodies) == ["base", "upper", "finger"]
    assert list(apart.description.bodies) == ["base", "post", "upper", "flange", "tool", "finger"]
    assert sum(float(body.mass) for body in merged.description.bodies.values()) == pytest.approx(
        6.9, rel=1e-15
    )
    q, u = np.array([0.3, 0.05]), np.array([0.5, -0.2])
    same = merged.compile().accelerations(0.0, q, u), apart.compile().accelerations(0.0, q, u)
    assert same[0] == pytest.approx(same[1], rel=1e-13)


def test_urdf_base_is_free_on_request(tmp_path: Path):
    system = load(written(tmp_path), floating=True).compile()
    model = pin.buildModelFromXML(ARM, pin.JointModelFreeFlyer())
    data = model.createData()
    q, u = (np.array(part) for part in system.start())
    v = np.random.default_rng(2).normal(size=model.nv)
    for name, value in (("j-1", 0.4), ("slide", 0.03)):
        q[system.coordinates.index(name)] = value
        u[system.speeds.index(f"der({name})")] = v[model.joints[model.getJointId(name)].idx_v]
    u[
        [system.speeds.index(f"root_joint.{each}") for each in ("vx", "vy", "vz", "wx", "wy", "wz")]
    ] = v[:6]
    theirs = pin.neutral(model)
    theirs[7:] = 0.4, 0.03
    kinetic, _ = system.energy(0.0, q, u)
    assert system.n == 8
    assert kinetic == pytest.approx(pin.computeKineticEnergy(model, data, theirs, v), rel=1e-13)


def test_urdf_limits_and_torques_are_imported_by_option(tmp_path: Path):
    path = written(tmp_path)
    plain, full = load(path), load(path, limits=True, torques=True)
    assert not plain.description.inputs
    system = full.compile()
    assert set(full.description.inputs) == {"j-1.torque", "slide.force"}
    q, u = np.array([0.3, 0.05]), np.zeros(2)
    pushed = system.accelerations(0.0, q, u, inputs={"j-1.torque": 2.0}) - system.accelerations(
        0.0, q, u
    )
    M = system.mass_matrix(0.0, q)
    assert M @ pushed == pytest.approx([2.0, 0.0], abs=1e-12)
    beyond = system.accelerations(0.0, np.array([1.6, 0.05]), u) - plain.compile().accelerations(
        0.0, np.array([1.6, 0.05]), u
    )
    assert (M @ beyond)[
        0
    ] < -20.0  # the force at the bound is the joint's effort and grows beyond it


def test_urdf_mimic_joints_become_couplings(tmp_path: Path):
    mimic = '<limit lower="0" upper="0.1" effort="5" velocity="1"/><mimic joint="j-1" multiplier="0.5" offset="0.02"/></joint>\n</robot>'
    path = written(
        tmp_path,
        ARM.replace(
            '<limit lower="0" upper="0.1" effort="5" velocity="1"/></joint>\n</robot>', mimic
        ),
    )
    result = load(path).compile().simulate(stop_time=0.5, output_step=0.1, tolerance=1e-10)
    assert result["slide"] == pytest.approx(0.5 * result["j-1"] + 0.02, abs=1e-9)


ROBOT_FILES = (
    "ur_description/urdf/ur5_robot.urdf", "talos_data/robots/talos_reduced.urdf", "hyq_description/robots/hyq_no_sensors.urdf",
    "anymal_b_simple_description/robots/anymal.urdf", "kinova_description/robots/kinova.urdf", "g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf",
    "allegro_hand_description/urdf/allegro_left_hand.urdf", "tiago_description/robots/tiago.urdf", "solo_description/robots/solo12.urdf",
)  # fmt: skip


@pytest.mark.parametrize("name", ROBOT_FILES)
def test_urdf_robots_match_pinocchio(name: str):
    path = ROBOTS / name
    if not path.is_file():
        pytest.skip(
            "the package example-robot-data is not installed, or holds another set of robots"
        )
    compare(str(path), 1e-11)


@pytest.mark.slow
def test_every_example_robot_matches_pinocchio():
    """On the ground and floating: forces, energies and masses as Pinocchio has them; the one file that is no URDF is refused."""
    refused = []
    for path in sorted(ROBOTS.rglob("*.urdf")):
        try:
            for floating in (False, True):
                found = differences(path, floating)
                assert max(found.values()) < 1e-11, (path, floating, found)
        except ModelError as error:
            refused.append(str(error))
    assert all("a tag without 'name'" in error for error in refused) and len(refused) <= 1, refused


def test_small_urdf_axis_misalignment_is_kept(tmp_path: Path):
    """A turn of 5e-8 beside one of a quarter stays."""
    path = written(tmp_path, ARM.replace('rpy="0.2 0 0"', 'rpy="1.5708 -5e-8 0"'))
    assert max(differences(Path(path), False).values()) < 1e-11


@pytest.mark.parametrize(
    "text, word",
    [
        ("<robot>", "no XML"),
        ("", "no XML"),
        ('<robot name="r"></robot>', "0 links"),
        ('<robot name="r"><link name="a"/><link name="b"/></robot>', "without a parent"),
        (
            '<robot name="r"><link name="a"/><joint name="j" type="revolute"><parent link="a"/><child link="c"/></joint></robot>',
            "no link",
        ),
        (
            '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="magic"><parent link="a"/><child link="b"/></joint></robot>',
            "magic",
        ),
    ],
)
def test_invalid_urdf_files_are_refused(tmp_path: Path, text: str, word: str):
    with pytest.raises(ModelError, match=word):
        load(written(tmp_path, text))


def test_missing_urdf_file_is_refused(tmp_path: Path):
    with pytest.raises(ModelError, match="no file"):
        load(str(tmp_path / "none.urdf"))


def test_urdf_visuals_become_shapes(tmp_path: Path):
    """A shape of a fixed link stands on the body that carries the link, where it stood in the file."""
    look = '<geometry><box size="1 2 3"/></geometry><material name="m"><color rgba="1 0 0 0.5"/></material>'
    visual = f'<visual><origin xyz="0 0 0.1" rpy="0 0.5 0"/>{look}</visual>'
    body = load(
        written(tmp_path, ARM.replace('<link name="tool">', f'<link name="tool">{visual}'))
    ).description.bodies["upper"]
    (shape,) = body.shapes
    at = np.array([0.5, 0.0, 0.0]) + np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]]) @ (
        np.array([0, 0.1, 0])
        + np.array([[1, 0, 0], [0, np.cos(0.7), -np.sin(0.7)], [0, np.sin(0.7), np.cos(0.7)]])
        @ np.array([0, 0, 0.1])
    )
    assert shape.box == (1.0, 2.0, 3.0) and shape.colour == "#ff0000" and shape.opacity == 0.5
    assert np.array(shape.at, float) == pytest.approx(at, abs=1e-15)


def test_written_description_equals_urdf_robot(tmp_path: Path):
    """What `kinetree import` writes moves as the robot's file does."""
    from kinetree.models.description.reading.read_source import foreign_reader
    from kinetree.models.foreign.toml_text import toml_text

    path = written(tmp_path)
    description, left_out = foreign_reader(path)()
    (tmp_path / "arm.toml").write_text(toml_text(description, left_out))
    q, u = np.array([0.3, 0.05]), np.array([0.5, -0.2])
    both = [
        load(each).compile().accelerations(0.0, q, u) for each in (path, str(tmp_path / "arm.toml"))
    ]
    assert (both[0] == both[1]).all()


def test_massless_urdf_joints_are_fixed_and_listed(tmp_path):
    """A massless finger stays where it is; one that follows a joint with mass behind it moves; a mirrored mesh is left out of pictures."""
    more = """<link name="tip"><visual><geometry><mesh filename="x.stl" scale="1 -1 1"/></geometry></visual></link>
<link name="led"/>
<joint name="idle" type="revolute"><parent link="finger"/><child link="tip"/><axis xyz="0 0 1"/>
 <limit lower="0" upper="1" effort="1" velocity="1"/></joint>
<joint name="led" type="revolute"><parent link="finger"/><child link="led"/><axis xyz="0 0 1"/><mimic joint="j-1" multiplier="2"/>
 <limit lower="0" upper="1" effort="1" velocity="1"/></joint></robot>"""
    mechanism = load(written(tmp_path, ARM.replace("</robot>", more)))
    assert (
        "led" in mechanism.compile().coordinates and "idle" not in mechanism.compile().coordinates
    )
    said = " ".join(mechanism.description.left_out)
    assert "joint 'idle' moves nothing that has mass" in said and "mesh of link 'tip'" in said
