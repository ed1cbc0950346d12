"""Nominal values of states, which scale them."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from kinetree.models.compilation.element_states import states_of

if TYPE_CHECKING:
    from kinetree.models.system.system import System

NOMINAL = {"Pa": 1e5, "bar": 1.0}  # by unit; 1 for all others


FOUND: WeakKeyDictionary[System, np.ndarray] = (
    WeakKeyDictionary()
)  # a search for rest asks a thousand times


def nominal_values(system: System) -> np.ndarray:
    """Return the nominal values of the states by their units."""
    if system not in FOUND:
        known = states_of(system.description)
        FOUND[system] = np.array(
            [
                NOMINAL.get(known[name].unit, 1.0) if name in known else 1.0
                for name in system.compiled.states
            ]
        )
    return FOUND[system]


def state_sizes(system: System, x: np.ndarray) -> np.ndarray:
    """Return the scale of each state: its absolute value, at least its nominal value."""
    return np.maximum(np.abs(x), nominal_values(system))
