"""The schemes that couple a drive to an actuator of a mechanism: which master, which wires.

In `told` the mechanism hears how the force will change with its own motion, and the drive hears the mean speed of the step that has just been made,
so that it compresses exactly the oil the mechanism has displaced. What the flows of the next step will add goes into the told force as its mean over
the step: as a ramp it would be nearer, but stable only below a step of pi/omega. In `chambers` the oil is inside the mechanism: flows go in,
pressures come out; the valve steps first. A controller steps last: it samples the end of a step, and its command is held over the next.
"""

from __future__ import annotations

from collections.abc import Callable

from kinetree.scripts.cosim.masters import Wire
from kinetree.scripts.cosim.plan import Plan
from kinetree.scripts.cosim.slave import Slave

SIDES = ("a", "b")


def exchanged(mechanism: Slave, drive: Slave, actuator: str, sloped: bool = False) -> tuple[Wire, ...]:
    """Force against motion: the length of the drive follows the speed."""
    return (
        Wire(mechanism, f"{actuator}.speed", drive, "speed", f"{actuator}.acceleration" if sloped else "", bond=actuator),
        Wire(drive, "force", mechanism, f"{actuator}.force", "force_rate" if sloped else "", bond=actuator),
    )


def held(mechanism: Slave, drive: Slave, actuator: str) -> Plan:
    return Plan("held", (mechanism, drive), exchanged(mechanism, drive, actuator))


def sequential(mechanism: Slave, drive: Slave, actuator: str) -> Plan:
    return Plan("sequential", (drive, mechanism), exchanged(mechanism, drive, actuator))


def slope(mechanism: Slave, drive: Slave, actuator: str) -> Plan:
    return Plan("slope", (mechanism, drive), exchanged(mechanism, drive, actuator, sloped=True))


def repeat(mechanism: Slave, drive: Slave, actuator: str) -> Plan:
    return Plan("repeat", (mechanism, drive), exchanged(mechanism, drive, actuator))


def jacobian(mechanism: Slave, drive: Slave, actuator: str) -> Plan:
    return Plan("jacobian", (mechanism, drive), exchanged(mechanism, drive, actuator))


def told(mechanism: Slave, drive: Slave, actuator: str) -> Plan:
    wires = (
        Wire(drive, "force", mechanism, f"{actuator}.force", "resting_rate", mean=True, bond=actuator),
        Wire(drive, "stiffness", mechanism, f"{actuator}.stiffness", bond=actuator),
        Wire(drive, "damping", mechanism, f"{actuator}.damping"),
        Wire(mechanism, f"{actuator}.mean_speed", drive, "speed", mean=True, bond=actuator),
    )
    return Plan("sequential", (mechanism, drive), wires)


def chambers(mechanism: Slave, drive: Slave, actuator: str) -> Plan:
    flows = [Wire(drive, f"flow_{side}", mechanism, f"{actuator}.flow_{side}", bond=f"{actuator}.{side}") for side in SIDES]
    pressures = [Wire(mechanism, f"{actuator}.pressure_{side}", drive, f"pressure_{side}", bond=f"{actuator}.{side}") for side in SIDES]
    return Plan("sequential", (drive, mechanism), (*flows, *pressures))


MAKERS: dict[str, Callable[[Slave, Slave, str], Plan]] = {
    "held": held, "sequential": sequential, "slope": slope, "told": told, "chambers": chambers, "repeat": repeat, "jacobian": jacobian,
}  # fmt: skip
SCHEMES = tuple(MAKERS)


def couple(scheme: str, mechanism: Slave, drive: Slave, actuator: str, controller: Slave | None = None) -> Plan:
    """A drive on an actuator by a scheme; a controller measures the length and commands the valve."""
    plan = MAKERS[scheme](mechanism, drive, actuator)
    if controller is None:
        return plan
    loop = (Wire(mechanism, f"{actuator}.length", controller, "measured"), Wire(controller, "command", drive, "control", hold=True))
    return Plan(plan.master, (*plan.slaves, controller), (*plan.wires, *loop))
