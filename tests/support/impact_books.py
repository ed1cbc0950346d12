"""Books of an impact by other means than the engine's: velocities of points before and after, the mass matrix, what impulses could have acted.

Around every event of a contact the run is stopped. With p = M u, rows J of the loops and D of the touching points (relative velocity, three
directions): p⁺ - p⁻ = Jᵀμ + Dᵀx has a solution x, each x pushes and lies in its cone of friction, the energy does not grow, nothing that touches
goes on to approach, and loops are closed.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linprog, nnls

from kinetree.models import load
from kinetree.models.run.simulation_unit import Run, make_unit
from kinetree.models.system.forms import MASS
from kinetree.models.system.system import System
from kinetree.solvers import layout as L
from kinetree.solvers import unit_layout as U

Inputs = Callable[[float], dict[str, float]]
TOUCHES = (
    1.01e-10  # m: what is nearer takes part, as in impacts, but for the roundings of the probes
)
RIM = 64  # edges of a cone of friction; it is too wide by 0.12 %


class Impact(NamedTuple):
    """One event of contacts: when, what, and how far its books are open (relative, 0 is right)."""

    time: float
    cause: str
    impulse: float  # part of p⁺ - p⁻ that no contact and no loop explains
    pull: float  # part of an impulse that pulls, or lies outside of its cone of friction
    energy: float  # growth
    approach: float  # speed with which something that touches goes on to approach
    opening: float  # of loops [m or 1]

    @property
    def worst(self) -> float:
        return max(self[2:])


def probed(description: dict[str, Any]) -> dict[str, Any]:
    """The description with outputs for the places and velocities at its contacts."""
    other = copy.deepcopy(description)
    outputs = other.setdefault("outputs", {})
    for k, contact in enumerate(other["contacts"].values()):
        against = contact.get("against")
        on = against["body"] if against else contact.get("on", "ground")
        normal, at = np.array(_axis(contact.get("normal", "z"))), contact.get("at", [0.0, 0.0, 0.0])
        places = {
            "c": (contact["body"], contact.get("point", [0.0, 0.0, 0.0])),
            "o": (on, against.get("point", [0.0, 0.0, 0.0]) if against else at),
        }
        if not against:
            places["n"] = (on, [f"{a} + {x!r}" for a, x in zip(at, normal.tolist(), strict=True)])
        numbers = {
            "m": contact.get("friction", 0.0),
            "r": contact.get("radius", 0.0),
            "s": against.get("radius", 0.0) if against else 0.0,
        }
        numbers["q"] = contact.get("rest_speed", 1e-3)
        outputs.update({f"probe{k}{word}": {"value": value} for word, value in numbers.items()})
        for word, (body, point) in places.items():
            outputs[f"probe{k}{word}"] = {"quantity": "position", "body": body, "point": point}
            if body != "ground":
                outputs[f"probe{k}{word}v"] = {"quantity": "velocity", "body": body, "point": point}
                outputs[f"probe{k}{word}w"] = {"quantity": "angular_velocity", "body": body}
    return other


def _axis(given: str | list[float]) -> list[float]:
    if isinstance(given, str):
        sign = -1.0 if given.startswith("-") else 1.0
        return [sign * (given[-1] == each) for each in "xyz"]
    return (np.array(given, dtype=float) / np.linalg.norm(given)).tolist()


def impacts(
    description: dict[str, Any], stop: float, inputs: Inputs | None = None, step: float = 0.0
) -> Iterator[Impact]:
    """Books of all events of contacts in the first stage; inputs are set every `step`."""
    description = probed(description)
    system = load(description).compile()
    unit = make_unit(system, "adams")
    run = Run(unit)
    run.head.relative, run.head.absolute = 1e-10, 1e-12
    given = inputs(0.0) if inputs else {}
    for name, value in given.items():
        run.set_input(name, value)
    status, target = run.call("unit_start", 0, 0.0), stop
    while status in (0, L.Status.EVENT) and run.head.time < stop and run.head.stage == 0.0:
        if status == 0:
            target = min(stop, run.head.time + step) if step else stop
        status = run.call("unit_advance", U.STOP_AROUND_EVENT, target)
        if status == L.Status.EVENT:
            before, count = state_of(run, system), int(run.head.events)
            status = run.call("unit_advance", U.STOP_AROUND_EVENT, target)
            causes = {cause(run, k) for k in range(count, int(run.head.events))}
            if (
                status == L.Status.EVENT
                and run.head.stage == 0.0
                and all("contact" in each for each in causes)
            ):
                yield books(
                    description,
                    system,
                    float(run.head.time),
                    ", ".join(sorted(causes)),
                    before,
                    state_of(run, system),
                    given,
                )
        elif inputs:
            given = inputs(run.head.time)
            for name, value in given.items():
                run.set_input(name, value)


def cause(run: Run, k: int) -> str:
    """What event number k of the log stands for."""
    header = run.unit.header
    at = int(header.at_events) + (k % int(header.logged)) * U.EVENT.size
    event = U.EVENT.of(run.work[at : at + U.EVENT.size])
    return run.unit.compiled[0].guards[int(event.guard)] if event.kind == U.E_RESET else "a stage"


class State(NamedTuple):
    q: np.ndarray
    u: np.ndarray
    columns: dict[str, float]
    opening: float


def state_of(run: Run, system: System) -> State:
    """Coordinates, speeds and all columns of the present instant."""
    values = {
        column.name: float(x) for column, x in zip(run.unit.columns, run.columns, strict=True)
    }
    q, u = (
        np.array([values[name] for name in names]) for names in (system.coordinates, system.speeds)
    )
    return State(q, u, values, float(run.head.constraint_residual))


def vector(values: dict[str, float], name: str) -> np.ndarray:
    return np.array([values.get(f"{name}[{i}]", 0.0) for i in (1, 2, 3)])


class Touch(NamedTuple):
    """A pair of touching points: normal, arms from the probed points, coefficient of friction."""

    number: int
    normal: np.ndarray
    arm: np.ndarray
    other_arm: np.ndarray
    friction: float
    rest_speed: float

    def velocity(self, values: dict[str, float]) -> np.ndarray:
        """Of the body's point relative to the other one."""
        k = self.number
        own = vector(values, f"probe{k}cv") + np.cross(vector(values, f"probe{k}cw"), self.arm)
        return (
            own
            - vector(values, f"probe{k}ov")
            - np.cross(vector(values, f"probe{k}ow"), self.other_arm)
        )


def touches(description: dict[str, Any], values: dict[str, float]) -> list[Touch]:
    """The contacts whose gap is closed."""
    found = []
    for k, contact in enumerate(description["contacts"].values()):
        centre, other = vector(values, f"probe{k}c"), vector(values, f"probe{k}o")
        mu, radius, other_radius = (values[f"probe{k}{word}"] for word in "mrs")
        rest_speed = values[f"probe{k}q"]
        if contact.get("against"):
            way = centre - other
            n = way / np.linalg.norm(way)
            gap = np.linalg.norm(way) - radius - other_radius
            other_arm = other_radius * n
        else:
            n = vector(values, f"probe{k}n") - other
            gap = float((centre - other) @ n) - radius
            other_arm = centre - radius * n - other
        if gap <= TOUCHES:
            found.append(Touch(k, n, -radius * n, other_arm, mu, rest_speed))
    return found


def books(
    description: dict[str, Any],
    system: System,
    t: float,
    what: str,
    before: State,
    after: State,
    inputs: dict[str, float],
) -> Impact:
    """How far the books of one event are open."""
    q, n, c = before.q, before.u.size, system.compiled
    for instance in (
        system._fast,
        system._with(MASS),
    ):  # motions that follow an input stand in states
        instance.ws.val[c.start_x : c.start_x + len(c.states)] = [
            before.columns[name] for name in c.states
        ]
    every = [system.outputs(t, q, u, inputs=inputs or None) for u in (np.zeros(n), *np.eye(n))]
    J = loop_rows(system, t, q, n)
    M = system.mass_matrix(t, q)
    change = M @ (after.u - before.u)
    size = np.abs(M @ before.u).max() + np.abs(M @ after.u).max() + 1e-12
    pairs = touches(description, before.columns)
    rows = [
        np.array([touch.velocity(values) for values in every[1:]]).T
        - touch.velocity(every[0])[:, None]
        for touch in pairs
    ]
    columns = [
        D.T if touch.friction else (touch.normal @ D)[:, None]
        for D, touch in zip(rows, pairs, strict=True)
    ]
    A = np.hstack([J.T, *columns]) if columns or J.size else np.zeros((n, 1))
    scale = np.sqrt(np.diag(M))[:, None]  # as far as the masses go
    x = np.linalg.lstsq(A / scale, change / scale[:, 0], rcond=1e-12)[0]
    open_impulse = np.abs(A @ x - change).max()
    cones = [cone(D, touch) for D, touch in zip(rows, pairs, strict=True)]
    _, left = (
        nnls(np.hstack([J.T, -J.T, *cones]) / scale, change / scale[:, 0], maxiter=1000 * n)
        if cones
        else (0, 0.0)
    )
    speed = (
        max(1e-3, *(float(np.linalg.norm(touch.velocity(before.columns))) for touch in pairs))
        if pairs
        else 1.0
    )
    approach = max(
        (-float(touch.normal @ touch.velocity(after.columns)) for touch in pairs), default=0.0
    )
    work, at = 0.0, J.shape[0]
    for touch in pairs:
        mean = 0.5 * (touch.velocity(before.columns) + touch.velocity(after.columns))
        push = x[at : at + 3] if touch.friction else x[at] * touch.normal
        at += 3 if touch.friction else 1
        work += float(push @ mean)
    if work > 0.0 and np.linalg.matrix_rank(A / scale, 1e-9) < A.shape[1]:
        work = least_work(J, cones, rows, pairs, before, after, change, scale)
    energy = 0.5 * float(before.u @ M @ before.u + after.u @ M @ after.u) + 1e-12
    pull = (
        max(
            0.0,
            left - sum(taken_back(D, M, J, touch) for D, touch in zip(rows, pairs, strict=True)),
        )
        * float(scale.max())
        / size
    )
    return Impact(
        t,
        what,
        open_impulse / size,
        pull,
        max(0.0, work) / energy,
        max(0.0, approach) / speed,
        after.opening,
    )


def least_work(
    J: np.ndarray,
    cones: list[np.ndarray],
    rows: list[np.ndarray],
    pairs: list[Touch],
    before: State,
    after: State,
    change: np.ndarray,
    scale: np.ndarray,
) -> float:
    """Where the motion does not tell the impulses: the least work of those that friction allows, which must not be positive; 0 if there are none."""
    works = [np.zeros(2 * J.shape[0])]
    for touch in pairs:
        mean = 0.5 * (touch.velocity(before.columns) + touch.velocity(after.columns))
        works.append(rim(touch) @ mean)
    columns = np.hstack([J.T, -J.T, *cones]) / scale
    slack = 1e-9 * np.abs(change / scale[:, 0]).max()
    bounds = np.concatenate((change / scale[:, 0] + slack, slack - change / scale[:, 0]))
    found = linprog(np.concatenate(works), A_ub=np.vstack((columns, -columns)), b_ub=bounds)
    return float(found.fun) if found.success else 0.0


def taken_back(D: np.ndarray, M: np.ndarray, J: np.ndarray, touch: Touch) -> float:
    """Impulse, over the root of the mass, that brings a contact to rest which would part slower than its speed of rest; its friction stays."""
    row = touch.normal @ D
    answer = np.linalg.solve(M, np.column_stack([row, J.T]))
    mobility = float(
        row @ answer[:, 0]
        - (row @ answer[:, 1:])
        @ np.linalg.pinv(J @ answer[:, 1:], rcond=1e-12)
        @ (J @ answer[:, 0])
    )
    return (
        (1.0 + touch.friction) * touch.rest_speed / math.sqrt(mobility) if mobility > 0.0 else 0.0
    )


def cone(D: np.ndarray, touch: Touch) -> np.ndarray:
    """Impulses on the rim of a cone around that of friction, and without friction along the normal."""
    return (rim(touch) @ D).T


def rim(touch: Touch) -> np.ndarray:
    """Directions of such impulses."""
    if not touch.friction:
        return touch.normal[None, :]
    a = np.cross(touch.normal, np.eye(3)[int(np.argmin(np.abs(touch.normal)))])
    a /= np.linalg.norm(a)
    b = np.cross(touch.normal, a)
    mu = touch.friction / math.cos(math.pi / RIM)
    return np.array(
        [
            touch.normal + mu * (math.cos(w) * a + math.sin(w) * b)
            for w in np.arange(RIM) * 2 * math.pi / RIM
        ]
    )


def loop_rows(system: System, t: float, q: np.ndarray, n: int) -> np.ndarray:
    """Rows of loops and couplings: what they make of the speeds."""
    if not system.compiled.loops:
        return np.zeros((0, n))
    instance, rows = system._fast, []
    for u in (np.zeros(n), *np.eye(n)):
        instance.set_state(q, u)
        instance.call("constraints", 1, t)
        rows.append(instance.ws.loop_r.copy())
    return (np.array(rows[1:]) - rows[0]).T
