"""Schema of the soil under a contact."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from kinetree.models.language.numbers_and_expressions import Axis, Number, Vector
from kinetree.models.language.parts.base_table import ORIGIN, Part

MOST_CELLS = 500


class Track(Part):
    """A straight strip of ground that stores the ruts of wheels; beyond its ends the soil is always
    undisturbed.
    """

    at: Vector = Field(default=ORIGIN, description="Where the strip begins, ground axes [m]")
    along: Axis = Field(
        default=(1.0, 0.0, 0.0), description="Direction in which it runs, ground axes"
    )
    length: Number = Field(description="Length of the strip [m]")
    cells: int = Field(
        default=20,
        ge=2,
        le=MOST_CELLS,
        description="Number of points at which the rut depth is stored, with linear interpolation",
    )
    follows: tuple[str, ...] = Field(
        default=(),
        description="Tyres with a track whose ruts this wheel rolls in too, such as the wheel before it",
    )
    positive: ClassVar = ("length",)


class Soil(Part):
    """Soil that settles plastically under a load above its strength, and is elastic below if it has
    a stiffness.
    """

    strength: Number = Field(
        default=0.0, description="Load at which fresh soil starts to settle [N]"
    )
    hardening: Number = Field(
        default=0.0, description="Growth of the strength with the settlement [N/m]"
    )
    friction_modulus: Number = Field(
        default=0.0,
        description="Bekker's k_phi: pressure per sinkage**exponent, in N/m**(exponent + 2)",
    )
    cohesion_modulus: Number = Field(
        default=0.0,
        description="Bekker's k_c: cohesive part of the pressure times width, in N/m**(exponent + 1)",
    )
    exponent: Number = Field(default=1.0, description="Exponent of the sinkage in Bekker's law [1]")
    width: Number | None = Field(
        default=None,
        description="Width of the wheel, or smaller side of the plate, for Bekker's law [m]",
    )
    area: Number | None = Field(
        default=None,
        description="Area of the plate, for Bekker's law; of a wheel it follows from its sinkage [m2]",
    )
    viscosity: Number = Field(description="Load above the strength per settling speed [N.s/m]")
    stiffness: Number | None = Field(
        default=None,
        description="Stiffness of the elastic part, which rebounds [N/m]; left out: rigid below its strength",
    )
    stiffening: Number = Field(
        default=0.0, description="Growth of that stiffness with the settlement [N/m2]"
    )
    damping: Number = Field(
        default=0.0,
        description="Damping of the elastic part, such as by waves that leave it [N.s/m]",
    )
    track: Track | None = Field(
        default=None, description="Strip of ground that stores the rut of a tyre"
    )
    positive: ClassVar = ("viscosity", "stiffness", "exponent", "width", "area")
    not_negative: ClassVar = (
        "strength",
        "hardening",
        "friction_modulus",
        "cohesion_modulus",
        "stiffening",
        "damping",
    )
