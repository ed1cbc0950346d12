"""Runs that begin in a state of rest: the states before it, parameters on the way, states of force elements, FMUs, refusals."""

import numpy as np
import pytest

from kinetree.models import ModelError, load
from kinetree.scripts.fmi.in_process_reference import InProcess


def weight_on_spring(**run) -> dict:
    return {
        "parameters": {"k": 2000.0, "m": 10.0, "pull": 0.0},
        "bodies": {"mass": {"mass": "m", "inertia": [1, 1, 1, 0, 0, 0]}},
        "joints": {
            "guide": {
                "child": "mass",
                "transforms": [{"shift": "z", "coordinate": "z", "start": 0.3}],
            }
        },
        "forces": {"spring": {"coordinate": "z", "value": "-k*z - 50*der(z) + pull"}},
        "states": {"memory": {"rate": "z - memory"}},
        "run": {"stop_time": 1.0, **run},
    }


def test_prepared_run_starts_in_equilibrium():
    """z = -m g/k, the first-order state follows, nothing moves."""
    result = load(weight_on_spring(prepare=[{"name": "hanging"}])).compile().simulate()
    assert result["z"] == pytest.approx(-10 * 9.81 / 2000, abs=1e-13)
    assert result["memory"] == pytest.approx(-10 * 9.81 / 2000, abs=1e-13)


def test_run_starts_from_last_prepared_equilibrium():
    """Pulled by 100 N and let go: starts (100 - m g)/k away, and moves; overrides of parameters count."""
    source = weight_on_spring(
        prepare=[{"name": "hanging"}, {"name": "pulled", "set": {"pull": "50*2"}}]
    )
    for m in (10.0, 20.0):
        system = load(source).compile(m=m)
        assert system.start()[0][0] == pytest.approx((100 - m * 9.81) / 2000, abs=1e-13)
        assert system.accelerations(0.0, *system.start())[0] == pytest.approx(-100 / m, rel=1e-10)


def test_prepared_fmu_starts_in_equilibrium():
    from kinetree.fmu.unit import fmu_unit

    twin = InProcess(fmu_unit(load(weight_on_spring(prepare=[{}])))).start()
    twin.step(0.5)
    assert twin.get(["z", "memory"]) == pytest.approx([-0.04905, -0.04905], abs=1e-12)


def test_pendulum_on_quaternions_is_prepared():
    """A ball joint: the free hanging position, whatever the start."""
    source = {
        "bodies": {"rod": {"mass": 1.0, "com": [0, 0, -0.5], "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}},
        "joints": {"ball": {"child": "rod", "type": "spherical", "start": [0.9, 0.3, 0.1, 0.2]}},
        "outputs": {"end": {"quantity": "position", "body": "rod", "point": [0, 0, -1]}},
        "run": {"prepare": [{}]},
    }
    result = load(source).compile().simulate(0.1)
    assert np.abs([result["end[1]"], result["end[2]"]]).max() < 1e-9
    assert result["end[3]"] == pytest.approx(-1.0)


def test_impossible_equilibrium_is_named():
    with pytest.raises(ModelError, match=r"run\.prepare\[1\]\.set\.nix.*unknown parameter"):
        load(weight_on_spring(prepare=[{}, {"set": {"nix": 1.0}}]))
    loose = weight_on_spring(prepare=[{"name": "let go", "set": {"k": 0.0}}])
    with pytest.raises(ArithmeticError, match=r"run\.prepare\[0\] 'let go': no equilibrium"):
        load(loose).compile()


def test_violated_preparation_requirement_is_reported():
    deep = {"the mass hangs less than 1 cm down": "z > -0.01"}
    with pytest.raises(
        ModelError,
        match=r"run\.prepare\[0\] 'hanging'\.require: found z = -0\.04905, expected the mass hangs less than 1 cm down",
    ):
        load(weight_on_spring(prepare=[{"name": "hanging", "require": deep}])).compile()
    assert load(weight_on_spring(prepare=[{"require": deep}])).compile(k=1e5).n == 1
    with pytest.raises(ModelError, match=r"unknown name 'y'"):
        load(weight_on_spring(prepare=[{"require": {"it": "y > 0"}}]))
