"""Shut oil as the leg of a jack: the circuit's chambers until they cavitate, and what never pulls; every pressure of the library from below."""

import numpy as np
import pytest
from random_forces import random_mechanism

from kinetree.models import ModelError, load
from kinetree.models.description.reading.read_source import library_names
from kinetree.models.forces.locked_cylinder import CAVITATION

OIL = {
    "area_a": 0.002,
    "area_b": 0.001,
    "volume_a": 1e-3,
    "volume_b": 1e-3,
    "stroke": 1.2,
    "bulk_modulus": 1.2e9,
    "pressure_b": 1e7,
}
EXTENSION = 0.9


def pressed(way: str, **more) -> dict:
    """A jack that is pressed down as given, beside a shut cylinder of the same oil in a circuit."""
    hose = {"volume": 1e-3, "bulk_modulus": 1.2e9}
    return {
        "format": "kinetree/1", "bodies": {"b": {"mass": 1.0}},
        "joints": {"j": {"child": "b", "transforms": [{"shift": "z", "by": f"{EXTENSION} - ({way})"}]}},
        "forces": {"j": {"kind": "jack", "body": "b", "extension": EXTENSION, "oil": OIL}},
        "hydraulics": {
            "a": hose | {"start": 0.5e7}, "b": hose | {"start": 1e7},
            "c": {"kind": "cylinder", "a": "a", "b": "b", "area_a": 0.002, "area_b": 0.001, "shortest": 0.0, "longest": 1.2,
                  "length": f"{EXTENSION} - ({way})", "rate": "-sink"},
        },
        "outputs": {"load": "force('j')", "pa": "j.pressure_a", "pb": "j.pressure_b", "x": way} | {
            "U": {"quantity": "stored_energy", "force": "j"}, "lost": {"quantity": "dissipated_energy", "force": "j"}},
    } | more  # fmt: skip


def test_locked_oil_supports_match_circuit_chambers():
    """Pressed slowly until the rod side is at 0.3 bar: pressures of both are those of the circuit's states, to their tolerance."""
    d = pressed("0.009*min(t, 1)", inputs={"sink": 0.009})
    result = load(d).compile().simulate(1.0, output_step=0.02, tolerance=1e-10)
    assert result["pb"][-1] < 0.4e7
    for own, theirs in (("pa", "a.pressure"), ("pb", "b.pressure")):
        assert result[own] == pytest.approx(result[theirs], rel=1e-7)
    assert result["load"] == pytest.approx(
        0.002 * result["pa"] - 0.001 * result["pb"], rel=1e-9, abs=1e-6
    )


def test_cavitating_oil_recovers():
    """Down 40 mm and up again: the rod side stays at its vapour, never below; the law is the same both ways and keeps its energy."""
    result = (
        load(pressed("0.02*(1 - cos(t))", inputs={"sink": 0.0}))
        .compile()
        .simulate(2 * np.pi, output_step=0.02, tolerance=1e-9)
    )
    down, up = result.time < np.pi, result.time > np.pi
    assert result["pb"].min() == CAVITATION and (result["pb"] == CAVITATION).sum() > 100
    assert np.interp(
        result["x"][up][::-1], result["x"][down], result["load"][down]
    ) == pytest.approx(result["load"][up][::-1], rel=1e-3, abs=50)
    work = np.concatenate(
        ([0.0], np.cumsum(0.5 * (result["load"][1:] + result["load"][:-1]) * np.diff(result["x"])))
    )
    assert result["U"] == pytest.approx(work, rel=1e-3, abs=1.0)  # of 1300 J, by trapezoids
    assert abs(result["lost"]).max() < 1e-6 * result["U"].max()


@pytest.mark.parametrize(
    "change",
    [
        {"stiffness": 1e5, "oil": OIL},
        {"oil": OIL | {"area_b": 0.0}},
        {"oil": OIL | {"pressure_b": -1.0}},
        {"oil": OIL, "exponent": 2.0},
    ],
)
def test_locked_oil_mistakes_are_named(change: dict):
    d = random_mechanism("jack", 1)
    force = {
        key: value for key, value in d["forces"]["f"].items() if key not in ("stiffness",)
    } | change
    with pytest.raises(ModelError, match="oil|exponent"):
        load(d | {"forces": {"f": force}})


CARRIERS = {f"{name} {key}": (name, {"modules": 1, key: 1, **more}) for name in ("carrier", "carrier-detailed") for key, more in (
    ("hydraulic", {}), ("drives", {}), ("drives", {"cylinders": 1}))}  # fmt: skip
CIRCUITS = {name: (name, {}) for name in library_names() if not name.startswith("carrier")}


def has_pressures(name: str, settings: dict) -> bool:
    d = load(f"lib:{name}", **settings).description
    return bool(
        d.hydraulics
        or any(getattr(force, "oil", None) for force in d.forces.values())
        or any(a.chambers for a in d.actuators.values())
    )


@pytest.mark.parametrize(
    "case", [case for case, found in (CIRCUITS | CARRIERS).items() if has_pressures(*found)]
)
def test_library_oil_is_never_in_tension(case: str):
    """Every pressure of every circuit, absolute: not below zero but for the tolerance of the run, 1e-6 of the largest."""
    name, settings = (CIRCUITS | CARRIERS)[case]
    system = load(f"lib:{name}", **settings).compile()
    result = system.simulate(
        None if name != "carrier-detailed" else 1.5, output_step=0.01, tolerance=1e-6
    )
    pressures = [name for name in result.columns() if result.unit(name) == "Pa"]
    assert pressures
    for each in pressures:
        assert result[each].min() >= -1e-6 * max(1e5, result[each].max()), each
