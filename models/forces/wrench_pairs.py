"""A force and a moment on one body with the reaction on another body at the same point."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinetree.models.expressions.vectors import NOWHERE, Vector, registers
from kinetree.solvers import layout as L

if TYPE_CHECKING:
    from kinetree.models.compilation.structure_builder import Builder


def add_pair(
    builder: Builder,
    a: int,
    b: int,
    begin: int,
    pin: int,
    force: Vector,
    offset: Vector,
    moment: Vector = NOWHERE,
) -> None:
    """Apply force and moment to `b` at its point `pin` and the reaction to `a` there, all in ground
    axes.
    """
    if b:
        builder.add_force(
            L.Force.PAIR, b, pin, a, registers(builder, force), registers(builder, moment), 0
        )
    else:
        back = force.times(-1.0)
        turn = offset.cross(back).minus(moment)
        builder.add_force(
            L.Force.WRENCH, a, begin, registers(builder, back), registers(builder, turn), 0
        )
