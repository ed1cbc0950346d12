"""Dispatch over the kinds of joint elements: one kernel per operation, generated from the registry."""

from collections.abc import Callable, Sequence
from importlib import import_module

from kinetree.solvers.elements.interface import Kernels
from kinetree.solvers.elements.kinds import KINDS, Kind
from kinetree.solvers.kernel import kernel


def kernels_of(kind: Kind) -> Kernels:
    """Return the kernels of a kind of element, from the module and names in its declaration."""
    module, name = kind.kernels.split(".")
    return getattr(import_module(f"kinetree.solvers.elements.{module}"), name)


def bits(kinds: Sequence[Kind]) -> int:
    """Return a set of kinds as a bit mask: bit CODE for each kind."""
    return sum(1 << kind.code for kind in kinds)


def cases(sort: str, kinds: Sequence[Kind]) -> list[tuple[int, Callable]]:
    """Return the different kernels of one operation, each with the bit mask of the kinds that share
    it.
    """
    shared: dict[Callable, list[Kind]] = {}
    for kind in kinds:
        shared.setdefault(getattr(kernels_of(kind), sort), []).append(kind)
    return [(bits(those), this) for this, those in shared.items()]


def acting(options: Sequence[tuple[int, Callable]]) -> Callable:
    """Return a kernel (model, ws, e, more) without result that dispatches by the kind of element e."""
    (mask, this), *others = options
    if not others:
        return this
    rest = acting(others)

    @kernel
    def call(model, ws, e, more):
        if mask >> model.e_kind[e] & 1:
            this(model, ws, e, more)
        else:
            rest(model, ws, e, more)

    return call


def giving(options: Sequence[tuple[int, Callable]]) -> Callable:
    """Return a kernel with a result that dispatches by the kind of element e."""
    (mask, this), *others = options
    if not others:
        return this
    rest = giving(others)

    @kernel
    def call(model, ws, e, more):
        return this(model, ws, e, more) if mask >> model.e_kind[e] & 1 else rest(model, ws, e, more)

    return call


def among(kinds: Sequence[Kind]) -> Callable:
    """Return a kernel that tests whether an element is of one of the given kinds."""
    mask = bits(kinds)

    @kernel
    def one(kind):
        return mask >> kind & 1 != 0

    return one


CONSTANT = [kind for kind in KINDS if kind.constant]
OWN = [
    kind for kind in KINDS if not kind.plain
]  # their speeds are not the derivatives of their coordinates
is_constant = among(CONSTANT)
has_own_tangent = among(OWN)

derive_element = acting(cases("derive", KINDS))
element_rotation = giving(cases("rotation", KINDS))
element_shift = giving(cases("shift", KINDS))
constant_rotation = giving(cases("rotation", CONSTANT))
constant_shift = giving(cases("shift", CONSTANT))
walk_element = acting(cases("walk", KINDS))
element_columns = acting(cases("columns", KINDS))
element_rates = giving(cases("rates", KINDS))
element_plane = giving(cases("plane", KINDS))
element_q_rates = acting(cases("q_rates", OWN))
retract_element = acting(cases("retract", OWN))
element_departure = acting(cases("departure", OWN))
unify_element = acting(cases("unify", OWN))
