"""The declaration of a measurable quantity; each file of `kinds` provides some."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kinetree.solvers.sensors.kinds import Kind

if TYPE_CHECKING:
    from kinetree.models.compilation.structure_builder import Builder
    from kinetree.models.description.output_parts import Output

Wanted = Sequence[
    tuple[str, int]
]  # names of columns with the components they tell; 3 is the length of a vector
PLACED = ("point", "frame", "reference")
GROUP = ("bodies", "frame")
CHOICES = (
    "body",
    "between",
    "joint",
    "force",
    "actuator",
    "bodies",
    "reference",
    "beam",
    "station",
)  # keys that name something
AXES_OF = {1: (), 3: ("x", "y", "z", "norm"), 4: ("w", "x", "y", "z")}


@dataclass(frozen=True)
class QuantityKind:
    """A measurable quantity, read from sensors (`sensed`) or computed from them (`computed`)."""

    name: str
    unit: str
    says: str  # as docs write it
    components: int = 1
    needs: tuple[str, ...] = ()  # one of these keys must be given; none: nothing
    takes: tuple[str, ...] = ()  # further keys that mean something
    computed: Callable[[Builder, str, Output], Any] | None = (
        None  # builder, label, output: a value, three components or a quaternion
    )
    sensed: Callable[[Builder, Output, Wanted], None] | None = (
        None  # adds sensors under the wanted names, in axes of the ground or the body
    )
    vector: bool = False  # has three components where an axis is asked for, else one
    moment: bool = False  # a force, or where the part says so a moment
    state: bool = False  # the integral of a rate, which has a column of its own
    own_axes: tuple[str, ...] = ()  # components of other names, one of which must be asked for
    rank: int = 100  # place in docs
    display_unit: str = ""  # in tables and hosts, where the description asks for none

    @property
    def axes(self) -> tuple[str, ...]:
        """Return the names of the components that may be selected."""
        return self.own_axes or AXES_OF[3 if self.vector else self.components]

    def unit_of(self, output: Output) -> str:
        """Return the unit of one output; forces and reactions may be moments instead."""
        moment = self.moment and output.part == "moment"
        return (
            "N.m"
            if moment or (self.own_axes and (output.axis or "").startswith("m"))
            else self.unit
        )


def plain(output: Output) -> bool:
    """Return whether sensors measure an output directly: relative to the ground, in ground or body
    axes.
    """
    return output.reference is None and output.frame in ("ground", "body")


def by_sensor(sensor: Kind) -> Callable[[Builder, Output, Wanted], None]:
    """Return a function that measures a quantity of the whole system with one sensor."""

    def add(builder: Builder, output: Output, wanted: Wanted) -> None:
        for name, axis in wanted:
            builder.add_sensor(name, sensor, axis=axis)

    return add
