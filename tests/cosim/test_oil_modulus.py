"""Oil with free air: the same law in the drive, in both ways in which it is written as a description, and in the circuits of mechanisms."""

import math

import pytest

from kinetree.models.compilation.actuators import bulk_modulus
from kinetree.models.expressions.node_arithmetic import const
from kinetree.models.expressions.parse import evaluate_constant
from kinetree.scripts.cosim import drive_description
from kinetree.scripts.cosim import monolithic_reference as monolithic
from kinetree.scripts.cosim.valve_cylinder import ATMOSPHERE, LEAST_PRESSURE, POLYTROPIC, Cylinder

OIL = 1.4e9


@pytest.mark.parametrize("air", [0.0, 0.005, 0.08])
@pytest.mark.parametrize("pressure", [-1e5, 0.5 * LEAST_PRESSURE, 2e5, 3e6, 2e7])
def test_oil_modulus_matches_compressed_volumes(air: float, pressure: float):
    """-V dp/dV of oil that yields linearly and air that obeys p V^n, by differences; below the least pressure the air expands no further."""
    cylinder = Cylinder(bulk_modulus=OIL, air=air)
    p = max(pressure, LEAST_PRESSURE)

    def volume(at: float) -> float:
        return 1.0 - (at - p) / OIL + air * (ATMOSPHERE / at) ** (1.0 / POLYTROPIC)

    h = 1e-3 * p
    assert cylinder.modulus(pressure) == pytest.approx(
        -volume(p) * 2 * h / (volume(p + h) - volume(p - h)), rel=2e-6
    )
    values = {"p": pressure, "cylinder.bulk_modulus": OIL, "cylinder.air": air}
    for text in (drive_description.modulus("p", air), monolithic.modulus(cylinder, "p")):
        assert evaluate_constant(text, values) == pytest.approx(
            cylinder.modulus(pressure), rel=1e-14
        )
    own = evaluate_constant(bulk_modulus(const(OIL), const(air), const(pressure)).node, {})
    if (
        pressure > 1e5 or not air
    ):  # circuits of mechanisms let their air expand as far as their own least pressure
        assert own == pytest.approx(cylinder.modulus(pressure), rel=1e-14)
    assert math.isfinite(own) and own > 0.0
