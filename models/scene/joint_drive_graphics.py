"""Display of forces along joint coordinates: gears, racks, brake discs and callipers, motors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.models.description.schema import Description
from kinetree.models.forces.kinds import KINDS
from kinetree.models.scene.attachments import Move, Place
from kinetree.models.scene.command_targets import CONTROLLED, boxes, names_in, told
from kinetree.models.scene.default_shapes import DARK, METAL, ROD
from kinetree.models.scene.gear_shapes import rack_teeth, ring, teeth_of, toothed
from kinetree.models.scene.shapes import Part, along, matrix, part

if TYPE_CHECKING:
    from kinetree.models.scene.scene import Scene

Parts = dict[str, list[Part]]
CALLIPER, MOTOR = "#b5473c", "#46607c"
BEVEL = (
    0.05  # radius of the smaller of two wheels whose axes do not tell one, by the size of the scene
)
MAX_DRAWN_RATIO = 5.0  # ratio that is drawn, where the axes do not tell the radii
DISC = 0.06  # radius of a brake disc by the size of the scene
VIEW = np.array([0.62, -1.0, 0.36])  # about where the eye stands first
RIM = 0.62  # of a wheel: what is inside of its tyre


@dataclass(frozen=True)
class Axis:
    """The axis of a joint's degree of freedom at the start: position and direction in ground axes,
    with the axes of parent and child.
    """

    place: Place
    move: Move
    at: np.ndarray
    way: np.ndarray
    parent: np.ndarray
    child: np.ndarray
    child_at: np.ndarray
    span: tuple[float, float] = (0.0, 0.0)  # of the coordinate, over the run

    def on_child(self, forth: float = 0.0) -> np.ndarray:
        """Return the joint's point on the child at the start, shifted by `forth` along the axis."""
        return self.place.on_child + forth * self.move.on_child

    def on_parent(self, forth: float = 0.0) -> np.ndarray:
        return self.place.on_parent + forth * self.move.axis


def axes_of(
    places: Sequence[Place],
    poses: Mapping[str, np.ndarray],
    ranges: Mapping[str, tuple[float, float]],
) -> dict[str, Axis]:
    """Return joint axes by coordinate, for bodies that exist at the start."""
    found: dict[str, Axis] = {}
    for place in places:
        ends = [
            np.r_[np.zeros(3), 1.0, np.zeros(3)] if body == "ground" else first(poses[body])
            for body in (place.parent, place.child)
        ]
        if any(end is None for end in ends):
            continue
        parent, child = (matrix(end[3:]) for end in ends)
        for move in place.moves:
            if move.kind in ("turn", "slide") and move.coordinate:
                at, span = (
                    ends[0][:3] + parent @ place.on_parent,
                    ranges.get(move.coordinate, (0.0, 0.0)),
                )
                found[move.coordinate] = Axis(
                    place, move, at, parent @ move.axis, parent, child, ends[1][:3], span
                )
    return found


def first(poses: np.ndarray) -> Any:
    """Return the first pose in which a body exists (poses are NaN before)."""
    there = np.flatnonzero(np.isfinite(poses[:, 0]))
    return poses[there[0]] if there.size else None


def dress(scene: Scene, axes: Mapping[str, Axis], parts: Parts, joints: Parts) -> None:
    """Add the shapes of forces along coordinates, and motors of drives, to the bodies of a scene."""
    d = scene.description
    for force in d.forces.values():
        draw = KINDS[force.kind].along
        for body, pieces in (
            draw(force, scene.numbers, axes, scene.size, parts) if draw is not None else {}
        ).items():
            own = joints if body == "ground" else parts
            if body != "ground" and toothed_alone(pieces, scene.given[body], parts[body]):
                own[body] = []
            own[body] += pieces
    for coordinate, controlled in driven(d):
        if coordinate in axes:
            body, pieces = motor(axes[coordinate], controlled, scene.size)
            joints[body] += pieces
    for body, pieces in boxes(d, scene.numbers, scene.size, parts).items():
        if body in joints:
            joints[body] += pieces


def toothed_alone(pieces: Sequence[Part], given: Sequence[Part], there: Sequence[Part]) -> bool:
    """Return whether a body should be drawn as a gear instead of its default inertia shape."""
    return (
        any(piece["kind"] == "mesh" for piece in pieces)
        and not given
        and len(there) == 1
        and there[0]["kind"] != "capsule"
    )


def driven(description: Description) -> Iterator[tuple[str, bool]]:
    """Yield the driven coordinates, and whether a controller commands each."""
    commands = {name.partition(".")[0] for name in description.controllers}
    actuators = told(description)
    seen: dict[str, bool] = {}
    for name, actuator in description.actuators.items():
        if actuator.coordinate is not None:
            seen[actuator.coordinate] = seen.get(actuator.coordinate, False) or name in actuators
    force: Any  # kinds differ in their keys
    for force in description.forces.values():
        if force.kind != "coordinate":
            continue
        keys = {key.partition(".")[0] for key in names_in(force.value)}
        if keys & (commands | set(description.inputs)):
            seen[force.coordinate] = seen.get(force.coordinate, False) or bool(keys & commands)
    yield from seen.items()


def motor(axis: Axis, controlled: bool, size: float) -> tuple[str, list[Part]]:
    """Return a motor housing on the parent, behind the pin, with a green terminal box if a
    controller commands it.
    """
    radius, length = 2.6 * ROD * size, 0.075 * size
    back = -1.0 if axis.way @ VIEW > 0.0 else 1.0
    R = along(axis.move.axis)
    if axis.move.kind == "slide":
        middle, side = axis.on_parent(), R[:, 0]
        pieces = [part("box", (2.2 * radius, 2.2 * radius, length), middle, R, MOTOR)]
    else:
        middle, side = axis.on_parent(back * (0.5 * length + 1.8 * ROD * size)), R[:, 0]
        pieces = [part("cylinder", (radius, length), middle, R, MOTOR)]
        pieces.append(
            part(
                "cylinder",
                (1.12 * radius, 0.12 * length),
                middle - 0.46 * back * length * axis.move.axis,
                R,
                DARK,
            )
        )
    if controlled:
        pieces.append(
            part(
                "box",
                (0.7 * radius, 1.1 * radius, 0.5 * length),
                middle + 1.2 * radius * side,
                R,
                CONTROLLED,
            )
        )
    return axis.place.parent, pieces


def brake(axis: Axis, size: float, parts: Mapping[str, Sequence[Part]]) -> Parts:
    """Return a brake disc on the child and a calliper on the parent; for a slide a clamp around its
    guide.
    """
    R = along(axis.move.axis)
    if axis.move.kind == "slide":
        width = 3.4 * ROD * size
        return {
            axis.place.parent: [
                part("box", (width, width, 0.6 * width), axis.on_parent(), R, CALLIPER)
            ]
        }
    wheels = [
        piece for piece in parts.get(axis.place.child, ()) if piece["kind"] in ("wheel", "cylinder")
    ]
    radius = min(
        [
            DISC * size,
            *(
                RIM * each["size"][0]
                for each in wheels
                if each["size"][0] > 0.02 * size and each["colour"] != DARK
            ),
        ]
    )
    wide = max((each["size"][1] for each in wheels), default=0.0)
    forth = 0.5 * wide + 0.4 * radius
    inward = (
        np.array(parts[axis.place.parent][0]["at"]) - axis.place.on_parent
        if parts.get(axis.place.parent)
        else np.zeros(3)
    )
    forth = (
        -forth if (inward @ axis.move.axis if inward.any() else axis.way @ VIEW) < 0.0 else forth
    )
    disc = part(
        "cylinder", (radius, 0.14 * radius), axis.on_child(forth), along(axis.move.on_child), METAL
    )
    calliper = part(
        "box",
        (0.5 * radius, 0.9 * radius, 0.5 * radius),
        axis.on_parent(forth) + 0.85 * radius * R[:, 0],
        R,
        CALLIPER,
    )
    return {axis.place.child: [disc], axis.place.parent: [calliper]}


def gear(
    first: Axis, second: Axis, ratio: float, size: float, parts: Mapping[str, Sequence[Part]]
) -> Parts:
    """Return two toothed wheels that mesh if their axes are parallel; wheel and rack; or wheels
    side by side on skew or common axes.
    """
    kinds = first.move.kind, second.move.kind
    if ratio == 0.0 or kinds == ("slide", "slide"):
        return {}
    if "slide" in kinds:
        slide, wheel, radius = (
            (first, second, abs(ratio)) if kinds[1] == "turn" else (second, first, 1.0 / abs(ratio))
        )
        return rack(slide, wheel, radius, float(np.sign(ratio)), size, parts)
    thick, facing = 0.035 * size, float(first.way @ second.way)
    way = second.at - first.at
    height = float(way @ first.way)
    apart = way - height * first.way
    distance, turning = float(np.linalg.norm(apart)), ratio * np.sign(facing)
    if (
        abs(facing) > 0.99
        and distance > 0.02 * size
        and abs(abs(turning) - 1.0) + (turning > 0.0) > 0.05
    ):
        return meshing(first, second, turning, (apart / distance, distance, height), thick)
    small = BEVEL * size / (1.0 if abs(ratio) >= 1.0 else max(abs(ratio), 1.0 / MAX_DRAWN_RATIO))
    radii = small, small * min(abs(ratio), MAX_DRAWN_RATIO)
    if abs(ratio) < 1.0:
        radii = BEVEL * size * min(1.0 / abs(ratio), MAX_DRAWN_RATIO), BEVEL * size
    shift = 0.8 * thick if distance <= 0.02 * size else 0.0
    return merged(*(
        (axis.place.child, toothed(axis.on_child(forth), along(axis.move.on_child), radius, count(radius, min(radii)), thick, 0.0))
        for axis, radius, forth in zip((first, second), radii, (-shift, shift), strict=True)
    ))  # fmt: skip


def meshing(
    first: Axis,
    second: Axis,
    turning: float,
    between: tuple[np.ndarray, float, float],
    thick: float,
) -> Parts:
    """Return parallel wheels whose pitch circles touch: externally, or the smaller one inside a
    ring gear.
    """
    way, distance, height = between
    radii = np.array([1.0, abs(turning)])
    radii *= distance / (radii.sum() if turning > 0.0 else abs(radii[0] - radii[1]))
    pieces = []
    for k, (axis, sign) in enumerate(((first, 1.0), (second, -1.0))):
        R = along(axis.move.on_child)
        inner = turning < 0.0 and radii[k] == radii.max()
        local = (
            R.T
            @ axis.child.T
            @ (way * (sign if turning > 0.0 else 1.0 if radii[0] > radii[1] else -1.0))
        )
        phase = float(np.arctan2(local[1], local[0]))
        forth = 0.5 * height * sign * float(np.sign(first.way @ axis.way))
        n = count(radii[k], radii.min())
        draw = ring if inner else toothed
        pieces.append(
            (
                axis.place.child,
                draw(
                    axis.on_child(forth),
                    R,
                    float(radii[k]),
                    n,
                    thick,
                    phase + (np.pi / n if k else 0.0),
                ),
            )
        )
    return merged(*pieces)


def rack(
    slide: Axis,
    wheel: Axis,
    radius: float,
    sign: float,
    size: float,
    parts: Mapping[str, Sequence[Part]],
) -> Parts:
    """Return a rack along a translation with a pinion of the ratio's radius; an existing wheel is
    reused.
    """
    thick = 0.035 * size
    n = -sign * np.cross(slide.way, wheel.way)
    length = float(np.linalg.norm(n))
    if length < 0.5:
        return {}
    n = n / length
    R = along(wheel.move.on_child)
    local = R.T @ wheel.child.T @ n
    angle = float(np.arctan2(local[1], local[0]))
    there = next(
        (
            found
            for piece in parts.get(wheel.place.child, ())
            if (found := teeth_of(piece, radius)) is not None
        ),
        None,
    )
    teeth, phase = there or (count(radius, radius), angle)
    pitch = 2.0 * np.pi / teeth
    beside = (angle - phase) % pitch  # from the tooth before the place where they touch
    tangent = float(np.cross(wheel.way, n) @ slide.way)
    contact = wheel.at + radius * n - beside * radius * tangent * slide.way
    axes = np.column_stack([slide.child.T @ slide.way, slide.child.T @ n])
    start = float((slide.child_at + slide.child @ slide.place.on_child - slide.at) @ slide.way)
    at = slide.child.T @ (contact - slide.child_at)
    bar = rack_teeth(
        at, axes, pitch * radius, thick, (start - slide.span[1], start - slide.span[0])
    )
    pinion = toothed(wheel.on_child(), R, radius, teeth, thick, angle) if there is None else []
    return merged((wheel.place.child, pinion), (slide.place.child, bar))


def count(radius: float, smallest: float) -> int:
    """Return the number of teeth of a wheel of which the smallest meshing one has 14."""
    return int(np.clip(round(14 * radius / smallest), 8, 140))


def merged(*made: tuple[str, list[Part]]) -> Parts:
    found: Parts = {}
    for body, pieces in made:
        found.setdefault(body, []).extend(pieces)
    return found
