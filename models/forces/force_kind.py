"""The declaration of a kind of force element; each file of `kinds` provides one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from kinetree.models.forces.force_schema import ForceTable
from kinetree.models.language.parts.value_parts import State

if TYPE_CHECKING:
    from kinetree.models.checks.consistency_check import Checker
    from kinetree.models.compilation.structure_builder import Builder

PLACES = ("coordinate", "between", "body")  # keys that tell where a force acts


class OwnState(NamedTuple):
    """A first-order state that a force element adds."""

    unit: str
    start: float | str = 0.0
    settles: bool = (
        False  # only grows: the search for rest holds it until the loads are those of the rest
    )
    text: str = ""

    def state(self) -> State:
        return State(rate=0.0, start=self.start, unit=self.unit, text=self.text)


def nothing(force: Any) -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class ForceKind:
    """The declaration of a kind of force element. Names are LABEL.suffix; `force` is the table of
    one element.
    """

    table: type[ForceTable]  # keys; the docstring is its line in docs and in `kinetree explain`
    law: Callable[
        [Builder, str, Any], None
    ]  # lowers an element to registers and records: builder, label, force
    says: str  # the law, as docs write it
    example: Mapping[
        str, Any
    ]  # an element of its own, but for where it acts; tests try it on random mechanisms
    rank: int = 100  # place in docs, and in the order in which kinds are told by keys
    told_by: frozenset[str] | None = (
        None  # any of these keys tell it where `kind` is not written; empty: where it acts does; None: nothing does
    )
    measures: Mapping[str, str] = field(
        default_factory=dict
    )  # suffixes of names that every element offers, with their units
    more: Callable[[Any], Mapping[str, str]] = nothing  # further ones, that depend on its keys
    states: Callable[[Any], dict[str, OwnState]] = nothing  # by suffix; they are offered too
    check: Callable[[Checker, tuple[str | int, ...], Any], None] | None = (
        None  # complains about keys that do not go together
    )
    clearance: bool = False  # can tell its gap
    gives_energy: bool = False  # brings energy in by itself, from outside
    look: Callable[[Any, Any, float, float], dict[str, Any]] | None = (
        None  # between two points: force, numbers, size of the scene, least length
    )
    parts: Callable[[Any, Any, float], Mapping[str, list[Any]]] | None = (
        None  # shapes by body: force, numbers, size of the scene
    )
    along: Callable[..., Mapping[str, list[Any]]] | None = (
        None  # shapes on joints: force, numbers, axes, size, parts there
    )
    touch: Callable[[Any, Any], tuple[Any, float] | None] | None = (
        None  # with the ground surface: point of the body and radius about it
    )

    @property
    def name(self) -> str:
        return self.table.model_fields["kind"].default

    @property
    def place(self) -> str:
        """Return the key that says what the element acts on, such as `between` or `coordinate`."""
        return next(key for key in PLACES if key in self.table.model_fields)

    def names(self, force: Any) -> dict[str, str]:
        """Return the suffixes of all names that an element offers, with their units."""
        return {
            **self.measures,
            **self.more(force),
            **{suffix: state.unit for suffix, state in self.states(force).items()},
        }
