"""Equilibria of successive preparation steps, such as on wheels, lifted on jacks, at commanded
angles; each starts from the one before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from kinetree.models.analysis.equilibrium import Equilibrium, equilibrium_record
from kinetree.models.analysis.statics import Search, find_equilibrium
from kinetree.models.compilation.compile import compile_structure, parameter_values
from kinetree.models.compilation.stage_structures import Structure, numbering
from kinetree.models.description.output_parts import Output
from kinetree.models.description.schema import Preparation
from kinetree.models.engine.flat_blocks import model_fields
from kinetree.models.engine.status import EvaluationError
from kinetree.models.expressions.parse import evaluate_constant, names, parse
from kinetree.models.language.errors import ModelError, Problem
from kinetree.models.system.controller_variants import begun, resting
from kinetree.models.system.system import System

STAGE = "stage"
REQUIRED = "require["  # outputs that stand for what must hold


def is_requirement(name: str) -> bool:
    """Return whether an output was generated for a requirement of a preparation step."""
    return name.startswith(REQUIRED)


def rest_starts(system: System) -> dict[str, float]:
    """Return the coordinates and states of the last equilibrium of `run.prepare`."""
    return Preparations(system).starts()


class Preparations:
    """The steps of `run.prepare`, compiled once; they give the start of a run for given parameter
    values.
    """

    def __init__(self, system: System):
        self.run, self.system = system, resting(system)
        self.steps = system.description.run.prepare
        values = parameter_values(system.description)
        self.present = [
            system_of_stage(
                self.system,
                with_requirements(self.system, step),
                evaluated_table(step.set, values),
                None,
            )
            for step in self.steps
        ]
        self.known: tuple[KnownEquilibrium, ...] = ()
        self.searches: list[tuple[Search, int]] = []  # of the last call of `starts`

    def equilibria(self) -> dict[str, Equilibrium]:
        """Return the equilibrium of every step by its name, as the last call of `starts` computed
        it.
        """
        found: dict[str, Equilibrium] = {}
        for number, (step, (search, count)) in enumerate(
            zip(self.steps, self.searches, strict=True), 1
        ):
            name = step.name or f"step {number}"
            name = f"{name} ({number})" if name in found else name
            rest = equilibrium_record(
                search.system, search.t, search.q, search.x, None, search.size, count
            )
            outputs = {key: value for key, value in rest.outputs.items() if not is_requirement(key)}
            found[name] = replace(rest, outputs=outputs)
        return found

    def starts(self, numbers: Mapping[str, float] | None = None) -> dict[str, float]:
        """Return coordinates and first-order states at the start of the run."""
        from kinetree.models.run.reparameterize import (
            reparameterized_description,
            reparameterized_system,
        )

        values = parameter_values(
            reparameterized_description(self.run, numbers) if numbers else self.run.description
        )
        starts, search, known, found = dict[str, float](), None, self.known, []
        self.searches = []
        for number, step in enumerate(self.steps):
            key = f"run.prepare[{number}]" + (f" '{step.name}'" if step.name else "")
            present = (
                reparameterized_system(
                    self.present[number], {**numbers, **evaluated_table(step.set, values)}
                )
                if numbers
                else self.present[number]
            )
            starts |= evaluated_table(step.guess, values)
            q = np.array(
                [
                    starts.get(name, value)
                    for name, value in zip(present.coordinates, present.start()[0], strict=True)
                ]
            )
            q = (
                present.project(present.compiled.start_time, q, np.zeros(present.n))[0]
                if starts
                else q
            )
            states = {
                name: value for name, value in starts.items() if name in present.compiled.states
            }
            search = (
                repeated_equilibrium(present, q, states, known[number])
                if number < len(known)
                else None
            )
            count = 0
            if search is None:
                known = ()  # what follows began elsewhere
                try:
                    search, count = find_equilibrium(
                        present, present.compiled.start_time, q, None, states
                    )
                except EvaluationError as error:
                    raise EvaluationError(f"{key}: {error}", error.status) from None
            found.append(
                KnownEquilibrium(
                    q, states, search.q, search.x, search_at(present, search.q, search.x).r
                )
            )
            starts = dict(
                zip(
                    (*present.coordinates, *present.compiled.states),
                    map(float, (*search.q, *search.x)),
                    strict=True,
                )
            )
            check_requirement(search, step, key)
            self.searches.append((search, count))
        self.known = tuple(found)
        if search is None or self.run is self.system:
            return starts
        last = equilibrium_record(search.system, search.t, search.q, search.x, None, 0.0, 0)
        return {
            name: value for name, value in starts.items() if name in self.run.coordinates
        } | begun(self.run, last)


class KnownEquilibrium(NamedTuple):
    """A cached equilibrium: its start, result and residual."""

    begin: np.ndarray
    states: dict[str, float]
    q: np.ndarray
    x: np.ndarray
    left: np.ndarray


def repeated_equilibrium(
    system: System, q: np.ndarray, states: dict[str, float], known: KnownEquilibrium
) -> Search | None:
    """Return a cached equilibrium if the search would repeat exactly the same computation, else
    None.
    """
    if known.states != states or not np.array_equal(known.begin, q):
        return None
    search = search_at(system, known.q, known.x)
    return search if np.array_equal(search.r, known.left) else None


def search_at(system: System, q: np.ndarray, x: np.ndarray) -> Search:
    """Return an equilibrium search that starts at a state."""
    search = Search(system, system.compiled.start_time, q, None, None)
    search.x = x
    search.settle()
    return search


def evaluated_table(
    texts: Mapping[str, float | str], values: Mapping[str, float]
) -> dict[str, float]:
    """Return the evaluated expressions of one table of a preparation step."""
    return {name: evaluate_constant(text, dict(values)) for name, text in texts.items()}


def with_requirements(system: System, step: Preparation) -> Structure:
    """Return the first structure with an additional output per requirement of the step."""
    structure = system.stages[0]
    outputs = structure.description.outputs | {
        f"{REQUIRED}{k}]": Output(value=law) for k, law in enumerate(step.require.values())
    }
    return replace(
        structure, description=structure.description.model_copy(update={"outputs": outputs})
    )


def check_requirement(search: Search, step: Preparation, key: str) -> None:
    """Raise if a requirement of the step is not satisfied in the equilibrium."""
    if not step.require:
        return
    search.evaluation.outputs(search.q, np.zeros(search.system.n), search.x)
    c, val = search.system.compiled, search.evaluation.instance.ws.val
    values = {name: float(val[k]) for name, k in c.registers.items()} | {
        column.name: float(val[column.register]) for column in c.outputs
    }
    for k, (sentence, law) in enumerate(step.require.items()):
        if not values[f"{REQUIRED}{k}]"]:
            found = ", ".join(
                f"{name} = {values[name]:.6g}"
                for name in sorted(names(parse(law)))
                if name in values
            )
            raise ModelError(
                Problem(
                    f"{key}.require",
                    found or str(law),
                    sentence,
                    file=search.system.description.file,
                )
            )


def equilibria(
    system: System,
    steps: Sequence[Mapping[str, float | str]] | None,
    inputs: Mapping[str, float] | None = None,
) -> list[Equilibrium]:
    """Return one equilibrium per step, or per stage without steps; settings persist."""
    steps = [{STAGE: k} for k in range(len(system.stages))] if steps is None else steps
    structure, parameters, held = system.stages[0], dict[str, float](), dict(inputs or {})
    present, found = system, list[Equilibrium]()
    for step in steps:
        changed = {
            name: float(value)
            for name, value in step.items()
            if name in system.description.parameters
        }
        held |= {
            name: float(value) for name, value in step.items() if name in system.compiled.inputs
        }
        unknown = [
            name for name in step if name != STAGE and name not in changed and name not in held
        ]
        if unknown:
            known = ", ".join((STAGE, *system.description.parameters, *system.compiled.inputs))
            raise KeyError(f"'{unknown[0]}' can not be set; known: {known}")
        if STAGE in step:
            structure = stage_by_name(system, step[STAGE])
        if changed or STAGE in step:
            parameters |= changed
            present = system_of_stage(system, structure, parameters, found[-1] if found else None)
        last = found[-1] if found else None
        states = (
            {name: value for name, value in last.states.items() if name in present.compiled.states}
            if last
            else None
        )
        given = {name: value for name, value in held.items() if name in present.compiled.inputs}
        found.append(
            present.equilibrium(q=carried_start(present, last), inputs=given, states=states)
        )
    return found


def stage_by_name(system: System, stage: float | str) -> Structure:
    """Return a stage by its name or number."""
    for k, structure in enumerate(system.stages):
        if stage == structure.name or stage == k:
            return structure
    raise KeyError(
        f"stage {stage!r} is unknown; stages: {', '.join(repr(structure.name) for structure in system.stages)}"
    )


def system_of_stage(
    system: System, structure: Structure, parameters: Mapping[str, float], last: Equilibrium | None
) -> System:
    """Return the system of a stage with other parameters; locked joints keep their coordinates."""
    d = structure.description
    values = {
        name: p.model_copy(update={"value": parameters[name]}) if name in parameters else p
        for name, p in d.parameters.items()
    }
    changed = d.model_copy(update={"parameters": values})
    compiled = compile_structure(
        changed, numbering(changed, structure.locked), structure.locked, structure.end, later=True
    )
    image = model_fields(compiled.ints, compiled.floats).val0
    for name, value in last.coordinates.items() if last else ():
        if f"locked({name})" in compiled.registers:
            image[compiled.registers[f"locked({name})"]] = value
    return System(changed, compiled, system.stages)


def carried_start(system: System, last: Equilibrium | None) -> np.ndarray:
    """Return start coordinates from the last equilibrium, projected onto the constraints."""
    if last is None:
        return system.start()[0]
    zero = np.zeros(system.n)
    compiled, val = system.compiled, system._fast.ws.val
    start = val[compiled.start_q : compiled.start_q + len(system.coordinates)]
    q = np.array(
        [
            last.coordinates.get(name, value)
            for name, value in zip(system.coordinates, start, strict=True)
        ]
    )
    try:
        return system.project(compiled.start_time, q, zero)[0]
    except EvaluationError:  # far from closed
        return system.assemble(compiled.start_time, q, zero)[0]
