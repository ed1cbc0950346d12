"""The names and signatures that users build upon, and the library that ships."""

import inspect
from pathlib import Path

import numpy as np
import pytest

from kinetree.models import ModelError, load
from kinetree.models.description.reading.read_source import library_names

SIGNATURES = {  # method of System -> parameters that callers may name
    "start": [],
    "accelerations": ["t", "q", "u", "inputs", "method", "loads"],
    "reactions": ["t", "q", "u", "method", "loads"],
    "mass_matrix": ["t", "q"],
    "energy": ["t", "q", "u"],
    "momenta": ["t", "q", "u"],
    "hamilton": ["t", "q", "p", "method", "loads"],
    "costs": ["iterations"],
    "choose": ["measured"],
    "simulate": [
        "stop_time",
        "method",
        "integrator",
        "inputs",
        "output_step",
        "tolerance",
        "progress",
    ],
}
DEFAULTS = {
    ("accelerations", "method"): "auto",
    ("hamilton", "method"): "DEC-H",
    ("costs", "iterations"): 2,
    ("choose", "measured"): False,
}
DEFAULTS |= {
    ("simulate", "method"): "auto",
    ("simulate", "integrator"): "auto",
    ("simulate", "tolerance"): None,
}
METHODS = {"DRT", "CBM", "LGR", "ITR-M", "ITR-G", "ABM", "DEC"}


@pytest.fixture(scope="module")
def regulator():
    return load("lib:regulator").compile()


@pytest.mark.parametrize("name", SIGNATURES)
def test_public_signatures_match_contract(regulator, name: str):
    parameters = inspect.signature(getattr(regulator, name)).parameters
    assert [wanted for wanted in SIGNATURES[name] if wanted in parameters] == SIGNATURES[name]
    for (method, parameter), value in DEFAULTS.items():
        if method == name:
            assert parameters[parameter].default == value


def test_public_attributes_match_contract(regulator):
    assert len(regulator.coordinates) == len(regulator.speeds) == regulator.n
    assert len(regulator.parents) == len(regulator.bodies)
    assert all(
        isinstance(names, tuple)
        for names in (regulator.coordinates, regulator.speeds, regulator.bodies)
    )


def test_costs_and_form_choice_match_contract(regulator):
    assert set(regulator.costs(iterations=2)) >= METHODS
    assert regulator.choose() in regulator.costs()


def test_result_interface_matches_contract(regulator, tmp_path: Path):
    result = regulator.simulate(stop_time=0.2, output_step=0.1)
    for name in (*regulator.coordinates, *regulator.speeds):
        assert np.shape(result[name]) == np.shape(result.time) == (3,)
    result.to_csv(tmp_path / "r.csv")
    result.plot(tmp_path / "r.png")
    assert (tmp_path / "r.csv").exists() and (tmp_path / "r.png").exists()
    assert list(result.events) == []


def test_unknown_names_are_model_errors():
    with pytest.raises(ModelError, match="regulator"):
        load("lib:regulater")
    with pytest.raises(ModelError):
        load({"format": "kinetree/0"})


@pytest.mark.parametrize("name", library_names())
def test_every_library_mechanism_loads(name: str):
    system = load(f"lib:{name}").compile()
    q, u = system.start()
    assert system.name and np.isfinite(q).all() and np.isfinite(u).all()
