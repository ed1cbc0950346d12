"""Limit cycles of a loop with one nonlinear part, by describing functions.

The response of the nonlinear part to a sine of amplitude A has the first harmonic N(A) times that
sine; the loop u = -L N y oscillates where 1 + N(A) L(jω) = 0. A limit cycle is stable if the loop
decays from a larger amplitude, i.e. if the loop with gain N(A) is stable just beyond A (J. C. Gelb,
W. E. Vander Velde, Multiple-Input Describing Functions, 1968, ch. 2 and 3, app. B). Higher
harmonics are neglected: the loop must be a low-pass filter.

overlap no answer within ±w, then the excess: a valve with overlap limit y up to ±w, then w friction
w sign(y): Coulomb's friction, with y a speed; a relay backlash a gap of ±w: y follows behind it
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from kinetree.models.analysis.frequency_response import StateSpace, gain_crossovers, refined_zeros

TRIED = 400  # amplitudes
MAX_AMPLITUDE = 1e4  # amplitude in units of the width


def overlap(amplitude: float, width: float) -> complex:
    return 1.0 - limit(amplitude, width)


def limit(amplitude: float, width: float) -> complex:
    ratio = width / amplitude
    return (
        1.0
        if ratio >= 1.0
        else 2.0 / np.pi * (np.arcsin(ratio) + ratio * np.sqrt(1.0 - ratio * ratio))
    )


def friction(amplitude: float, width: float) -> complex:
    return 4.0 * width / (np.pi * amplitude)


def backlash(amplitude: float, width: float) -> complex:
    ratio = width / amplitude
    if ratio >= 1.0:
        return 0.0
    side = 1.0 - 2.0 * ratio
    return (
        0.5
        + (np.arcsin(side) + side * np.sqrt(1.0 - side * side)) / np.pi
        - 4.0j * ratio * (1.0 - ratio) / np.pi
    )


PARTS: dict[str, Callable[[float, float], complex]] = {
    "overlap": overlap,
    "limit": limit,
    "friction": friction,
    "backlash": backlash,
}


@dataclass(frozen=True)
class LimitCycle:
    """A limit cycle with its amplitude and frequency at the nonlinear part."""

    omega: float  # rad/s
    amplitude: float
    stable: bool


def limit_cycles(loop: StateSpace, part: str, width: float, delay: float = 0.0) -> list[LimitCycle]:
    """Return all limit cycles of the loop u = -L N y, slowest first."""
    function = PARTS[part]
    omega = loop.frequencies()
    amplitudes = width * np.geomspace(
        1.0 + 1e-9 if part in ("overlap", "backlash") else 1e-4, MAX_AMPLITUDE, TRIED
    )
    gains = np.array([function(a, width) for a in amplitudes])
    found = []
    if part != "backlash":  # N is real: only where L is
        for w in refined_zeros(
            np.imag(open_loop_response(loop, omega, delay)),
            omega,
            lambda w: complex(open_loop_response(loop, w, delay)[0]).imag,
        ):
            wanted = -1.0 / complex(open_loop_response(loop, w, delay)[0]).real
            if np.isfinite(wanted) and wanted > 0.0:
                found += [
                    (w, a)
                    for a in grid_zeros(
                        lambda a, wanted=wanted: np.real(function(a, width)) - wanted,
                        amplitudes,
                        np.real(gains) - wanted,
                    )
                ]
    else:
        found = complex_intersections(
            loop, omega, delay, amplitudes, gains, lambda a: function(a, width)
        )
    return sorted(
        (
            LimitCycle(w, a, is_stable_cycle(loop, omega, delay, function, a, width))
            for w, a in found
        ),
        key=lambda each: each.omega,
    )


def open_loop_response(loop: StateSpace, omega: np.ndarray | float, delay: float) -> np.ndarray:
    return loop.response(omega)[:, 0, 0] * np.exp(-1j * np.atleast_1d(omega) * delay)


def grid_zeros(f: Callable[[float], float], x: np.ndarray, values: np.ndarray) -> list[float]:
    """Return the interpolated zeros of a function f that is sampled on a grid x."""
    return [
        float(brentq(f, x[k], x[k + 1], xtol=1e-12))  # type: ignore[arg-type]
        for k in np.flatnonzero(values[:-1] * values[1:] < 0.0)
    ]  # type: ignore[arg-type]


def complex_intersections(
    loop: StateSpace,
    omega: np.ndarray,
    delay: float,
    amplitudes: np.ndarray,
    gains: np.ndarray,
    function: Callable[[float], complex],
) -> list[tuple[float, float]]:
    """Return amplitude and frequency of every intersection of -1/L with a complex describing
    function N.
    """
    inverse = -1.0 / open_loop_response(loop, omega, delay)
    found = []

    def mismatch(a: float, low: float, high: float) -> tuple[float, float]:
        """Return the frequency at which -1/L has the phase of N(a), and the gain mismatch there."""

        def angle(w: float) -> float:
            return float(
                np.angle(-1.0 / complex(open_loop_response(loop, w, delay)[0]) / function(a))
            )

        w = float(brentq(angle, low, high, xtol=1e-12 * high))  # type: ignore[arg-type]
        return w, float(np.log(abs(open_loop_response(loop, w, delay)[0]) * abs(function(a))))

    for k in range(len(omega) - 1):
        turns = np.angle(inverse[k] / gains), np.angle(inverse[k + 1] / gains)
        here = (turns[0] * turns[1] < 0.0) & (np.abs(turns[0] - turns[1]) < np.pi)
        for j in np.flatnonzero(here[:-1] & here[1:]):
            ends = [mismatch(amplitudes[i], omega[k], omega[k + 1])[1] for i in (j, j + 1)]
            if ends[0] * ends[1] < 0.0:
                root = brentq(
                    lambda a: mismatch(a, omega[k], omega[k + 1])[1],  # noqa: B023
                    amplitudes[j],
                    amplitudes[j + 1],
                )
                a = float(root)  # type: ignore[arg-type]
                found.append((mismatch(a, omega[k], omega[k + 1])[0], a))
    return found


def is_stable_cycle(
    loop: StateSpace,
    omega: np.ndarray,
    delay: float,
    function: Callable[[float, float], complex],
    amplitude: float,
    width: float,
) -> bool:
    """Return whether a limit cycle is stable against changes of its amplitude."""
    verdicts = []
    for factor in (0.95, 1.05):
        n = function(factor * amplitude, width)
        scaled = type(loop)(**{**vars(loop), "C": abs(n) * loop.C, "D": abs(n) * loop.D})
        verdicts.append(is_closed_loop_stable(scaled, omega, delay, float(np.angle(n))))
    return verdicts == [False, True]


def is_closed_loop_stable(loop: StateSpace, omega: np.ndarray, delay: float, phase: float) -> bool:
    """Return whether the closed loop with an added phase is stable."""
    values = open_loop_response(loop, omega, delay)
    crossovers = gain_crossovers(loop, omega, values)
    if phase == 0.0:
        return loop.stands(crossovers, delay)
    near = omega[int(np.abs(1.0 + values * np.exp(1j * phase)).argmin())]
    return loop.stands(crossovers, delay - phase / near)
