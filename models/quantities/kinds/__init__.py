"""The registry of quantities: the files of this folder say all about each, and everything else is drawn from here.

The format and its checks, units and columns of outputs, names, docs and completion come from the registry. A quantity that is an expression over
sensors is an entry of a file here; one that needs a sensor of its own has that in `solvers/sensors`.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from kinetree.models.quantities.kind import QuantityKind


def found() -> dict[str, QuantityKind]:
    """All quantities by name, in the order of docs."""
    kinds: list[QuantityKind] = [kind for module in iter_modules(__path__) for kind in import_module(f"{__name__}.{module.name}").QUANTITIES]
    names = [kind.name for kind in kinds]
    if len(set(names)) < len(names):
        raise ValueError(f"two quantities have one name: {sorted(names)}")
    return {kind.name: kind for kind in sorted(kinds, key=lambda kind: (kind.rank, kind.name))}


QUANTITIES = found()
