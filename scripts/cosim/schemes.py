"""The schemes that couple a drive to an actuator of a mechanism: which master, which wires.

In `told` the mechanism hears how the force will change with its own motion, and the drive hears the mean speed of the step that has just been made,
so that it compresses exactly the oil the mechanism has displaced. What the flows of the next step will add goes into the told force as its mean over
the step: as a ramp it would be nearer, but stable only below a step of pi/omega. In `chambers` the oil is inside the mechanism: flows go in,
pressures come out; the valve steps first.
"""

from __future__ import annotations

from collections.abc import Callable

from kinetree.scripts.cosim.masters import GaussSeidel, InterfaceJacobian, Master, Repeat, Wire
from kinetree.scripts.cosim.slave import Slave

TOLD = (("force", "resting_rate"), ("stiffness", ""), ("damping", ""))
SCHEMES = ("held", "sequential", "slope", "told", "chambers", "repeat", "jacobian")


def exchanged(mechanism: Slave, drive: Slave, actuator: str, sloped: bool = False) -> list[Wire]:
    """Force against motion."""
    return [
        Wire(mechanism, f"{actuator}.length", drive, "length"),
        Wire(mechanism, f"{actuator}.speed", drive, "speed", f"{actuator}.acceleration" if sloped else ""),
        Wire(drive, "force", mechanism, f"{actuator}.force", "force_rate" if sloped else ""),
    ]


def held(mechanism: Slave, drive: Slave, actuator: str) -> Master:
    return Master([mechanism, drive], exchanged(mechanism, drive, actuator))


def sequential(mechanism: Slave, drive: Slave, actuator: str) -> Master:
    return GaussSeidel([drive, mechanism], exchanged(mechanism, drive, actuator))


def slope(mechanism: Slave, drive: Slave, actuator: str) -> Master:
    return Master([mechanism, drive], exchanged(mechanism, drive, actuator, sloped=True))


def repeat(mechanism: Slave, drive: Slave, actuator: str) -> Master:
    return Repeat([mechanism, drive], exchanged(mechanism, drive, actuator))


def jacobian(mechanism: Slave, drive: Slave, actuator: str) -> Master:
    return InterfaceJacobian([mechanism, drive], exchanged(mechanism, drive, actuator)[1:])


def told(mechanism: Slave, drive: Slave, actuator: str) -> Master:
    wires = [Wire(drive, name, mechanism, f"{actuator}.{name}", slope) for name, slope in TOLD]
    return GaussSeidel([mechanism, drive], [*wires, Wire(mechanism, f"{actuator}.mean_speed", drive, "speed")], ramps=False)


def chambers(mechanism: Slave, drive: Slave, actuator: str) -> Master:
    flows = [Wire(drive, name, mechanism, f"{actuator}.{name}") for name in ("flow_a", "flow_b")]
    pressures = [Wire(mechanism, f"{actuator}.{name}", drive, name) for name in ("pressure_a", "pressure_b")]
    return GaussSeidel([drive, mechanism], [*flows, *pressures])


MAKERS: dict[str, Callable[[Slave, Slave, str], Master]] = {
    "held": held, "sequential": sequential, "slope": slope, "told": told, "chambers": chambers, "repeat": repeat, "jacobian": jacobian,
}  # fmt: skip
