"""An elastic bearing between two frames: stiffness and damping against relative displacements and
rotations, also large ones.

With R the axes of the bushing on the first body, d the vector from its point to the second's, and φ
the rotation vector of the second body's axes relative to the first's, z = (Rᵀd, φ):

    U = zᵀ K z/2          (F, m) = -(K z + C dz/dt)          force R F on the second body at its point, moment R (1 + [φ]/2 + c [φ]²) m on it

c = (1 - θ/2 cot(θ/2))/θ². dφ/dt = (1 - [φ]/2 + c [φ]²) ω with the relative angular velocity ω in
axes R, so that the moment is the derivative of U for rotations of any size (below half a turn), and
dz/dtᵀ C dz/dt is the dissipated power.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import Field

from kinetree.models.expressions.internal_names import hidden
from kinetree.models.expressions.measurement_frames import (
    Place,
    Quaternion,
    columns,
    composed,
    relative_quaternion,
    resolved,
)
from kinetree.models.expressions.node_arithmetic import E, choose, const, function, name, root
from kinetree.models.expressions.vectors import Vector, registers, vector_of
from kinetree.models.forces.force_energy import Book
from kinetree.models.forces.force_kind import ForceKind
from kinetree.models.forces.force_schema import Between, ForceTable
from kinetree.models.forces.line_laws import define_force
from kinetree.models.forces.wrench_pairs import add_pair
from kinetree.models.language.basic_checks import Path
from kinetree.models.language.numbers_and_expressions import Number
from kinetree.models.language.numbers_and_expressions import Vector as Numbers
from kinetree.models.language.parts.base_table import ORIGIN
from kinetree.solvers.layout import Op

if TYPE_CHECKING:
    from kinetree.models.checks.consistency_check import Checker
    from kinetree.models.compilation.structure_builder import Builder

Six = tuple[Number, Number, Number, Number, Number, Number]
SIX_ZEROS: Six = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
SERIES_ANGLE = 1e-4  # half angle below which c is 1/12 [rad]
LEAST_SQUARE = 1e-24  # keeps the slope of a size at 0 finite


class BushingForce(ForceTable):
    """Elastic bearing between two frames: force and moment against relative displacements and
    rotations, by six numbers or a matrix of six rows.
    """

    kind: Literal["bushing"] = "bushing"
    between: Between = Field(
        description="Points of attachment on the first body, whose axes are used, and on the second body"
    )
    stiffness: Six | tuple[Six, Six, Six, Six, Six, Six] = Field(
        SIX_ZEROS,
        description="Stiffness along x, y, z and about x, y, z, or the full symmetric matrix [N/m, N, N.m/rad]",
    )
    damping: Six | tuple[Six, Six, Six, Six, Six, Six] = Field(
        SIX_ZEROS,
        description="Damping along x, y, z and about x, y, z, or the full matrix [N.s/m, N.s, N.m.s/rad]",
    )
    rotate: Numbers = Field(
        ORIGIN, description="Rotation of its axes about x, then y, then z of the first body [rad]"
    )
    turned: Numbers = Field(
        ORIGIN,
        description="Rotation vector of the second body's axes at which the moment is zero, in axes of the first body [rad]",
    )


def matrix(builder: Builder, key: str, values: Any) -> list[list[E]]:
    """Return six rows of numbers as expressions."""
    if not isinstance(values[0], tuple):
        values = [[each if i == k else 0.0 for k in range(6)] for i, each in enumerate(values)]
    return [[E(builder.node(each, key)) for each in row] for row in values]


def times(rows: list[list[E]], z: Sequence[E]) -> tuple[Vector, Vector]:
    """Return the force and moment that a 6 x 6 matrix gives for displacement and rotation z."""
    found = [sum((a * b for a, b in zip(row, z, strict=True)), const(0.0)) for row in rows]
    return Vector(*found[:3]), Vector(*found[3:])


def rotation(vector: Vector) -> Quaternion:
    """Return the quaternion of a rotation vector."""
    half = 0.5 * root(vector.dot(vector) + LEAST_SQUARE)
    x, y, z = vector.times(0.5 * function(Op.SIN, half) / half)
    return function(Op.COS, half), x, y, z


def product(a: Quaternion, b: Quaternion) -> Quaternion:
    return relative_quaternion((a[0], -a[1], -a[2], -a[3]), b)


class Turned:
    """A rotation vector, with the maps between angular velocity, its rate and moments."""

    def __init__(self, e: Quaternion):
        sign = choose(e[0] < 0.0, -1.0, 1.0)
        w, way = e[0] * sign, Vector(*e[1:]).times(sign)
        size = root(way.dot(way) + LEAST_SQUARE)
        half = function(Op.ATAN2, size, w)
        self.vector = way.times(2.0 * half / size)
        self.c = choose(
            size < SERIES_ANGLE, 1.0 / 12.0, (1.0 - half * w / size) / (4.0 * half * half)
        )

    def rate(self, spin: Vector, sign: float = -0.5) -> Vector:
        """Return the rate of the rotation vector from the angular velocity `spin`."""
        once = self.vector.cross(spin)
        return spin.plus(once.times(sign)).plus(self.vector.cross(once).times(self.c))

    def moment(self, conjugate: Vector) -> Vector:
        """Return the moment whose power equals that of a force conjugate to the rotation vector."""
        return self.rate(conjugate, 0.5)


def add_bushing(builder: Builder, label: str, force: BushingForce) -> None:
    """Add a bushing with the names NAME.shift_x ... and NAME.turn_x ...; force('NAME') is the
    magnitude of its force.
    """
    key = f"forces.{label}"
    first, second = (
        Place(builder, each.body, vector_of(builder, each.point, f"{key}.between"))
        for each in force.between
    )
    own = cardan_turn(builder, f"{key}.rotate", force.rotate)
    frame = product(first.quaternion(), own)
    axes = columns(frame)
    K, C = (
        matrix(builder, f"{key}.{each}", getattr(force, each)) for each in ("stiffness", "damping")
    )
    offset = second.position().minus(first.position())
    speed = second.velocity().minus(first.velocity()).minus(first.spin().cross(offset))
    shift, moving = resolved(offset, axes), resolved(speed, axes)
    turned = rotation(vector_of(builder, force.turned, f"{key}.turned"))
    turn = Turned(
        product(relative_quaternion(frame, second.quaternion()), relative_quaternion(turned, own))
    )
    twisting = turn.rate(resolved(second.spin().minus(first.spin()), axes))
    for suffix, value in zip(SUFFIXES, (*shift, *turn.vector), strict=True):
        builder.define(hidden(label, suffix), value.node)
        builder.offer(f"{label}.{suffix}", hidden(label, suffix))
    z = [name(hidden(label, suffix)) for suffix in SUFFIXES]
    (push, twist), (drag, brake) = times(K, z), times(C, [*moving, *twisting])
    pull = composed(axes, push.plus(drag).times(-1.0))
    moment = composed(axes, turn.moment(twist.plus(brake)).times(-1.0))
    potential = 0.5 * sum((a * b for a, b in zip(z, (*push, *twist), strict=True)), const(0.0))
    define_force(builder, label, root(pull.dot(pull) + LEAST_SQUARE), potential)
    add_pair(
        builder,
        first.body,
        second.body,
        registers(builder, first.point),
        registers(builder, second.point),
        pull,
        offset,
        moment,
    )

    def lost() -> E:
        return sum(
            (a * b for a, b in zip((*drag, *brake), (*moving, *twisting), strict=True)), const(0.0)
        )

    def power() -> E:
        return pull.dot(speed) + moment.dot(second.spin().minus(first.spin()))

    builder.books[label] = Book(
        power, lost, potential, first.body, lambda: pull.times(-1.0), lambda: moment.times(-1.0)
    )


def conjugate(e: Quaternion) -> Quaternion:
    return e[0], -e[1], -e[2], -e[3]


def cardan_turn(builder: Builder, key: str, angles: tuple) -> Quaternion:
    """Return the quaternion of rotations about x, the new y and the newest z axis."""
    found: Quaternion = (const(1.0), const(0.0), const(0.0), const(0.0))
    for k, angle in enumerate(angles):
        half = 0.5 * E(builder.node(angle, key))
        x, y, z = (function(Op.SIN, half) if k == axis else const(0.0) for axis in range(3))
        found = product(found, (function(Op.COS, half), x, y, z))
    return found


SUFFIXES = ("shift_x", "shift_y", "shift_z", "turn_x", "turn_y", "turn_z")


def check_bushing(checker: Checker, path: Path, force: BushingForce) -> None:
    """Report a bushing without a law, with an unsymmetric stiffness, or one that generates energy."""
    if not {"stiffness", "damping"} & force.model_fields_set:
        checker.complain(path, "no law of the bushing", "stiffness or damping")
    for key in ("stiffness", "damping"):
        values = getattr(force, key)
        rows = (
            values
            if isinstance(values[0], tuple)
            else [[each if i == k else 0.0 for k in range(6)] for i, each in enumerate(values)]
        )
        numbers = [[checker.number(each) for each in row] for row in rows]
        if any(each is None for row in numbers for each in row):
            continue
        found = np.array(numbers, dtype=float)
        size = float(np.abs(found).max())
        if key == "stiffness" and np.abs(found - found.T).max() > 1e-9 * size:
            checker.complain(
                (*path, key),
                "a matrix that is not symmetric",
                "a symmetric one, which has a potential",
            )
        elif np.linalg.eigvalsh(0.5 * (found + found.T)).min() < -1e-9 * size:
            checker.complain(
                (*path, key),
                "a matrix with a negative eigenvalue",
                "none below 0, so that it gives no energy",
            )


def parts(force: BushingForce, numbers: Any, size: float) -> dict[str, list[Any]]:
    from kinetree.models.scene.force_graphics import bearing

    return bearing(force, numbers, size)


FORCE = ForceKind(
    BushingForce,
    add_bushing,
    says="-(K z + C ż) against the six shifts and turns z between two frames, the turns as a rotation vector of any size",
    rank=12,
    told_by=frozenset({"rotate", "turned"}),
    measures={suffix: "m" if suffix.startswith("shift") else "rad" for suffix in SUFFIXES},
    check=check_bushing,
    parts=parts,
    example={
        "kind": "bushing", "stiffness": [60.0, 50.0, 40.0, 3.0, 2.0, 1.0], "damping": [1.0, 0.8, 0.6, 0.1, 0.1, 0.2], "rotate": [0.3, -0.2, 0.4],
        "turned": [0.1, 0.2, -0.1],
    },
)  # fmt: skip
