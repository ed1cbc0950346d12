"""Traces of a compiled system: which kernels compute a quantity, and in which form and axes it
takes the fewest operations.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

import numpy as np

from kinetree.models.beams.reduced_bodies import refuse_reduced
from kinetree.models.checks.structural_parameters import frozen
from kinetree.models.description.names import RUN_START
from kinetree.models.engine.flat_blocks import model_fields
from kinetree.models.expressions.internal_names import STAGE_START
from kinetree.models.system.forms import GROUPS, HAMILTON, LAGRANGE, LINEAR, MASS
from kinetree.models.trace.fixed_iterations import iterated_accelerations, iterated_momenta
from kinetree.models.trace.kernel_recording import Recording, general_position
from kinetree.models.trace.live_nodes import finished
from kinetree.models.trace.readable_names import quantity_names
from kinetree.models.trace.trace import Trace
from kinetree.models.trace.tree_matrices import Matrix, matrices
from kinetree.solvers.model_records import GUARD, LATCH, PROBE

if TYPE_CHECKING:
    from kinetree.models.system.system import System

WORLD, BODY = "world axes", "body axes"
MAX_CUBIC_FREEDOMS = 40  # freedoms up to which forms of cubic cost are tried
QUANTITIES = (
    "accelerations",
    "hamilton",
    "mass_matrix",
    "outputs",
    "rates",
    "reactions",
    "energy",
    "momenta",
    "guards",
    "matrices",
)
INERTIAL = ("mass_matrix", "momenta", "energy", "matrices")  # what no contact changes
AGREED = 1e-10  # deviation from elimination near the start above which a form is not taken
MOTION = "motion"  # the right-hand side of runs: rates of coordinates, speeds and states, power of the loads
PARAMETERS = ("numbers", "symbols")
SYMBOLS = {
    "accelerations": "udot",
    "mass_matrix": "M",
    "outputs": "y",
    "rates": "rates",
    "reactions": "R",
    "energy": "E",
    "momenta": "p",
}
SYMBOLS |= {"hamilton": "rates", "guards": "g", "matrices": "entries", MOTION: "ydot"}
RATES = ("accelerations", "hamilton", "rates", MOTION)


def candidates(system: System, of: str, form: str) -> list[tuple[str, str]]:
    """Return forms and axes in which a quantity may be traced."""
    if system.description.reduced:
        if of in ("mass_matrix", "momenta", "matrices", "hamilton"):
            refuse_reduced(system.description, f"{of} in a trace")
        if form not in ("auto", "DEC"):
            refuse_reduced(system.description, f"form '{form}' in a trace")
        return [("DEC", WORLD)]
    if of not in RATES:
        if form not in ("auto", "DEC"):
            raise ValueError(f"form '{form}' is for accelerations and hamilton, '{of}' has one way")
        return [("DEC", BODY if of in ("mass_matrix", "momenta", "matrices") else WORLD)]
    known = HAMILTON if of == "hamilton" else LAGRANGE
    if form != "auto" and form not in known:
        raise ValueError(f"unknown form '{form}', expected one of auto, {', '.join(known)}")
    if form.startswith("ITR"):
        raise ValueError(
            f"form '{form}' iterates from the matrix of the evaluation before, so that it is no function of the state alone"
        )
    if system.compiled.loops:
        if of == "hamilton":
            raise ValueError(
                f"Hamilton's equations are for trees, '{system.name}' has closed loops: ask for accelerations or rates"
            )
        if form not in ("auto", "DEC"):
            raise ValueError(
                f"form '{form}' is for trees, '{system.name}' has closed loops: use DEC"
            )
        return [("DEC", WORLD)]
    if form == "auto":
        tail = "-H" if of == "hamilton" else ""
        forms = [
            f"DEC{tail}",
            *([f"CBM{tail}"] if system.n <= MAX_CUBIC_FREEDOMS else []),
            *([f"LGR{tail}"] if few_multipliers(system) else []),
        ]
    else:
        forms = [form]
    return [
        (each, axes) for each in forms for axes in ((WORLD, BODY) if each == "DEC" else (BODY,))
    ]


def few_multipliers(system: System) -> bool:
    """Return whether the multiplier form (LGR) is predicted to need fewer operations than
    elimination (DEC).
    """
    if not system.bodies or system.n > MAX_CUBIC_FREEDOMS:
        return False
    predicted = system.costs()
    return predicted["LGR"] < predicted["DEC"]


def held_registers(system: System) -> list[int]:
    """Return the registers that are constant between events: starts of stage and run, locked
    joints, actuator values, effective masses.
    """
    fields = model_fields(system.compiled.ints, system.compiled.floats)
    locked = [
        register
        for name, register in system.compiled.registers.items()
        if name.startswith("locked(")
    ]
    return [
        system.compiled.registers[STAGE_START],
        system.compiled.registers[RUN_START],
        *locked,
        *(int(latch.kept) for latch in LATCH.rows(fields.latches)),
        *(int(probe.mass) for probe in PROBE.rows(fields.probes)),
    ]


def latched(system: System) -> int:
    """Return how many of the held registers, counted from the last, change at every output."""
    fields = model_fields(system.compiled.ints, system.compiled.floats)
    return sum(1 for _ in (*LATCH.rows(fields.latches), *PROBE.rows(fields.probes)))


def record(
    system: System, of: str, parameters: str | Collection[str], form: str, axes: str
) -> Recording:
    """Return a recording with its arguments; `parameters` are numbers, symbols, or the names of
    symbolic ones.

    Structural parameters remain numbers, since what they determine is not a register.
    """
    if parameters == "symbols" and (deciding := frozen(system.description)):
        parameters = [name for name in system.compiled.parameters if name not in deciding]
    groups = (
        frozenset()
        if axes == WORLD
        else MASS
        if of in ("mass_matrix", "momenta")
        else GROUPS.get(form, LINEAR)
    )
    instance = system._with(groups) if groups else system._fast
    q, u = system.start()
    t = system.compiled.start_time
    project: Callable | None = (
        (lambda q, u: system.project(t, q, u)) if system.compiled.loops else None
    )
    witness = general_position(instance, q, u, project)
    instance.set_state(*witness)
    return Recording(
        instance,
        witness,
        parameters,
        of == "hamilton",
        held_registers(system) if of == MOTION else (),
    )


def accelerations(recording: Recording, form: str, axes: str) -> list[int]:
    """Return the nodes of u̇; DEC (LᵀDL elimination) in body axes uses its literal form."""
    if form == "DEC" and axes == BODY:
        recording.entry("literal_forms", "literal_state", 0, recording.t)
        recording.run("literal.dec", "dec")
        return recording.nodes(recording.ws.udot)
    return (
        iterated_accelerations(recording, form)
        if form.startswith("ITR")
        else recording.accelerations(form)
    )


def results(
    system: System, recording: Recording, of: str, form: str, axes: str
) -> tuple[list[int], list[str], tuple[int, ...]]:
    """Return the nodes of a quantity, with their names and their shape."""
    c, n = system.compiled, system.n
    rates = [f"der({name})" for name in c.speeds]
    if of == "accelerations":
        return accelerations(recording, form, axes), rates, (n,)
    if of == "hamilton":
        return (
            iterated_momenta(recording) if form == "ITR-H" else recording.hamilton(form),
            [*c.speeds, *(f"der(p({name}))" for name in c.speeds)],
            (2, n),
        )
    if of == "mass_matrix":
        return recording.mass_matrix(), [f"M[{a},{b}]" for a in c.speeds for b in c.speeds], (n, n)
    if of == "momenta":
        return recording.momenta(), [f"p({name})" for name in c.speeds], (n,)
    if of in ("rates", MOTION):
        labels = [f"der({name})" for name in (*c.coordinates, *c.speeds, *c.states)]
        recording.entry("evaluate", "accelerations", 0, recording.t)
        states = recording.nodes(recording.ws.xdot)
        if of == MOTION:
            states, labels = [*states, recording.power()], [*labels, "power"]
        own = (
            accelerations(recording, form, axes)
            if (form, axes) != ("DEC", WORLD)
            else recording.nodes(recording.ws.udot)
        )
        return [*recording.coordinate_rates(), *own, *states], labels, (len(labels),)
    recording.evaluate()
    ws = recording.ws
    if of == "outputs":
        return (
            recording.registers([column.register for column in c.outputs]),
            [column.name for column in c.outputs],
            (len(c.outputs),),
        )
    if of == "energy":
        return recording.nodes([ws.head.kinetic, ws.head.potential]), ["kinetic", "potential"], (2,)
    if of == "guards":
        guards = [guard.register for guard in GUARD.rows(recording.model.guards)]
        return recording.registers(guards), [f"guard {name}" for name in c.guards], (len(guards),)
    count = len(c.bodies)
    labels = [
        f"{kind}({body})[{axis}]"
        for body in c.bodies
        for kind in ("force", "moment")
        for axis in "xyz"
    ]
    return recording.nodes(ws.reaction[6 : 6 * count + 6]), labels, (count, 6)


def trace(
    system: System, of: str = "accelerations", parameters: str = "numbers", form: str = "auto"
) -> Trace:
    """Return the operations of a quantity; `auto` takes the form and axes with the fewest."""
    if of not in QUANTITIES:
        raise ValueError(f"'{of}' cannot be traced, expected one of {', '.join(QUANTITIES)}")
    if parameters not in PARAMETERS:
        raise ValueError(f"parameters='{parameters}', expected numbers or symbols")
    return cheapest(system, of, parameters, form)


def cheapest(system: System, of: str, parameters: str = "numbers", form: str = "auto") -> Trace:
    """Return the trace in the form and axes with the fewest operations."""
    if model_fields(system.compiled.ints, system.compiled.floats).ghosts.size > 0:
        raise ValueError(
            f"'{system.name}' has massless bodies that only its loops hold: their solution iterates and has no straight line"
        )
    return cheapest_recorded(system, of, parameters, form)[0]


def cheapest_recorded(
    system: System, of: str, parameters: str | Collection[str], form: str
) -> tuple[Trace, Recording]:
    """Return the cheapest trace with its recorded blocks; inaccurate forms are excluded."""
    ways, found = candidates(system, of, form), []
    for way in ways:
        try:
            found.append(recorded(system, of, parameters, *way))
        except ArithmeticError:
            if len(ways) == 1 or not way[0].startswith("LGR"):
                raise
    right = at_witness(found[0][0])
    size = max(1.0, np.abs(right).max(initial=0.0))
    with np.errstate(invalid="ignore"):  # laws that are infinite there tell nothing
        exact = [
            each
            for each in found
            if not np.abs(at_witness(each[0]) - right).max(initial=0.0) > AGREED * size
        ]
    return min(exact, key=lambda each: each[0].weight)


def at_witness(trace: Trace) -> np.ndarray:
    """Return the values of the results at the state at which the tape was recorded."""
    return np.array([trace.tape.values[i] for i in trace.results])


def traced(system: System, of: str, parameters: str, form: str, axes: str) -> Trace:
    """Return the trace of one form in one set of axes."""
    return recorded(system, of, parameters, form, axes)[0]


def recorded(
    system: System, of: str, parameters: str | Collection[str], form: str, axes: str
) -> tuple[Trace, Recording]:
    """Return the trace of one form in one set of axes, and the recorded blocks."""
    recording = record(system, of, parameters, form, axes)
    parts: list[Matrix] = []
    if of == "matrices":
        nodes, labels, parts = matrices(recording)
        shape: tuple[int, ...] = (len(nodes),)
    else:
        nodes, labels, shape = results(system, recording, of, form, axes)
    tape, c = recording.tape, system.compiled
    # the pivots of a tree belong to inertias, those of loops to positions that a motion may come near
    watches = (
        list(tape.decisions.items()) if c.loops and axes == WORLD and of not in ("energy",) else []
    )
    conditions = [i for i, _ in watches]
    renewed = finished(tape, [*nodes, *conditions])
    nodes, conditions = renewed[: len(nodes)], renewed[len(nodes) :]
    nodes_of_nothing = [
        label
        for label, i in zip(labels, nodes, strict=True)
        if tape.number(i) is not None and np.isnan(tape.values[i])
    ]
    if nodes_of_nothing:
        raise ValueError(
            f"{', '.join(nodes_of_nothing)} of '{system.name}' is not a number whatever the state"
        )
    values = {name: float(system._fast.ws.val[c.registers[name]]) for name in c.parameters}
    names = {
        "q": c.coordinates,
        "u": c.speeds,
        "x": c.states,
        "inputs": c.inputs,
        "parameters": c.parameters,
    }
    if of == "hamilton":
        names["u"] = tuple(f"p({name})" for name in c.speeds)
    symbol = SYMBOLS[of]
    watched = [
        (i, outcome)
        for i, (_, outcome) in zip(conditions, watches, strict=True)
        if tape.number(i) is None
    ]
    if of == "matrices":  # written out: entries are short
        return Trace(
            system.name,
            of,
            f"{form} in {axes}",
            tape,
            nodes,
            labels,
            shape,
            symbol,
            names,
            values,
            {},
            parts,
        ), recording
    named = quantity_names(recording, f"{form} {axes}")
    return Trace(
        system.name,
        of,
        f"{form} in {axes}",
        tape,
        nodes,
        labels,
        shape,
        symbol,
        names,
        values,
        named,
        [],
        watched,
    ), recording
