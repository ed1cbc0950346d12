"""Runs a scenario and judges it: stability, error against the monolithic reference, energy error."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from kinetree.models.result.atomic_file import write_text
from kinetree.scripts.cosim.monolithic_reference import reference
from kinetree.scripts.cosim.power_bonds import bonds_of
from kinetree.scripts.cosim.run_master import Trace, cosimulate
from kinetree.scripts.cosim.scenario import Scenario
from kinetree.scripts.cosim.scenario_units import actuated, coupled, settled
from kinetree.scripts.cosim.schemes import couple
from kinetree.scripts.cosim.step_size_control import StepControl

BAR = 1e5
FINE = 5e-4  # largest output step of the reference [s]
SIDES = ("pressure_a", "pressure_b")
ACCURATE, ROUGH = 0.02, 0.1  # largest error of a pressure, relative to the largest pressure


@dataclass
class Outcome:
    """The results of a co-simulation run and of its reference."""

    scenario: str
    scheme: str
    step_size: float
    stop_time: float
    trace: Trace
    reference: dict[str, np.ndarray]
    peak_pressure_error: float  # [Pa]
    wall_time: float
    notes: list[str] = field(default_factory=list)
    place: str = "length [m]"
    controlled: bool = False  # whether the length of the steps was controlled

    @property
    def peak_length_error(self) -> float:
        """Return the largest error of the actuator's length or angle."""
        if not self.reference:
            return math.nan
        return float(
            np.max(
                np.abs(
                    self.trace["length"]
                    - np.interp(self.trace.time, self.reference["time"], self.reference["length"])
                )
            )
        )

    @property
    def peak_pressure(self) -> float:
        """Return the largest pressure of the reference."""
        return (
            float(max(np.max(np.abs(self.reference[side])) for side in SIDES))
            if self.reference
            else math.nan
        )

    @property
    def verdict(self) -> str:
        """Return the verdict: not stable; accurate, rough or wrong by the relative pressure error;
        or stable where there is no reference.
        """
        if not self.trace.stable:
            return "not stable"
        if not self.reference:
            return "stable"
        share = self.peak_pressure_error / self.peak_pressure
        return "accurate" if share <= ACCURATE else "rough" if share <= ROUGH else "wrong"

    def step(self, which: Callable[[np.ndarray], Any]) -> float | None:
        """Return a statistic of the communication steps, such as the mean, without the shortened
        last one.
        """
        made = np.diff(self.trace.time)
        return float(which(made[:-1] if made.size > 1 else made)) if made.size else None

    def report(self) -> dict[str, Any]:
        """Return the results as plain data for --json."""
        residual = self.trace.energy_residual
        return {
            "scenario": self.scenario,
            "scheme": self.scheme,
            "step_size": self.step_size,
            "stop_time": self.stop_time,
            "stable": self.trace.stable,
            "verdict": self.verdict,
            "message": self.trace.message,
            "peak_pressure_error_bar": self.peak_pressure_error / BAR
            if math.isfinite(self.peak_pressure_error)
            else None,
            "peak_length_error": self.peak_length_error
            if math.isfinite(self.peak_length_error)
            else None,
            "peak_pressure_bar": self.peak_pressure / BAR if self.reference else None,
            "energy_residual_J": float(residual[-1])
            if residual.size and math.isfinite(residual[-1])
            else None,
            "energy_residuals_J": {
                name: float(made[-1]) if math.isfinite(made[-1]) else None
                for name, made in self.trace.energies.items()
            },
            "largest_residual_power_W": self.trace.residual_power
            if math.isfinite(self.trace.residual_power)
            else None,
            "steps": len(self.trace.time) - 1,
            "smallest_step_s": self.step(np.min),
            "largest_step_s": self.step(np.max),
            "notes": self.notes,
            "reached_s": float(self.trace.time[-1]),
            "wall_time_s": round(self.wall_time, 4),
        }


def run_coupled(
    scenario: Scenario,
    scheme: str,
    step_size: float,
    stop_time: float,
    units: str = "process",
    progress: Callable[[float], None] | None = None,
) -> Outcome:
    """Run a drive coupled to an actuator by one scheme, and the monolithic reference."""
    scenario, raw = replace(scenario, step_size=step_size), actuated(scenario)
    with TemporaryDirectory(prefix="kinetree-cosim-") as folder:
        slaves = coupled(scenario, scheme, raw, units, Path(folder))
    (mechanism, drive), name = slaves[:2], scenario.coupling.actuator if scenario.coupling else ""
    plan = couple(scheme, mechanism, drive, name, *slaves[2:])
    inside = scheme == "chambers"
    sides = [(mechanism, f"{name}.{side}") if inside else (drive, side) for side in SIDES]
    recorded = [
        *sides,
        (mechanism, f"{name}.length"),
        (mechanism, f"{name}.speed"),
        (drive, "spool"),
    ]
    control = StepControl(scenario.control, step_size) if scenario.control else None
    began = time.perf_counter()
    try:
        trace = cosimulate(
            plan.make(scenario.extrapolation),
            stop_time,
            step_size,
            recorded,
            bonds_of(plan.wires),
            progress,
            control,
        )
    finally:
        for slave in slaves:
            slave.close()
    wall = time.perf_counter() - began
    trace.columns = dict(
        zip((*SIDES, "length", "speed", "spool"), trace.columns.values(), strict=True)
    )
    truth = reference(raw, name, *settled(scenario, raw, False), stop_time, min(FINE, step_size))
    exact = {
        "time": truth.time,
        "length": truth[f"{name}_length"],
        **{side: truth[side] for side in SIDES},
    }
    worst = max(
        float(np.max(np.abs(trace[side] - np.interp(trace.time, truth.time, exact[side]))))
        for side in SIDES
    )
    spec = scenario.unit(scenario.coupling.drive).drive if scenario.coupling else None
    place = "angle [rad]" if spec and spec.rotary else "length [m]"
    return Outcome(
        scenario.name,
        scheme,
        step_size,
        stop_time,
        trace,
        exact,
        worst,
        wall,
        place=place,
        controlled=control is not None,
    )


def write_json(outcome: Outcome, path: Path) -> None:
    write_text(path, json.dumps(outcome.report(), indent=1) + "\n")
