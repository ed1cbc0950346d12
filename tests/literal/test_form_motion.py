"""Motion by every form, in Lagrangian and in Hamiltonian variables: the same run as by the default engine, events and stages included."""

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.engine.status import EvaluationError
from kinetree.models.run.simulation_unit import Run, make_unit
from kinetree.solvers.literal.kinds import LITERAL

TREE = {
    "format": "kinetree/1",
    "name": "swing with a ball joint",
    "bodies": {
        "a": {"mass": 2.0, "com": [0, 0, -0.4], "inertia": [0.1, 0.1, 0.02, 0, 0, 0]},
        "b": {"mass": 1.0, "com": [0, 0.05, -0.3], "inertia": [0.05, 0.04, 0.01, 0, 0, 0]},
    },
    "joints": {
        "A": {
            "child": "a",
            "type": "revolute",
            "axis": "x",
            "coordinates": ["alpha"],
            "start": [0.7],
        },
        "B": {
            "parent": "a",
            "child": "b",
            "type": "spherical",
            "at": [0, 0, -0.8],
            "speed": [0.5, -1.0, 2.0],
        },
    },
    "forces": {"damper": {"coordinate": "alpha", "damping": 0.2}},
    "outputs": {"tip": {"quantity": "position", "body": "b", "point": [0, 0, -0.6]}},
}


FORMS = tuple(form.name for form in LITERAL)
MOMENTA = ("CBM-H", "LGR-H", "ITR-H", "ABM-H", "DEC-H")


@pytest.fixture(scope="module")
def reference():
    return load(TREE).compile().simulate(stop_time=1.0, output_step=0.1, tolerance=1e-11)


@pytest.mark.parametrize("method", FORMS)
def test_forms_produce_equal_motion(reference, method):
    """Both integrators hold 1e-10; the motion is regular, so errors grow by less than a hundredfold in a second."""
    result = (
        load(TREE)
        .compile()
        .simulate(stop_time=1.0, output_step=0.1, tolerance=1e-10, method=method)
    )
    for name in ("alpha", "der(alpha)", "tip[1]", "tip[2]", "tip[3]", "der(der(alpha))", "energy"):
        assert np.abs(result[name] - reference[name]).max() < 1e-8, name
    assert (
        np.abs(result["energy_residual"]).max() < 1e-8
    )  # the damper's work is in the books of every form


@pytest.mark.parametrize("integrator", ["adams", "rk45", "radau", "rk4", "semi-implicit"])
def test_every_integrator_supports_momentum_forms(reference, integrator):
    """At steps of 1e-4 the method of lowest order, symplectic Euler's relative ROS2, is at 1e-7."""
    tolerance, step = (1e-10, None) if integrator in ("adams", "rk45", "radau") else (None, 1e-4)
    result = (
        load(TREE)
        .compile()
        .simulate(
            stop_time=0.5,
            output_step=0.1,
            tolerance=tolerance,
            step=step,
            integrator=integrator,
            method="DEC-H",
        )
    )
    error = np.abs(result["tip[3]"] - reference["tip[3]"][: len(result)]).max()
    assert error < 1e-7, integrator


@pytest.mark.parametrize("method", MOMENTA)
def test_momentum_forms_conserve_energy(method):
    """A chain with a moving ball joint and no damping: the energy stays to the tolerance asked, over ten swings."""
    free = {**TREE, "forces": {}}
    result = (
        load(free)
        .compile()
        .simulate(stop_time=20.0, output_step=0.5, tolerance=1e-10, method=method)
    )
    size = np.abs(result["energy"] - result["energy"].min()).max() + 10.0
    assert np.abs(result["energy"] - result["energy"][0]).max() < 1e-8 * size


@pytest.mark.parametrize("method", ["LGR", "ITR-G", "DEC-H"])
def test_run_by_literal_form_continues_bit_for_bit(method):
    """Copying the block of a run copies all of it, what the iterations carry and the momenta of the integrator included."""
    unit = make_unit(load(TREE).compile(), "adams", method)
    run, copy = Run(unit), Run(unit)
    assert run.call("unit_start") == 0
    for k in range(1, 6):
        assert run.call("unit_advance", 0, 0.1 * k) == 0
    copy.work[:] = run.work
    for k in range(6, 11):
        assert run.call("unit_advance", 0, 0.1 * k) == 0
    for k in range(6, 11):
        assert copy.call("unit_advance", 0, 0.1 * k) == 0
    assert np.array_equal(run.work, copy.work, equal_nan=True)


STAGED = {
    **TREE,
    "forces": {"spring": {"coordinate": "alpha", "value": "-3.0*alpha - 0.5*filtered"}},
    "states": {"filtered": {"rate": "(der(alpha) - filtered)/0.1", "start": 0.0}},
    "events": {"kick": {"when": "t > 0.2", "set": {"der(alpha)": "der(alpha) + 1.0"}}},
    "stages": [{"name": "together", "ends": {"when": "t > 0.5"}, "free": ["B"]}, {"name": "apart"}],
}


@pytest.mark.parametrize("method", ["CBM", "LGR", "ITR-M", "ABM-H", "ITR-H"])
def test_literal_forms_handle_events_states_and_stages(method):
    """A jump of a speed, a filter, a body that leaves: the run by a form is that of the default engine."""
    expected = load(STAGED).compile().simulate(stop_time=1.0, output_step=0.1, tolerance=1e-10)
    result = (
        load(STAGED)
        .compile()
        .simulate(stop_time=1.0, output_step=0.1, tolerance=1e-10, method=method)
    )
    for name in ("alpha", "der(alpha)", "filtered", "tip[3]", "stage"):
        assert np.abs(result[name] - expected[name]).max() < 1e-8, name
    assert [event.kind for event in result.events] == ["reset", "stage"]
    assert [event.time for event in result.events] == pytest.approx([0.2, 0.5], abs=1e-10)


def test_unsupported_form_options_are_refused():
    with pytest.raises(ValueError, match="'CBM' is for trees, '[^']*' has closed loops"):
        load("lib:four-bar").compile().simulate(stop_time=1.0, method="CBM")
    with pytest.raises(ValueError, match="stormer"):
        load("lib:double-pendulum").compile().simulate(
            stop_time=1.0, method="DEC-H", integrator="stormer"
        )
    massless = {**TREE, "bodies": {**TREE["bodies"], "a": {"mass": 0.0}}}
    with pytest.raises(EvaluationError, match="body 'a' has no invertible mass matrix"):
        load(massless).compile().simulate(stop_time=1.0, method="LGR")


def test_literal_form_inputs_are_linear_between_outputs():
    """A moving input is interpolated: the error of a parabola is at most dt²/8 times the integral of its second derivative."""
    mass = {
        "format": "kinetree/1",
        "gravity": [0, 0, 0],
        "bodies": {"m": {"mass": 1.0}},
        "joints": {"J": {"child": "m", "transforms": [{"shift": "x", "coordinate": "x"}]}},
        "inputs": {"f": {}},
        "forces": {"push": {"coordinate": "x", "value": "f"}},
    }
    result = (
        load(mass)
        .compile()
        .simulate(
            stop_time=1.0, output_step=0.01, tolerance=1e-10, inputs={"f": lambda t: 12.0 * t * t}
        )
    )
    assert result["x"][-1] == pytest.approx(1.0, abs=0.01**2 / 8 * 24.0)
