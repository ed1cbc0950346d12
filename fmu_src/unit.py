"""Compiles a mechanism for an FMU: the memory blocks of all its structures, with parameters, inputs
and states.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from kinetree.fmu.native import matrix_steps
from kinetree.fmu.variables import FmuError
from kinetree.models.chain.system import ChainSystem
from kinetree.models.checks.run_check import STEP_OF_FMUS
from kinetree.models.checks.structural_parameters import frozen
from kinetree.models.compilation.compile import parameter_values
from kinetree.models.compilation.element_states import held_inputs, inputs_of
from kinetree.models.description.schema import Description
from kinetree.models.engine.compiled import Compiled
from kinetree.models.engine.instance import Instance
from kinetree.models.expressions.columns import Column
from kinetree.models.expressions.parse import evaluate_constant
from kinetree.models.run.simulation import Options
from kinetree.models.run.simulation_unit import Unit, make_unit, ordered_union
from kinetree.models.specialised.specialised_rates import Motion, motions
from kinetree.models.system.chain_mechanism import chain_mechanism
from kinetree.models.system.mechanism import Mechanism
from kinetree.models.system.system import System
from kinetree.solvers import unit_layout as U
from kinetree.solvers.integrate.kinds import FIXED
from kinetree.solvers.records import Named


@dataclass(frozen=True)
class Parameter:
    """A parameter of the description with its register."""

    name: str
    register: int
    value: float
    computed: bool
    tunable: bool
    unit: str
    text: str
    min: float | None
    max: float | None
    display_unit: str = ""
    frozen: bool = False  # it decides how the mechanism is built


@dataclass(frozen=True)
class Input:
    """An input with its register; with `follows`, its start is an expression that is used until the
    host sets a value.
    """

    name: str
    register: int
    start: float
    unit: str
    min: float | None = None
    max: float | None = None
    display_unit: str = ""
    text: str = ""
    follows: bool = False


@dataclass(frozen=True)
class State:
    """A continuous state in the union over all structures.

    `register`: where a host writes its start value, -1 for a state of a later stage; `start`: its
    default start value; with `follows`, an expression gives the start value until the host sets
    one.
    """

    name: str
    register: int
    unit: str
    start: float = math.nan
    follows: bool = False


@dataclass
class FmuUnit:
    """The memory blocks of all structures of a mechanism, and the names in them."""

    description: Description
    system: System
    ints: np.ndarray
    floats: np.ndarray
    work_size: int
    columns: list[Column]
    states: list[State]
    parameters: list[Parameter]
    inputs: list[Input]
    stage_names: list[str]
    bodies: list[str]
    options: dict[int, float]
    run: Options
    chain: ChainSystem | None = None  # a linear chain that steps by the matrix method
    motions: list[Motion | str] = field(
        default_factory=list
    )  # straight-line right-hand sides by structure, or why there is none
    compiled: list[Compiled] = field(
        default_factory=list
    )  # all structures, in the order of the stages
    own: object = None  # keeps straight-line code alive whose addresses stand in ints

    @property
    def header(self) -> Named:
        """Return the header record at the beginning of the ints block."""
        return U.UNIT.of(self.ints)


def fmu_unit(
    mechanism: Mechanism,
    integrator: str = "auto",
    step: float | None = None,
    tolerance: float | None = None,
    traced: bool = False,
) -> FmuUnit:
    """Compile all structures of a mechanism with the defaults of [run]; `traced` adds the
    operations of the rates for specialised code.
    """
    if mechanism.description.chain is not None:
        return chain_unit(mechanism, integrator, step, tolerance)
    form = mechanism.description.run.method
    if form not in ("auto", "DEC"):
        raise FmuError(
            f"[run] method is '{form}', which runs in this process only: FMUs solve by DEC; leave it out, or write auto or DEC"
        )
    system = mechanism.compile()
    run = Options.of(system, None, None, None, integrator, "auto", tolerance, step, None)
    unit = make_unit(system, run.integrator)
    given = step is not None or system.description.run.step is not None
    soft = not unit.compiled[0].inputs and run.integrator not in FIXED
    values = {
        "relative": run.relative, "absolute": run.absolute, "step": run.step if given else STEP_OF_FMUS, "largest_step": run.largest_step,
        "soft": float(soft), "budget": run.step_limit,
    }  # fmt: skip
    options = {U.UNIT_HEAD.at(name): value for name, value in values.items()}
    bodies = ordered_union([[*c.bodies, *c.twins] for c in unit.compiled])
    return FmuUnit(
        system.description, system, unit.ints, unit.floats, unit.work_size, unit.columns, states(unit), parameters(unit), inputs(unit),
        unit.stage_names, bodies, options, run, motions=motions(unit) if traced else [], compiled=list(unit.compiled),
    )  # fmt: skip


def chain_unit(
    mechanism: Mechanism, integrator: str, step: float | None, tolerance: float | None
) -> FmuUnit:
    """Return the unit of a linear chain; it steps by matrices unless an integrator is given."""
    chain = mechanism.chain()
    unit = fmu_unit(chain_mechanism(chain), integrator, step, tolerance)
    if unit.run.integrator == "auto":
        dt = (
            unit.run.step
            if step is not None or chain.description.run.step is not None
            else unit.run.output_step
        )
        matrix_steps.attach(unit, chain, dt)
        unit.chain, unit.run.integrator = chain, f"matrix method, pieces of {dt:g} s and less"
    return unit


def parameters(unit: Unit) -> list[Parameter]:
    """Return parameters in the order of their registers."""
    given, registers = unit.description.parameters, unit.compiled[0].registers
    values, deciding = parameter_values(unit.description), frozen(unit.description)

    def bound(value: float | str | None) -> float | None:
        return None if value is None else evaluate_constant(value, values)

    return [
        Parameter(
            n,
            registers[n],
            values[n],
            isinstance(p.value, str),
            p.tunable,
            p.unit,
            p.text,
            bound(p.min),
            bound(p.max),
            p.display_unit,
            n in deciding,
        )
        for n, p in given.items()
    ]


def inputs(unit: Unit) -> list[Input]:
    """Return inputs in the order of their registers."""
    values = parameter_values(unit.description)
    number = lambda x: None if x is None else evaluate_constant(x, values)  # noqa: E731
    first = unit.compiled[0]
    given = inputs_of(unit.description)
    hidden = len(held_inputs(unit.description))  # the last ones
    found = []
    for name in first.inputs[: len(first.inputs) - hidden]:
        spec = given.get(name)
        start = float(unit.floats[first.start_inputs + len(found)])
        value = number(spec.start) if spec else start
        made = Input(
            name,
            first.registers[name],
            0.0 if value is None else float(value),
            spec.unit if spec else first.units.get(name, ""),
        )
        if spec:
            made = replace(
                made,
                min=number(spec.min),
                max=number(spec.max),
                display_unit=spec.display_unit,
                text=spec.text,
            )
        found.append(replace(made, follows=spec is not None and isinstance(spec.start, str)))
    return found


def states(unit: Unit) -> list[State]:
    """Return the states of all structures with the registers of their start values."""
    registers, val = unit.compiled[0].registers, Instance(unit.compiled[0]).ws.val
    units = {column.name: column.unit for column in unit.columns}
    found = []
    for name in unit.states:
        start, given = (registers.get(f"{word}({name})", -1) for word in ("start", "given"))
        value = math.nan if start < 0 else float(val[start])
        found.append(
            State(name, start if given < 0 else given, units.get(name, ""), value, given >= 0)
        )
    return found
