"""The plan of a coupling: the master, the slaves in their stepping order, and the wires between
them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from kinetree.scripts.cosim.jacobian import InterfaceJacobian
from kinetree.scripts.cosim.masters import GaussSeidel, Master, Repeat, Wire
from kinetree.scripts.cosim.slave import Slave
from kinetree.scripts.terminal.error_messages import BadInput

TOLD, STIFFNESS = "told", ".stiffness"
MASTERS: dict[str, type[Master]] = {
    "held": Master, "slope": Master, "sequential": GaussSeidel, "repeat": Repeat, "jacobian": InterfaceJacobian,
}  # fmt: skip


def of_wires(
    scheme: str, units: Sequence[str], targets: Collection[tuple[str, str]], file: str
) -> tuple[str, list[str]]:
    """Return the master and the stepping order of units for explicit wires; with the scheme `told`,
    units that receive a stiffness step first.
    """
    if scheme in MASTERS:
        return scheme, list(units)
    if scheme != TOLD:
        raise BadInput(
            f"{file}: scheme {scheme} needs a [coupling] that names an actuator; wires take {', '.join(MASTERS)} or {TOLD}"
        )
    told = {unit for unit, name in targets if name.endswith(STIFFNESS)}
    if not told:
        raise BadInput(
            f"{file}: scheme {TOLD} needs a wire from the stiffness of every drive to ACTUATOR{STIFFNESS}, beside that of its force"
        )
    return "sequential", [
        *(unit for unit in units if unit in told),
        *(unit for unit in units if unit not in told),
    ]


@dataclass(frozen=True)
class Plan:
    """A coupling plan: master, slaves in their stepping order, wires."""

    master: str
    slaves: tuple[Slave, ...]
    wires: tuple[Wire, ...]

    def make(self, extrapolation: int = 0) -> Master:
        """Return the master object; `slope` is the Jacobi master with inputs of at least first
        order.
        """
        return MASTERS[self.master](
            self.slaves, self.wires, max(extrapolation, int(self.master == "slope"))
        )
