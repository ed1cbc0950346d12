"""An outrigger jack: a leg of prescribed extension."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from kinetree.models.expressions.internal_names import hidden
from kinetree.models.expressions.node_arithmetic import E
from kinetree.models.expressions.vectors import (
    NOWHERE,
    direction,
    position,
    rate_of,
    registers,
    spin,
    vector_of,
    velocity,
)
from kinetree.models.forces.contacts import (
    Acting,
    add_load,
    contact_book,
    normal_force,
    side_forces,
    warn_of_friction_speed,
)
from kinetree.models.forces.force_kind import ForceKind, OwnState
from kinetree.models.forces.force_schema import DOWN, Sided, TableName
from kinetree.models.forces.ground import Ground
from kinetree.models.forces.locked_cylinder import PRESSURES, ShutOil, shut_oil
from kinetree.models.forces.outlines import plane_axes
from kinetree.models.forces.soil import check_soil, soil_states
from kinetree.models.language.basic_checks import Path
from kinetree.models.language.numbers_and_expressions import Axis, Law
from kinetree.models.language.numbers_and_expressions import Vector as Numbers
from kinetree.models.language.parts.base_table import ORIGIN

if TYPE_CHECKING:
    from kinetree.models.checks.consistency_check import Checker
    from kinetree.models.compilation.structure_builder import Builder


class JackForce(Sided):
    """Outrigger jack: a leg of prescribed extension whose foot stands on the ground and lifts off."""

    kind: Literal["jack"] = "jack"
    stiffness: Law = Field(
        default=0.0,
        description="Stiffness of the leg per compression**exponent [N/m for exponent 1]",
    )
    body: str = Field(description="The body that carries the jack")
    point: Numbers = Field(default=ORIGIN, description="Foot at extension 0, body frame [m]")
    axis: Axis = Field(default=DOWN, description="Direction in which the jack extends, body axes")
    extension: Law = Field(default=0.0, description="Extension of the unloaded leg [m]")
    law: TableName | None = Field(
        default=None,
        description="Table: force of the leg over its compression, instead of the stiffness",
    )
    oil: ShutOil | None = Field(
        default=None,
        description="A cylinder with closed valves as the leg, instead of the stiffness",
    )


def pressures(force: JackForce) -> dict[str, str]:
    return PRESSURES if force.oil is not None else {}


def states(force: JackForce) -> dict[str, OwnState]:
    """Return the states of a jack: those of the soil, and the side travels of the foot."""
    return soil_states(force) | (
        {}
        if force.side_stiffness == 0.0
        else {"travel_1": OwnState("m"), "travel_2": OwnState("m")}
    )


def add_jack(builder: Builder, label: str, force: JackForce) -> None:
    """Add a jack; the compression of its leg is the penetration that the unloaded foot would have."""
    key, body = f"forces.{label}", builder.body[force.body]
    point = vector_of(builder, force.point, f"{key}.point")
    node = builder.node(force.extension, f"{key}.extension")
    place, speed = (
        position(builder, hidden(label, "position"), body, point),
        velocity(builder, hidden(label, "velocity"), body, point),
    )
    axis = direction(
        builder, hidden(label, "axis"), body, vector_of(builder, force.axis, f"{key}.axis")
    )
    arm = axis.times(E(node))
    own = axis.times(rate_of(builder, node, f"{key}.extension"))
    speed = speed.plus(spin(builder, hidden(label, "spin"), body).cross(arm)).plus(own)
    ground = Ground(builder, label, force, place.plus(arm))
    leg = None if force.oil is None else partial(shut_oil, builder, label, force.oil, E(node))
    load = normal_force(
        builder, label, force, ground.depth, ground.sinking(speed), ground.soil, leg
    )
    axes = plane_axes(ground.normal)
    sides = side_forces(
        builder, label, force, ("travel_1", "travel_2"), load, [speed.dot(each) for each in axes]
    )
    across = axes[0].times(sides[0]).plus(axes[1].times(sides[1]))
    add_load(
        builder, body, registers(builder, point), NOWHERE, ground.away.times(load).plus(across), arm
    )
    contact_book(builder, label, body, ground, Acting(across, speed, speed, own))


def check_jack(checker: Checker, path: Path, force: JackForce) -> None:
    given = [key for key in ("stiffness", "law", "oil") if key in force.model_fields_set]
    if not given:
        checker.complain((*path, "stiffness"), "nothing", "stiffness, law or oil")
    if len(given) > 1:
        checker.complain((*path, given[-1]), " and ".join(given), "one law of the leg")
    if "exponent" in force.model_fields_set and "stiffness" not in given:
        checker.complain((*path, "exponent"), "exponent", "a stiffness, of whose law it is a part")
    check_soil(checker, path, force)
    warn_of_friction_speed(checker, path, force)


def foot(force: JackForce, numbers: Any) -> tuple[Any, Any, float]:
    """Return the foot's point at extension 0, the direction of the leg, and its extension."""
    axis = numbers.vector(force.axis)
    return (
        numbers.vector(force.point),
        axis / (float((axis @ axis) ** 0.5) or 1.0),
        numbers.number(force.extension),
    )


def parts(force: JackForce, numbers: Any, size: float) -> dict[str, list[Any]]:
    from kinetree.models.scene.force_graphics import leg

    return {force.body: leg(*foot(force, numbers), size)}


def touch(force: JackForce, numbers: Any) -> tuple[Any, float]:
    point, axis, extension = foot(force, numbers)
    return point + extension * axis, 0.0


FORCE = ForceKind(
    JackForce,
    add_jack,
    says="N as `contact`, over the compression of the leg, by `stiffness`, a table `law` or shut `oil`; side forces as `tyre`, in both directions",
    rank=8,
    measures={"penetration": "m"},
    more=pressures,
    states=states,
    check=check_jack,
    clearance=True,
    parts=parts,
    touch=touch,
    example={
        "extension": 0.4, "height": 0.2, "stiffness": 300.0, "damping": 3.0, "side_stiffness": 100.0, "side_damping": 1.0, "friction": 0.5,
    },
)  # fmt: skip
