"""Variants of a system: as simulated, with controllers in steady state, and with one control loop
opened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinetree.models.compilation.stage_structures import compile_stage, structures
from kinetree.models.controllers.expansion import commands_of, expanded
from kinetree.models.system.system import System

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from kinetree.models.analysis.equilibrium import Equilibrium
    from kinetree.models.description.schema import Description


def system_of(description: Description) -> System:
    """Return the compiled system; a run starts from the last prepared equilibrium or a given
    result.
    """
    system = unprepared(description)
    begun_before = description.beginning is not None and description.beginning.whole
    if begun_before:
        return system
    if description.run.prepare:
        from kinetree.models.analysis.preparation_stages import rest_starts

        starts = rest_starts(system)
    else:
        from kinetree.models.analysis.steady_pressures import steady_names, steady_starts

        starts = steady_starts(system) if steady_names(description) else {}
    if not starts:
        return system
    compiled = compile_stage(system.stages[0], later=False, starts=starts)
    return System(description, compiled, system.stages)


PLAIN = (
    "pid",
    "state-feedback",
    "saturation",
)  # continuous: what they give follows at once, but for an integral


def other_at_rest(written: Description) -> bool:
    """Return whether a controller has a different form in equilibrium: it samples, or has memory."""
    return any(
        each.kind not in PLAIN
        or each.period is not None
        or each.rate is not None
        or each.lag != 0.0
        or getattr(each, "kd", 0.0) != 0.0
        for each in written.controllers.values()
    )


def resting(system: System) -> System:
    """Return the system for equilibria, with controllers in steady state and sampled ones without
    events. It has the start of the system, a prepared equilibrium if there is one.
    """
    written = system.description.written
    if not (written.controllers or written.observers) or system.description.rests:
        return system
    return unprepared(expanded(written, rest=True), start_of(system))


def start_of(system: System) -> dict[str, float]:
    """Return the coordinates and states at which a run starts."""
    c, val = system.compiled, system._fast.ws.val
    coordinates = zip(system.coordinates, system.start()[0], strict=True)
    states = zip(c.states, val[c.start_x : c.start_x + len(c.states)], strict=True)
    return {name: float(value) for name, value in (*coordinates, *states)}


def opened(system: System, names: str | Collection[str]) -> System:
    """Return the system at equilibrium with the commands of one or several controllers as inputs."""
    return unprepared(expanded(system.description.written, rest=True, broken=names))


def unprepared(description: Description, starts: Mapping[str, float] | None = None) -> System:
    """Return the system without computing the prepared start; `starts` are given values by name."""
    beginning = description.beginning
    number = beginning.stage if beginning else 0
    stages = structures(description)[number:]
    compiled = compile_stage(stages[0], later=number > 0, starts=starts)
    if beginning and number:
        from kinetree.models.run.reparameterize import rewrite_registers

        held = {f"locked({name})": value for name, value in beginning.values.items()}
        compiled = rewrite_registers(compiled, held)
    return System(stages[0].description if number else description, compiled, stages)


def begun(system: System, rest: Equilibrium) -> dict[str, float]:
    """Return the initial states of a run from an equilibrium, including the memories of sampled
    controllers.
    """
    known = rest.outputs | rest.states
    for name, controller in system.description.written.controllers.items():
        for k, command in enumerate(commands_of(name, controller), 1):
            if command in known:
                waits = [
                    state for state in system.compiled.states if state.startswith(f"{command}.wait")
                ]
                limited = f"{name}.limited" + (
                    str(k) if len(commands_of(name, controller)) > 1 else ""
                )
                known |= dict.fromkeys(
                    (f"{command}.command", f"{command}.due", limited, *waits), known[command]
                )
    return {state: known[state] for state in system.compiled.states if state in known}
