"""A latch between two points that opens when its force reaches its strength, and stays open.

    force = -(1 - b) (stiffness (l - length) + damping dl/dt)       b the state `open`

b stays 0 until |stiffness (l - length)| exceeds the strength, and then goes to 1 within a few times
`release`, whatever happens: db/dt = (1.01 - b)/release up to 1. What was stored is lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from kinetree.models.expressions.internal_names import rate_of_state
from kinetree.models.expressions.node_arithmetic import E, absolute, choose, larger, name
from kinetree.models.forces.force_energy import Book
from kinetree.models.forces.force_kind import ForceKind, OwnState
from kinetree.models.forces.force_schema import Between, ForceTable
from kinetree.models.forces.line_laws import define_force, line_book, line_sensors
from kinetree.models.language.numbers_and_expressions import InputNumber, Number
from kinetree.solvers import layout as L

if TYPE_CHECKING:
    from kinetree.models.compilation.structure_builder import Builder

BEGUN = 1e-6  # from here on it opens by itself


class LatchForce(ForceTable):
    """Latch between two points: a stiff connection that opens when its force exceeds the strength,
    and stays open.
    """

    kind: Literal["latch"] = "latch"
    between: Between = Field(description="The two points")
    stiffness: Number = Field(description="Stiffness while it holds [N/m]")
    damping: Number = Field(0.0, description="Damping while it holds [N.s/m]")
    length: Number = Field(description="Distance of the points without force [m]")
    strength: InputNumber = Field(
        description="Elastic force at which it opens, in tension or compression [N]"
    )
    release: Number = Field(1e-3, description="Time in which it opens [s]")
    positive: ClassVar = ("stiffness", "release", "length")
    not_negative: ClassVar = ("damping",)


def states(force: LatchForce) -> dict[str, OwnState]:
    return {"open": OwnState("1", text="0 while it holds, 1 when it is open")}


def add_latch(builder: Builder, label: str, force: LatchForce) -> None:
    """Add a latch: a spring that opens at its strength and stays open."""
    key = f"forces.{label}"
    ends, length, rate = line_sensors(builder, label, force.between)
    k, c, free, strength, release = (
        E(builder.node(getattr(force, each), f"{key}.{each}"))
        for each in ("stiffness", "damping", "length", "strength", "release")
    )
    state = builder.made(f"{label}.open")
    stretch, left = length - free, larger(1.0 - name(state), 0.0)
    going = choose(absolute(k * stretch) > strength, 1.0, choose(name(state) > BEGUN, 1.0, 0.0))
    builder.define(
        rate_of_state(state),
        (going * choose(name(state) < 1.0, 1.01 - name(state), 0.0) / release).node,
    )
    potential = 0.5 * left * k * stretch * stretch
    builder.add_force(
        L.Force.LINE,
        *ends,
        define_force(builder, label, -(left * (k * stretch + c * rate)), potential),
    )
    line_book(builder, label, force.between, potential)
    plain = builder.books[label]
    fading = (
        0.5
        * k
        * stretch
        * stretch
        * going
        * choose(name(state) < 1.0, 1.01 - name(state), 0.0)
        / release
    )
    builder.books[label] = Book(
        plain.power,
        lambda: left * c * rate * rate + choose(name(state) < 1.0, fading, 0.0),
        potential,
        plain.body,
        plain.force,
    )


def look(force: LatchForce, numbers: Any, size: float, low: float) -> dict[str, Any]:
    from kinetree.models.scene.force_graphics import ROD, cylinder_look

    return cylinder_look(force, numbers, size, low) | {"radius": 0.8 * ROD * size}


FORCE = ForceKind(
    LatchForce,
    add_latch,
    says="-(stiffness (l - length) + damping l̇) until the elastic part exceeds `strength`; then it opens and stays open",
    rank=13,
    told_by=frozenset({"strength", "release"}),
    measures={"length": "m", "rate": "m/s"},
    states=states,
    look=look,
    example={"stiffness": 80.0, "damping": 0.6, "length": 0.4, "strength": 30.0, "release": 0.01},
)
