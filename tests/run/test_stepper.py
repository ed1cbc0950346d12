"""A motion that a program advances step by step: the same as a run, saved, restored, reset, through events and stages."""

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
from tree import ROOT

import kinetree.models
from kinetree.models import load
from kinetree.models.engine.status import EvaluationError

BALL = {
    "format": "kinetree/1",
    "name": "ball",
    "gravity": [0, 0, -9.81],
    "parameters": {
        "k": {"value": 0.0, "unit": "N/m", "tunable": True},
        "m": 2.0,
    },
    "bodies": {"ball": {"mass": "m", "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}},
    "joints": {
        "j": {
            "parent": "ground",
            "child": "ball",
            "transforms": [{"shift": "z", "coordinate": "z", "start": 1.0}],
        }
    },
    "forces": {"f": {"coordinate": "z", "value": "u - k*z"}},
    "inputs": {"u": {"start": 0.0, "unit": "N"}},
    "outputs": {"felt": {"value": "2*u"}, "height": {"value": "z"}},
}
STAGED = BALL | {
    "name": "staged",
    "stages": [
        {"name": "falling", "ends": {"when": "z < 0.5"}, "lock": ["j"]},
        {"name": "held"},
    ],
}


@pytest.fixture(scope="module")
def ball():
    return load(BALL).compile()


@pytest.fixture(scope="module")
def boom():
    return load("lib:boom").compile()


def test_stepper_matches_run(boom):
    stepper = boom.stepper(step=0.01, inputs={"lift.force": 4000.0})
    rows = [stepper["luff"]]
    for _ in range(50):
        stepper.advance()
        rows.append(stepper["luff"])
    run = boom.simulate(stop_time=0.5, output_step=0.01, inputs={"lift.force": 4000.0})
    assert np.allclose(rows, run["luff"], rtol=0.0, atol=1e-7)
    assert stepper.time == pytest.approx(0.5, abs=1e-12)


def test_stepper_outputs_follow_set_inputs_immediately(ball):
    stepper = ball.stepper(step=0.001)
    stepper["u"] = 2.0 * 9.81 + 4.0
    assert stepper["felt"] == pytest.approx(2.0 * stepper["u"])
    stepper.advance(1000)
    assert stepper["z"] == pytest.approx(1.0 + 0.5 * 2.0) and stepper["der(z)"] == pytest.approx(
        2.0
    )
    assert stepper.read(["z", "height", "time"]) == pytest.approx([2.0, 2.0, 1.0])
    assert dict(zip(stepper.names, stepper.values, strict=True))["height"] == stepper["z"]


def test_stepper_states_are_restored_bit_for_bit(boom):
    stepper = boom.stepper(step=1e-3)

    def go_on() -> list[float]:
        found = []
        for k in range(20):
            stepper["lift.force"] = 4000.0 + 100.0 * k
            stepper.advance()
            found.append(stepper["luff"])
        return found

    go_on()
    saved, time = stepper.save(), stepper.time
    first = go_on()
    stepper.restore(saved)
    assert stepper.time == time and go_on() == first
    other = boom.stepper(step=1e-3)
    other.restore(saved)  # of the same system: it goes on there
    assert other.time == time and other["luff"] != boom.stepper(step=1e-3)["luff"]


def test_stepper_refuses_states_of_other_mechanisms(boom, ball):
    with pytest.raises(ValueError, match="another mechanism"):
        boom.stepper().restore(ball.stepper().save())


def test_stepper_reset_accepts_other_start_values(ball):
    stepper = ball.stepper(step=0.01, inputs={"u": 3.0})
    stepper["u"], stepper["k"] = 5.0, 7.0
    stepper.advance(10)
    stepper.reset({"z": 0.25, "der(z)": -1.0})
    assert (stepper.time, stepper["z"], stepper["der(z)"]) == (0.0, 0.25, -1.0)
    assert (stepper["u"], stepper["k"]) == (3.0, 0.0), (
        "inputs and parameters are those of the start"
    )
    stepper.reset(inputs={"u": 4.0})
    assert (stepper["z"], stepper["u"]) == (1.0, 4.0)


def test_stepper_changes_tunable_parameters(ball):
    stepper = ball.stepper(step=0.01)
    stepper["k"] = 2.0 * 9.81
    stepper["u"] = 4.0 * 9.81
    stepper.advance(5)
    assert stepper["z"] == pytest.approx(1.0, abs=1e-9), "spring and force balance the weight"
    assert stepper.tunable == ("k",)


def test_unsettable_names_are_reported(ball):
    stepper = ball.stepper()
    for name, hint in (("m", "compile"), ("z", "reset"), ("v", "not an input")):
        with pytest.raises(KeyError, match=hint):
            stepper[name] = 1.0
    with pytest.raises(KeyError, match="heigt.*height"):
        stepper["heigt"]
    with pytest.raises(KeyError, match="zz"):
        stepper.reset({"zz": 1.0})
    for step in (0.0, float("nan")):
        with pytest.raises(ValueError, match="step"):
            ball.stepper(step=step)
    with pytest.raises(ValueError, match="before"):
        stepper.advance_to(-1.0)


def test_stepper_continues_from_saved_state_after_nan(ball):
    stepper = ball.stepper(step=0.01)
    stepper.advance()
    saved = stepper.save()
    stepper["u"] = float("nan")
    with pytest.raises(EvaluationError):
        stepper.advance()
    stepper.restore(saved)
    stepper.advance()
    assert stepper.time == pytest.approx(0.02)


def test_stepper_reports_stages_and_events():
    stepper = load(STAGED).compile().stepper(step=0.05)
    assert (stepper.stage, stepper.stage_name, stepper.events) == (0, "falling", ())
    while stepper.time < 0.5:
        stepper.advance()
    fall = np.sqrt(2.0 * 0.5 / 9.81)
    assert (stepper.stage, stepper.stage_name) == (1, "held") and stepper["events"] == 1.0
    assert [event.time for event in stepper.events] == pytest.approx([fall], abs=1e-8)
    stepper.reset()
    assert stepper.stage == 0 and stepper.events == ()


def test_stepper_reports_all_events_beyond_log_size():
    system = load("lib:bouncing-ball").compile()
    stepper, run = system.stepper(step=0.5), system.simulate(output_step=0.5)
    stepper.advance_to(run.time[-1])
    assert len(stepper.events) == len(run.events)


def test_stepper_accepts_changing_step_sizes(ball):
    stepper = ball.stepper(step=0.01)
    stepper.advance()
    stepper.step = 0.1
    stepper.advance()
    assert stepper.time == pytest.approx(0.11)


def test_batch_stepper_matches_single_steppers(boom):
    many = boom.steppers(20, step=0.01, threads=2)
    starts = np.linspace(0.1, 0.5, 20)
    many.reset(start={"luff": starts})
    one = boom.stepper(step=0.01)
    one.reset({"luff": starts[7]})
    for _ in range(10):
        many["lift.force"] = 4000.0 - 8000.0 * many["der(luff)"]
        one["lift.force"] = 4000.0 - 8000.0 * one["der(luff)"]
        many.advance()
        one.advance()
    assert many["luff"][7] == one["luff"] and np.ptp(many["luff"]) > 0.1
    assert many.read(["luff", "tip"]).shape == (20, 2) and len(many) == 20


def test_batch_stepper_resets_instances_individually(ball):
    many = ball.steppers(4, step=0.1)
    for _ in range(3):
        many.advance()
    saved, z = many.save(), many["z"]
    many.reset(np.array([False, True, False, True]), start={"z": [5.0, 6.0]})
    assert many.time == pytest.approx([0.3, 0.0, 0.3, 0.0])
    assert many["z"] == pytest.approx([z[0], 5.0, z[2], 6.0])
    many.advance()
    assert many.time == pytest.approx([0.4, 0.1, 0.4, 0.1])
    many.restore(saved)
    assert np.array_equal(many["z"], z) and np.array_equal(many.stage, np.zeros(4))


def test_failed_batch_instance_stops_until_reset(ball):
    many = ball.steppers(3, step=0.1)
    many["u"] = [0.0, np.nan, 0.0]
    many.advance(strict=False)
    assert many.failed.tolist() == [False, True, False]
    many["u"] = 0.0
    many.advance(strict=False)
    assert many.time[[0, 2]] == pytest.approx([0.2, 0.2])
    many.reset(many.failed)
    many.advance()
    assert not many.failed.any() and many.time[1] == pytest.approx(0.1)
    many["u"] = [0.0, np.nan, 0.0]
    with pytest.raises(EvaluationError, match="motion 1"):
        many.advance()


def test_batch_stepper_parameters_differ_between_instances(ball):
    many = ball.steppers(2, step=0.1)
    many["k"] = [0.0, 100.0]
    many.advance()
    assert many["der(z)"][1] < many["der(z)"][0] < 0.0
    with pytest.raises(KeyError, match="compile"):
        many["m"] = 1.0


def test_measurement_feedback_is_constant_between_outputs(ball):
    weight = 2.0 * 9.81
    run = ball.simulate(
        stop_time=4.0,
        output_step=0.02,
        inputs={"u": lambda t, y: weight + 20.0 * (2.0 - y["z"]) - 10.0 * y["der(z)"]},
    )
    assert run["z"][-1] == pytest.approx(2.0, abs=1e-3)
    assert run["felt"][0] == pytest.approx(2.0 * (weight + 20.0))
    whole = ball.simulate(
        stop_time=4.0,
        output_step=0.02,
        inputs=lambda t, y: {"u": weight + 20.0 * (2.0 - y["height"]) - 10.0 * y["der(z)"]},
    )
    assert np.array_equal(whole["z"], run["z"])
    stepper = ball.stepper(step=0.02)
    for _ in range(200):
        stepper["u"] = weight + 20.0 * (2.0 - stepper["z"]) - 10.0 * stepper["der(z)"]
        stepper.advance()
    assert stepper["z"] == pytest.approx(run["z"][-1], abs=1e-9)


def test_measurement_feedback_refuses_unknown_columns(ball):
    with pytest.raises(KeyError, match="'v' is not an input"):
        ball.simulate(stop_time=0.1, inputs=lambda t, y: {"v": 1.0})
    with pytest.raises(KeyError, match="heigt"):
        ball.simulate(stop_time=0.1, inputs={"u": lambda t, y: y["heigt"]})
    with pytest.raises(ValueError, match="finite"):
        ball.simulate(stop_time=0.1, inputs={"u": lambda t, y: float("inf")})
    run = ball.simulate(stop_time=0.1, integrator="rk4", step=0.01, inputs={"u": lambda t, y: 0.0})
    with pytest.raises(ValueError, match="measured"):
        run.gradient("z")


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_gymnasium_environment_steps_and_resets(ball):
    pytest.importorskip("gymnasium")
    from gymnasium.utils.env_checker import check_env

    env = ball.environment(
        ["z", "der(z)"],
        {"u": (-50.0, 50.0)},
        reward=lambda s: -abs(s["z"] - 1.0),
        step=0.05,
        stop_time=0.5,
        ended=lambda s: s["z"] < 0.0,
        start=lambda rng: {"z": rng.uniform(0.5, 1.5)},
    )
    check_env(env, skip_render_check=True)
    first, told = env.reset(seed=3)
    assert 0.5 <= first[0] <= 1.5 and told["time"] == 0.0
    steps, late = 0, False
    while not late:
        seen, reward, over, late, told = env.step([2.0 * 9.81])
        steps += 1
        assert not over and reward <= 0.0
    assert steps == 10 and seen[0] == pytest.approx(first[0], abs=1e-9)
    with pytest.raises(KeyError, match="not an input"):
        ball.environment(["z"], {"z": (0.0, 1.0)}, reward=lambda s: 0.0)


def test_example_regulator_keeps_panda_pose(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    """The page shows the file word by word."""
    pytest.importorskip("yourdfpy")
    below = "cmeel.prefix/share/example-robot-data/robots/panda_description/urdf/panda.urdf"
    path = next((Path(each, below) for each in sys.path if Path(each, below).is_file()), None)
    if path is None:
        pytest.skip("the package example-robot-data is not installed")
    example = ROOT / "examples" / "robot" / "panda_lqr.py"
    page = (ROOT / "docs" / "stepper.md").read_text(encoding="utf-8")
    assert example.read_text(encoding="utf-8") in page
    monkeypatch.setattr(sys, "argv", ["lqr.py", str(path)])
    monkeypatch.setitem(sys.modules, "kinetree", kinetree.models)
    runpy.run_path(str(example))
    off = float(capsys.readouterr().out.split()[2])
    assert off < 1e-6
