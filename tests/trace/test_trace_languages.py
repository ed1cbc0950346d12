"""Generated code of every language, run as its users run it, against the engine at random states."""

import numpy as np
import pytest
from generated_code import run_c, run_casadi, run_modelica, run_python
from random_descriptions import random_description

from kinetree.models import load

RELATIVE = 1e-12
MODELS = ("regulator", "puma560", "four-bar", "heavy-top", "boom-drive", "mobile-robot", "andrews")


def cases():
    for name in MODELS:
        yield name, f"lib:{name}"
    yield "random", random_description(np.random.default_rng(5), 5).description


CASES = dict(cases())


def states(system, count: int = 3):
    """Random states; on the constraints for loops."""
    rng = np.random.default_rng(11)
    q, u = system.start()
    for _ in range(count):
        away, speeds = q + rng.normal(0.0, 0.02, q.size), u + rng.normal(0.0, 0.5, u.size)
        yield float(rng.uniform(0, 1)), *(system.project(0.0, away, speeds) if system.compiled.loops else (away, speeds))


def arguments(system, trace):
    c = system.compiled
    return system._fast.ws.val[c.start_x : c.start_x + len(c.states)], system._fast.input_starts(), list(trace.values.values())


def compare(found, right):
    assert np.abs(np.ravel(found) - right).max() <= RELATIVE * max(1.0, np.abs(right).max())


@pytest.mark.parametrize("parameters", ["numbers", "symbols"])
@pytest.mark.parametrize("case", CASES)
def test_languages(case: str, parameters: str, tmp_path):
    """Python, C without a warning, and CasADi give the engine's accelerations."""
    system = load(CASES[case]).compile()
    trace = system.trace(parameters=parameters)
    texts = trace.python(), trace.c(), trace.casadi()
    pytest.importorskip("casadi")
    for t, q, u in states(system):
        right = system.accelerations(t, q, u)
        rest = arguments(system, trace)
        compare(run_python(texts[0], tmp_path, t, q, u, *rest), right)
        compare(run_c(texts[1], tmp_path, system.n, t, q, u, *rest), right)
        compare(run_casadi(texts[2], tmp_path, t, q, u, *rest), right)


@pytest.mark.parametrize("case", ["regulator", "four-bar", "random"])
def test_modelica(case: str):
    """The Modelica function in rumoca's compiler and simulator."""
    pytest.importorskip("rumoca")
    system = load(CASES[case]).compile()
    trace = system.trace(parameters="symbols")
    text = trace.modelica()
    for t, q, u in states(system, 1):
        compare(run_modelica(text, system.n, t, q, u, *arguments(system, trace)), system.accelerations(t, q, u))


def test_python_takes_many_states(tmp_path):
    """Columns of states in one call: rows of the result."""
    system = load("lib:puma560").compile()
    rng = np.random.default_rng(2)
    q, u = rng.normal(size=(6, 40)), rng.normal(size=(6, 40))
    inputs = np.zeros((len(system.compiled.inputs), 40))
    found = run_python(system.trace().python(), tmp_path, 0.0, q, u, [], inputs, [])
    right = system.accelerations_many(0.0, q.T, u.T)
    assert np.abs(found.T - right).max() <= RELATIVE * np.abs(right).max()


def test_singular_loops_are_no_numbers(tmp_path):
    """A pivot that fades is seen: the parallelogram stretched flat gives not a number instead of rounding noise.

    The trace fixes the order of elimination; what the engine decides anew at every state is here a condition that is checked."""
    system = load("lib:n-four-bar").compile()
    flat = np.zeros(len(system.coordinates))
    trace = system.trace()
    assert trace.watches
    found = run_python(trace.python(), tmp_path, 0.0, flat, np.ones(system.n), [], system._fast.input_starts(), [])
    assert np.isnan(found).all()


def test_names_of_the_description_are_safe_in_code(tmp_path):
    """Bodies and coordinates named like keywords or arguments: `u`, `double`, `lambda`, `q` still give code that compiles."""
    description = {
        "format": "kinetree/1", "name": "2 for if", "gravity": [0, 0, -9.81],
        "bodies": {name: {"mass": 1.0, "com": [0.3, 0, 0.1], "inertia": [0.1, 0.2, 0.2, 0, 0, 0]} for name in ("double", "lambda", "np")},
        "joints": {
            "a": {"parent": "ground", "child": "double", "transforms": [{"rotate": "y", "coordinate": "udot"}]},
            "b": {"parent": "double", "child": "lambda", "transforms": [{"shift": [1, 0, 0]}, {"rotate": "z", "coordinate": "int"}]},
            "c": {"parent": "lambda", "child": "np", "transforms": [{"shift": [1, 0, 0]}, {"rotate": "x", "coordinate": "v1"}]},
        },
    }  # fmt: skip
    system = load(description).compile()
    trace = system.trace()
    q, u = np.array([0.1, 0.2, 0.3]), np.array([1.0, -0.5, 0.2])
    right = system.accelerations(0.0, q, u)
    compare(run_python(trace.python(), tmp_path, 0.0, q, u, [], [], []), right)
    compare(run_c(trace.c(), tmp_path, 3, 0.0, q, u, [], [], []), right)


def test_text_and_latex_name_what_they_hold():
    system = load("lib:regulator").compile()
    text = system.trace(parameters="symbols").text()
    assert "der(der(gamma)) = " in text and "s_alpha = sin(alpha)" in text and "w_ball_x" in text and "omega0" in text
    latex = system.trace("mass_matrix", parameters="symbols").latex()
    assert r"\begin{pmatrix}" in latex and r"\sin \beta" in latex and latex.count("{") == latex.count("}")
