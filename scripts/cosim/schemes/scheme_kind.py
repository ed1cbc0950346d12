"""The record of a coupling scheme: its name, alias, description and plan."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from kinetree.scripts.cosim.coupling_plan import Plan
from kinetree.scripts.cosim.masters import Wire
from kinetree.scripts.cosim.slave import Slave


class Scheme(NamedTuple):
    """A co-simulation scheme between a drive and an actuator: the master, the order and the wires."""

    name: str
    says: str
    plan: Callable[[Slave, Slave, str], Plan]  # mechanism, drive, name of the actuator
    place: int = 100  # in lists
    alias: str = ""  # the name in the literature


def exchanged(
    mechanism: Slave, drive: Slave, actuator: str, sloped: bool = False
) -> tuple[Wire, ...]:
    """Return the wires that send the actuator's speed to the drive and its force back.

    With `sloped`, acceleration and force rate are sent too, for linear extrapolation.
    """
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
