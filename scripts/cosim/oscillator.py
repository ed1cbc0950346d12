"""Stability of the schemes on a mass and an oil spring that leaks: m dv/dt = F, dF/dt = -k v - 2 zeta omega F, with omega = sqrt(k/m) = 1.

Both sides are solved exactly within a step, so that only the coupling causes instability. A scheme
is stable at H omega when the motion does not grow. `python -m kinetree.scripts.cosim.oscillator
PICTURE` draws the map of all schemes over the damping ratio.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from kinetree.models.result.atomic_file import whole_file
from kinetree.scripts.cosim.schemes import SCHEMES

NAME = "lift"
WRONG = {"told half": 0.5, "told twice": 2.0}  # parts of the true stiffness that the mass is told
CASES = (*SCHEMES, *WRONG)
MARGIN = (
    1.0 + 1e-7
)  # a spectral radius above it is growth; roots of one belong to the place, which may be anywhere
TERMS = 16  # of the exponential's series: 0.5^16/16! is below the rounding
LARGEST = 6.0  # H omega up to which is searched


def exponential(matrix: np.ndarray) -> np.ndarray:
    """Return the exponential of a small matrix by series and squaring."""
    halvings = max(0, math.ceil(math.log2(max(np.abs(matrix).sum(axis=1).max(), 1e-300))) + 1)
    scaled = matrix / 2.0**halvings
    total = term = np.eye(len(matrix))
    for k in range(1, TERMS):
        term = term @ scaled / k
        total = total + term
    for _ in range(halvings):
        total = total @ total
    return total


class LinearSlave:
    """dx/dt = A x + B u, y = C x + D u, with inputs linear in a step."""

    def __init__(
        self, name: str, inputs: tuple[str, ...], outputs: tuple[str, ...], A, B, C, D, start
    ):
        self.name, self.inputs, self.outputs, self.ramped, self.units = (
            name,
            inputs,
            outputs,
            inputs,
            {},
        )
        self.A, self.B, self.C, self.D = (np.array(part, dtype=float) for part in (A, B, C, D))
        self.x, self.u, self.slope = (
            np.array(start, dtype=float),
            np.zeros(len(inputs)),
            np.zeros(len(inputs)),
        )
        self.maps: dict[float, np.ndarray] = {}

    def start(self, values: Mapping[str, float]) -> None:
        for name, value in values.items():
            self.set(name, value)

    def set(self, name: str, value: float, slope: float = 0.0) -> None:
        k = self.inputs.index(name)
        self.u[k], self.slope[k] = value, slope

    def get(self, name: str) -> float:
        k = self.outputs.index(name)
        return float(self.C[k] @ self.x + self.D[k] @ self.u)

    def step(self, t: float, h: float) -> None:
        n, m = self.B.shape
        if h not in self.maps:
            whole = np.zeros((n + 2 * m, n + 2 * m))
            whole[:n, :n], whole[:n, n : n + m], whole[n : n + m, n + m :] = (
                self.A,
                self.B,
                np.eye(m),
            )
            self.maps[h] = exponential(whole * h)
        moved = self.maps[h] @ np.concatenate([self.x, self.u, self.slope])
        self.x, self.u = moved[:n], moved[n : n + m]

    def save(self) -> Any:
        return self.x.copy(), self.u.copy(), self.slope.copy()

    def restore(self, state: Any) -> None:
        self.x, self.u, self.slope = (part.copy() for part in state)

    def forget(self, state: Any) -> None:
        pass

    def close(self) -> None:
        pass


class ToldMass(LinearSlave):
    """A mass that receives a force with its stiffness and returns its mean speed (scheme `told`)."""

    def __init__(self, start: tuple[float, float]):
        names = tuple(f"{NAME}.{key}" for key in ("force", "stiffness", "damping"))
        outputs = tuple(
            f"{NAME}.{key}" for key in ("length", "speed", "acceleration", "mean_speed")
        )
        # x = (s, v, s0, mean speed)
        A, B = np.zeros((4, 4)), np.zeros((4, 3))
        A[0, 1], B[1, 0] = 1.0, 1.0
        C, D = np.zeros((4, 4)), np.zeros((4, 3))
        C[0, 0], C[1, 1], C[3, 3], D[2, 0] = 1.0, 1.0, 1.0, 1.0
        super().__init__("mass", names, outputs, A, B, C, D, (*start, start[0], start[1]))

    def step(self, t: float, h: float) -> None:
        stiffness = self.u[1]
        if self.A[1, 0] != stiffness:
            self.A[1, 0], self.A[1, 2] = stiffness, -stiffness
            self.maps.clear()
        self.x[2] = s0 = self.x[0]
        super().step(t, h)
        self.x[3] = (self.x[0] - s0) / h


def pair(scheme: str, damping: float) -> tuple[LinearSlave, LinearSlave]:
    """Return mass and spring as slaves, with the mass displaced against the spring; `scheme` is a
    scheme or a case of WRONG.
    """
    leak = 2.0 * damping
    if (
        scheme == "chambers"
    ):  # the oil's force, as pressure a, inside with the mass; pressure b has no part
        names = tuple(f"{NAME}.{key}" for key in ("flow_a", "flow_b"))
        outputs = tuple(f"{NAME}.{key}" for key in ("pressure_a", "pressure_b"))
        mass = LinearSlave(
            "mass",
            names,
            outputs,
            [[0, 1], [-1, 0]],
            [[0, 0], [1, 0]],
            [[0, 1], [0, 0]],
            np.zeros((2, 2)),
            (0.0, 1.0),
        )
        valve = LinearSlave(
            "drive",
            ("pressure_a", "pressure_b"),
            ("flow_a", "flow_b"),
            np.zeros((1, 1)),
            np.zeros((1, 2)),
            np.zeros((2, 1)),
            [[-leak, 0], [0, 0]],
            (0,),
        )
        return mass, valve
    outputs = ("force", "stiffness", "damping", "force_rate", "resting_rate")
    C, D = (
        [[1, 0], [0, -WRONG.get(scheme, 1.0)], [0, 0], [-leak, 0], [-leak, 0]],
        [[0], [0], [0], [-1], [0]],
    )
    # x = (F, 1)
    spring = LinearSlave(
        "drive", ("speed",), outputs, [[-leak, 0], [0, 0]], [[-1], [0]], C, D, (1.0, 1.0)
    )
    return ToldMass((-1.0, 0.0)), spring


def growth(scheme: str, product: float, damping: float) -> float:
    """Return the spectral radius of one communication step of length `product` (H omega)."""
    slaves = pair(scheme, damping)
    master = SCHEMES["told" if scheme in WRONG else scheme].plan(*slaves, NAME).make()
    states = [
        (slave, values, k)
        for slave in slaves
        for values in ("x", "u")
        for k in range(getattr(slave, values).size)
    ]
    begin = [slave.save() for slave in slaves]

    def stepped(moved: tuple[LinearSlave, str, int] | None) -> np.ndarray:
        for slave, state in zip(slaves, begin):
            slave.restore(state)
        if moved:
            getattr(moved[0], moved[1])[moved[2]] += 1.0
        master.past = []
        master.step(0.0, product)
        return np.array([getattr(slave, values)[k] for slave, values, k in states])

    base = stepped(None)
    free = [
        k for k, state in enumerate(states) if state[0] is slaves[0] or state[1:] != ("x", 1)
    ]  # without the constant of the spring
    matrix = np.array([stepped(states[k]) - base for k in free])[:, free]
    return float(np.abs(np.linalg.eigvals(matrix)).max())


def largest_step(scheme: str, damping: float) -> float:
    """Return the smallest H omega at which the coupling is unstable; LARGEST if there is none."""
    fine = np.concatenate([np.geomspace(0.005, 0.5, 40), np.arange(0.55, LARGEST + 0.01, 0.05)])
    below = 0.0
    for product in fine:
        if growth(scheme, float(product), damping) > MARGIN:
            break
        below = float(product)
    else:
        return LARGEST
    above = float(product)
    for _ in range(8):
        middle = 0.5 * (below + above)
        below, above = (
            (below, middle) if growth(scheme, middle, damping) > MARGIN else (middle, above)
        )
    return below


def draw(path: str) -> None:
    """Draw the stability map of all schemes over the damping ratio."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 4.8), layout="constrained")
    axes = figure.subplots()
    damping = np.geomspace(0.005, 1.0, 13)
    unlimited = []
    for case in CASES:
        limits = [max(largest_step(case, z), 1e-2) for z in damping]
        if min(limits) >= LARGEST:
            unlimited.append(case)
        else:
            axes.loglog(damping, limits, marker=".", label=case)
    axes.axhline(LARGEST, color="black", linewidth=0.8)
    axes.text(
        damping[0],
        1.05 * LARGEST,
        f"stable up to {LARGEST:g} and more: {', '.join(unlimited)}",
        fontsize="small",
        va="bottom",
    )
    axes.set_ylim(8e-3, 1.6 * LARGEST)
    axes.set_xlabel("damping ratio of the oil")
    axes.set_ylabel("largest stable step times frequency")
    axes.legend(fontsize="small", ncols=2, loc="lower right")
    axes.grid(alpha=0.3)
    with whole_file(path) as draft:
        figure.savefig(draft, dpi=120)


if __name__ == "__main__":
    draw(sys.argv[1])
