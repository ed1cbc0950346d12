"""Gradients of whole runs by the discrete adjoint against differences of runs."""

import numpy as np
import pytest

from kinetree.models import load

PENDULUM = {
    "format": "kinetree/1",
    "name": "driven",
    "gravity": [0, 0, -9.81],
    "parameters": {"m": 1.2, "L": 0.8, "k": 3.0, "d": 0.2, "p0": 0.5, "w": 0.3},
    "inputs": {"f": {"start": 0.7}},
    "states": {"work": {"rate": "d*der(p)**2", "start": "w"}},
    "bodies": {
        "a": {"mass": "m", "com": ["L/2", 0, 0], "inertia": [0.01, "m*L**2/12", "m*L**2/12", 0, 0, 0]},
        "b": {"mass": 0.5, "com": [0.2, 0, 0.1], "inertia": [0.01, 0.02, 0.02, 0, 0, 0]},
    },
    "joints": {
        "j": {"parent": "ground", "child": "a", "transforms": [{"rotate": "y", "coordinate": "p", "start": "p0"}]},
        "s": {"parent": "a", "child": "b", "transforms": [{"shift": ["L", 0, 0]}, {"rotate": "z", "coordinate": "r", "start": 0.2, "speed": 1.0}]},
    },
    "forces": {"spring": {"coordinate": "p", "value": "f - k*p - d*der(p) + max(0, p)*k"}},
    "outputs": {"height": {"quantity": "position", "body": "b", "point": [0.3, 0, 0], "axis": "z"}, "sum": {"value": "k*p + work"}},
}  # fmt: skip
NAMES = ("m", "L", "k", "d", "p0", "w")


def run(**parameters: float):
    return (
        load(PENDULUM)
        .compile(**parameters)
        .simulate(stop_time=0.73, integrator="rk4", step=2e-3, output_step=0.05, inputs={"f": lambda t: 0.7 + 0.4 * t})
    )


@pytest.mark.parametrize("output", ["p", "der(r)", "work", "height", "sum"])
def test_against_differences(output: str):
    """Central differences of runs: h² of the third derivative and rounding over h, together about 1e-8 of the value.

    Parameters act through masses, lengths, laws, start values and the output itself; an input moves; steps are shortened at outputs."""
    found = run().gradient(output, NAMES)
    for k, name in enumerate(NAMES):
        value = PENDULUM["parameters"][name]
        h = 1e-5 * value
        plus, minus = (run(**{name: value + s * h})[output][-1] for s in (1, -1))
        assert found[k] == pytest.approx((plus - minus) / (2 * h), rel=1e-7, abs=1e-8)


def test_quaternions_and_default_parameters():
    """A free top: all parameters of the description, in their order."""
    system = load("lib:heavy-top").compile()
    result = system.simulate(stop_time=0.05, integrator="rk4", step=5e-4, output_step=0.01)
    found = result.gradient(system.coordinates[1])
    assert found.shape == (len(system.compiled.parameters),)
    name = next(name for name, slope in zip(system.compiled.parameters, found, strict=True) if slope != 0.0)
    value = float(system._fast.ws.val[system.compiled.registers[name]])
    h = 1e-5 * abs(value)
    sides = [load("lib:heavy-top").compile(**{name: value + s * h}) for s in (1, -1)]
    ends = [side.simulate(stop_time=0.05, integrator="rk4", step=5e-4, output_step=0.01) for side in sides]
    difference = (ends[0][system.coordinates[1]][-1] - ends[1][system.coordinates[1]][-1]) / (2 * h)
    assert found[system.compiled.parameters.index(name)] == pytest.approx(difference, rel=1e-5, abs=1e-8)


@pytest.mark.parametrize(
    ("model", "integrator", "message"),
    [("lib:regulator", "adams", "rk4"), ("lib:four-bar", "rk4", "closed loops"), ("lib:pendulum-stop", "rk4", "events")],
)
def test_runs_without_an_adjoint_are_refused(model: str, integrator: str, message: str):
    system = load(model).compile()
    result = system.simulate(stop_time=1.0, integrator=integrator, output_step=0.1, step=1e-2)
    with pytest.raises(ValueError, match=message):
        result.gradient(system.coordinates[0])


def test_names_are_checked():
    result = run()
    with pytest.raises(KeyError, match="unknown parameters: z"):
        result.gradient("p", ["z"])
    with pytest.raises(KeyError, match="'z' is no coordinate"):
        result.gradient("z")


def test_one_sweep_for_all_parameters():
    """The gradient by one parameter takes the same work as that by all: the columns agree exactly."""
    result = run()
    every = result.gradient("height", NAMES)
    assert np.array_equal(every[2:3], result.gradient("height", ["k"]))
