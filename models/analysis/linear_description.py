"""Linearised motion about an equilibrium as a description with [chain], so that a mechanism, or a
stiff elastic part of it, can be simulated with large steps.

M ÿ + F ẏ + K y = G (w - w_0) becomes a chain of unit masses in η = Lᵀ y, M = L Lᵀ (with a diagonal
M the coordinates are kept). The coordinates, speeds and outputs of the mechanism become outputs
linear in η.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.models.analysis.linearization import without_rounding
from kinetree.models.compilation.element_states import held_inputs, inputs_of
from kinetree.models.system.local_coordinates import Evaluation

if TYPE_CHECKING:
    from kinetree.models.analysis.equilibrium import Equilibrium
    from kinetree.models.system.system import System


def linear_description(system: System, rest: Equilibrium | None = None) -> dict[str, Any]:
    """Return a [chain] description of the linearised motion about an equilibrium, with the start
    state of the system.
    """
    rest = rest or system.equilibrium()
    linear, d = system.linearize(rest.t, rest.q, states=rest.states), system.description
    n, held = len(linear.coordinates), held_inputs(d)
    linear.refuse_chain()
    mass, damping, stiffness = (
        without_rounding(linear.mass),
        without_rounding(linear.damping),
        without_rounding(linear.stiffness),
    )
    diagonal = not np.count_nonzero(mass - np.diag(np.diagonal(mass)))
    L = np.eye(n) if diagonal else np.linalg.cholesky(mass)
    back = np.linalg.inv(L)  # y = backᵀ η
    F, K, G = damping, stiffness, linear.force
    if not diagonal:
        F, K, G = without_rounding(back @ F @ back.T), without_rounding(back @ K @ back.T), back @ G
    names = [
        f"change.{name}" if diagonal else f"eta_{k}" for k, name in enumerate(linear.coordinates, 1)
    ]
    speeds = [f"der({name})" for name in names]
    starts = dict(zip(linear.inputs, Evaluation(system, rest.t).inputs.tolist(), strict=True))
    moved = ["0" if name in held else f"({name} - {value!r})" for name, value in starts.items()]
    y0, v0 = start_deviation(system, rest)
    shapes = np.zeros((linear.C.shape[0], 2 * n))
    shapes[:, :n], shapes[:, n:] = linear.C[:, :n] @ back.T, linear.C[:, n : 2 * n] @ back.T
    outputs: dict[str, Any] = {}
    for k, name in enumerate(linear.coordinates):
        outputs[name] = {
            "value": linear_combination(back[:, k], names, rest.coordinates.get(name, 0.0))
        }
        outputs[f"{name}.speed"] = {"value": linear_combination(back[:, k], speeds)}
    for k, name in enumerate(linear.outputs):
        row = (*shapes[k], *linear.D[k])
        outputs[plain_output_name(name)] = {
            "value": linear_combination(
                row, [*names, *speeds, *moved], rest.outputs.get(name, 0.0)
            ),
            "unit": unit_of(system, name),
        }
    forces = {name: linear_combination(G[k], moved) for k, name in enumerate(names) if np.any(G[k])}
    return {
        "name": f"{d.name} linear".strip(),
        "text": f"Small motions of {d.name or 'a mechanism'} about its state of rest",
        "inputs": {
            name: {"start": value, "unit": inputs_of(d)[name].unit}
            for name, value in starts.items()
            if name not in held
        },
        "chain": {
            "mass": np.diagonal(mass).tolist() if diagonal else [1.0] * n,
            "stiffness": K.tolist(),
            "damping": F.tolist(),
            "names": names,
            "start": (L.T @ y0).tolist(),
            "speed": (L.T @ v0).tolist(),
            "forces": forces,
        },
        "outputs": outputs,
        "run": d.run.model_dump(
            exclude_none=True, include={"start_time", "stop_time", "output_step", "step"}
        ),
    }


def start_deviation(system: System, rest: Equilibrium) -> tuple[np.ndarray, np.ndarray]:
    """Return deviation and speed of the start state from the equilibrium."""
    q, u = system.start()
    places, speeds = (
        dict(zip(system.coordinates, q, strict=True)),
        dict(zip(system.speeds, u, strict=True)),
    )
    known = [name in places and f"der({name})" in speeds for name in rest.linear.coordinates]
    y = [
        places[name] - rest.coordinates[name] if ok else 0.0
        for name, ok in zip(rest.linear.coordinates, known, strict=True)
    ]
    v = [
        speeds[f"der({name})"] if ok else 0.0
        for name, ok in zip(rest.linear.coordinates, known, strict=True)
    ]
    return np.array(y), np.array(v)


def linear_combination(
    factors: Iterable[float], names: Iterable[str], constant: float = 0.0
) -> str:
    """Return the expression constant + sum of factor*name as text."""
    terms = [
        f"{float(factor)!r}*{name}"
        for factor, name in zip(factors, names, strict=True)
        if factor != 0.0
    ]
    return " + ".join([*([repr(float(constant))] if constant or not terms else []), *terms])


def plain_output_name(name: str) -> str:
    """Return a valid output name: vector components lose their brackets."""
    return re.sub(r"\[(\d+)\]", r"_\1", name)


def unit_of(system: System, name: str) -> str:
    """Return the unit of an output."""
    return next((column.unit for column in system.compiled.outputs if column.name == name), "")
