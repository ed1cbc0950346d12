"""Models of Modelica.Mechanics.MultiBody as descriptions."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from modelica_models import DOUBLE_PENDULUM, DRIVEN, FOUR_BAR, LOOSE, NESTED

from kinetree.models import ModelError, load
from kinetree.models.foreign.modelica import describe

pytest.importorskip("pymoca")
DATA = Path(__file__).parents[1] / "data"


def read(tmp_path: Path, text: str, model: str = "") -> tuple[dict, list[str]]:
    path = tmp_path / "model.mo"
    path.write_text(text, encoding="utf-8")
    return describe(path, model)


def test_spatial_four_bar_matches_modelica_standard_library(tmp_path):
    """Six revolute joints and a prismatic one in a loop; massless bodies between joints are none."""
    description, told = read(tmp_path, FOUR_BAR)
    assert told == [] and len(description["bodies"]) == 3 and len(description["joints"]) == 4
    with (DATA / "msl_four_bar1.csv").open() as file:
        head, *rows = csv.reader(file)
    reference = dict(zip(head, np.array(rows, float).T, strict=True))
    result = load(description).compile().simulate(stop_time=5.0, output_step=0.1, tolerance=1e-10)
    for name, column in (
        ("j1.phi", "phi_j1"), ("der(j1.phi)", "w_j1"), ("slide", "s_j2"), ("der(j2.s)", "v_j2"),
    ):  # fmt: skip
        assert result[name] == pytest.approx(reference[column], abs=1e-6)


def test_modelica_box_masses_and_axis_damping_are_imported(tmp_path):
    """The double pendulum: box of 0.5 m x 0.06 m x 0.06 m of 7700 kg/m3."""
    description, told = read(tmp_path, DOUBLE_PENDULUM)
    mass = 7700 * 0.5 * 0.06**2
    box = description["bodies"]["box1"]
    assert told == [] and box["mass"] == pytest.approx(mass, rel=1e-12)
    assert box["com"] == pytest.approx([0.25, 0, 0])
    across = mass / 12 * (0.25 + 0.06**2)
    assert box["inertia"][:3] == pytest.approx([mass / 12 * 2 * 0.06**2, across, across], rel=1e-12)
    assert description["forces"]["damper"] == {"coordinate": "upper.phi", "damping": 0.1}
    assert description["gravity"] == pytest.approx([0, -9.80665, 0])
    system = load(description).compile()
    q, u = system.start()
    by_name = dict(zip((*system.coordinates, *system.speeds), (*q, *u), strict=True))
    assert by_name["lower.phi"] == 0.3 and by_name["der(lower.phi)"] == -1.0


def test_nested_modelica_models_receive_their_parameters(tmp_path):
    """Parameters by expressions, modifications from outside, fixed turns, connectors by any name."""
    description, told = read(tmp_path, NESTED)
    bars = description["bodies"]
    assert set(bars) == {"first.bar", "second.bar"}
    assert bars["first.bar"]["mass"] == 2 and bars["second.bar"]["mass"] == 7
    assert bars["first.bar"]["inertia"][1] == pytest.approx(2 * 4 / 12)
    assert bars["first.bar"]["inertia"][3] == pytest.approx(0.001)
    assert len(told) == 1 and told[0].startswith("cut (Sensors.CutForce)")
    result = load(description).compile().simulate(stop_time=0.0, output_step=0.1)
    # the second hinge turns about the z axis of the first bar, which hangs down by its start
    a = 0.2
    first = np.array([[math.cos(a), 0, math.sin(a)], [0, 1, 0], [-math.sin(a), 0, math.cos(a)]])
    b = 0.05
    x = np.array([math.cos(b), math.sin(b), 0])
    second = first @ np.column_stack([x, [0, 0, 1], [math.sin(b), -math.cos(b), 0]])
    # the sensor takes its vector in the axes of its frame, as the library has it
    tip = second.T @ first @ (np.array([2.1, 0, 0]) + 0.5 * x)
    found = [result[f"tip[{k}]"][0] for k in (1, 2, 3)]
    assert found == pytest.approx(tip, abs=1e-12)


def test_one_dimensional_components_act_on_the_axes_of_joints(tmp_path):
    description, told = read(tmp_path, DRIVEN)
    system = load(description).compile()
    q, u = system.start()
    found = dict(zip(system.speeds, system.accelerations(0.0, q, u), strict=True))
    assert found["der(wheel.phi)"] == pytest.approx(4 / (0.5 + 1.5))
    # the spring's flange_b is fixed: s_rel = -s
    assert found["der(slide.s)"] == pytest.approx(-50 * (0.2 + 0.05) / 2)
    pushed = system.accelerations(0.0, q, u, inputs={"push.f": 3.0})
    assert dict(zip(system.speeds, pushed, strict=True))["der(slide.s)"] == pytest.approx(
        (-50 * (0.2 + 0.05) + 3) / 2
    )
    assert any("push.f" in each for each in told)


def test_free_modelica_bodies_start_at_modelled_positions(tmp_path):
    """A stone with start angles and speeds, a bead on a spring, a bob on a rod."""
    description, told = read(tmp_path, LOOSE)
    description["outputs"] = {
        "r": {"quantity": "position", "body": "stone"},
        "v": {"quantity": "velocity", "body": "stone"},
        "w": {"quantity": "angular_velocity", "body": "stone"},
        "x": {"quantity": "position", "body": "stone", "point": [1, 0, 0]},
        "far": {"quantity": "position", "body": "bob"},
    }
    result = load(description).compile().simulate(stop_time=0.5, output_step=0.5, tolerance=1e-10)
    at = lambda name, row: [result[f"{name}[{k}]"][row] for k in (1, 2, 3)]  # noqa: E731
    assert at("r", 0) == pytest.approx([1, 2, 3]) and at("v", 0) == pytest.approx([0.5, 0, 0])
    assert at("w", 0) == pytest.approx([0, 1, 2], abs=1e-12)
    from scipy.spatial.transform import Rotation

    R = Rotation.from_euler("XYZ", [0.2, -0.3, 0.4]).as_matrix()
    assert np.array(at("x", 0)) - at("r", 0) == pytest.approx(R[:, 0])
    assert np.linalg.norm(at("far", 1)) == pytest.approx(2.0, abs=1e-8)
    bead = system_acceleration(description, "bead.r_0_3")
    assert bead == pytest.approx(100 * 0.2 / 0.5 - 9.81)


def system_acceleration(description: dict, coordinate: str) -> float:
    system = load(description).compile()
    q, u = system.start()
    return dict(zip(system.speeds, system.accelerations(0.0, q, u), strict=True))[
        f"der({coordinate})"
    ]


def test_modelica_models_are_selected_by_name(tmp_path):
    text = DOUBLE_PENDULUM + FOUR_BAR
    assert read(tmp_path, text)[0]["name"] == "SpatialFourBar"
    assert read(tmp_path, text, "DoublePendulum")[0]["name"] == "DoublePendulum"
    assert load(tmp_path / "model.mo").compile().freedoms == 1
    with pytest.raises(ModelError, match="SpatialFourBar"):
        read(tmp_path, text, "Triple")


def test_untranslatable_modelica_components_are_named_with_path(tmp_path):
    text = DOUBLE_PENDULUM.replace(
        "equation",
        "  Modelica.Mechanics.MultiBody.Joints.RollingWheelSet gear;\n"
        "  Modelica.Mechanics.Rotational.Components.IdealGear ideal(ratio=3);\n"
        "  Real power;\nequation\n  power = damper.tau*upper.w;",
    ).replace("model DoublePendulum", "model DoublePendulum extends Base.Machine;")
    _, told = read(tmp_path, text)
    for path in ("gear (", "ideal (", "Base.Machine", "an equation"):
        assert any(path in each for each in told), path


BAD = {
    "no Modelica": "model A Real x = ((1; end A;",
    "nothing": "",
    "no model": "package P constant Real x = 1; end P;",
    "unknown name": DOUBLE_PENDULUM.replace("width=0.06", "width=thick"),
    "text for a number": DOUBLE_PENDULUM.replace("{0.5,0,0}", '"long"'),
    "two numbers": DOUBLE_PENDULUM.replace("{0.5,0,0}", "{0.5,0}"),
    "start of one number": "model A inner World w; Parts.PointMass m(r_0(start={1})); end A;",
    "start of a body": 'model A inner World w; Parts.Body m(r_0(start="x")); end A;',
    "start of a text": 'model A inner World w; Parts.RollingWheel m(angles(start="x")); end A;',
    "no direction": FOUR_BAR.replace("n={1,0,0}", "n={0,0,0}"),
    "deep": "model A parameter Real x = " + "(" * 3000 + "1" + ")" * 3000 + "; end A;",
    "itself": "model A A a; end A;",
    "no bodies": "model A inner World world; end A;",
}


@pytest.mark.parametrize("name", BAD)
def test_unreadable_modelica_models_are_refused_in_one_line(tmp_path, name):
    with pytest.raises(ModelError) as caught:
        read(tmp_path, BAD[name])
    assert "model.mo" in str(caught.value) and len(str(caught.value).splitlines()) == 1
