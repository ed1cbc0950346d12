"""Messages for evaluations with non-finite results: which quantity, why, and what to try, in one
sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from kinetree.models.engine.status import EvaluationError
from kinetree.solvers.layout import Status

if TYPE_CHECKING:
    from kinetree.models.engine.compiled import Compiled
    from kinetree.models.engine.instance import Instance

MADE_UP = ("start(", "given(", "preset(")  # what hosts may leave open
MAY_BE_INFINITE = ".effective_mass"  # of an actuator that nothing can move
OWN_LAW = ("outputs", "rates of states")  # quantities that laws give
ENORMOUS = 1e100  # squares of such states overflow


def finite(
    instance: Instance, t: float, what: str, values: np.ndarray, names: Sequence[str]
) -> np.ndarray:
    """Return the values if all are finite, else raise an error that names the cause."""
    if np.isfinite(values).all():
        return values
    flat = np.ravel(values)
    k = int(np.flatnonzero(~np.isfinite(flat))[0])
    which = f" of '{names[k * len(names) // flat.size]}'" if names else ""
    raise EvaluationError(
        f"{what}{which}: found {flat[k]}, expected a finite number; {cause(instance, t, what)}",
        Status.NOT_A_NUMBER,
    )


def cause(instance: Instance, t: float, what: str) -> str:
    """Return text that names the cause of a non-finite result, and what to try."""
    if what.startswith("slope"):
        return (
            "a law is infinitely steep there (the root of zero, an angle at its end): ask beside it"
        )
    c, ws = instance.compiled, instance.ws
    held = ((c.coordinates, ws.q), (c.speeds, ws.u), (c.states, ws.x))
    for name, value in (
        (name, value) for names, values in held for name, value in zip(names, values, strict=True)
    ):
        if not abs(value) < ENORMOUS:
            return f"'{name}' is {value:.3g} there: ask for a state nearer to the start"
    instance.entry("outputs")(0, t)  # all registers as they are there, whatever was asked for
    name = without_value(ws.val, c)
    if name or what.endswith(OWN_LAW):
        law = f"'{name}' has" if name else "its law has"
        return f"{law} no finite value there (a division by zero, the root or logarithm of what is negative, overflow): bound it, or ask elsewhere"
    return "masses, lengths or laws vanish or grow without bound there, or the position is singular: look at them, or ask beside it"


def without_value(values: np.ndarray, compiled: Compiled) -> str:
    """Return the name of the first non-finite value, forces before accelerations; empty if there is
    none.
    """
    names = [
        name
        for name, k in compiled.registers.items()
        if not name.startswith(MADE_UP) and not np.isfinite(values[k])
    ]
    return next((name for name in names if name.startswith("force(")), names[0] if names else "")
