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
    closings = closing_joints(instance.compiled)
    return found | {name: closing_reaction(instance, fields, k) for name, k in closings.items()}


def closing_joints(compiled: Compiled) -> dict[str, int]:
    """Return the names of joints that close loops without coordinates, with their indices among the
    constraint groups.
    """
    kinds = model_fields(compiled.ints, compiled.floats).l_kind
    others = (L.Loop.WELD, L.Loop.COUPLING)
    return {compiled.loops[k]: k for k, kind in enumerate(kinds) if kind not in others}


def closing_reaction(instance: Instance, fields: Any, k: int) -> np.ndarray:
    """Return force and moment of a joint that closes a loop without coordinates on its child, at the
    child's origin and in its axes.
    """
    ws = instance.ws
    rows = slice(fields.l_row[k], fields.l_row[k + 1])
    held = np.zeros(6)
    held[fields.l_part[rows]] = ws.loop_lam[rows]
    child, register = fields.l_b[k], fields.l_point[2 * k + 1]
    turns = ws.row.reshape(-1, L.ROW)[:, L.W_R : L.W_R + 9].reshape(-1, 3, 3)
    force = turns[fields.l_axes[k]] @ held[:3] @ turns[child]
    moment = held[3:5] @ held_turns(ws, fields, k, turns) @ turns[child]
    return np.concatenate([force, moment + np.cross(ws.val[register : register + 3], force)])


def held_turns(ws: Any, fields: Any, k: int, turns: np.ndarray) -> np.ndarray:
    """Return two directions in ground axes, one a row, about which a closing joint holds its bodies;
    zeros where it holds none.
    """
    found = np.zeros((2, 3))
    if fields.l_kind[k] == L.Loop.BALL:
        return found
    bodies = (fields.l_a[k], fields.l_a[k], fields.l_b[k])
    one, two, end = (
        turns[body] @ ws.val[at : at + 3]
        for body, at in zip(bodies, fields.l_turn[4 * k : 4 * k + 3], strict=True)
    )
    if fields.l_kind[k] == L.Loop.HINGE:
        found[:] = one, two
    else:
        found[0] = np.cross(one, end)
    return found


def on_child(row: np.ndarray, wrench: np.ndarray, i: int, child: int) -> np.ndarray:
    """Return the reaction to the wrench on body i, at the origin and in the axes of the joint's
    child.
    """
    R, S = (row[k, L.W_R : L.W_R + 9].reshape(3, 3) for k in (i, child))
    force, moment = -R @ wrench[:3], -R @ wrench[3:]
    arm = row[i, L.W_P : L.W_P + 3] - row[child, L.W_P : L.W_P + 3]
    return np.concatenate([S.T @ force, S.T @ (moment + np.cross(arm, force))])
