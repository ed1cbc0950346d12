"""A linear chain as a mechanism of sliders: every mass becomes a body on a prismatic joint, every
row of the equations a force along its coordinate.

It has the motion, inputs, outputs and starts of the chain, so that everything that packs, hosts or
integrates mechanisms works for chains too. Masses and couplings are fixed at their current values:
the parameters behind them can no longer be changed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.models.chain.system import ChainSystem
from kinetree.models.description.names import expressions
from kinetree.models.expressions.parse import names, parse
from kinetree.models.language.errors import ModelError, Problem
from kinetree.models.system.mechanism import Mechanism

MOST_TERMS = 600  # of one force; expressions have a largest size
KEPT = ("value", "unit", "min", "max", "tunable", "text")


def chain_mechanism(system: ChainSystem) -> Mechanism:
    """Return the mechanism that is equivalent to the chain."""
    d = system.description
    if system.mass.ndim == 2:
        if np.count_nonzero(system.mass - np.diag(np.diagonal(system.mass))):
            raise ModelError(
                Problem(
                    "chain.mass",
                    "a mass matrix that couples coordinates",
                    "masses, one number each",
                    file=d.file,
                )
            )
        masses = np.diagonal(system.mass)
    else:
        masses = system.mass
    x0, v0 = system.start()
    bodies: dict[str, Any] = {}
    joints: dict[str, Any] = {}
    forces: dict[str, Any] = {}
    for k, name in enumerate(system.coordinates):
        bodies[f"mass_{name}"] = {
            "mass": float(masses[k]),
            "inertia": [1.0, 1.0, 1.0, 0.0, 0.0, 0.0],
        }
        transform = {"shift": "x", "coordinate": name, "start": float(x0[k]), "speed": float(v0[k])}
        joints[f"slider_{name}"] = {
            "parent": "ground",
            "child": f"mass_{name}",
            "transforms": [transform],
        }
        forces[f"load_{name}"] = {"coordinate": name, "value": row(system, k)}
    return Mechanism(
        {
            "name": d.name,
            "text": d.text or "A linear chain",
            "gravity": [0.0, 0.0, 0.0],
            "parameters": parameters(system),
            "inputs": {
                name: each.model_dump(exclude_none=True, exclude_defaults=True)
                for name, each in d.inputs.items()
            },
            "outputs": {
                name: {"value": each.value, "unit": each.unit} for name, each in d.outputs.items()
            },
            "bodies": bodies,
            "joints": joints,
            "forces": forces,
            "run": d.run.model_dump(exclude_none=True, exclude_defaults=True),
        },
        {},
    )


def row(system: ChainSystem, k: int) -> str:
    """Return the force on coordinate k as an expression: couplings, external force, support."""
    chain, name = system.chain, system.coordinates[k]
    terms = []
    if system.springs is not None:
        terms += stretched(system, k)
    for matrix, variables in (
        (system.stiffness if system.springs is None else None, system.coordinates),
        (system.damping, system.speeds),
    ):
        if matrix is not None:
            terms += [
                f"- {float(matrix[k, j])!r}*{variables[j]}" for j in np.flatnonzero(matrix[k])
            ]
    if len(terms) > MOST_TERMS:
        raise ModelError(
            Problem(
                "chain",
                f"{len(terms)} couplings of coordinate '{name}'",
                f"at most {MOST_TERMS}",
                file=system.description.file,
            )
        )
    if name in chain.forces:
        terms.append(f"+ ({chain.forces[name]})")
    if name in chain.supports:
        terms.append(f"+ {float(system.supports[k])!r}*({chain.supports[name].motion})")
    return " ".join(terms).removeprefix("+ ") or "0"


def stretched(system: ChainSystem, k: int) -> list[str]:
    """Return the forces of the springs at coordinate k, each computed from its own elongation."""
    assert system.springs is not None
    between, ground = system.springs
    x = system.coordinates
    terms = (
        [f"- {float(ground[k] + system.supports[k])!r}*{x[k]}"]
        if ground[k] + system.supports[k]
        else []
    )
    sides = [
        (between[j], m)
        for j, m in ((k - 1, k - 1), (k, k + 1))
        if 0 <= j < between.size and between[j]
    ]
    return terms + [f"- {float(c)!r}*({x[k]} - {x[m]})" for c, m in sides]


def parameters(system: ChainSystem) -> dict[str, Any]:
    """Return the parameters of the mechanism; those that masses, couplings or starts use become
    constants.
    """
    d, chain = system.description, system.chain
    fixed: set[str] = set()
    parts = (
        chain.mass,
        chain.stiffness,
        chain.damping,
        chain.start,
        chain.speed,
        tuple(s.stiffness for s in chain.supports.values()),
    )
    for _, text in expressions(parts):
        fixed |= names(parse(text))
    more = True
    while more:
        texts = [
            d.parameters[name].value for name in fixed if isinstance(d.parameters[name].value, str)
        ]
        more = bool(new := {name for text in texts for name in names(parse(text))} - fixed)
        fixed |= new
    found = {}
    for name, each in d.parameters.items():
        found[name] = {
            key: getattr(each, key) for key in KEPT if getattr(each, key) not in (None, "")
        }
        if name in fixed:
            found[name] |= {"value": f"{system.values[name]!r}", "tunable": False}
    return found
