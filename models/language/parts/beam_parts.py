"""The table [beams.NAME]: flexible beams along their own x axis, which tables name like bodies."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, model_validator

from kinetree.models.language.numbers_and_expressions import Number, fault
from kinetree.models.language.parts.base_table import Named, Part
from kinetree.models.language.parts.body_parts import Shape

FORMS = ("tube", "box", "rectangle")
NUMBERS = ("area", "iy", "iz", "j")


class Section(Part):
    """A cross section: a shape with its sizes, or area and moments of area. Height is along z, width along y."""

    tube: tuple[Number, Number] | None = Field(
        default=None, description="Outer and inner radius; 0 inside: a solid bar [m]"
    )
    box: tuple[Number, Number, Number] | None = Field(
        default=None, description="Height, width and wall thickness [m]"
    )
    rectangle: tuple[Number, Number] | None = Field(
        default=None, description="Height and width [m]"
    )
    area: Number | None = Field(default=None, description="Area [m2]")
    iy: Number | None = Field(
        default=None, description="Second moment of area about y, for deflections along z [m4]"
    )
    iz: Number | None = Field(
        default=None, description="Second moment of area about z, for deflections along y [m4]"
    )
    j: Number | None = Field(
        default=None, description="Torsion constant; left out of a shape: that of the shape [m4]"
    )
    shear_area: tuple[Number, Number] | None = Field(
        default=None,
        description="Areas that resist shear along y and z; left out of a shape: those of the shape [m2]",
    )

    @model_validator(mode="after")
    def one_form(self) -> Section:
        """Raise unless a section is given in exactly one form."""
        forms = [key for key in FORMS if getattr(self, key) is not None]
        given = [key for key in NUMBERS if getattr(self, key) is not None]
        if len(forms) > 1 or (not forms and len(given) < len(NUMBERS)):
            raise fault(
                ", ".join((*forms, *given)) or "nothing", "tube, box, rectangle, or area, iy, iz, j"
            )
        if forms and set(given) - {"j"}:
            raise fault(f"{forms[0]} and {', '.join(given)}", "a shape, or numbers")
        return self

    @property
    def form(self) -> str:
        """Return the key that gives the shape of the section, or "numbers"."""
        return next((key for key in FORMS if getattr(self, key) is not None), "numbers")


def tapered(value: Any) -> Any:
    """Return a single section as a list of one at the root."""
    return value if isinstance(value, (list, tuple)) else ((0.0, value),)


Sections = Annotated[
    tuple[tuple[Number, Section], ...], BeforeValidator(tapered), Field(min_length=1)
]


class Beam(Named):
    """A flexible beam along its own x axis; joints, forces, contacts and outputs name it like a body."""

    length: Number = Field(description="Length of the straight beam [m]")
    section: Sections = Field(
        description="Cross section, or a list of [station, section] between which sizes change linearly"
    )
    material: str = Field(description="Name of a material with its moduli")
    segments: int | None = Field(
        default=None,
        ge=1,
        le=200,
        description="Number of elements (default: 5, of a free beam 6, which gives its first three frequencies to 0.5 %)",
    )
    damping: Number = Field(
        default=0.0,
        description="Damping ratio of its first mode in each direction, clamped at its root [1]",
    )
    bending: Literal["all", "y", "z"] = Field(
        default="all",
        description="Axes of bending: all with twist, or only y or z, which is cheaper",
    )
    shear: bool = Field(default=False, description="Whether the beam deforms in shear")
    extension: bool = Field(default=False, description="Whether the beam deforms along its axis")
    shapes: tuple[Shape, ...] = Field(
        default=(), description="Additional shapes at its stations, for pictures only"
    )
    colour: str | None = Field(default=None, description="Colour of its shape, as for bodies")
    positive: ClassVar[tuple[str, ...]] = ("length",)
    not_negative: ClassVar[tuple[str, ...]] = ("damping",)
