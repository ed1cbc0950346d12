"""The table `follow` of a transform or a coupling: a motion prescribed by an input, with its time
derivatives from further inputs or from a reference filter.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import Field

from kinetree.models.expressions.nodes import Name
from kinetree.models.language.numbers_and_expressions import Number
from kinetree.models.language.parts.base_table import Part

if TYPE_CHECKING:
    from kinetree.models.description.schema import Description


class Following(Part):
    """A motion prescribed by an input: the input itself with its derivatives from two more inputs,
    or the state of a second-order filter that follows it.
    """

    input: str = Field(description="Input that is the amount")
    rate: str | None = Field(
        default=None,
        description="Input that is the time derivative; used with `acceleration`, instead of `bandwidth`",
    )
    acceleration: str | None = Field(
        default=None,
        description="Input that is the second derivative; not needed for velocity constraints",
    )
    bandwidth: Number | None = Field(
        default=None,
        description="Natural frequency of the filter; its state INPUT.reference is the motion [rad/s]",
    )
    damping: Number = Field(default=1.0, description="Damping ratio of the filter [1]")


def amount_name(follow: Following) -> str:
    """Return the internal name of a prescribed displacement; its colon distinguishes it from names
    of the description.
    """
    return f"{follow.input}:given"


def amount_of(follow: Following) -> Name:
    """Return the prescribed displacement as an expression node."""
    return Name(amount_name(follow))


def filter_states(input_name: str) -> tuple[str, str]:
    """Return the names of the states of a reference filter: the reference and its rate."""
    return f"{input_name}.reference", f"{input_name}.reference_rate"


def followings(description: Description) -> Iterator[tuple[tuple[str | int, ...], Following]]:
    """Yield all `follow` tables with their paths."""
    for name, joint in description.joints.items():
        for index, transform in enumerate(joint.transforms or ()):
            if transform.follow is not None:
                yield ("joints", name, "transforms", index, "follow"), transform.follow
    for name, coupling in description.couplings.items():
        for index, follow in enumerate(coupling.follow):
            yield ("couplings", name, "follow", index), follow
