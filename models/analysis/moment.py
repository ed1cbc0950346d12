"""The state about which a mechanism is linearised: where it rests, or what it is at an instant of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from kinetree.models.analysis.linearization import Linear, linearize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kinetree.models.system.system import System


def linear_at_rest(
    system: System, inputs: Mapping[str, float] | None = None, outputs: Sequence[str] | None = None
) -> Linear:
    """Small motions about the state of rest."""
    from kinetree.models.system.controller_variants import resting

    system = resting(system)
    rest = system.equilibrium(inputs=inputs)
    return linearize(system, rest.t, rest.q, None, inputs, outputs, rest.states)


def linear_at_time(
    system: System,
    time: float,
    inputs: Mapping[str, float] | None = None,
    outputs: Sequence[str] | None = None,
    **run,
) -> Linear:
    """Small motions about the motion as it is at an instant of a run, in the structure of its stage."""
    from kinetree.models.run.simulation import Options, check, set_options
    from kinetree.models.run.unit import Run, make_unit
    from kinetree.models.system.contact_states import refuse_contacts
    from kinetree.models.system.system import System
    from kinetree.solvers.fields import REGISTERS

    refuse_contacts(system, "small motions")
    options = Options.of(
        system,
        time,
        run.get("start_time"),
        None,
        run.get("integrator", "auto"),
        "auto",
        run.get("tolerance"),
        None,
        None,
    )
    unit = make_unit(system, options.integrator)
    active = Run(unit)
    set_options(active, options, False)
    check(active, active.begin(options.start_time, inputs or {}))
    if time > options.start_time:
        check(active, active.call("unit_advance", 0, time))
    stage = int(active.head.stage)
    structure, c = unit.stages[stage], unit.compiled[stage]
    here = System(structure.description, c, system.stages)
    values = active.columns
    places = {column.name: k for k, column in enumerate(unit.columns)}
    first = int(unit.header.at_workspace) + REGISTERS
    here._fast.ws.val[:] = active.work[first : first + here._fast.ws.val.size]
    here._fast.call("prepare")
    q, u, x = (
        np.array([values[places[name]] for name in names])
        for names in (c.coordinates, c.speeds, c.states)
    )
    held = {name: float(active.work[first + c.registers[name]]) for name in c.inputs}
    return linearize(
        here, time, q, u, held, outputs, dict(zip(c.states, map(float, x), strict=True))
    )
