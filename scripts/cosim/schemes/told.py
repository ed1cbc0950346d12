"""Scheme `told` (linear-implicit): the drive sends its force with its stiffness and damping.

The drive receives the mean speed of the step that the mechanism has just made, so that it compresses
exactly the displaced oil. The change of force caused by the flows of the next step is sent as its
mean over the step: a ramp would be more accurate, but stable only for steps below pi/omega.
"""

from kinetree.scripts.cosim.coupling_plan import Plan
from kinetree.scripts.cosim.masters import Wire
from kinetree.scripts.cosim.schemes.scheme_kind import Scheme
from kinetree.scripts.cosim.slave import Slave


def plan(mechanism: Slave, drive: Slave, actuator: str) -> Plan:
    """Return the plan of the scheme for a drive on an actuator of a mechanism."""
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
    "told",
    "the drive sends force and stiffness dF/ds, the mechanism its mean speed (linear-implicit)",
    plan,
    place=6,
    alias="linear-implicit",
)
