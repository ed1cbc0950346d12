"""The mechanism is told how the force will change with its own motion; the drive hears the mean speed of the step that has just been made.

So the drive compresses exactly the oil that the mechanism has displaced. What the flows of the next step will add goes into the told force as its
mean over the step: as a ramp it would be nearer, but stable only below a step of pi/omega.
"""

from kinetree.scripts.cosim.coupling_plan import Plan
from kinetree.scripts.cosim.masters import Wire
from kinetree.scripts.cosim.schemes.scheme_kind import Scheme
from kinetree.scripts.cosim.slave import Slave


def plan(mechanism: Slave, drive: Slave, actuator: str) -> Plan:
    wires = (
        Wire(
            drive, "force", mechanism, f"{actuator}.force", "resting_rate", mean=True, bond=actuator
        ),
        Wire(drive, "stiffness", mechanism, f"{actuator}.stiffness", bond=actuator),
        Wire(drive, "damping", mechanism, f"{actuator}.damping"),
        Wire(mechanism, f"{actuator}.mean_speed", drive, "speed", mean=True, bond=actuator),
    )
    return Plan("sequential", (mechanism, drive), wires)


SCHEME = Scheme(
    "told", "the mechanism is told dF/ds; the drive hears the mean speed", plan, place=6
)
