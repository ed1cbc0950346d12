"""Scheme `slope`: inputs are extrapolated linearly with the time derivatives of outputs."""

from kinetree.scripts.cosim.coupling_plan import Plan
from kinetree.scripts.cosim.schemes.scheme_kind import Scheme, exchanged
from kinetree.scripts.cosim.slave import Slave


def plan(mechanism: Slave, drive: Slave, actuator: str) -> Plan:
    return Plan("slope", (mechanism, drive), exchanged(mechanism, drive, actuator, sloped=True))


SCHEME = Scheme(
    "slope", "inputs are extrapolated linearly by the time derivatives of outputs", plan, place=2
)
