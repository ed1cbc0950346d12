"""Scheme `sequential` (Gauss-Seidel): the drive steps first, the mechanism with its new force."""

from kinetree.scripts.cosim.coupling_plan import Plan
from kinetree.scripts.cosim.schemes.scheme_kind import Scheme, exchanged
from kinetree.scripts.cosim.slave import Slave


def plan(mechanism: Slave, drive: Slave, actuator: str) -> Plan:
    return Plan("sequential", (drive, mechanism), exchanged(mechanism, drive, actuator))


SCHEME = Scheme(
    "sequential",
    "the drive steps first, then the mechanism with the new force",
    plan,
    place=3,
    alias="gauss-seidel",
)
