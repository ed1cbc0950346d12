"""Tables of bodies (mass, inertia, shape) and elementary transforms of joints and frames."""

from __future__ import annotations

from pydantic import ConfigDict, Field, model_validator

from kinetree.models.language.inertia_rotation import rotated, rotation_of
from kinetree.models.language.numbers_and_expressions import (
    Axis,
    Number,
    Tensor,
    TimeNumber,
    Vector,
)
from kinetree.models.language.parts.base_table import ORIGIN, Named, Part
from kinetree.models.language.parts.input_motion_parts import Following


class Shape(Part):
    """A part of a body's geometry: drawn and, with a density, part of its mass.

    Exactly one of box, cylinder, capsule, sphere, extrusion, mesh.
    """

    box: Vector | None = Field(default=None, description="Edge lengths [m]")
    cylinder: tuple[Number, Number] | None = Field(
        default=None, description="Radius and height along z [m]"
    )
    capsule: tuple[Number, Number] | None = Field(
        default=None,
        description="Radius, and distance of the centres of its round ends along z [m]",
    )
    sphere: Number | None = Field(default=None, description="Radius [m]")
    extrusion: tuple[tuple[Number, Number], ...] | None = Field(
        default=None,
        description="Corners x, y of an outline that is extruded along z by `height` [m]",
    )
    height: Number | None = Field(
        default=None, description="Height of an extrusion, half of it on each side of `at` [m]"
    )
    mesh: str | None = Field(
        default=None,
        description="File (.stl, .obj, .ply, .glb, .step, ...), beside the description where the path is relative",
    )
    solid: int | None = Field(
        default=None, description="Which solid of a STEP file, from 1; left out: all of them"
    )
    scale: Number = Field(default=1.0, description="Metres per unit of the mesh's file")
    at: Vector = Field(
        default=ORIGIN, description="Centre (of a mesh: its origin) in the body frame [m]"
    )
    axis: Axis | None = Field(
        default=None, description="Direction of the shape's z axis in the body frame"
    )
    rotate: Vector | None = Field(
        default=None,
        description="Instead of axis: angles about the body's x, then y, then z axis [rad]",
    )
    colour: str | None = Field(
        default=None, description="A name, as orange, or #rrggbb; left out: a colour by the body"
    )
    opacity: Number = Field(default=1.0, description="1 solid ... 0 invisible [1]")
    density: Number | None = Field(
        default=None, description="Instead of the body's; 0: this shape has no mass [kg/m3]"
    )
    material: str | None = Field(
        default=None, description="Name of a material instead of a density"
    )


class Transform(Part):
    """One elementary transform; with neither `by` nor `coordinate` a translation by a constant
    vector.
    """

    shift: Axis | None = Field(
        default=None, description="Shift along this axis, or by this vector [m]"
    )
    rotate: Axis | None = Field(default=None, description="Rotation about this axis")
    by: TimeNumber | None = Field(
        default=None,
        description="Amount: a constant, a given function of t, or an expression over coordinates and t [m or rad]",
    )
    coordinate: str | None = Field(
        default=None, description="Name of the coordinate that is the amount"
    )
    follow: Following | None = Field(default=None, description="The amount is given by an input")
    factor: Number | None = Field(
        default=None,
        description="Amount per unit of a coordinate that an earlier transform of the joint introduced",
    )
    start: Number = Field(default=0.0, description="Coordinate at the start [m or rad]")
    speed: Number = Field(default=0.0, description="Speed at the start [m/s or rad/s]")
    guess: bool = Field(
        default=False, description="Start and speed are only guesses, which closed loops may change"
    )


class Flexible(Part):
    """A flexible body described by modes, reduced by `kinetree flexible`."""

    file: str = Field(description="File of `kinetree flexible`, beside the description")
    damping: float = Field(
        default=0.01,
        ge=0.0,
        description="Damping ratio of every mode (default: that of the file, else 0.01) [1]",
    )


class Body(Named):
    """A rigid body."""

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [
                {"required": [key]}
                for key in ("mass", "density", "material", "shape", "shapes", "flexible")
            ]
        }
    )

    mass: Number = Field(
        default=0.0,
        description="Mass; left out: from density and shapes; 0 where other inertia determines the motion [kg]",
    )
    com: Vector = Field(
        default=ORIGIN,
        description="Centre of mass in the body frame; left out with a density: that of the shapes [m]",
    )
    density: Number | None = Field(
        default=None,
        description="Density of the shapes, from which mass, com and inertia are computed if not given [kg/m3]",
    )
    material: str | None = Field(
        default=None, description="Name of a material instead of a density"
    )
    inertia: Tensor | None = Field(
        default=None,
        description="xx yy zz xy xz yz of the tensor about the centre of mass, body axes [kg.m2]",
    )
    inertia_at_origin: Tensor | None = Field(
        default=None,
        description="Inertia tensor about the origin of the body frame instead [kg.m2]",
    )
    frame: tuple[Transform, ...] = Field(
        default=(),
        description="Constant rotations from the body axes to the axes in which the tensor is given",
    )
    unphysical: bool = Field(
        default=False,
        description="Accept an inertia tensor no rigid body can have, as in published reduced data",
    )
    shape: Shape | None = Field(default=None, description="Shape of the body")
    shapes: tuple[Shape, ...] = Field(default=(), description="Several shapes")
    at: Vector | None = Field(default=None, description="Centre of the shape in the body frame [m]")
    flexible: Flexible | None = Field(
        default=None,
        description="Modes, mass and interfaces of a reduced body; the frame is its root interface, others are bodies NAME.INTERFACE",
    )

    @model_validator(mode="after")
    def in_body_axes(self) -> Body:
        """Return the body with its inertia tensor rotated to body axes."""
        if not self.frame:
            return self
        R = rotation_of(self.frame)
        turned = {
            key: rotated(tensor, R)
            for key in ("inertia", "inertia_at_origin")
            if (tensor := getattr(self, key)) is not None
        }
        return self.model_copy(update=turned | {"frame": ()})
