"""Simulate the FMU by one call and compare with `kinetree run`."""

import fmpy
import numpy as np

rows = fmpy.simulate_fmu(
    "arm.fmu",
    stop_time=4.0,
    output_interval=0.01,
    start_values={"load_mass": 3.0, "torque": 84.0},  # parameters, and inputs that stay constant
    output=["lift", "tip_height", "stage"],
)
reference = np.genfromtxt("reference.csv", delimiter=",", names=True)
height = np.interp(rows["time"], reference["time"], reference["tip_height"])
print(f"tip height at the end: {rows['tip_height'][-1]:.6f} m, stage {rows['stage'][-1]}")
print(f"largest difference to kinetree run: {abs(rows['tip_height'] - height).max():.0e} m")
