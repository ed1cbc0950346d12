"""Published co-simulation benchmarks over the communication step: oscillator and hydraulic manipulator of LIM, A Coruna, hydraulic arm of Exudyn.

`python -m kinetree.scripts.cosim.benchmarks PICTURE` plots the energy that the masters add to the
oscillator, the error of the manipulator's cylinder, and the error of the check sum published with
the arm, whose valve is set once per step.
"""

from __future__ import annotations

import math
import sys
from dataclasses import replace

import numpy as np

from kinetree.models.result.atomic_file import whole_file
from kinetree.scripts.cosim.run_master import cosimulate
from kinetree.scripts.cosim.scenario import read_scenario
from kinetree.scripts.cosim.two_masses import ENERGY, coupled_by_displacement, energy
from kinetree.scripts.cosim.wired_scenario import run_wired

END = 2.0  # of the oscillator's run [s]
CASES = {
    "held": ("held", 0),
    "straight": ("held", 1),
    "parabolic": ("held", 2),
    "repeat": ("repeat", 0),
    "jacobian": ("jacobian", 0),
}
CUTS = {
    "manipulator": "force and displacement",
    "manipulator-pressure": "pressures and displacement",
}
ARM_END, ARM_SUM = (
    0.4,
    7.10380418525,
)  # time [s] and value of the arm's sum when its valve is set continuously
ARM_PUBLISHED = {
    1e-3: 7.130440021870293,
    1e-4: 7.106493824843002,
    1e-5: 7.104058938828727,
}  # Exudyn 1.13.6, hydraulicActuatorSimpleTest, by its step
ARM_CASES = {"held": ("sequential", 0), "straight": ("sequential", 1), "jacobian": ("jacobian", 0)}
FINE = 2.5e-4  # step of the interface Jacobian that stands for the exact manipulator [s]


def energy_error(case: str, step: float) -> float:
    """Return the largest deviation of the oscillator's energy, relative to the initial energy."""
    master, order = CASES[case]
    plan = coupled_by_displacement(master)
    recorded = [(half, name) for name in ("x", "v") for half in plan.slaves]
    columns = cosimulate(plan.make(order), END, step, recorded).columns.values()
    return max(abs(energy(*state) / ENERGY - 1.0) for state in zip(*columns))


def manipulator_error(cut: str, step: float, exact: tuple[np.ndarray, np.ndarray]) -> float:
    """Return the largest error of the cylinder's length in manoeuvre M1; NaN where the coupling has
    become unstable.
    """
    trace = run_wired(read_scenario(f"lib:{cut}"), "held", step, 10.0).trace
    return (
        float(np.abs(trace["mechanics.s"] - np.interp(trace.time, *exact)).max())
        if trace.stable
        else np.nan
    )


def arm_sum(theta: float, p0: float, p1: float) -> float:
    """Return the check sum of the published test: displacement, angle and pressures [MPa]."""
    return math.hypot(
        0.5 * math.cos(theta) - 0.5, 0.5 * math.sin(theta), theta
    ) + 1e-6 * math.hypot(p0, p1)


def arm_error(case: str, step: float) -> float:
    """Return the error of the arm's check sum in a co-simulation by one of the master cases."""
    master, order = ARM_CASES[case]
    trace = run_wired(
        replace(read_scenario("lib:arm"), extrapolation=order), master, step, ARM_END
    ).trace
    return arm_sum(*(float(trace[f"arm.{name}"][-1]) for name in ("theta", "p0", "p1"))) - ARM_SUM


def draw(path: str) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13.0, 4.2), layout="constrained")
    left, right, last = figure.subplots(1, 3)
    steps = np.geomspace(2.5e-4, 2e-2, 12)
    for case in CASES:
        left.loglog(steps, [energy_error(case, float(h)) for h in steps], marker=".", label=case)
    left.set_ylim(1e-8, 10.0)
    left.set_title("Linear oscillator, displacements exchanged", fontsize="medium")
    left.set_ylabel("largest error of the energy, relative")
    fine = run_wired(read_scenario("lib:manipulator-pressure"), "jacobian", FINE, 10.0).trace
    steps = np.geomspace(5e-4, 1e-1, 24)
    for cut, text in CUTS.items():
        errors = [manipulator_error(cut, float(h), (fine.time, fine["mechanics.s"])) for h in steps]
        (line,) = right.loglog(steps, errors, marker=".", label=text)
        if np.isnan(errors).any():
            limit = float(steps[np.isnan(errors)][0])
            right.axvline(limit, color=line.get_color(), linestyle=":")
            right.text(
                limit,
                2e-5,
                f" unstable from {1e3 * limit:.0f} ms",
                color=line.get_color(),
                fontsize="small",
            )
    right.set_title("Hydraulic manipulator, held values", fontsize="medium")
    right.set_ylabel("largest error of the cylinder's length [m]")
    steps = np.geomspace(2e-4, 8e-3, 8)
    for case in ARM_CASES:
        last.loglog(
            steps,
            [abs(arm_error(case, ARM_END / round(ARM_END / h))) for h in steps],
            marker=".",
            label=case,
        )
    last.loglog(
        list(ARM_PUBLISHED),
        [abs(value - ARM_SUM) for value in ARM_PUBLISHED.values()],
        "kx",
        label="published (Exudyn)",
    )
    last.set_title("Hydraulic arm, valve outside", fontsize="medium")
    last.set_ylabel("error of the published sum at 0.4 s, of 7.1")
    for axes in (left, right, last):
        axes.set_xlabel("communication step [s]")
        axes.legend(fontsize="small")
        axes.grid(alpha=0.3)
    with whole_file(path) as draft:
        figure.savefig(draft, dpi=120)


if __name__ == "__main__":
    draw(sys.argv[1])
