"""Joints as sequences of elements from the parent frame to the child frame (`layout.Element`).

Typed joints are shorthands for such sequences, which `models/joints/kinds` defines.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from kinetree.models.description.schema import JointSpec, Transform
from kinetree.models.expressions.parse import ExpressionError, names, parse
from kinetree.models.joints.elements import (
    Amount,
    Direction,
    ElementForm,
    JointForm,
    JointProblem,
    direction,
    nonzero,
    scaled,
)
from kinetree.models.joints.joint_kind import JointKind
from kinetree.models.joints.kinds import KINDS
from kinetree.models.language.errors import shown
from kinetree.models.language.parts.input_motion_parts import amount_of
from kinetree.solvers.elements.kinds.rotate import KIND as ROTATE
from kinetree.solvers.elements.kinds.rotate_q import KIND as ROTATE_Q
from kinetree.solvers.elements.kinds.rotate_t import KIND as ROTATE_T
from kinetree.solvers.elements.kinds.shift import KIND as SHIFT
from kinetree.solvers.elements.kinds.shift_q import KIND as SHIFT_Q
from kinetree.solvers.elements.kinds.shift_t import KIND as SHIFT_T


def joint_elements(joint: JointSpec, name: str) -> JointForm:
    """Return a joint as elements, coordinates and speeds; raises JointProblem if its keys
    contradict each other.
    """
    if (joint.type is None) == (joint.transforms is None):
        raise JointProblem(
            "",
            "neither type nor transforms" if joint.type is None else "both type and transforms",
            "one of type and transforms",
        )
    form = from_transforms(joint) if joint.type is None else from_type(joint, name)
    if joint.rotor_inertia is None:
        return form
    if any(kind.shifts and not kind.plain for kind in (element.kind for element in form.elements)):
        raise JointProblem("rotor_inertia", "a motor", "none at a free joint")
    if len(joint.rotor_inertia) != len(form.speeds):
        raise JointProblem(
            "rotor_inertia",
            f"{len(joint.rotor_inertia)} numbers",
            f"{len(form.speeds)}, one per speed",
        )
    return replace(form, rotors=joint.rotor_inertia)


def speed_name(coordinate: str) -> str:
    return f"der({coordinate})"


def depends_on_time(amount: Amount | None) -> bool:
    """Return whether an amount depends on t; unreadable expressions are reported elsewhere."""
    try:
        return isinstance(amount, str) and "t" in names(parse(amount))
    except ExpressionError:
        return False


def placed(joint: JointSpec) -> list[ElementForm]:
    """Return the constant elements before the moving elements of a joint: `at`, then `frame`."""
    return constant_elements(joint.at, joint.frame, "frame")


def left_behind(joint: JointSpec) -> list[ElementForm]:
    """Return the constant elements behind the moving elements of a joint: the inverse of `child_at`
    and `child_frame`.
    """
    return [
        element.turned()
        for element in reversed(constant_elements(joint.child_at, joint.child_frame, "child_frame"))
    ]


def constant_elements(at: Direction, frame: Sequence[Transform], name: str) -> list[ElementForm]:
    """Return a shift followed by further constant transforms as elements."""
    elements = [ElementForm(SHIFT, axis=at)] if any(at) else []
    for index, transform in enumerate(frame):
        key = f"{name}[{index}]"
        if (
            transform.coordinate is not None
            or transform.follow is not None
            or depends_on_time(transform.by)
        ):
            raise JointProblem(
                key,
                "a transform that moves",
                "a constant one",
                "moving ones belong into transforms",
            )
        elements.append(fixed_or_given(transform, key))
    return elements


def fixed_or_given(transform: Transform, key: str) -> ElementForm:
    """Return the element of a transform without a coordinate: constant, or prescribed as a function
    of time.
    """
    if (transform.shift is None) == (transform.rotate is None):
        raise JointProblem(key, "both" if transform.shift else "neither", "one of shift and rotate")
    axis = direction(transform.shift or transform.rotate)
    if transform.follow is not None:
        kind, amount = (
            SHIFT_T if transform.rotate is None else ROTATE_T,
            amount_of(transform.follow),
        )
        return ElementForm(kind, axis=nonzero(axis, key), amount=amount)  # type: ignore[arg-type]
    given = depends_on_time(transform.by)
    if transform.rotate is not None:
        if transform.by is None:
            raise JointProblem(key, "rotate alone", "rotate with by or coordinate")
        return ElementForm(
            ROTATE_T if given else ROTATE, axis=nonzero(axis, key), amount=transform.by
        )
    if transform.by is None:
        return ElementForm(SHIFT, axis=axis)
    nonzero(axis, key)
    return (
        ElementForm(SHIFT_T, axis=axis, amount=transform.by)
        if given
        else ElementForm(SHIFT, axis=scaled(axis, transform.by))
    )


def from_transforms(joint: JointSpec) -> JointForm:
    refuse(joint, ("axis", "pitch", "coordinates", "start", "speed"), "transforms")
    if any(joint.child_at) or joint.child_frame:
        key = "child_at" if any(joint.child_at) else "child_frame"
        raise JointProblem(
            key, "an offset of the child", "no transforms", "write it as last transforms"
        )
    elements, names, starts, speeds = placed(joint), [], [], []
    for index, transform in enumerate(joint.transforms or ()):
        key = f"transforms[{index}]"
        coordinate = transform.coordinate
        if coordinate is None:
            for extra in sorted({"factor", "start", "speed"} & transform.model_fields_set):
                raise JointProblem(f"{key}.{extra}", extra, "a coordinate beside it")
            elements.append(fixed_or_given(transform, key))
            continue
        if transform.by is not None:
            raise JointProblem(key, "by and coordinate", "one of them")
        if (transform.shift is None) == (transform.rotate is None):
            raise JointProblem(
                key, "both" if transform.shift else "neither", "one of shift and rotate"
            )
        shared = coordinate in names
        if shared and transform.factor is None:
            raise JointProblem(
                f"{key}.coordinate",
                f"'{coordinate}' twice",
                "a new name",
                "a shared coordinate needs `factor`",
            )
        if not shared:
            names.append(coordinate)
            starts.append(transform.start)
            speeds.append(transform.speed)
        axis = nonzero(direction(transform.shift or transform.rotate), key)
        kind = ROTATE_Q if transform.rotate is not None else SHIFT_Q
        factor = 1.0 if transform.factor is None else transform.factor
        elements.append(
            ElementForm(kind, axis=axis, coordinate=names.index(coordinate), factor=factor)
        )
    return JointForm(
        tuple(elements), tuple(names), tuple(map(speed_name, names)), tuple(starts), tuple(speeds)
    )


def from_type(joint: JointSpec, name: str) -> JointForm:
    kind = KINDS[joint.type or "rigid"]
    coordinates = (
        joint.coordinates
        if joint.coordinates is not None
        else tuple(f"{name}.{suffix}" for suffix in kind.coordinates)
    )
    if len(coordinates) != len(kind.coordinates):
        raise JointProblem(
            "coordinates",
            shown(list(coordinates)),
            f"{len(kind.coordinates)} names for a {kind.name} joint",
        )
    if len(set(coordinates)) != len(coordinates):
        raise JointProblem("coordinates", shown(list(coordinates)), "different names")
    refuse(joint, () if kind.pitch else ("pitch",), f"a {kind.name} joint")
    refuse(joint, () if kind.axes else ("axis",), f"a {kind.name} joint")
    speeds = (
        tuple(map(speed_name, coordinates))
        if kind.speeds is None
        else tuple(f"{name}.{suffix}" for suffix in kind.speeds)
    )
    starts = values(joint.start, len(coordinates), "start", kind.name)
    if kind.quaternion:
        starts = starts[:-4] + unit_quaternion(
            starts[-4:] if joint.start is not None else (1.0, 0.0, 0.0, 0.0)
        )
    start_speeds = values(joint.speed, len(speeds), "speed", kind.name)
    elements = (*placed(joint), *moving(joint, kind), *left_behind(joint))
    return JointForm(elements, coordinates, speeds, starts, start_speeds, kind.quaternion)


def moving(joint: JointSpec, kind: JointKind) -> tuple[ElementForm, ...]:
    """Return the moving elements of a typed joint."""
    axes = [direction(axis) for axis in joint.axis or kind.axes]
    if len(axes) != len(kind.axes):
        raise JointProblem("axis", f"{len(axes)} axes", f"{len(kind.axes)} for a {kind.name} joint")
    if kind.pitch and joint.pitch is None:
        raise JointProblem("pitch", "nothing", f"the advance per turn of a {kind.name} joint")
    return kind.elements([nonzero(axis, "axis") for axis in axes], joint.pitch or 0.0)


def refuse(joint: JointSpec, keys: Sequence[str], what: str) -> None:
    """Report keys that do not apply to a joint."""
    for key in keys:
        if getattr(joint, key) is not None:
            raise JointProblem(
                key,
                key,
                f"no {key} beside {what}" if what == "transforms" else f"no {key} in {what}",
            )


def values(given: tuple[Amount, ...] | None, count: int, key: str, kind: str) -> tuple[Amount, ...]:
    if given is None:
        return (0.0,) * count
    if len(given) != count:
        order = (
            f": {' '.join(KINDS[kind].coordinates)}"
            if key == "start" and count > 1 and kind in KINDS
            else ""
        )
        raise JointProblem(key, f"{len(given)} numbers", f"{count} for a {kind} joint{order}")
    return given


def unit_quaternion(given: Sequence[Amount]) -> tuple[Amount, ...]:
    """Return a quaternion normalised if all four elements are numbers; expressions are normalised
    later.
    """
    if any(isinstance(number, str) for number in given):
        return tuple(given)
    length = math.hypot(*(float(number) for number in given))
    if not length:
        raise JointProblem(
            "start", "a quaternion of length 0", "a rotation w, x, y, z such as 1, 0, 0, 0"
        )
    return tuple(float(number) / length for number in given)
