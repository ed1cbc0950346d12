"""Measured quantities: energies of the whole mechanism."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinetree.models.quantities.quantity_kind import QuantityKind, by_sensor
from kinetree.solvers.sensors.kinds.energies import ENERGY, KINETIC_ENERGY, POTENTIAL_ENERGY

if TYPE_CHECKING:
    pass


QUANTITIES = (
    QuantityKind(
        "energy", "J", "kinetic and potential, of the whole", sensed=by_sensor(ENERGY), rank=22
    ),
    QuantityKind("kinetic_energy", "J", "of the whole", sensed=by_sensor(KINETIC_ENERGY), rank=23),
    QuantityKind(
        "potential_energy",
        "J",
        "of weight, springs and contacts, of the whole",
        sensed=by_sensor(POTENTIAL_ENERGY),
        rank=24,
    ),
)
