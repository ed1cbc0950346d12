"""How descriptions use a moving joint element: the declaration that each file of `moves` provides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kinetree.models.expressions.node_arithmetic import E
from kinetree.models.joints.elements import ElementForm

SPEED_UNITS = {"m": "m/s", "rad": "rad/s", "1": "1/s"}


@dataclass(frozen=True)
class Tangent:
    """Speed directions of an element whose speeds are not the time derivatives of its coordinates
    q: functions of q, with rotations in child axes.
    """

    names: tuple[str, ...]  # of the local coordinates whose rates are the speeds, as JOINT.name
    units: tuple[str, ...]  # of the speeds
    rates: Callable[[Sequence[E], Sequence[E]], list[E]]  # q̇ from q and the speeds
    directions: Callable[[np.ndarray], np.ndarray]  # ∂q̇/∂u
    moved: Callable[
        [np.ndarray, np.ndarray], np.ndarray
    ]  # (q, step): q after the speeds `step` in unit time
    between: Callable[
        [np.ndarray, np.ndarray], np.ndarray
    ]  # (a, b): the step that leads from a to b
    transport: Callable[
        [np.ndarray], np.ndarray
    ]  # (u): ∂δ̇/∂δ of local coordinates δ about a position that moves with u


@dataclass(frozen=True)
class Move:
    """A moving joint element as descriptions use it; its kernels are those of the kind of this name
    in `solvers/elements`.
    """

    kind: str
    look: str  # what a scene draws: slide, turn, ball, free
    units: tuple[str, ...] = ()  # of its coordinates; none where a given function moves it
    locked: Callable[[ElementForm, Sequence[E]], list[ElementForm]] | None = (
        None  # elements that stand where its coordinates are held
    )
    tangent: Tangent | None = None  # none: its speeds are the derivatives of its coordinates

    @property
    def speed_units(self) -> tuple[str, ...]:
        return (
            tuple(SPEED_UNITS[unit] for unit in self.units)
            if self.tangent is None
            else self.tangent.units
        )
