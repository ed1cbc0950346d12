"""A plan of a coupling: which master steps which slaves in which order over which wires."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.scripts.cosim.jacobian import InterfaceJacobian
from kinetree.scripts.cosim.masters import GaussSeidel, Master, Repeat, Wire
from kinetree.scripts.cosim.slave import Slave

MASTERS: dict[str, type[Master]] = {
    "held": Master, "slope": Master, "sequential": GaussSeidel, "repeat": Repeat, "jacobian": InterfaceJacobian,
}  # fmt: skip


@dataclass(frozen=True)
class Plan:
    """Slaves stand in the order in which they are stepped one after another."""

    master: str
    slaves: tuple[Slave, ...]
    wires: tuple[Wire, ...]

    def make(self, extrapolation: int = 0) -> Master:
        """The master; `slope` is Jacobi with at least first-order inputs."""
        return MASTERS[self.master](self.slaves, self.wires, max(extrapolation, int(self.master == "slope")))
