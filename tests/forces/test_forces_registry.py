"""The registry of forces: every kind, also one that was added a minute ago, keeps the books, is the same in every form, and can be differentiated."""

import copy
import tomllib
from pathlib import Path

import numpy as np
import pytest
from random_forces import random_mechanism

from kinetree.models import ModelError, load
from kinetree.models.compilation.stage_structures import force_stands
from kinetree.models.description.reference import plain
from kinetree.models.forces.kinds import KINDS, force_kind, offered

DOCS = Path(__file__).parents[2] / "docs"
TOLERANCE = 1e-9


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [1, 2])
def test_every_force_kind_balances_energy(kind: str, seed: int):
    """Work of the force + what it stores + what it takes is constant, and what is passive has never given more than it got.

    Both integrals run with the motion: its tolerance of 1e-9, times the energies that are turned over, with room for 1000 steps that add up."""
    system = load(random_mechanism(kind, seed)).compile()
    result = system.simulate(0.6, output_step=0.01, tolerance=TOLERANCE)
    stored, lost, work = result["f.stored_energy"], result["f.dissipated_energy"], result["work"]
    size = 1.0 + np.abs(work).max() + np.abs(stored).max() + np.abs(result["f.power"]).max()
    assert np.abs(stored - stored[0] + work + lost).max() < 1e3 * TOLERANCE * size
    assert KINDS[kind].gives_energy or lost.min() > -1e3 * TOLERANCE * size
    assert np.abs(result["energy_residual"]).max() < 1e3 * TOLERANCE * size


@pytest.mark.parametrize("kind", KINDS)
def test_force_kinds_agree_in_all_forms(kind: str):
    system = load(random_mechanism(kind, 3)).compile()
    q, u = system.start()
    u = u + np.random.default_rng(3).normal(size=u.size)
    found = {
        form: system.accelerations(0.0, q, u, method=form) for form in ("DEC", "CBM", "ABM", "LGR")
    }
    for each in found.values():
        assert each == pytest.approx(found["DEC"], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_every_force_kind_offers_its_quantity_names(kind: str):
    """States and measured values are there by name, with finite slopes of everything they do."""
    description = random_mechanism(kind, 4)
    mechanism = load(description)
    names = offered("f", mechanism.description.forces["f"])
    system = load(
        description
        | {
            "outputs": {
                **description["outputs"],
                **{f"seen{k}": name for k, name in enumerate(names)},
            }
        }
    ).compile()
    q, u = system.start()
    told = system.outputs(0.0, q, u)
    assert all(np.isfinite(told[f"seen{k}"]) for k in range(len(names)))
    A = system.linearize(0.0, q, u).A
    assert np.isfinite(A).all()


@pytest.mark.parametrize("kind", KINDS)
def test_force_kind_is_given_or_derived_from_keys(kind: str):
    """Written kinds count; else its keys tell it, if it has any that do."""
    known = KINDS[kind]
    example = {known.place: "x", **known.example}
    assert force_kind(example | {"kind": kind}) == kind
    for key in known.told_by or ():
        assert force_kind({known.place: "x", key: 1}) == kind
    if known.told_by is None:
        assert force_kind({known.place: "x"}) != kind


def test_keys_identify_one_force_kind():
    for place in ("coordinate", "between", "body"):
        keys = [key for kind in KINDS.values() if kind.place == place for key in kind.told_by or ()]
        assert len(keys) == len(set(keys))
        assert (
            sum(kind.told_by == frozenset() for kind in KINDS.values() if kind.place == place) <= 1
        )


@pytest.mark.parametrize(
    ("kind", "offered_name"),
    [("line", "f.length"), ("contact", "f.penetration"), ("tyre", "f.travel")],
)
def test_offered_quantity_names_have_units(kind: str, offered_name: str):
    """What elements offer is known by its dimension: a length and a mass with a declared unit are not added, two lengths are."""
    d = random_mechanism(kind, 1) | {"outputs": {"sum": f"{offered_name} + p"}, "states": {}}
    assert load(d | {"parameters": {"p": {"value": 1.0, "unit": "m"}}})
    with pytest.raises(ModelError, match="outputs.sum"):
        load(d | {"parameters": {"p": {"value": 1.0, "unit": "kg"}}})


def test_documentation_and_packages_list_registered_force_kinds():
    text = "".join(
        (DOCS / "format" / name).read_text(encoding="utf-8")
        for name in ("forces.md", "touching.md")
    )
    for name, kind in KINDS.items():
        assert f"| `{name}` | {plain(kind.says, '*|')} |" in text
    packages = tomllib.loads((DOCS.parent / "pyproject.toml").read_text())["tool"]["setuptools"][
        "packages"
    ]
    assert {"kinetree.models.forces", "kinetree.models.forces.kinds"} <= set(packages)


def bodies_named(table: object, known: set[str], path: tuple = ()) -> list[tuple]:
    """Places in a table of forces where a body is named."""
    if isinstance(table, dict):
        return [
            place
            for key, each in table.items()
            for place in bodies_named(each, known, (*path, key))
        ]
    if isinstance(table, list):
        return [
            place for k, each in enumerate(table) for place in bodies_named(each, known, (*path, k))
        ]
    return [path] if isinstance(table, str) and table in known else []


@pytest.mark.parametrize("kind", KINDS)
def test_forces_name_missing_bodies_and_leave_with_them(kind: str):
    """A body that is not there is named with its key; a force leaves with any body that it acts on."""
    d = random_mechanism(kind, 1)
    places = bodies_named(d["forces"]["f"], set(d["bodies"]))
    for place in places:
        other = copy.deepcopy(d)
        table = other["forces"]["f"]
        for key in place[:-1]:
            table = table[key]
        name, table[place[-1]] = table[place[-1]], "nobody"
        with pytest.raises(ModelError, match=r"forces\.f\.[^:]*: found the unknown body 'nobody'"):
            load(other)
        description = load(d).description
        assert not force_stands(description.forces["f"], {"ground", *d["bodies"]} - {name}, ())
    assert places or KINDS[kind].place == "coordinate"
