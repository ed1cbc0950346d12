"""Queries about closed loops: degrees of freedom, cut joints, redundant rows, residuals, reactions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from kinetree.models.engine.compiled import Compiled
from kinetree.models.engine.flat_blocks import model_fields
from kinetree.models.engine.instance import Instance, Numbers
from kinetree.models.engine.status import EvaluationError
from kinetree.models.system.joint_reactions import joint_reactions
from kinetree.solvers import layout as L

if TYPE_CHECKING:
    from kinetree.models.description.schema import Description

CLOSED = 1e-9  # m or 1: residuals of loops that are closed
CHANGED = 1e-4  # m, rad and per second, or part of the value: change of a given start that is said
SHOWN_ROUNDING = 1e-12  # part of what was given: less is shown as zero
DIRECTIONS = ("x", "y", "z", "rotation x", "rotation y", "rotation z")
CLOSURE_ROWS = {
    L.Loop.WELD: DIRECTIONS,
    L.Loop.BALL: DIRECTIONS[:3],
    L.Loop.HINGE: (*DIRECTIONS[:3], "first tilt", "second tilt"),
    L.Loop.CARDAN: (*DIRECTIONS[:3], "twist"),
    L.Loop.COUPLING: ("coupling",),
}


class Closure:
    """The methods of System for closed loops; results are empty for trees."""

    compiled: Compiled
    description: Description
    n: int

    @property
    def _fast(self) -> Instance:
        raise NotImplementedError

    _assembled: tuple[np.ndarray, np.ndarray] | None = None

    def _closed(self, q: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return start values that satisfy the constraints."""
        if not self.compiled.loops:
            return q, u
        if self._assembled is None:
            self._assembled = self.assemble(self.compiled.start_time, q, u)
        return self._assembled[0].copy(), self._assembled[1].copy()

    @property
    def start_changes(self) -> dict[str, tuple[float, float]]:
        """Return the start values that loop closure has changed: given and resulting value by
        coordinate or speed.
        """
        if not self.compiled.loops:
            return {}
        c, val, fields = (
            self.compiled,
            self._fast.ws.val,
            model_fields(self.compiled.ints, self.compiled.floats),
        )
        q, u = self.start()  # type: ignore[attr-defined]
        held_q, held_u = (fields.u_held & bit for bit in (1, 2))
        given_q = {int(k): bool(held_q[j]) for j, k in enumerate(fields.u_q) if k >= 0}
        for first in c.quaternions:
            j = next(
                int(fields.u_at[i])
                for i in range(1, fields.u_at.size - 1)
                if fields.q_at[i] <= first < fields.q_at[i + 1]
            )
            given_q |= dict.fromkeys(range(first, first + 4), bool(held_q[j]))
        pairs = [
            (name, val[c.start_q + k], q[k])
            for k, name in enumerate(c.coordinates)
            if given_q.get(k)
        ]
        pairs += [(name, val[c.start_u + j], u[j]) for j, name in enumerate(c.speeds) if held_u[j]]
        changed = (
            (name, float(a), float(b))
            for name, a, b in pairs
            if abs(b - a) > CHANGED * max(1.0, abs(a))
        )
        return {name: (a, b if abs(b) > SHOWN_ROUNDING * abs(a) else 0.0) for name, a, b in changed}

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return warnings about differences between the description and its run."""
        said = []
        for name, (a, b) in self.start_changes.items():
            objecting = self._objecting(name, a)
            said.append(
                f"the loops do not allow the start of '{name}': {a:g} became {b:g}{f' ({objecting})' if objecting else ''}"
            )
        return (*said, *self.inputs_as_they_are)

    def _objecting(self, name: str, given: float) -> str:
        """Return the constraint that a given start value would violate most."""
        q, u = self.start()  # type: ignore[attr-defined]
        t, place = self.compiled.start_time, name in self.compiled.coordinates
        (q if place else u)[
            (self.compiled.coordinates if place else self.compiled.speeds).index(name)
        ] = given
        try:
            found = (
                {key: each[0] for key, each in self.constraint_residuals(t, q, u).items()}
                if place
                else self.constraint_rates(t, q, u)
            )
        except EvaluationError:
            return ""
        worst = max(found, key=lambda key: found[key], default="")
        if not worst or not found[worst] > CLOSED:
            return ""
        return (
            f"'{worst}' would be open by {found[worst]:.3g}"
            if place
            else f"'{worst}' would open at {found[worst]:.3g} per second"
        )

    @property
    def inputs_as_they_are(self) -> list[str]:
        """Return warnings about inputs in couplings that have no derivatives."""
        jumps = dict.fromkeys(self.compiled.followed, " where it jumps the mechanism jumps,")
        wrong = "hosts that give no derivatives of inputs move it wrongly; `follow` tells its rate or filters it"
        return [
            f"a coupling takes the input '{name}' as it is:{jumps.get(name, '')} {wrong}"
            for name in self.compiled.sloped
        ]

    def assemble(self, t: float, q: Numbers, u: Numbers) -> tuple[np.ndarray, np.ndarray]:
        """Return coordinates and speeds that satisfy the constraints, keeping given values if
        possible.
        """
        try:
            return self._moved("assemble", t, q, u)
        except EvaluationError as error:
            if error.status == L.Status.INCONSISTENT:
                self._blame_speeds(t, error)
            raise

    def _blame_speeds(self, t: float, error: EvaluationError) -> None:
        """Raise an error that explains why loops close in position but not in velocity."""
        self._fast.call("constraints", 0, t)
        if float(np.abs(self._fast.ws.loop_r).max()) > CLOSED:
            return
        which = str(error).split(" stays open")[0]
        said = f"{which} closes at the start, but no speeds keep it closed: given motions ask for more than it can follow"
        raise EvaluationError(said, L.Status.INCONSISTENT) from None

    def project(self, t: float, q: Numbers, u: Numbers) -> tuple[np.ndarray, np.ndarray]:
        """Return coordinates and speeds projected onto the constraints by the minimum-norm
        correction in the mass metric.
        """
        return self._moved("project", t, q, u)

    def _moved(self, entry: str, t: float, q: Numbers, u: Numbers) -> tuple[np.ndarray, np.ndarray]:
        self._fast.set_state(q, u)
        if self.compiled.loops:
            self._fast.call(entry, 0, t)
        return self._fast.ws.q.copy(), self._fast.ws.u.copy()

    @property
    def cut_joints(self) -> tuple[str, ...]:
        """Return the joints outside the spanning tree."""
        return self.compiled.topology.cuts

    @property
    def freedoms(self) -> int:
        """Return the number of degrees of freedom: speeds minus independent constraint rows."""
        return self.n - sum(self._ranks())

    @property
    def position_freedoms(self) -> int:
        """Return the degrees of freedom of the positions: more than `freedoms` if blades or rolling
        bodies restrict speeds only.
        """
        levels = model_fields(self.compiled.ints, self.compiled.floats).l_level
        return self.n - sum(
            rank for rank, level in zip(self._ranks(), levels, strict=True) if level == L.POSITIONS
        )

    def constraint_forces(
        self,
        t: float,
        q: Numbers,
        u: Numbers,
        inputs: Mapping[str, float] | None = None,
        loads=None,
    ) -> np.ndarray:
        """Return the generalised constraint forces Jᵀλ of loops and couplings, contacts open."""
        self._fast.set_state(q, u, inputs, loads)
        self._fast.call("accelerations", 0, t)
        forces = self._fast.finite(t, "constraint forces", self._fast.ws.loop_lam.copy())
        rows = []
        for column in (np.zeros(self.n), *np.eye(self.n)):  # residuals of speeds are linear in them
            self._fast.set_state(q, column, inputs)
            self._fast.call("constraints", 1, t)
            rows.append(self._fast.ws.loop_r.copy())
        return (np.array(rows[1:]) - rows[0]) @ forces

    def _ranks(self) -> list[int]:
        return [int(rank) for rank in model_fields(self.compiled.ints, self.compiled.floats).l_rank]

    @property
    def redundant(self) -> tuple[str, ...]:
        """Return constraint rows that follow from the others at the start, as 'joint: direction' in
        ground axes.
        """
        if not self.compiled.loops:
            return ()
        q, u = self.start()  # type: ignore[attr-defined]
        self._fast.set_state(q, u)
        self._fast.call("accelerations", 0, self.compiled.start_time)
        ws, fields = self._fast.ws, model_fields(self.compiled.ints, self.compiled.floats)
        names = []
        for k, loop in enumerate(self.compiled.loops):
            first = fields.l_row[k]
            kept = {
                int(fields.l_part[first + int(row)])
                for row in ws.loop_pivot[first : first + int(ws.loop_found[k])]
            }
            rows = CLOSURE_ROWS[L.Loop(int(fields.l_kind[k]))]
            names += [f"{loop}: {row}" for r, row in enumerate(rows) if r not in kept]
        return tuple(names)

    def constraint_residuals(
        self,
        t: float,
        q: Numbers,
        u: Numbers | None = None,
        inputs: Mapping[str, float] | None = None,
        states: Mapping[str, float] | None = None,
    ) -> dict[str, tuple[float, float]]:
        """Return the largest position and velocity residual of every cut joint and coupling;
        couplings may depend on inputs and first-order states.
        """
        self._fast.set_state(q, u, inputs)
        for name, value in (states or {}).items():
            self._fast.ws.x[self.compiled.states.index(name)] = value
        worst = []
        for level in range(2):
            self._fast.call("constraints", level, t)
            worst.append(self._fast.ws.loop_open.tolist())
        self._fast.finite(t, "residuals of constraints", np.array(worst).T, self.compiled.loops)
        return {name: (worst[0][k], worst[1][k]) for k, name in enumerate(self.compiled.loops)}

    def constraint_residual(
        self,
        t: float,
        q: Numbers,
        u: Numbers | None = None,
        inputs: Mapping[str, float] | None = None,
        states: Mapping[str, float] | None = None,
    ) -> float:
        """Return the largest violation of the constraints: of positions, and of velocities too when
        `u` is given.
        """
        found = self.constraint_residuals(t, q, u, inputs, states).values()
        return max((max(each) if u is not None else each[0] for each in found), default=0.0)

    def constraint_rates(
        self,
        t: float,
        q: Numbers,
        u: Numbers,
        inputs: Mapping[str, float] | None = None,
        states: Mapping[str, float] | None = None,
    ) -> dict[str, float]:
        """Return the rate [1/s, m or rad] at which speeds violate each cut joint and coupling."""
        return {
            name: each[1]
            for name, each in self.constraint_residuals(t, q, u, inputs, states).items()
        }

    def joint_reactions(
        self,
        t: float,
        q: Numbers,
        u: Numbers,
        loads=None,
        inputs: Mapping[str, float] | None = None,
    ) -> dict[str, np.ndarray]:
        """Return the reaction of every joint, cut or not, on its child: force and moment about the
        origin of the child's frame, in the child's axes; contacts count as open.
        """
        self._fast.set_state(q, u, inputs, loads)
        self._fast.call("outputs", 0, t)
        found = self.reactions_found()
        self._fast.finite(t, "reactions", np.array(list(found.values())), tuple(found))
        return found

    def reactions_found(self) -> dict[str, np.ndarray]:
        """Return the reactions from the last evaluation of all outputs."""
        return joint_reactions(self._fast, self.description.joints)
