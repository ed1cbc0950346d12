"""Scheme `jacobian`: solve for interface values at the end of a step by Newton's method."""

from kinetree.scripts.cosim.coupling_plan import Plan
from kinetree.scripts.cosim.schemes.scheme_kind import Scheme, exchanged
from kinetree.scripts.cosim.slave import Slave


def plan(mechanism: Slave, drive: Slave, actuator: str) -> Plan:
    return Plan("jacobian", (mechanism, drive), exchanged(mechanism, drive, actuator))


SCHEME = Scheme(
    "jacobian", "interface values at the end of the step by Newton's method", plan, place=7
)
