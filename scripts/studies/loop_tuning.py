"""Controller design for a linearised mechanism: loops shaped to given margins, and linear-quadratic
state feedback.

A loop of a scenario (scripts/hil/scenario.py) becomes P, PI, PD or PID as its table has kp, ki, kd. For a crossover ω the zeros lie at ω/LAG
(integral) and ω/LEAD (derivative, filtered at ω FILTER); kp makes |L| = 1 there, of either sign. Of all ω the largest is taken at which phase, gain
and modulus margin are kept: of a sampled loop as it runs, the law from sample to sample behind the plant under a held and late command
(models/analysis/sampled_loops.py), or of a continuous one with a dead time.
A lightly damped mode of the plant above the crossover limits it by the gain
margin, as it must; a notch at the mode, in front of the controller, may take that limit away: of the modes with less than LIGHT damping that one is
taken whose notch allows the fastest loop.

Feed-forward: 1/G(jω) = p₀ + p₁ jω - p₂ ω² below the crossover, least squares: p₁ and p₂ times speed and acceleration of the setpoint.

State feedback u = -K z: the least of ∫ zᵀQz + uᵀRu (Riccati's equation), Q and R diagonal, from the scenario's [lqr] table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.linalg import solve_continuous_are

from kinetree.models.analysis.control_loops import law_of_samples, negated_loop, without_limits
from kinetree.models.analysis.frequency_response import Margins, StateSpace, margins
from kinetree.models.analysis.linearization import Linear
from kinetree.models.analysis.sampled_loops import SampledLoop
from kinetree.models.controllers.laws import law_of
from kinetree.models.language.parts.controller_parts import NotchController
from kinetree.scripts.hil.open_loop import pid

LAG, LEAD, FILTER = 6.0, 2.5, 10.0
TRIED = 160  # crossovers
HALVES = 20  # of the interval between the last two
HIGHEST = 0.9  # of half the sampling rate
LOST = 1e-9  # eigenvalues from sample to sample that are delays, or nothing
LIGHT, WIDTH = 0.3, 0.7  # damping ratios: below which a mode gets a notch, and of the notch's poles
FITTED = 40  # frequencies of the feed-forward
WANTED = {"phase": 45.0, "gain": 2.0, "modulus": 0.5}


@dataclass(frozen=True)
class Tuned:
    """A tuned controller with its stability margins."""

    numbers: dict[str, float]  # kp, ki, kd, filter
    crossover: float  # rad/s
    margins: Margins
    delay: float
    bandwidth: float  # rad/s, where the sensitivity falls below 1/√2
    notch: dict[str, float] | None = None  # frequency [Hz], depth and width


def controller_of(
    numbers: Mapping[str, float], period: float, notch: Mapping[str, float] | None = None
) -> StateSpace:
    """Return the control law from the negative measurement to the command: continuous, or discrete
    as a controller block runs.
    """
    if not period:
        C = pid(**{key: value for key, value in numbers.items() if value})
        return C if notch is None else notch_filter(**notch).then(C)
    law = sampled_pid(**numbers, period=period)
    return law if notch is None else sampled_notch(**notch, period=period).then(law)


def sampled_pid(
    kp: float, ki: float = 0.0, kd: float = 0.0, filter: float = 0.0, *, period: float
) -> SampledLoop:
    """Return the discrete PID law by backward differences, as in models/controllers/laws.py: s⁺ = s
    + ((e - before)/T - s) T/(filter + T), i⁺ = i + ki e T.
    """
    share = period / (filter + period)
    A = np.array([[0.0, 0.0, 0.0], [-share / period, 1.0 - share, 0.0], [0.0, 0.0, 1.0]])
    B = np.array([[1.0], [share / period], [ki * period]])
    row = np.array([[0.0, kd, 1.0]])
    keep = [0, 1, 2] if ki else [0, 1]  # an integral that nothing moves would be a pole at 1
    return SampledLoop(A[np.ix_(keep, keep)], B[keep], (row @ A)[:, keep], row @ B + kp, period)


@lru_cache(maxsize=16)
def sampled_notch(frequency: float, depth: float, width: float, period: float) -> StateSpace:
    """Return the discrete notch filter as a controller block runs it."""
    block = NotchController(
        kind="notch", measure="y", period=period, frequency=frequency, depth=depth, width=width
    )
    law = law_of("c", block, [without_limits], "0")
    return negated_loop(
        law_of_samples(
            "c", law, {f"c.{key}": 0.0 for key in (*law.memory, *law.samples, *law.given)}, period
        )
    )


def shaped(
    kinds: Sequence[str],
    omega: float,
    plant: StateSpace,
    sign: float,
    notch: Mapping[str, float] | None = None,
) -> dict[str, float]:
    """Return the gains of the controller of a given sign with its crossover at ω."""
    numbers = {"kp": 1.0, "ki": omega / LAG if "ki" in kinds else 0.0}
    if "kd" in kinds:
        numbers |= {"kd": LEAD / omega, "filter": 1.0 / (FILTER * omega)}
    value = complex(
        (controller_of(numbers, period_of(plant), notch).response(omega) * plant.response(omega))[
            0, 0, 0
        ]
    )
    size = sign / max(abs(value), 1e-300)
    return {key: number * size if key != "filter" else number for key, number in numbers.items()}


def period_of(plant: StateSpace) -> float:
    """Return the sample period of a plant; 0 if continuous."""
    return plant.period if isinstance(plant, SampledLoop) else 0.0


def tuned(
    plant: StateSpace,
    kinds: Sequence[str],
    delay: float,
    wanted: Mapping[str, float],
    notch: Mapping[str, float] | None = None,
) -> Tuned | None:
    """Return the fastest controller that keeps the margins, or None; `delay` is additional dead
    time.
    """
    limits, period, grid = WANTED | dict(wanted), period_of(plant), plant.frequencies()
    behind = plant.response(grid)[:, 0, 0] * np.exp(-1j * grid * delay)

    def kept(omega: float, sign: float) -> Tuned | None:
        numbers = shaped(kinds, omega, plant, sign, notch)
        C = controller_of(numbers, period, notch)
        at = complex(
            (C.response(omega) * plant.response(omega))[0, 0, 0] * np.exp(-1j * omega * delay)
        )
        # what the margin at this crossing and a few frequencies tell already
        if (
            abs(np.degrees(np.angle(-at))) < limits["phase"]
            or np.abs(1.0 + behind * C.response(grid)[:, 0, 0]).min() < limits["modulus"]
        ):
            return None
        loop = plant.then(C)
        found = margins(loop, delay=delay)
        if not keeps(found, limits, 0.0):
            return None
        return Tuned(
            numbers,
            omega,
            found,
            delay,
            bandwidth(loop, delay),
            None if notch is None else dict(notch),
        )

    top = max(2.0 / delay if delay > 0.0 else 10.0 * grid[-1], 2.0 * grid[0])
    tried = np.geomspace(grid[0], HIGHEST * np.pi / period if period else top, TRIED)[::-1]
    for k, omega in enumerate(tried):
        for sign in (1.0, -1.0):
            if found := kept(float(omega), sign):
                return fastest(
                    lambda w, sign=sign: kept(w, sign), found, float(tried[max(k - 1, 0)])
                )
    return None


def keeps(found: Margins, wanted: Mapping[str, float], short: float = 1e-2) -> bool:
    """Return whether margins satisfy the wanted ones, within the relative tolerance `short`."""
    phase, gain, modulus = (
        (1.0 - short) * (WANTED | dict(wanted))[key] for key in ("phase", "gain", "modulus")
    )
    good = found.stable and abs(found.phase) >= phase and found.modulus >= modulus
    return (
        good and found.gain >= gain and (found.gain_below == 0.0 or found.gain_below <= 1.0 / gain)
    )


def fastest(kept: Callable[[float], Tuned | None], found: Tuned, beyond: float) -> Tuned:
    """Return the tuned controller with the highest feasible crossover, by bisection."""
    for _ in range(HALVES):
        middle = float(np.sqrt(found.crossover * beyond))
        better = kept(middle)
        found, beyond = (better, beyond) if better else (found, middle)
    return found


def notched(
    plant: StateSpace, kinds: Sequence[str], delay: float, wanted: Mapping[str, float]
) -> Tuned | None:
    """Return the fastest controller, with a notch at one lightly damped mode where that makes it
    faster.
    """
    best, period = tuned(plant, kinds, delay, wanted), period_of(plant)
    values = np.linalg.eigvals(plant.A)
    if period:
        values = np.log(values[np.abs(values) > LOST].astype(complex)) / period
    for value in values[values.imag > 0.0]:
        size = float(abs(value))
        if -LIGHT < value.real / size < 0.0 and not (period and size >= HIGHEST * np.pi / period):
            notch = {
                "frequency": size / (2.0 * np.pi),
                "depth": float(-value.real / size),
                "width": WIDTH,
            }
            found = tuned(plant, kinds, delay, wanted, notch)
            if found is not None and (best is None or found.crossover > 1.05 * best.crossover):
                best = found
    return best


def notch_filter(frequency: float, depth: float, width: float) -> StateSpace:
    """Return the transfer function (s² + 2 depth w s + w²)/(s² + 2 width w s + w²), w = 2π
    frequency.
    """
    w = 2.0 * np.pi * frequency
    A = np.array([[0.0, 1.0], [-w * w, -2.0 * width * w]])
    return StateSpace(
        A, np.array([[0.0], [1.0]]), np.array([[0.0, 2.0 * (depth - width) * w]]), np.eye(1)
    )


def forward_gains(plant: StateSpace, crossover: float) -> tuple[float, float]:
    """Return the feed-forward gains: command per speed and per acceleration of the setpoint, fitted
    below the crossover.
    """
    omega = np.geomspace(crossover / 30.0, crossover, FITTED)
    inverse = 1.0 / plant.response(omega)[:, 0, 0]
    size = 1.0 / np.abs(inverse)
    (_, acceleration), *_ = np.linalg.lstsq(
        np.column_stack((size, -(omega**2) * size)), inverse.real * size, rcond=None
    )
    speed = float((omega * size) @ (inverse.imag * size) / ((omega * size) @ (omega * size)))
    return speed, float(acceleration)


def bandwidth(loop: StateSpace, delay: float) -> float:
    """Return the lowest frequency from which on |S| is above 1/√2 (S: sensitivity function)."""
    omega = loop.frequencies()
    values = loop.response(omega)[:, 0, 0] * np.exp(-1j * omega * delay)
    above = np.flatnonzero(np.abs(1.0 / (1.0 + values)) > np.sqrt(0.5))
    return float(omega[above[0]]) if above.size else float(omega[-1])


def regulator(
    linear: Linear, inputs: Sequence[str], states: Mapping[str, float], efforts: Mapping[str, float]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the gain K of u = -K z and the closed-loop eigenvalues; weights by name, by default 0
    for states and 1 for inputs.
    """
    for name in states:
        if name not in linear.states:
            raise ValueError(f"no state '{name}'; states: {', '.join(linear.states)}")
    B = linear.part(inputs, []).B
    Q = np.diag([float(states.get(name, 0.0)) for name in linear.states])
    R = np.diag([float(efforts.get(name, 1.0)) for name in inputs])
    P = solve_continuous_are(linear.A, B, Q, R)
    K = np.linalg.solve(R, B.T @ P)
    return K, np.linalg.eigvals(linear.A - B @ K)


def snippet(table: Mapping[str, Any], numbers: Mapping[str, float]) -> str:
    """Return a [[loops]] table with the tuned gains as text."""
    rest = {key: value for key, value in table.items() if key not in ("kp", "ki", "kd", "filter")}
    found = {key: float(f"{value:.6g}") for key, value in numbers.items() if value}
    lines = [
        f"{key} = {value!r}" if not isinstance(value, str) else f'{key} = "{value}"'
        for key, value in (rest | found).items()
    ]
    return "\n".join(["[[loops]]", *lines])
