"""Controllers for a mechanism's linearised motion: loops shaped to stated margins, and state feedback of least cost.

A loop of a scenario (scripts/hil/scenario.py) becomes P, PI, PD or PID as its table has kp, ki, kd. For a crossover ω the zeros lie at ω/LAG
(integral) and ω/LEAD (derivative, filtered at ω FILTER); kp makes |L(jω)| = 1, of either sign. Of all ω the
largest is taken at which phase, gain and modulus margin are kept, with the dead time of the exchange: one and a half steps and what the channel adds
both ways. A lightly damped mode of the plant above the crossover limits it by the gain margin, as it must; a notch at the mode, in front of the
controller, may take that limit away: of the modes with less than LIGHT damping that one is taken whose notch allows the fastest loop.

Feed-forward: 1/G(jω) = p₀ + p₁ jω - p₂ ω² below the crossover, least squares: p₁ and p₂ times speed and acceleration of the setpoint.

State feedback u = -K z: the least of ∫ zᵀQz + uᵀRu (Riccati's equation), Q and R diagonal, from the scenario's [lqr] table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import solve_continuous_are

from kinetree.models.analysis.frequency import Margins, StateSpace, margins
from kinetree.models.analysis.linearization import Linear
from kinetree.scripts.hil.design import pid

LAG, LEAD, FILTER = 6.0, 2.5, 10.0
TRIED = 160  # crossovers
LIGHT, WIDTH = 0.3, 0.7  # damping ratios: below which a mode gets a notch, and of the notch's poles
FITTED = 40  # frequencies of the feed-forward
WANTED = {"phase": 45.0, "gain": 2.0, "modulus": 0.5}


@dataclass(frozen=True)
class Tuned:
    """A controller and what it keeps."""

    numbers: dict[str, float]  # kp, ki, kd, filter
    crossover: float  # rad/s
    margins: Margins
    delay: float
    bandwidth: float  # rad/s, where the sensitivity falls below 1/√2
    notch: dict[str, float] | None = None  # frequency [Hz], depth and width


def shaped(kinds: Sequence[str], omega: float, plant: StateSpace, sign: float) -> dict[str, float]:
    """Numbers of the controller of this sign that crosses at ω."""
    numbers = {"kp": 1.0, "ki": omega / LAG if "ki" in kinds else 0.0}
    if "kd" in kinds:
        numbers |= {"kd": LEAD / omega, "filter": 1.0 / (FILTER * omega)}
    controller = pid(**numbers)
    value = complex((controller.response(omega) * plant.response(omega))[0, 0, 0])
    size = sign / max(abs(value), 1e-300)
    return {key: number * size if key != "filter" else number for key, number in numbers.items()}


def tuned(plant: StateSpace, kinds: Sequence[str], delay: float, wanted: Mapping[str, float]) -> Tuned | None:
    """The fastest controller that keeps the margins; None where no crossover does."""
    limits = WANTED | dict(wanted)
    grid = plant.frequencies()
    for omega in np.geomspace(grid[0], max(2.0 / delay if delay > 0.0 else 10.0 * grid[-1], 2.0 * grid[0]), TRIED)[::-1]:
        for sign in (1.0, -1.0):
            numbers = shaped(kinds, float(omega), plant, sign)
            loop = pid(**numbers).then(plant)
            found = margins(loop, delay=delay)
            good = found.stable and abs(found.phase) >= limits["phase"] and found.modulus >= limits["modulus"]
            if good and found.gain >= limits["gain"] and (found.gain_below == 0.0 or found.gain_below <= 1.0 / limits["gain"]):
                return Tuned(numbers, float(omega), found, delay, bandwidth(loop, delay))
    return None


def notched(plant: StateSpace, kinds: Sequence[str], delay: float, wanted: Mapping[str, float]) -> Tuned | None:
    """The fastest controller, with a notch at one lightly damped mode where that helps."""
    best = tuned(plant, kinds, delay, wanted)
    values = np.linalg.eigvals(plant.A)
    for value in values[values.imag > 0.0]:
        size = float(abs(value))
        if -LIGHT < value.real / size < 0.0:
            notch = {"frequency": size / (2.0 * np.pi), "depth": float(-value.real / size), "width": WIDTH}
            found = tuned(notch_filter(**notch).then(plant), kinds, delay, wanted)
            if found is not None and (best is None or found.crossover > 1.05 * best.crossover):
                best = replace(found, notch=notch)
    return best


def notch_filter(frequency: float, depth: float, width: float) -> StateSpace:
    """(s² + 2 depth w s + w²)/(s² + 2 width w s + w²), w = 2π frequency."""
    w = 2.0 * np.pi * frequency
    A = np.array([[0.0, 1.0], [-w * w, -2.0 * width * w]])
    return StateSpace(A, np.array([[0.0], [1.0]]), np.array([[0.0, 2.0 * (depth - width) * w]]), np.eye(1))


def forward_gains(plant: StateSpace, crossover: float) -> tuple[float, float]:
    """Commands per speed and per acceleration of the measure below the crossover."""
    omega = np.geomspace(crossover / 30.0, crossover, FITTED)
    inverse = 1.0 / plant.response(omega)[:, 0, 0]
    size = 1.0 / np.abs(inverse)
    (_, acceleration), *_ = np.linalg.lstsq(np.column_stack((size, -(omega**2) * size)), inverse.real * size, rcond=None)
    speed = float((omega * size) @ (inverse.imag * size) / ((omega * size) @ (omega * size)))
    return speed, float(acceleration)


def bandwidth(loop: StateSpace, delay: float) -> float:
    """Lowest frequency from which on |S| is above 1/√2."""
    omega = loop.frequencies()
    values = loop.response(omega)[:, 0, 0] * np.exp(-1j * omega * delay)
    above = np.flatnonzero(np.abs(1.0 / (1.0 + values)) > np.sqrt(0.5))
    return float(omega[above[0]]) if above.size else float(omega[-1])


def regulator(linear: Linear, inputs: Sequence[str], states: Mapping[str, float], efforts: Mapping[str, float]) -> tuple[np.ndarray, np.ndarray]:
    """K of u = -K z and the eigenvalues with it; weights by name, 0 for states that are not named, 1 for inputs."""
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
    """A [[loops]] table with the numbers found."""
    rest = {key: value for key, value in table.items() if key not in ("kp", "ki", "kd", "filter")}
    found = {key: float(f"{value:.6g}") for key, value in numbers.items() if value}
    lines = [f"{key} = {value!r}" if not isinstance(value, str) else f'{key} = "{value}"' for key, value in (rest | found).items()]
    return "\n".join(["[[loops]]", *lines])
