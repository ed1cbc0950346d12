"""Equations for readers: what stands in the text gives the engine's numbers when it is evaluated as written; small results are written out."""

import re

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.expressions.parse import evaluate_constant

MODELS = ("regulator", "three-link-rods", "puma560", "flyball", "boom-drive")
QUANTITIES = ("accelerations", "mass_matrix", "momenta", "energy", "hamilton")


def numbers_of(text: str, values: dict[str, float]) -> dict[str, float]:
    """Every equation of a text, evaluated with the names it uses; names such as der(gamma) become plain ones."""
    names = sorted(values, key=len, reverse=True)
    pattern = re.compile(
        "|".join(re.escape(name) for name in names if not name.isidentifier()) or "(?!)"
    )
    known = {f"n{k}_": values[name] for k, name in enumerate(names)} | {
        name: values[name] for name in names if name.isidentifier()
    }
    found: dict[str, float] = {}
    for line in text.split("\n\n", 1)[1].splitlines():
        name, _, right = line.partition(" = ")
        plain = pattern.sub(lambda hit: f"n{names.index(hit[0])}_", right).replace("^", "**")
        found[name] = known[name] = evaluate_constant(plain, known)
    return found


@pytest.mark.parametrize("parameters", ["numbers", "symbols"])
@pytest.mark.parametrize("of", QUANTITIES)
@pytest.mark.parametrize("name", MODELS)
def test_readable_equations_match_engine(name: str, of: str, parameters: str):
    """Signs, brackets, powers and the order of factors; numbers are printed with twelve digits, which bounds the deviation."""
    system = load(f"lib:{name}").compile()
    if of == "hamilton" and system.compiled.loops:
        pytest.skip("Hamilton's equations are for trees")
    trace = system.trace(of, parameters)
    rng = np.random.default_rng(7)
    q, u = system.start()
    q, u = q + rng.uniform(0.01, 0.2, q.size), u + rng.uniform(0.01, 0.5, u.size)
    if system.compiled.loops:
        q, u = system.project(0.0, q, u)
    c = system.compiled
    x, inputs = (
        system._fast.ws.val[c.start_x : c.start_x + len(c.states)].copy(),
        system._fast.input_starts(),
    )
    groups = {"q": q, "u": u, "x": x, "inputs": inputs, "parameters": list(trace.values.values())}
    values = {
        each: float(value)
        for group, array in groups.items()
        for each, value in zip(trace.arguments[group], array, strict=True)
    }
    found = numbers_of(trace.text(), values | {"t": 0.3})
    right = np.ravel(trace.evaluate(0.3, q, u, x, inputs))
    size = max(1.0, np.abs(right).max())
    assert (
        max(abs(found[label] - value) for label, value in zip(trace.labels, right, strict=True))
        <= 1e-9 * size
    )


def test_small_matrices_are_printed_explicitly():
    """The regulator's mass matrix has no quantity between, the slide carries m2 alone (s² + c² gone), and powers stand as powers."""
    trace = load("lib:regulator").compile().trace("mass_matrix", "symbols")
    lines = trace.text().split("\n\n", 1)[1].splitlines()
    assert len(lines) == 16 and "M[der(y2),der(y2)] = m2" in lines
    assert r"0.01 + m_{2} \, \mathrm{zc}_{2}^2" in trace.latex()
    assert "v_{1}" not in trace.latex()


def test_readable_equations_name_momenta():
    """Hamilton's equations take momenta for u: that is what their names say."""
    trace = load("lib:regulator").compile().trace("hamilton")
    assert trace.arguments["u"][0] == "p(der(gamma))"
    assert r"p_{\gamma}" in trace.latex() and "u: p(der(gamma))" in trace.text()


def test_readable_equations_select_stage_by_name_or_number():
    """Each stage has equations of its own structure; a locked joint holds what only a run knows."""
    system = load("lib:carrier").compile()
    first, later = system.trace("mass_matrix"), system.trace("mass_matrix", stage="travel 3")
    assert later.shape[0] == first.shape[0] - 6 and "in the stage 'travel 3'" in later.text()
    assert system.trace("mass_matrix", stage=5).labels == later.labels
    with pytest.raises(ValueError, match="has no stage 'foo'"):
        system.trace(stage="foo")
    parts = {
        "joints": {
            "j": {
                "parent": "ground",
                "child": "a",
                "transforms": [{"rotate": "z", "coordinate": "p"}],
            }
        }
    }
    held = {
        "format": "kinetree/1",
        "name": "held",
        "bodies": {"a": {"mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0]}},
    } | parts
    held["stages"] = [{"name": "free", "ends": {"at": 1.0}, "lock": ["j"]}, {"name": "stop"}]
    with pytest.raises(ValueError, match="locked"):
        load(held).compile().trace(stage="stop")


def test_contacts_do_not_change_printed_inertias():
    """Masses, momenta and energies do not depend on contacts; what does is refused by name."""
    system = load("lib:rocking-block").compile()
    q, u = system.start()
    assert np.allclose(
        system.trace("mass_matrix").evaluate(0.0, q, u),
        system.mass_matrix(0.0, q),
        rtol=0,
        atol=1e-12,
    )
    with pytest.raises(ValueError, match="open, close and slide"):
        system.trace("accelerations")
