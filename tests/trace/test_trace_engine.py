"""Traced equations against the engine: every joint kind, every form, every quantity, parameters as numbers and as symbols."""

import numpy as np
import pytest
from random_descriptions import random_description

from kinetree.models import load
from kinetree.models.trace.mechanism_traces import BODY, WORLD, traced

# both are backward stable for the same equations: eps times the condition of the mass matrix, here below 1e4
RELATIVE = 1e-12
LIBRARY = (
    "regulator",
    "puma560",
    "five-link",
    "gyroscope",
    "chain6",
    "spacecraft",
    "mobile-robot",
    "three-link-rods",
    "heavy-top",
    "flyball",
)
LOOPS = (
    "four-bar",
    "n-four-bar",
    "six-bar",
    "andrews",
    "bricard",
    "slider-crank-spatial",
    "delta",
    "closed-three-link",
)


def state(system, rng: np.random.Generator) -> tuple[float, np.ndarray, np.ndarray]:
    """A random state near the start; quaternions of unit length."""
    q, u = system.start()
    q = q + rng.normal(0.0, 0.3, q.size)
    for k in system.compiled.quaternions:
        q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
    return float(rng.uniform(0.0, 2.0)), q, u + rng.normal(0.0, 1.0, u.size)


def inputs_of(system) -> np.ndarray:
    return system._fast.input_starts()


def states_of(system) -> np.ndarray:
    c = system.compiled
    return system._fast.ws.val[c.start_x : c.start_x + len(c.states)].copy()


def close(found: np.ndarray, right: np.ndarray, size: float = 1.0) -> None:
    assert np.abs(found - right).max(initial=0.0) <= RELATIVE * max(
        size, np.abs(right).max(initial=0.0)
    )


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    ("form", "axes"), [("DEC", WORLD), ("DEC", BODY), ("CBM", BODY), ("ABM", BODY), ("DRT", BODY)]
)
def test_traced_forms_of_random_mechanisms_agree(seed: int, form: str, axes: str):
    """All joint kinds in random order, both kinds of axes: u̇ is that of the engine."""
    rng = np.random.default_rng(seed)
    system = load(random_description(rng, 6).description).compile()
    trace = traced(system, "accelerations", "numbers", form, axes)
    for _ in range(3):
        t, q, u = state(system, rng)
        close(trace.evaluate(t, q, u), system.accelerations(t, q, u))


@pytest.mark.parametrize("name", LIBRARY)
@pytest.mark.parametrize("parameters", ["numbers", "symbols"])
def test_traced_quantities_match_engine(name: str, parameters: str):
    """Accelerations, mass matrix, outputs, reactions, energy, momenta and Hamilton's equations of library mechanisms."""
    rng = np.random.default_rng(3)
    system = load(f"lib:{name}").compile()
    t, q, u = state(system, rng)
    rest = states_of(system), inputs_of(system)
    traces = {
        of: system.trace(of, parameters)
        for of in (
            "accelerations",
            "mass_matrix",
            "outputs",
            "reactions",
            "energy",
            "momenta",
            "hamilton",
        )
    }
    found = {of: trace.evaluate(t, q, u, *rest) for of, trace in traces.items()}
    close(found["accelerations"], system.accelerations(t, q, u))
    close(found["mass_matrix"], system.mass_matrix(t, q))
    close(found["reactions"], system.reactions(t, q, u))
    close(found["outputs"], np.array(list(system.outputs(t, q, u).values())))
    close(found["energy"], np.array(system.energy(t, q, u)))
    close(found["momenta"], system.momenta(t, q, u))
    lever = max(
        np.abs(system.point(t, q, u, body).position).max() for body in system.bodies
    ) * np.abs(system.reactions(t, q, u)).max(initial=1.0)
    close(
        found["hamilton"], np.array(system.hamilton(t, q, u)), lever
    )  # momenta change by moments of the joint forces about O_i


@pytest.mark.parametrize("name", LOOPS)
def test_traced_loops_match_engine(name: str):
    """The order of elimination is that of the witness; at other states on the constraints the engine chooses another and finds the same."""
    system = load(f"lib:{name}").compile()
    trace = system.trace()
    q, u = system.start()
    rng = np.random.default_rng(1)
    for _ in range(3):
        t, near, speeds = 0.0, q + rng.normal(0.0, 0.02, q.size), u + rng.normal(0.0, 0.3, u.size)
        near, speeds = system.project(t, near, speeds)
        right = system.accelerations(t, near, speeds)
        # multipliers see the square of the angle between rows
        assert np.abs(trace.evaluate(t, near, speeds) - right).max() <= 1e-9 * max(
            1.0, np.abs(right).max()
        )


def test_traced_symbolic_parameters_become_arguments():
    """Other values than those of the description, a derived parameter among them: equal to a mechanism compiled with them."""
    description = {
        "format": "kinetree/1", "name": "bob", "gravity": [0, 0, -9.81],
        "parameters": {"m": 1.0, "L": 0.7, "half": "L/2", "k": 3.0},
        "bodies": {"a": {"mass": "m", "com": ["half", 0, 0], "inertia": [0.01, "m*L**2/12", "m*L**2/12", 0, 0, 0]}},
        "joints": {"j": {"parent": "ground", "child": "a", "transforms": [{"rotate": "y", "coordinate": "p", "start": 0.3}]}},
        "forces": {"f": {"coordinate": "p", "value": "-k*p"}},
    }  # fmt: skip
    trace = load(description).compile().trace(parameters="symbols")
    other = load(description).compile(m=2.0, L=1.1, k=5.0)
    names = trace.arguments["parameters"]
    values = [{"m": 2.0, "L": 1.1, "k": 5.0}.get(name, 0.0) for name in names]
    close(
        trace.evaluate(0.0, [0.4], [0.2], parameters=values), other.accelerations(0.0, [0.4], [0.2])
    )


def test_traced_contacts_and_tables_become_selections():
    """Piecewise laws at states on all sides of their corners: the trace holds every branch."""
    tables = "table('line', s) + table('curve', s) + table('field', s, der(s))"
    description = {
        "format": "kinetree/1", "name": "law", "gravity": [0, 0, 0],
        "tables": {
            "line": {"x": [0.0, 0.5, 1.0], "y": [0.0, 2.0, -1.0], "method": "linear", "outside": "extrapolated"},
            "curve": {"x": [-1.0, 0.0, 0.4, 1.0], "y": [1.0, -2.0, 0.5, 3.0], "method": "cubic"},
            "field": {"x": [0.0, 0.5, 1.0], "y": [-1.0, 1.0], "z": [[1.0, 2.0], [0.0, 5.0], [3.0, -2.0]], "method": "linear"},
        },
        "bodies": {"a": {"mass": 2.0, "inertia": [1, 1, 1, 0, 0, 0]}},
        "joints": {"j": {"parent": "ground", "child": "a", "transforms": [{"shift": "x", "coordinate": "s"}]}},
        "forces": {
"f": {"coordinate": "s", "value": f"{tables} + if(s < 0.2, -100*s, 7) + max(s, der(s))"}
        },
    }  # fmt: skip
    system = load(description).compile()
    trace = system.trace()
    for s in np.linspace(-1.5, 1.5, 31):
        for v in (-2.0, 0.1, 1.7):
            close(trace.evaluate(0.0, [s], [v]), system.accelerations(0.0, [s], [v]))


def test_tracing_does_not_change_the_process():
    """A trace needs no switch of numba, and the engine gives the same before and after."""
    system = load("lib:puma560").compile()
    q, u = system.start()
    before = system.accelerations(0.0, q, u + 0.1)
    system.trace()
    assert np.array_equal(before, system.accelerations(0.0, q, u + 0.1))


def test_traced_axes_are_chosen_by_operation_count():
    """The chosen form is the cheapest of its candidates; aligned chains take body axes."""
    system = load("lib:chain", n=7).compile()
    counts = {
        (form, axes): traced(system, "accelerations", "numbers", form, axes).weight
        for form, axes in (("DEC", WORLD), ("DEC", BODY), ("CBM", BODY))
    }
    assert system.trace().weight == min(counts.values())
    assert counts["DEC", BODY] < counts["DEC", WORLD]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"of": "speed"}, "cannot be traced"),
        ({"parameters": "both"}, "expected numbers or symbols"),
        ({"form": "ITR-M"}, "iterates"),
        ({"form": "XYZ"}, "unknown form"),
        ({"of": "outputs", "form": "CBM"}, "one way"),
    ],
)
def test_what_cannot_be_traced_is_refused(arguments: dict, message: str):
    with pytest.raises(ValueError, match=message):
        load("lib:double-pendulum").compile().trace(**arguments)


def test_auto_form_selects_multipliers():
    """Chains of spherical joints have fewer multipliers than freedoms: `auto` takes them unless a tiny inertia costs digits or has no inverse."""
    names = "abcdef"
    body = {"mass": 1.0, "com": [0, 0, -0.5], "inertia": [0.1, 0.2, 0.25, 0, 0, 0]}
    at = {"type": "spherical", "at": [0.1, 0.0, -1.0]}
    joints = {
        name: {"parent": parent, "child": name, **at}
        for parent, name in zip(["ground", *names], names, strict=False)
    }
    for inertia, form in (
        (body["inertia"], "LGR"),
        ([1e-9, 1e-9, 1e-9, 0, 0, 0], "DEC"),
        ([0.0, 0.0, 0.0, 0, 0, 0], "DEC"),
    ):
        bodies = dict.fromkeys(names, body) | {"c": body | {"inertia": inertia}}
        system = load(
            {"format": "kinetree/1", "name": "chain", "bodies": bodies, "joints": joints}
        ).compile()
        trace = system.trace()
        assert trace.form.startswith(form)
        t, q, u = state(system, np.random.default_rng(1))
        close(trace.evaluate(t, q, u), system.accelerations(t, q, u), 1e3)


@pytest.mark.parametrize("form", ["ITR-M", "ITR-G", "ITR-H"])
@pytest.mark.parametrize("name", ["regulator", "puma560", "chain6"])
def test_iterated_forms_converge_geometrically(name: str, form: str):
    """From H = (1 + e) M⁻¹ the first guess is off by e and every iteration multiplies that by e again: two of them leave e³."""
    system = load(f"lib:{name}").compile()
    of = "hamilton" if form == "ITR-H" else "accelerations"
    trace = traced(system, of, "numbers", form, BODY)
    t, q, u = state(system, np.random.default_rng(2))
    H = 1.001 * np.linalg.inv(system.mass_matrix(t, q))
    second = system.momenta(t, q, u) if of == "hamilton" else u
    right = system.hamilton(t, q, second)[0] if of == "hamilton" else system.accelerations(t, q, u)
    found = trace.evaluate(
        t, q, second, states_of(system), inputs_of(system), held=H[np.tril_indices(system.n)]
    )
    deviation = (
        np.abs((found[0] if of == "hamilton" else found) - right).max() / np.abs(right).max()
    )
    assert 1e-11 < deviation < 1e-8
