"""Benchmarks of the components of the matrix method for chains: band storage, variants of the
doubling, choice of series order r and doublings m, and the cost rule.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import product
from time import process_time

import numpy as np

from kinetree.models.library import chains
from kinetree.scripts.bench import chain_peers as peers
from kinetree.solvers import chain
from kinetree.solvers.chain import (
    energy_doubling,
    extended_precision,
    published_doubling,
    series_order,
)
from kinetree.solvers.chain.band_matrices import dense
from kinetree.solvers.chain.chain_motion import run
from kinetree.solvers.chain.doubling import choose, generate
from kinetree.solvers.chain.excitation import coefficients

ACCURACY = 1e-8
RUNS = (
    (100, 0.2, 3),
    (300, 0.3, 3),
    (30, 1.0, 20),
    (1000, 1.0, 10),
    (100, 2.0, 50),
    (1000, 10.0, 100),
    (100, 50.0, 400),
    (300, 200.0, 300),
)
LIBRARY = {
    "train": lambda: chains.train(200, damping=1e3),
    "two-mass cars": chains.two_mass_train,
    "random springs": chains.stretched_train,
    "chain drive": chains.chain_drive,
    "long chain drive": lambda: chains.chain_drive(60),
    "helical spring": lambda: chains.helical_spring(turns=40),
    "short helical spring": chains.helical_spring,
}
LIBRARY_RUNS = (
    ("random springs", 1.0, 3),
    ("two-mass cars", 10.0, 20),
    ("chain drive", 0.2, 3),
    ("chain drive", 3.0, 20),
)
LIBRARY_RUNS += (
    ("helical spring", 1.0, 3),
    ("helical spring", 3.0, 20),
    ("helical spring", 50.0, 100),
    ("short helical spring", 1.0, 100),
)


def least(function: Callable[[], object], repeats: int) -> float:
    """Return the least processor time [s] of several calls of a function."""
    times = []
    for _ in range(repeats):
        begin = process_time()
        function()
        times.append(process_time() - begin)
    return min(times)


def uniform(n: int, angle: float, steps: int) -> peers.Case:
    """Return equal masses and springs from a wall to a free end; omega_max*dt = angle, random
    forces at two masses.
    """
    C = chains.springs(np.append(np.ones(n), 0.0), n)
    return peers.Case(
        np.ones(n),
        1e-3 * C,
        C,
        (0, n // 2),
        np.random.default_rng(0).normal(size=(steps + 1, 2)),
        angle / 2.0,
        10.0 * angle,
    )


def by_matrices(c: peers.Case, accuracy: float = ACCURACY) -> tuple[np.ndarray, np.ndarray]:
    """Return x and v at all knots, computed by the matrix method."""
    zero = np.zeros(len(c.mass))
    return chain.simulate(
        c.mass,
        c.damping,
        c.stiffness,
        zero,
        zero,
        c.dt,
        c.steps,
        c.force,
        c.channels,
        accuracy=accuracy,
        way="matrices",
    )


@contextmanager
def fill(part: float) -> Iterator[None]:
    """Context manager that sets the relative half-width from which matrix products use dense
    matrices.
    """
    before, energy_doubling.FILL = energy_doubling.FILL, part
    try:
        yield
    finally:
        energy_doubling.FILL = before


def bands(
    n: int = 600,
    steps: int = 200,
    repeats: int = 3,
    parts: tuple[float, ...] = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9),
) -> list[dict]:
    """Return time and memory of band matrices of growing half-width, each with the dense matrices
    beside.
    """
    found = []
    for part in parts:
        c = uniform(
            n, max(2.0, 2.0 * (part * n - 12.0)), steps
        )  # the wave passes omega*dt/2 masses and leads by a tail
        scaled, channels, zero = (
            chain.scale(c.mass, c.damping, c.stiffness),
            np.array(c.channels),
            np.zeros(n),
        )
        beta = coefficients(c.force, "linear")
        with fill(2.0):
            half, whole = (generate(scaled, dt, channels, 2, ACCURACY) for dt in (0.5 * c.dt, c.dt))
            band = least(lambda: energy_doubling.double(half.step, n, 0.1 * ACCURACY), repeats)  # noqa: B023
        full = {
            name: made._replace(
                step=energy_doubling.dense_step(*(dense(a, n) for a in made.step[:3]))
            )
            for name, made in (("half", half), ("whole", whole))
        }
        row = {"n": n, "steps": steps, "half_width": whole.step.u.width, "band_doubling": band}
        row["dense_doubling"] = least(
            lambda: energy_doubling.double_dense(full["half"].step, n),  # noqa: B023
            repeats,
        )
        for name, made in (("band", whole), ("dense", full["whole"])):
            row[f"{name}_steps"] = least(
                lambda: run(scaled, made, zero, zero, beta, steps),  # noqa: B023
                repeats,
            )
            row[f"{name}_memory_MB"] = sum(a.data.nbytes for a in made.step) / 1e6
        found.append(row)
    return found


def fill_in(rows: list[dict], what: str = "doubling") -> float:
    """Return the relative half-width from which dense matrices are faster than bands; 1 if never."""
    width = np.array([row["half_width"] / row["n"] for row in rows])
    gain = np.log([row[f"dense_{what}"] / row[f"band_{what}"] for row in rows])
    slower = np.flatnonzero(gain < 0)
    if not len(slower):
        return 1.0
    k = slower[0]
    return float(
        width[k] if k == 0 else np.interp(0.0, [gain[k], gain[k - 1]], [width[k], width[k - 1]])
    )


def forms(n: int = 60, p: int = 3, repeats: int = 3) -> list[dict]:
    """Return time and deviation of several computations of D_0..D_p: the printed doubling with U
    and W or with U alone, the energy form, and extended precision, which is the reference.
    """
    found = []
    for angle, ratio in product((1e2, 1e4), (1e2, 1e4)):
        m, F, C = chains.stretched_train(n, ratio)
        scaled = chain.scale(m, F, C)
        dt = angle / scaled.omega
        pick = choose(scaled, dt, 1e-13)
        printed = published_doubling.matrices
        ways: dict[str, Callable[[], tuple[np.ndarray, ...]]] = {
            "extended precision": lambda: chain.matrices(m, F, C, dt, p),  # noqa: B023
            "energy form": lambda: double_precision(m, F, C, dt, p),  # noqa: B023
            "printed, U and W": lambda: printed(scaled, dt, p, pick.r, pick.m),  # noqa: B023
            "printed, U alone": lambda: printed(scaled, dt, p, pick.r, pick.m, True),  # noqa: B023
        }
        exact = ways["extended precision"]()
        for name, way in ways.items():
            deviations = [np.abs(a - b)[n:, n:].max() for a, b in zip(way(), exact, strict=True)]
            seconds = least(way, 1 if name == "extended precision" else repeats)
            found.append(
                {
                    "omega_dt": angle,
                    "ratio": ratio,
                    "form": name,
                    "seconds": seconds,
                    "U_0": deviations[0],
                    "U_k": max(deviations[1:]),
                }
            )
    return found


def double_precision(
    m: np.ndarray, F: np.ndarray, C: np.ndarray, dt: float, p: int
) -> tuple[np.ndarray, ...]:
    """Return `chain.matrices` computed in double precision only."""
    before, extended_precision.LARGEST = extended_precision.LARGEST, 0
    try:
        return chain.matrices(m, F, C, dt, p)
    finally:
        extended_precision.LARGEST = before


def choices(
    repeats: int = 7, names: tuple[str, ...] = (), angles: tuple[float, ...] = (1.0, 10.0, 1e3)
) -> list[dict]:
    """Return the time of the chosen series order r and doublings m beside all other pairs of equal
    accuracy.
    """
    makers = LIBRARY | {f"uniform, {n}": partial(coefficients_of, n) for n in (30, 300)}
    found = []
    for name in names or tuple(makers):
        scaled = chain.scale(*makers[name]())
        for angle in angles:
            dt, channels = angle / scaled.omega, np.array([0, scaled.n // 2])
            best = choose(scaled, dt, ACCURACY)
            picks = {(best.r, best.m): best}
            for m in range(max(0, best.m - 5), best.m + 5):
                r = next(
                    (
                        r
                        for r in series_order.ORDERS
                        if angle / 2**m <= 4.0
                        and series_order.error(m, r, angle / 2**m) <= 0.1 * ACCURACY
                    ),
                    None,
                )
                if r is not None:
                    picks.setdefault((r, m), series_order.Choice(r, m, 0.0, 0.0))
            times = dict.fromkeys(picks, np.inf)
            for _ in range(repeats):  # in turns, so that all see the same load
                for key, pick in picks.items():
                    times[key] = min(
                        times[key],
                        least(lambda: generate(scaled, dt, channels, 2, ACCURACY, pick), 1),  # noqa: B023
                    )
            fastest = min(times, key=lambda key: times[key])
            row = {"chain": name, "omega_dt": angle, "chosen": (best.r, best.m), "fastest": fastest}
            found.append(
                row
                | {
                    "seconds": times[best.r, best.m],
                    "slower": times[best.r, best.m] / times[fastest] - 1.0,
                }
            )
    return found


def coefficients_of(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the mass, damping and stiffness of a uniform chain of n masses."""
    c = uniform(n, 1.0, 1)
    return c.mass, c.damping, c.stiffness


def of_library(name: str, angle: float, steps: int) -> peers.Case:
    """Return a chain of the library with random forces at two coordinates; omega_max*dt = angle."""
    m, F, C = LIBRARY[name]()
    n = len(C)
    return peers.Case(
        m,
        F,
        C,
        (0, n // 2),
        np.random.default_rng(0).normal(size=(steps + 1, 2)),
        angle / chain.scale(m, F, C).omega,
        10.0 * angle,
    )


def rule() -> list[dict]:
    """Return the ratio of times of the matrix method and the classical Runge-Kutta method at equal
    accuracy, as counted in operations and as measured.
    """
    cases = [("uniform", angle, uniform(n, angle, steps)) for n, angle, steps in RUNS]
    cases += [(name, angle, of_library(name, angle, steps)) for name, angle, steps in LIBRARY_RUNS]
    found = []
    for name, angle, c in cases:
        counted = chain.operations(chain.scale(c.mass, c.damping, c.stiffness), c.dt, ACCURACY)
        knots = 1 if angle > 1.0 else c.steps
        peers.by_rk4(c, ACCURACY / angle, knots)
        matrix, other = (
            least(lambda: by_matrices(c), 5),  # noqa: B023
            least(lambda: peers.by_rk4(c, ACCURACY / angle, knots), 5) * c.steps / knots,  # noqa: B023
        )
        row = {"chain": name, "n": len(c.mass), "omega_dt": angle, "steps": c.steps}
        row |= {
            "counted": counted.explicit(c.steps) / counted.matrix(c.steps),
            "measured": other / matrix,
        }
        found.append(row | {"agree": (row["counted"] > 1.0) == (row["measured"] > 1.0)})
    return found
