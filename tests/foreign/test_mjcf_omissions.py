"""What of MJCF has no counterpart here is said, each by its name; what has one that few models use is taken over."""

from pathlib import Path

import numpy as np
import pytest

from kinetree.models import load

pytest.importorskip("mujoco")

BODIES = """<worldbody>
 <body name="a" pos="0 0 1"><joint name="turn" axis="0 1 0"/><geom size="0.1" mass="1"/>
  <body name="b" pos="0.5 0 0"><joint name="ball" type="ball"/><geom size="0.1" mass="1"/><site name="tip" pos="0.1 0 0"/></body>
 </body>
 <body name="c" pos="0 1 1"><joint name="slide" type="slide" axis="1 0 0"/><geom size="0.1" mass="1"/><site name="end"/></body>
</worldbody>"""


def left_out(tmp_path: Path, more: str, option: str = "") -> str:
    path = tmp_path / "m.xml"
    path.write_text(f"<mujoco>{option}{BODIES}{more}</mujoco>")
    return "\n".join(map(str, load(path).description.left_out))


@pytest.mark.parametrize(
    ("more", "option", "told"),
    [
        ('<equality><joint name="off" joint1="turn" joint2="slide" active="false"/></equality>', "", "equality 'off', which is switched off"),
        ("", '<option density="1.2"/>', "forces of the surrounding fluid"),
        (
            '<tendon><spatial name="t" stiffness="3"><site site="tip"/><site site="end"/></spatial></tendon>', "", "1 tendons",
        ),
        (
            '<tendon><spatial name="t"><site site="tip"/><site site="end"/></spatial></tendon>'
            '<equality><tendon name="tied" tendon1="t"/></equality>', "", "equality 'tied', which is of a kind not known here",
        ),
        (
            '<tendon><spatial name="t"><site site="tip"/><site site="end"/></spatial></tendon><actuator><motor name="m" tendon="t"/></actuator>',
            "", "actuator 'm', which is of a kind not known here",
        ),
        (
            '<actuator><motor name="m" joint="turn" group="3"/></actuator>', '<option actuatorgroupdisable="3"/>',
            "actuator 'm', which is switched off",
        ),
        (
            '<actuator><motor name="m" joint="turn"/></actuator>', '<option><flag actuation="disable"/></option>',
            "actuator 'm', which is switched off",
        ),
    ],
)  # fmt: skip
def test_mjcf_disabled_features_are_listed(tmp_path: Path, more: str, option: str, told: str):
    assert told in left_out(tmp_path, more, option=option)


def test_free_joint_armature_is_listed(tmp_path: Path):
    path = tmp_path / "m.xml"
    path.write_text(
        '<mujoco><worldbody><body><joint type="free" name="root" armature="0.5"/>'
        '<geom size="0.1" mass="1"/></body></worldbody></mujoco>'
    )
    told = [each for each in load(path).description.left_out if "armature" in each]
    assert len(told) == 1 and "0.5" in told[0] and "'root'" in told[0]


def test_mjcf_weld_of_two_trees_becomes_rigid_joint(tmp_path: Path):
    """Closed by a joint that leaves nothing free: the slide moves as the arm turns."""
    said = left_out(tmp_path, '<equality><weld name="w" body1="b" body2="c"/></equality>')
    joints = load(tmp_path / "m.xml").description.joints
    assert joints["w"].type == "rigid" and "weld" not in said


@pytest.mark.parametrize(
    ("kind", "extra"),
    [("filter", 'dynprm="0.2"'), ("integrator", 'actlimited="true" actrange="-1 1"')],
)
def test_mjcf_actuator_activations_become_states(tmp_path: Path, kind: str, extra: str):
    """A command through a lag or an integrator, beside MuJoCo's own rate of activation."""
    text = f'<actuator><general name="m" joint="turn" gainprm="3" dyntype="{kind}" {extra}/></actuator>'
    left_out(tmp_path, text)
    system = load(tmp_path / "m.xml").compile()
    assert list(system.compiled.states) == ["m.activation"]
    (name,) = list(load(tmp_path / "m.xml").description.inputs)
    result = system.simulate(0.01, inputs={name: 0.5}, tolerance=1e-9)
    exact = 0.5 * (1 - np.exp(-0.01 / 0.2)) if kind == "filter" else 0.5 * 0.01
    assert result["m.activation"][-1] == pytest.approx(exact, rel=1e-6)
