"""Generated code of every language, run as its users run it, against the engine at random states."""

import itertools
import re
import subprocess

import numpy as np
import pytest
from generated_code import run_c, run_casadi, run_modelica, run_python
from random_descriptions import random_description

from kinetree.models import load
from kinetree.models.engine.flat_blocks import model_fields
from kinetree.models.equations.latex import label, latex_name
from kinetree.solvers.library.c_compiler import compiler

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
        yield (
            float(rng.uniform(0, 1)),
            *(system.project(0.0, away, speeds) if system.compiled.loops else (away, speeds)),
        )


def arguments(system, trace):
    c = system.compiled
    return (
        system._fast.ws.val[c.start_x : c.start_x + len(c.states)],
        system._fast.input_starts(),
        list(trace.values.values()),
    )


def compare(found, right):
    assert np.abs(np.ravel(found) - right).max() <= RELATIVE * max(1.0, np.abs(right).max())


@pytest.mark.parametrize("parameters", ["numbers", "symbols"])
@pytest.mark.parametrize("case", CASES)
def test_generated_languages_match_engine(case: str, parameters: str, tmp_path):
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
def test_generated_modelica_matches_engine(case: str):
    """The Modelica function in rumoca's compiler and simulator."""
    pytest.importorskip("rumoca")
    system = load(CASES[case]).compile()
    trace = system.trace(parameters="symbols")
    text = trace.modelica()
    for t, q, u in states(system, 1):
        compare(
            run_modelica(text, system.n, t, q, u, *arguments(system, trace)),
            system.accelerations(t, q, u),
        )


def test_generated_python_accepts_many_states(tmp_path):
    """Columns of states in one call: rows of the result."""
    system = load("lib:puma560").compile()
    rng = np.random.default_rng(2)
    q, u = rng.normal(size=(6, 40)), rng.normal(size=(6, 40))
    inputs = np.zeros((len(system.compiled.inputs), 40))
    found = run_python(system.trace().python(), tmp_path, 0.0, q, u, [], inputs, [])
    right = system.accelerations_many(0.0, q.T, u.T)
    assert np.abs(found.T - right).max() <= RELATIVE * np.abs(right).max()


def test_generated_code_returns_nan_for_singular_loops(tmp_path):
    """A pivot that fades is seen: the parallelogram stretched flat gives not a number instead of rounding noise.

    The trace fixes the order of elimination; what the engine decides anew at every state is here a condition that is checked."""
    system = load("lib:n-four-bar").compile()
    flat = np.zeros(len(system.coordinates))
    trace = system.trace()
    assert trace.watches
    found = run_python(
        trace.python(), tmp_path, 0.0, flat, np.ones(system.n), [], system._fast.input_starts(), []
    )
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


def test_text_and_latex_name_quantities():
    system = load("lib:regulator").compile()
    text = system.trace(parameters="symbols").text()
    assert (
        "der(der(gamma)) = " in text
        and "s_alpha = sin(alpha)" in text
        and "w_ball_x" in text
        and "omega0" in text
    )
    latex = system.trace("mass_matrix", parameters="symbols").latex()
    assert (
        r"\begin{pmatrix}" in latex
        and r"\sin \beta" in latex
        and latex.count("{") == latex.count("}")
    )


def test_latex_prints_body_matrices():
    """One for every symbol and body, each with its rows; slopes are fractions."""
    trace = load("lib:regulator").compile().trace("matrices", parameters="symbols")
    text = trace.latex()
    assert text.count(r"\begin{pmatrix}") == text.count(r"\end{pmatrix}") == len(
        trace.matrices
    ) and text.count("{") == text.count("}")
    for matrix, line in zip(
        trace.matrices, (line for line in text.splitlines() if "pmatrix" in line), strict=True
    ):
        assert line.count(" & ") == matrix.rows * (matrix.columns - 1) and line.count(
            r" \\ "
        ) == matrix.rows - 1 + line.endswith(r" \\ ")
        body = matrix.body.replace("_", r"\_")
        assert line.partition(" &=")[0].endswith(
            rf"_{{\mathrm{{{body}}}}}" if body else matrix.symbol
        )
    assert (
        r"\rho_{\mathrm{ball}} &= \begin{pmatrix} 0 \\ y_{2} \\ 0 \end{pmatrix}" in text
        and r"M_{\mathrm{ball}} &= \begin{pmatrix} m_{2} & 0" in text
    )
    assert (
        label("d der(der(x)) / d omega") == r"\frac{\partial \ddot{x}}{\partial \omega}"
        and latex_name("a.b%") == r"\mathrm{a.b\%}"
    )


def test_latex_matrices_match_publication():
    """The regulator of [IPS16]: G2, ρ2, M1, A2, its rates and Q, entry by entry as printed there (misprints of Ȧ2 apart)."""
    text = load("lib:regulator", dy=0.0).compile().trace("matrices", parameters="symbols").text()

    def rows(head: str) -> list[list[str]]:
        lines = text.split(f"{head} =\n")[1].splitlines()
        return [
            line.split("   ")
            for line in itertools.takewhile(lambda line: line.startswith("    "), lines)
        ]

    def entries(head: str) -> list[list[str]]:
        return [[part.strip() for part in row if part.strip()] for row in rows(head)]

    sa, ca, sb, cb = "sin(alpha)", "cos(alpha)", "sin(beta)", "cos(beta)"
    assert entries("G(ball)") == [
        [cb, f"{sa}*{sb}", f"-{ca}*{sb}"],
        ["0", ca, sa],
        [sb, f"-{sa}*{cb}", f"{ca}*{cb}"],
    ]
    assert entries("rho(ball)") == [["0"], ["y2"], ["0"]]
    assert entries("M(arm)")[0] == ["m1", "0", "0", "0", "0", "-m1*yc1"]
    assert entries("A(ball)") == [
        [f"{sa}*{sb}", "0", "0"],
        [ca, "0", "0"],
        [f"-{sa}*{cb}", "0", "0"],
        ["0", cb, "0"],
        ["0", "0", "1"],
        ["0", sb, "0"],
    ]
    assert entries("Adot(ball)")[1] == ["-der(alpha)*sin(alpha)", "0", "0"]
    assert entries("Adot(ball)")[3:] == [
        ["0", f"-der(beta)*{sb}", "0"],
        ["0", "0", "0"],
        ["0", f"der(beta)*{cb}", "0"],
    ]
    assert (
        entries("Q")[0] == ["k*(omega0 - der(gamma))"] and "sin(gamma)" not in text.split("Q =")[1]
    )


def test_latex_matrices_reproduce_mass_matrix():
    """Composite inertias of the printed matrices: BᵀMB is the engine's mass matrix, and Q its forces at rest, for random trees."""
    rng = np.random.default_rng(8)
    system = load(random_description(rng, 5).description).compile()
    trace = system.trace("matrices")
    q, u = system.start()
    found = trace.evaluate(
        0.3,
        q,
        0.0 * u,
        system._fast.ws.val[
            system.compiled.start_x : system.compiled.start_x + len(system.compiled.states)
        ],
    )
    parts, at = {}, 0
    for matrix in trace.matrices:
        size = matrix.rows * matrix.columns
        parts[matrix.symbol, matrix.body] = found[at : at + size].reshape(
            matrix.rows, matrix.columns
        )
        at += size
    bodies, parents = (
        list(system.compiled.bodies),
        model_fields(system.compiled.ints, system.compiled.floats).parent,
    )
    tangents, total = {0: np.zeros((6, system.n))}, np.zeros((system.n, system.n))
    first = 0
    for i, body in enumerate(bodies, 1):
        G, rho = parts["G", body], parts["rho", body].ravel()
        tilde = np.cross(np.eye(3), rho)
        B = np.block([[G, -G @ tilde], [np.zeros((3, 3)), G]]) @ tangents[int(parents[i])]
        own = parts.get(("A", body), np.zeros((6, 0)))
        B[:, first : first + own.shape[1]] += own
        first += own.shape[1]
        tangents[i] = B
        total += B.T @ parts["M", body] @ B
    right = system.mass_matrix(0.3, q)
    assert np.abs(total - right).max() <= RELATIVE * np.abs(right).max()


def test_large_modelica_export_calls_external_c_function(tmp_path):
    """Once in a model that has it twice; without it the function has the same arguments and results."""
    trace = load("lib:double-pendulum").compile().trace("accelerations")
    text, plain = trace.modelica("Pair", external=True), trace.modelica("Pair")
    included = re.search(r'Include = "(.*?[^\\])"\);', text, re.S)
    assert (
        included and 'external "C" Pair_accelerations(t, q, u, x, inputs, parameters, udot)' in text
    )
    code = included[1].replace('\\"', '"').replace("\\\\", "\\")
    assert trace.c("Pair") in code
    file = tmp_path / "twice.c"
    file.write_text(code + code, encoding="utf-8")
    subprocess.run(
        [*compiler(), "-Wall", "-Werror", "-c", str(file), "-o", str(tmp_path / "o")], check=True
    )

    def declared(function: str) -> list[str]:
        return [line for line in function.splitlines() if line.startswith(("  input", "  output"))]

    assert declared(text) == declared(plain) and "external" not in plain
