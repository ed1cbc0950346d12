"""Execution of kernels on symbols: one compiled structure with symbolic arguments and numeric
constants.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from kinetree.models.engine.flat_blocks import model_fields
from kinetree.models.engine.instance import Instance
from kinetree.models.engine.status import EvaluationError
from kinetree.models.trace.symbol import number, wrap
from kinetree.models.trace.symbolic_kernels import KERNELS
from kinetree.models.trace.tape import Tape
from kinetree.solvers import layout as L
from kinetree.solvers.model_records import HEAD, HEADER, MODAL

MODE_AMPLITUDE = 1e-3  # of other departures: amplitudes of modes are far below the size of the body
GROUPS = ("q", "u", "x", "inputs", "parameters")


class Field(list):
    """A symbolic field of a block with the array interface that kernels use."""

    @property
    def size(self) -> int:
        return len(self)

    def __getitem__(self, index: Any) -> Any:
        found = list.__getitem__(self, index)
        return Field(found) if found.__class__ is list else found


class Recording:
    """A tape with the symbolic arguments of a mechanism, and views of its memory blocks for kernels
    run as plain Python.
    """

    def __init__(
        self,
        instance: Instance,
        witness: tuple[np.ndarray, np.ndarray],
        parameters: str | Collection[str] = "numbers",
        momenta: bool = False,
        held: Sequence[int] = (),
    ):
        self.tape = Tape()
        self.compiled = instance.compiled
        self.instance = instance
        self.t = wrap(self.tape, self.tape.symbol("t", 0, 0.37))
        c = self.compiled
        fields = vars(model_fields(instance.ints, c.floats))
        self.model = SimpleNamespace(
            header=HEADER.of(instance.ints[: HEADER.size].tolist()),
            **{name: Field(field.tolist()) for name, field in fields.items()},
        )
        self.ws = SimpleNamespace(
            **{name: Field(field[:].tolist()) for name, field in vars(instance.ws).items()}
        )
        self.ws.head = HEAD.of(self.ws.head)
        q, u = witness
        self.ws.q[:] = self.symbols("q", q)
        self.ws.p[:] = self.symbols("u", u) if momenta else self.ws.p
        self.ws.u[:] = self.ws.u if momenta else self.symbols("u", u)
        val = instance.ws.val
        self.ws.x[:] = self.symbols("x", val[c.start_x : c.start_x + len(c.states)] + 0.01)
        for k, name in enumerate(c.inputs):
            start = val[c.registers[name]]
            self.ws.val[c.registers[name]] = self.symbol(
                "inputs", k, start + 0.1 * abs(start) + 0.05
            )
        for k, register in enumerate(held):
            self.ws.val[register] = self.symbol("held", k, val[register])
        symbolic = (
            c.parameters
            if parameters == "symbols"
            else ()
            if parameters == "numbers"
            else parameters
        )
        for k, name in enumerate(c.parameters):
            if name in symbolic:
                self.ws.val[c.registers[name]] = self.symbol(
                    "parameters", k, val[c.registers[name]]
                )
        if symbolic or held:
            self.prepare()
        self.ws.head.sloped = 0.0
        self.wanted: set[str] = set()

    def symbol(self, group: str, k: int, value: float) -> Any:
        return wrap(self.tape, self.tape.symbol(group, k, float(value)))

    def symbols(self, group: str, values: Sequence[float] | np.ndarray) -> list[Any]:
        return [self.symbol(group, k, value) for k, value in enumerate(values)]

    def prepare(self) -> None:
        """Compute derived constants of symbolic parameters, without special branches for particular
        values.
        """
        with self.tape.unrecorded():
            self.run("engine.derived_constants", "prepare")

    def run(self, module: str, name: str, *arguments: Any) -> None:
        """Run a kernel on the symbolic blocks; a status other than success is an error."""
        status = KERNELS.kernel(module, name)(self.model, self.ws, *arguments)
        self.check(name, status)

    def run_plainly(self, module: str, name: str) -> None:
        """Run a kernel that returns no status on the symbolic blocks."""
        KERNELS.kernel(module, name)(self.model, self.ws)

    def entry(self, module: str, name: str, option: int = 0, t: Any = 0.0) -> None:
        """Run an entry point on the symbolic blocks."""
        self.check(
            name,
            KERNELS.kernel(f"entries.{module}", name)(self.model, self.model, self.ws, option, t),
        )

    def check(self, name: str, status: Any) -> None:
        if status:
            found = L.Status(int(status))
            raise EvaluationError(
                f"'{name}' cannot be traced in general position: {found.name.lower().replace('_', ' ')}",
                found,
            )

    def node(self, value: Any) -> int:
        """Return the node of a value that a kernel has left."""
        return number(self.tape, value)

    def value(self, node: int) -> Any:
        """Return a node as a symbol or a plain number."""
        return wrap(self.tape, node)

    def nodes(self, values: Sequence[Any]) -> list[int]:
        return [number(self.tape, each) for each in values]

    # -- quantities ---------------------------------------------------------------------------------------------------------------------
    def accelerations(self, form: str) -> list[int]:
        """Return the nodes of u̇ by a Lagrangian form."""
        if form == "DEC":
            self.entry("evaluate", "accelerations", 0, self.t)
        else:
            self.entry("literal_forms", "literal_state", 0, self.t)
            self.entry("literal_forms", form.lower().replace("-", "_"), 0, self.t)
        return self.nodes(self.ws.udot)

    def hamilton(self, form: str) -> list[int]:
        """Return the nodes of u and ṗ by a Hamiltonian form."""
        self.entry("literal_forms", "literal_places", 0, self.t)
        self.entry("literal_forms", form.lower().replace("-", "_"), 0, self.t)
        self.entry("literal_forms", "literal_rates", 0, self.t)
        return self.nodes([*self.ws.u, *self.ws.pdot])

    def mass_matrix(self) -> list[int]:
        """Return the nodes of the mass matrix row by row."""
        self.entry("literal_forms", "mass_matrix", 0, self.t)
        return self.nodes(self.ws.Mq)

    def momenta(self) -> list[int]:
        """Return the nodes of the momenta p = BᵀMv."""
        self.entry("literal_forms", "momenta", 0, self.t)
        return self.nodes(self.ws.p)

    def evaluate(self) -> None:
        """Evaluate accelerations and outputs symbolically by the default engine."""
        self.entry("evaluate", "outputs", 0, self.t)

    def coordinate_rates(self) -> list[int]:
        """Return the nodes of the coordinate rates q̇ for the speeds."""
        rates = Field([0.0] * len(self.ws.q))
        KERNELS.kernel("instance.derivatives", "coordinate_rates")(rates, self.model, self.ws)
        return self.nodes(rates)

    def power(self) -> int:
        """Return the node of the power of the loads, after the accelerations."""
        if len(self.model.forces) == 0:
            KERNELS.kernel("instance.derivatives", "velocities_if_given")(self.model, self.ws)
        return self.node(KERNELS.kernel("instance.balances", "load_power")(self.model, self.ws))

    def registers(self, wanted: Sequence[int]) -> list[int]:
        """Return the nodes of registers after `evaluate`."""
        return self.nodes([self.ws.val[k] for k in wanted])


def general_position(
    instance: Instance,
    q: np.ndarray,
    u: np.ndarray,
    project: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]] | None,
):
    """Return a state near the start without special angles, so that no expression simplifies by
    chance; closed loops are closed by `project`.
    """
    rng = np.random.default_rng(20)
    away = q + rng.uniform(0.1, 0.3, q.size) * (0.2 if project else 1.0)
    modal = model_fields(instance.ints, instance.compiled.floats).modal
    for frame in MODAL.rows(modal):
        modes = slice(frame.coordinate, frame.coordinate + frame.count)
        away[modes] = q[modes] + MODE_AMPLITUDE * (away[modes] - q[modes])
    for k in instance.compiled.quaternions:
        away[k : k + 4] /= np.linalg.norm(away[k : k + 4])
    speeds = u + rng.uniform(0.1, 0.5, u.size)
    if project is None:
        return away, speeds
    try:
        return project(away, speeds)
    except (EvaluationError, ValueError):
        return q, u
