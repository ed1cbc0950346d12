"""Scheme `held` (Jacobi): inputs are constant over a step, units step in parallel."""

from kinetree.scripts.cosim.coupling_plan import Plan
from kinetree.scripts.cosim.schemes.scheme_kind import Scheme, exchanged
from kinetree.scripts.cosim.slave import Slave


def plan(mechanism: Slave, drive: Slave, actuator: str) -> Plan:
    return Plan("held", (mechanism, drive), exchanged(mechanism, drive, actuator))


SCHEME = Scheme(
    "held",
    "both units step with the input values of the start of the step",
    plan,
    place=1,
    alias="jacobi",
)
