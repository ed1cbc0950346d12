"""The registry of typed joints: every file of this folder says all about one kind, and everything else is drawn from here.

The `type` of a joint in descriptions, its keys and their checks, names and start values of coordinates and speeds, units, docs and the joints of
random mechanisms come from the registry. A new typed joint is one file with a JOINT: a sequence of elements that share coordinates as they like.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from kinetree.models.joints.kind import JointKind


def found() -> dict[str, JointKind]:
    """All kinds by name, in the order of docs."""
    kinds: list[JointKind] = [import_module(f"{__name__}.{module.name}").JOINT for module in iter_modules(__path__)]
    names = [kind.name for kind in kinds]
    if len(set(names)) < len(names):
        raise ValueError(f"two kinds of joints have one name: {sorted(names)}")
    return {kind.name: kind for kind in sorted(kinds, key=lambda kind: (kind.rank, kind.name))}


KINDS = found()
