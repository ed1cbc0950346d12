"""Operating points of linearisations: an equilibrium, or an instant of a run.

Controllers are included everywhere: continuous ones with their current memory, sampled ones as the
continuous laws of models/controllers/expansion.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kinetree.models.analysis.linearization import Linear, linearize
from kinetree.models.controllers.expansion import commands_of, expanded
from kinetree.models.system.controller_variants import resting, unprepared
from kinetree.models.system.local_coordinates import Evaluation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kinetree.models.engine.compiled import Compiled
    from kinetree.models.system.system import System


def linear_at_rest(
    system: System, inputs: Mapping[str, float] | None = None, outputs: Sequence[str] | None = None
) -> Linear:
    """Return the linearisation about the equilibrium."""
    outputs = named_outputs(system, outputs)
    system = resting(system)
    rest = system.equilibrium(inputs=inputs)
    return linearize(system, rest.t, rest.q, None, inputs, outputs, rest.states)


def linear_at_state(
    system: System,
    t: float,
    q: np.ndarray,
    u: np.ndarray | None = None,
    inputs: Mapping[str, float] | None = None,
    outputs: Sequence[str] | None = None,
    states: Mapping[str, float] | None = None,
) -> Linear:
    """Return the linearisation about a state; first-order states that are not given have their
    start values.
    """
    present, outputs = resting(system), named_outputs(system, outputs)
    if present is system:
        return linearize(system, t, q, u, inputs, outputs, states)
    c = system.compiled
    for name in states or {}:
        if name not in c.states and name not in present.compiled.states:
            raise KeyError(f"'{name}' is not a state; states: {', '.join(c.states)}")
    begun = dict(zip(c.states, map(float, Evaluation(system, t).start_x), strict=True))
    known = controller_memory(present, t, q, u, inputs, begun, states or {})
    return linearize(present, t, q, u, inputs, outputs, known)


def named_outputs(system: System, outputs: Sequence[str] | None) -> list[str]:
    """Return the output names that exist in the system with continuous controllers too."""
    commands = {
        f"{command}.command": command
        for name, controller in system.description.written.controllers.items()
        for command in commands_of(name, controller)
    }
    if outputs is None:
        outputs = [column.name for column in system.compiled.outputs]
    return [commands.get(name, name) for name in outputs]


def controller_memory(
    present: System,
    t: float,
    q: np.ndarray,
    u: np.ndarray | None,
    inputs: Mapping[str, float] | None,
    run: Mapping[str, float],
    given: Mapping[str, float],
) -> dict[str, float]:
    """Return the states of a system with continuous controllers from those of the run.

    A controller that has not yet started has its initial memory for this state, except for values
    that are `given`.
    """
    written = present.description.written
    values = {**run, **given}
    values = {name: values[name] for name in present.compiled.states if name in values}
    asleep = tuple(
        f"{name}."
        for name in written.controllers
        if min(run.get(f"{name}.begun", 1.0), run.get(f"{name}.samples", 1.0)) < 0.5
    )
    if not asleep:
        return values
    beginning = unprepared(expanded(written, rest=True, begin=True))
    evaluation, c = Evaluation(beginning, t, inputs), beginning.compiled
    columns = {column.name: column.register for column in c.outputs}
    begins = {
        name: columns[f"{name}.begin"]
        for name in c.states
        if f"{name}.begin" in columns and name not in given and name.startswith(asleep)
    }
    speeds = np.zeros(beginning.n) if u is None else u
    for _ in range(1 + len(begins)):  # an entry may begin with what others begin with
        x = np.array([values.get(name, 0.0) for name in c.states])
        evaluation.outputs(q, speeds, x)
        values |= {
            name: float(evaluation.instance.ws.val[register]) for name, register in begins.items()
        }
    return values


def linear_at_time(
    system: System,
    time: float,
    inputs: Mapping[str, float] | None = None,
    outputs: Sequence[str] | None = None,
    **run,
) -> Linear:
    """Return the linearisation about an instant of a run, in the structure of its stage."""
    instant, present = instant_of(system, time, inputs, **run), resting(system)
    here = system_at_instant(system, present, instant)
    states = instant.states
    if present is not system:
        states = controller_memory(here, time, instant.q, instant.u, instant.inputs, states, {})
    outputs = named_outputs(system, outputs)
    return linearize(here, time, instant.q, instant.u, instant.inputs, outputs, states)


class RunInstant(NamedTuple):
    """A state of a run: index of its stage, blocks and registers of that stage, state vectors."""

    time: float
    stage: int
    compiled: Compiled
    registers: np.ndarray  # values of the run, by the register of the blocks
    q: np.ndarray
    u: np.ndarray
    states: dict[str, float]
    columns: dict[str, float]  # of the result, by name

    @property
    def inputs(self) -> dict[str, float]:
        """Return the values of the inputs."""
        places = self.compiled.registers
        return {name: float(self.registers[places[name]]) for name in self.compiled.inputs}


def instant_of(
    system: System, time: float, inputs: Mapping[str, float] | None = None, **run
) -> RunInstant:
    """Return the state of a run at a time."""
    from kinetree.models.run.simulation import Options, raise_on_failure, write_integrator_options
    from kinetree.models.run.simulation_unit import Run, make_unit
    from kinetree.models.system.contact_states import refuse_contacts
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
    write_integrator_options(active, options, False)
    raise_on_failure(active, active.begin(options.start_time, inputs or {}))
    if time > options.start_time:
        raise_on_failure(active, active.call("unit_advance", 0, time))
    stage = int(active.head.stage)
    c, values = unit.compiled[stage], active.columns
    places = {column.name: k for k, column in enumerate(unit.columns)}
    q, u, x = (
        np.array([values[places[name]] for name in names])
        for names in (c.coordinates, c.speeds, c.states)
    )
    first = int(unit.header.at_workspace) + REGISTERS
    states = dict(zip(c.states, map(float, x), strict=True))
    columns = {name: float(values[k]) for name, k in places.items()}
    return RunInstant(time, stage, c, active.work[first:].copy(), q, u, states, columns)


def system_at_instant(system: System, present: System, instant: RunInstant) -> System:
    """Return the system in the structure that a run of `system` has at an instant; `present` is the
    system itself or a variant with other controllers. Parameters and inputs have the values of the
    run.
    """
    from kinetree.models.compilation.stage_structures import compile_stage
    from kinetree.models.system.system import System

    structure, c = present.stages[instant.stage], instant.compiled
    compiled = c if present is system else compile_stage(structure, later=instant.stage > 0)
    here = System(structure.description, compiled, present.stages)
    val = here._fast.ws.val
    for name in compiled.registers.keys() & c.registers.keys():
        val[compiled.registers[name]] = instant.registers[c.registers[name]]
    if present is system:
        val[:] = instant.registers[: val.size]
    here._fast.call("prepare")
    return here
