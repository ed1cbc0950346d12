"""Checks of a finished run: an energy balance that does not close, steps cut short by output rows."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from kinetree.models.engine.status import EvaluationError
from kinetree.models.result.number_format import fitting, written

if TYPE_CHECKING:
    from kinetree.models.result.result import Result

OPEN = 0.05  # part of the energy that moves, from which a balance counts as open
ENERGY_ROWS = 50  # at which the kinetic energy is looked at
FALL = 1e-6  # m: the weight falling so far is nothing


def energy_warning(result: Result) -> str:
    """Return a warning if the energy balance is open, else an empty text.

    The imbalance is compared with the largest kinetic energy and with the energy exchanged.
    """
    if result.replay is None or result.options is None or not len(result):
        return ""
    missing = np.abs(result["energy_residual"])
    finite = np.isfinite(missing)
    if not finite.any() or not missing[finite].max() > 0.0:
        return ""
    row = int(np.where(finite, missing, 0.0).argmax())
    energy = result["energy"][: row + 1]
    moved = float(np.ptp(energy[np.isfinite(energy)]))
    if missing[row] <= OPEN * moved:
        return ""
    moved = max(moved, kinetic_energy(result, row))
    if missing[row] <= OPEN * moved:
        return ""
    factor, unit = fitting("J", missing[row])
    integrator, step = result.options.integrator, result.options.step
    first = int(np.argmax(np.where(finite, missing, 0.0) > OPEN * moved))
    fixed = f"the step of {step:g} s of '{integrator}' is too long for it: take a shorter one, or "
    cure = fixed if fixed_step(integrator) else "give a smaller tolerance, or "
    return (
        f"the energy balance is open by {written(factor * missing[row], 3)} {unit} at "
        f"t = {result.time[row]:.6g} s (from t = {result.time[first]:.6g} s on by more than "
        f"{100 * OPEN:.0f} % of all energy that moves): {cure}another integrator"
    )


def step_warning(result: Result) -> str:
    """Return a warning if output rows cut fixed steps short, else an empty text: every step ends at
    a row at the latest.
    """
    if result.replay is None or result.options is None:  # chains have steps of their own
        return ""
    if not fixed_step(result.options.integrator):
        return ""
    step, row = result.options.step, result.options.output_step
    if not 0.0 < row < np.inf or abs(row / step - round(row / step)) <= 1e-6 * row / step:
        return ""
    taken = (
        f"steps end at output rows, every {row:g} s: they are as long, not {step:g} s"
        if step > row
        else f"the last step of {step:g} s before each output row, every {row:g} s, is shorter"
    )
    return f"{taken}; give an output step of {step:g} s, or a whole multiple of it"


def fixed_step(integrator: str) -> bool:
    """Return whether an integrator uses a fixed step size."""
    from kinetree.solvers.integrate.kinds import INTEGRATORS

    return any(method.fixed for method in INTEGRATORS if method.name == integrator)


def kinetic_energy(result: Result, row: int) -> float:
    """Return the largest kinetic energy [J] at some rows up to `row`, and the level below which it
    counts as zero.
    """
    from kinetree.models.engine.flat_blocks import model_fields
    from kinetree.models.specialised.specialised_rates import of_stage

    assert result.replay is not None
    unit, largest = result.replay.unit, 0.0
    systems = {}
    for k in np.unique(np.linspace(0, row, ENERGY_ROWS).astype(int)):
        stage = int(result["stage"][k])
        if stage not in systems:
            systems[stage] = of_stage(unit, unit.stages[stage], unit.compiled[stage])
        system = systems[stage]
        q, u = (
            np.array([result[name][k] for name in names])
            for names in (system.coordinates, system.speeds)
        )
        with suppress(EvaluationError):  # what is no number has no energy
            largest = max(largest, system.energy(float(result.time[k]), q, u)[0])
    system = systems[int(result["stage"][0])]
    fields = model_fields(system.compiled.ints, system.compiled.floats)
    mass = sum(system._fast.ws.val[int(k)] for k in fields.b_mass[1 : len(system.bodies) + 1])
    return largest + float(mass) * 9.81 * FALL
