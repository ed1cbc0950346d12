"""The Modelica drive by rumoca: the same motion as the drive in Python."""

import numpy as np
import pytest
from modelica_package import compiled
from scipy.integrate import solve_ivp

from kinetree.scripts.cosim.hydraulic_drive import Drive
from kinetree.scripts.cosim.valve_cylinder import Cylinder, Valve

pytest.importorskip("rumoca")


def test_modelica_drive_matches_python_drive():
    """Mass on the drive, command 0 until 0.2 s, then 0.5: our rates under a tight Runge-Kutta integration; rumoca's default tolerance decides."""
    cylinder = Cylinder(
        area_a=5e-3, area_b=3.2e-3, volume_a=0.5e-3, volume_b=0.5e-3, shortest=1.35, longest=2.35
    )
    drive = Drive(cylinder, Valve())

    def rates(t: float, y: np.ndarray) -> list[float]:
        length, speed, a, b, spool = y
        rate_a, rate_b = drive.rates(spool, length, speed, a, b)
        return [
            speed,
            (cylinder.force(a, b) - 4250.0) / 1400.0,
            rate_a,
            rate_b,
            ((0.5 if t >= 0.2 else 0.0) - spool) / 0.01,
        ]

    before = solve_ivp(
        rates, (0.0, 0.2), [1.86, 0.0, 44.5e5, 56.25e5, 0.0], rtol=1e-9, atol=1e-9, max_step=1e-3
    )
    after = solve_ivp(rates, (0.2, 0.5), before.y[:, -1], rtol=1e-9, atol=1e-9, max_step=1e-3)
    result = compiled("HoldingExample").simulate((0.0, 0.5))
    assert float(result["length"][-1]) == pytest.approx(after.y[0, -1], rel=1e-4)
    assert float(result["drive.cylinder.pressure_a"][-1]) == pytest.approx(after.y[2, -1], rel=1e-2)
