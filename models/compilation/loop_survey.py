"""Numerical queries of a structure during compilation: ranks of constraint rows, massless bodies."""

from __future__ import annotations

import numpy as np

from kinetree.models.engine.compiled import Compiled
from kinetree.models.engine.instance import Instance
from kinetree.models.engine.status import EvaluationError
from kinetree.solvers import layout as L

# part of the largest inertia that is lent to a massless body: three digits are lost, and its effect falls a thousandfold per round
BORROWED_INERTIA = 1e-3


def survey(compiled: Compiled) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the ranks of the row groups in general position, and the relative magnitudes of the
    rows; None if the loops cannot be closed.
    """
    instance = Instance(compiled)
    ws, c = instance.ws, compiled
    try:
        instance.set_state(
            ws.val[c.start_q : c.start_q + len(c.coordinates)],
            ws.val[c.start_u : c.start_u + len(c.speeds)],
        )
        instance.call("assemble", 0, compiled.start_time)
    except EvaluationError:
        return None
    return ws.loop_rank.copy(), ws.loop_live.copy()


def find_ghosts(compiled: Compiled, pushed: bool = False) -> dict[int, tuple[float, float]]:
    """Return the massless bodies that make the tree elimination singular, with suitable proximal
    mass and inertia.

    With `pushed`, forces along all speeds are applied, which reveals bodies for which the proximal
    iteration does not converge.
    """
    instance = Instance(compiled)
    ws, c = instance.ws, compiled
    instance.set_state(
        ws.val[c.start_q : c.start_q + len(c.coordinates)],
        ws.val[c.start_u : c.start_u + len(c.speeds)],
    )
    try:
        instance.call("assemble", 0, compiled.start_time)
        instance.ws.added[:] = np.cos(np.arange(ws.u.size)) if pushed else 0.0
        instance.call("accelerations", 0, compiled.start_time)
    except EvaluationError as error:
        if error.status == L.Status.SINGULAR_JOINT:
            body, row = ws.body.reshape(-1, L.BODY), ws.row.reshape(-1, L.ROW)
            masses = body[1:, L.B_MASS]
            turning = (
                body[1:, L.B_J]
                + body[1:, L.B_J + 3]
                + body[1:, L.B_J + 5]
                + masses * (row[1:, L.W_D : L.W_D + 3] ** 2).sum(axis=1)
            )
            if masses.max(initial=0.0) > 0.0 and turning.max(initial=0.0) > 0.0:
                return {
                    int(ws.head.item): (
                        BORROWED_INERTIA * float(masses.max()),
                        BORROWED_INERTIA * float(turning.max()),
                    )
                }
    return {}
