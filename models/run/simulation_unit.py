"""A simulation unit: all structures of a mechanism packed into the memory blocks of
`solvers/unit_layout.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

import numpy as np

from kinetree.models.beams.reduced_bodies import refuse_reduced
from kinetree.models.compilation.element_states import states_of
from kinetree.models.compilation.stage_structures import Structure, compile_stage, structures
from kinetree.models.description.joint_units import Units, joint_units
from kinetree.models.description.schema import Description
from kinetree.models.engine.collector_pause import uncollected
from kinetree.models.engine.compiled import Compiled
from kinetree.models.engine.entry_points import bind, connect
from kinetree.models.engine.flat_blocks import with_groups
from kinetree.models.expressions.columns import Column
from kinetree.models.expressions.parse import evaluate_constant
from kinetree.models.run.sampled_blocks import place_blocks
from kinetree.models.run.unit_blocks import sampled_blocks_of
from kinetree.models.system.forms import GROUPS, HAMILTON, ITERATED, LAGRANGE
from kinetree.models.system.system import System
from kinetree.solvers import unit_layout as U
from kinetree.solvers.fields import REGISTERS
from kinetree.solvers.model_records import HEADER
from kinetree.solvers.records import Named

LATER: WeakKeyDictionary[System, tuple[Compiled, ...]] = WeakKeyDictionary()
EVENT_LOG = 256  # events that the log of an instance remembers


@dataclass
class Unit:
    """All structures of a mechanism packed into memory blocks, and the names that a host sees."""

    description: Description
    system: System
    stages: tuple[Structure, ...]
    compiled: tuple[Compiled, ...]  # what runs
    integrator: str
    method: str = "auto"
    columns: list[Column] = field(default_factory=list)
    states: list[str] = field(default_factory=list)
    ints: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    floats: np.ndarray = field(default_factory=lambda: np.zeros(0))
    own: object = None  # keeps straight-line code alive whose addresses stand in ints

    @property
    def header(self) -> Named:
        """Return the record at the start of the ints block."""
        return U.UNIT.of(self.ints)

    @property
    def whole(self) -> tuple[Compiled, ...]:
        """Return the structures with unmerged bodies, for results."""
        return (self.system.compiled, *later_structures(self.system))

    @property
    def iterated(self) -> bool:
        """Return whether the equations are solved by an ITR form (variable-metric iteration)."""
        return self.method in ITERATED

    @property
    def work_size(self) -> int:
        """Return the length of the unit's work block."""
        return int(self.header.work_size)

    @property
    def stage_names(self) -> list[str]:
        return [stage.name or f"stage {k + 1}" for k, stage in enumerate(self.stages)]

    def register(self, name: str) -> int:
        """Return the position of a parameter, input or start value (of stage 0) in the work block."""
        return int(self.header.at_workspace) + REGISTERS + self.compiled[0].registers[name]


def make_unit(system: System, integrator: str = "auto", method: str = "auto") -> Unit:
    """Compile the remaining structures of a system and pack all of them; `method` is the form that
    solves the equations of motion.
    """
    compiled = tuple(c.running for c in (system.compiled, *later_structures(system)))
    unit = Unit(system.description, system, tuple(system.stages), compiled, integrator, method)
    connect_forms(unit)
    unit.columns = columns_of(unit)
    unit.states = ordered_union([[*c.coordinates, *c.speeds, *c.states] for c in compiled])
    pack_unit(unit)
    return unit


def inner_unit(description: Description) -> Unit:
    """Return the unit that serves as an observer's inner model; its integrator is not used."""
    stages = structures(description)
    return make_unit(System(description, compile_stage(stages[0], later=False), stages), "rk4")


def later_structures(system: System) -> tuple[Compiled, ...]:
    """Return the structures after the first one, compiled on first use."""
    if system not in LATER:
        with uncollected():
            LATER[system] = tuple(compile_stage(stage) for stage in system.stages[1:])
    return LATER[system]


def connect_forms(unit: Unit) -> None:
    """Raise for features that only the default engine supports, and connect the library of the
    other forms.
    """
    if unit.method in ("auto", "DEC"):
        return
    refuse_reduced(unit.description, f"method '{unit.method}'")
    for stage, compiled in zip(unit.stage_names, unit.compiled, strict=True):
        if compiled.contacts:
            raise ValueError(
                f"method '{unit.method}' knows no contacts, which '{unit.system.name}' has: use auto or DEC"
            )
        if compiled.loops:
            where = (
                f"'{unit.system.name}'"
                if len(unit.compiled) == 1
                else f"'{unit.system.name}' in stage '{stage}'"
            )
            raise ValueError(
                f"method '{unit.method}' is for trees, {where} has closed loops: use auto or DEC"
            )
    connect("form_speeds", "form_rates", "form_momenta")


def ordered_union(lists: list[list[str]]) -> list[str]:
    """Return all names in the order of their first appearance."""
    return list(dict.fromkeys(name for names in lists for name in names))


def columns_of(unit: Unit) -> list[Column]:
    """Return all variables that a host can read, as columns."""
    found: dict[str, Column] = {}
    known = {
        name: (state.unit, state.text, state.display_unit)
        for name, state in states_of(unit.description).items()
    }
    seen: dict[int, Units] = {}
    for stage, compiled in zip(unit.stages, unit.compiled, strict=True):
        known |= joint_units(stage.description.joints, seen)
        for name in (*compiled.coordinates, *compiled.speeds, *compiled.states):
            found.setdefault(name, Column(name, compiled.registers[name], *known.get(name, ())))
    for compiled in unit.compiled:
        for column in compiled.outputs:
            found.setdefault(column.name, column)
    return list(found.values())


def pack_unit(unit: Unit) -> None:
    """Pack header, stages, structures and tables into one ints block and compute all work offsets."""
    compiled = unit.compiled
    bodies = ordered_union([[*c.bodies, *c.twins] for c in compiled])
    parts: list[np.ndarray] = []
    at = U.UNIT.size + U.STAGE.size * len(compiled)

    def put(values) -> int:
        nonlocal at
        parts.append(np.asarray(values, dtype=np.int64))
        at += parts[-1].size
        return at - parts[-1].size

    records: list[int] = []
    floats_at = 0
    groups = GROUPS.get(unit.method, frozenset())
    blocks = [with_groups(c.ints, c.counts, groups) if groups else c.ints for c in compiled]
    for k, c in enumerate(compiled):
        outputs = {column.name: column.register for column in c.outputs}
        y = {name: j for j, name in enumerate((*c.coordinates, *c.speeds, *c.states))}
        number = {name: j for j, name in enumerate((*c.bodies, *c.twins), 1)}
        records += U.STAGE.filled(
            ints=put(blocks[k]),
            floats=floats_at,
            columns=put(
                [
                    outputs.get(column.name, c.registers.get(column.name, -1))
                    for column in unit.columns
                ]
            ),
            states=put([y.get(name, -1) for name in unit.states]),
            bodies=put([number.get(name, -1) for name in bodies]),
            guards=int(c.counts["ng"]),
            transition=put(stage_transition(unit, k, bodies)) if k else -1,
        )
        floats_at += c.floats.size
    largest = {key: int(max(c.counts[key] for c in compiled)) for key in ("nq", "nu", "nx", "ng")}
    n = max(int(c.counts["nq"] + c.counts["nu"] + c.counts["nx"]) for c in compiled) + 1
    events = len(unit.description.events) + 2 * len(
        unit.description.contacts
    )  # a contact has two guards
    memory, locator = sizes_of_memory(unit.integrator, n, largest["ng"])
    sampled = sampled_blocks_of(unit.description, compiled, inner_unit)
    block_records, block_floats, block_work = place_blocks(sampled, put, floats_at)
    sizes = {
        "blocks": block_work,
        "stages": len(compiled), "columns": len(unit.columns), "states": len(unit.states), "guards": largest["ng"], "bodies": len(bodies),
        "inputs": len(compiled[0].inputs), "parameters": len(compiled[0].parameters), "events": events,
        "logged": EVENT_LOG,
        "memory": memory, "locator": locator, "n": n,
        "workspace": int(max(HEADER.of(block).work_size for block in blocks)),
    }  # fmt: skip
    header = header_of(unit, sizes) | {"blocks": len(sampled), "block_records": put(block_records)}
    floats = np.concatenate([*(c.floats for c in compiled), *block_floats])
    header |= {"ints_size": at, "floats_size": floats.size}
    unit.ints = np.concatenate(
        [np.array([*U.UNIT.filled(**header), *records], dtype=np.int64), *parts]
    )
    unit.floats = floats


def sizes_of_memory(integrator: str, states: int, guards: int) -> tuple[int, int]:
    """Return the memory lengths of the integrator and of the root finder."""
    lengths = np.array([states, guards], dtype=float)
    bind("unit_sizes", np.zeros(0, dtype=np.int64), np.zeros(0), lengths)(U.KINDS[integrator], 0.0)
    return int(lengths[0]), int(lengths[1])


def header_of(unit: Unit, sizes: dict[str, int]) -> dict[str, int]:
    """Return the header values, with the offsets of the parts of the work block."""
    first, header, at = (
        unit.compiled[0],
        {key: value for key, value in sizes.items() if key in U.UNIT.places},
        U.UNIT_HEAD.size,
    )
    for part in U.PARTS:
        header[f"at_{part.name}"] = at
        at += round(
            evaluate_constant(part.size, {name: float(size) for name, size in sizes.items()})
        )
    return header | {
        "event_names": sizes["events"], "integrator": U.KINDS[unit.integrator], "form": (LAGRANGE | HAMILTON).get(unit.method, 0),
        "start_q": first.start_q, "start_u": first.start_u, "start_x": first.start_x, "start_inputs": first.start_inputs,
        "preset_inputs": first.preset_inputs, "work_size": at,
    }  # fmt: skip


def stage_transition(unit: Unit, k: int, bodies: list[str]) -> list[int]:
    """Return the record of the transition from stage k - 1 to stage k."""
    stage, c = unit.stages[k], unit.compiled[k]
    locked = [name[7:-1] for name in c.registers if name.startswith("locked(")]
    known = [name for name in locked if name in unit.states]
    lists = [c.registers[name] for name in stage.set]
    lists += [bodies.index(body) for body in stage.freed]
    for name in known:
        lists += [unit.states.index(name), c.registers[f"locked({name})"]]
    jump = int(bool(stage.newly_locked or c.loops))
    return [
        *U.TRANSITION.filled(
            set=len(stage.set), freed=len(stage.freed), locked=len(known), jump=jump
        ),
        *lists,
    ]


class Run:
    """An instance of a unit: its work block with bound entry points."""

    def __init__(self, unit: Unit, work: np.ndarray | None = None):
        """Create a new instance, or use the one in a given work block."""
        self.unit = unit
        self.work = np.zeros(unit.work_size) if work is None else work
        self.head = U.UNIT_HEAD.of(self.work)
        self._calls: dict[str, object] = {}
        if work is None:
            self.call("unit_reset")

    def call(self, name: str, option: int = 0, t: float = 0.0) -> int:
        """Call an entry point and return its status."""
        if name not in self._calls:
            self._calls[name] = bind(name, self.unit.ints, self.unit.floats, self.work)
        return self._calls[name](option, t)  # type: ignore[operator]

    def begin(self, t: float, inputs: Mapping[str, float]) -> int:
        """Start with the given inputs and return the status. Loops are closed for these inputs,
        since couplings may depend on inputs, or on states whose rates depend on inputs.
        """
        c = self.unit.compiled[0]
        if c.loops:
            first = int(self.unit.header.at_workspace) + REGISTERS + c.start_inputs
            for name, value in inputs.items():
                self.work[first + c.inputs.index(name)] = value
        status = self.call("unit_start", 0, t)
        if status != 0 or not inputs:
            return status
        for name, value in inputs.items():
            self.set_input(name, value)
        return self.call("unit_refresh", 0, t)

    @property
    def columns(self) -> np.ndarray:
        """Return the current values of all columns (a view)."""
        at = int(self.unit.header.at_columns)
        return self.work[at : at + len(self.unit.columns)]

    def set_input(self, name: str, value: float) -> None:
        """Write the value of an input by name."""
        self.work[self.unit.register(name)] = value
