"""A force and a moment between two bodies, acting at one point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kinetree.models.forces.force_kind import ForceKind
from kinetree.models.forces.force_schema import Between, ForceTable
from kinetree.models.forces.kinds.wrench import norm, wrench_book
from kinetree.models.forces.line_laws import define_force
from kinetree.models.language.numbers_and_expressions import LawVector
from kinetree.models.language.parts.base_table import ORIGIN
from kinetree.solvers import layout as L

if TYPE_CHECKING:
    from kinetree.models.compilation.structure_builder import Builder


class PairForce(ForceTable):
    """Force and moment on the first body; the opposite acts on the second body at the same place."""

    kind: Literal["pair"] = "pair"
    between: Between = Field(
        description="First body with the point of action, second body (its point is not used)"
    )
    force: LawVector = Field(default=ORIGIN, description="Force on the first body [N]")
    moment: LawVector = Field(default=ORIGIN, description="Moment on the first body [N.m]")
    frame: Literal["ground", "body"] = Field(
        default="ground", description="Axes of force and moment: ground, or those of the first body"
    )


def add_pair(builder: Builder, label: str, force: PairForce) -> None:
    """Add force and moment on the first body and the reaction on the second."""
    define_force(builder, label, norm(builder, force.force))
    a, b = force.between
    frame = int(force.frame == "body")
    arguments = (
        builder.body[a.body],
        builder.vector(a.point),
        builder.body[b.body],
        builder.vector(force.force),
        builder.vector(force.moment),
        frame,
    )
    builder.add_force(L.Force.PAIR, *arguments)
    wrench_book(builder, label, force, a, b.body)


FORCE = ForceKind(
    PairForce,
    add_pair,
    says="`force` and `moment` on the first body at its point, their opposites on the second body at the same place",
    rank=11,
    told_by=frozenset({"force", "moment"}),
    gives_energy=True,
    example={"force": [0.5, 1.0, -1.0], "moment": [0.2, -0.1, 0.3], "frame": "ground"},
)
