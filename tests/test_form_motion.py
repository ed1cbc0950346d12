"""The same motion by every form, in Lagrangian and in Hamiltonian variables."""

import numpy as np
import pytest

from kinetree.models import load

TREE = {
    "format": "kinetree/1",
    "name": "swing with a ball joint",
    "bodies": {
        "a": {"mass": 2.0, "com": [0, 0, -0.4], "inertia": [0.1, 0.1, 0.02, 0, 0, 0]},
        "b": {"mass": 1.0, "com": [0, 0.05, -0.3], "inertia": [0.05, 0.04, 0.01, 0, 0, 0]},
    },
    "joints": {
        "A": {"child": "a", "type": "revolute", "axis": "x", "coordinates": ["alpha"], "start": [0.7]},
        "B": {"parent": "a", "child": "b", "type": "spherical", "at": [0, 0, -0.8], "speed": [0.5, -1.0, 2.0]},
    },
    "forces": {"damper": {"coordinate": "alpha", "damping": 0.2}},
    "outputs": {"tip": {"quantity": "position", "body": "b", "point": [0, 0, -0.6]}},
}


@pytest.fixture(scope="module")
def reference():
    return load(TREE).compile().simulate(stop_time=1.0, output_step=0.1, tolerance=1e-11)


@pytest.mark.parametrize("method", ["CBM", "LGR", "ITR-M", "ABM", "CBM-H", "DEC-H"])
def test_forms_give_the_same_motion(reference, method):
    """Both integrators hold 1e-10; the motion is regular, so errors grow by less than a hundredfold in a second."""
    result = load(TREE).compile().simulate(stop_time=1.0, output_step=0.1, tolerance=1e-10, method=method)
    for name in ("alpha", "der(alpha)", "tip[1]", "tip[2]", "tip[3]"):
        assert np.abs(result[name] - reference[name]).max() < 1e-8, name


def test_forms_refuse_stages():
    with pytest.raises(ValueError, match="stages"):
        load({**TREE, "stages": [{"ends": {"at": 0.5}, "free": ["B"]}]}).compile().simulate(stop_time=1.0, method="CBM")


def test_inputs_follow_straight_lines_between_outputs():
    """A moving input is interpolated: the error of a parabola is at most dt²/8 times the integral of its second derivative."""
    mass = {
        "format": "kinetree/1",
        "gravity": [0, 0, 0],
        "bodies": {"m": {"mass": 1.0}},
        "joints": {"J": {"child": "m", "transforms": [{"shift": "x", "coordinate": "x"}]}},
        "inputs": {"f": {}},
        "forces": {"push": {"coordinate": "x", "value": "f"}},
    }
    result = load(mass).compile().simulate(stop_time=1.0, output_step=0.01, tolerance=1e-10, inputs={"f": lambda t: 12.0 * t * t})
    assert result["x"][-1] == pytest.approx(1.0, abs=0.01**2 / 8 * 24.0)
