"""Compilation of one structure of a mechanism: from a description with numbered bodies to flat
memory blocks.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from kinetree.models.beams.hinge_springs import add_springs
from kinetree.models.compilation.actuators import add_actuators
from kinetree.models.compilation.contacts import Contacts, add_contact_guards, add_contacts
from kinetree.models.compilation.couplings import add_places
from kinetree.models.compilation.events import add_guards, resolvable
from kinetree.models.compilation.hydraulic_circuit import add_hydraulics
from kinetree.models.compilation.jump_guards import add_jump_guards
from kinetree.models.compilation.loop_cutting import (
    add_groups,
    live_groups,
    loop_arrays,
    loop_counts,
    tree_of,
    with_axes,
    with_twins,
)
from kinetree.models.compilation.loop_survey import find_ghosts, survey
from kinetree.models.compilation.outputs import (
    add_deferred,
    add_integrals,
    add_magnitudes,
    add_outputs,
    add_rates,
)
from kinetree.models.compilation.prescribed_motion import add_followings
from kinetree.models.compilation.rigid_body_merging import Around
from kinetree.models.compilation.structure_builder import Builder
from kinetree.models.description.names import expressions
from kinetree.models.description.reading.source_location import key_path
from kinetree.models.description.schema import Description, Ends
from kinetree.models.engine.compiled import Compiled
from kinetree.models.engine.flat_blocks import pack, work_sizes
from kinetree.models.expressions.node_arithmetic import E, choose, function
from kinetree.models.expressions.nodes import Name, UnknownName, names
from kinetree.models.expressions.parse import ExpressionError, evaluate_constant, parse
from kinetree.models.forces.kinds import KINDS
from kinetree.models.graph.tree import Topology
from kinetree.models.language.errors import ModelError, Problem, shown
from kinetree.models.language.parameters import evaluate_parameters
from kinetree.solvers import layout as L
from kinetree.solvers.elements.kinds import BY_CODE
from kinetree.solvers.model_records import FOLLOWED, KNOT, TABLE
from kinetree.solvers.sensors.kinds import BY_CODE as SENSORS

Starts = tuple[
    int, int, int, int, int
]  # first registers of the start values of q, u, x and inputs, and of what inputs have without a host


def compile_structure(
    description: Description,
    topology: Topology,
    locked: frozenset[str] = frozenset(),
    end: Ends | None = None,
    later: bool = False,
    starts: Mapping[str, float] | None = None,
    at_end: Mapping[str, float | str] | None = None,
    around: Around | None = None,
) -> Compiled:
    """Return the flat blocks of a description whose bodies are numbered by `topology`; locked
    joints keep the coordinates that a transition writes.

    In a later structure, outputs and events are dropped if they use names of joints or bodies that
    are gone. `starts` replaces start values by name, `at_end` contains what the end of the stage
    sets before the structure changes, `around` the constant elements before and after joints at
    merged bodies.
    """
    builder = Builder(
        description, with_twins(description, topology, locked), locked, end, later, at_end
    )
    builder.starts |= {**description.starts, **(starts or {})}
    builder.run_start = evaluate_constant(description.run.start_time, parameter_values(description))
    builder.contacts, builder.around = Contacts(), around or {}
    try:
        return assemble(builder)
    except UnknownName as error:
        key, text = user_of(error.name, description, end)
        raise ModelError(
            Problem(key, shown(text) if key else "", hint=error.message, file=description.file)
        ) from None
    except ExpressionError as error:
        raise ModelError(
            Problem("", hint=error.message, column=error.column, file=description.file)
        ) from None


def user_of(name: str, description: Description, end: Ends | None) -> tuple[str, str]:
    """Return path and text of the first expression that uses a name and remains in the next
    structure.
    """
    laws = [*expressions(end, ("ends",)), *expressions(description)]
    users = (
        (key_path(path), text)
        for path, text in laws
        if path[0] not in ("stages", "events", "outputs") and name in names(parse(text))
    )
    return next(users, ("", ""))


def assemble(builder: Builder) -> Compiled:
    """Register all parts of a structure in the global order and pack them into blocks."""
    d = builder.description
    builder.add_names()
    add_followings(builder)
    add_tables(builder)
    bodies = builder.add_bodies()
    joints = builder.add_joints()
    gravity = builder.vector(d.gravity, "gravity")
    starts = add_starts(builder)
    add_outputs(builder)
    add_places(builder)
    for label, force in d.forces.items():
        KINDS[force.kind].law(builder, label, force)
    add_springs(builder)
    add_actuators(builder)
    add_hydraulics(builder)
    add_deferred(builder)
    add_integrals(builder)
    rates = builder.add_states()
    builder.groups = add_groups(builder, joints)
    add_contacts(builder)
    add_guards(builder)
    add_contact_guards(builder)
    add_jump_guards(builder)
    add_magnitudes(builder)
    add_rates(builder)
    builder.refuse_late_laws()
    if builder.later:
        builder.columns = [
            column for column in builder.columns if resolvable(builder, Name(column.name))
        ]
    for column in builder.columns:
        column.register = builder.registers.compile(Name(column.name))
    forces = {
        key: builder.registers.compile(Name(key))
        for key in (f"force('{label}')" for label in d.forces)
    }
    parts = builder.finish(bodies, joints, rates, gravity)
    parts["program"].names.update(forces)
    compiled = packed(builder, parts, starts)
    return settled(builder, compiled, parts, starts, joints) if builder.groups else compiled


def settled(
    builder: Builder, compiled: Compiled, parts: dict, starts: Starts, joints: dict
) -> Compiled:
    """Compute the ranks of the constraint rows and remove rows that are always zero; keep all rows
    if the assembly fails.
    """
    found = survey(compiled)
    turned = found and with_axes(builder.groups, builder.topology.parent, *found)
    if turned:
        held = parts["ints"]["u_held"].tolist()
        arrays = loop_arrays(turned, builder.topology.parent, joints, held)
        arrays |= builder.contacts.arrays(arrays["l_arm"])
        again = survey(packed(builder, {**parts, "ints": parts["ints"] | arrays}, starts))
        builder.groups, found = (builder.groups, found) if again is None else (turned, again)
    if found is not None:
        builder.groups, ranks = live_groups(builder.groups, *found)
        parts["ints"] |= loop_arrays(
            builder.groups, builder.topology.parent, joints, parts["ints"]["u_held"].tolist()
        )
        parts["ints"] |= builder.contacts.arrays(parts["ints"]["l_arm"])
        parts["ints"]["l_rank"] = ranks
        compiled = packed(builder, parts, starts)
    ghosts = find_ghosts(compiled)
    while ghosts and ghosts.keys() - set(parts["ints"]["ghosts"].tolist()):
        parts["ints"]["ghosts"] = np.array(sorted(ghosts), dtype=np.int64)
        parts["floats"]["lent"] = np.array([ghosts[i] for i in sorted(ghosts)]).reshape(-1)
        compiled = packed(builder, parts, starts)
        ghosts |= find_ghosts(compiled)
    held_by_nothing(compiled, builder)
    return compiled


def held_by_nothing(compiled: Compiled, builder: Builder) -> None:
    """Raise ModelError for a massless body whose motion no constraint determines."""
    if compiled.counts["ngh"]:
        body = find_ghosts(compiled, pushed=True)
        if body:
            name = (*compiled.bodies, *compiled.twins)[min(body) - 1]
            hint = "give it some, or relations that hold it to bodies that have some"
            raise ModelError(
                Problem(
                    f"bodies.{name}.mass",
                    "no inertia that its motion meets",
                    hint=hint,
                    file=builder.description.file,
                )
            )


def add_tables(builder: Builder) -> None:
    """Add the lookup tables of the description; their points may be expressions over parameters."""
    d = builder.description
    if not d.tables:
        return
    values = parameter_values(d)
    for label, table in d.tables.items():
        x, y = ([evaluate_constant(v, values) for v in grid] for grid in (table.x, table.y))
        z = (
            None
            if table.z is None
            else [[evaluate_constant(v, values) for v in row] for row in table.z]
        )
        builder.registers.add_table(
            label,
            x,
            y,
            z,
            method="monotone" if table.method == "cubic" else table.method,
            extrapolate=table.outside == "extrapolated",
        )


def parameter_values(description: Description) -> dict[str, float]:
    """Return the values of all parameters; expressions may refer to each other in any order."""
    values, errors = evaluated(
        tuple((name, parameter.value) for name, parameter in description.parameters.items())
    )
    if errors:
        problems = [
            Problem(
                f"parameters.{name}", hint=error.message, column=error.column, file=description.file
            )
            for name, error in errors.items()
        ]
        raise ModelError(problems)
    return dict(values)


@lru_cache(maxsize=16)
def evaluated(
    given: tuple[tuple[str, float | str], ...],
) -> tuple[dict[str, float], dict[str, ExpressionError]]:
    """Return the parameter values and errors, cached for all structures of a mechanism."""
    return evaluate_parameters(dict(given))


def add_starts(builder: Builder) -> Starts:
    """Return the registers start(NAME) of coordinates, speeds, states and inputs, each group
    contiguous; a host may overwrite them before the start.

    A start expression applies until a host gives a number. For that, coordinates, speeds and states
    have a register given(NAME); inputs have a group preset(NAME) to which expressions write.
    """
    forms = [builder.forms[joint] for joint in builder.topology.joint]
    groups = (
        [pair for form in forms for pair in zip(form.coordinates, form.starts, strict=True)],
        [pair for form in forms for pair in zip(form.speeds, form.start_speeds, strict=True)],
        [(name, state.start) for name, state in builder.states.items()],
        [(name, given.start) for name, given in builder.inputs.items()],
    )
    given = [(name, float("nan") if isinstance(start, str) else start) for name, start in groups[3]]
    q, u, x, inputs = (add_start_group(builder, group) for group in (*groups[:3], given))
    firsts = q, u, x, inputs, add_start_group(builder, groups[3], "preset")
    for name, start in (pair for group in groups[:3] for pair in group):
        if isinstance(builder.starts.get(name, start), str):
            follow(builder, name, start)
    return firsts


def follow(builder: Builder, name: str, start: float | str) -> None:
    """Let a start register follow its expression until a host writes given(NAME), which is NaN
    until then.
    """
    given = E(Name(f"given({name})"))
    builder.registers.add(f"given({name})", float("nan"))
    builder.define(
        f"start({name})",
        choose(
            function(L.Op.EQ, given, given), given, E(builder.node(start, f"start({name})"))
        ).node,
    )


def add_start_group(
    builder: Builder, group: list[tuple[str, float | str]], word: str = "start"
) -> int:
    """Add the start registers of one group and return the first of them."""
    first = 0
    for k, (name, given) in enumerate(group):
        key, value = f"{word}({name})", builder.starts.get(name, given)
        register = builder.registers.add(key, float("nan") if isinstance(value, str) else value)
        first = first if k else register
        if isinstance(value, str) and word == "preset":
            builder.define(key, builder.node(value, key))
    return first


def packed(builder: Builder, parts: dict, starts: Starts) -> Compiled:
    """Return the compiled structure: packed blocks with header, sizes and names."""
    program, ints, d = parts["program"], parts["ints"], builder.description
    names = program.names
    nq, nu = int(ints["q_at"][-1]), int(ints["u_at"][-1])
    coordinates = tuple(
        name for joint in builder.topology.joint for name in builder.forms[joint].coordinates
    )
    speeds = tuple(name for joint in builder.topology.joint for name in builder.forms[joint].speeds)
    count = len(builder.topology.order)
    counts = {
        "N": count, "nq": nq, "nu": nu, "nx": len(builder.states), "ni": len(builder.inputs), "np": len(d.parameters), "ne": ints["e_kind"].size,
        "nr": program.val0.size, "ns": len(builder.early) + len(builder.late), "nf": len(builder.forces), "nt": ints["tables"].size // TABLE.size,
        "ng": len(builder.guards), "na": len(builder.actions), "nk": ints["set_speed"].size,
        "nj": sum(kind == L.Guard.JUMP for _, kind, *_ in builder.guards),
        "nc": ints["c_law"].size, "ncr": ints["c_value"].size,
        "npot": len(builder.potentials), "nd": program.table_data.size,
    }  # fmt: skip
    counts |= {
        "nm": int(ints["m_at"][-1]),
        "nb": int(ints["b_at"][-1]),
        "nh": int(ints["h_at"][-1]),
    }
    counts |= loop_counts(ints) | {"nfi": ints["l_input"].size // FOLLOWED.size}
    counts |= {"nmd": parts["floats"]["modal_data"].size, "nmw": builder.modal_work}
    counts = {key: float(value) for key, value in counts.items()}
    early, late, idle = parts["sensors"]
    kinds = [BY_CODE[code] for code in ints["e_kind"].tolist()]
    header = {
        "nq": nq, "nu": nu, "inputs": len(builder.inputs), "registers": program.val0.size, "sensors": len(early) + len(late) + len(idle),
        "forces": len(builder.forces), "guards": len(builder.guards), "latches": len(builder.latches), "probes": len(builder.probes),
        "knots": ints["knots"].size // KNOT.size, "followed": ints["l_input"].size // FOLLOWED.size, "gravity": parts["gravity"],
        "phase": program.phase_starts.tolist(),
        "late_sensors": len(early), "idle_sensors": len(early) + len(late),
        "reactions": any(SENSORS[kind].reactions for kind, *_ in late),
        "late_guards": builder.late_guards, "own_tangents": sum(not kind.plain for kind in kinds), "given": any(kind.given for kind in kinds),
        "sequence": d.run.impacts == "sequential",
        "r_q": names[coordinates[0]] if coordinates else 0, "r_u": names[speeds[0]] if speeds else 0,
        "r_x": names[next(iter(builder.states))] if builder.states else 0, "r_inputs": names[next(iter(builder.inputs))] if builder.inputs else 0,
    }  # fmt: skip
    blocks = pack(header, ints, parts["floats"], work_sizes(counts, frozenset()))
    q, u, x, inputs, presets = starts
    tree = tree_of(builder.topology)
    twins = builder.topology.order[len(tree.order) :]
    return Compiled(
        blocks[0], blocks[1], counts, tree.order, tree.parent, tree.joint, coordinates, speeds, tuple(builder.states),
        tuple(builder.inputs), tuple(d.parameters), tuple(builder.columns), names, q, u, x, inputs, presets, quaternions(ints), tree,
        tuple(group.name for group in builder.groups), twins,
        tuple(zip(builder.topology.joint, builder.topology.reversed, strict=True)), evaluate_constant(d.run.start_time, parameter_values(d)),
        guards=tuple(builder.guard_names), contacts=tuple(builder.contacts.names), followed=tuple(sorted(builder.leaves.followed)),
        sloped=tuple(builder.leaves.inputs),
    )  # fmt: skip


def quaternions(ints: dict[str, np.ndarray]) -> tuple[int, ...]:
    """Return the index of the first component of every quaternion in q."""
    return tuple(
        q + turn
        for code, q in zip(ints["e_kind"].tolist(), ints["e_q"].tolist(), strict=True)
        if (turn := BY_CODE[code].quaternion) >= 0
    )
