"""Scheme `repeat`: every step is made twice, the second time with the results of the first."""

from kinetree.scripts.cosim.coupling_plan import Plan
from kinetree.scripts.cosim.schemes.scheme_kind import Scheme, exchanged
from kinetree.scripts.cosim.slave import Slave


def plan(mechanism: Slave, drive: Slave, actuator: str) -> Plan:
    return Plan("repeat", (mechanism, drive), exchanged(mechanism, drive, actuator))


SCHEME = Scheme(
    "repeat", "every step is repeated once with the results of its first try", plan, place=4
)
