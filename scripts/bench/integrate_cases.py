"""Mechanisms by class for the benchmark of work against accuracy: smooth trees, closed loops, stiff
contacts, hydraulics.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from kinetree.models import load
from kinetree.models.system.system import System
from kinetree.scripts.bench.dynamics_trees import chain, system

ROD, MASS = 1.0, 1.0


class Case(NamedTuple):
    """A mechanism with its duration and the target ratio of peer time to ours."""

    kind: str
    name: str
    make: Callable[[], System]
    stop: float
    aim: float
    stiff: bool = False
    corners: tuple[float, ...] = ()  # of its laws of time
    exudyn: str | None = None  # which model of Exudyn is the same mechanism
    reference: str = "adams"
    ours: tuple[str, ...] = ("radau",)  # of a stiff class
    quick: bool = True

    def compiled(self) -> System:
        return compiled(self.make)


@cache
def compiled(make: Callable[[], System]) -> System:
    return make()


def sledge() -> System:
    """Return a sledge with three pendulum rods that slides on stiff frictional ground until it
    stops.
    """
    rod = {
        "mass": MASS,
        "com": [0, 0, -0.5 * ROD],
        "inertia": [MASS * ROD**2 / 12, MASS * ROD**2 / 12, 1e-3, 0, 0, 0],
    }
    bodies: dict[str, Any] = {
        "sledge": {"mass": 20.0, "com": [0, 0, 0.2], "inertia": [1, 2, 2, 0, 0, 0]}
    }
    moves = [
        {"shift": "x", "coordinate": "x", "speed": 2.0},
        {"shift": "z", "coordinate": "z"},
        {"rotate": "y", "coordinate": "pitch"},
    ]
    joints: dict[str, Any] = {"place": {"child": "sledge", "transforms": moves}}
    forces: dict[str, Any] = {}
    for k, x in enumerate((-1.0, 1.0)):
        skid = {
            "kind": "contact",
            "body": "sledge",
            "point": [x, 0, 0],
            "stiffness": 1e7,
            "damping": 1e5,
        }
        forces[f"skid{k}"] = {**skid, "friction": 0.2, "friction_speed": 1e-2}
    for k in range(3):
        bodies[f"rod{k}"] = rod
        at = [0.0, 0.0, 4.0] if k == 0 else [0.0, 0.0, -ROD]
        joints[f"hinge{k}"] = {
            "parent": f"rod{k - 1}" if k else "sledge", "child": f"rod{k}", "type": "revolute", "axis": "y", "at": at, "start": [0.5],
        }  # fmt: skip
    source: dict[str, Any] = {
        "format": "kinetree/1",
        "name": "sledge",
        "gravity": [0, 0, -9.81],
        "bodies": bodies,
        "joints": joints,
    }
    return load({**source, "forces": forces}).compile()


CASES = (
    Case("smooth tree", "chain of 6 revolute bodies", lambda: system(chain("revolute", 6)), 2.0, 2.0, exudyn="chain"),
    Case("smooth tree", "Puma 560", lambda: load("lib:puma560").compile(), 2.0, 2.0, quick=False),
    Case("closed loop", "2 four-bars", lambda: load("lib:n_four_bar", n=2).compile(), 2.0, 2.0, exudyn="loops"),
    Case("closed loop", "Andrews", lambda: load("lib:andrews").compile(), 0.03, 2.0, quick=False),
    Case("stiff contact", "sledge on the ground", sledge, 2.0, 3.0, stiff=True, reference="radau"),
    Case("stiff springs", "flyball governor", lambda: load("lib:flyball").compile(), 2.0, 3.0, stiff=True, reference="radau"),
    Case(
        "hydraulics", "boom and its drive", lambda: load("lib:boom-drive").compile(), 4.0, 3.0, stiff=True, reference="radau",
        corners=(0.5, 0.6, 1.5, 1.6, 2.5, 2.6, 3.0, 3.1),
    ),
    Case("hydraulics", "excavator", lambda: load("lib:excavator").compile(), 2.0, 3.0, stiff=True, reference="radau", quick=False),
)  # fmt: skip
