"""Test problems for integrators as one right-hand side, so that each method is compiled once for all of them.

context = (kind, a, b). References: orbit, wave, decay exact; the others from E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential
Equations I (Arenstorf) and II (van der Pol, Robertson, HIRES), printed values of the test set for initial value problem solvers (F. Mazzia, Bari).
"""

import math
from typing import NamedTuple

import numpy as np

from kinetree.solvers.kernel import kernel

ORBIT, VAN_DER_POL, ROBERTSON, ARENSTORF, HIRES, DECAY, SPRINGS, CHAIN, FALL, BLOW_UP = range(10)
MOON = 0.012277471


class Problem(NamedTuple):
    """A right-hand side with initial state and known final state."""

    name: str
    context: tuple[float, float, float]
    start: tuple[float, ...]
    stop: float
    end: tuple[float, ...] | None  # reference at `stop`
    stiff: bool
    coordinates: int  # y = (q, u, x) with so many q and u, 0 where the form is another


@kernel
def orbit(f, y):
    """Write the rates of the plane Kepler problem, y = (x, y, x', y'), to f."""
    r3 = (y[0] * y[0] + y[1] * y[1]) ** 1.5
    f[0], f[1] = y[2], y[3]
    f[2], f[3] = -y[0] / r3, -y[1] / r3


@kernel
def arenstorf(f, y):
    """Write the rates of a satellite in the restricted three-body problem, y = (x, y, x', y'), to
    f.
    """
    r1 = ((y[0] + MOON) ** 2 + y[1] ** 2) ** 1.5
    r2 = ((y[0] - 1.0 + MOON) ** 2 + y[1] ** 2) ** 1.5
    f[0], f[1] = y[2], y[3]
    f[2] = y[0] + 2.0 * y[3] - (1.0 - MOON) * (y[0] + MOON) / r1 - MOON * (y[0] - 1.0 + MOON) / r2
    f[3] = y[1] - 2.0 * y[2] - (1.0 - MOON) * y[1] / r1 - MOON * y[1] / r2


@kernel
def robertson(f, y):
    """Write the rates of Robertson's three reactions with coefficients 0.04, 1e4 and 3e7 to f."""
    a, b, c = 0.04 * y[0], 1e4 * y[1] * y[2], 3e7 * y[1] * y[1]
    f[0], f[1], f[2] = b - a, a - b - c, c


@kernel
def hires(f, y):
    """Write the rates of HIRES (high irradiance response of a plant, eight reactions) to f."""
    c = 280.0 * y[5] * y[7]
    f[0] = -1.71 * y[0] + 0.43 * y[1] + 8.32 * y[2] + 0.0007
    f[1] = 1.71 * y[0] - 8.75 * y[1]
    f[2] = -10.03 * y[2] + 0.43 * y[3] + 0.035 * y[4]
    f[3] = 8.32 * y[1] + 1.71 * y[2] - 1.12 * y[3]
    f[4] = -1.745 * y[4] + 0.43 * y[5] + 0.43 * y[6]
    f[5] = -c + 0.69 * y[3] + 1.71 * y[4] - 0.43 * y[5] + 0.69 * y[6]
    f[6] = c - 1.81 * y[6]
    f[7] = -c + 1.81 * y[6]


@kernel
def springs(f, y, w, d):
    """Write the rates of an oscillator of frequency 1 coupled to one of frequency w and damping
    ratio d, with a first-order state, to f; y = (q, u, x).
    """
    f[0], f[1] = y[2], y[3]
    f[2] = -y[0]
    f[3] = -w * w * (y[1] - y[0]) - 2.0 * d * w * (y[3] - y[2])
    if len(y) > 4:
        f[4] = y[0] - 0.5 * y[4]


@kernel
def chain(f, t, y, stiffness, damping):
    """Write the rates of masses on a line joined by hardening springs, the first one shaken, to f;
    y = (q, u).
    """
    n = len(y) // 2
    for i in range(n):
        left_q, left_u = (math.sin(t), math.cos(t)) if i == 0 else (y[i - 1], y[n + i - 1])
        d, v = y[i] - left_q, y[n + i] - left_u
        pull = stiffness * d * (1.0 + d * d) + damping * v
        f[i] = y[n + i]
        f[n + i] = -pull
        if i > 0:
            f[n + i - 1] += pull


@kernel
def problem(f, context, t, y):
    """Write the rates of the problem of kind context[0] with parameters context[1], context[2] to
    f.
    """
    kind, a, b = int(context[0]), context[1], context[2]
    if kind == ORBIT:
        orbit(f, y)
    elif kind == VAN_DER_POL:
        f[0], f[1] = y[1], ((1.0 - y[0] * y[0]) * y[1] - y[0]) / a
    elif kind == ROBERTSON:
        robertson(f, y)
    elif kind == ARENSTORF:
        arenstorf(f, y)
    elif kind == HIRES:
        hires(f, y)
    elif kind == DECAY:  # to cos t, A. Prothero, A. Robinson
        f[0] = -a * (y[0] - math.cos(t)) - math.sin(t)
    elif kind == SPRINGS:
        springs(f, y, a, b)
    elif kind == CHAIN:
        chain(f, t, y, a, b)
    elif kind == FALL:
        f[0], f[1] = y[1], -a
    elif kind == BLOW_UP:  # refuses or overflows beyond t = 1
        f[0] = 1.0 if t <= 1.0 else math.nan
        return 2 if a == 1.0 and t > 1.0 else 0
    return 0


def kepler_end(eccentricity: float, t: float) -> tuple[float, ...]:
    """Return the exact state at time t of an orbit started at its pericentre."""
    e, big = eccentricity, t
    for _ in range(60):
        big -= (big - e * math.sin(big) - t) / (1.0 - e * math.cos(big))
    root, rate = math.sqrt(1.0 - e * e), 1.0 / (1.0 - e * math.cos(big))
    return (
        math.cos(big) - e,
        root * math.sin(big),
        -math.sin(big) * rate,
        root * math.cos(big) * rate,
    )


def kepler(eccentricity: float, stop: float) -> Problem:
    """Return the problem of a Kepler orbit that starts at its pericentre."""
    e = eccentricity
    start = (1.0 - e, 0.0, 0.0, math.sqrt((1.0 + e) / (1.0 - e)))
    return Problem(
        f"orbit, eccentricity {e:g}", (ORBIT, 0.0, 0.0), start, stop, kepler_end(e, stop), False, 2
    )


def shaken_chain(masses: int, stiffness: float, damping: float, stop: float) -> Problem:
    """Return the problem of a chain at rest on a shaken support."""
    stiff = stiffness * stop > 1e4
    return Problem(
        f"chain of {masses}",
        (CHAIN, stiffness, damping),
        (0.0,) * (2 * masses),
        stop,
        None,
        stiff,
        masses,
    )


ARENSTORF_ORBIT = Problem(
    "Arenstorf orbit",
    (ARENSTORF, 0.0, 0.0),
    (0.994, 0.0, 0.0, -2.00158510637908252240537862224),
    17.0652165601579625588917206249,
    (0.994, 0.0, 0.0, -2.00158510637908252240537862224),
    False,
    2,
)
VAN_DER_POL_STIFF = Problem(
    "van der Pol 1e-6",
    (VAN_DER_POL, 1e-6, 0.0),
    (2.0, 0.0),
    2.0,
    (1.706167732170483, -0.8928097010247975),
    True,
    0,
)
ROBERTSON_LONG = Problem(
    "Robertson",
    (ROBERTSON, 0.0, 0.0),
    (1.0, 0.0, 0.0),
    1e11,
    (0.2083340149701255e-07, 0.8333360770334713e-13, 0.9999999791665050),
    True,
    0,
)
HIRES_END = Problem(
    "HIRES",
    (HIRES, 0.0, 0.0),
    (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0057),
    321.8122,
    (
        0.7371312573325668e-3,
        0.1442485726316185e-3,
        0.5888729740967575e-4,
        0.1175651343283149e-2,
        0.2386356198831331e-2,
        0.6238968252742796e-2,
        0.2849998395185769e-2,
        0.2850001604814231e-2,
    ),
    True,
    0,
)


def rates(case: Problem):
    """Return the right-hand side as a Python function f(t, y) that calls the same kernel, for other
    solvers.
    """

    def f(t: float, y: np.ndarray) -> np.ndarray:
        out = np.empty(len(y))
        problem(out, case.context, t, y)
        return out

    return f
