"""The matrices in the equations of a tree, as [IPS16] and [Sh24] write them, for every body.

G_i and ρ_i place the joint, A_i and Ȧ_i are its tangent columns and their rates, M_i is the inertia
about O_i, all in body axes; Q = BᵀF are the generalised forces of all applied loads, gravity
included.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

from kinetree.models.trace.kernel_recording import Recording
from kinetree.models.trace.live_nodes import alive
from kinetree.models.trace.operations import VALUE
from kinetree.models.trace.polynomial import shortened
from kinetree.models.trace.tape import Tape
from kinetree.solvers import layout as L


class Matrix(NamedTuple):
    """A matrix among the results: its symbol, the body it belongs to, its shape."""

    symbol: str
    body: str
    rows: int
    columns: int


class Points(dict):
    """Rational points on the unit circle that replace angles, the same one for equal angles."""

    def __init__(self) -> None:
        super().__init__(sin=lambda a: 2 * a / (1 + a * a), cos=lambda a: (1 - a * a) / (1 + a * a))


def vanishes(tape: Tape, node: int) -> bool:
    """Return whether a node is identically zero, tested in exact arithmetic; False if it contains
    roots.
    """
    known: dict[int, Any] = {}
    functions, number = VALUE | Points(), 0
    for i in alive(tape, [node]):
        kind, *arguments = tape.nodes[i]
        if kind == "const":
            known[i] = Fraction(arguments[0])
        elif kind == "symbol":
            number += 1
            known[i] = Fraction(7 * number * number + 3, 5 * number + 11)
        elif kind in ("+", "-", "*", "/", "neg", "sin", "cos"):
            known[i] = functions[kind](*[known[each] for each in arguments])
        else:
            return False
    return known[node] == 0


def matrices(recording: Recording) -> tuple[list[int], list[str], list[Matrix]]:
    """Return the nodes of all entries row by row, their names, and the matrices."""
    recording.entry("literal_forms", "literal_state", 0, recording.t)
    found = list(every(recording))
    tape, nodes, labels = recording.tape, [], []
    for matrix, values in found:
        own = recording.nodes(values)
        nodes += [
            tape.constant(0.0) if vanishes(tape, node) else shortened(tape, node) for node in own
        ]
        head = f"{matrix.symbol}({matrix.body})" if matrix.body else matrix.symbol
        labels += [
            f"{head}[{r},{c}]" if matrix.columns > 1 else f"{head}[{r}]"
            for r in range(1, matrix.rows + 1)
            for c in range(1, matrix.columns + 1)
        ]
    return nodes, labels, [matrix for matrix, _ in found]


def every(recording: Recording) -> Iterator[tuple[Matrix, list]]:
    """Yield all matrices with their entries row by row."""
    ws, model, c = recording.ws, recording.model, recording.compiled
    for i, body in enumerate((*c.bodies, *c.twins), 1):
        first, last = model.u_at[i], model.u_at[i + 1]
        yield Matrix("G", body, 3, 3), ws.G[9 * i : 9 * i + 9]
        yield Matrix("rho", body, 3, 1), ws.rho[3 * i : 3 * i + 3]
        yield Matrix("M", body, 6, 6), inertia(ws.body[i * L.BODY : (i + 1) * L.BODY])
        for symbol, field in (("A", ws.A), ("Adot", ws.Adot)) if last > first else ():
            yield (
                Matrix(symbol, body, 6, last - first),
                [field[6 * k + row] for row in range(6) for k in range(first, last)],
            )
    yield Matrix("Q", "", len(ws.u), 1), generalised(recording)


def inertia(body: Any) -> list:
    """Return the 6 x 6 inertia [m E, -h̃; h̃, J] from mass, first moment and inertia about O_i."""
    m, (x, y, z), J = body[L.B_MASS], body[L.B_H : L.B_H + 3], body[L.B_J : L.B_J + 6]
    h = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]
    tensor = [[J[0], J[1], J[2]], [J[1], J[3], J[4]], [J[2], J[4], J[5]]]
    rows = [
        [*(m if r == k else 0.0 for k in range(3)), *(-each for each in h[r])] for r in range(3)
    ]
    rows += [[*h[r], *tensor[r]] for r in range(3)]
    return [each for row in rows for each in row]


def generalised(recording: Recording) -> list:
    """Return the generalised forces BᵀF, accumulated body by body without vanishing contributions."""
    ws, model = recording.ws, recording.model
    along, ws.tau[:] = list(ws.tau), [0.0] * len(ws.tau)
    recording.run_plainly("literal.body_axes_kinematics", "active_forces")
    total = list(along)
    for i in range(1, len(model.parent)):
        carried, k = ws.F[6 * i : 6 * i + 6], i
        while k > 0:
            for j in range(model.u_at[k], model.u_at[k + 1]):
                share = sum((ws.A[6 * j + r] * carried[r] for r in range(6)), 0.0)
                if not vanishes(recording.tape, recording.node(share)):
                    total[j] = total[j] + share
            carried, k = back(ws, k, carried), model.parent[k]
    ws.tau[:] = along
    return total


def back(ws: Any, i: int, wrench: Any) -> list:
    """Return a wrench on body i about O_i, referred to its parent's axes and origin: C_iᵀ F."""
    G, (x, y, z) = ws.G[9 * i : 9 * i + 9], ws.rho[3 * i : 3 * i + 3]
    force, moment = (
        [sum((G[3 * r + k] * part[r] for r in range(3)), 0.0) for k in range(3)]
        for part in (wrench[:3], wrench[3:])
    )
    arm = [y * force[2] - z * force[1], z * force[0] - x * force[2], x * force[1] - y * force[0]]
    return [*force, *(a + b for a, b in zip(moment, arm, strict=True))]
