"""Random mechanisms with force elements of every kind of the registry, and servo circuits, on top of loops, stages, events, contacts, controllers.

`crossings` has what has a room of its own; here are the laws that the plain draw does not know: brakes, latches, bushings, gears, guides, jacks,
rails, tyres, wheels, and a servo circuit. What they tell (their force, their states) is compared like places and speeds of bodies.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from crossings import Crossing, Crossings
from random_mechanisms import random_mechanism

from kinetree.models.forces.kinds import KINDS

DRAWN = {
    "coordinate",
    "line",
    "rope",
    "wrench",
    "pair",
    "contact",
    "cylinder",
    "friction",
    "stop",
}  # by every random mechanism
LAWS = tuple(name for name in KINDS if name not in DRAWN)
OIL = 2e6  # Pa: bulk modulus of an oil soft enough for explicit integrators


class Machine(Crossing):
    """A drawn mechanism that gets elements of the registry."""

    def laws(self) -> None:
        """One or two elements with the numbers of their examples."""
        for k in range(int(self.rng.integers(1, 3))):
            name = f"law{k}"
            kind = self.pick(LAWS)
            place = self.place(KINDS[kind].place, KINDS[kind].example)
            if place is not None:
                self.d["forces"][name] = {"kind": kind, **KINDS[kind].example, **place}
                self.d["outputs"][f"b_{name}"] = {"value": f"force('{name}')"}
                for suffix in KINDS[kind].states(
                    KINDS[kind].table.model_validate(self.d["forces"][name])
                ):
                    self.d["outputs"][f"b_{name}_{suffix}"] = {"value": f"{name}.{suffix}"}

    def place(self, key: str, example: Any) -> dict[str, Any] | None:
        """Where an element acts; None where there is no coordinate for it."""
        if key == "between":
            return {"between": self.pair()}
        if key == "body":
            return self.point(ground=False)
        names = [str(each) for each in self.rng.permutation(sorted(self.scalars))]
        if len(names) < (2 if "other" in example else 1):
            return None
        return {"coordinate": names[0]} | ({"other": names[1]} if "other" in example else {})

    def circuit(self) -> None:
        """A cylinder between two bodies, held by a servo valve from a supply."""
        shortest = 0.01
        self.d["hydraulics"] = {
            "supply": {"pressure": 3e5},
            "tank": {"pressure": 1e5},
            "a": {"volume": 1e-3, "bulk_modulus": OIL, "start": 2e5},
            "b": {"volume": 1e-3, "bulk_modulus": OIL, "start": 2e5},
            "valve": {
                "supply": "supply", "tank": "tank", "a": "a", "b": "b", "rated_flow": 1e-4, "command": "0.8*(0.6 - ram.length)", "frequency": 5,
            },
            "ram": {
                "between": self.pair(), "a": "a", "b": "b", "area_a": 1e-4, "area_b": 6e-5, "shortest": shortest, "longest": 5.0, "viscous": 2.0,
            },
        }  # fmt: skip
        for name in ("a", "b"):
            self.d["outputs"][f"b_{name}_bar"] = {"value": f"{name}.pressure/1e5"}


def machine(seed: int) -> dict[str, Any]:
    """A description by its seed: elements of the registry and one more feature on top of a drawn mechanism."""
    draft = Machine(np.random.default_rng([seed, 11]), random_mechanism(seed))
    draft.laws()
    getattr(draft, draft.pick(("contacts", "controllers", "follow", "oil", "circuit")))()
    return draft.d


class Machines(Crossings):
    """One mechanism per round with elements of the registry."""

    name = "machines"

    def draw(self, seed: int) -> dict[str, Any]:
        return machine(seed)
