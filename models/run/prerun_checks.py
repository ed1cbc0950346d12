"""Checks before a run that give warnings: dropped events and outputs, conditions true at the start,
singular starts, unknown report columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from kinetree.models.beams.linear_range import beyond_linear_range
from kinetree.models.compilation.compile import parameter_values
from kinetree.models.compilation.stage_structures import Structure
from kinetree.models.description.joint_units import joint_units
from kinetree.models.description.schema import Description
from kinetree.models.engine.compiled import Compiled
from kinetree.models.engine.flat_blocks import model_fields
from kinetree.models.engine.instance import Instance
from kinetree.models.engine.status import EvaluationError
from kinetree.models.expressions.nodes import names
from kinetree.models.expressions.parse import evaluate_constant, parse
from kinetree.models.language.errors import Problem, suggestion
from kinetree.models.result.stage_tables import not_there
from kinetree.models.run.simulation import empty_result
from kinetree.models.run.simulation_unit import later_structures, make_unit
from kinetree.models.system.system import System
from kinetree.solvers.layout import Guard, Status
from kinetree.solvers.model_records import GUARD

STABLE = {"rk4": 2.78}  # step times size of eigenvalues that explicit methods follow


def prerun_warnings(system: System) -> list[str]:
    """Return all warnings before a run; errors in later structures are raised."""
    return [
        *dropped_by_stage(system, later_structures(system)),
        *initially_true_events(system),
        *missing_report_columns(system),
        *too_long_fixed_steps(system),
        *large_start_deflections(system),
    ]


def large_start_deflections(system: System) -> Iterator[str]:
    """Yield warnings about reduced bodies outside their linear range: at the start, or under the
    loads at the start.
    """
    if not system.description.reduced:
        return
    q, _ = system.start()
    places = np.stack((q, static_mode_amplitudes(system, q)))
    start = {name: places[:, k] for k, name in enumerate(system.coordinates)}
    time = np.full(2, system.compiled.start_time)
    yield from beyond_linear_range(system.description, start, time)


def static_mode_amplitudes(system: System, q: np.ndarray) -> np.ndarray:
    """Return coordinates with the static modal amplitudes that the loads at rest cause in a tree,
    with all other coordinates fixed.
    """
    found, t = q.copy(), system.compiled.start_time
    if system.compiled.loops or system.compiled.contacts:
        return found
    try:
        forces = system.mass_matrix(t, q) @ system.accelerations(t, q, np.zeros(system.n))
    except (EvaluationError, np.linalg.LinAlgError):
        return found
    for name, reduced in system.description.reduced.items():
        for k, stiffness in enumerate(reduced.stiffness, 1):
            mode = f"{name}.mode{k}"
            found[system.coordinates.index(mode)] += (
                forces[system.speeds.index(f"der({mode})")] / stiffness
            )
    return found


def too_long_fixed_steps(system: System) -> Iterator[str]:
    """Yield warnings about fixed steps too long for the fastest modes of flexible bodies."""
    run, values = system.description.run, parameter_values(system.description)
    reach = STABLE.get(run.integrator)
    bending = system.description.beam_forms or system.description.reduced
    if reach is None or run.step is None or not bending:
        return
    step = float(evaluate_constant(run.step, values))
    try:
        fastest = float(np.abs(np.linalg.eigvals(system.linearize().A)).max(initial=0.0))
    except (EvaluationError, np.linalg.LinAlgError):
        return
    if step * fastest > reach:
        yield (
            f"run.step: {step:g} s is too long for '{run.integrator}': the fastest bending"
            f" is {fastest:.3g} 1/s at the start; at most {0.9 * reach / fastest:.2g} s, fewer segments"
            " or modes, less damping, or an implicit method"
        )


def missing_report_columns(system: System) -> Iterator[str]:
    """Yield warnings about report columns and stages that do not exist in any run."""
    report = system.description.report
    if report.tables or report.plots:
        empty = empty_result(make_unit(system), None, np.zeros(0))
        for place, wanted in {"tables": report.tables, "plots": report.plots}.items():
            for name, objection in not_there(empty, wanted, system.own_coordinates).items():
                yield f"report.{place}.{name}: {objection}"
    if report.names:
        empty = empty_result(make_unit(system), None, np.zeros(0))
        for name in report.names:
            if name not in empty and name not in empty.derived:
                hint = suggestion(name, [*empty.names, *empty.derived])
                yield f"report.names: no run has a column '{name}'" + (f"; {hint}" if hint else "")


def dropped_by_stage(system: System, structures: Iterable[Compiled]) -> Iterator[str]:
    """Yield warnings about events and outputs that are dropped in a stage because a name no longer
    exists.
    """
    told = set[str]()
    for stage, compiled in zip(system.stages[1:], structures, strict=True):
        left = {("outputs", column.name) for column in compiled.outputs}
        left |= {
            ("events", name)
            for name in system.description.events
            if any(guard.startswith(f"event '{name}' (") for guard in compiled.guards)
        }
        laws = {
            ("outputs", name): [output.value]
            for name, output in system.description.outputs.items()
            if output.value is not None
        }
        laws |= {
            ("events", name): [event.when, *event.set, *event.set.values()]
            for name, event in system.description.events.items()
        }
        laws = {key: texts for key, texts in laws.items() if key not in system.description.made}
        for (section, name), texts in laws.items():
            if (section, name) in left or f"{section}.{name}" in told:
                continue
            told.add(f"{section}.{name}")
            because = vanished_names(texts, system.compiled, compiled)
            effect = consequence(section)
            yield f"{section}.{name}: {effect} from stage '{stage_label(stage, system)}' on{because}"


def consequence(section: str) -> str:
    """Return the consequence for an event or output whose expression refers to a vanished name."""
    return "does not happen any more" if section == "events" else "keeps its last value"


def stage_label(stage: Structure, system: System) -> str:
    """Return the name of a stage, or its number from 1."""
    return stage.name or f"stage {system.stages.index(stage) + 1}"


def vanished_names(texts: Iterable[float | str], before: Compiled, now: Compiled) -> str:
    """Return the names used by expressions that exist before a stage but not after."""
    used = set[str]().union(*(names(parse(text)) for text in texts))
    lost = sorted(
        (used & before.registers.keys())
        - {*now.coordinates, *now.speeds, *now.states, *now.parameters, *now.inputs, "t"}
    )
    return (
        f", as {', '.join(repr(each) for each in lost)} {'is' if len(lost) == 1 else 'are'} gone"
        if lost
        else ""
    )


def body_without_inertia(system: System) -> Problem | None:
    """Return the body whose missing inertia keeps the motion from beginning, with what to add; None
    if there is none.
    """
    instance = Instance(system.compiled)
    try:
        instance.set_state(*system.start())
        instance.call("outputs", 0, system.compiled.start_time)
        return None
    except EvaluationError as error:
        item = int(instance.ws.head.item)
        bodies = system.compiled.bodies + system.compiled.twins
        if error.status != Status.SINGULAR_JOINT or not 0 < item <= len(bodies):
            return None
    name = bodies[item - 1]
    if name not in points_of_mass(system.description, turned_only=False):
        return None
    mass = evaluate_constant(
        system.description.bodies[name].mass, parameter_values(system.description)
    )
    missing = "mass without inertia" if mass else "neither mass nor inertia"
    return Problem(
        f"bodies.{name}",
        f"{missing} on a joint that turns it",
        hint="add inertia = [xx, yy, zz, xy, xz, yz] about its centre of mass, or give its shape"
        " a density in place of its mass",
        file=system.description.file,
    )


def points_of_mass(description: Description, turned_only: bool = True) -> list[str]:
    """Return the bodies without inertia of their own; with `turned_only` those that a joint turns
    and that have mass.
    """
    found = []
    for name, body in description.bodies.items():
        given = {"inertia", "inertia_at_origin", "flexible"} & body.model_fields_set
        if given or name in description.weighed or ("bodies", name) in description.pieces:
            continue
        joints = [joint for joint in description.joints.values() if joint.child == name]
        units = [unit for joint in joints for unit, _ in joint_units({"": joint}).values()]
        turns = any("rad" in unit for unit in units)
        if not turned_only or (turns and body.mass != 0.0):
            found.append(name)
    return found


def initially_true_events(system: System) -> Iterator[str]:
    """Yield warnings about event conditions true at the start, and about a first stage that ends at
    once.
    """
    compiled, instance = system.compiled, Instance(system.compiled)
    try:
        instance.set_state(*system.start())
        instance.call("outputs", 0, compiled.start_time)
    except EvaluationError as error:
        yield f"the motion cannot begin as it starts: {error}; `kinetree explain` tells what to do about such a message"
        return
    of_controllers = [name for section, name in system.description.made if section == "events"]
    guards = GUARD.rows(model_fields(compiled.ints, compiled.floats).guards)
    for guard, text in zip(guards, compiled.guards, strict=True):
        if not float(instance.ws.val[guard.register]) > 0.0 or any(
            text.startswith(f"event '{name}' (") for name in of_controllers
        ):
            continue
        if guard.kind == Guard.RESET:
            yield f"{text} holds at the start: it happens once it has been false and comes true again"
        elif (
            guard.kind == Guard.STAGE and "(when " in text
        ):  # the others are known without a look at the motion
            yield f"{text} holds at the start: the first stage ends at once"
