"""Poses of all bodies over time, with forces and reactions, from recorded rows that are evaluated
again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from kinetree.models.run.derived_columns import DerivedColumns
from kinetree.models.run.simulation_unit import make_unit
from kinetree.models.scene.shapes import quaternion
from kinetree.models.system.joint_reactions import joint_reactions
from kinetree.solvers import layout as L

if TYPE_CHECKING:
    from kinetree.models.result.result import Result
    from kinetree.models.system.system import System

FRAMES = 1200  # of a page, at most


@dataclass(frozen=True)
class Motion:
    """A motion for display: result rows used as frames, body poses, element forces and joint
    reactions.
    """

    time: np.ndarray
    rows: np.ndarray
    stages: np.ndarray
    poses: dict[
        str, np.ndarray
    ]  # (frames, 7) by body: x, y, z, quaternion w, x, y, z; not a number where the body is not there
    forces: dict[str, np.ndarray]  # (frames) by force element
    reactions: dict[str, np.ndarray]  # (frames, 3) by joint: force on the child, ground axes
    bending: dict[str, np.ndarray] = field(default_factory=dict)  # (frames, modes) by reduced body


def spread(count: int, limit: int) -> np.ndarray:
    """Return at most `limit` row numbers, evenly spaced, including the first and the last."""
    return np.unique(np.linspace(0, count - 1, min(count, limit)).round().astype(int))


def of_result(result: Result, limit: int = FRAMES) -> Motion:
    """Return the motion of a run for display."""
    if result.replay is None:
        raise ValueError(f"'{result.name}' has no bodies to draw")
    return visited(result.replay, result.time, result.columns(), limit)


def of_columns(
    system: System, time: np.ndarray, columns: Mapping[str, np.ndarray], limit: int = FRAMES
) -> Motion:
    """Return the motion given by columns of coordinates and stages; missing ones keep their start
    values.
    """
    unit = make_unit(system)
    starts: dict[str, float] = {}
    for compiled in reversed(unit.compiled):
        image = compiled.floats  # the start values stand in the register image
        from kinetree.models.engine.flat_blocks import model_fields

        val = model_fields(compiled.ints, image).val0
        for first, names in (
            (compiled.start_q, compiled.coordinates),
            (compiled.start_u, compiled.speeds),
            (compiled.start_x, compiled.states),
        ):
            starts |= dict(zip(names, map(float, val[first : first + len(names)]), strict=True))
    q, u = system.start()
    starts |= dict(zip((*system.coordinates, *system.speeds), map(float, (*q, *u)), strict=True))
    full = {name: np.full(time.size, value) for name, value in starts.items()} | {
        name: np.asarray(v, dtype=float) for name, v in columns.items()
    }
    replay = DerivedColumns(unit)
    replay.assume(full, time.size)
    return visited(replay, time, full, limit)


def visited(
    replay: DerivedColumns, time: np.ndarray, columns: Mapping[str, np.ndarray], limit: int
) -> Motion:
    """Evaluate the selected rows and return poses, forces and reactions."""
    rows = spread(time.size, limit)
    count = rows.size
    names = dict.fromkeys(body for compiled in replay.unit.whole for body in compiled.bodies)
    poses = {name: np.full((count, 7), np.nan) for name in names}
    forces: dict[str, np.ndarray] = {}
    reactions: dict[str, np.ndarray] = {}
    bending = {
        name: np.full((count, len(r.stiffness)), np.nan)
        for name, r in replay.unit.description.reduced.items()
    }
    stages = np.zeros(count, dtype=int)
    for k, (_, stage, instance) in enumerate(replay.visit(time, columns, rows)):
        c, table = instance.compiled, instance.ws.row.reshape(-1, L.ROW)
        stages[k] = stage
        for i, name in enumerate(c.bodies, 1):
            poses[name][k, :3] = table[i, L.W_P : L.W_P + 3]
            poses[name][k, 3:] = quaternion(table[i, L.W_R : L.W_R + 9].reshape(3, 3))
        for name, amplitudes in bending.items():
            first = f"{name}.mode1"
            if first in c.coordinates:
                at = c.coordinates.index(first)
                amplitudes[k] = instance.ws.q[at : at + amplitudes.shape[1]]
        description = replay.unit.stages[stage].description
        for label in (*description.forces, *description.actuators, *description.hydraulics):
            register = c.registers.get(f"force('{label}')", c.registers.get(f"{label}.force"))
            if register is not None:
                forces.setdefault(label, np.full(count, np.nan))[k] = instance.ws.val[register]
        for joint, wrench in joint_reactions(instance, description.joints).items():
            child = c.body_number[description.joints[joint].child]
            reactions.setdefault(joint, np.full((count, 3), np.nan))[k] = (
                table[child, L.W_R : L.W_R + 9].reshape(3, 3) @ wrench[:3]
            )
    for pose in poses.values():
        continuous(pose)
    return Motion(time[rows], rows, stages, poses, forces, reactions, bending)


def continuous(pose: np.ndarray) -> None:
    """Choose the signs of successive quaternions in place so that they change continuously."""
    e = pose[:, 3:]
    opposite = np.nan_to_num(np.sum(e[1:] * e[:-1], axis=1)) < 0.0
    pose[1:, 3:] = e[1:] * np.cumprod(np.where(opposite, -1.0, 1.0))[:, np.newaxis]
