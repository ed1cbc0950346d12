"""Joints as sequences of elements from the parent frame to the child frame (`layout.Element`).

Typed joints are shorthands for such sequences; a screw is a rotation and a shift that share a coordinate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kinetree.models.description.errors import shown
from kinetree.models.description.following_parts import amount_of
from kinetree.models.description.quantities import AXES, Expression
from kinetree.models.description.schema import JointSpec, Transform
from kinetree.models.expressions.text import ExpressionError, names, parse
from kinetree.solvers.layout import Element

Amount = float | str
Direction = tuple[Amount, Amount, Amount]

# default coordinate names after the joint's name and a dot; names of speeds that are not the coordinate's derivative
POSITION = ("x", "y", "z")
QUATERNION = ("qw", "qx", "qy", "qz")
RATES = ("wx", "wy", "wz")
FREEDOMS: dict[str, tuple[str, ...]] = {
    "rigid": (),
    "revolute": ("angle",),
    "prismatic": ("s",),
    "cylindrical": ("s", "angle"),
    "universal": ("angle1", "angle2"),
    "spherical": QUATERNION,
    "planar": ("x", "y", "angle"),
    "screw": ("angle",),
    "free": POSITION + QUATERNION,
}
QUATERNION_SPEEDS = {"spherical": RATES, "free": ("vx", "vy", "vz", *RATES)}
WITHOUT_AXIS = ("rigid", "spherical", "free")


class JointProblem(ValueError):
    """A joint that cannot be expanded."""

    def __init__(self, key: str, found: str, expected: str, hint: str = ""):
        super().__init__(f"{key}: found {found}, expected {expected}")
        self.key, self.found, self.expected, self.hint = key, found, expected, hint


@dataclass(frozen=True)
class ElementForm:
    """One element: SHIFT takes `axis` as the constant vector; others move along or about `axis` by `amount` or by factor times a coordinate."""

    kind: Element
    axis: Direction | None = None
    amount: Amount | None = None
    coordinate: int | None = None  # local index; of the first one for BALL and FREE
    factor: Amount = 1.0


@dataclass(frozen=True)
class JointForm:
    """A joint expanded: elements, names and start values of its coordinates and speeds."""

    elements: tuple[ElementForm, ...] = ()
    coordinates: tuple[str, ...] = ()
    speeds: tuple[str, ...] = ()
    starts: tuple[Amount, ...] = ()
    start_speeds: tuple[Amount, ...] = ()
    quaternion: bool = False
    rotors: tuple[Amount, ...] = ()  # inertias of motors reflected to the speeds; none: no motors


def joint_elements(joint: JointSpec, name: str) -> JointForm:
    """Expand a joint; raises JointProblem where it contradicts itself."""
    if (joint.type is None) == (joint.transforms is None):
        raise JointProblem("", "neither type nor transforms" if joint.type is None else "both type and transforms", "one of type and transforms")
    form = from_transforms(joint) if joint.type is None else from_type(joint, name)
    if joint.rotor_inertia is None:
        return form
    if form.elements and form.elements[-1].kind == Element.FREE:
        raise JointProblem("rotor_inertia", "a motor", "none at a free joint")
    if len(joint.rotor_inertia) != len(form.speeds):
        raise JointProblem("rotor_inertia", f"{len(joint.rotor_inertia)} numbers", f"{len(form.speeds)}, one per speed")
    return replace(form, rotors=joint.rotor_inertia)


def speed_name(coordinate: str) -> str:
    return f"der({coordinate})"


def depends_on_time(amount: Amount | None) -> bool:
    """Whether t occurs in an expression; one that cannot be read is reported elsewhere."""
    try:
        return isinstance(amount, str) and "t" in names(parse(amount))
    except ExpressionError:
        return False


def placed(joint: JointSpec) -> list[ElementForm]:
    """Constant elements that come first: `at`, then `frame`."""
    return constant_elements(joint.at, joint.frame, "frame")


def left_behind(joint: JointSpec) -> list[ElementForm]:
    """Constant elements that come last, from the joint frame to the child frame: `child_at` and `child_frame` backwards."""
    return [backwards(element) for element in reversed(constant_elements(joint.child_at, joint.child_frame, "child_frame"))]


def backwards(element: ElementForm) -> ElementForm:
    """The inverse of a constant element."""
    if element.kind == Element.SHIFT:
        x, y, z = element.axis or (0.0, 0.0, 0.0)
        return ElementForm(Element.SHIFT, axis=(negated(x), negated(y), negated(z)))
    return ElementForm(element.kind, axis=element.axis, amount=negated(element.amount or 0.0))


def negated(amount: Amount) -> Amount:
    return Expression(f"-({amount})") if isinstance(amount, str) else -amount


def constant_elements(at: Direction, frame: Sequence[Transform], name: str) -> list[ElementForm]:
    """A shift and further constant transforms."""
    elements = [ElementForm(Element.SHIFT, axis=at)] if any(at) else []
    for index, transform in enumerate(frame):
        key = f"{name}[{index}]"
        if transform.coordinate is not None or transform.follow is not None or depends_on_time(transform.by):
            raise JointProblem(key, "a transform that moves", "a constant one", "moving ones belong into transforms")
        elements.append(fixed_or_given(transform, key))
    return elements


def fixed_or_given(transform: Transform, key: str) -> ElementForm:
    """The element of a transform without a coordinate: constant, or a given function of time."""
    if (transform.shift is None) == (transform.rotate is None):
        raise JointProblem(key, "both" if transform.shift else "neither", "one of shift and rotate")
    axis = direction(transform.shift or transform.rotate)
    if transform.follow is not None:
        kind, amount = Element.SHIFT_T if transform.rotate is None else Element.ROTATE_T, amount_of(transform.follow)
        return ElementForm(kind, axis=nonzero(axis, key), amount=amount)  # type: ignore[arg-type]
    given = depends_on_time(transform.by)
    if transform.rotate is not None:
        if transform.by is None:
            raise JointProblem(key, "rotate alone", "rotate with by or coordinate")
        return ElementForm(Element.ROTATE_T if given else Element.ROTATE, axis=nonzero(axis, key), amount=transform.by)
    if transform.by is None:
        return ElementForm(Element.SHIFT, axis=axis)
    nonzero(axis, key)
    return ElementForm(Element.SHIFT_T, axis=axis, amount=transform.by) if given else ElementForm(Element.SHIFT, axis=scaled(axis, transform.by))


def from_transforms(joint: JointSpec) -> JointForm:
    refuse(joint, ("axis", "pitch", "coordinates", "start", "speed"), "transforms")
    if any(joint.child_at) or joint.child_frame:
        key = "child_at" if any(joint.child_at) else "child_frame"
        raise JointProblem(key, "an offset of the child", "no transforms", "write it as last transforms")
    elements, names, starts, speeds = placed(joint), [], [], []
    for index, transform in enumerate(joint.transforms or ()):
        key = f"transforms[{index}]"
        coordinate = transform.coordinate
        if coordinate is None:
            for extra in {"factor", "start", "speed"} & transform.model_fields_set:
                raise JointProblem(f"{key}.{extra}", extra, "a coordinate beside it")
            elements.append(fixed_or_given(transform, key))
            continue
        if transform.by is not None:
            raise JointProblem(key, "by and coordinate", "one of them")
        if (transform.shift is None) == (transform.rotate is None):
            raise JointProblem(key, "both" if transform.shift else "neither", "one of shift and rotate")
        shared = coordinate in names
        if shared and transform.factor is None:
            raise JointProblem(f"{key}.coordinate", f"'{coordinate}' twice", "a new name", "a shared coordinate needs `factor`")
        if not shared:
            names.append(coordinate)
            starts.append(transform.start)
            speeds.append(transform.speed)
        axis = nonzero(direction(transform.shift or transform.rotate), key)
        kind = Element.ROTATE_Q if transform.rotate is not None else Element.SHIFT_Q
        factor = 1.0 if transform.factor is None else transform.factor
        elements.append(ElementForm(kind, axis=axis, coordinate=names.index(coordinate), factor=factor))
    return JointForm(tuple(elements), tuple(names), tuple(map(speed_name, names)), tuple(starts), tuple(speeds))


def from_type(joint: JointSpec, name: str) -> JointForm:
    kind = joint.type or "rigid"
    defaults = FREEDOMS[kind]
    coordinates = joint.coordinates if joint.coordinates is not None else tuple(f"{name}.{suffix}" for suffix in defaults)
    if len(coordinates) != len(defaults):
        raise JointProblem("coordinates", shown(list(coordinates)), f"{len(defaults)} names for a {kind} joint")
    if len(set(coordinates)) != len(coordinates):
        raise JointProblem("coordinates", shown(list(coordinates)), "different names")
    if kind != "screw":
        refuse(joint, ("pitch",), f"a {kind} joint")
    if kind in WITHOUT_AXIS:
        refuse(joint, ("axis",), f"a {kind} joint")
    quaternion = kind in QUATERNION_SPEEDS
    speeds = tuple(f"{name}.{suffix}" for suffix in QUATERNION_SPEEDS[kind]) if quaternion else tuple(map(speed_name, coordinates))
    starts = values(joint.start, len(coordinates), "start", kind)
    if quaternion:
        starts = starts[:-4] + unit_quaternion(starts[-4:] if joint.start is not None else (1.0, 0.0, 0.0, 0.0))
    start_speeds = values(joint.speed, len(speeds), "speed", kind)
    elements = (*placed(joint), *moving(joint, kind), *left_behind(joint))
    return JointForm(elements, coordinates, speeds, starts, start_speeds, quaternion)


def moving(joint: JointSpec, kind: str) -> tuple[ElementForm, ...]:
    """Elements with coordinates of a typed joint."""
    if kind == "rigid":
        return ()
    if kind in ("spherical", "free"):
        return (ElementForm(Element.BALL if kind == "spherical" else Element.FREE, coordinate=0),)
    axes = [direction(axis) for axis in joint.axis or ((AXES["x"], AXES["y"]) if kind == "universal" else (AXES["z"],))]
    expected = 2 if kind == "universal" else 1
    if len(axes) != expected:
        raise JointProblem("axis", f"{len(axes)} axes", f"{expected} for a {kind} joint")
    axis = nonzero(axes[0], "axis")
    if kind == "universal":
        return tuple(ElementForm(Element.ROTATE_Q, axis=nonzero(each, "axis"), coordinate=index) for index, each in enumerate(axes))
    if kind == "planar":
        first, second = perpendiculars(axis)
        return (
            ElementForm(Element.SHIFT_Q, axis=first, coordinate=0),
            ElementForm(Element.SHIFT_Q, axis=second, coordinate=1),
            ElementForm(Element.ROTATE_Q, axis=axis, coordinate=2),
        )
    turn = ElementForm(Element.ROTATE_Q, axis=axis, coordinate=0)
    if kind == "revolute":
        return (turn,)
    slide = ElementForm(Element.SHIFT_Q, axis=axis, coordinate=0)
    if kind == "prismatic":
        return (slide,)
    if kind == "cylindrical":
        return (slide, ElementForm(Element.ROTATE_Q, axis=axis, coordinate=1))
    if joint.pitch is None:
        raise JointProblem("pitch", "nothing", "the advance per turn of a screw joint")
    factor = Expression(f"({joint.pitch})/(2*pi)") if isinstance(joint.pitch, str) else joint.pitch / (2 * math.pi)
    return (turn, ElementForm(Element.SHIFT_Q, axis=axis, coordinate=0, factor=factor))


def refuse(joint: JointSpec, keys: Sequence[str], what: str) -> None:
    """Complain about keys that have no meaning here."""
    for key in keys:
        if getattr(joint, key) is not None:
            raise JointProblem(key, key, f"no {key} beside {what}" if what == "transforms" else f"no {key} in {what}")


def values(given: tuple[Amount, ...] | None, count: int, key: str, kind: str) -> tuple[Amount, ...]:
    if given is None:
        return (0.0,) * count
    if len(given) != count:
        raise JointProblem(key, f"{len(given)} numbers", f"{count} for a {kind} joint")
    return given


def unit_quaternion(given: Sequence[Amount]) -> tuple[Amount, ...]:
    """Normalised where all four are numbers; expressions are normalised by the compiler."""
    if any(isinstance(number, str) for number in given):
        return tuple(given)
    length = math.hypot(*(float(number) for number in given))
    if not length:
        raise JointProblem("start", "a quaternion of length 0", "a rotation w, x, y, z such as 1, 0, 0, 0")
    return tuple(float(number) / length for number in given)


def direction(axis: Sequence[Amount] | None) -> Direction:
    x, y, z = axis or AXES["z"]
    return (x, y, z)


def nonzero(axis: Direction, key: str) -> Direction:
    """The axis itself; an axis of zeros has no direction."""
    if all(component == 0.0 for component in axis):
        raise JointProblem(key, "an axis of length 0", "a direction")
    return axis


def scaled(axis: Direction, amount: Amount) -> Direction:
    """The vector of given length along an axis."""
    if not any(isinstance(number, str) for number in (*axis, amount)):
        length = math.hypot(*(float(component) for component in axis))
        x, y, z = (float(component) / length * float(amount) for component in axis)
        return (x, y, z)
    length = "sqrt(" + "+".join(f"({component})**2" for component in axis) + ")"
    x, y, z = (0.0 if component == 0.0 else Expression(f"({amount})*({component})/{length}") for component in axis)
    return (x, y, z)


def perpendiculars(axis: Direction) -> tuple[Direction, Direction]:
    """Two unit vectors that complete the axis to a right-handed frame; x, y for the z axis."""
    if any(isinstance(component, str) for component in axis):
        raise JointProblem("axis", "an expression", "numbers for a planar joint", "turn the joint frame by `frame` instead")
    numbers = [float(component) for component in axis]
    length = math.hypot(*numbers)
    u = [number / length for number in numbers]
    largest = max(range(3), key=lambda k: abs(u[k]))
    e = [float(k == (largest + 1) % 3) for k in range(3)]
    along = sum(a * b for a, b in zip(e, u, strict=True))
    e = [a - along * b for a, b in zip(e, u, strict=True)]
    size = math.hypot(*e)
    a = (e[0] / size, e[1] / size, e[2] / size)
    return a, (u[1] * a[2] - u[2] * a[1], u[2] * a[0] - u[0] * a[2], u[0] * a[1] - u[1] * a[0])
