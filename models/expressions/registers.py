"""The register file of a mechanism: every number of a description becomes a register, every
expression a sequence of instructions in four phases.

Registers are assigned at once; names may be used before they are defined. `finish` resolves the
definitions, merges common subexpressions, and orders the instructions: by phase, and within a phase
by dependence.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from kinetree.models.expressions.fused_operations import fused, two_steps
from kinetree.models.expressions.lookup_tables import Tables
from kinetree.models.expressions.nodes import (
    Const,
    ExpressionError,
    Leaf,
    Lookup,
    Name,
    Node,
    Operation,
    UnknownName,
    names,
    postorder,
)
from kinetree.models.expressions.parse import suggestion
from kinetree.models.expressions.simplify import substitute
from kinetree.models.expressions.time_breakpoints import corners, instants, runs_evenly
from kinetree.solvers.layout import ANNOUNCED, INSTRUCTION, PHASES, Knot, Op

PARAMETER, TIME, STATE, ACCELERATION, ENERGY = range(PHASES)


class Program(NamedTuple):
    """The compiled register programs that `finish` returns."""

    code: np.ndarray  # instructions of all phases, INSTRUCTION integers each
    phase_starts: (
        np.ndarray
    )  # number of the first instruction of each phase, and the end: six integers
    val0: np.ndarray  # initial registers: defaults and constants; NaN where an instruction writes
    names: dict[str, int]  # register of each named value
    tables: np.ndarray  # records of TABLE integers
    table_data: np.ndarray
    knots: np.ndarray  # records of KNOT integers
    timed: list[bool]  # of the guards: those that run evenly with time between events


class Registers:
    """Collects names, definitions, tables and the expressions whose values are needed."""

    def __init__(self):
        self.names: dict[str, int] = {}
        self.tables = Tables()
        self._phases: dict[str, int] = {}
        self._definitions: dict[str, Node] = {}
        self._uses: dict[str, frozenset[str]] = {}
        self._val0: list[float] = []
        self._wanted: list[tuple[int, Node]] = []  # register and the expression it holds
        self._compiled: dict[
            tuple[Node, ...], int
        ] = {}  # first register of what `compile` and `vector` handed out
        self._energies: set[int] = set()  # registers that nothing but the energy asks for
        self._expanded: dict[str, Node] = {}
        self._rebuilt: dict[
            Node, Node
        ] = {}  # nodes with the names in them replaced, as long as no further name is defined
        self.motions: list[
            Node
        ] = []  # given motions and couplings with their rates: where they have corners speeds may jump
        self.announced: list[
            tuple[Node, Mapping[str, str]]
        ] = []  # guards, with names of states that hold until an event as time knows them

    def add(self, name: str, value: float = 0.0, phase: int = PARAMETER) -> int:
        """Assign the next register to a name, with an initial value."""
        if name in self.names:
            raise ExpressionError(f"'{name}' is defined twice")
        self.names[name] = self._new((value,))
        self._phases[name] = phase
        return self.names[name]

    def level(self, name: str, phase: int) -> None:
        """Declare the phase from which a named register is known."""
        self._phases[name] = phase

    def link(self, name: str, node: Node) -> None:
        """Define a name by an expression; if the name has a register already, the expression writes
        to it.
        """
        if name in self._definitions:
            raise ExpressionError(f"'{name}' is defined twice")
        self._definitions[name], self._uses[name] = node, names(node)
        self._rebuilt.clear()
        if any(name in self._uses[each] for each in self._expanded):
            self._expanded.clear()

    def add_table(
        self,
        name: str,
        x: Sequence[float],
        y: Sequence[float],
        z=None,
        method: str = "linear",
        extrapolate: bool = False,
    ) -> int:
        """Add values y on the grid x, or z on the grid x, y; return the table's index."""
        return self.tables.add(name, x, y, z, method, extrapolate)

    def constant(self, value: float) -> int:
        """Return the register of a constant."""
        return self.compile(Const(value))

    def compile(self, node: Node) -> int:
        """Return the register that will hold the value of an expression."""
        if isinstance(node, Leaf) and node.key in self.names:
            return self.names[node.key]
        return self.vector((node,))

    def energy(self, node: Node) -> int:
        """Return the register of a potential energy; operations needed only by it run only when
        energy is requested.
        """
        known = (node,) in self._compiled
        register = self.compile(node)
        if not known and (node,) in self._compiled:
            self._energies.add(register)
        return register

    def vector(self, nodes: Iterable[Node | float]) -> int:
        """Return the first of consecutive registers for the values of the expressions."""
        parts = tuple(each if isinstance(each, Node) else Const(each) for each in nodes)
        self._energies.discard(self._compiled.get(parts, -1))
        if parts not in self._compiled:
            values = [each.value if isinstance(each, Const) else np.nan for each in parts]
            first = self._compiled[parts] = self._new(values)
            self._wanted += [
                (first + k, each) for k, each in enumerate(parts) if not isinstance(each, Const)
            ]
        return self._compiled[parts]

    def compile_to(self, node: Node, register: int) -> None:
        """Write the value of an expression to a given register."""
        self._wanted.append((register, node))

    def phase_of(self, node: Node) -> int:
        """Return the first phase in which an expression is known."""
        self._order(names(node))  # finds cycles
        phase, seen = PARAMETER, set(names(node))
        pending = list(seen)
        while pending:
            key = pending.pop()
            if key in self._definitions:
                new = self._uses[key] - seen
                seen |= new
                pending += new
            else:
                self._check_known(key)
                phase = max(phase, self._phases[key])
        return phase

    def expand(self, node: Node) -> Node:
        """Return the expression with every defined name replaced by its definition."""
        if node in self._rebuilt:
            return self._rebuilt[node]
        for name in self._order(names(node)):
            self._expanded[name] = substitute(
                self._definitions[name], self._replacement, self._rebuilt
            )
        return substitute(node, self._replacement, self._rebuilt)

    def _replacement(self, leaf: Leaf) -> Node | None:
        return self._expanded.get(leaf.key)

    def _order(self, wanted: Iterable[str]) -> list[str]:
        """Return the definitions needed for given names in evaluation order; a cycle is an error
        that names its members.
        """
        order: dict[str, None] = {}
        path: dict[str, None] = {}
        stack = [
            (name, False)
            for name in sorted(
                name for name in wanted if name in self._definitions and name not in self._expanded
            )
        ]
        while stack:
            name, leaving = stack.pop()
            if leaving:
                del path[name]
                order[name] = None
            elif name in path:
                members = list(path)
                raise ExpressionError(
                    "the definitions form a cycle: "
                    + " -> ".join([*members[members.index(name) :], name])
                )
            elif name in self._definitions and name not in order and name not in self._expanded:
                path[name] = None
                stack.append((name, True))
                stack.extend((each, False) for each in sorted(self._uses[name]))
        return list(order)

    def _new(self, values: Sequence[float]) -> int:
        self._val0.extend(values)
        return len(self._val0) - len(values)

    def _check_known(self, key: str) -> None:
        if key not in self.names:
            raise UnknownName(key, suggestion(key, (*self.names, *self._definitions)))

    def finish(self) -> Program:
        """Resolve all definitions and emit the instructions."""
        emitter = Emitter(self.names, self._phases, self.tables, self._new, self._check_known)
        for parts, first in self._compiled.items():
            emitter.known_constants(parts, first)
        defined = [
            (self.names[name], Name(name)) for name in self._definitions if name in self.names
        ]
        expanded = [(register, self.expand(node)) for register, node in (*defined, *self._wanted)]
        for register, node in expanded:
            emitter.claim(node, register)
        emitter.emit([each for each in expanded if each[0] not in self._energies])
        emitter.emit([each for each in expanded if each[0] in self._energies], ENERGY)
        guards = self.guards_over_time()
        motions = frozenset(postorder(self.expand(node) for node in self.motions))
        knots = emitter.knots(motions, guards)
        lists = emitter.phases
        for part in lists:
            for instruction in part:
                self._val0[instruction[1]] = np.nan
        starts = np.cumsum([0, *map(len, lists)]).astype(np.int64)
        code = np.array([each for part in lists for each in part], dtype=np.int64).reshape(-1)
        return Program(
            code, starts, np.array(self._val0), dict(self.names), *self.tables.arrays(), knots,
            [bool(runs_evenly(guard, self._phases, TIME)) for guard in guards],
        )  # fmt: skip

    def guards_over_time(self) -> list[Node]:
        """Return the guards to be announced to hosts as functions of time."""
        found = []
        for node, known in self.announced:
            early = {key: Leaf(label) for key, label in known.items()}
            found.append(
                substitute(self.expand(node), lambda leaf, early=early: early.get(leaf.key))
            )
        return found


class Emitter:
    """Converts expanded expressions into instructions; every node is computed once."""

    def __init__(
        self,
        names: dict[str, int],
        levels: dict[str, int],
        tables: Tables,
        new: Callable,
        check_known: Callable,
    ):
        self.names, self.levels, self.tables, self.new, self.check_known = (
            names,
            levels,
            tables,
            new,
            check_known,
        )
        self.phases: list[list[tuple[int, ...]]] = [[] for _ in range(PHASES)]
        self.register: dict[Node, int] = {}
        self.phase: dict[Node, int] = {}
        self.home: dict[
            Node, int
        ] = {}  # the register that was handed out for an expression before it was emitted

    def known_constants(self, parts: tuple[Node, ...], first: int) -> None:
        for k, each in enumerate(parts):
            if isinstance(each, Const):
                self.register.setdefault(each, first + k)
                self.phase[each] = PARAMETER

    def claim(self, node: Node, register: int) -> None:
        if node.args:
            self.home.setdefault(node, register)

    def emit(self, wanted: list[tuple[int, Node]], last: int = STATE) -> None:
        """Emit instructions that fill each register with its expression; instructions after the
        state belong to phase `last`.
        """
        nodes = list(postorder((node for _, node in wanted), self.register))
        inside = fused(nodes, self.levels, self.phase, self.home)
        for node in nodes:
            if node in inside:
                self.phase[node] = max(self.phase[arg] for arg in node.args)
            elif node not in self.register:
                self.place(node, last)
        for register, node in wanted:
            if self.register[node] != register:
                self.put(self.phase[node], Op.COPY, register, self.register[node])

    def knots(self, motions: frozenset[Node], guards: Sequence[Node]) -> np.ndarray:
        """Return the records of time breakpoints and of guards that depend on time alone, and emit
        the rates of their arguments.
        """
        records = []
        for kind, argument, pace, detail, moves in corners(dict(self.phase), TIME, motions):
            registers = [self.value(argument), self.value(pace)]
            place = (
                self.tables.index[detail]
                if isinstance(detail, str)
                else self.value(detail)
                if detail
                else 0
            )
            records.append((kind, *registers, place, int(moves)))
        for argument, pace in dict.fromkeys(
            found for guard in guards for found in instants(guard, self.levels, TIME)
        ):
            records.append((Knot.ZERO, self.value(argument), self.value(pace), 0, ANNOUNCED))
        return np.array(records, dtype=np.int64).reshape(-1)

    def value(self, node: Node) -> int:
        """Return the register of an expression, emitting its instructions if needed."""
        for each in postorder((node,)):
            if each not in self.register:
                self.place(each)
        return self.register[node]

    def place(self, node: Node, last: int = STATE) -> None:
        if isinstance(node, Leaf):
            self.check_known(node.key)
            self.register[node], self.phase[node] = self.names[node.key], self.levels[node.key]
        elif isinstance(node, Const):
            self.register[node], self.phase[node] = self.new((node.value,)), PARAMETER
        else:
            self.phase[node] = max(self.phase[arg] for arg in node.args)
            if self.phase[node] >= STATE:
                self.phase[node] = max(self.phase[node], last)
            self.register[node] = self.home[node] if node in self.home else self.new((np.nan,))
            assert isinstance(node, (Operation, Lookup))
            op, given = two_steps(node, self.register) or (node.op, node.args)
            args = [self.register[arg] for arg in given]
            if isinstance(node, Lookup):
                args.insert(0, self.table(node))
            self.put(self.phase[node], op, self.register[node], *args)

    def table(self, node: Lookup) -> int:
        if node.table not in self.tables.index:
            raise ExpressionError(
                f"unknown table '{node.table}'" + suggestion(node.table, self.tables.index)
            )
        expected = self.tables.variables[node.table]
        if expected != len(node.args):
            raise ExpressionError(
                f"table '{node.table}' has {expected} variable{'s' * (expected > 1)}, found {len(node.args)}"
            )
        return self.tables.index[node.table]

    def put(self, phase: int, op: Op, *operands: int) -> None:
        self.phases[phase].append((op, *operands, *(0,) * (INSTRUCTION - 1 - len(operands))))
