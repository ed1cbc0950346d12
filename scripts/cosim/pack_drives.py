"""Packs the drive and the controller as FMUs of their own, by either back end; with the native one they run without Python."""

from __future__ import annotations

from pathlib import Path

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load
from kinetree.scripts.cosim.controller_description import controller_description
from kinetree.scripts.cosim.drive_description import drive_description
from kinetree.scripts.cosim.hydraulic_drive import Drive
from kinetree.scripts.cosim.position_controller import Controller


def build_drive_fmu(
    drive: Drive, path: Path, rotary: bool = False, backend: str = "native", horizon: float = 0.0
) -> Path:
    """Build the FMU of a drive, whose values are parameters. `rotary`: lengths are angles;
    `horizon`: the communication step [s].
    """
    return build_fmu(load(drive_description(drive, rotary, horizon)), path, backend=backend)


def build_controller_fmu(
    controller: Controller,
    path: Path,
    unit: str = "m",
    backend: str = "native",
    period: float = 0.01,
) -> Path:
    """Build the FMU of a controller with sample time `period` [s]; `unit` is that of the
    measurement.
    """
    return build_fmu(load(controller_description(controller, unit, period)), path, backend=backend)
