"""The compiled form of one structure: flat memory blocks and the names that belong to them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kinetree.models.expressions.columns import Column
from kinetree.models.graph.tree import Topology


@dataclass
class Compiled:
    """Flat memory blocks of one structure and the names that belong to them."""

    ints: np.ndarray
    floats: np.ndarray
    counts: dict[str, float]
    bodies: tuple[str, ...]
    parents: tuple[int, ...]
    joints: tuple[str, ...]  # joint into each body
    coordinates: tuple[str, ...]
    speeds: tuple[str, ...]
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    parameters: tuple[str, ...]
    outputs: tuple[Column, ...]
    registers: dict[str, int]
    start_q: int  # first register of the start values
    start_u: int
    start_x: int
    start_inputs: int  # what a host gives; not a number where it gives none and the description has an expression
    preset_inputs: int  # what the description has
    quaternions: tuple[int, ...]  # first coordinate of each quaternion
    topology: Topology
    loops: tuple[str, ...] = ()  # cut joint or coupling of every group of constraint rows
    twins: tuple[str, ...] = ()  # bodies after the real ones
    all_joints: tuple[
        tuple[str, bool], ...
    ] = ()  # joint into each body, twins too, and whether the tree uses it from child to parent
    start_time: float = 0.0
    units: dict[str, str] = field(default_factory=dict)
    guards: tuple[str, ...] = ()  # what every guard stands for
    contacts: tuple[str, ...] = ()
    followed: tuple[str, ...] = ()  # inputs that couplings of positions follow
    sloped: tuple[
        str, ...
    ] = ()  # inputs whose rates couplings need, and only who gives them can tell
    carriers: dict[str, str] = field(
        default_factory=dict
    )  # bodies that were merged, and those that carry them
    fewer: Compiled | None = (
        None  # the same structure with parts of bodies merged, which runs in its place
    )

    @property
    def running(self) -> Compiled:
        """Return the structure used for runs, with rigidly joined bodies merged."""
        return self.fewer or self

    @property
    def body_number(self) -> dict[str, int]:
        """Return the index of every body that is not a twin, and of the ground."""
        return {"ground": 0} | {name: k for k, name in enumerate(self.bodies, 1)}
