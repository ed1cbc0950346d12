"""The ITR forms (variable-metric iteration) as straight-line code with a fixed number of
iterations, to count their operations after constant folding.

Their matrix H comes from the previous evaluation and is therefore an argument (`held`, its lower
triangle); the results are not functions of the state alone, so they are not printed. The number of
iterations depends on values: operations are counted for NEWTON_STEPS, as in the formulas (4.4),
(4.5).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

from kinetree.models.trace.kernel_recording import Field, Recording
from kinetree.models.trace.symbolic_kernels import KERNELS

NEWTON_STEPS = 2
SWEEPS = ("ITR-G",)  # whose products with the mass matrix are sweeps over the tree


class View:
    """A slice of a field; writing to it changes the field."""

    def __init__(self, field: Vectors, first: int, size: int):
        self.field, self.first, self.size = field, first, size

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, k: int) -> Any:
        return list.__getitem__(self.field, self.first + k)

    def __setitem__(self, k: int, value: Any) -> None:
        list.__setitem__(self.field, self.first + k, value)


class Vectors(Field):
    """A symbolic field whose slices are views, like those of an array."""

    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, slice):
            return list.__getitem__(self, index)
        first, end, _ = index.indices(len(self))
        return View(self, first, end - first)


def iterated(recording: Recording, form: str) -> Sequence[Any]:
    """Compute M⁻¹ b by NEWTON_STEPS iterations from a given H, with b = Q of the form; kinematics
    must have been evaluated.
    """
    model, ws, n = recording.model, recording.ws, len(recording.ws.u)
    for i in range(n):
        for j in range(i + 1):
            ws.Hq[i * n + j] = ws.Hq[j * n + i] = recording.symbol(
                "held", i * (i + 1) // 2 + j, float(i == j) + 0.1 / (1 + i + j)
            )
    ws.itr = Vectors([0.0] * len(ws.itr))
    for k in range(n):
        ws.itr[5 * n + k] = 1.0  # scales of the test for the end
    if form not in SWEEPS:
        KERNELS.kernel("literal.composite_bodies", "composite_bodies")(model, ws)
        KERNELS.kernel("literal.composite_bodies", "mass_rows")(model, ws)
    KERNELS.kernel(
        "literal.composite_bodies",
        "momentum_residual" if form.endswith("-H") else "generalized_forces",
    )(model, ws)
    ws.head.sweeps = float(form in SWEEPS)
    with recording.tape.unrecorded():  # whether to go on is not what is counted
        first_guess(model, ws)
        for _ in range(NEWTON_STEPS):
            KERNELS.kernel("literal.variable_metric", "step")(model, ws, ws.Q, inf)
    return list(ws.itr)[:n]


def first_guess(model: Any, ws: Any) -> None:
    """Compute x = Hb and its first change."""
    vector, multiply = (
        KERNELS.kernel("literal.variable_metric", "vector"),
        KERNELS.kernel("literal.variable_metric", "multiply_metric"),
    )
    multiply(vector(ws, 0), ws.Hq, ws.Q)
    KERNELS.kernel("literal.variable_metric", "residual")(
        vector(ws, 1), model, ws, ws.Q, vector(ws, 0)
    )
    multiply(vector(ws, 3), ws.Hq, vector(ws, 1))


def iterated_accelerations(recording: Recording, form: str) -> list[int]:
    """Return the nodes of u̇ by ITR-M or ITR-G."""
    recording.entry("literal_forms", "literal_state", 0, recording.t)
    return recording.nodes(iterated(recording, form))


def iterated_momenta(recording: Recording) -> list[int]:
    """Return the nodes of u and ṗ by ITR-H."""
    recording.entry("literal_forms", "literal_places", 0, recording.t)
    ws = recording.ws
    ws.u[:] = iterated(recording, "ITR-H")
    KERNELS.kernel("literal.newton_euler", "sweep_up")(ws.v, recording.model, ws, ws.u, ws.vh)
    KERNELS.kernel("literal.newton_euler", "carried_momenta")(recording.model, ws)
    recording.entry("literal_forms", "literal_rates", 0, recording.t)
    return recording.nodes([*ws.u, *ws.pdot])
