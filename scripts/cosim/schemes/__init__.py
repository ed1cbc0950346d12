"""Registry of the coupling schemes between a drive and an actuator: one file per scheme.

A controller steps last: it samples the outputs at the end of a step, and its command is constant
over the next.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from kinetree.scripts.cosim.coupling_plan import Plan
from kinetree.scripts.cosim.masters import Wire
from kinetree.scripts.cosim.schemes.scheme_kind import Scheme
from kinetree.scripts.cosim.slave import Slave


def found() -> dict[str, Scheme]:
    """Return all schemes by name, in the order of the docs."""
    modules = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
    schemes: list[Scheme] = [module.SCHEME for module in modules if hasattr(module, "SCHEME")]
    return {
        scheme.name: scheme
        for scheme in sorted(schemes, key=lambda scheme: (scheme.place, scheme.name))
    }


SCHEMES = found()
ALIASES = {scheme.alias: name for name, scheme in SCHEMES.items() if scheme.alias}


def scheme_name(name: str) -> str:
    """Return the name of a scheme for an alias from the literature; other names are unchanged."""
    return ALIASES.get(name.lower(), name)


def couple(
    scheme: str, mechanism: Slave, drive: Slave, actuator: str, controller: Slave | None = None
) -> Plan:
    """Return the plan that couples a drive to an actuator by a scheme.

    A controller, if given, measures the actuator length and commands the drive.
    """
    plan = SCHEMES[scheme].plan(mechanism, drive, actuator)
    if controller is None:
        return plan
    loop = (
        Wire(mechanism, f"{actuator}.length", controller, "measured"),
        Wire(controller, "command", drive, "control", hold=True),
    )
    return Plan(plan.master, (*plan.slaves, controller), (*plan.wires, *loop))
