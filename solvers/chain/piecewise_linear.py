"""Chains with piecewise linear elements (slack couplings, stops): linear in every region; events
are located by bisection with exact steps.

While no element changes its region the chain is linear. Its matrices for dt, dt/2, .., dt/2^levels
come from one sequence of doublings and are stored for the next visit. A step that ends in another
region, or whose elongation leaves the region and returns within the step, is halved down to
dt/2^levels; then the region changes. Between events the solution is exact; an event is located to
dt/2^levels.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kinetree.solvers.chain import chain_motion, doubling, excitation
from kinetree.solvers.chain.coefficients import ChainError, check_accuracy, scale, unscaled
from kinetree.solvers.chain.series_order import choose


class Element(NamedTuple):
    """A piecewise linear force -F(s) on coordinate a and +F(s) on b (-1: ground) with s = x_a - x_b
    and F(rest) = 0.
    """

    a: int
    b: int
    breaks: tuple[float, ...]
    stiffness: tuple[float, ...]  # one more than breaks
    damping: tuple[float, ...]
    rest: float = 0.0


class Event(NamedTuple):
    time: float
    element: int
    region: int  # entered


class Pieces(NamedTuple):
    x: np.ndarray
    v: np.ndarray
    events: list[Event]
    regions: int  # sets of matrices that were made


def slack(a: int, b: int, gap: float, stiffness: float, damping: float = 0.0) -> Element:
    """Return a coupling with slack: it acts when the elongation is outside -gap/2..gap/2."""
    return Element(a, b, (-gap / 2, gap / 2), (stiffness, 0.0, stiffness), (damping, 0.0, damping))


def stop(a: int, at: float, stiffness: float, damping: float = 0.0, b: int = -1) -> Element:
    """Return a stop: it acts when s exceeds `at`."""
    return Element(a, b, (at,), (0.0, stiffness), (0.0, damping), at)


def intercept(element: Element, region: int) -> float:
    """Return the offset f of F(s) = k s + f in a region, from continuity and F(rest) = 0."""
    home = int(np.searchsorted(element.breaks, element.rest))
    f = -element.stiffness[home] * element.rest
    for i in range(home, region):
        f += (element.stiffness[i] - element.stiffness[i + 1]) * element.breaks[i]
    for i in range(home, region, -1):
        f += (element.stiffness[i] - element.stiffness[i - 1]) * element.breaks[i - 1]
    return f


def simulate_piecewise(
    mass,
    damping,
    stiffness,
    elements: Sequence[Element],
    x0,
    v0,
    dt: float,
    steps: int,
    force=None,
    channels=None,
    shape: str | None = None,
    start_time: float = 0.0,
    accuracy: float = 1e-10,
    levels: int = 18,
) -> Pieces:
    """Return x and v (steps + 1 rows each), the events and the number of regions visited."""
    check_accuracy(accuracy)
    x, v = np.array(x0, dtype=float), np.array(v0, dtype=float)
    n = len(x)
    for i, element in enumerate(elements):
        if (
            len(element.stiffness) != len(element.breaks) + 1
            or list(element.breaks) != sorted(element.breaks)
            or not 0 <= element.a < n
            or element.b >= n
        ):
            raise ChainError(
                f"element {i}: expected coordinates below {n}, ascending breaks and one stiffness more than breaks, got {element}"
            )
    inputs = (
        [chain_motion.sampled(force, channels, n, dt, steps, shape, start_time)]
        if force is not None
        else []
    )
    used, beta = chain_motion.merge(inputs, steps)
    problem = Problem(
        unscaled(mass, n),
        unscaled(damping, n),
        unscaled(stiffness, n),
        tuple(elements),
        used,
        dt,
        max(1, beta.shape[1]),
        accuracy,
        levels,
        {},
    )
    regions = [place(element, x) for element in elements]
    X, V, events = [x], [v], []
    for j in range(steps):
        x, v = interval(problem, x, v, beta[j], regions, start_time + j * dt, events)
        X.append(x)
        V.append(v)
    return Pieces(np.array(X), np.array(V), events, len(problem.made))


class Problem(NamedTuple):
    mass: np.ndarray
    damping: np.ndarray
    stiffness: np.ndarray
    elements: tuple[Element, ...]
    channels: np.ndarray
    dt: float
    p: int
    accuracy: float
    levels: int
    made: dict  # regions -> (chain, ladder, constant forces of the elements)


def elongation(element: Element, x: np.ndarray) -> float:
    """Return the elongation s of an element from x, or its rate from v."""
    return float(x[element.a] - (x[element.b] if element.b >= 0 else 0.0))


def place(element: Element, x: np.ndarray) -> int:
    """Return the index of the linear region that the elongation of an element is in."""
    return int(np.searchsorted(element.breaks, elongation(element, x)))


def matrices_of(problem: Problem, regions: tuple[int, ...]) -> tuple:
    """Return chain, matrices and constant forces for one combination of regions; they are computed
    at the first use.
    """
    if regions in problem.made:
        return problem.made[regions]
    n = len(problem.mass)
    C, F, constant = problem.stiffness.copy(), problem.damping.copy(), np.zeros(n)
    for element, region in zip(problem.elements, regions):
        ends = [(element.a, 1.0)] + ([(element.b, -1.0)] if element.b >= 0 else [])
        for i, sign in ends:
            constant[i] -= sign * intercept(element, region)
            for j, other in ends:
                C[i, j] += sign * other * element.stiffness[region]
                F[i, j] += sign * other * element.damping[region]
    chain = scale(problem.mass, F, C)
    at = np.flatnonzero(constant)
    pick = choose(chain.omega * problem.dt, 0.1 * problem.accuracy, lowest=problem.levels)
    steps = doubling.ladder(
        chain,
        problem.dt,
        np.concatenate((problem.channels, at)),
        problem.p,
        problem.accuracy,
        pick,
        problem.levels,
    )
    problem.made[regions] = (chain, steps, constant[at])
    return problem.made[regions]


def interval(
    problem: Problem,
    x: np.ndarray,
    v: np.ndarray,
    beta: np.ndarray,
    regions: list[int],
    time: float,
    events: list[Event],
) -> tuple:
    """Advance a piecewise linear chain by one output step, in as few exact steps as the region
    changes allow.
    """
    tick, end, size = 0, 2**problem.levels, problem.levels
    while tick < end:
        while tick + 2**size > end:
            size -= 1
        chain, ladder, constant = matrices_of(problem, tuple(regions))
        both = np.zeros((problem.p, len(problem.channels) + len(constant)))
        both[: len(beta), : len(problem.channels)] = excitation.part(
            beta, tick / end, 2**size / end
        )
        both[0, len(problem.channels) :] = constant
        made = ladder[size]
        x1, v1 = chain_motion.single(chain, made, x, v, both)
        crossed = [
            i
            for i, e in enumerate(problem.elements)
            if leaves(e, regions[i], x, v, x1, v1, made.dt)
        ]
        if crossed and size > 0:
            size -= 1
            continue
        tick += 2**size
        x, v, size = x1, v1, min(size + 1, problem.levels)
        for i in crossed:
            new = place(problem.elements[i], x)
            if new != regions[i]:
                regions[i], size = new, problem.levels
                events.append(Event(time + problem.dt * tick / end, i, new))
    return x, v


def leaves(
    element: Element,
    region: int,
    x0: np.ndarray,
    v0: np.ndarray,
    x1: np.ndarray,
    v1: np.ndarray,
    h: float,
) -> bool:
    """Return whether the elongation leaves its region in a step of length h, at its end or in
    between.
    """
    low = element.breaks[region - 1] if region > 0 else -np.inf
    high = element.breaks[region] if region < len(element.breaks) else np.inf
    a, b, c, d = (
        elongation(element, x0),
        elongation(element, x1),
        h * elongation(element, v0),
        h * elongation(element, v1),
    )
    if not low <= b <= high:
        return True
    if c * d >= 0.0:
        return False
    s = np.array([0.25, 0.5, 0.75])
    inner = a + s * (c + s * (3 * (b - a) - 2 * c - d + s * (2 * (a - b) + c + d)))
    return bool((inner < low).any() or (inner > high).any()) and bool(low <= a <= high)
