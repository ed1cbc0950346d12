"""The common table of variables, from which every modelDescription, the payload of both back ends
and the documentation are written.

Value references are the positions in the table, so that they are the same in every archive of a model.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any

from kinetree.fmu.dependencies import feedthrough
from kinetree.fmu.names import unique_names
from kinetree.models.analysis.nominal_values import NOMINAL
from kinetree.models.description.joint_units import rate_unit
from kinetree.solvers import unit_layout as U
from kinetree.solvers.fields import REGISTERS

STRUCTURED = re.compile(
    r"[A-Za-z_]\w*(\[\d+(,\d+)*\])?(\.[A-Za-z_]\w*(\[\d+(,\d+)*\])?)*", re.ASCII
)

head_place = U.UNIT_HEAD.at  # of a number in the head of a unit


class FmuError(Exception):
    """An FMU cannot be built or used; the message states cause and remedy."""


class Type(IntEnum):
    """Types of values, as in native/core.h."""

    REAL = 0
    INTEGER = 1
    STRING = 2


class Access(IntEnum):
    """When a variable may be set, as in native/core.h."""

    NONE = 0  # computed
    INPUT = 1
    TUNABLE = 2
    FIXED = 3
    START = 4  # a state: before the start


@dataclass(frozen=True)
class Variable:
    """One variable of the FMU; `at`, `write` and `rate` are indices in the work block."""

    name: str
    causality: str
    variability: str
    initial: str | None
    at: int
    type: Type = Type.REAL
    access: Access = Access.NONE
    write: int = -1
    rate: int = -1
    start_at: int = -1  # of inputs: where the value before the start is kept
    state: int = -1  # number of the continuous state
    start: float | None = None
    follows: bool = False  # the start is that of an expression until the host gives one
    unit: str = ""
    display_unit: str = ""
    text: str = ""
    minimum: float = -math.inf
    maximum: float = math.inf
    nominal: float | None = None
    derivative_of: int | None = None  # value reference of the state
    dependencies: tuple[tuple[int, str], ...] | None = (
        None  # value references of knowns and kinds; None: all
    )


@dataclass
class Table:
    """All variables of a model in the order of their value references."""

    variables: list[Variable] = field(default_factory=list)
    states: list[int] = field(default_factory=list)  # value reference of every continuous state
    derivatives: list[int] = field(default_factory=list)  # value reference of its derivative
    indicators: list[int] = field(default_factory=list)
    assembled: bool = False  # closed loops make of start values what fits together
    renamed: dict[str, str] = field(default_factory=dict)  # from names of the description

    def numbered(self) -> list[tuple[int, Variable]]:
        """Return pairs of value reference and variable."""
        return list(enumerate(self.variables))

    @property
    def convention(self) -> str:
        """Return the FMI naming convention that all names follow."""
        return "structured" if all(is_structured(v.name) for v in self.variables) else "flat"

    def initial_unknowns(self) -> list[int]:
        """Return the value references of variables that initialisation computes."""
        derived = {*self.states, *self.derivatives}
        return [
            vr
            for vr, v in self.numbered()
            if v.causality == "calculatedParameter"
            or (
                v.initial in ("calculated", "approx") and (v.causality == "output" or vr in derived)
            )
        ]


def is_structured(name: str) -> bool:
    """Return whether a name follows FMI's structured naming convention."""
    inner = re.fullmatch(r"der\((.*?)(,\d+)?\)", name)
    return STRUCTURED.fullmatch(inner[1] if inner else name) is not None


def fmi_name(name: str) -> str:
    """Return a name in which the second derivative has the notation of FMI: der(x,2)."""
    inner = re.fullmatch(r"der\(der\((.*)\)\)", name)
    return f"der({inner[1]},2)" if inner else name


def variable_table(unit: Any) -> Table:
    """Return the table of a compiled unit (`fmu.unit.FmuUnit`)."""
    table = Table(assembled=in_loops(unit))
    registers = int(unit.header.at_workspace) + REGISTERS
    table.variables.append(
        Variable(
            "time",  # no other variable keeps this name
            "independent",
            "continuous",
            None,
            head_place("time"),
            unit="s",
            text="Simulation time",
        )
    )
    add_parameters(table, unit, registers)
    for k, given in enumerate(unit.inputs):
        place = registers + given.register
        facts: dict[str, Any] = {
            "minimum": limit(given.min, -math.inf),
            "maximum": limit(given.max, math.inf),
            "start": float(given.start),
        }
        facts |= {
            "unit": given.unit,
            "display_unit": given.display_unit,
            "text": given.text,
            "follows": given.follows,
        }
        start_at = registers + int(unit.header.start_inputs) + k
        table.variables.append(
            Variable(
                given.name,
                "input",
                "continuous",
                None,
                place,
                access=Access.INPUT,
                write=place,
                start_at=start_at,
                **facts,
            )
        )
    add_columns(table, unit, registers)
    add_system(table, unit)
    rename(table)
    return table


def rename(table: Table) -> None:
    """Rename variables whose names OpenModelica's import cannot write or distinguish."""
    given = [v.name for v in table.variables if v.causality != "independent"]
    table.renamed = unique_names(given)
    for k, v in enumerate(table.variables):
        if v.causality != "independent" and v.name in table.renamed:
            table.variables[k] = replace(v, name=table.renamed[v.name])


def beside(name: str, used: set[str]) -> str:
    """Return a generated name that no variable of the model has."""
    while name in used:
        name = f"fmu.{name}"
    return name


def limit(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else float(value)


def add_parameters(table: Table, unit: Any, registers: int) -> None:
    """Add parameters: fixed or tunable, calculated, or constant if structural.

    They are no constants, whose values OpenModelica's import drops.
    """
    tunable = any(p.tunable for p in unit.parameters)
    for p in unit.parameters:
        place = registers + p.register
        facts: dict[str, Any] = {
            "minimum": limit(p.min, -math.inf),
            "maximum": limit(p.max, math.inf),
        }
        facts |= {"unit": p.unit, "display_unit": p.display_unit, "text": p.text}
        if p.frozen:
            table.variables.append(
                Variable(p.name, "calculatedParameter", "fixed", "calculated", place, **facts)
            )
        elif p.computed:
            variability = "tunable" if tunable else "fixed"
            table.variables.append(
                Variable(p.name, "calculatedParameter", variability, "calculated", place, **facts)
            )
        else:
            access = Access.TUNABLE if p.tunable else Access.FIXED
            kind = "tunable" if p.tunable else "fixed"
            table.variables.append(
                Variable(
                    p.name,
                    "parameter",
                    kind,
                    "exact",
                    place,
                    access=access,
                    write=place,
                    start=p.value,
                    **facts,
                )
            )


def add_columns(table: Table, unit: Any, registers: int) -> None:
    """Add coordinates, speeds, states and outputs, then the remaining derivatives."""
    taken = {v.name for v in table.variables}
    columns = [(c, column) for c, column in enumerate(unit.columns) if column.name not in taken]
    first = len(table.variables)
    vr_of = {column.name: first + k for k, (_, column) in enumerate(columns)}
    number = {state.name: k for k, state in enumerate(unit.states)}
    missing = [name for name in number if name not in vr_of]
    if missing:
        raise FmuError(f"states without a column: {', '.join(missing)}")
    table.states = [vr_of[name] for name in number]
    for name in number:  # the rate of a coordinate is a speed, which is a state itself
        rate = f"der({name})"
        table.derivatives.append(vr_of.setdefault(rate, first + len(vr_of)))
    derivative_of = {vr: state for state, vr in zip(table.states, table.derivatives, strict=True)}
    vr_inputs = [vr for vr, v in table.numbered() if v.causality == "input"]
    needs, rate_needs = feedthrough(unit)
    outputs = output_names(unit)
    at, rates_at = int(unit.header.at_columns), int(unit.header.at_rates)
    for c, column in columns:
        known = dependencies(needs[c], vr_inputs, table.states)
        facts: dict[str, Any] = {
            "text": column.text,
            "derivative_of": derivative_of.get(vr_of[column.name]),
        }
        if column.name in number:
            k = number[column.name]
            facts |= state_facts(unit, unit.states[k], registers) | {
                "rate": rates_at + k,
                "state": k,
            }
            known = ((vr_of[column.name], "constant"),)
        causality = "output" if column.name in number or column.name in outputs else "local"
        initial = facts.pop("initial", "calculated")
        facts |= {
            "unit": column.unit,
            "display_unit": column.display_unit,
            "nominal": NOMINAL.get(column.unit),
            "dependencies": known,
        }
        table.variables.append(
            Variable(fmi_name(column.name), causality, "continuous", initial, at + c, **facts)
        )
    for k, vr in enumerate(table.derivatives):
        if vr >= len(table.variables):
            state = unit.states[k]
            facts = {
                "unit": rate_unit(state.unit),
                "dependencies": dependencies(rate_needs[k], vr_inputs, table.states),
            }
            name = fmi_name(f"der({state.name})")
            table.variables.append(
                Variable(
                    name,
                    "local",
                    "continuous",
                    "calculated",
                    rates_at + k,
                    derivative_of=table.states[k],
                    **facts,
                )
            )


def in_loops(unit: Any) -> bool:
    """Return whether the assembly of loops changes the start values."""
    return bool(getattr(unit.system.compiled, "loops", ()))


def state_facts(unit: Any, state: Any, registers: int) -> dict[str, Any]:
    """Return the attributes of a state's start value in the model description."""
    if state.register < 0 or not math.isfinite(state.start):
        return {}
    told = "approx" if in_loops(unit) or state.follows else "exact"
    return {
        "access": Access.START,
        "write": registers + state.register,
        "start": state.start,
        "initial": told,
    }


def output_names(unit: Any) -> set[str]:
    """Return the names of outputs: those of the description, and those of actuators and hydraulics."""
    d = unit.description
    declared = set(d.outputs)
    names = {column.name for column in unit.columns if column.name.split("[")[0] in declared}
    return names | {
        column.name
        for column in unit.columns
        if column.name.rpartition(".")[0] in {*d.actuators, *d.hydraulics}
    }


def dependencies(
    masks: tuple[int, int], inputs: list[int], states: list[int]
) -> tuple[tuple[int, str], ...] | None:
    """Return the known variables on which an unknown depends; None if it may depend on all."""
    by_input, by_state = masks
    if by_input == (1 << len(inputs)) - 1 and by_state == (1 << len(states)) - 1:
        return None
    used = [vr for k, vr in enumerate(inputs) if by_input >> k & 1] + [
        vr for k, vr in enumerate(states) if by_state >> k & 1
    ]
    return tuple((vr, "dependent") for vr in sorted(used))


def add_system(table: Table, unit: Any) -> None:
    """Add the variables that every FMU has, and the event indicators."""
    used = {v.name for v in table.variables}
    on_states = tuple((vr, "dependent") for vr in sorted(table.states))
    rows = (
        ("stage", Type.INTEGER, head_place("stage"), "", "Number of the present stage, from 0"),
        ("stage_name", Type.STRING, -1, "", "Name of the present stage"),
        ("events", Type.INTEGER, head_place("events"), "", "Events so far"),
        ("event_time", Type.REAL, head_place("event_time"), "s", "Time of the last event"),
        (
            "energy_residual",
            Type.REAL,
            head_place("energy_residual"),
            "J",
            "Energy minus energy at the start minus work of forces that are not conservative",
        ),
        (
            "constraint_residual",
            Type.REAL,
            head_place("constraint_residual"),
            "1",
            "Largest violation of loop constraints",
        ),
        ("solver_steps", Type.INTEGER, head_place("steps"), "", "Steps of the integrator so far"),
    )
    for name, kind, at, unit_text, text in rows:
        name, continuous = beside(name, used), name.endswith("_residual")
        variability = "continuous" if continuous else "discrete"
        table.variables.append(
            Variable(
                name,
                "output",
                variability,
                "calculated",
                at,
                kind,
                unit=unit_text,
                text=text,
                dependencies=on_states if continuous else (),
            )
        )
    for k in range(int(unit.header.guards)):
        table.indicators.append(len(table.variables))
        at = int(unit.header.at_guards) + k
        name = beside(f"event_indicator[{k + 1}]", used)
        table.variables.append(
            Variable(
                name,
                "local",
                "continuous",
                "calculated",
                at,
                text="An event is a change of its sign",
            )
        )
