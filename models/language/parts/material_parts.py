"""The table [materials.NAME]: materials of bodies and beams."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from kinetree.models.language.numbers_and_expressions import Number
from kinetree.models.language.parts.base_table import Named

SHEAR_RATIO = 2.6  # E/G of an isotropic material with Poisson's ratio 0.3


class Material(Named):
    """A material: its density, and for beams also its elastic moduli."""

    density: Number = Field(description="Mass per volume [kg/m3]")
    youngs_modulus: Number | None = Field(
        default=None, description="Stress per strain in tension; beams need it [Pa]"
    )
    shear_modulus: Number | None = Field(
        default=None,
        description="Shear stress per shear strain; left out: youngs_modulus/2.6 [Pa]",
    )
    yield_stress: Number | None = Field(
        default=None,
        description="Stress at which it yields [Pa]",
    )
    positive: ClassVar[tuple[str, ...]] = (
        "density",
        "youngs_modulus",
        "shear_modulus",
        "yield_stress",
    )
