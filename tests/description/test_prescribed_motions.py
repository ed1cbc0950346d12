"""Given motions at `check`: jumps of a place are refused; corners whose instants are not known ahead are warned about; others pass."""

import pytest

from kinetree.fmu.unit import fmu_unit
from kinetree.fmu.variables import FmuError
from kinetree.models import ModelError, load


def given(by: str, **more) -> dict:
    transforms = [{"shift": "x", "by": by}, {"shift": "y", "coordinate": "y"}]
    return {
        "format": "kinetree/1",
        "parameters": {"a": 0.3},
        "tables": {"path": {"x": [0.0, 1.0, 2.0], "y": [0.0, "a", 0.0]}},
        "bodies": {"b": {"mass": 1, "inertia": [1, 1, 1, 0, 0, 0]}},
        "joints": {"j": {"child": "b", "transforms": transforms}},
        **more,
    }


@pytest.mark.parametrize(
    ("by", "instant"),
    [
        ("if(t < 0.5, 0, a)", 0.5),
        ("a*floor(t)", None),
        ("sign(t - 0.3)", 0.3),
        ("a*(t > 1.25)*t", 1.25),
        ("if(sin(t) > 0.3, 0.1, 0)", None),
        ("sin(t) + 0.001*(t > 7)", 7.0),
    ],
)
def test_jumping_prescribed_position_is_refused(by: str, instant: float | None):
    """Bodies were moved without momentum or work: a silent wrong answer."""
    with pytest.raises(
        ModelError, match=r"joints\.j\.transforms\[0\]\.by.*a motion without jumps"
    ) as error:
        load(given(by))
    if instant is not None:
        assert f"it jumps at t = {instant:g}" in str(error.value)


@pytest.mark.parametrize(
    "by",
    [
        "abs(sin(t))",
        "max(sin(3*t), 0.2)",
        "min(t**2, 1)",
        "table('path', t**2)",
        "if(cos(t) > 0, cos(t), 0)",
    ],
)
def test_corners_at_unknown_instants_are_warned_about(by: str):
    """Integrators and hosts cannot stop there, so that no impulse is passed on: the energy of `abs(sin(t))` was wrong without a word."""
    assert any(
        "unknown instants" in str(warning) for warning in load(given(by)).description.warnings
    )


@pytest.mark.parametrize(
    "by",
    [
        "sin(t)",
        "abs(t - 1)",
        "max(0, t - a)",
        "table('path', t)",
        "if(t < 1, t, 2*t - 1)",
        "abs(abs(t - 1) - a)",
        "100*sin(50*t)",
        "exp(-t)*t**3",
        "a",
    ],
)
def test_continuous_prescribed_motions_are_accepted(by: str):
    assert not any(
        "not known ahead" in str(warning) for warning in load(given(by)).description.warnings
    )


@pytest.mark.parametrize("method", ["CBM", "DEC-H"])
def test_forms_unsupported_by_fmus_are_refused(method: str):
    """[run] method was left out of FMUs without a word."""
    with pytest.raises(FmuError, match=f"'{method}'.*DEC"):
        fmu_unit(load(given("sin(t)", run={"method": method})))
    assert fmu_unit(load(given("sin(t)", run={"method": "DEC"}))).work_size > 0


def test_approximate_functions_are_accepted():
    with pytest.raises(ModelError, match="unknown function 'sinn'; did you mean 'sin'"):
        load(given("sinn(t)"))
