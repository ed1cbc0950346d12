"""The position controller as an FMU of its own."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from kinetree.scripts.cosim.controller import Controller
from kinetree.scripts.cosim.program_fmu import pack_program

PARTS = ("profile.py", "controller.py", "program_script.py", "controller_script.py")


def units_of_controller(unit: str) -> dict[str, str]:
    """Units of all variables, by that of what it measures."""
    times = {f"pid.{name}": "s" for name in ("integral_time", "derivative_time", "filter_time", "tracking_time")}
    places = {"measured": unit, "target": unit, "target_speed": f"{unit}/s", "setpoint": unit, "error": unit, "integral": unit}
    return times | places


def build_controller_fmu(controller: Controller, path: Path, unit: str = "m") -> Path:
    """The archive; numbers of the controller are parameters of the FMU, `unit` is that of what it measures."""
    spec = {"pid": asdict(controller.pid), "profile": controller.profile, "start": {"measured": controller.measured, "target": controller.target}}
    return pack_program("controller", PARTS, spec, units_of_controller(unit), path)
