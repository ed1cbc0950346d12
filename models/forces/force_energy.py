"""Energy accounts of force elements: force, moment, power and energies as functions, evaluated only
if an output needs them.

`power` is the power that an element supplies, `stored` its potential energy; the rest is
dissipated: -power - d(stored)/dt. For a law over one length or coordinate x with dx/dt = v that is
-(value + dU/dx) v.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kinetree.models.expressions.differentiate import differentiate
from kinetree.models.expressions.node_arithmetic import E, const
from kinetree.models.expressions.nodes import ONE, Leaf, Name
from kinetree.models.expressions.vectors import NOWHERE, Vector


@dataclass
class Book:
    """Energy account of a force element: its force and moment on `body` in ground axes, its power
    and energies.
    """

    power: Callable[[], E]
    dissipation: Callable[[], E]
    stored: E
    body: int = 0
    force: Callable[[], Vector] | None = None
    moment: Callable[[], Vector] = lambda: NOWHERE
    clearance: E | None = None


def one_way(value: E, x: E, rate: E, potential: E) -> tuple[Callable[[], E], Callable[[], E]]:
    """Return functions for power and dissipation of a law over one length or coordinate x."""

    def dissipation() -> E:
        slope = differentiate(potential.node, lambda leaf: ONE if is_same(leaf, x) else None)
        return -((value + E(slope)) * rate)

    return lambda: value * rate, dissipation


def is_same(leaf: Leaf, x: E) -> bool:
    return isinstance(leaf, Name) and leaf is x.node


def pushing(
    force: Callable[[], Vector],
    moment: Callable[[], Vector],
    speed: Callable[[], Vector],
    spin: Callable[[], Vector],
) -> Callable[[], E]:
    """Return a function for the power [W] of a force and a moment, from velocity and angular
    velocity where they act.
    """
    return lambda: force().dot(speed()) + moment().dot(spin())


ZERO_POWER = const(0.0)
