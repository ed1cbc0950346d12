"""Values at the end of the step are solved for with the derivatives of the interface."""

from kinetree.scripts.cosim.coupling_plan import Plan
from kinetree.scripts.cosim.schemes.scheme_kind import Scheme, exchanged
from kinetree.scripts.cosim.slave import Slave


def plan(mechanism: Slave, drive: Slave, actuator: str) -> Plan:
    return Plan("jacobian", (mechanism, drive), exchanged(mechanism, drive, actuator))


SCHEME = Scheme("jacobian", "values of the end from interface derivatives", plan, place=7)
