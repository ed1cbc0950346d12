"""All structures of a mechanism packed into the blocks of `solvers/unit_layout.py`: what simulations and FMUs run."""

from __future__ import annotations

from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

import numpy as np

from kinetree.models.compilation.additions import states_of
from kinetree.models.compilation.blocks import with_groups
from kinetree.models.compilation.compiled import Column, Compiled
from kinetree.models.description.joint_units import joint_units
from kinetree.models.description.schema import Description
from kinetree.models.run.engine import bind, connect
from kinetree.models.run.stages import Structure, compile_stage
from kinetree.models.system.forms import GROUPS, HAMILTON, LAGRANGE
from kinetree.models.system.system import System
from kinetree.solvers import layout as L
from kinetree.solvers import unit_layout as U

LATER: WeakKeyDictionary[System, tuple[Compiled, ...]] = WeakKeyDictionary()
EVENT_LOG = 256  # events that the log of an instance remembers


@dataclass
class Unit:
    """Blocks, and the names a host sees."""

    description: Description
    system: System
    stages: tuple[Structure, ...]
    compiled: tuple[Compiled, ...]
    integrator: str
    method: str = "auto"
    columns: list[Column] = field(default_factory=list)
    states: list[str] = field(default_factory=list)
    ints: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    floats: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @property
    def work_size(self) -> int:
        """Length of the work block."""
        return int(self.ints[U.U_SIZES + 2])

    @property
    def stage_names(self) -> list[str]:
        return [stage.name or f"stage {k + 1}" for k, stage in enumerate(self.stages)]

    def register(self, name: str) -> int:
        """Position in the work block of a parameter, input or start value (of stage 0)."""
        return int(self.ints[U.U_BASE]) + 64 + self.compiled[0].registers[name]


def make_unit(system: System, integrator: str = "auto", method: str = "auto") -> Unit:
    """Compile the remaining structures of a system and pack all of them; `method` is the form that resolves the equations."""
    compiled = (system.compiled, *later(system))
    unit = Unit(system.description, system, tuple(system.stages), compiled, integrator, method)
    refuse(unit)
    unit.columns = columns_of(unit)
    unit.states = union([[*c.coordinates, *c.speeds, *c.states] for c in compiled])
    pack_unit(unit)
    return unit


def later(system: System) -> tuple[Compiled, ...]:
    """The structures after the first one, compiled when they are first asked for; what is wrong with one of them shows here."""
    if system not in LATER:
        LATER[system] = tuple(compile_stage(stage) for stage in system.stages[1:])
    return LATER[system]


def refuse(unit: Unit) -> None:
    """What only the default engine can integrate; makes the forms known to the engine when one of them is wanted."""
    if unit.method in ("auto", "DEC"):
        return
    for stage, compiled in zip(unit.stage_names, unit.compiled, strict=True):
        if compiled.contacts:
            raise ValueError(f"method '{unit.method}' knows no contacts, which '{unit.system.name}' has: use auto or DEC")
        if compiled.loops:
            where = f"'{unit.system.name}'" if len(unit.compiled) == 1 else f"'{unit.system.name}' in stage '{stage}'"
            raise ValueError(f"method '{unit.method}' is for trees, {where} has closed loops: use auto or DEC")
    connect("form_speeds", "form_rates", "form_momenta")


def union(lists: list[list[str]]) -> list[str]:
    """All names in order of their first appearance."""
    return list(dict.fromkeys(name for names in lists for name in names))


def columns_of(unit: Unit) -> list[Column]:
    """What a host can read: coordinates, speeds, states, outputs of all structures."""
    found: dict[str, Column] = {}
    known = {name: (state.unit, state.text, state.display_unit) for name, state in states_of(unit.description).items()}
    for stage, compiled in zip(unit.stages, unit.compiled, strict=True):
        known |= joint_units(stage.description.joints)
        for name in (*compiled.coordinates, *compiled.speeds, *compiled.states):
            found.setdefault(name, Column(name, compiled.registers[name], *known.get(name, ())))
    for compiled in unit.compiled:
        for column in compiled.outputs:
            found.setdefault(column.name, column)
    return list(found.values())


def pack_unit(unit: Unit) -> None:
    """Header, stage records, structures and tables in one ints block; offsets of everything in work."""
    from kinetree.solvers.run.methods import memory_size

    compiled = unit.compiled
    bodies = union([[*c.bodies, *c.twins] for c in compiled])
    parts: list[np.ndarray] = []
    at = U.UNIT_HEADER + U.STAGE * len(compiled)

    def put(values) -> int:
        nonlocal at
        parts.append(np.asarray(values, dtype=np.int64))
        at += parts[-1].size
        return at - parts[-1].size

    records = np.full((len(compiled), U.STAGE), -1, dtype=np.int64)
    floats_at = 0
    groups = GROUPS.get(unit.method, frozenset())
    blocks = [with_groups(c.ints, c.counts, groups) if groups else c.ints for c in compiled]
    for k, c in enumerate(compiled):
        records[k, U.S_INTS] = put(blocks[k])
        records[k, U.S_FLOATS] = floats_at
        floats_at += c.floats.size
        outputs = {column.name: column.register for column in c.outputs}
        registers = [outputs.get(column.name, c.registers.get(column.name, -1)) for column in unit.columns]
        records[k, U.S_COLUMNS] = put(registers)
        y = {name: j for j, name in enumerate((*c.coordinates, *c.speeds, *c.states))}
        records[k, U.S_STATES] = put([y.get(name, -1) for name in unit.states])
        number = {name: j for j, name in enumerate((*c.bodies, *c.twins), 1)}
        records[k, U.S_BODIES] = put([number.get(name, -1) for name in bodies])
        records[k, U.S_GUARDS] = int(c.counts["ng"])
        records[k, U.S_TRANSITION] = put(transition(unit, k, bodies)) if k else -1
    header = np.zeros(U.UNIT_HEADER, dtype=np.int64)
    largest = {key: int(max(c.counts[key] for c in compiled)) for key in ("nq", "nu", "nx", "ng")}
    n = max(int(c.counts["nq"] + c.counts["nu"] + c.counts["nx"]) for c in compiled) + 1
    workspace = int(max(block[L.H_SIZES + 2] for block in blocks))
    lay_out_work(unit, header, largest, n, len(bodies), int(memory_size(U.KINDS[unit.integrator], n)), workspace)
    header[U.U_FORM] = (LAGRANGE | HAMILTON).get(unit.method, 0)
    header[U.U_SIZES], header[U.U_SIZES + 1] = at, floats_at
    unit.ints = np.concatenate([header, records.ravel(), *parts])
    unit.floats = np.concatenate([c.floats for c in compiled])


def lay_out_work(unit: Unit, header: np.ndarray, largest: dict[str, int], n: int, bodies: int, memory: int, workspace: int) -> None:
    """Offsets of the parts of the work block."""
    from kinetree.solvers.run.events import events_size

    first = unit.compiled[0]
    inputs, parameters = len(first.inputs), len(first.parameters)
    header[[U.U_STAGES, U.U_COLUMNS, U.U_STATES, U.U_GUARDS]] = len(unit.compiled), len(unit.columns), len(unit.states), largest["ng"]
    header[[U.U_BODIES, U.U_INTEGRATOR, U.U_PARAMETERS, U.U_INPUTS]] = bodies, U.KINDS[unit.integrator], parameters, inputs
    header[[U.U_START_Q, U.U_START_U, U.U_START_X, U.U_START_INPUTS]] = first.start_q, first.start_u, first.start_x, first.start_inputs
    header[U.U_PRESET_INPUTS] = first.preset_inputs
    locator, events = int(events_size(largest["ng"], n)), len(unit.description.events) + 2 * len(unit.description.contacts)
    sizes = {
        U.U_AT_COLUMNS: len(unit.columns), U.U_AT_STATES: len(unit.states), U.U_AT_RATES: len(unit.states), U.U_AT_GUARDS: largest["ng"],
        U.U_AT_BODIES: U.UNIT_BODY * bodies + 2 + parameters + inputs, U.U_AT_EVENTS: U.EVENT * EVENT_LOG, U.U_AT_LOCATOR: locator,
        **dict.fromkeys((U.U_AT_FIRED, U.U_AT_MET, U.U_AT_HELD, U.U_AT_NOISE, U.U_AT_ARMED), largest["ng"]), U.U_AT_TRUTH: 2 * events,
        U.U_AT_INPUTS: inputs, U.U_AT_SLOPES: inputs, U.U_AT_GIVEN: inputs, U.U_AT_CURVES: L.CURVE * inputs,
        U.U_AT_SCRATCH: n, U.U_AT_MEMORY: memory, U.U_BASE: workspace,
    }  # fmt: skip
    header[[U.U_MEMORY, U.U_LOCATOR, U.U_EVENTS, U.U_EVENT_NAMES]] = memory, locator, EVENT_LOG, events
    at = U.UNIT_HEAD
    for key, size in sizes.items():
        header[key] = at
        at += size
    header[U.U_SIZES + 2] = at


def transition(unit: Unit, k: int, bodies: list[str]) -> list[int]:
    """How stage k is entered from stage k - 1."""
    stage, c = unit.stages[k], unit.compiled[k]
    locked = [name[7:-1] for name in c.registers if name.startswith("locked(")]
    known = [name for name in locked if name in unit.states]
    lists = [c.registers[name] for name in stage.set]
    lists += [bodies.index(body) for body in stage.freed]
    for name in known:
        lists += [unit.states.index(name), c.registers[f"locked({name})"]]
    jump = int(bool(stage.newly_locked or c.loops))
    return [len(stage.set), len(stage.freed), len(known), jump, 0, 0, 0, 0, *lists]


class Run:
    """An instance of a unit: its work block and its entry points."""

    def __init__(self, unit: Unit):
        self.unit = unit
        self.work = np.zeros(unit.work_size)
        self._calls: dict[str, object] = {}
        self.call("unit_reset")

    def call(self, name: str, option: int = 0, t: float = 0.0) -> int:
        """Call an entry point; returns its status."""
        if name not in self._calls:
            self._calls[name] = bind(name, self.unit.ints, self.unit.floats, self.work)
        return self._calls[name](option, t)  # type: ignore[operator]

    @property
    def columns(self) -> np.ndarray:
        """Values of the columns (a view)."""
        at = int(self.unit.ints[U.U_AT_COLUMNS])
        return self.work[at : at + len(self.unit.columns)]

    def set_input(self, name: str, value: float) -> None:
        """Write an input."""
        self.work[self.unit.register(name)] = value
