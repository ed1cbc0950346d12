"""Recognition of joint types with fast kinematics, and of the structure of their tangent columns."""

from __future__ import annotations

from kinetree.models.joints.elements import ElementForm
from kinetree.solvers import layout as L
from kinetree.solvers.elements.kinds.rotate_q import KIND as ROTATE_Q


def pattern(elements: tuple[ElementForm, ...], rotors: bool = False) -> int:
    """Return the pattern (`layout.Joint`) of a sequence of elements; a ball with motor rotors
    counts as general.
    """
    moving = [k for k, e in enumerate(elements) if not e.kind.constant]
    if not moving:
        return L.Joint.FIXED
    if [(e.kind, e.factor, e.coordinate) for e in elements[moving[0] :]] == [
        (ROTATE_Q, 1.0, 0),
        (ROTATE_Q, 1.0, 1),
    ]:
        return L.Joint.UNIVERSAL
    last, kind = elements[-1], elements[-1].kind
    if (
        moving != [len(elements) - 1]
        or not kind.whole
        or last.factor != 1.0
        or (rotors and kind.speeds > 1)
    ):
        return L.Joint.GENERAL
    return L.Joint[kind.whole]


def column_kinds(elements: tuple[ElementForm, ...], speeds: int) -> list[int]:
    """Return the structure of every tangent column: rotation about O_i, translation, or general."""
    kinds = [int(L.Column.GENERAL)] * speeds
    single = [each.kind if each.kind.speeds == 1 else None for each in elements]
    for k in range(speeds):
        mine = [e for e, each in enumerate(elements) if each.coordinate == k and single[e]]
        kind = single[mine[0]] if len(mine) == 1 else None
        if kind is None:
            continue
        if not kind.turns:
            kinds[k] = int(L.Column.TRANSLATION)
        elif not kind.shifts and not any(each.kind.shifts for each in elements[mine[0] + 1 :]):
            kinds[k] = int(L.Column.ROTATION)
    if elements and (last := elements[-1].kind).pure:
        kinds[-last.speeds :] = [int(L.Column.ROTATION)] * last.speeds
    return kinds
