"""Momentum, energy and constraints around every impact, by means that are not the engine's: see tests/support/impact_books.py."""

import json

import numpy as np
import pytest
from contacts import feet, plane_block
from impact_books import impacts

from kinetree.models import load

MACHINES = {
    "impact-pair": 0.5,
    "rocking-block": 2.0,
    "newtons-cradle": 1.0,
    "painleve-rod": 0.5,
    "woodpecker": 0.3,
    "falling-stack": 0.2,
}
RIGHT = 1e-9  # of the momenta, energies and speeds at an impact; found: 1e-14


@pytest.mark.parametrize("name", MACHINES)
def test_impact_machines_balance_energy(name: str):
    """p⁺ - p⁻ comes from pushes at what touches, within their cones of friction; no impact adds energy, nothing goes on to approach."""
    description = json.loads(
        load(f"lib:{name}").description.model_dump_json(
            exclude_unset=True, by_alias=True, warnings=False
        )
    )
    found = list(impacts(description, MACHINES[name]))
    assert found and max(impact.worst for impact in found) < RIGHT, max(
        found, key=lambda impact: impact.worst
    )


@pytest.mark.parametrize("law", ["newton", "poisson", "energetic"])
@pytest.mark.parametrize("sequence", ["simultaneous", "sequential"])
def test_loop_impact_balances_energy(law: str, sequence: str):
    """A block in a parallelogram of two bars falls on two feet with friction: the bars' reactions take part."""
    contacts = feet(0.4, 0.2, friction=0.4, restitution=0.6, law=law)
    parts = plane_block(0.4, 0.2, (0, 0.35, 0.1), (1.0, 0, -2.0))
    d = {
        "format": "kinetree/1",
        "name": "held block",
        **parts,
        "contacts": contacts,
        "run": {"impacts": sequence},
    }
    d["bodies"]["bar"] = {"mass": 0.3, "inertia": [0.01, 0.01, 0.01, 0, 0, 0]}
    d["joints"]["bar"] = {
        "parent": "ground",
        "child": "bar",
        "type": "revolute",
        "axis": "y",
        "at": [-0.6, 0, 0.5],
    }
    d["joints"]["end"] = {
        "parent": "bar",
        "child": "block",
        "type": "revolute",
        "axis": "y",
        "at": [0.6, 0, -0.15],
    }
    found = list(impacts(d, 0.8))
    assert len(found) > 2 and max(impact.worst for impact in found) < RIGHT, max(
        found, key=lambda impact: impact.worst
    )
    assert np.isfinite([impact.worst for impact in found]).all()
