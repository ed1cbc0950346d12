"""Bristle friction: elastic deflections that stick like a spring and slip above a limit force;
rolling removes them from the contact.

Deflections e with stiffnesses k make F = k e. Deflections follow the slip velocities v of the
contact minus `renewed`, the rate at which rolling removes them. With n = v - renewed, the part that
would exceed the limit slips along F:

    de/dt = n - w max(0, Σ k F n)/(Σ k F²) F          w = 0 up to f = 3/4, then 4 f - 3, from f = 1 on 1          f = |F|/limit

The dissipated power F·v - F·de/dt is therefore never negative, even if the limit varies. Below
three quarters of the limit nothing slips, so that vibrations do not cause creep. Deflections beyond
a limit that has dropped, or without any load, decay within milliseconds. Constant speeds give F =
limit or, with `renewed`, the curve that it defines.

A small limit would be reached after a tiny deflection, which makes the equations very stiff. If
limit < least = k reach, with the smallest reach of the bristles, they act through a lever with
ratio h = limit/least: they see h v and transmit h F, with the limit `least`. The lever conserves
power.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from kinetree.models.expressions.internal_names import rate_of_state
from kinetree.models.expressions.node_arithmetic import (
    E,
    choose,
    const,
    larger,
    name,
    root,
    smaller,
)

if TYPE_CHECKING:
    from kinetree.models.compilation.structure_builder import Builder

FORGET = 5e-3  # time constant in which what is beyond the limit is forgotten [s]
SMALLEST_FORCE = 1e-9  # below which no direction is told [N or N.m]


class Bristles(NamedTuple):
    """Bristle deflections of one contact: their states, stiffnesses, the limit force, and the
    smallest reach (deflection at the limit).
    """

    states: tuple[str, ...]
    stiffness: tuple[E, ...]
    limit: E
    reach: E

    def own_limit(self) -> E:
        """Return the friction limit of the bristles themselves, before the lever."""
        return larger(self.limit, self.stiffness[0] * self.reach)

    def lever(self) -> E:
        return larger(self.limit, 0.0) / self.own_limit()

    def forces(self) -> list[E]:
        """Return the elastic forces along the deflections, before the lever."""
        return [k * name(each) for each, k in zip(self.states, self.stiffness, strict=True)]

    def share(self) -> E:
        """Return the elastic force relative to the limit."""
        return length_of(self.forces()) / self.own_limit()

    def stored(self) -> E:
        return sum(
            (
                0.5 * k * name(each) * name(each)
                for each, k in zip(self.states, self.stiffness, strict=True)
            ),
            const(0.0),
        )

    def rates(self) -> list[E]:
        """Return the time derivatives of the deflections; `follow` must have defined them."""
        return [name(rate_of_state(each)) for each in self.states]

    def follow(
        self, builder: Builder, speeds: Sequence[E], renewed: Sequence[E] | None = None
    ) -> None:
        """Define the rates of the bristle deflections for given slip speeds."""
        forces, lever = self.forces(), self.lever()
        net = (
            list(speeds)
            if renewed is None
            else [v - gone for v, gone in zip(speeds, renewed, strict=True)]
        )
        weight = sum((k * f * f for k, f in zip(self.stiffness, forces, strict=True)), const(0.0))
        outward = lever * larger(
            sum(
                (k * f * n for k, f, n in zip(self.stiffness, forces, net, strict=True)), const(0.0)
            ),
            0.0,
        )
        share = self.share()
        slip = (
            larger(smaller(4.0 * share - 3.0, 1.0), 0.0)
            * outward
            / larger(weight, SMALLEST_FORCE * SMALLEST_FORCE)
        )
        beyond = choose(
            self.limit > 0.0, 1.0 / FORGET - 1.0 / (FORGET * larger(share, 1.0)), 1.0 / FORGET
        )
        for each, f, n in zip(self.states, forces, net, strict=True):
            builder.define(rate_of_state(each), (lever * n - slip * f - beyond * name(each)).node)

    def pull(self, speeds: Sequence[E], damping: E) -> list[E]:
        """Return the friction forces from deflections and from damping of the speeds, together not
        above the limit.
        """
        total = [self.lever() * f + damping * v for f, v in zip(self.forces(), speeds, strict=True)]
        share = smaller(1.0, self.limit / larger(length_of(total), SMALLEST_FORCE))
        return [-(share * f) for f in total]

    def lost(self, pull: Sequence[E], speeds: Sequence[E]) -> E:
        """Return the dissipated power [W]: the power of the force minus the power stored in the
        deflections.
        """
        kept = sum(
            (f * rate for f, rate in zip(self.forces(), self.rates(), strict=True)), const(0.0)
        )
        return -sum((f * v for f, v in zip(pull, speeds, strict=True)), const(0.0)) - kept


def length_of(parts: Sequence[E]) -> E:
    return root(sum((each * each for each in parts), const(0.0)))
