"""Scheme `chambers`: oil volumes are states of the mechanism; flows go in, pressures come out."""

from kinetree.scripts.cosim.coupling_plan import Plan
from kinetree.scripts.cosim.masters import Wire
from kinetree.scripts.cosim.schemes.scheme_kind import Scheme
from kinetree.scripts.cosim.slave import Slave

SIDES = ("a", "b")


def plan(mechanism: Slave, drive: Slave, actuator: str) -> Plan:
    flows = [
        Wire(drive, f"flow_{side}", mechanism, f"{actuator}.flow_{side}", bond=f"{actuator}.{side}")
        for side in SIDES
    ]
    pressures = [
        Wire(
            mechanism,
            f"{actuator}.pressure_{side}",
            drive,
            f"pressure_{side}",
            bond=f"{actuator}.{side}",
        )
        for side in SIDES
    ]
    return Plan("sequential", (drive, mechanism), (*flows, *pressures))


SCHEME = Scheme(
    "chambers", "oil pressures are states of the mechanism, which receives flows", plan, place=5
)
