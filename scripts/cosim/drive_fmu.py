"""The hydraulic drive as an FMU of its own."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from kinetree.scripts.cosim.drive import Drive
from kinetree.scripts.cosim.program_fmu import pack_program

PARTS = ("profile.py", "oil.py", "drive.py", "program_script.py", "drive_script.py")
LINEAR = {
    "cylinder.area_a": "m2", "cylinder.area_b": "m2", "cylinder.volume_a": "m3", "cylinder.volume_b": "m3", "cylinder.shortest": "m",
    "cylinder.longest": "m", "cylinder.bulk_modulus": "Pa", "cylinder.leakage": "m3/(s.Pa)",
    "load": "N", "length": "m", "speed": "m/s", "der(speed)": "m/s2",
    "force": "N", "stiffness": "N/m", "damping": "N.s/m", "force_rate": "N/s", "resting_rate": "N/s",
}  # fmt: skip
ROTARY = LINEAR | {
    "cylinder.area_a": "m3/rad", "cylinder.area_b": "m3/rad", "cylinder.shortest": "rad", "cylinder.longest": "rad", "load": "N.m",
    "length": "rad", "speed": "rad/s", "der(speed)": "rad/s2", "force": "N.m", "stiffness": "N.m/rad", "damping": "N.m.s/rad", "force_rate": "N.m/s",
    "resting_rate": "N.m/s",
}  # fmt: skip
VALVE = {
    "valve.supply": "Pa", "valve.tank": "Pa", "valve.rated_flow": "m3/s", "valve.rated_drop": "Pa", "valve.time_constant": "s",
    "valve.laminar": "Pa", "valve.relief": "Pa", "valve.relief_gain": "m3/(s.Pa)", "valve.make_up_gain": "m3/(s.Pa)",
    "pressure_a": "Pa", "pressure_b": "Pa", "flow_a": "m3/s", "flow_b": "m3/s",
}  # fmt: skip


def units_of_drive(rotary: bool) -> dict[str, str]:
    """Units of all variables."""
    return (ROTARY if rotary else LINEAR) | VALVE


def build_drive_fmu(drive: Drive, path: Path, rotary: bool = False) -> Path:
    """The archive; numbers of the drive are parameters of the FMU. `rotary`: lengths are angles, areas volumes per radian."""
    spec = {"cylinder": asdict(drive.cylinder), "valve": asdict(drive.valve), "profile": drive.profile, "inside": drive.inside}
    return pack_program("drive", PARTS, spec, units_of_drive(rotary), path)
