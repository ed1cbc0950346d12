"""Registry of measurable quantities: each file of this folder declares some.

Schema and checks, units and columns of outputs, names, docs and completion come from the registry.
A quantity that is an expression over sensors is an entry of a file here; one that needs a new
sensor has that in `solvers/sensors`.
"""

from __future__ import annotations

from kinetree.models.quantities.quantity_kind import QuantityKind
from kinetree.models.registry import registered

QUANTITIES: dict[str, QuantityKind] = registered(__name__, __path__, "QUANTITIES", "quantities")
