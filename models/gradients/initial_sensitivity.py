"""Derivatives of the initial state by parameters: start expressions and equilibria."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinetree.models.engine.instance import Instance
from kinetree.models.expressions.parse import names as names_in
from kinetree.models.expressions.parse import parse
from kinetree.models.gradients.adjoint_code import AdjointCode
from kinetree.models.gradients.trajectory import Piece
from kinetree.models.run.ensemble_cases import Cases
from kinetree.models.run.simulation_unit import Unit, make_unit

AT_REST = 1e-6  # accelerations at the beginning, beside what a change of every coordinate by one would give, up to which it is a state of rest
LOOSE = 1e-10  # part of the largest singular value below which nothing holds a direction: a search for rest does not move along it


def equilibrium_slopes(
    code: AdjointCode, unit: Unit, piece: Piece, chosen: Sequence[str]
) -> np.ndarray | None:
    """Return ∂(state, held values)/∂parameters of an equilibrium by the implicit function theorem,
    or None if that is not available.
    """
    c, d = code.system.compiled, unit.description
    nq, nu = len(c.coordinates), len(c.speeds)
    if (
        c.loops
        or d.run.prepare[-1].set
        or d.written.controllers
        or c.quaternions
        or any(name.startswith("locked(") for name in c.registers)
    ):
        return None
    n, first = code.n, code.n + 1 + len(c.inputs)
    rows = np.array(
        [
            code.call("back", piece.time, np.concatenate([piece.state, np.eye(n)[k]]), piece.given)
            for k in range(nq, n)
        ]
    )
    places = [*range(nq), *range(nq + nu, n)]
    by_state, by_parameters = rows[:, places], rows[:, first : first + len(chosen)]
    rates = code.call("rates", piece.time, piece.state, piece.given)[nq:n]
    if np.abs(rates).max(initial=0.0) > AT_REST * np.abs(by_state).max(initial=1.0) or np.any(
        piece.state[nq : nq + nu]
    ):
        return None
    found = np.zeros((len(chosen), n + code.given))
    found[:, places] = -np.linalg.lstsq(by_state, by_parameters, rcond=LOOSE)[0].T
    return found


def changed_unit(unit: Unit, values: dict[str, float]) -> Unit:
    """Return the unit compiled with other parameter values, starting from their equilibrium."""
    system = Cases(unit.system, {name: [value] for name, value in values.items()}, None).system(0)
    return make_unit(system, unit.integrator, unit.method)


def unit_with_numbers(unit: Unit, names: Sequence[str]) -> Unit:
    """Return the unit with parameters given as expressions replaced by their values."""
    values, own = Instance(unit.compiled[0]).ws.val, unit.description.parameters
    written = {
        name: float(values[unit.compiled[0].registers[name]])
        for name in names
        if name in own and isinstance(own[name].value, str)
    }
    return changed_unit(unit, written) if written else unit


def dependent_parameters(unit: Unit) -> dict[str, tuple[str, ...]]:
    """Return the parameters computed from others, with these others."""
    own = unit.description.parameters
    found = {
        name: tuple(sorted(names_in(parse(each.value)) & own.keys()))
        for name, each in own.items()
        if isinstance(each.value, str)
    }
    return {name: others for name, others in found.items() if others}
