"""Steady start pressures: pressures for which a description asks that neither they nor the
mechanism they support begin to change.

The mechanism keeps its start position; what bends starts as it is given, and only motions in which
nothing bends are balanced (`stiff_directions`). Unknown are the pressures p of parts with start =
"steady". Their rates must vanish, and so must the generalised forces Tᵀ M u̇ along the directions
that these pressures act on. If there are more unknown pressures than conditions (oil locked on both sides of a
piston), those nearest to atmospheric pressure are taken. Newton's method with differences and
minimum-norm steps; pressures are not negative.
"""

from __future__ import annotations

import numpy as np

from kinetree.models.beams.beam_reports import hinge_coordinates
from kinetree.models.description.schema import Description
from kinetree.models.language.errors import ModelError, Problem
from kinetree.models.language.numbers_and_expressions import ATMOSPHERE, STEADY
from kinetree.models.system.local_coordinates import Chart, Evaluation
from kinetree.models.system.system import System

MAX_ROUNDS, MAX_HALVINGS = 60, 12
DIFFERENCE = 1e-5  # of a pressure, at least of 1 bar
PUSHES = 1e-9  # of the largest force per pressure: less is none
RIGID = 1e-9  # of the largest rate of what bends: less is none
GOOD = 1e-9  # of the largest force, and of a pressure per second
NEARLY = 1e-5  # what is left where laws have corners


def steady_names(description: Description) -> list[str]:
    """Return the names of states with start = "steady", whose start values must be computed."""
    found = [
        f"{label}.pressure"
        for label, part in description.hydraulics.items()
        if getattr(part, "start", None) == STEADY
    ]
    for label, actuator in description.actuators.items():
        for side in "ab" if actuator.chambers is not None else "":
            if getattr(actuator.chambers, f"pressure_{side}") == STEADY:
                found.append(f"{label}.pressure_{side}")
    return found


def steady_starts(system: System) -> dict[str, float]:
    """Return the steady pressures [Pa] by state; raise ModelError if no balancing pressures exist."""
    names = [
        name
        for name in steady_names(system.description)
        if name in system.compiled.states and name not in system.description.starts
    ]
    if not names:
        return {}
    balance = PressureBalance(system, names)
    for least in (ATMOSPHERE, 0.0):  # oil that pushes nothing is at atmospheric pressure
        p, left = solve_pressures(balance, least)
        if left <= NEARLY:
            return dict(zip(names, map(float, p), strict=True))
    raise ModelError(
        Problem(
            ", ".join(names),
            "no pressures at which everything stands still",
            'numbers, or valves and loads that start = "steady" can balance',
            hint=balance.worst(p),
            file=system.description.file,
        )
    )


def solve_pressures(balance: PressureBalance, least: float) -> tuple[np.ndarray, float]:
    """Return the balanced pressures, not below `least`, and the remaining residual."""
    p = np.full(len(balance.names), ATMOSPHERE)
    left = balance.left(p)
    for _ in range(MAX_ROUNDS):
        if left <= GOOD:
            break
        r, J = balance.residual(p), balance.slopes(p)
        free = np.ones(p.size, dtype=bool)
        while True:  # what would sink below the least pressure stays there
            step = np.zeros(p.size)
            step[free] = -np.linalg.lstsq(J[:, free], r, rcond=1e-12)[0]
            sunk = free & (p <= least) & (step < 0.0)
            if not sunk.any():
                break
            free &= ~sunk
        for _ in range(MAX_HALVINGS):
            moved = np.maximum(p + step, least)
            then = balance.left(moved)
            if then < left:
                break
            step = 0.5 * step
        else:
            break
        p, left = moved, then
    return p, left


def stiff_directions(system: System, T: np.ndarray) -> np.ndarray:
    """Return the directions of motion (columns of T, speeds) in which nothing bends.

    Pressures hold a mechanism as a whole; what bends gives way to its load before it holds it, so
    that its directions ask for no pressure.
    """
    description = system.description
    bending = hinge_coordinates(description) | {
        f"der({name}.mode{k})"
        for name, reduced in description.reduced.items()
        for k in range(1, len(reduced.stiffness) + 1)
    }
    rows = [k for k, speed in enumerate(system.speeds) if speed in bending]
    if not rows or not T.shape[1]:
        return T
    _, sizes, across = np.linalg.svd(T[rows])
    rank = int(np.sum(sizes > RIGID * max(1.0, sizes[0])))
    return T @ across[rank:].T


class PressureBalance:
    """Residuals of pressure rates and forces at given pressures, at the start of the run."""

    def __init__(self, system: System, names: list[str]):
        self.system, self.names = system, names
        c, t = system.compiled, system.compiled.start_time
        self.q, self.u = system.start()
        self.evaluation = Evaluation(system, t)
        self.places = [c.states.index(name) for name in names]
        T = stiff_directions(system, Chart(system, t, self.q).T)
        self.forces = T.T @ system.mass_matrix(t, self.q)
        self.start = self.evaluation.start_x.copy()
        self.rows, self.weights = np.zeros(0, dtype=int), np.ones(0)
        J = self._slopes(np.full(len(names), ATMOSPHERE))
        push = np.abs(J[: len(self.forces)]).max(axis=1, initial=0.0)
        pushed = np.flatnonzero(push > PUSHES * push.max(initial=0.0))
        # a force counts as the pressure that would make it, a rate as what comes of it in a second
        self.rows = np.concatenate((pushed, len(self.forces) + np.arange(len(names))))
        self.weights = np.concatenate((1.0 / push[pushed], np.ones(len(names)))) / ATMOSPHERE

    def everything(self, p: np.ndarray) -> np.ndarray:
        """Return the unbalanced generalised forces and the rates of the pressures."""
        x = self.start.copy()
        x[self.places] = p
        found = self.evaluation.rates(self.q, self.u, x)
        n = self.system.n
        return np.concatenate((self.forces @ found[:n], found[n:][self.places]))

    def residual(self, p: np.ndarray) -> np.ndarray:
        return self.everything(p)[self.rows] * self.weights

    def left(self, p: np.ndarray) -> float:
        """Return the size of the residual in atmospheres."""
        return float(np.abs(self.residual(p)).max(initial=0.0)) / max(1.0, p.max() / ATMOSPHERE)

    def _slopes(self, p: np.ndarray) -> np.ndarray:
        columns = []
        for k in range(p.size):
            h = DIFFERENCE * max(p[k], ATMOSPHERE)
            more = p.copy()
            more[k] += h
            columns.append((self.everything(more) - self.everything(p)) / h)
        return np.array(columns).T.reshape(-1, p.size)

    def slopes(self, p: np.ndarray) -> np.ndarray:
        return self._slopes(p)[self.rows] * self.weights[:, None]

    def worst(self, p: np.ndarray) -> str:
        """Return the name of the equation with the largest imbalance."""
        r = np.abs(self.residual(p))
        k = int(r.argmax())
        forces = len(self.rows) - len(self.names)
        what = (
            f"'{self.names[k - forces]}' still changes" if k >= forces else "the load is not held"
        )
        return f"at the best ones found {what}"
