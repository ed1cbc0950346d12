"""The table [chain]: a linear multi-mass chain M ẍ + F ẋ + C x = f(t), given by couplings between
neighbouring masses or by matrices.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import Field, PlainValidator, WithJsonSchema, model_validator

from kinetree.models.language.numbers_and_expressions import (
    NUMBER_SCHEMA,
    Expression,
    InputNumber,
    Number,
    as_number,
    fault,
    problem,
)
from kinetree.models.language.parts.base_table import Part

MEMBER = re.compile(r"(r?[xyz])(\d+)")  # coordinates of one member of six: x3, ry3
COUPLINGS = "a number, a list of numbers, or a matrix as a list of rows"
ROW_SCHEMA = {"type": "array", "items": NUMBER_SCHEMA, "minItems": 1}


def as_couplings(value: Any) -> Any:
    """Return couplings given as one number, a list of numbers, or rows of a matrix, as tuples."""
    if not isinstance(value, (list, tuple)):
        return as_number(value, Expression)
    if not value:
        raise problem(value, COUPLINGS)
    if all(isinstance(row, (list, tuple)) for row in value):
        if any(len(row) != len(value) for row in value):
            raise problem(value, f"a square matrix: {len(value)} rows of {len(value)} numbers")
        return tuple(tuple(as_number(each, Expression) for each in row) for row in value)
    return tuple(as_number(each, Expression) for each in value)


Couplings = Annotated[
    float | str | tuple[float | str, ...] | tuple[tuple[float | str, ...], ...],
    PlainValidator(as_couplings),
    WithJsonSchema(
        {
            "anyOf": [
                *NUMBER_SCHEMA["anyOf"],
                ROW_SCHEMA,
                {"type": "array", "items": ROW_SCHEMA, "minItems": 1},
            ]
        }
    ),
]


class Support(Part):
    """A spring from a mass to a moving support: stiffness*(motion - x)."""

    stiffness: Number = Field(
        description="Stiffness of the spring to the support, added to that of the couplings [N/m]"
    )
    motion: InputNumber = Field(
        default=0.0, description="Displacement of the support; may depend on t and on inputs [m]"
    )


class Chain(Part):
    """A linear multi-mass chain of n masses; n + 1 couplings include walls at both ends, n - 1
    leave the ends free.
    """

    count: int | None = Field(
        default=None,
        ge=1,
        le=100_000,
        description="Number of masses n, if `mass` is one value for all",
    )
    mass: Couplings = Field(
        description="Masses, n numbers or the mass matrix; with `count` one number [kg]"
    )
    stiffness: Couplings = Field(
        description="Stiffness of the couplings: one number or n - 1 between neighbours, n + 1 with both walls (0: free end), or the matrix [N/m]"
    )
    damping: Couplings | None = Field(
        default=None, description="Damping of the couplings, given like `stiffness` [N.s/m]"
    )
    names: tuple[str, ...] = Field(
        default=(), description="Names of the coordinates (default: x1, x2, ...)"
    )
    start: tuple[Number, ...] = Field(
        default=(), description="Coordinates at the start, 0 if left out [m]"
    )
    speed: tuple[Number, ...] = Field(
        default=(), description="Speeds at the start, 0 if left out [m/s]"
    )
    forces: dict[str, InputNumber] = Field(
        default_factory=dict,
        description="Force on a coordinate by its name; may depend on t and on inputs [N]",
    )
    supports: dict[str, Support] = Field(
        default_factory=dict, description="Moving support of a coordinate by its name"
    )

    look: Literal["masses", "coil"] = Field(
        default="masses",
        description="How scenes draw the members: masses with springs between them, or each as one turn of a wire",
    )

    @property
    def size(self) -> int:
        """Return the number of masses."""
        return len(self.mass) if isinstance(self.mass, tuple) else self.count or 1

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Return the names of the coordinates of a chain, in order."""
        return self.names or tuple(f"x{k}" for k in range(1, self.size + 1))

    @model_validator(mode="after")
    def sizes_agree(self) -> Chain:
        """Report lists whose length is not the number of masses or couplings."""
        n = self.size
        allowed = {
            "mass": (n,),
            "stiffness": (n - 1, n + 1),
            "damping": (n - 1, n + 1),
            "start": (0, n),
            "speed": (0, n),
            "names": (0, n),
        }
        for key, lengths in allowed.items():
            value = getattr(self, key)
            if (
                not isinstance(value, tuple)
                or len(value) in lengths
                or (value and isinstance(value[0], tuple) and len(value) == n)
            ):
                continue
            wanted = " or ".join(str(length) for length in lengths if length)
            raise fault(f"{key}: {len(value)} values", f"{wanted} for {n} masses")
        if self.count not in (None, n):
            raise fault(f"count = {self.count}", f"{n}, the number of masses")
        if self.look == "coil" and not all(MEMBER.fullmatch(name) for name in self.coordinates):
            raise fault(
                "look = 'coil'", "coordinates of members, named x1, y1, z1, rx1, ry1, rz1, x2, ..."
            )
        if len(set(self.coordinates)) < n:
            raise fault("names", "every name once")
        for key, table in (("forces", self.forces), ("supports", self.supports)):
            for name in table:
                if name not in self.coordinates:
                    raise fault(f"{key}.{name}", "a coordinate: " + ", ".join(self.coordinates[:8]))
        return self
