"""A double-acting cylinder with closed valves as a leg: two oil columns that are compressed and
expanded, and cavitate.

With a the extending side, x the compression of the leg and V_a, V_b the columns without load:

    p_a = p_a0 - E log((V_a - area_a x)/V_a)      p_b = max(p_b0 - E log((V_b + area_b x)/V_b), CAVITATION)      load = area_a p_a - area_b p_b
    p_a0 = p_b0 area_b/area_a: the leg has no load at x = 0

as do the chambers of a circuit with closed valves, dp = -E dV/V. Below the pressure CAVITATION
vapour fills the space that the oil leaves, and condenses reversibly: the law is conservative.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from kinetree.models.expressions.internal_names import hidden
from kinetree.models.expressions.node_arithmetic import E, choose, const, exp, larger, log, name
from kinetree.models.language.numbers_and_expressions import Number
from kinetree.models.language.parts.base_table import Part

if TYPE_CHECKING:
    from kinetree.models.compilation.structure_builder import Builder

CAVITATION = 2e4  # pressure at which vapour begins to fill the oil's place [Pa]
LEAST_VOLUME = 0.01  # part of a column that cannot be squeezed further
PRESSURES = {"pressure_a": "Pa", "pressure_b": "Pa"}


class ShutOil(Part):
    """A leg that is a double-acting cylinder with closed valves; its pressures are NAME.pressure_a
    and NAME.pressure_b.
    """

    area_a: Number = Field(description="Piston area of the extending side [m2]")
    area_b: Number = Field(description="Piston area of the retracting side [m2]")
    volume_a: Number = Field(description="Dead oil volume of the extending side [m3]")
    volume_b: Number = Field(description="Dead oil volume of the retracting side [m3]")
    stroke: Number = Field(description="Largest extension [m]")
    bulk_modulus: Number = Field(
        default=1.4e9, description="Bulk modulus of the oil with its hoses [Pa]"
    )
    pressure_b: Number = Field(
        default=1e5, description="Pressure of the retracting side without load [Pa]"
    )
    positive: ClassVar = ("area_a", "area_b", "volume_a", "volume_b", "stroke", "bulk_modulus")
    not_negative: ClassVar = ("pressure_b",)


def shut_oil(builder: Builder, label: str, oil: ShutOil, extension: E, inside: E) -> tuple[E, E]:
    """Return load and potential of the leg at a compression, and define the pressures as names."""
    part = {
        key: E(builder.node(getattr(oil, key), f"forces.{label}.oil.{key}"))
        for key in type(oil).model_fields
    }
    area, modulus = {"a": part["area_a"], "b": part["area_b"]}, part["bulk_modulus"]
    whole = {
        "a": part["volume_a"] + area["a"] * extension,
        "b": part["volume_b"] + area["b"] * (part["stroke"] - extension),
    }
    rest = {"a": part["pressure_b"] * area["b"] / area["a"], "b": part["pressure_b"]}
    load, stored = const(0.0), const(0.0)
    for side, sign in (("a", 1.0), ("b", -1.0)):
        ratio = larger(1.0 - sign * area[side] * inside / whole[side], LEAST_VOLUME)
        least = exp((rest[side] - CAVITATION) / modulus)  # ratio at which vapour begins
        squeezed = choose(ratio < least, ratio, least) if side == "b" else ratio
        pressure = rest[side] - modulus * log(ratio)
        pressure = larger(pressure, CAVITATION) if side == "b" else pressure
        builder.define(hidden(label, f"pressure_{side}"), pressure.node)
        builder.offer(f"{label}.pressure_{side}", hidden(label, f"pressure_{side}"))
        load = load + sign * area[side] * name(hidden(label, f"pressure_{side}"))
        # the work -int p dV from the ratio 1 on
        stored = stored - whole[side] * (
            rest[side] * (squeezed - 1.0)
            - modulus * (squeezed * log(squeezed) - squeezed + 1.0)
            + pressure * (ratio - squeezed)
        )
    return load, stored
