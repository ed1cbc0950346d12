"""Blocks of [controllers] that tuning writes: names, times, numbers, and what of a mechanism goes when a controller takes the place of an input."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kinetree.scripts.studies import controller_design as designs
from kinetree.scripts.studies import controller_tables as blocks
from kinetree.scripts.studies.controller_tables import (
    parameters_of_gains,
    pid_blocks,
    place_of,
    rounded,
    sampling_of,
    with_blocks,
    without_idle,
)
from kinetree.scripts.terminal.error_messages import BadInput


@pytest.mark.parametrize(
    ("step", "delay", "jitter", "expected"),
    [
        (0.125, 0.0, 0.0, {"delay": 0.125}), (0.125, 0.03125, 0.0, {"delay": 0.1875}), (0.125, 0.03125, 0.03125, {"delay": 0.1875,
        "jitter": 0.03125}),
        (0.125, 0.03125, 0.0625, {"delay": 0.25}), (0.125, 0.0, 0.0625, {"delay": 0.125, "jitter": 0.0625}),
        (0.01, 0.01, 0.002, {"delay": 0.03, "jitter": 0.002}),
    ],
)  # fmt: skip
def test_loop_delay_is_one_step_and_two_channel_delays(
    step: float, delay: float, jitter: float, expected: dict[str, float]
):
    """Commands that would overtake each other always come as late as the latest; three steps are whole ones however they round."""
    found = sampling_of(step, delay, jitter)
    assert found == pytest.approx({"period": step, **expected}) and designs.sum_of(
        found
    ) == pytest.approx(step + 2 * delay + jitter)


def test_controllers_are_named_after_commands():
    actuators, inputs = {"lift": {}}, {"f": 0.0, "g.force": 0.0}
    assert place_of("lift.force", actuators, inputs) == ("lift_control", {"drives": "lift"})
    assert place_of("f", actuators, inputs) == ("f", {}) and place_of(
        "g.force", actuators, inputs
    ) == ("g.force", {})
    for wrong in ("lift.speed", "other.force"):
        with pytest.raises(BadInput, match=f"'{wrong}' is neither"):
            place_of(wrong, actuators, inputs)


@pytest.mark.parametrize(
    ("numbers", "table", "tracking"),
    [
        ({"kp": -2.0, "ki": 4.0, "kd": 9.0}, {"low": -1.0}, 1.5), ({"kp": -2.0, "ki": 4.0}, {"high": 1.0}, 0.5), ({"kp": 2.0, "ki": 4.0}, {}, None),
        ({"kp": 2.0, "ki": 0.0, "kd": 9.0}, {"low": 0.0, "high": 1.0}, None),
    ],
)  # fmt: skip
def test_integral_action_gets_anti_windup_at_command_limits(
    numbers: dict[str, float], table: dict[str, float], tracking: float | None
):
    """In √(kd/ki), or kp/ki; numbers that are nothing are left out."""
    more = {"period": 0.5, "start": 3.0}
    given = {"measure": "x + y", "command": "f", "setpoint": 1.0, "offset": 2.0, **table}
    expected = {
        "measure": "x + y",
        "setpoint": 1.0,
        "offset": 2.0,
        **table,
        **{key: value for key, value in numbers.items() if value},
        **more,
    }
    expected |= {} if tracking is None else {"tracking": tracking}
    assert pid_blocks("c", given, numbers, more, None) == {"c": expected}
    notch = {"frequency": 2.0, "depth": 0.1, "width": 0.7}
    first = {"kind": "notch", "measure": "-(x + y)", **notch, "period": 0.5}
    assert pid_blocks("c", given, numbers, more, notch) == {
        "c_notch": first,
        "c": expected | {"measure": "c_notch"},
    }
    assert "period" not in pid_blocks("c", given, numbers, {}, notch)["c_notch"]


def test_controller_values_are_rounded_to_ten_digits():
    assert (
        rounded([1.23456789012345, [2, "x"]]) == [1.23456789, [2, "x"]]
        and rounded(0.123456789051) == 0.1234567891
    )


def test_gains_become_parameters_that_studies_may_change():
    named, gains = parameters_of_gains(
        {"c": {"kp": 1.23456789012345, "ki": "2*k", "offset": 0.5, "kd": 3.0}, "o": {"A": [[0.1]]}}
    )
    assert named == {
        "c": {"kp": "c.kp", "ki": "2*k", "offset": 0.5, "kd": "c.kd"},
        "o": {"A": [[0.1]]},
    }
    assert gains == {
        "c.kp": {"value": 1.23456789, "tunable": True},
        "c.kd": {"value": 3.0, "tunable": True},
    }


def test_controller_replaces_input_and_actuator_force(
    monkeypatch: pytest.MonkeyPatch,
):
    """What the replaced forces alone used goes, step by step; what was set for the run stays, with its value."""
    raw = {
        "parameters": {"hold": {"value": "2*inner"}, "inner": 1.0, "k": {"value": 3.0, "unit": "N/m"}, "kept": 4.0, "shared": 1.0, "idle": 9.0},
        "inputs": {"f": 0.0, "g": 1.0}, "controllers": {"old": {"kp": 1.0}},
        "actuators": {"lift": {"force": "hold*shared*kept*k"}, "swing": {"force": 5.0}, "turn": {}}, "forces": {"s": {"stiffness": "shared"}},
    }  # fmt: skip
    monkeypatch.setattr(blocks, "read", lambda source: (raw, None))
    made = with_blocks(
        "m",
        {
            "f": {"kp": 2.0},
            "o": {"commands": ["turn"]},
            "lift_control": {"drives": "lift", "offset": 1.5},
        },
        {"k": 7.0, "kept": 8.0},
    )
    assert made["controllers"] == {
        "old": {"kp": 1.0}, "f": {"kp": "f.kp"}, "o": {"commands": ["turn"]}, "lift_control": {"drives": "lift", "offset": 1.5}
    }  # fmt: skip
    assert made["inputs"] == {"g": 1.0} and made["actuators"] == {
        "lift": {"force": 0.0},
        "swing": {"force": 5.0},
        "turn": {"force": 0.0},
    }
    assert made["parameters"] == {
        "k": {"value": 7.0, "unit": "N/m"}, "kept": 8.0, "shared": 1.0, "idle": 9.0, "f.kp": {"value": 2.0, "tunable": True}
    }  # fmt: skip
    bare = {"inputs": {"f": 0.0}}
    monkeypatch.setattr(blocks, "read", lambda source: (bare, None))
    assert with_blocks("m", {"f": {"offset": 1.0}}, {}) == {
        "controllers": {"f": {"offset": 1.0}},
        "parameters": {},
    }
    assert without_idle({"parameters": {"a": "b", "b": 1.0}, "x": "b"}, "a", set())[
        "parameters"
    ] == {"b": 1.0}


SAMPLING = {"period": 0.5, "delay": 0.5}


def test_loops_start_with_offset_or_command():
    """A moving setpoint takes the place of the one in the file, with its feed-forward where there is one."""
    scenario = SimpleNamespace(setpoints={"x": "sin(t)"})
    result = SimpleNamespace(numbers={"kp": 2.0}, notch=None)
    found: Any = SimpleNamespace(scenario=scenario, loops=[
        ({"command": "f", "measure": "x", "setpoint": 1.0}, result, (3.0, 4.0)), ({"command": "g", "measure": "y", "setpoint": 1.0,
        "offset": 5.0}, result, None),
    ])  # fmt: skip
    made = designs.loop_blocks(
        found, {"f": ("c", {"drives": "lift"}), "g": ("g", {})}, {"f": 7.0, "g": 8.0}, SAMPLING
    )
    assert made == {
        "c": {"measure": "x", "setpoint": "sin(t)", "offset": 7.0, "kp": 2.0, "drives": "lift", **SAMPLING, "start": 7.0, "speed_forward": 3.0,
              "acceleration_forward": 4.0},
        "g": {"measure": "y", "setpoint": 1.0, "offset": 5.0, "kp": 2.0, **SAMPLING, "start": 5.0},
    }  # fmt: skip
    found.loops = [(found.loops[0][0], result, None)]
    assert (
        "speed_forward"
        not in designs.loop_blocks(found, {"f": ("c", {})}, {"f": 7.0}, SAMPLING)["c"]
    )


def test_state_feedback_has_one_block_per_command():
    """About the values of rest that are not nothing."""
    linear: Any = SimpleNamespace(states=["x", "v"])
    found: Any = SimpleNamespace(
        scenario=SimpleNamespace(commands=["f", "g"]),
        feedback=(np.array([[1.0, 2.0], [3.0, 4.0]]), None),
    )
    made = designs.feedback_blocks(
        found,
        {"f": ("c", {"drives": "lift"}), "g": ("g", {})},
        {"f": 7.0, "g": 8.0},
        {"x": 0.5, "v": 0.0},
        linear,
    )
    shared = {"kind": "state-feedback", "rests": {"x": 0.5}}
    assert made == {
        "c": shared | {"gains": {"x": 1.0, "v": 2.0}, "offset": 7.0, "drives": "lift"},
        "g": shared | {"gains": {"x": 3.0, "v": 4.0}, "offset": 8.0},
    }


def test_observer_drives_commands_or_actuators():
    lift, turn = ("lift_control", {"drives": "lift"}), ("turn_control", {"drives": "turn"})
    assert designs.observer_blocks({"A": 1}, {"f": ("f", {})}, {"f": 2.0}) == {
        "f": {"A": 1, "offset": 2.0, "start": 2.0}
    }
    assert designs.observer_blocks({"A": 1}, {"a": lift}, {"a": 2.0}) == {
        "lift_control": {"A": 1, "drives": "lift", "offset": 2.0, "start": 2.0}
    }
    both = designs.observer_blocks({"A": 1}, {"a": lift, "b": turn}, {"a": 2.0, "b": 2.0})
    assert both == {"observer": {"A": 1, "commands": ["lift", "turn"], "offset": 2.0}}
    for places, offsets in (
        ({"a": lift, "b": turn}, {"a": 2.0, "b": 2.5}),
        ({"a": lift, "f": ("f", {})}, {"a": 2.0, "f": 2.0}),
    ):
        with pytest.raises(BadInput, match="rest with one and the same force"):
            designs.observer_blocks({}, places, offsets)


class Begun(dict):
    time = np.array([0.5, 1.0])


@pytest.mark.parametrize("offset", [{}, {"offset": 4}])
@pytest.mark.parametrize("inputs", [{}, {"g": 2.0}])
def test_plant_is_linearised_at_equilibrium_or_start(
    monkeypatch: pytest.MonkeyPatch, offset: dict[str, float], inputs: dict[str, float]
):
    """At rest with the inputs that are set; at the beginning with the offsets of the loops as commands, too."""
    import kinetree.models.analysis.operating_point as moment
    import kinetree.models.system.controller_variants as variants

    asked: list[Any] = []
    rest = SimpleNamespace(outputs={"y": 1.0}, coordinates={"x": 2.0}, states={"s": 3.0})
    monkeypatch.setattr(
        variants,
        "resting",
        lambda system: SimpleNamespace(equilibrium=lambda inputs: asked.append(inputs) or rest),
    )
    linear = SimpleNamespace(states=["x", "v"])
    monkeypatch.setattr(
        moment,
        "linear_at_rest",
        lambda system, inputs, measures: asked.append((inputs, measures)) or linear,
    )
    monkeypatch.setattr(
        moment,
        "linear_at_time",
        lambda system, time, inputs, measures: asked.append((time, inputs, measures)) or linear,
    )
    system: Any = SimpleNamespace(
        simulate=lambda **options: (
            asked.append(options) or Begun({key: np.array([k, 9.0]) for k, key in enumerate("xvy")})
        )
    )
    scenario: Any = SimpleNamespace(at="rest", loops=[{"command": "f", **offset}], measures=["y"])
    assert designs.working_point(scenario, system, inputs) == (
        linear,
        {"y": 1.0, "x": 2.0, "s": 3.0},
    )
    assert asked == [inputs or None, (inputs or None, ["y"])]
    asked.clear()
    scenario.at = "start"
    held = {
        key: float(value) for key, value in ({"f": 4.0} if offset else {}).items()
    } | inputs or None
    assert designs.working_point(scenario, system, inputs) == (
        linear,
        {"x": 0.0, "v": 1.0, "y": 2.0},
    )
    assert asked == [{"stop_time": 1e-9, "output_step": 1e-9, "inputs": held}, (0.5, held, ["y"])]
    assert math.isfinite(asked[1][0])


def test_unknown_measurement_and_command_names_are_refused():
    compiled = SimpleNamespace(outputs=[SimpleNamespace(name="y")], registers=("x",), inputs=("f",))
    scenario: Any = SimpleNamespace(
        measures=["y", "x"], commands=["f"], path="s.toml", mechanism="m.toml"
    )
    designs.check_names(scenario, SimpleNamespace(compiled=compiled))
    for change, said in (
        ({"measures": ["z"]}, "measure 'z' is not there; there are y, x"),
        ({"commands": ["g"]}, "command 'g' is not there; there are f"),
    ):
        with pytest.raises(BadInput, match=said):
            designs.check_names(
                SimpleNamespace(**{**vars(scenario), **change}), SimpleNamespace(compiled=compiled)
            )  # type: ignore[arg-type]
    compiled.inputs = ()
    with pytest.raises(
        BadInput, match="m.toml has no inputs and no actuators that wait for a force"
    ):
        designs.check_names(scenario, SimpleNamespace(compiled=compiled))
