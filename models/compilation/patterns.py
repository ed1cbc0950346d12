"""What a sequence of elements looks like to the fast path: a known joint pattern, and the forms of its tangent columns."""

from __future__ import annotations

from kinetree.models.joints.elements import ElementForm
from kinetree.solvers import layout as L


def pattern(elements: tuple[ElementForm, ...], rotors: bool = False) -> int:
    """The pattern of `layout.Joint` a sequence of elements has; a ball with motors is eliminated freedom by freedom."""
    moving = [k for k, e in enumerate(elements) if e.kind not in (L.Element.SHIFT, L.Element.ROTATE)]
    if not moving:
        return L.Joint.FIXED
    last = elements[-1]
    if [(e.kind, e.factor, e.coordinate) for e in elements[moving[0] :]] == [(L.Element.ROTATE_Q, 1.0, 0), (L.Element.ROTATE_Q, 1.0, 1)]:
        return L.Joint.UNIVERSAL
    if moving != [len(elements) - 1]:
        return L.Joint.GENERAL
    if last.kind == L.Element.ROTATE_Q and last.factor == 1.0:
        return L.Joint.REVOLUTE
    if last.kind == L.Element.SHIFT_Q and last.factor == 1.0:
        return L.Joint.PRISMATIC
    if rotors:
        return L.Joint.GENERAL
    return {L.Element.BALL: L.Joint.SPHERICAL, L.Element.FREE: L.Joint.FREE}.get(last.kind, L.Joint.GENERAL)


def column_kinds(elements: tuple[ElementForm, ...], speeds: int) -> list[int]:
    """Columns that are known to be pure rotations about O_i, or pure shifts."""
    kinds = [int(L.Column.GENERAL)] * speeds
    for k in range(speeds):
        mine = [e for e, each in enumerate(elements) if each.coordinate == k and each.kind in (L.Element.SHIFT_Q, L.Element.ROTATE_Q)]
        if len(mine) != 1:
            continue
        shifts = (L.Element.SHIFT, L.Element.SHIFT_Q, L.Element.SHIFT_T, L.Element.FREE)
        if elements[mine[0]].kind == L.Element.SHIFT_Q:
            kinds[k] = int(L.Column.TRANSLATION)
        elif not any(each.kind in shifts for each in elements[mine[0] + 1 :]):
            kinds[k] = int(L.Column.ROTATION)
    if any(e.kind == L.Element.BALL for e in elements) and elements[-1].kind == L.Element.BALL:
        kinds[-3:] = [int(L.Column.ROTATION)] * 3
    return kinds
