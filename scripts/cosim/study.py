"""Runs a scenario and judges it: stable or not, how far its pressures are from those of one system that holds both sides, energy of the coupling."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from kinetree.scripts.cosim.masters import Master
from kinetree.scripts.cosim.run import Trace, cosimulate
from kinetree.scripts.cosim.scenario import Scenario
from kinetree.scripts.cosim.schemes import MAKERS
from kinetree.scripts.cosim.units import actuated, coupled, reference
from kinetree.scripts.cosim.watch import Watch

BAR = 1e5
FINE = 5e-4  # largest output step of the reference [s]
SIDES = ("pressure_a", "pressure_b")


@dataclass
class Outcome:
    """A run beside its reference."""

    scenario: str
    scheme: str
    step_size: float
    stop_time: float
    trace: Trace
    reference: dict[str, np.ndarray]
    peak_pressure_error: float  # [Pa]
    wall_time: float
    notes: list[str] = field(default_factory=list)

    def report(self) -> dict[str, Any]:
        """What --json writes."""
        residual = self.trace.energy_residual
        return {
            "scenario": self.scenario,
            "scheme": self.scheme,
            "step_size": self.step_size,
            "stop_time": self.stop_time,
            "stable": self.trace.stable,
            "message": self.trace.message,
            "peak_pressure_error_bar": self.peak_pressure_error / BAR if math.isfinite(self.peak_pressure_error) else None,
            "peak_pressure_bar": float(max(np.max(self.reference[side]) for side in SIDES)) / BAR if self.reference else None,
            "energy_residual_J": float(residual[-1]) if residual.size and math.isfinite(residual[-1]) else None,
            "notes": self.notes,
            "reached_s": float(self.trace.time[-1]),
            "wall_time_s": round(self.wall_time, 4),
        }


def run_coupled(
    scenario: Scenario, scheme: str, step_size: float, stop_time: float, units: str = "process", progress: Callable[[float], None] | None = None
) -> Outcome:
    """A drive on an actuator, by one scheme, beside the reference."""
    raw = actuated(scenario)
    with TemporaryDirectory(prefix="kinetree-cosim-") as folder:
        mechanism, drive = coupled(scenario, scheme, raw, units, Path(folder))
    name = scenario.coupling.actuator if scenario.coupling else ""
    master = MAKERS[scheme](mechanism, drive, name)
    inside = scheme == "chambers"
    sides = [(mechanism, f"{name}.{side}") if inside else (drive, side) for side in SIDES]
    recorded = [*sides, (mechanism, f"{name}.length"), (mechanism, f"{name}.speed"), (drive, "spool")]
    began = time.perf_counter()
    trace = cosimulate(master, stop_time, step_size, recorded, watch_of(master), progress)
    wall = time.perf_counter() - began
    mechanism.close()
    drive.close()
    trace.columns = dict(zip((*SIDES, "length", "speed", "spool"), trace.columns.values(), strict=True))
    truth = reference(scenario, raw, stop_time, min(FINE, step_size))
    exact = {"time": truth.time, "length": truth[f"{name}_length"], "speed": truth[f"{name}_speed"], **{side: truth[side] for side in SIDES}}
    worst = max(float(np.max(np.abs(trace[side] - np.interp(trace.time, truth.time, exact[side])))) for side in SIDES)
    return Outcome(scenario.name, scheme, step_size, stop_time, trace, exact, worst, wall)


def watch_of(master: Master) -> Watch | None:
    """Watches the wire that carries the force, or else the pressure, and the one that answers."""
    places = {wire.input.rpartition(".")[2]: k for k, wire in enumerate(master.wires)}
    for effort, flow in (("force", "speed"), ("pressure_a", "flow_a")):
        if effort in places and flow in places:
            return Watch(places[effort], places[flow], places.get("stiffness"))
    return None


def write_json(outcome: Outcome, path: Path) -> None:
    path.write_text(json.dumps(outcome.report(), indent=1) + "\n", encoding="utf-8")
