"""Angles of hinges and Cardan joints that close loops without coordinates, read from an evaluated instance."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from kinetree.models.description.joints import joint_elements
from kinetree.models.description.schema import JointSpec
from kinetree.models.engine.compiled import Compiled
from kinetree.models.engine.flat_blocks import model_fields
from kinetree.models.engine.instance import Instance
from kinetree.solvers import layout as L

TURNING = (L.Loop.HINGE, L.Loop.CARDAN)


def names_of_closings(
    compiled: Compiled, joints: Mapping[str, JointSpec]
) -> Iterator[tuple[int, tuple[str, ...], tuple[str, ...]]]:
    """Yield the number among the loops and the names of angles and of their rates of every hinge and
    Cardan joint that closes a loop without coordinates.
    """
    kinds = model_fields(compiled.ints, compiled.floats).l_kind
    for k, name in enumerate(compiled.loops):
        if kinds[k] in TURNING:
            form = joint_elements(joints[name], name)
            yield k, form.coordinates, form.speeds


def closing_coordinates(instance: Instance, joints: Mapping[str, JointSpec]) -> dict[str, float]:
    """Return the angles, between -pi and pi, and their rates at the present state."""
    fields = model_fields(instance.compiled.ints, instance.compiled.floats)
    found: dict[str, float] = {}
    for k, angles, rates in names_of_closings(instance.compiled, joints):
        values, speeds = turns_and_rates(instance.ws, fields, k)
        found |= dict(zip((*angles, *rates), (*values, *speeds), strict=True))
    return found


def turns_and_rates(ws: Any, fields: Any, k: int) -> tuple[list[float], list[float]]:
    """Return angles and rates of the hinge or Cardan joint of loop k, from the directions of the
    field l_turn.
    """
    a, b = fields.l_a[k], fields.l_b[k]
    rows = ws.row.reshape(-1, L.ROW)
    first, second, end, other = (
        rows[body, L.W_R : L.W_R + 9].reshape(3, 3) @ ws.val[at : at + 3]
        for body, at in zip((a, a, b, b), fields.l_turn[4 * k : 4 * k + 4], strict=True)
    )
    spin = rows[b, L.W_OM : L.W_OM + 3] - rows[a, L.W_OM : L.W_OM + 3]
    if fields.l_kind[k] == L.Loop.HINGE:  # first and second across the axis, other first at angle 0
        axis = np.cross(first, second)
        return [math.atan2(other @ second, other @ first)], [float(spin @ axis)]
    angles = [
        math.atan2(end @ np.cross(first, second), end @ second),
        math.atan2(other @ np.cross(end, first), other @ first),
    ]
    return angles, [float(spin @ first), float(spin @ end)]
