"""Warnings of a description, and hostile ones whose message must stay one readable line."""

import math

import pytest

from kinetree.models import ModelError, load
from kinetree.scripts.cli import main


def pendulum(**more) -> dict:
    joint = {"child": "a", "type": "revolute", "axis": "y", "coordinates": ["q"], "start": 0.5}
    body = {"mass": 1.0, "com": [0, 0, -1], "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}
    return {"format": "kinetree/1", "bodies": {"a": body}, "joints": {"j": joint}} | more


def warned(d: dict) -> list[str]:
    return [problem.key for problem in load(d).description.warnings]


GROUND = {"body": "a", "stiffness": 1e4, "friction_speed": 0.1}
WHEEL = GROUND | {
    "kind": "wheel",
    "radius": 0.3,
    "friction": 0.5,
    "slip_stiffness": [9, 9],
    "patch_stiffness": [9, 9],
}
LEG = {"kind": "jack", "axis": "-z", "extension": 0.3}


@pytest.mark.parametrize(
    ("force", "said"),
    [
        (GROUND | {"kind": "contact"}, True),
        (GROUND | {"kind": "contact", "friction": 0.5}, False),
        (GROUND | {"kind": "tyre", "friction": 0.5}, False),
        (GROUND | {"kind": "tyre", "friction": 0.5, "side_stiffness": 1e3}, True),
        (GROUND | LEG | {"friction": "0.5 + 0.1*sin(q)"}, False),
        (GROUND | LEG | {"friction": 0.5, "side_stiffness": 1e3}, True),
        (WHEEL, True),
        ({key: value for key, value in WHEEL.items() if key != "friction_speed"}, False),
    ],
)
def test_too_large_friction_speed_is_warned(force: dict, said: bool):
    """Elastic side forces and patches develop friction by deflection: `friction_speed` was read by nothing."""
    assert warned(pendulum(forces={"f": force})) == ["forces.f.friction_speed"] * said


@pytest.mark.parametrize(
    "shape, said",
    [({}, True), ({"shapes": [{"sphere": 0.1}]}, True), ({"shape": {"sphere": 0.1}}, False)],
)
def test_shape_position_without_shape_is_warned(shape: dict, said: bool):
    d = pendulum()
    d["bodies"]["a"] |= {"at": [0, 0, 0.1]} | shape
    assert warned(d) == ["bodies.a.at"] * said


@pytest.mark.parametrize(
    ("more", "keys"),
    [
        ({}, []),
        ({"parameters": {"k": 1.0}}, ["parameters.k"]),
        ({"parameters": {"k": 1.0, "l": "2*k"}}, ["parameters.l"]),
        ({"parameters": {"k": 1.0}, "outputs": {"o": {"value": "k*q"}}}, []),
        ({"parameters": {"k": 1.0}, "stages": [{"ends": {"at": 1}, "set": {"k": 2}}, {}]}, []),
        ({"tables": {"T": {"x": [0, 1], "y": [0, 1]}}}, ["tables.T"]),
        (
            {
                "tables": {"T": {"x": [0, 1], "y": [0, 1]}},
                "outputs": {"o": {"value": "table('T', q)"}},
            },
            [],
        ),
        (
            {
                "tables": {"T": {"x": [0, 1], "y": [0, 1]}},
                "forces": {"f": {"coordinate": "q", "law": "T"}},
            },
            [],
        ),
        ({"run": {"stop_time": 2}, "stages": [{"ends": {"at": 3}}, {}]}, ["stages[0].ends.at"]),
        (
            {"run": {"stop_time": 2}, "stages": [{"ends": {"at": 1}}, {"ends": {"at": 0.5}}, {}]},
            ["stages[1].ends.at"],
        ),
        ({"run": {"stop_time": 2}, "stages": [{"ends": {"at": 1}}, {}]}, []),
    ],
)
def test_probable_mistakes_are_warned(more: dict, keys: list[str]):
    assert warned(pendulum(**more)) == keys


@pytest.mark.parametrize(
    ("more", "keys"),
    [
        ({"run": {"tolerances": 1e-16}}, ["run.tolerances"]),
        ({"run": {"tolerances": 1e-13}}, []),
        ({"run": {"integrator": "rk4", "step": 0.2, "output_step": 0.1}}, ["run.step"]),
        ({"run": {"integrator": "rk4", "step": 0.1, "output_step": 0.1}}, []),
        ({"run": {"step": 0.2, "output_step": 0.1}}, []),
    ],
)
def test_ignored_run_settings_are_warned(more: dict, keys: list[str]):
    assert warned(pendulum(**more)) == keys


@pytest.mark.parametrize(
    ("start", "count"),
    [([2.0, 0, 0, 0], 1), ([0.7071, 0.7071, 0, 0], 0), ([0.5, 0.5, 0.5, 0.4], 1)],
)
@pytest.mark.parametrize("kind", ["spherical", "free"])
def test_unnormalised_rotations_are_warned(kind: str, start: list[float], count: int):
    joint = {
        "child": "a",
        "type": kind,
        "start": start if kind == "spherical" else [1.0, 2.0, 3.0, *start],
    }
    assert warned(pendulum(joints={"j": joint})) == ["joints.j.start"] * count


def test_too_many_result_rows_are_warned():
    with pytest.raises(ModelError, match="rows"):
        load(pendulum(run={"stop_time": 10, "output_step": 1e-9}))
    system = load(pendulum()).compile()
    with pytest.raises(ValueError, match="1e\\+10 rows"):
        system.simulate(10.0, output_step=1e-9)
    with pytest.raises(ValueError, match="rows"):
        load({"chain": {"mass": [1.0, 1.0], "stiffness": 1.0}}).chain().simulate(
            10.0, output_step=1e-9
        )


@pytest.mark.parametrize(
    ("start", "count"), [(30.0, 1), (-90, 1), (math.pi, 0), ({"value": 30, "unit": "deg"}, 0)]
)
def test_large_start_angle_is_warned(start: object, count: int):
    d = pendulum()
    d["joints"]["j"]["start"] = [start]
    assert warned(d) == ["joints.j"] * count


def test_check_prints_description_warnings(tmp_path, capsys):
    path = tmp_path / "m.toml"
    path.write_text(
        '[parameters]\nk = 1\n[bodies.a]\nmass = 1\n[joints.j]\nchild = "a"\ntype = "prismatic"\n'
    )
    assert main(["check", str(path)]) == 0
    assert "warning: " in capsys.readouterr().err


def test_long_parameter_cycle_is_shortened():
    d = pendulum(parameters={f"p{k}": f"p{(k + 1) % 3000}" for k in range(3000)})
    with pytest.raises(ModelError, match="depends on itself: p0 -> p1") as error:
        load(d)
    assert len(str(error.value)) < 300


@pytest.mark.parametrize(
    "tensor",
    [[1e308, 1e308, 1e308, 0, 0, 0], [1e200, 1e200, 1e200, 0, 0, 0], [1, 1, 1, 1e170, 0, 0]],
)
@pytest.mark.parametrize("key", ["inertia", "inertia_at_origin"])
def test_moments_that_overflow_name_their_key(key: str, tensor: list):
    d = pendulum()
    d["bodies"]["a"] = {"mass": 1e300, "com": [1e100, 0, 0], key: tensor}
    with pytest.raises(ModelError) as error:
        load(d)
    assert error.value.problems[0].key == f"bodies.a.{key}"


def test_nesting_is_refused_everywhere():
    deep: list = []
    for _ in range(1500):
        deep = [deep]
    for d in (
        pendulum(gravity=deep),
        pendulum(parameters={"k": deep}),
        pendulum(parameters={"k": "(" * 1500 + "1" + ")" * 1500}),
        {"bodies": deep},
    ):
        with pytest.raises(ModelError):
            load(d)
    with pytest.raises(ModelError):
        load(pendulum(parameters={"k": 1.0}), k=deep)
