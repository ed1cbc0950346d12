"""Reactions of joints on their children, read from an evaluated instance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kinetree.models.description.schema import JointSpec
from kinetree.models.engine.compiled import Compiled
from kinetree.models.engine.flat_blocks import model_fields
from kinetree.models.engine.instance import Instance
from kinetree.solvers import layout as L


def joint_reactions(instance: Instance, joints: Mapping[str, JointSpec]) -> dict[str, np.ndarray]:
    """Return force and moment of every joint, cut or not, about the origin and in the axes of its
    child, from the last evaluation of all outputs.
    """
    found, number = {}, instance.compiled.body_number
    for i, (joint, turned) in enumerate(instance.compiled.all_joints, 1):
        wrench = instance.ws.reaction[6 * i : 6 * i + 6].copy()
        found[joint] = (
            on_child(instance.ws.row.reshape(-1, L.ROW), wrench, i, number[joints[joint].child])
            if turned
            else wrench
        )
    fields = model_fields(instance.compiled.ints, instance.compiled.floats)
    balls = closing_balls(instance.compiled)
    return found | {name: ball_reaction(instance, fields, k) for name, k in balls.items()}


def closing_balls(compiled: Compiled) -> dict[str, int]:
    """Return the names of ball joints that close loops by three rows, with their indices among the
    constraint groups.
    """
    kinds = model_fields(compiled.ints, compiled.floats).l_kind
    return {compiled.loops[k]: k for k, kind in enumerate(kinds) if kind == L.Loop.BALL}


def ball_reaction(instance: Instance, fields: Any, k: int) -> np.ndarray:
    """Return force and moment of a loop-closing ball joint on its child, at the child's origin and
    in its axes.
    """
    ws = instance.ws
    rows = slice(fields.l_row[k], fields.l_row[k + 1])
    force = np.zeros(3)
    force[fields.l_part[rows]] = ws.loop_lam[rows]
    axes, child, register = fields.l_axes[k], fields.l_b[k], fields.l_point[2 * k + 1]
    turns = ws.row.reshape(-1, L.ROW)[:, L.W_R : L.W_R + 9].reshape(-1, 3, 3)
    force = turns[axes] @ force @ turns[child]
    return np.concatenate([force, np.cross(ws.val[register : register + 3], force)])


def on_child(row: np.ndarray, wrench: np.ndarray, i: int, child: int) -> np.ndarray:
    """Return the reaction to the wrench on body i, at the origin and in the axes of the joint's
    child.
    """
    R, S = (row[k, L.W_R : L.W_R + 9].reshape(3, 3) for k in (i, child))
    force, moment = -R @ wrench[:3], -R @ wrench[3:]
    arm = row[i, L.W_P : L.W_P + 3] - row[child, L.W_P : L.W_P + 3]
    return np.concatenate([S.T @ force, S.T @ (moment + np.cross(arm, force))])
