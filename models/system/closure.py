"""What a compiled mechanism says about its closed loops: freedoms, cut joints, redundant rows, residuals, reactions of all joints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from kinetree.models.compilation.blocks import model_fields
from kinetree.models.compilation.compiled import Compiled
from kinetree.models.run.instance import Instance, Numbers
from kinetree.models.run.status import EvaluationError
from kinetree.models.system.joint_reactions import joint_reactions
from kinetree.solvers import layout as L

if TYPE_CHECKING:
    from kinetree.models.description.schema import Description

DIRECTIONS = ("x", "y", "z", "rotation x", "rotation y", "rotation z")


class Closure:
    """The part of System that concerns closed loops; on a tree everything here is empty."""

    compiled: Compiled
    description: Description
    n: int

    @property
    def _fast(self) -> Instance:
        raise NotImplementedError

    _assembled: tuple[np.ndarray, np.ndarray] | None = None

    def _closed(self, q: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Start values that agree with the constraints."""
        if not self.compiled.loops:
            return q, u
        if self._assembled is None:
            self._assembled = self.assemble(self.compiled.start_time, q, u)
        return self._assembled[0].copy(), self._assembled[1].copy()

    def assemble(self, t: float, q: Numbers, u: Numbers) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates and speeds that close the loops, from guesses; values that the description gives are kept if possible."""
        return self._moved("assemble", t, q, u)

    def project(self, t: float, q: Numbers, u: Numbers) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates and speeds on the constraints, with the least change in the metric of the masses."""
        return self._moved("project", t, q, u)

    def _moved(self, entry: str, t: float, q: Numbers, u: Numbers) -> tuple[np.ndarray, np.ndarray]:
        self._fast.set_state(q, u)
        if self.compiled.loops:
            self._fast.call(entry, 0, t)
        return self._fast.ws.q.copy(), self._fast.ws.u.copy()

    @property
    def cut_joints(self) -> tuple[str, ...]:
        """Joints outside the tree."""
        return self.compiled.topology.cuts

    @property
    def freedoms(self) -> int:
        """Degrees of freedom: speeds minus independent constraint rows."""
        return self.n - sum(self._ranks())

    def _ranks(self) -> list[int]:
        return [int(rank) for rank in model_fields(self.compiled.ints, self.compiled.floats).l_rank]

    @property
    def redundant(self) -> tuple[str, ...]:
        """Constraint rows that follow from the others at the start, as 'joint: direction' in ground axes."""
        if not self.compiled.loops:
            return ()
        q, u = self.start()  # type: ignore[attr-defined]
        self._fast.set_state(q, u)
        self._fast.call("accelerations", 0, self.compiled.start_time)
        ws, fields = self._fast.ws, model_fields(self.compiled.ints, self.compiled.floats)
        names = []
        for k, loop in enumerate(self.compiled.loops):
            first = fields.l_row[k]
            kept = {int(fields.l_part[first + int(row)]) for row in ws.loop_pivot[first : first + int(ws.loop_found[k])]}
            rows = DIRECTIONS if fields.l_kind[k] == L.Loop.WELD else ("coupling",)
            names += [f"{loop}: {row}" for r, row in enumerate(rows) if r not in kept]
        return tuple(names)

    def constraint_residuals(self, t: float, q: Numbers, u: Numbers | None = None) -> dict[str, tuple[float, float]]:
        """Largest position and velocity residual of every cut joint and coupling."""
        self._fast.set_state(q, u)
        fields = model_fields(self.compiled.ints, self.compiled.floats)
        worst = []
        for level in range(2):
            self._fast.call("constraints", level, t)
            worst.append([float(np.max(np.abs(self._fast.ws.loop_r[a:b]))) for a, b in zip(fields.l_row[:-1], fields.l_row[1:])])
        return {name: (worst[0][k], worst[1][k]) for k, name in enumerate(self.compiled.loops)}

    def constraint_residual(self, t: float, q: Numbers, u: Numbers | None = None) -> float:
        """Largest violation of the constraints: of positions, and of velocities too when `u` is given."""
        found = self.constraint_residuals(t, q, u).values()
        return max((max(each) if u is not None else each[0] for each in found), default=0.0)

    def joint_reactions(self, t: float, q: Numbers, u: Numbers, loads=None, inputs: Mapping[str, float] | None = None) -> dict[str, np.ndarray]:
        """Reaction of every joint, cut or not, on its child: force and moment about the origin of the child's frame, in the child's axes."""
        self._fast.set_state(q, u, inputs, loads)
        self._fast.call("outputs", 0, t)
        return self.reactions_found()

    def reactions_found(self) -> dict[str, np.ndarray]:
        """The reactions that the last evaluation of all outputs left."""
        return joint_reactions(self._fast, self.description.joints)


def survey(compiled: Compiled) -> tuple[np.ndarray, np.ndarray] | None:
    """Ranks of the groups of rows in general position, and the shares of their scale that the rows have; None when the guesses do not close."""
    instance = Instance(compiled)
    ws, c = instance.ws, compiled
    try:
        instance.set_state(ws.val[c.start_q : c.start_q + len(c.coordinates)], ws.val[c.start_u : c.start_u + len(c.speeds)])
        instance.call("assemble", 0, compiled.start_time)
    except EvaluationError:
        return None
    return ws.loop_rank.copy(), ws.loop_live.copy()
