"""MJCF against MuJoCo: accelerations of one model with every kind of joint, motion under its actuators, equalities; what is left out is said."""

import os
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from kinetree.models import ModelError, load

mujoco = pytest.importorskip("mujoco")
from beside_mujoco import differences  # noqa: E402

# compound joints about anchors off the origin, references, a ball among hinges, a free body, fixed bodies, springs, compensation of weight
MACHINE = """<mujoco model="machine">
<option gravity="0.3 0 -9.81"/>
<worldbody>
 <body name="column" pos="0 0 1" euler="10 20 0">
  <joint name="turn" type="hinge" axis="0 0 1" pos="0.1 0 0" damping="0.2" armature="0.3"/>
  <joint name="lift" type="slide" axis="0 1 1" ref="0.1" stiffness="30" springref="0.05" armature="0.4"/>
  <inertial pos="0.1 0 0.2" mass="2" fullinertia="0.2 0.3 0.25 0.01 0.02 0.03"/>
  <body name="plate" pos="0.3 0 0" euler="0 0 30" gravcomp="0.5">
   <inertial pos="0 0.1 0" mass="1" diaginertia="0.1 0.1 0.15" euler="30 0 0"/>
   <body name="arm" pos="0 0.2 0">
    <joint name="a-1" type="hinge" axis="1 0 0" ref="20"/>
    <joint name="a-2" type="hinge" axis="0 1 0" pos="0 0 -0.1"/>
    <joint name="ball" type="ball" pos="0 0 0.1" armature="0.05"/>
    <inertial pos="0 0 -0.3" mass="1.5" diaginertia="0.1 0.12 0.05"/>
   </body>
  </body>
 </body>
 <body name="stone" pos="2 0 1"><freejoint name="loose"/><inertial pos="0.1 0 0" mass="1" diaginertia="0.1 0.2 0.25"/></body>
</worldbody>
<actuator>
 <motor name="turn_motor" joint="turn" gear="3"/>
 <position name="lift_servo" joint="lift" kp="40" kv="2" ctrlrange="-1 1" ctrllimited="true"/>
</actuator>
</mujoco>"""


def written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "machine.xml"
    path.write_text(text)
    return str(path)


def test_every_mjcf_joint_matches_mujoco(tmp_path: Path):
    """At a random state under commands, with the ball at a random turn; bodies of mass zero stand between joints of one body."""
    path = written(tmp_path, MACHINE)
    system = load(path).compile()
    model = mujoco.MjModel.from_xml_path(path)
    data = mujoco.MjData(model)
    rng = np.random.default_rng(3)
    q, u = (np.array(part) for part in system.start())
    for name in ("turn", "lift", "a-1", "a-2"):
        value, speed = rng.normal(0.0, 0.4), rng.normal()
        data.joint(name).qpos, data.joint(name).qvel = value, speed
        q[system.coordinates.index(name)], u[system.speeds.index(f"der({name})")] = value, speed
    turn = rng.normal(size=4)
    turn /= np.linalg.norm(turn)
    data.joint("ball").qpos, data.joint("ball").qvel = turn, (0.3, -0.2, 0.5)
    at = system.coordinates.index("ball.qw")
    q[at : at + 4] = turn
    at = system.speeds.index("ball.wx")
    u[at : at + 3] = 0.3, -0.2, 0.5
    data.ctrl[:] = 0.7, 0.2
    mujoco.mj_forward(model, data)
    found = system.accelerations(0.0, q, u, inputs={"turn_motor": 0.7, "lift_servo": 0.2})
    for name in ("turn", "lift", "a-1", "a-2"):
        assert found[system.speeds.index(f"der({name})")] == pytest.approx(
            data.joint(name).qacc[0], rel=1e-11
        ), name
    assert found[at : at + 3] == pytest.approx(data.joint("ball").qacc, rel=1e-11)
    assert system.energy(0.0, q, u)[0] == pytest.approx(kinetic(model, data), rel=1e-12)


def kinetic(model, data) -> float:
    mujoco.mj_energyVel(model, data)
    return float(data.energy[1])


def test_mjcf_free_body_falls(tmp_path: Path):
    result = load(written(tmp_path, MACHINE)).compile().simulate(stop_time=0.5, output_step=0.1)
    assert result["loose.x"] - result["loose.x"][0] == pytest.approx(
        0.5 * 0.3 * result.time**2, abs=1e-9
    )


def test_mjcf_connections_and_mimic_joints_are_imported(tmp_path: Path):
    """A connection closes a loop, a joint equality is a coupling; both hold along the motion."""
    text = """<mujoco model="loop"><worldbody>
    <body name="a"><joint name="p" type="hinge" axis="0 1 0"/><inertial pos="0.5 0 0" mass="1" diaginertia="0.01 0.1 0.1"/>
     <body name="b" pos="1 0 0"><joint name="q" type="hinge" axis="0 1 0"/><inertial pos="0.5 0 0" mass="1" diaginertia="0.01 0.1 0.1"/></body></body>
    <body name="c" pos="2 0 0"><joint name="r" type="slide" axis="1 0 0"/><inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.1"/></body>
    <body name="d" pos="0 1 0"><joint name="s" type="hinge" axis="0 1 0"/><inertial pos="0.1 0 0" mass="1" diaginertia="0.1 0.1 0.1"/></body>
    </worldbody><equality><connect name="pin" body1="b" body2="c" anchor="1 0 0"/>
    <joint name="gear" joint1="s" joint2="p" polycoef="0 2 0.5 0 0"/></equality></mujoco>"""
    mechanism = load(written(tmp_path, text))
    system = mechanism.compile()
    result = system.simulate(stop_time=0.4, output_step=0.1, tolerance=1e-10)
    assert system.freedoms == 1
    p, q, r = result["p"], result["q"], result["r"]
    assert np.cos(p) + np.cos(p + q) == pytest.approx(2.0 + r, abs=1e-9)
    assert np.sin(p) + np.sin(p + q) == pytest.approx(np.zeros(5), abs=1e-9)
    assert result["s"] == pytest.approx(2.0 * p + 0.5 * p**2, abs=1e-9)


def test_mjcf_omissions_are_listed(tmp_path: Path):
    text = """<mujoco model="m"><worldbody><body name="a"><joint name="j" type="hinge" range="-10 10" limited="true"/>
    <geom type="sphere" size="0.1"/></body></worldbody></mujoco>"""
    left_out = load(written(tmp_path, text)).description.left_out
    assert left_out == ("contacts of 1 geoms", "limits of 1 joints (--limits makes stops of them)")


@pytest.mark.parametrize(
    "text, word",
    [
        ("<mujoco/>", "nothing moves"),
        ("<mujoco><worldbody><body/></worldbody>", "no XML"),
        ("no xml", "is no XML"),
        (
            '<mujoco><worldbody><body name="a"><joint name="j"/></body></worldbody></mujoco>',
            "cannot compile",
        ),
    ],
)
def test_invalid_mjcf_files_are_refused(tmp_path: Path, text: str, word: str):
    with pytest.raises(ModelError, match=word):
        load(written(tmp_path, text))


def test_mjcf_flags_and_motors_are_imported(tmp_path: Path):
    """Gravity switched off, controls without bounds, an actuator group that is off; inertia and damping of motors, bounds of a joint."""
    text = """<mujoco><option actuatorgroupdisable="2"><flag gravity="disable" clampctrl="disable"/></option><worldbody>
    <body><joint name="j" type="hinge" axis="0 1 0" damping="1" actuatorfrcrange="-1 0.5"/>
    <inertial pos="0.1 0 0" mass="2" diaginertia="0.1 0.1 0.1"/>
    <body pos="0 0 1"><joint name="k" type="slide" stiffness="2"/><inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.1"/></body></body></worldbody>
    <actuator><motor name="a" joint="j" gear="3" armature="0.1" damping="0.2" ctrlrange="-1 1"/><motor name="b" joint="j" gear="2"/>
    <motor name="c" joint="k" group="2"/></actuator></mujoco>"""
    path = written(tmp_path, text)
    found = differences(Path(path), states=8)
    assert max(found.values()) < 1e-13, found
    assert load(path).description.left_out == ("actuator 'c', which is switched off",)


@pytest.mark.slow
def test_mjcf_files_of_installed_packages_are_imported():
    """Every model of the packages that are here, and of the folders that KINETREE_MJCF names: read as MuJoCo reads it, or refused with a reason."""
    folders = [
        Path(place) for place in os.environ.get("KINETREE_MJCF", "").split(os.pathsep) if place
    ]
    for package in (
        "mujoco",
        "dm_control",
        "gymnasium",
        "gymnasium_robotics",
        "robosuite",
        "robosuite_models",
    ):
        spec = find_spec(package)
        folders += [Path(place) for place in spec.submodule_search_locations or ()] if spec else []
    files = [
        path
        for folder in folders
        for path in sorted(folder.rglob("*.xml"))
        if "<mujoco" in path.read_text(errors="replace")
    ]
    assert files
    for path in files:
        try:
            found = differences(path)
        except ModelError as error:
            assert "cannot compile" in str(error) or "nothing moves" in str(error), error
            continue
        assert max(found[name] for name in ("forces", "kinetic", "potential", "mass")) < 1e-11, (
            path,
            found,
        )
        assert found["accelerations"] < 1e-10, (path, found)
