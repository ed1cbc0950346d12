"""Two masses between walls, cut at the middle spring: the linear oscillator of the co-simulation benchmarks of LIM, University of A Coruna.

    wall - k1 - m1 - kc - m2 - k2 - wall,   m1 = m2 = 1, k1 = 10, kc = 100, k2 = 1000,   x = (0, 0), v = (100, -100)

Both halves are solved exactly within a step, so that the error is caused by the coupling alone.
"""

from __future__ import annotations

from kinetree.scripts.cosim.coupling_plan import Plan
from kinetree.scripts.cosim.masters import Wire
from kinetree.scripts.cosim.oscillator import LinearSlave

K1, KC, K2 = 10.0, 100.0, 1000.0
SPEED = 100.0
ENERGY = SPEED * SPEED  # of both masses [J]


def coupled_by_force(master: str) -> Plan:
    """Return the two halves coupled by force and displacement: the first contains the spring."""
    one = LinearSlave("one", ("x2", "v2"), ("fc", "x1", "v1"), [[0, 1], [-K1 - KC, 0]], [[0, 0], [KC, 0]],
                      [[KC, 0], [1, 0], [0, 1]], [[-KC, 0], [0, 0], [0, 0]], (0.0, SPEED))  # fmt: skip
    two = LinearSlave(
        "two",
        ("fc",),
        ("x2", "v2"),
        [[0, 1], [-K2, 0]],
        [[0], [1]],
        [[1, 0], [0, 1]],
        [[0], [0]],
        (0.0, -SPEED),
    )
    wires = (
        Wire(two, "x2", one, "x2"),
        Wire(two, "v2", one, "v2", bond="spring"),
        Wire(one, "fc", two, "fc", bond="spring"),
    )
    return Plan(master, (two, one), wires)


def coupled_by_displacement(master: str) -> Plan:
    """Return the two halves coupled by displacements: both contain the spring."""
    halves = [
        LinearSlave(
            name,
            ("other",),
            ("x", "v"),
            [[0, 1], [-k - KC, 0]],
            [[0], [KC]],
            [[1, 0], [0, 1]],
            [[0], [0]],
            (0.0, speed),
        )
        for name, k, speed in (("one", K1, SPEED), ("two", K2, -SPEED))
    ]
    return Plan(
        master,
        tuple(halves),
        (Wire(halves[0], "x", halves[1], "other"), Wire(halves[1], "x", halves[0], "other")),
    )


def energy(x1: float, x2: float, v1: float, v2: float) -> float:
    """Return the energy of masses and springs [J]."""
    return 0.5 * (v1 * v1 + v2 * v2 + K1 * x1 * x1 + K2 * x2 * x2 + KC * (x1 - x2) ** 2)
