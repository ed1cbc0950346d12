"""Builder of flat arrays from a checked description: numbers to registers, joints to elements,
forces and outputs to records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.models.beams.reduced_bodies import modal_arrays, modal_pattern
from kinetree.models.compilation.element_states import inputs_of, states_of
from kinetree.models.compilation.joint_locking import locked_form
from kinetree.models.compilation.joint_patterns import column_kinds, pattern
from kinetree.models.compilation.loop_cutting import (
    Group,
    body_shares,
    held_starts,
    loop_arrays,
    times,
)
from kinetree.models.compilation.register_usage import registers_read, whole
from kinetree.models.compilation.set_speeds import set_speeds
from kinetree.models.description.joints import joint_elements
from kinetree.models.description.names import RUN_START
from kinetree.models.description.schema import Description, Ends
from kinetree.models.expressions.columns import Column
from kinetree.models.expressions.differentiate import time_derivatives
from kinetree.models.expressions.internal_names import STAGE_START, free_name, rate_of_state
from kinetree.models.expressions.node_arithmetic import E
from kinetree.models.expressions.nodes import Const, Name, Node, names
from kinetree.models.expressions.parse import ExpressionError, parse
from kinetree.models.expressions.registers import ACCELERATION, PARAMETER, STATE, TIME, Registers
from kinetree.models.graph.tree import Topology
from kinetree.models.joints.elements import ElementForm, JointForm
from kinetree.models.language.errors import ModelError, Problem
from kinetree.solvers import layout as L
from kinetree.solvers.literal.block_sparsity import pattern as pattern_of_blocks
from kinetree.solvers.model_records import FORCE, SENSOR
from kinetree.solvers.sensors.kinds import Kind

if TYPE_CHECKING:
    from kinetree.models.compilation.rigid_body_merging import Around
    from kinetree.models.forces.force_energy import Book

NONE = -1


class Builder:
    """Collects registers and records of one structure of a mechanism."""

    def __init__(
        self,
        description: Description,
        topology: Topology,
        locked: frozenset[str] = frozenset(),
        end: Ends | None = None,
        later: bool = False,
        at_end: Mapping[str, float | str] | None = None,
    ):
        self.description = description
        self.later = later
        self.locked = locked
        self.end = end
        self.at_end = (
            at_end or {}
        )  # coordinates, speeds, states and parameters that the end of the stage sets
        self.run_start = 0.0  # [run].start_time; a run that starts at another time replaces it
        self.topology = topology
        self.registers = Registers()
        self.body = {"ground": 0} | {name: k for k, name in enumerate(topology.order, 1)}
        self.joint_body = {name: k for k, name in enumerate(topology.joint, 1)}
        self.early: list[tuple[int, ...]] = []
        self.late: list[tuple[int, ...]] = []
        self.forces: list[list[int]] = []
        self.potentials: list[int] = []
        self.potential_of: dict[str, E] = {}
        self.books: dict[str, Book] = {}  # what outputs can be told about force elements
        self.guards: list[tuple[int, int, int, int, int]] = []
        self.actions: list[tuple[int, int, int]] = []
        self.latches: list[tuple[int, int]] = []
        self.probes: list[tuple[int, ...]] = []
        self.guard_names: list[str] = []
        self.late_guards = False
        self.jumps: list[
            tuple[Node, str, str]
        ] = []  # functions whose signs tell on which side of a jump a law is, its name, the name of what holds it there
        self.early_laws: list[
            tuple[Node, str]
        ] = []  # what forces need, with the keys of the description
        self.columns: list[Column] = []
        self.deferred: list[
            Callable[[], None]
        ] = []  # outputs that are made once all force elements are known
        self.used: set[str] = set()
        self._answered: dict[str, tuple[int, int]] = {}
        self.inputs = inputs_of(description)
        self.states = states_of(description)
        self.forms: dict[str, JointForm] = {}
        self.groups: list[Group] = []
        self.leaves: Any = None  # coupling_rates.Leaves: what couplings depend on
        self.coupling_rows: dict[str, int] = {}  # numbers of the rows of couplings
        self.given: set[str] = set()  # amounts of motions that inputs give
        self.rates_given: dict[
            str, Node
        ] = {}  # what is known of the motion of inputs that give motions
        self.contacts: Any = None  # contacts.Contacts
        self.starts: dict[str, float] = {}  # instead of the description's
        self.around: Around = {}  # constant elements before and after those of joints at merged bodies

    # -- numbers ------------------------------------------------------------------------------------------------------------------------
    def node(self, value: float | str | Node, key: str = "") -> Node:
        """Return the expression graph of a number of the description and record the names that it
        uses.
        """
        try:
            node = value if isinstance(value, Node) else parse(value)
        except ExpressionError as error:
            raise ModelError(
                Problem(
                    key, repr(value), error.message, column=error.column, file=self.description.file
                )
            ) from None
        self.used |= names(node)
        return node

    def register(self, value: float | str | Node, key: str = "") -> int:
        """Return the register that holds a number or expression."""
        return self.registers.compile(self.node(value, key))

    def store(self, potential: Node) -> None:
        """Add the potential of a force element to the energy."""
        self.potentials.append(self.registers.energy(self.node(potential)))

    def vector(self, values: Iterable[float | str | Node], key: str = "") -> int:
        """Return the first of consecutive registers that hold the values."""
        return self.registers.vector([self.node(value, key) for value in values])

    def define(self, name: str, node: Node) -> None:
        """Make an expression available to other expressions under a name."""
        self.used |= names(node)
        self.registers.link(name, node)

    def asked_anew(self, what: str) -> bool:
        """Return whether names or coupling rows have been added since the last call with the same
        `what`.
        """
        present = len(self.used), len(self.coupling_rows)
        before, self._answered[what] = self._answered.get(what), present
        return before != present

    def offer(self, name: str, value: str) -> None:
        """Make an internal value available to expressions under a name, unless the description uses
        that name.
        """
        if name not in self.description.own_names:
            self.define(name, Name(value))

    def made(self, name: str) -> str:
        """Return the name of a state that an element adds, distinct from names of the description."""
        return free_name(name, self.description.own_names)

    # -- named values, in the global order ----------------------------------------------------------------------------------------------
    def add_names(self) -> None:
        """Add the first registers: t, parameters, inputs, coordinates, speeds and states."""
        d, r = self.description, self.registers
        r.add("t", 0.0, TIME)
        for name, parameter in d.parameters.items():
            if isinstance(parameter.value, str):
                r.add(name, np.nan, PARAMETER)
                self.define(name, self.node(parameter.value, f"parameters.{name}"))
            else:
                r.add(name, float(parameter.value), PARAMETER)
        for name in self.inputs:
            r.add(name, np.nan, STATE)
        r.add(STAGE_START, 0.0, TIME)
        self.offer("stage_start", STAGE_START)
        r.add(RUN_START, self.run_start, PARAMETER)
        for joint in self.topology.joint:
            form = joint_elements(d.joints[joint], joint)
            form = self.lock(form) if joint in self.locked else form
            before, after = self.around.get(joint, ((), ()))
            self.forms[joint] = (
                replace(form, elements=(*before, *form.elements, *after))
                if before or after
                else form
            )
        for group in ("coordinates", "speeds"):
            for joint in self.topology.joint:
                for name in getattr(self.forms[joint], group):
                    r.add(name, np.nan, STATE)
        for name in self.states:
            r.add(name, np.nan, STATE)

    def lock(self, form: JointForm) -> JointForm:
        """Return a joint form whose coordinates are constants, written by the stage change."""
        for name in form.coordinates:
            self.registers.add(f"locked({name})", 0.0, PARAMETER)
            self.define(name, Name(f"locked({name})"))
        for name in form.speeds:
            self.define(name, Const(0.0))
        return locked_form(form)

    def add_states(self) -> list[int]:
        """Return the registers of the rates of the first-order states, which are also available as
        der(name).
        """
        rates = []
        for name, state in self.states.items():
            rate = (
                self.node(state.rate, f"states.{name}.rate")
                if name in self.description.states
                else Name(rate_of_state(name))
            )
            self.define(f"der({name})", rate)
            rates.append(self.registers.compile(Name(f"der({name})")))
        return rates

    def refuse_late_laws(self) -> None:
        """Report force laws that depend on quantities known only after the accelerations are
        computed.
        """
        for law, key in self.early_laws:
            if self.registers.phase_of(law) >= ACCELERATION:
                hint = "a force cannot depend on the rate of a state that follows accelerations or forces"
                raise ModelError(Problem(key, hint=hint, file=self.description.file))

    # -- bodies and joints --------------------------------------------------------------------------------------------------------------
    def add_bodies(self) -> dict[str, list[int]]:
        """Return the registers of mass, centre of mass and inertia of all bodies."""
        columns: dict[str, list[int]] = {
            "b_mass": [NONE],
            "b_com": [NONE],
            "b_inertia": [NONE],
            "b_about": [0],
        }
        for body, key, share in body_shares(self.description, self.topology):
            columns["b_mass"].append(self.register(times(share, body.mass), f"{key}.mass"))
            columns["b_com"].append(self.vector(body.com, f"{key}.com"))
            tensor = body.inertia if body.inertia is not None else body.inertia_at_origin
            columns["b_inertia"].append(
                self.vector([times(share, each) for each in tensor or (0.0,) * 6], f"{key}.inertia")
            )
            columns["b_about"].append(
                int(body.inertia is None and body.inertia_at_origin is not None)
            )
        return columns

    def add_joints(self) -> dict[str, list[int]]:
        """Return the elements, joint patterns and column kinds of all tree joints."""
        c: dict[str, list[int]] = {
            k: []
            for k in (
                "e_kind",
                "e_q",
                "e_u",
                "e_axis",
                "e_amount",
                "e_factor",
                "u_kind",
                "u_body",
                "u_rotor",
                "u_q",
            )
        }
        c |= {"joint": [L.Joint.FIXED], "q_at": [0, 0], "u_at": [0, 0], "e_at": [0, 0]}
        for i, joint in enumerate(self.topology.joint, 1):
            form = self.forms[joint]
            elements = (
                self.inverted(form, joint) if self.topology.reversed[i - 1] else form.elements
            )
            q, u = c["q_at"][-1], c["u_at"][-1]
            for element in elements:
                self.add_element(c, element, q, u, f"joints.{joint}")
            modal = modal_pattern(self.description, joint)
            c["joint"].append(L.Joint[modal] if modal else pattern(elements, bool(form.rotors)))
            c["u_kind"] += column_kinds(elements, len(form.speeds))
            c["u_body"] += [i] * len(form.speeds)
            rotors = form.rotors if len(form.rotors) == len(form.speeds) else ()
            c["u_rotor"] += [
                self.register(each, f"joints.{joint}.rotor_inertia") for each in rotors
            ] or [NONE] * len(form.speeds)
            c["u_q"] += (
                [NONE] * len(form.speeds)
                if form.quaternion
                else [q + k for k in range(len(form.speeds))]
            )
            c["q_at"].append(q + len(form.coordinates))
            c["u_at"].append(u + len(form.speeds))
            c["e_at"].append(len(c["e_kind"]))
        return c

    def add_element(
        self, c: dict[str, list[int]], element: ElementForm, q: int, u: int, key: str
    ) -> None:
        """Add the integers and registers of one element."""
        k = element.coordinate
        c["e_kind"].append(element.kind.code)
        c["e_q"].append(NONE if k is None else q + k)
        c["e_u"].append(NONE if k is None else u + k)
        c["e_axis"].append(NONE if element.axis is None else self.vector(element.axis, key))
        amount = NONE
        kind = element.kind
        if kind.constant and kind.turns:
            amount = self.register(element.amount if element.amount is not None else 0.0, key)
        elif kind.given:
            given = self.registers.expand(
                self.node(element.amount if element.amount is not None else 0.0, key)
            )
            derivatives = time_derivatives(given, self.rates_given)
            self.registers.motions += derivatives
            amount = self.vector(derivatives, key)
        c["e_amount"].append(amount)
        c["e_factor"].append(NONE if element.factor == 1.0 else self.register(element.factor, key))

    def inverted(self, form: JointForm, joint: str) -> tuple[ElementForm, ...]:
        """Return the elements of a joint in reverse, for joints that the tree uses from child to
        parent.
        """
        one_way = next((kind for e in form.elements if not (kind := e.kind).back), None)
        if one_way is not None:
            found = f"a {one_way.name.lower()} joint used from child to parent"
            raise ModelError(
                Problem(
                    f"joints.{joint}",
                    found,
                    "parent and child exchanged",
                    file=self.description.file,
                )
            )
        return tuple(element.turned() for element in reversed(form.elements))

    # -- sensors and forces -------------------------------------------------------------------------------------------------------------
    def add_sensor(
        self,
        name: str,
        kind: Kind,
        a: int = 0,
        point_a: int = NONE,
        b: int = 0,
        point_b: int = NONE,
        axis: int = 0,
        frame: int = 0,
    ):
        """Add a sensor and return its register under a name; late sensors need accelerations."""
        late = kind.late
        register = self.registers.add(name, np.nan, ACCELERATION if late else STATE)
        record = SENSOR.filled(
            kind=kind.code,
            register=register,
            a=a,
            point_a=point_a,
            b=b,
            point_b=point_b,
            axis=axis,
            frame=frame,
        )
        (self.late if late else self.early).append(tuple(record))
        return register

    def add_force(self, kind: L.Force, *arguments: int) -> None:
        """Add a force record with arguments in the order of L.FORCE_ARGUMENTS."""
        names = L.FORCE_ARGUMENTS[kind]
        self.forces.append(FORCE.filled(kind=kind, **dict(zip(names, arguments, strict=True))))

    def finish(
        self,
        bodies: Mapping[str, list[int]],
        joints: Mapping[str, list[int]],
        rates: list[int],
        gravity: int,
    ) -> dict:
        """Return the arrays of the model by field name, and the header."""
        program = self.registers.finish()
        parent = np.array([NONE, *self.topology.parent])
        n = parent.size - 1
        children: list[list[int]] = [[] for _ in range(n + 1)]
        for i in range(1, n + 1):
            children[parent[i]].append(i)
        ints = {k: np.array(v, dtype=np.int64) for k, v in (*bodies.items(), *joints.items())}
        ints |= {
            "parent": parent,
            "child_at": np.concatenate(([0], np.cumsum([len(c) for c in children]))),
            "child": np.array([i for c in children for i in c], dtype=np.int64),
            "code": program.code,
            "tables": program.tables,
            "forces": np.array(self.forces, dtype=np.int64).reshape(-1),
            "potentials": np.array(self.potentials, dtype=np.int64),
            "x_rate": np.array(rates, dtype=np.int64),
            "guards": np.array(
                [
                    (*guard, int(k < len(program.timed) and program.timed[k]))
                    for k, guard in enumerate(self.guards)
                ],
                dtype=np.int64,
            ).reshape(-1),
            "actions": np.array(self.actions, dtype=np.int64).reshape(-1),
            "set_speed": np.array(set_speeds(self.actions, joints), dtype=np.int64),
            "latches": np.array(self.latches, dtype=np.int64).reshape(-1),
            "probes": np.array(self.probes, dtype=np.int64).reshape(-1),
            "knots": program.knots,
        }
        ints |= pattern_of_blocks(parent, ints["u_at"])
        held = held_starts(
            self.description,
            self.topology,
            [self.forms[joint].speeds for joint in self.topology.joint],
        )
        ints |= loop_arrays(self.groups, self.topology.parent, joints, held)
        followed = [
            number
            for name, register in self.leaves.inputs.items()
            for number in (list(self.inputs).index(name), register, register + 1)
        ]
        ints |= {
            "l_input": np.array(followed, dtype=np.int64),
            "ghosts": np.zeros(0, dtype=np.int64),
        }
        ints |= self.contacts.arrays(ints["l_arm"])
        sensors = self.sorted_sensors(ints)
        ints["sensors"] = np.array(
            [record for group in sensors for record in group], dtype=np.int64
        ).reshape(-1)
        u_at, q_at = ints["u_at"].tolist(), ints["q_at"].tolist()
        modal, numbers, self.modal_work = modal_arrays(self.description, self.body, u_at, q_at)
        ints |= modal
        floats = {"val0": program.val0, "table_data": program.table_data, "lent": np.zeros(0)}
        floats["modal_data"] = numbers
        return {
            "ints": ints,
            "floats": floats,
            "program": program,
            "gravity": gravity,
            "sensors": sensors,
        }

    def sorted_sensors(self, ints: Mapping[str, np.ndarray]) -> tuple[list, list, list]:
        """Return three groups of sensors: read during a run before the accelerations, read after
        them, and read only by results.
        """
        read = registers_read(ints, self.early + self.late)
        early, late = (
            [record for record in group if record[1] in read] for group in (self.early, self.late)
        )
        idle = [record for record in self.early + self.late if record[1] not in read]
        return whole(early), whole(late), whole(idle)
