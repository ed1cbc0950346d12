"""A compiled mechanism: evaluation of its equations of motion in any form, and simulation."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.models.beams.beam_reports import hinge_coordinates
from kinetree.models.beams.reduced_bodies import refuse_reduced
from kinetree.models.compilation.stage_structures import Structure
from kinetree.models.description.schema import Description
from kinetree.models.engine.compiled import Compiled
from kinetree.models.engine.instance import Instance, Numbers, shaped
from kinetree.models.engine.not_finite import MAY_BE_INFINITE
from kinetree.models.system.analyses import Analyses
from kinetree.models.system.contact_states import refuse_contacts
from kinetree.models.system.form_selection import Choice
from kinetree.models.system.forms import (
    GROUPS,
    HAMILTON,
    LAGRANGE,
    MASS,
    NO_GROUPS,
    entry_name,
    known,
)
from kinetree.models.system.loop_queries import Closure
from kinetree.models.system.tracing import Traced

if TYPE_CHECKING:
    from kinetree.models.analysis.acceleration_derivatives import Derivatives
    from kinetree.models.analysis.point_motion import PointMotion
    from kinetree.models.analysis.preparation_stages import Preparations
    from kinetree.models.result.result import Result
    from kinetree.models.run.simulation import Choose, Inputs


class Workspaces(threading.local):
    """The workspaces of evaluations, a separate set for every thread."""

    def __init__(self, compiled: Compiled):
        self.fast = Instance(compiled)
        self.running = Instance(compiled.running) if compiled.fewer else self.fast
        self.by_groups: dict[frozenset[str], Instance] = {NO_GROUPS: self.fast}


class System(Analyses, Choice, Closure, Traced):
    """Equations of motion of a mechanism; arguments and results are numpy arrays in the order of
    `coordinates`, `speeds`, `bodies`.
    """

    def __init__(
        self, description: Description, compiled: Compiled, stages: Sequence[Structure] = ()
    ):
        self.description = description
        self.stages = tuple(stages)
        self.compiled = compiled
        self.name = description.name
        self.coordinates = compiled.coordinates
        self.speeds = compiled.speeds
        self.bodies = compiled.bodies
        self.parents = compiled.parents
        self.n = len(compiled.speeds)
        self._own = Workspaces(compiled)
        self._preparations: Preparations | None = None

    @property
    def own_coordinates(self) -> tuple[str, ...]:
        """Return the coordinates of the joints in the description, without those of beam hinges."""
        of_beams = hinge_coordinates(self.description)
        return tuple(name for name in self.coordinates if name not in of_beams)

    @property
    def preparation(self) -> Preparations:
        """Return the steps of `run.prepare`, compiled on first use."""
        if self._preparations is None:
            from kinetree.models.analysis.preparation_stages import Preparations

            self._preparations = Preparations(self)
        return self._preparations

    def __repr__(self) -> str:
        from kinetree.models.language.word_lists import counted, listed

        parts = [
            counted(self.freedoms, "degree of freedom", "degrees of freedom"),
            counted(len(self.bodies), "body", "bodies"),
            f"coordinates {listed(self.coordinates)}" if self.coordinates else "",
            counted(len(self.stages), "stage") if len(self.stages) > 1 else "",
            f"inputs {listed(self._inputs)}" if self._inputs else "",
            f"outputs {listed([*self.description.outputs])}" if self.description.outputs else "",
        ]
        return f"System({self.name!r}: {'; '.join(part for part in parts if part)})"

    @property
    def _inputs(self) -> tuple[str, ...]:
        """Return the inputs without those that only the engine writes."""
        from kinetree.models.compilation.element_states import held_inputs

        hidden = set(held_inputs(self.description))
        return tuple(name for name in self.compiled.inputs if name not in hidden)

    def _repr_html_(self) -> str:
        from kinetree.models.scene.notebook import system_html

        return system_html(self)

    def start(self) -> tuple[np.ndarray, np.ndarray]:
        """Return initial coordinates and speeds."""
        c, val = self.compiled, self._fast.ws.val
        q = val[c.start_q : c.start_q + len(c.coordinates)].copy()
        for k in c.quaternions:
            q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
        return self._closed(q, val[c.start_u : c.start_u + self.n].copy())

    @property
    def _fast(self) -> Instance:
        """Return the calling thread's workspace of the default engine."""
        return self._own.fast

    def _with(self, groups: frozenset[str]) -> Instance:
        """Return the calling thread's instance with the workspace arrays that a literal form needs."""
        refuse_reduced(self.description, "the forms of the literature")
        instances = self._own.by_groups
        if groups not in instances:
            instances[groups] = Instance(self.compiled, groups)
        return instances[groups]

    # -- Lagrangian variables -------------------------------------------------------------------------------------------------------------
    def accelerations(
        self,
        t: float,
        q: Numbers,
        u: Numbers,
        inputs: Mapping[str, float] | None = None,
        method: str = "auto",
        loads=None,
        tau: Numbers | None = None,
    ) -> np.ndarray:
        """Return u̇, the time derivatives of the speeds; contacts count as open.

        `loads` are additional wrenches (bodies, 6): force and moment at the body frame's origin in
        body axes; `tau` are additional forces along the speeds.
        """
        if loads is None and (method == "auto" or method == "DEC"):
            return self._own.running.solve(t, q, u, inputs, tau)
        instance = self._solve("accelerations", t, q, u, inputs, method, loads, tau)
        return instance.finite(t, "accelerations", instance.ws.udot.copy(), self.speeds)

    def accelerations_many(
        self,
        t: ArrayLike,
        q: ArrayLike,
        u: ArrayLike,
        inputs: Mapping[str, ArrayLike] | None = None,
        *,
        tau: ArrayLike | None = None,
        loads: ArrayLike | None = None,
        states: Mapping[str, ArrayLike] | None = None,
        outputs: Sequence[str] = (),
        threads: int | None = None,
    ) -> Any:
        """Return u̇ of many states, rows of `q` and `u`; all other arguments are one value for all
        or one per state.

        With names of `outputs`: u̇ and a dictionary of them. The states are divided between
        `threads` (default: as many as pay).
        """
        from kinetree.models.analysis.batch_evaluation import accelerations_many

        refuse_contacts(self, "accelerations of many states")
        return accelerations_many(self, t, q, u, inputs, tau, loads, states, outputs, threads)

    def evaluator(self) -> Callable[[float, np.ndarray, np.ndarray, np.ndarray], None]:
        """Return evaluate(t, q, u, udot): accelerations written into the caller's array, with
        inputs at their start values; for one thread.
        """
        instance = Instance(self.compiled.running)
        instance.set_state(*self.start())
        return instance.evaluator()

    def derivatives(
        self,
        t: float,
        q: Numbers,
        u: Numbers,
        inputs: Mapping[str, float] | None = None,
        tau: Numbers | None = None,
        loads=None,
    ) -> Derivatives:
        """Return the partial derivatives of u̇ by q, u, forces along u, first-order states and
        inputs.
        """
        from kinetree.models.analysis.acceleration_derivatives import derivatives

        refuse_contacts(self, "derivatives")
        return derivatives(self, t, q, u, inputs, tau, loads)

    def point(
        self,
        t: float,
        q: Numbers,
        u: Numbers,
        body: str,
        at: Sequence[float] = (0.0, 0.0, 0.0),
        inputs: Mapping[str, float] | None = None,
    ) -> PointMotion:
        """Return position, velocity, acceleration and Jacobian of a point of a body, given in body
        axes.
        """
        from kinetree.models.analysis.point_motion import point_motion

        self._solve("outputs", t, q, u, inputs, "DEC", None)
        found = point_motion(self, self._fast, body, at)
        for name, values in found._asdict().items():
            self._fast.finite(t, f"{name.replace('_', ' ')} of a point", values, (body,))
        return found

    def reactions(
        self,
        t: float,
        q: Numbers,
        u: Numbers,
        method: str = "auto",
        loads=None,
        inputs: Mapping[str, float] | None = None,
    ) -> np.ndarray:
        """Return joint reactions (bodies, 6): force and moment at the origin O_i of body i, in its
        axes.
        """
        instance = self._solve("outputs", t, q, u, inputs, method, loads)
        return instance.finite(
            t,
            "reactions",
            instance.ws.reaction[6:].reshape(-1, 6)[: len(self.bodies)].copy(),
            self.bodies,
        )

    def _solve(
        self,
        fast: str,
        t: float,
        q: Numbers,
        u: Numbers,
        inputs: Mapping[str, float] | None,
        method: str,
        loads,
        tau: Numbers | None = None,
    ):
        """Evaluate a state with the engine or with a literal form, and return the instance that was
        used.
        """
        method = known(method, LAGRANGE, "DEC")
        if self.compiled.loops and method != "DEC":
            raise ValueError(
                f"method '{method}' is for trees, '{self.name}' has closed loops: use auto or DEC"
            )
        instance = self._fast if method == "DEC" else self._with(GROUPS[method])
        instance.set_state(q, u, inputs, loads, tau)
        if fast != "outputs":
            instance.refuse_told(inputs)
        if method == "DEC":
            instance.outputs(t) if fast == "outputs" else instance.call(fast, 0, t)
            return instance
        instance.call("literal_state", 0, t)
        instance.call(entry_name(method), 0, t)
        if fast == "outputs":
            instance.call("literal_reactions", int(LAGRANGE[method]), t)
        return instance

    def mass_matrix(self, t: float, q: Numbers) -> np.ndarray:
        """Return the mass matrix (n, n) of Lagrange's equations of the second kind, M = BᵀMB."""
        if self.description.reduced:
            return self._mass_by_responses(t, q)
        instance = self._with(MASS)
        instance.set_state(q, None)
        instance.call("mass_matrix", 0, t)
        return instance.finite(
            t, "mass matrix", instance.ws.Mq.reshape(self.n, self.n).copy(), self.speeds
        )

    def _mass_by_responses(self, t: float, q: Numbers) -> np.ndarray:
        """Return the mass matrix from the accelerations under unit forces, for bodies that the
        literal forms do not support.
        """
        still = np.zeros(self.n)
        rest = self.accelerations(t, q, still)
        answers = [self.accelerations(t, q, still, tau=unit) - rest for unit in np.eye(self.n)]
        found = np.linalg.inv(np.array(answers))
        return 0.5 * (found + found.T)

    def inverse_dynamics(
        self,
        t: float,
        q: Numbers,
        u: Numbers,
        udot: Numbers,
        inputs: Mapping[str, float] | None = None,
        loads=None,
    ) -> np.ndarray:
        """Return the generalised forces needed for the rates u̇ in addition to the applied ones."""
        instance = self._with(MASS)
        instance.set_state(q, u, inputs, loads)
        instance.ws.udot[:] = shaped(udot, self.n, "udot")
        instance.call("inverse_dynamics", 0, t)
        return instance.finite(t, "generalised forces", instance.ws.Q.copy(), self.speeds)

    def energy(
        self, t: float, q: Numbers, u: Numbers, inputs: Mapping[str, float] | None = None
    ) -> tuple[float, float]:
        """Return kinetic and potential energy [J]; the potential of gravity is zero at the ground's
        origin.
        """
        instance = self._solve("outputs", t, q, u, inputs, "DEC", None)
        head = instance.ws.head
        kinetic, potential = instance.finite(
            t, "energy", np.array([head.kinetic, head.potential]), ("kinetic", "potential")
        )
        return float(kinetic), float(potential)

    def outputs(
        self, t: float, q: Numbers, u: Numbers, inputs: Mapping[str, float] | None = None
    ) -> dict[str, float]:
        """Return all outputs of one state by name."""
        instance, columns = (
            self._solve("outputs", t, q, u, inputs, "DEC", None),
            self.compiled.outputs,
        )
        values = instance.ws.val[[column.register for column in columns]]
        if not np.isfinite(values).all():
            told = [
                k for k, column in enumerate(columns) if not column.name.endswith(MAY_BE_INFINITE)
            ]
            instance.finite(t, "outputs", values[told], [columns[k].name for k in told])
        return {column.name: value for column, value in zip(columns, values.tolist(), strict=True)}

    # -- Hamiltonian variables ------------------------------------------------------------------------------------------------------------
    def momenta(self, t: float, q: Numbers, u: Numbers) -> np.ndarray:
        """Return generalised momenta (Poisson impulses) p = BᵀMv."""
        instance = self._with(MASS)
        instance.set_state(q, u)
        instance.call("momenta", 0, t)
        return instance.finite(t, "momenta", instance.ws.p.copy(), self.speeds)

    def hamilton(
        self,
        t: float,
        q: Numbers,
        p: Numbers,
        method: str = "DEC-H",
        loads=None,
        inputs: Mapping[str, float] | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return (u, ṗ) of the state (q, p). With closed loops p are momenta of speeds that keep
        them closed, and ṗ includes the constraint forces.
        """
        method = known(method, HAMILTON, "DEC-H")
        instance = self._with(GROUPS[method])
        instance.set_state(q, None, inputs, loads)
        instance.ws.p[:] = shaped(p, self.n, "p")
        instance.call("literal_places", 0, t)
        instance.call(entry_name(method), 0, t)
        instance.call("literal_rates", 0, t)
        u, held = instance.ws.u.copy(), self.compiled.loops
        instance.finite(t, "speeds", u, self.speeds)
        pdot = instance.finite(t, "rates of momenta", instance.ws.pdot, self.speeds)
        return u, pdot + (
            self.constraint_forces(t, q, instance.ws.u, inputs, loads) if held else 0.0
        )

    # -- motion ---------------------------------------------------------------------------------------------------------------------------
    def simulate(
        self,
        stop_time: float | None = None,
        method: str = "auto",
        integrator: str = "auto",
        inputs: Inputs | None = None,
        output_step: float | None = None,
        tolerance: float | None = None,
        *,
        step: float | None = None,
        start_time: float | None = None,
        largest_step: float | None = None,
        step_limit: float | None = None,
        itr_tolerance: float | None = None,
        progress: Callable[[float], None] | None = None,
        stream: str | Path | None = None,
        choice: Choose | None = None,
    ) -> Result:
        """Return the result of a run from the start; missing settings come from [run].

        `inputs` are constants, functions of time or a Signal. Functions of (t, measurements), one
        per input or one that returns a dictionary of all, are called at every output with the
        columns of that row by name; their values are held until the next output. `itr_tolerance` is
        the relative residual at which the ITR forms (variable-metric iteration) stop; default:
        rounding level. `stream` is a Parquet file that receives the rows during the run, which
        keeps memory constant. `choice` may switch to specialised code during the run
        (`models.specialised.engine_choice.Choice().consider`).
        """
        from kinetree.models.run.simulation import Options, simulate

        known(method, LAGRANGE | HAMILTON, "DEC")
        options = Options.of(
            self,
            stop_time,
            start_time,
            output_step,
            integrator,
            method,
            tolerance,
            step,
            largest_step,
            step_limit,
            itr_tolerance,
        )
        path = None if stream is None else Path(stream)
        return simulate(self, options, inputs or {}, progress, stream=path, choice=choice)
