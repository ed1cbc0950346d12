"""What is to be known about a coupling scheme; a file of this folder fills one of these in."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from kinetree.scripts.cosim.coupling_plan import Plan
from kinetree.scripts.cosim.masters import Wire
from kinetree.scripts.cosim.slave import Slave


class Scheme(NamedTuple):
    """A way to couple a drive to an actuator of a mechanism: which master, which units first, which wires."""

    name: str
    says: str
    plan: Callable[[Slave, Slave, str], Plan]  # mechanism, drive, name of the actuator
    place: int = 100  # in lists


def exchanged(
    mechanism: Slave, drive: Slave, actuator: str, sloped: bool = False
) -> tuple[Wire, ...]:
    """Force against motion: the length of the drive follows the speed."""
    return (
        Wire(
            mechanism,
            f"{actuator}.speed",
            drive,
            "speed",
            f"{actuator}.acceleration" if sloped else "",
            bond=actuator,
        ),
        Wire(
            drive,
            "force",
            mechanism,
            f"{actuator}.force",
            "force_rate" if sloped else "",
            bond=actuator,
        ),
    )
