"""DEC, the default engine: symmetric LᵀDL elimination of the redundant equations (1.38) of [Sh24],
leaves to root and back, O(N).

The recursion of [Sh24] (3.30)-(3.31) in ground axes about O_i: articulated inertia [J H; Hᵀ M]
(moment and force by angular and linear acceleration), one rank-one step per degree of freedom
(`dec_columns`), or one block step for a ball or a free joint, which leaves exact zeros behind
(`dec_blocks`). The bias is carried as the Newton-Euler moment N and force F at u̇ = 0. Rows keep
the inertia before the elimination, so that reactions follow as in R_i = M*_i w_i - F*_i.
"""

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.vectors import get3, get9, mv, put3, sub3
from kinetree.solvers.engine.dec_blocks import (
    accelerate_ball,
    accelerate_free,
    eliminate_ball,
    eliminate_free,
)
from kinetree.solvers.engine.dec_columns import (
    accelerate_columns,
    accelerate_rotations,
    eliminate_columns,
    eliminate_rotations,
)
from kinetree.solvers.engine.modal_bodies import (
    accelerate_face,
    accelerate_modes,
    eliminate_modes,
)
from kinetree.solvers.kernel import kernel


@kernel
def dec(model, ws):
    """Compute u̇ by DEC from the rows of `motion`, ws.wrench, ws.extra and ws.tau; overwrites
    W_J..W_DB and the second half of ws.col.
    """
    apply_loads(model, ws)
    status = eliminate_all(model, ws)
    if status == 0:
        accelerate_all(model, ws)
    return status


@kernel
def eliminate_all(model, ws):
    """Eliminate all joints from the leaves to the root; for a singular joint head.item becomes its
    body. Return the status.
    """
    for i in range(model.parent.size - 1, 0, -1):  # leaves -> root
        status = eliminate(model, ws, i)
        if status != 0:
            ws.head.item = i
            return status
    return 0


@kernel
def accelerate_all(model, ws):
    """Compute the accelerations of all joints from the root to the leaves (back substitution)."""
    for i in range(1, model.parent.size):
        accelerate(model, ws, i)


@kernel
def apply_loads(model, ws):
    """Subtract applied wrenches (ground axes) and the caller's additional loads (body axes) from
    the bias of all bodies.
    """
    if ws.head.wrench != 0.0:
        for i in range(1, model.parent.size):
            at = i * L.ROW
            put3(ws.row, at + L.W_F, sub3(get3(ws.row, at + L.W_F), get3(ws.wrench, 6 * i)))
            put3(ws.row, at + L.W_N, sub3(get3(ws.row, at + L.W_N), get3(ws.wrench, 6 * i + 3)))
    if ws.head.extra != 0.0:
        for i in range(1, model.parent.size):
            at = i * L.ROW
            R = get9(ws.row, at + L.W_R)
            put3(ws.row, at + L.W_F, sub3(get3(ws.row, at + L.W_F), mv(R, get3(ws.extra, 6 * i))))
            put3(
                ws.row, at + L.W_N, sub3(get3(ws.row, at + L.W_N), mv(R, get3(ws.extra, 6 * i + 3)))
            )


@kernel
def eliminate(model, ws, i):
    """Eliminate the speeds of joint i and add the remaining articulated inertia and bias to the
    parent body.
    """
    joint = model.joint[i]
    if joint == L.Joint.REVOLUTE:
        return eliminate_rotations(model, ws, i, 1)
    if joint == L.Joint.SPHERICAL:
        return eliminate_ball(model, ws, i)
    if joint == L.Joint.UNIVERSAL:
        return eliminate_rotations(model, ws, i, 2)
    if joint == L.Joint.FREE:
        return eliminate_free(model, ws, i)
    if joint == L.Joint.MODES:
        return eliminate_modes(model, ws, i)
    return eliminate_columns(model, ws, i)


@kernel
def accelerate(model, ws, i):
    """Compute u̇ of joint i and the increments of acceleration at O_i."""
    joint = model.joint[i]
    if joint == L.Joint.REVOLUTE:
        accelerate_rotations(model, ws, i, 1)
    elif joint == L.Joint.SPHERICAL:
        accelerate_ball(model, ws, i)
    elif joint == L.Joint.UNIVERSAL:
        accelerate_rotations(model, ws, i, 2)
    elif joint == L.Joint.FREE:
        accelerate_free(model, ws, i)
    elif joint == L.Joint.MODES:
        accelerate_modes(model, ws, i)
    elif joint == L.Joint.FACE:
        accelerate_face(model, ws, i)
    else:
        accelerate_columns(model, ws, i)
