"""Registry of moving joint elements: each file of this folder declares some.

Units, locked joints, local coordinates, rates in couplings and display come from the registry; the
kernels and flags of an element are in `solvers/elements`.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from kinetree.models.joints.element_motion import Move
from kinetree.solvers.elements.kinds import BY_NAME, KINDS, Kind


def found() -> dict[Kind, Move]:
    """Return the declarations by kind of element; raises ValueError unless every moving kind has
    one.
    """
    moves: list[Move] = [
        move
        for module in iter_modules(__path__)
        for move in import_module(f"{__name__}.{module.name}").MOVES
    ]
    names = sorted(move.kind for move in moves)
    if names != sorted(kind.name for kind in KINDS if not kind.constant):
        raise ValueError(f"the moves {names} are not those of the elements that move")
    wrong = [
        move.kind
        for move in moves
        if (move.tangent is None) != BY_NAME[move.kind].plain
        or len(move.units) != BY_NAME[move.kind].coordinates
    ]
    if wrong:
        raise ValueError(f"units or tangents of {wrong} do not fit their coordinates and speeds")
    return {BY_NAME[move.kind]: move for move in moves}


MOVES = found()
